#!/usr/bin/env bash
# tools/run_preset.sh PRESET   configures, builds and tests one preset of CMakePresets.json.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset "$1"
cmake --build --preset "$1"
ctest --preset "$1" -j "$(nproc)" --no-tests=error
