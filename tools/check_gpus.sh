#!/usr/bin/env bash
# tools/check_gpus.sh WHEEL CUOBJDUMP '80-real;…;90-virtual'   whether the wheel's extension has code for just these generations of GPUs, and
# all kernels for each.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m zipfile -e "$1" "$scratch"
extension=$scratch/faro/_faro.abi3.so
had=$({
  "$2" --list-elf "$extension" | sed -nE 's/.*\.sm_([0-9]+[a-z]?)\.cubin$/\1-real/p'
  "$2" --list-ptx "$extension" | sed -nE 's/.*\.sm_([0-9]+[a-z]?)\.ptx$/\1-virtual/p'
} | sort | uniq -c)
wanted=$(tr ';' '\n' <<<"$3" | sort)
[[ $(awk '{ print $2 }' <<<"$had") == "$wanted" ]] || { printf '%s has code for\n%s\nwanted\n%s\n' "$1" "$had" "$wanted" >&2; exit 1; }
[[ $(awk '{ print $1 }' <<<"$had" | sort -u | wc -l) == 1 ]] || { printf '%s lacks files of kernels:\n%s\n' "$1" "$had" >&2; exit 1; }
echo "$(awk 'NR == 1 { print $1 }' <<<"$had") files of kernels, each for" $wanted
