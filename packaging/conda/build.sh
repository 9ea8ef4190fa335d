#!/usr/bin/env bash
# The libraries and the command into $PREFIX, then the Python package with the same library.
set -euo pipefail
read -ra with <<<"${CMAKE_ARGS:-} ${FARO_WITH_CMAKE:-}"
gpus=()
[[ $FARO_CUDA == OFF ]] || gpus=("-DCMAKE_CUDA_ARCHITECTURES=80-real;86-real;89-real;90-real;100-real;120-real;90-virtual")
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DFARO_MPI=OFF \
  -DFARO_CUDA="$FARO_CUDA" "${gpus[@]}" "${with[@]}"
cmake --build build -j"${CPU_COUNT:-2}" --target faro faro_c faro_libraries
cmake --install build
into=()
if [[ -n $FARO_SYSTEM ]]; then into=(--prefix "$PREFIX"); fi
SKBUILD_CMAKE_DEFINE="FARO_PREBUILT=$PWD/build" "${FARO_SYSTEM:-$PYTHON}" -m pip install . -vv --no-deps --no-build-isolation "${into[@]}"
