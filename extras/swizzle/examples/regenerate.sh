#!/usr/bin/env bash
# regenerate.sh DIRECTORY [NAME…]   writes to DIRECTORY: of every example, or of those named, the report of
#                                   `faro synth` without its times (NAME.txt) and the kernel (NAME.cu)
# regenerate.sh --list              the files that these are
#
# Three of them are kept in kernels/, to be read; kernels.sha256 has the sums of all: after a change that is meant,
# cd DIRECTORY && sha256sum $(regenerate.sh --list | sort) > kernels.sha256
#
# FARO=path of the command. All together are some minutes of one core, poly_64 one of them.
# Where the space `full` has no solution the kernel is that of the closed form, and the report of `extra` follows; not for
# structs of 12 words, of which that search takes minutes and a GiB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
faro=${FARO:-$here/../../../build/faro}
directory=${1:?DIRECTORY, where the kernels go, or --list}
shift
wanted=" $* "
if [[ $directory != --list ]]; then
  faro=$(realpath "$faro")
  mkdir -p "$directory"
  cd "$directory"
fi

report() {  # OPTION…; a proof that there is no solution (status 7) is a report like any other
  { "$faro" synth "$@" 2>/dev/null || (($? == 7)); } |
    sed -E 's/(;| in) [0-9]+\.[0-9]+ s(, the best after [0-9]+\.[0-9]+ s)?$//'
}

make_kernel() {  # NAME EXAMPLE [OPTION…]
  local name=$1
  shift
  if [[ $directory == --list ]]; then
    printf '%s\n' "$name.cu" "$name.txt"
    return
  fi
  [[ $wanted == "  " || $wanted == *" $name "* ]] || return 0
  echo "\$ faro synth $* --emit $name.cu" >"$name.txt"
  report "$@" --emit "$name.cu" >>"$name.txt"
  if [[ $name != *_12 ]] && grep -q 'no solution in this space' "$name.txt"; then
    printf '\n$ faro synth %s --space extra\n' "$*" >>"$name.txt"
    report "$@" --space extra >>"$name.txt"
  fi
}

make_kernel stencil_1d stencil-1d --element float
make_kernel conv_1d conv-1d --element float
make_kernel conv_2d_3 conv-2d --struct 3 --element float
make_kernel conv_2d_7 conv-2d --struct 7 --element float
make_kernel conv_2d_7_image conv-2d --struct 7 --element float --image --batch 8
make_kernel poly_32 poly-32
make_kernel poly_64 poly-64
make_kernel load_only load-only --element float
for side in 5 7 33; do make_kernel "transpose_$side" transpose --struct "$side"; done
for words in 2 3 4 5 6 7 8 9 10 11 12; do
  for example in sum crc rcr; do make_kernel "aos_${example}_$words" "aos-$example" --struct "$words"; done
done
