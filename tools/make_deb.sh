#!/usr/bin/env bash
# tools/make_deb.sh BUILD OUT [source|binary|cuda]   Debian's packages in OUT: the source (faro_….dsc, its tarballs), and of it faro, libfaro1,
# libfaro-dev and python3-faro, checked by lintian. `source` stops at the source; `cuda` builds the CUDA engine, too, for FARO_WHEEL_GPUS, by
# the nvcc that is here: Debian 12's own is older than 12.0, so it is NVIDIA's, as PyPI has it.
#
# Of the commit, and of its time. nanobind, which Debian 12 lacks, is a second tarball of the source, as PyPI has it.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1" "$2"
build=$(realpath "$1")
if [[ ${3:-} == cuda ]]; then
  CUDACXX=$(tools/find_nvcc.sh) || { echo "no nvcc: tools/install_dependencies.sh wheel" >&2; exit 1; }
  CUDACXX=$(realpath -s "$CUDACXX")
  export CUDACXX
fi
out=$(realpath "$2")
kind=${3:-binary}
work=$build/deb
nanobind=3.1.0
nanobind_sha256=6661e3dc1434d78781ccf7913442d90361dab395c3424efadb63bbb6ddea7ea3
version=$(sed -n 's/^project(faro VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "^faro ($version-" packaging/debian/changelog || { echo "packaging/debian/changelog has no version $version" >&2; exit 1; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
for each in $(tools/install_dependencies.sh libraries | tr , ' '); do
  sed -n '/^Build-Depends/,/^[^ B]/p' packaging/debian/control | grep -qw -- "$each" || { echo "packaging/debian/control builds without $each" >&2; exit 1; }
done

rm -rf "$work"
mkdir -p "$work/faro-$version"
git archive --prefix="faro-$version/" HEAD | gzip -9n >"$work/faro_$version.orig.tar.gz"
archive=$build/nanobind-$nanobind.tar.gz
if [[ ! -e $archive ]] && ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$build" "nanobind==$nanobind"; then
  echo "nanobind cannot be fetched from PyPI" >&2
  exit 77
fi
sha256sum --quiet --check <<<"$nanobind_sha256  $archive"
cp "$archive" "$work/faro_$version.orig-nanobind.tar.gz"

cd "$work/faro-$version"
tar xf "../faro_$version.orig.tar.gz" --strip-components=1
mkdir nanobind
tar xf "../faro_$version.orig-nanobind.tar.gz" --strip-components=1 -C nanobind
cp -r packaging/debian debian
# Functions that the last version did not have are of this one.
awk -v version="$version" 'NR == FNR { known[$1]; next } /^function/ && !($2 "@" $3 in known) { print " " $2 "@" $3 " " version }' \
  debian/libfaro1.symbols tests/c_api/abi.txt >"$work/new_symbols"
cat "$work/new_symbols" >>debian/libfaro1.symbols

arguments=(--no-sign --no-pre-clean)
case "$kind" in
  source) arguments+=(--build=source --no-check-builddeps) ;;
  binary) arguments+=(--build=full) ;;
  cuda) arguments+=(--build=binary --build-profiles=pkg.faro.cuda --no-check-builddeps) ;;
  *) echo "usage: tools/make_deb.sh BUILD OUT [source|binary|cuda]" >&2; exit 2 ;;
esac
dpkg-buildpackage "${arguments[@]}" >"$work/build.log" 2>&1 || { tail -n 30 "$work/build.log" >&2; exit 1; }
# No bug of Debian's asks for the package: it is not for its archive.
lintian --fail-on error,warning --display-info --suppress-tags initial-upload-closes-no-bugs "$work"/*.changes
find "$work" -maxdepth 1 \( -name '*.deb' -o -name '*.dsc' -o -name '*.tar.*' \) -exec mv -t "$out" {} +
