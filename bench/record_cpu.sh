#!/usr/bin/env bash
# bench/record_cpu.sh BUILD NAME [DATE]   the record of a quiet machine, ten minutes: bench/results/cpu-NAME-DATE-axes.md (axes_bench,
# views among them) and cpu-NAME-DATE-python.md (the Python package beside NumPy), both with machine, commit and command.
# BUILD has axes_bench and wheel/ (make bench-axes, make bench-python).
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -ge 2 ]] || { echo "usage: bench/record_cpu.sh BUILD NAME [DATE]" >&2; exit 2; }
build=$(realpath "$1")
results=bench/results/cpu-$2-${3:-$(date +%F)}
[[ -x $build/bench/axes_bench ]] || { echo "no $build/bench/axes_bench: build the target axes_bench first" >&2; exit 1; }
compgen -G "$build/wheel/faro_permute-*.whl" >/dev/null || { echo "no $build/wheel/faro_permute-*.whl: make wheel first" >&2; exit 1; }
read -r load _ </proc/loadavg
awk -v load="$load" 'BEGIN { exit load < 1 }' && echo "the load is $load: other programs are running, and only ratios will mean something" >&2

# The result appears whole or not at all.
"$build/bench/axes_bench" --suites ttc,ranks,primes,channels,attention,skinny,views --widths 4 --out "$build/record-axes.md" >/dev/null
mv "$build/record-axes.md" "$results-axes.md"
tools/bench_python.sh "$build" >"$build/record-python.md"
mv "$build/record-python.md" "$results-python.md"
tail -n 12 "$results-axes.md"
grep -E '^(Faster|\| u[48] )' "$results-python.md"
echo "$results-axes.md, $results-python.md"
