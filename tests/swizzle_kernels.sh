#!/usr/bin/env bash
# examples/swizzle/kernels/ is what regenerate.sh makes. Those that take long are left out: poly_64, and
# structs whose sizes have no solution, which are then sought in `extra`.
set -euo pipefail
export LC_ALL=C
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples/swizzle" && pwd)
FARO=$(realpath "${FARO:-$examples/../../build/faro}")
export FARO
names=(stencil_1d conv_1d conv_2d_3 conv_2d_7 conv_2d_7_image poly_32 load_only transpose_5 transpose_7 transpose_33)
for words in 2 3 4 5 7 8; do names+=("aos_sum_$words" "aos_crc_$words" "aos_rcr_$words"); done
"$examples/regenerate.sh" . "${names[@]}"
for name in "${names[@]}"; do
  diff "$examples/kernels/$name.txt" "$name.txt"
  diff "$examples/kernels/$name.cu" "$name.cu"
done
# Each kernel's first line is the command that its report shows, and that command makes the same file.
for kernel in "$examples"/kernels/*.cu; do
  diff <(sed -n '1s,^// ,,p' "$kernel") <(sed -n '1s,^\$ ,,p' "${kernel%.cu}.txt")
done
for name in stencil_1d conv_2d_7_image aos_rcr_4 transpose_5; do
  mkdir again
  (cd again && eval "$(sed -n '1s,^// faro,"$FARO",p' "$examples/kernels/$name.cu")" >/dev/null)
  diff "$examples/kernels/$name.cu" "again/$name.cu"
  rm -r again
done
# All that the script makes is there, and nothing else.
diff <(cd "$examples/kernels" && ls) <("$examples/regenerate.sh" --list | sort)
