#!/usr/bin/env bash
# run [OPTION…]   runs the benchmark that lies beside this script, gpu_bench or gpu_NAME_bench. Its tables go to gpu-bench.md and
# gpu-bench.json, or to gpu-NAME.md, in the current folder or in $BENCH_OUT. Options are the program's (--help lists them).
# gpu_bench --ladder and gpu_network_bench need NVRTC where the loader finds it; gpu_network_bench uses cuFFT if it is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
program=$(basename "$here"/gpu_*bench)
if [[ $program == gpu_bench ]]; then
  exec "$here/gpu_bench" --out "$out/gpu-bench.md" --out "$out/gpu-bench.json" "$@"
fi
name=${program#gpu_}
exec "$here/$program" --out "$out/gpu-${name%_bench}.md" "$@"
