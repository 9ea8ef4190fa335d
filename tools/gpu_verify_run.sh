#!/usr/bin/env bash
# run   profiles gpu_verify_model, which lies beside this script, with Nsight Compute and compares: every kernel of the
# CUDA engine, predicted beside measured. gpu-verify-model.md goes to the current folder, or to $BENCH_OUT. Status 5 where
# a prediction misses. NCU names the profiler where it is not on the PATH.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
mkdir -p "$out"
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null || true)}
if [[ -z $ncu ]]; then
  echo "gpu-verify-model: no ncu (Nsight Compute) on the PATH; set NCU" >&2
  exit 4
fi
csv=$(mktemp /tmp/gpu-verify.XXXXXX.csv)
# The clocks are left alone: counts do not depend on them.
if ! "$ncu" --clock-control none --csv --page raw --print-units base --metrics "$("$here/gpu_verify_model" --metrics)" \
  --log-file "$csv" "$here/gpu_verify_model" --launch; then
  tail -n 5 "$csv" >&2
  exit 4
fi
"$here/gpu_verify_model" --report "$csv" "$out/gpu-verify-model"
