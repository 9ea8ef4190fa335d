#!/usr/bin/env bash
# tools/demo.sh [FARO]   writes a real array, permutes it, and checks every element; leaves nothing behind. On a machine
# with a GPU that faro can use, the array travels through it.
# FARO is the command, by default build/faro of this tree.
set -euo pipefail
faro=${1:-$(dirname "$0")/../build/faro}
if [[ ! -x $faro ]]; then
  echo "no command at $faro: \`make build\` makes it" >&2
  exit 1
fi
faro=$(realpath "$faro")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/faro-demo.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Shows a command as one would type it, then runs it. Its report joins its output, so that a pipe keeps their order.
run() {
  local word line='$ faro'
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./^=-]+$ ]] || word="'$word'"
    line+=" $word"
  done
  printf '%s\n' "$line"
  "$faro" "$@" 2>&1
}

engine=()
info=$("$faro" info --json | tr -d ' \n')
if [[ $info == *'"name":"cuda","available":true'* ]]; then engine=(--engine cuda); fi

run new 2^24 u4 in.npy
run permute bit_reversal in.npy out.npy "${engine[@]}" --verify
