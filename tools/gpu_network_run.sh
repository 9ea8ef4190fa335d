#!/usr/bin/env bash
# run [OPTION…]   runs gpu_network_bench, which lies beside this script; its last lines are tables. gpu-network.md goes to
# the current folder, or to $BENCH_OUT. Options are the program's. NVRTC has to be on the loader's path; cuFFT may be.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
exec "$here/gpu_network_bench" --out "$out/gpu-network.md" "$@"
