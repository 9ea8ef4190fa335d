#!/usr/bin/env bash
# bench/files.sh FARO [SIZE_LOG2 [MEMORY [FOLDER [ROUNDS]]]]: files larger than memory, beside a plain copy of the same file by the same
# reading and writing, in turns; a table for bench/results/.
#
# SIZE_LOG2: of the file in bytes (32: 4 GiB); MEMORY: the budget (1GiB). The copy is `roll(N, 0)` through the same buffers: one run of the
# file a tile. Beside them `cp`, which goes through the page cache, with the time until its copy is on the disk.
set -euo pipefail
faro=$(realpath "$1")
log2=${2:-32}
memory=${3:-1GiB}
folder=$(mktemp -d "${4:-.}/faro-bench-XXXXXX")
rounds=${5:-3}
trap 'rm -rf "$folder"' EXIT
cd "$folder"
items=$((log2 - 2))
side=$((items / 2))
odd=$((1 << (items - 15)))

"$faro" new "2^$items" u4 in.npy >/dev/null 2>&1
sync

# seconds and what is told of them, of one command
once() {
  local report
  report=$("$faro" "$@" --json)
  sed -n 's/.*"ms": \([0-9.]*\).*/\1/p' <<<"$report" >ms
  sed -n 's/.*"plan": "\(.*\)".*/\1/p' <<<"$report" >plan
  sed -n 's/.*"io": "\(.*\)".*/\1/p' <<<"$report" >io
  sed -n 's/.*"read_bytes": \([0-9]*\).*/\1/p' <<<"$report" >read
  sed -n 's/.*"written_bytes": \([0-9]*\).*/\1/p' <<<"$report" >written
  rm -f out.npy
}
median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

names=(copy "bit_reversal" "random_bmmc($items, 1)" "transpose(2^$side, 2^$((items - side)))" "axes, $odd x 181 x 181, reversed" "flip" "shuffle of items"
  "shuffle of rows of 1 KiB")
run_case() {
  case $1 in
    0) once permute "roll($((1 << items)), 0)" in.npy out.npy --memory "$memory" ;;
    1) once permute bit_reversal in.npy out.npy --memory "$memory" ;;
    2) once permute "random_bmmc($items, 1)" in.npy out.npy --memory "$memory" ;;
    3) once permute "transpose(2^$side, 2^$((items - side)))" in.npy out.npy --memory "$memory" ;;
    4) once permute "axes($odd 181 181; 2 1 0)" odd.npy out.npy --memory "$memory" ;;
    5) once permute flip in.npy out.npy --memory "$memory" ;;
    6) once shuffle in.npy out.npy --seed 1 --memory "$memory" ;;
    7) once shuffle rows.npy out.npy --seed 1 --rows --memory "$memory" ;;
  esac
}
"$faro" new "${odd}x181x181" u4 odd.npy >/dev/null 2>&1
"$faro" new "$((1 << (items - 8)))x256" u4 rows.npy >/dev/null 2>&1
sync
for ((round = 0; round < rounds; ++round)); do
  for i in "${!names[@]}"; do
    run_case "$i"
    cat ms >>"ms.$i"
    for what in plan io read written; do cp "$what" "$what.$i"; done
  done
  begin=$(date +%s%N)
  cp in.npy out.npy && sync out.npy
  echo $((($(date +%s%N) - begin) / 1000000)) >>ms.cp
  rm -f out.npy
done

echo "File of $((1 << (log2 - 20))) MiB, \`--memory $memory\`, medians of $rounds rounds in turns; $("$faro" --version)."
echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores; file system $(stat -f -c %T .); $(cat io.0)."
echo
echo "| what | seconds | over the copy | bytes read / written, over the file's | how |"
echo "|---|---|---|---|---|"
copy=$(median <ms.0)
bytes=$((1 << log2))
for i in "${!names[@]}"; do
  awk -v name="${names[$i]}" -v ms="$(median <"ms.$i")" -v copy="$copy" -v read="$(cat "read.$i")" -v written="$(cat "written.$i")" \
    -v bytes="$bytes" -v plan="$(cat "plan.$i")" 'BEGIN {
      printf "| %s | %.2f | %.2f | %.2f / %.2f | %s |\n", name, ms / 1000, ms / copy, read / bytes, written / bytes, plan }'
done
awk -v ms="$(median <ms.cp)" -v copy="$copy" 'BEGIN { printf "| cp, then sync | %.2f | %.2f | | page cache |\n", ms / 1000, ms / copy }'
