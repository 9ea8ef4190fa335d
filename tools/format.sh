#!/usr/bin/env bash
# tools/format.sh [--check]   formats our C++ and CUDA sources, or says which are not.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run --Werror)
find include src cli extras page tests examples bench -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
  -print0 2>/dev/null | sort -z | xargs -0 -r -n 16 -P "$(nproc)" clang-format-14 "${mode[@]}"
