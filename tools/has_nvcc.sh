#!/usr/bin/env bash
# tools/has_nvcc.sh   status 0 where there is a CUDA compiler: CUDACXX, or nvcc of the PATH, CUDA_HOME, /usr/local/cuda or
# build/cuda-toolkit.
[[ -n ${CUDACXX:-} ]] || command -v nvcc >/dev/null || [[ -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]] ||
  [[ -x /usr/local/cuda/bin/nvcc ]] || [[ -x $(dirname "$0")/../build/cuda-toolkit/bin/nvcc ]]
