#!/usr/bin/env bash
# Writes kernels/: of every example the report of `faro synth` and the kernel. FARO=path of the command.
set -euo pipefail
cd "$(dirname "$0")"
faro=${FARO:-../../build/faro}
mkdir -p kernels
make_kernel() {  # NAME EXAMPLE [OPTION…]
  local name=$1
  shift
  # Seconds differ from run to run.
  "$faro" synth "$@" --emit "kernels/$name.cu" | sed -E 's/[0-9]+\.[0-9]+ s/… s/g' >"kernels/$name.txt"
}
make_kernel stencil_1d stencil-1d --element float
make_kernel conv_1d conv-1d --element float
make_kernel conv_2d_3 conv-2d --struct 3 --element float
make_kernel conv_2d_7 conv-2d --struct 7 --element float
make_kernel poly_32 poly-32
make_kernel poly_64 poly-64
make_kernel load_only load-only --element float
for side in 5 7 33; do make_kernel "transpose_$side" transpose --struct "$side"; done
for words in 2 3 4 5 6 7 8 9 10 11 12; do
  for example in sum crc rcr; do make_kernel "aos_${example}_$words" "aos-$example" --struct "$words"; done
done
for example in crc rcr; do make_kernel "aos_${example}_6_extra" "aos-$example" --struct 6 --space extra; done
