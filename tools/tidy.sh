#!/usr/bin/env bash
# tools/tidy.sh BUILD_DIR   clang-tidy over src and cli (headers come with them), as BUILD_DIR compiles them.
# A file that was clean is skipped until it, a header of ours that it includes, or .clang-tidy changes.
#
# Files that are not of this build, because there is no CUDA, are skipped. Kernels (.cu) are read as plain C++ with
# nvcc's words defined away by tools/tidy_cuda_shim.hpp, since clang 14 cannot read CUDA 13; those that use CUB, which it
# cannot read either, are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
stamps=$build/tidy
mkdir -p "$stamps"
nvcc=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
cuda_include=$(dirname "$(dirname "$nvcc")")/include
[[ -e $cuda_include/cuda_runtime_api.h ]] || cuda_include=""

tidy_one() {
  local file=$1 headers key
  if [[ -z $cuda_include ]]; then
    [[ $file != *.cu ]] && ! grep -q '#include <cuda_runtime' "$file" || return 0
  fi
  [[ $file == *.cu ]] && grep -q '#include <cub/' "$file" && return 0
  local as_cpp=(-std=c++20 -Iinclude -Isrc -I. -I"$build/generated" -I"$build/generated/embed" ${cuda_include:+-isystem "$cuda_include"})
  local command=(-p "$build" "$file")
  if [[ $file == *.cu ]]; then
    as_cpp+=(-x c++ -include tools/tidy_cuda_shim.hpp)
    command=("$file" -- "${as_cpp[@]}")
  fi
  # -MM lists what the file includes, system headers left out; ours are relative.
  headers=$(clang++-14 "${as_cpp[@]}" -fopenmp -MM "$file" | sed 's/^[^:]*://; s/\\$//' | tr ' ' '\n' |
    grep -v -e '^$' -e '^/' | sort -u)
  # shellcheck disable=SC2086
  key=$(cat .clang-tidy "$0" $headers | sha256sum | cut -c1-32)
  local stamp=$stamps/${file//\//_}.$key
  [[ -e $stamp ]] && return 0
  echo "clang-tidy $file"
  clang-tidy-14 --quiet --extra-arg=-Wno-error --extra-arg=-Wno-unknown-warning-option "${command[@]}" \
    2> >(grep -v 'warnings\? generated' >&2 || true) || return 1
  rm -f "$stamps/${file//\//_}".*
  touch "$stamp"
}

if [[ ${2:-} == --one ]]; then
  tidy_one "$3"
else
  # A file that fails must not stop the others: xargs goes on after statuses 1 to 125.
  find src cli \( -name '*.cpp' -o -name '*.cu' \) -print0 2>/dev/null | sort -z |
    xargs -0 -r -n 1 -P "$(nproc)" "tools/tidy.sh" "$build" --one
fi
