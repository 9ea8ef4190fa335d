#!/usr/bin/env bash
# tools/run_fuzzer.sh FUZZER CORPUS SCRATCH SECONDS [SEED]   runs a libFuzzer target on a scratch copy of its seeds, with the same
# inputs wherever SEED is the same; without one, or with 0, new ones are drawn. What it finds stays in SCRATCH/found; give such a file to
# the fuzzer to see it again.
set -euo pipefail
fuzzer=$1 corpus=$2 scratch=$3 seconds=$4 seed=${5:-0}

if [[ -z $(ls -A "$corpus" 2>/dev/null) ]]; then
  echo "no seeds in $corpus" >&2
  exit 1
fi
rm -rf "$scratch"
mkdir -p "$scratch/corpus" "$scratch/found" "$scratch/run"
cp -r "$corpus/." "$scratch/corpus/"
cd "$scratch/run"
# Memory and time of one input are bounded: a parser that allocates what a header promises is a finding.
exec "$fuzzer" -seed="$seed" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
  -artifact_prefix="$scratch/found/" "$scratch/corpus"
