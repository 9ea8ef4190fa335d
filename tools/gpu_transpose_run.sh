#!/usr/bin/env bash
# run [OPTION…]   runs gpu_transpose_bench, which lies beside this script; its last lines are a table. gpu-transpose.md goes
# to the current folder, or to $BENCH_OUT. Options are the program's.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
exec "$here/gpu_transpose_bench" --out "$out/gpu-transpose.md" "$@"
