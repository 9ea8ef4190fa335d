#!/usr/bin/env bash
# tools/run_in_scratch.sh DIRECTORY COMMAND…   runs the command in DIRECTORY, emptied before and removed on success. What `faro tune` keeps
# is in a folder of its own meanwhile, whatever the user has.
set -euo pipefail
scratch=$1
shift
export FARO_CACHE=$scratch.home
rm -rf "$scratch" "$FARO_CACHE"
mkdir -p "$scratch"
cd "$scratch"
"$@" </dev/null
cd /
rm -rf "$scratch" "$FARO_CACHE"
