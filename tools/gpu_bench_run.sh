#!/usr/bin/env bash
# run [OPTION…]   runs gpu_bench, which lies beside this script; its last lines are a table. gpu-bench.md and
# gpu-bench.json go to the current folder, or to $BENCH_OUT. Options are gpu_bench's (--help, --quick,
# --ladder, which needs NVRTC where the loader finds it).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
exec "$here/gpu_bench" --out "$out/gpu-bench.md" --out "$out/gpu-bench.json" "$@"
