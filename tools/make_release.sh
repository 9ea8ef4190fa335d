#!/usr/bin/env bash
# tools/make_release.sh BUILD   the artefacts of a release in BUILD/release: the source as a tarball and for pip, the wheel of this machine's
# kind of processor, what is in it (CycloneDX), Debian's packages and their source, and SHA256SUMS; each checked by the tools that package
# indices use.
#
# Everything is of the commit's time and nothing of the machine's clock, so that two builds with one compiler give the same bytes. What
# is not committed is refused. The libraries of BUILD have been built (`make release` does it).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
out=$build/release
tools=$build/release-tools

[[ -z $(git status --porcelain --untracked-files=no) ]] || { echo "the tree has changes that are not committed" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
version=$(sed -n 's/^project(faro VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^## \[$version\]" CHANGELOG.md || { echo "CHANGELOG.md has no version $version" >&2; exit 1; }

if [[ ! -x $tools/bin/twine ]]; then
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check build twine check-wheel-contents "cyclonedx-python-lib[validation]"
fi

rm -rf "$out"
mkdir -p "$out"
git archive --prefix="faro-$version/" HEAD | gzip -9n >"$out/faro-$version.tar.gz"
"$tools/bin/python" -m build --sdist --outdir "$out" . >/dev/null
tools/make_wheel.sh "$build" "$out" >/dev/null
wheel=("$out"/faro_permute-"$version"-*.whl)
"$tools/bin/python" tools/make_sbom.py "${wheel[0]}" "${wheel[0]%.whl}.cdx.json"

tools/make_deb.sh "$build" "$out"

"$tools/bin/twine" check --strict "$out"/faro_permute-*.tar.gz "${wheel[0]}"
# Two folders at the top, of which one holds libraries alone, are how auditwheel packs.
"$tools/bin/check-wheel-contents" --ignore W009,W010 "${wheel[0]}"
"$build/python-tools/bin/abi3audit" --strict --assume-minimum-abi3 3.11 "$build"/python-unrepaired/faro_permute-*.whl
"$build/python-tools/bin/auditwheel" show "${wheel[0]}" | tr '\n' ' ' | grep -o 'is consistent with the following platform tag: "[^"]*"'
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
