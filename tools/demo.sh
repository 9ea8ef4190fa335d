#!/usr/bin/env bash
# tools/demo.sh FARO   writes a real array, explains a map, permutes with it, and checks every element.
set -euo pipefail
faro=$(realpath "${1:-build/faro}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/faro-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

run() {
  local word line='$ faro'
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./^=-]+$ ]] || word="'$word'"
    line+=" $word"
  done
  printf '\n%s\n' "$line"
  "$faro" "$@"
}

echo "Bit reversal of 2^24 numbers of 4 bytes (64 MiB), then a transpose of the same array."
run new 2^24 u4 in.npy
run explain 'bit_reversal(24)' --element-bytes 4
run permute bit_reversal in.npy reversed.npy --verify
run permute 'transpose(4096, 4096)' in.npy transposed.npy --verify
