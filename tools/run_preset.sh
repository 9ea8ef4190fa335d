#!/usr/bin/env bash
# tools/run_preset.sh PRESET [quick|all]   configures, builds and tests one preset of CMakePresets.json, with all its tests, or with those
# that guard a change and a few seconds of each fuzzer. FUZZ_SECONDS is the time of each fuzzer (3 quick, 60 all).
set -euo pipefail
cd "$(dirname "$0")/.."
scope=${2:-all}
seconds=60
[[ $scope == quick ]] && seconds=3
if [[ $1 == arm64 ]]; then tools/arm_sysroot.sh; fi
cmake --preset "$1" -DFARO_CHECKS="$scope" -DFARO_FUZZ_SECONDS="${FUZZ_SECONDS:-$seconds}"
cmake --build --preset "$1"
ctest --preset "$1" -j "$(nproc)" --no-tests=error
