#!/usr/bin/env bash
# tools/find_nvcc.sh   prints the CUDA compiler that CMake takes: CUDACXX, or nvcc of CUDA_HOME, the PATH, /usr/local/cuda or build/cuda-toolkit.
# Status 1 where there is none.
here=$(cd "$(dirname "$0")/.." && pwd)
for each in "$(command -v "${CUDACXX:-}")" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc "$here/build/cuda-toolkit/bin/nvcc"; do
  if [[ -x $each ]]; then echo "$each" && exit; fi
done
exit 1
