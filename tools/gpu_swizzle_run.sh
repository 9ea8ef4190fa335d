#!/usr/bin/env bash
# run [OPTION…]   runs gpu_swizzle_bench, which lies beside this script; its tables go to gpu-swizzle.md in the current folder, or in
# $BENCH_OUT. Options are the program's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
exec "$here/gpu_swizzle_bench" --out "$out/gpu-swizzle.md" "$@"
