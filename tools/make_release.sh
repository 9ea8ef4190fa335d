#!/usr/bin/env bash
# tools/make_release.sh BUILD [OTHER…]   the artefacts of a release in BUILD/release: the source as a tarball and for pip, a wheel of each
# build tree, for the processors and with code for the GPUs that it is for, what is in each (CycloneDX), Debian's packages and their source, and
# SHA256SUMS; each checked by the tools that package indices use, and the C interface by abidiff.
#
# Everything is of the commit's time and nothing of the machine's clock, so that two builds with one compiler give the same bytes. What
# is not committed is refused. The libraries of the trees have been built (`make release` does it).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=$build/release
tools=$build/release-tools

for each in "$@"; do
  [[ ! -e $each/generated/cuda_status.txt ]] || ! grep "not optimised" "$each/generated/cuda_status.txt" >&2 ||
    { echo "the kernels of $each are those of \`make test\`; wanted those of \`make wheel\` (FARO_CHECKS=OFF)" >&2; exit 1; }
done
[[ -z $(git status --porcelain --untracked-files=no) ]] || { echo "the tree has changes that are not committed" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^project(faro VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^## \[$version\] - [0-9]" CHANGELOG.md || { echo "CHANGELOG.md has no date of version $version" >&2; exit 1; }

if [[ ! -x $tools/bin/twine ]]; then
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check build twine check-wheel-contents "cyclonedx-python-lib[validation]" nvidia-cuda-cuobjdump
fi

rm -rf "$out"
mkdir -p "$out"
git archive --prefix="faro-$version/" HEAD | gzip -9n >"$out/faro-$version.tar.gz"
"$tools/bin/python" -m build --sdist --outdir "$out" . >/dev/null
sdist=$out/faro_permute-$version.tar.gz
"$tools/bin/twine" check --strict "$sdist"
tests/c_api/abidiff.sh include/faro/faro.h cmake/faro_c.map "$build/release-abi" || [[ $? == 77 ]]

# What is released as source builds: it is the tree, which is configured here, and the extension is compiled below with the library that is there.
rm -rf "$build/release-sdist"
mkdir "$build/release-sdist"
tar -xf "$sdist" -C "$build/release-sdist" --strip-components=1
diff <(git ls-files | grep -v '^bench/results/' | sort) <(cd "$build/release-sdist" && find . -type f ! -name PKG-INFO -printf '%P\n' | sort) ||
  { echo "the source for pip differs from the tree" >&2; exit 1; }
cmake -S "$build/release-sdist" -B "$build/release-sdist/build" -G Ninja -DFARO_CUDA=OFF --log-level=WARNING >/dev/null

for each in "$@"; do
  each=$(realpath "$each")
  wheel=$(tools/make_wheel.sh "$each" "$out")
  versions=()
  if [[ $wheel == *_aarch64.whl && $(uname -m) != aarch64 ]]; then versions=("$each/sysroot/versions"); fi
  "$tools/bin/python" tools/make_sbom.py "$wheel" "${wheel%.whl}.cdx.json" "${versions[@]}"
  bytes=$(stat -c %s "$wheel")
  ((bytes <= 60000000)) || { echo "$wheel has $bytes bytes, more than 60 MB" >&2; exit 1; }
  "$tools/bin/twine" check --strict "$wheel"
  # Two folders at the top, of which one holds libraries alone, are how auditwheel packs.
  "$tools/bin/check-wheel-contents" --ignore W009,W010 "$wheel"
  "$each/python-tools/bin/abi3audit" --strict --assume-minimum-abi3 3.11 "$each"/python-unrepaired/faro_permute-*.whl
  "$each/python-tools/bin/auditwheel" show "$wheel" | tr '\n' ' ' | grep -o 'is consistent with the following platform tag: "[^"]*"'
  if grep -q '^set(FARO_HAVE_CUDA ON)' "$each/generated/prebuilt.cmake"; then
    tools/check_gpus.sh "$wheel" "$(find "$tools" -name cuobjdump -type f -perm -u+x | head -n 1)" \
      "$(sed -n 's/^CMAKE_CUDA_ARCHITECTURES:[A-Z]*=//p' "$each/CMakeCache.txt")"
  fi
done
PATH=$build/python-tools/bin:$PATH "$build/python-tools/bin/pip" wheel "$sdist" --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$build/release-sdist/wheel" --config-settings="cmake.define.FARO_PREBUILT=$build"
tools/make_deb.sh "$build" "$out"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
