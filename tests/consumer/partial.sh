#!/usr/bin/env bash
# Installs a tree of which libfaro alone was built: that is installed, what lacks is said, and find_package(faro) serves what is there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 scratch=$2 cmake=$3

rm -rf "$scratch"
mkdir -p "$scratch/project"
# A tree configured as BUILD, whose libfaro is BUILD's.
mapfile -t options < <(sed -nE 's/^((FARO_(CUDA|MPI)|BUILD_SHARED_LIBS|CMAKE_CUDA_(COMPILER|ARCHITECTURES)|CMAKE_CXX_COMPILER):[A-Z]*=.*)/-D\1/p' \
  "$build/CMakeCache.txt")
"$cmake" -G Ninja -S "$here/../.." -B "$scratch/tree" -D CMAKE_BUILD_TYPE=Release "${options[@]}" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; exit 1; }
if "$cmake" --install "$scratch/tree" --prefix "$scratch/prefix" >"$scratch/log" 2>&1; then
  echo "a tree in which nothing was built was installed" >&2
  exit 1
fi
grep -q 'cmake --build' "$scratch/log"
cp -a "$build"/libfaro.a "$build"/libfaro_cxx.so* "$scratch/tree/" 2>/dev/null || true
"$cmake" --install "$scratch/tree" --prefix "$scratch/prefix" >"$scratch/log" || { cat "$scratch/log" >&2; exit 1; }
for part in faro_c faro_swizzle faro_command; do
  grep -q "Not installed: $part, .*--build" "$scratch/log" || { echo "nothing says that $part is not installed" >&2; exit 1; }
done
prefix=$scratch/prefix
for part in bin lib/pkgconfig/faro_c.pc lib/pkgconfig/faro_swizzle.pc include/faro/swizzle include/faro/mpi.hpp share/man; do
  [[ ! -e $prefix/$part ]] || { echo "$part is installed, and was not built" >&2; exit 1; }
done

cat >"$scratch/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(partial LANGUAGES C CXX)
find_package(faro 0.2 REQUIRED CONFIG COMPONENTS ${WANTED} OPTIONAL_COMPONENTS swizzle)
if(faro_swizzle_FOUND OR TARGET faro::c)
  message(FATAL_ERROR "parts that are not there were found")
endif()
add_executable(consumer ${HERE}/main.cpp)
target_link_libraries(consumer PRIVATE faro::faro)
EOF
configure=("$cmake" -G Ninja -S "$scratch/project" -D CMAKE_BUILD_TYPE=Release -D "CMAKE_PREFIX_PATH=$prefix" -D "HERE=$here"
  -D "CMAKE_CXX_COMPILER=${CXX:-g++}")
"${configure[@]}" -B "$scratch/build" -D WANTED=
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"
if "${configure[@]}" -B "$scratch/refused" -D WANTED=c >"$scratch/log" 2>&1; then
  echo "find_package(faro COMPONENTS c) found what is not installed" >&2
  exit 1
fi
tr -s ' \n' ' ' <"$scratch/log" | grep -q 'without faro::c, which had not been built' || { cat "$scratch/log" >&2; exit 1; }
