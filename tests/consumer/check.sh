#!/usr/bin/env bash
# Installs BUILD under SCRATCH, then builds and runs the project beside this file against what was installed: with find_package, and
# by hand with pkg-config. Where the command was built, its man page has a section on every verb.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 scratch=$2 cmake=$3

rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/prefix" >/dev/null
"$cmake" -G Ninja -S "$here" -B "$scratch/build" -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$scratch/prefix" -D CMAKE_CXX_COMPILER="${CXX:-g++}"
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"
for extra in network swizzle; do
  [[ ! -e $scratch/build/${extra}_consumer ]] || "$scratch/build/${extra}_consumer"
done
"$scratch/build/c_consumer"

# The project that a recipe shows: its ```cmake block and its first ```cpp block are the two files.
recipe=$here/../../docs/recipes/ntt-bit-reversal.md
mkdir -p "$scratch/recipe"
block() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ && on { exit } on' "$recipe"; }
block cmake >"$scratch/recipe/CMakeLists.txt"
block cpp >"$scratch/recipe/main.cpp"
"$cmake" -G Ninja -S "$scratch/recipe" -B "$scratch/recipe/build" -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$scratch/prefix" -D CMAKE_CXX_COMPILER="${CXX:-g++}"
"$cmake" --build "$scratch/recipe/build"
"$scratch/recipe/build/ntt_order"

# A static program without the CUDA engine stays small.
if [[ ! -e $scratch/prefix/lib/libfaro_cxx.so ]] && grep -q 'not built' "$build/generated/faro_build_info.hpp"; then
  bytes=$(stat -c %s "$scratch/build/consumer")
  echo "consumer: $bytes bytes"
  ((bytes <= 4000000)) || { echo "wanted at most 4 MB" >&2; exit 1; }
fi

# A project in CUDA, where there is a compiler.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc "$here/../../build/cuda-toolkit/bin/nvcc" 2>/dev/null | sed -n 1p || true)
if [[ -n $nvcc ]]; then
  # It includes every header that was installed, but for MPI's, which needs one.
  cp -r "$here/cuda" "$scratch/cuda"
  (cd "$scratch/prefix/include" && find faro -name '*.h*' ! -name mpi.hpp | LC_ALL=C sort | sed 's/.*/#include <&>/') \
    >"$scratch/cuda/every_header.hpp"
  "$cmake" -G Ninja -S "$scratch/cuda" -B "$scratch/build-cuda" -D CMAKE_BUILD_TYPE=Release \
    -D CMAKE_PREFIX_PATH="$scratch/prefix" -D CMAKE_CUDA_COMPILER="$nvcc"
  "$cmake" --build "$scratch/build-cuda"
  "$scratch/build-cuda/cuda_consumer"
  echo "every_header.hpp: $(wc -l <"$scratch/cuda/every_header.hpp") headers in a CUDA source"
else
  echo "no CUDA compiler: the project in CUDA was not tried"
fi

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name faro.pc)")
  for package in faro faro_swizzle; do
    pkg-config --exists "$package" || [[ $package == faro ]] || continue  # extras/swizzle may be left out
    source=$here/main.cpp
    [[ $package == faro_swizzle ]] && source=$here/swizzle.cpp
    # shellcheck disable=SC2046  # words, not one
    "${CXX:-g++}" -std=c++20 "$source" -o "$scratch/by_hand" $(pkg-config --cflags --libs "$package") \
      -Wl,-rpath,"$(pkg-config --variable=libdir faro)"
    "$scratch/by_hand"
  done
  # shellcheck disable=SC2046
  "${CC:-gcc}" -std=c99 "$here/plain.c" -o "$scratch/by_hand" $(pkg-config --cflags --libs faro_c) \
    -Wl,-rpath,"$(pkg-config --variable=libdir faro_c)"
  "$scratch/by_hand"
else
  echo "pkg-config is not installed: faro.pc, faro_swizzle.pc and faro_c.pc were not tried"
fi

cmp "$here/../../LICENSE" "$scratch/prefix/share/doc/faro/LICENSE"
if [[ -x $scratch/prefix/bin/faro ]]; then
  "$scratch/prefix/bin/faro" --version
  page=$scratch/prefix/share/man/man1/faro.1
  verbs=$("$here/../../tools/list_verbs.sh" "$scratch/prefix/bin/faro")
  for verb in $verbs; do
    grep -qx ".SS faro $verb" "$page" || { echo "$page has no section on $verb" >&2; exit 1; }
  done
  if LC_ALL=C grep -n '[^ -~]' "$page"; then echo "$page is not of ASCII" >&2; exit 1; fi
  for group in Move Explain Kernels Research; do
    grep -qx ".SS $group" "$page" || { echo "$page does not group its verbs: no $group" >&2; exit 1; }
  done
  for completion in bash-completion/completions/faro zsh/site-functions/_faro fish/vendor_completions.d/faro.fish; do
    grep -q permute "$scratch/prefix/share/$completion" || { echo "no completion $completion" >&2; exit 1; }
  done
  echo "man page: $(wc -w <<<"$verbs") verbs"
fi
