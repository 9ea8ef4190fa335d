#!/usr/bin/env bash
# run [counts|times] [SEED [NUMBER FAMILY...]]   runs gpu_verify_model, which lies beside this script: `counts` profiles every
# kernel of the CUDA engine, and drawn problems of every family, with Nsight Compute, and compares with what was predicted
# (gpu-verify-model.md); `times` measures drawn problems beside their predicted times (gpu-verify-times.md). Both without a word.
# With a seed both take problems that it draws, and counts are of these alone; with NUMBER they are of so many of each of these
# families alone. Pages go to the current folder, or to $BENCH_OUT. Status 5 where a prediction misses. NCU names the profiler
# where it is not on the PATH.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${BENCH_OUT:-.}
what=${1:-all}
drawn=("${@:2}")
mkdir -p "$out"
status=0

verify_counts() {
  local ncu csv metrics known name
  ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null || true)}
  if [[ -z $ncu ]]; then
    echo "gpu-verify-model: no ncu (Nsight Compute) on the PATH; set NCU" >&2
    return 4
  fi
  csv=$(mktemp /tmp/gpu-verify.XXXXXX.csv)
  # Counts depend neither on the clocks nor on what the second cache holds, so both are left alone.
  profile() {
    "$ncu" --clock-control none --cache-control none --profile-from-start off --csv --page raw --print-units base \
      --metrics "$1" --log-file "$csv" "$here/gpu_verify_model" --launch "${drawn[@]}"
  }
  unknown() {
    grep -i 'failed to find metric\|could not find metric\|unknown metric\|invalid metric' "$csv" >/dev/null
  }
  metrics=$("$here/gpu_verify_model" --metrics)
  if ! profile "$metrics"; then
    grep '^==' "$csv" >&2 || true
    if unknown; then
      # Metrics that this profiler does not know end it. To ask which it knows takes long.
      known=$("$ncu" --query-metrics 2>/dev/null || true)
      for name in $("$here/gpu_verify_model" --optional-metrics | tr ',' ' '); do
        if ! grep -qw -- "${name%.sum}" <<<"$known"; then metrics=$(tr ',' '\n' <<<"$metrics" | grep -vx -- "$name" | paste -sd,); fi
      done
    else
      # Kernels that the profiler changes for some counters may need more than there is: without those.
      metrics=$("$here/gpu_verify_model" --hardware-metrics)
    fi
    if ! profile "$metrics"; then
      grep '^==' "$csv" >&2 || tail -n 5 "$csv" >&2
      return 4
    fi
  fi
  "$here/gpu_verify_model" --report "$csv" "$out/gpu-verify-model" "${drawn[@]}"
}

if [[ $what == all || $what == counts ]]; then verify_counts || status=$?; fi
if [[ $what == all || $what == times ]]; then "$here/gpu_verify_model" --times "$out/gpu-verify-times" "${drawn[@]}" || status=$?; fi
exit "$status"
