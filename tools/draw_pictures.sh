#!/usr/bin/env bash
# tools/draw_pictures.sh FARO [FOLDER]
#
# Draws the plans that the documentation shows, by `faro explain --svg` for a GPU of compute capability 9.0, which every machine can plan
# for: FOLDER/NAME-light.svg and FOLDER/NAME-dark.svg, by default in docs/pictures. The command's own drawing has both schemes in one
# file and follows the browser; pages choose by <picture>, which follows the site.
set -euo pipefail
faro=$1
folder=${2:-$(dirname "$0")/../docs/pictures}
mkdir -p "$folder"
drawing=$(mktemp)
trap 'rm -f "$drawing"' EXIT

# draw NAME SPEC [OPTION…]
draw() {
  local name=$1 scheme
  shift
  "$faro" explain "$@" --engine cuda --capability 9.0 --svg "$drawing" --no-sync >/dev/null
  for scheme in light dark; do
    awk -v scheme="$scheme" '
      /@media \(prefers-color-scheme: dark\)/ { inside = 1; next }
      inside && /^  }$/ { inside = 0; next }
      inside && scheme == "light" { next }
      { print }
    ' "$drawing" >"$folder/$name-$scheme.svg"
  done
}

draw plan-bit-reversal 'bit_reversal(24)'
draw plan-transpose 'transpose(4096, 1024)'
draw plan-gray 'gray(16)'
draw plan-random-matrix 'random_bmmc(10, 3)'
draw plan-in-place 'random_bmmc(16, 1)' --in-place
