#!/usr/bin/env bash
# tools/demo.sh [FARO [BITS]]   shows in 25 lines what faro is: a map explained, run and verified; the same timed beside the obvious
# loop and a copy; a tensor whose axes move; and a picture, which it leaves beside the command. On a machine with a GPU that faro can
# use, the array travels through it.
#
# FARO is the command, by default build/faro of this tree. What is timed are 2^BITS elements of 8 bytes, by default 2^26: two arrays of
# 512 MiB, which no cache holds, since in a cache a copy is several times as fast as in memory and says little. Where less than three
# such arrays would fit the free memory they are smaller, and the demo says so where a cache may then hold them.
set -euo pipefail
faro=${1:-$(dirname "$0")/../build/faro}
bits=${2:-26}
if [[ ! -x $faro ]]; then
  echo "no command at $faro: \`make build\` makes it" >&2
  exit 1
fi
faro=$(realpath "$faro")
picture=$(dirname "$faro")/bit_reversal.svg
scratch=$(mktemp -d "${TMPDIR:-/tmp}/faro-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# What is to be said of the next command, shown behind it.
remark=
# Shows a command as one would type it, then runs it. Its report joins its output, so that a pipe keeps their order.
run() {
  local word line='$ faro'
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./^=-]+$ ]] || word="'$word'"
    line+=" $word"
  done
  printf '%s%s\n' "$line" "${remark:+   # $remark}"
  remark=
  "$faro" "$@" 2>&1
}

engine=()
info=$("$faro" info --json | tr -d ' \n')
if [[ $info == *'"name":"cuda","available":true'* ]]; then engine=(--engine cuda); fi
[[ $info =~ \"available_memory_bytes\":([0-9]+) ]]
free=${BASH_REMATCH[1]}
while ((bits > 10 && 3 * (8 << bits) > free)); do bits=$((bits - 1)); done

printf '$ faro explain "bit_reversal(24)"   # three of its lines\n'
"$faro" explain 'bit_reversal(24)' "${engine[@]}" | grep -E '^(permutation|sweeps|  predicted)' | sed -n 1,3p
run new 2^24 u4 in.npy
run permute bit_reversal in.npy out.npy "${engine[@]}" --verify
if ((bits >= 25)); then
  remark="the state of $bits qubits, in memory"
else
  remark="little memory is free: this may lie in a cache"
fi
run bench "bit_reversal($bits)" --element-bytes 8 "${engine[@]}"
run new 64x128x512 float32 tensor.npy
run permute 'axes(2 0 1)' tensor.npy turned.npy --verify
printf '$ faro explain "bit_reversal(24)" --svg bit_reversal.svg\n'
"$faro" explain 'bit_reversal(24)' --svg "$picture" >/dev/null
echo "its index bits and its tile: $picture"
