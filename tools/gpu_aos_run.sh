#!/usr/bin/env bash
# run [OPTION…]   runs gpu_aos_bench, which lies beside this script; its tables go to gpu-aos.md in the current folder, or in
# $BENCH_OUT. Options are the program's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
exec "$here/gpu_aos_bench" --out "$out/gpu-aos.md" "$@"
