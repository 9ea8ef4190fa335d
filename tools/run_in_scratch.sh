#!/usr/bin/env bash
# tools/run_in_scratch.sh DIRECTORY COMMAND…   runs the command in DIRECTORY, emptied before and removed on success.
set -euo pipefail
scratch=$1
shift
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$@" </dev/null
cd /
rm -rf "$scratch"
