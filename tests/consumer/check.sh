#!/usr/bin/env bash
# Installs BUILD under SCRATCH, then builds and runs the project beside this file against what was installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 scratch=$2 cmake=$3

rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/prefix" >/dev/null
"$cmake" -G Ninja -S "$here" -B "$scratch/build" -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$scratch/prefix" -D CMAKE_CXX_COMPILER="${CXX:-g++}"
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"
"$scratch/build/swizzle_consumer"
if [[ -x $scratch/prefix/bin/faro ]]; then "$scratch/prefix/bin/faro" --version; fi
