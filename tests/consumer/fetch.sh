#!/usr/bin/env bash
# tests/consumer/fetch.sh BUILD SCRATCH CMAKE [FOLDER [CMAKE ARGUMENT…]]   a project that takes faro by FetchContent, from a tarball of what git
# tracks here or as FOLDER has it, and compiles it as its own part: without arguments for this machine's processor alone and without a GPU.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scratch=$2 cmake=$3 folder=${4:-}
shift $(($# < 4 ? $# : 4))
(($#)) || set -- -D FARO_CPU_TARGETS=NATIVE -D FARO_EXTRAS=OFF -D FARO_CUDA=OFF -D FARO_MPI=OFF

rm -rf "$scratch"
mkdir -p "$scratch/project"
from="SOURCE_DIR $folder"
if [[ -z $folder ]]; then
  git -C "$here/../.." ls-files -z | tar -C "$here/../.." --null -T - -czf "$scratch/faro.tar.gz" --transform 's,^,faro/,'
  from="URL $scratch/faro.tar.gz"
fi
cat >"$scratch/project/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(fetching LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(faro $from)
FetchContent_MakeAvailable(faro)
add_executable(consumer $here/main.cpp)
target_link_libraries(consumer PRIVATE faro::faro)
EOF
"$cmake" -G Ninja -S "$scratch/project" -B "$scratch/build" -D CMAKE_BUILD_TYPE=Release "$@" -D "CMAKE_CXX_COMPILER=${CXX:-g++}" -Wno-dev
"$cmake" --build "$scratch/build" --target consumer
[[ ! -e $scratch/build/_deps/faro-build/faro ]] || { echo "the command was built, for which nobody asked" >&2; exit 1; }
"$scratch/build/consumer"
