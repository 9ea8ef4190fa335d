#!/usr/bin/env bash
# The drawings of plans that the documentation shows are those that the command draws, as `make pictures` leaves them.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/tools/draw_pictures.sh" "$FARO" drawn
for picture in drawn/*.svg; do
  cmp "$picture" "$root/docs/pictures/$(basename "$picture")" || { echo "\`make pictures\` draws it again" >&2; exit 1; }
done
