#!/usr/bin/env bash
# tools/arm_run.sh PROGRAM [ARGUMENT…]   runs a program of build-arm64/sysroot, named from there (usr/bin/python3.11), or one that was built for
# 64-bit ARM, by qemu on this machine.
set -euo pipefail
sysroot=$(realpath "$(dirname "$0")/../build-arm64/sysroot")
program=$1
shift
[[ $program == /* ]] || program=$sysroot/$program
exec qemu-aarch64-static -L "$sysroot" "$program" "$@"
