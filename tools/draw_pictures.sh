#!/usr/bin/env bash
# tools/draw_pictures.sh FARO [FOLDER]
#
# Draws the plans that the documentation shows, by `faro explain --svg` for a GPU of compute capability 9.0, which every machine can plan
# for, and its layouts, networks and timelines: FOLDER/NAME-light.svg and FOLDER/NAME-dark.svg, by default in docs/pictures. The command's
# own drawing has both schemes in one file and follows the browser; pages choose by <picture>, which follows the site.
set -euo pipefail
faro=$1
folder=${2:-$(dirname "$0")/../docs/pictures}
mkdir -p "$folder"
drawing=$(mktemp)
trap 'rm -f "$drawing"' EXIT

# draw NAME VERB ARGUMENT…
draw() {
  local name=$1 scheme
  shift
  "$faro" "$@" --svg "$drawing" --no-sync >/dev/null
  for scheme in light dark; do
    awk -v scheme="$scheme" '
      /@media \(prefers-color-scheme: dark\)/ { inside = 1; next }
      inside && /^  }$/ { inside = 0; next }
      inside && scheme == "light" { next }
      { print }
    ' "$drawing" >"$folder/$name-$scheme.svg"
  done
}

plan() { draw "plan-$1" explain "${@:2}" --engine cuda --capability 9.0; }

plan bit-reversal 'bit_reversal(24)'
plan transpose 'transpose(4096, 1024)'
plan gray 'gray(16)'
plan random-matrix 'random_bmmc(10, 3)'
plan in-place 'random_bmmc(20, 1)' --in-place
plan axes 'axes(96 75 75 96; 3 2 1 0)'
plan plane 'axes(300 400 500; 2 0 1)'
draw layout-column layout --rows 32 --columns 32 --access row --access column
draw network-sort network explain sort --bits 4 --tile-bits 3 --segment-bits 1
draw timeline-diagonal simulate transpose-diagonal --width 4 --latency 3 --n 16
draw timeline-straightforward simulate transpose-straightforward --width 4 --latency 3 --n 16
