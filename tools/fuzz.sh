#!/usr/bin/env bash
# tools/fuzz.sh MINUTES   builds the fuzzers and runs all of them, on every core, for so many minutes together. The last lines are a
# table: of each its executions, how many a second, the branches that were reached and the inputs kept. Inputs that reach something new
# stay in build-asan/scratch/*/corpus; what breaks a law in */found. Status 1 if anything was found.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:?minutes}
targets=$(find tests/fuzz extras/*/tests/fuzz -name '*_fuzz.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort)
count=$(wc -w <<<"$targets")
cores=$(nproc)
seconds=$((minutes * 60 * (cores < count ? cores : count) / count))
((seconds >= 1)) || seconds=1
cmake --preset asan -DFARO_CHECKS=all -DFARO_FUZZ_SECONDS="$seconds" --log-level=WARNING
# shellcheck disable=SC2086
cmake --build --preset asan --target $targets
build=$(find . -maxdepth 1 -type d -name 'build*asan*' | sed -n 1p)
logs=$(mktemp -d)
found=0
run() {
  tools/run_fuzzer.sh "$(realpath "$build/tests/fuzz/$1")" "$(find "$PWD"/tests/fuzz "$PWD"/extras/*/tests/fuzz -path "*/corpus/${1%_fuzz}" | sed -n 1p)" "$PWD/$build/scratch/$1" \
    "$seconds" >"$logs/$1" 2>&1
}
export -f run
export build logs seconds
# shellcheck disable=SC2086
printf '%s\n' $targets | xargs -P "$cores" -I{} bash -c 'run {}' || found=1
printf '| %-18s | %12s | %9s | %8s | %6s |\n' target executions 'a second' branches inputs
printf '|---|---|---|---|---|\n'
total=0
for target in $targets; do
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$target")
  rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$logs/$target")
  branches=$(grep -o 'cov: [0-9]*' "$logs/$target" | tail -n 1 | cut -d' ' -f2)
  inputs=$(grep -o 'corp: [0-9]*' "$logs/$target" | tail -n 1 | cut -d' ' -f2)
  printf '| %-18s | %12s | %9s | %8s | %6s |\n' "$target" "${executions:-failed}" "$rate" "$branches" "$inputs"
  total=$((total + ${executions:-0}))
done
echo "executions in all: $total"
if ((found)); then grep -l 'ERROR\|broken law' "$logs"/* | sed 's/^/look at /'; else rm -r "$logs"; fi
exit "$found"
