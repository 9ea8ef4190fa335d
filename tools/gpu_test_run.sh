#!/usr/bin/env bash
# run [LOG_FOLDER]   runs gpu_test, which lies beside this script, then axes and views that are drawn for a while, and its
# seeded sweep, also under each tool of compute-sanitizer if that is here. Logs go to LOG_FOLDER (default: a new one under /tmp);
# the last lines are a table. MAPS (2000) and SEED (1) are the sweep's, DRAWN (30) the seconds of each kind of axes and views.
# Status 1 if anything failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
logs=${1:-$(mktemp -d /tmp/gpu-test.XXXXXX)}
mkdir -p "$logs"
table=()
failed=0

# step NAME COMMAND…: runs it, keeps its output, and a line of the table.
step() {
  local name=$1 log=$logs/$1.log start=$SECONDS verdict=passed
  shift
  echo "--- $name: $*"
  timeout 900 "$@" >"$log" 2>&1
  local status=$?
  # The counts of gtest, and the sanitizer's summary.
  local detail
  detail=$(grep -E 'SUMMARY|^\[  (PASSED|SKIPPED|FAILED)  \] [0-9]+ test|^gpu_test: ' "$log" |
    sed 's/^=* *//; s/, listed below://' | paste -sd ';' | cut -c1-150)
  if [[ $status -ne 0 ]] || grep -qE 'SUMMARY: *[1-9]' "$log"; then
    verdict="FAILED ($status)"
    failed=1
    grep -A 8 -E 'Failure$|^========= (Error|Warning|Invalid|Uninit|Race|Barrier|Program)' "$log" | cut -c1-400 | sed -n 1,60p
    tail -n 4 "$log"
  fi
  table+=("$(printf '| %-10s | %-12s | %4d s | %s' "$name" "$verdict" $((SECONDS - start)) "$detail")")
}

sweep=("$here/gpu_test" --require-gpu '--gtest_filter=GpuSweep.*' "--maps=${MAPS:-2000}" "--seed=${SEED:-1}")
step gpu_test "$here/gpu_test" --require-gpu
step drawn "$here/gpu_test" --require-gpu '--gtest_filter=GpuDrawnAxes.*' "--seconds=${DRAWN:-30}" "--seed=$((${SEED:-1} + 1))"
step sweep "${sweep[@]}"

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
for tool in memcheck racecheck initcheck synccheck; do
  if [[ -n $sanitizer ]]; then
    step "$tool" "$sanitizer" --tool "$tool" --error-exitcode 99 "${sweep[@]}"
  else
    table+=("$(printf '| %-10s | %-12s | %4s   | %s' "$tool" 'not run' '' 'no compute-sanitizer on PATH')")
  fi
done

grep -h -m 2 -E '^(cuda|device)' "$logs/gpu_test.log"
echo "logs: $logs"
printf '%s\n' "${table[@]}"
exit $failed
