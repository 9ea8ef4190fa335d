#!/usr/bin/env bash
# Stores that are written: there whole, or not at all, however the command ends. It is killed at random moments, and what it leaves is gone
# after the next run.
set -euo pipefail
PATH=$(dirname "$FARO"):$PATH
RANDOM=7
data() { tail -c $((64 * 64 * 64 * 4)) "$1"; }  # without its header

fail() {
  echo "$1" >&2
  exit 1
}

faro new 64x64x64 f4 in.npy --fill random 2>/dev/null
faro convert in.npy in.zarr --chunks 1,64,64 --codec zstd:1 --quiet
faro permute 'axes(2 0 1)' in.npy wanted.npy --quiet
killed=0
for _ in $(seq 20); do
  faro permute 'axes(2 0 1)' in.zarr out.zarr --chunks 4,4,4 --codec none --memory 300KiB --quiet &
  sleep "0.0$((RANDOM % 80 + 10))"
  if kill -9 $! 2>/dev/null; then killed=$((killed + 1)); fi
  wait $! 2>/dev/null || true
  [[ -e out.zarr ]] || continue
  faro convert out.zarr got.npy --quiet
  cmp <(data got.npy) <(data wanted.npy) || fail "a store that is not whole"
  rm -r out.zarr got.npy
done
((killed > 0)) || fail "nothing was killed"
faro permute 'axes(2 0 1)' in.zarr out.zarr --chunks 4,4,4 --codec none --memory 300KiB --verify --quiet
faro convert out.zarr got.npy --quiet
cmp <(data got.npy) <(data wanted.npy)
[[ $(echo .faro-*) == '.faro-*' ]] || fail "left over: $(echo .faro-*)"

# What is there is not replaced, and a full disk leaves nothing.
faro convert in.npy out.zarr 2>error.txt && fail "a store was replaced"
grep -q 'already' error.txt || fail "$(cat error.txt)"
(
  ulimit -f 100
  faro convert in.npy big.zarr --chunks 64,64,64 --codec none 2>error.txt && fail "more than a file may have was written"
  [[ ! -e big.zarr && $(wc -l <error.txt) == 1 ]] || fail "$(cat error.txt)"
)
[[ $(echo .faro-*) == '.faro-*' ]] || fail "left over: $(echo .faro-*)"
