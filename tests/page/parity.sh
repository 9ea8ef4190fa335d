#!/usr/bin/env bash
# tests/page/parity.sh FARO   builds the site's planner and holds it against the command FARO. Exits with 77 where there is no emscripten.
set -euo pipefail
faro=$1
cd "$(dirname "$0")/../.."
planner=$(tools/planner.sh)
node tests/page/parity.js "$planner" "$faro"
