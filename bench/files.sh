#!/usr/bin/env bash
# bench/files.sh FARO [SIZE_LOG2 [MEMORY [FOLDER [ROUNDS]]]]: files larger than memory, beside a plain copy of the same file by the same
# reading and writing, in turns; tables for bench/results/. About eight minutes for 8 GiB on a disk of 250 MB/s. Takes three files' room.
#
# SIZE_LOG2: of the file in bytes (33: 8 GiB); MEMORY: the budget (1GiB). The copy is `roll(N, 0)` through the same buffers: one run of the
# file a tile. Beside them `cp`, which goes through the page cache, with the time until its copy is on the disk.
# ONLY='0 1': these cases alone, by their numbers, and no `cp`: of a file for which two files' room is there. Beyond the usual ones: 9, an
# index array as large as the file (five files' room), and 10, a multiplication modulo the number of items.
# A second table: the same within a control group of 2 GiB, as in a container, without --memory; where control groups can be made.
# PEERS=1: also what others do it with, each for ten minutes at most: NumPy's memmap (a transposition), `shuf` (lines of 8 bytes).
set -euo pipefail
faro=$(realpath "$1")
log2=${2:-33}
memory=${3:-1GiB}
folder=$(mktemp -d "${4:-.}/faro-bench-XXXXXX")
rounds=${5:-1}
group=/sys/fs/cgroup/faro-bench-$$ # version 2, else version 1
limit=memory.max
[[ -d /sys/fs/cgroup/memory ]] && group=/sys/fs/cgroup/memory/faro-bench-$$ && limit=memory.limit_in_bytes
trap 'rm -rf "$folder"; rmdir "$group" 2>/dev/null || true' EXIT
cd "$folder"
items=$((log2 - 2))
side=$((items / 2))
odd=$((1 << (items - 15)))
bytes=$((1 << log2))

# Runs the command, and keeps what is told of it: seconds, how, bytes.
once() {
  local report
  report=$("$@" --json 2>/dev/null)
  sed -n 's/.*"ms": \([0-9.]*\).*/\1/p' <<<"$report" >ms
  for key in plan io; do sed -n "s/.*\"$key\": \"\(.*\)\".*/\1/p" <<<"$report" >$key; done
  for key in read_bytes written_bytes journal_bytes; do sed -n "s/.*\"$key\": \([0-9]*\).*/\1/p" <<<"$report" >$key; done
  rm -f out.npy
}
median() { sort -g | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
row() { # name, seconds, of the copy
  awk -v name="$1" -v ms="$2" -v copy="$3" -v read="$(cat read_bytes)" -v written="$(cat written_bytes)" -v journal="$(cat journal_bytes)" \
    -v bytes="$bytes" -v plan="$(cat plan)" 'BEGIN {
      printf "| %s | %.2f | %.2f | %.2f / %.2f | %s |\n", name, ms / 1000, ms / copy, read / bytes, (written + journal) / bytes, plan }'
}

# Writes another shape into the header of in.npy, which has room for it.
reshape() {
  python3 - "$1" <<'PYTHON'
import sys
with open('in.npy', 'r+b') as file:
    head = file.read(10)
    length = head[8] | head[9] << 8
    text = "{'descr': '<u4', 'fortran_order': False, 'shape': (%s), }" % sys.argv[1]
    file.write(text.ljust(length - 1).encode() + b'\n')
PYTHON
}

names=(copy "bit_reversal" "random_bmmc($items, 1)" "transpose(2^$side, 2^$((items - side)))" "shuffle of items of 4 bytes"
  "shuffle of rows of 1 KiB" "bit_reversal, in place, journal and all" "copy of the file cut to $odd x 181 x 181"
  "axes, $odd x 181 x 181, reversed" "index array of items of 4 bytes, itself as large" "multiply(2^$items, 5^7)")
# Case $1 with the words behind it before and --memory after the command.
run_case() {
  local case=$1
  shift
  case $case in
    0) once "$@" permute "roll($((1 << items)), 0)" in.npy out.npy "${budget[@]}" ;;
    1) once "$@" permute bit_reversal in.npy out.npy "${budget[@]}" ;;
    2) once "$@" permute "random_bmmc($items, 1)" in.npy out.npy "${budget[@]}" ;;
    3) once "$@" permute "transpose($((1 << side)), $((1 << (items - side))))" in.npy out.npy "${budget[@]}" ;;
    4) once "$@" shuffle in.npy out.npy --seed 1 "${budget[@]}" ;;
    5)
      reshape "$((1 << (items - 8))), 256"
      once "$@" shuffle in.npy out.npy --seed 1 --rows "${budget[@]}"
      reshape "$((1 << items)),"
      ;;
    6) once "$@" permute bit_reversal in.npy --in-place "${budget[@]}" ;;
    7) once "$@" permute "roll($((odd * 181 * 181)), 0)" in.npy out.npy "${budget[@]}" ;;
    8) once "$@" permute "axes($odd 181 181; 2 1 0)" in.npy out.npy "${budget[@]}" ;;
    9) once "$@" permute @index.npy in.npy out.npy "${budget[@]}" ;;
    10) once "$@" permute "multiply($((1 << items)), 78125)" in.npy out.npy "${budget[@]}" ;;
  esac
}
measure() { # case
  run_case "$1" "$faro"
  cat ms >>"ms.$1"
  for what in plan io read_bytes written_bytes journal_bytes; do cp "$what" "$what.$1"; done
}

read -ra cases <<<"${ONLY:-0 1 2 3 4 5 6}"
"$faro" new "2^$items" u4 in.npy >/dev/null 2>&1
if [[ " ${cases[*]} " == *" 9 "* ]]; then "$faro" shuffle in.npy index.npy --seed 2 --quiet; fi # its items are their own numbers
sync
budget=(--memory "$memory")
for ((round = 0; round < rounds; ++round)); do
  for i in "${cases[@]}"; do measure "$i"; done
  [[ ${ONLY:-} ]] && continue
  begin=$(date +%s%N)
  cp in.npy out.npy && sync out.npy
  echo $((($(date +%s%N) - begin) / 1000000)) >>ms.cp
  rm -f out.npy
done

head="| what | seconds | over the copy | bytes read / written, over the file's | how |
|---|---|---|---|---|"
echo "File of $((1 << (log2 - 20))) MiB, \`--memory $memory\`, medians of $rounds rounds in turns; $("$faro" --version)."
echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | sed -n 1p), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); file system $(stat -f -c %T .); $(cat io)."
printf '\n%s\n' "$head"
rows_of() { # the copy's case, and the others
  local copy
  copy=$(median <"ms.$1")
  for i in "$@"; do
    for what in plan read_bytes written_bytes journal_bytes; do cp "$what.$i" "$what"; done
    row "${names[$i]}" "$(median <"ms.$i")" "$copy"
  done
}
rows_of "${cases[@]}"
[[ ${ONLY:-} ]] && exit
awk -v ms="$(median <ms.cp)" -v copy="$(median <ms.0)" 'BEGIN { printf "| cp, then sync | %.2f | %.2f | | page cache |\n", ms / 1000, ms / copy }'

if mkdir "$group" 2>/dev/null && echo 2G 2>/dev/null >"$group/$limit"; then
  # shellcheck disable=SC2016  # expanded by the shell inside
  confined=(bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$faro")
  budget=()
  printf '\nThe same within a control group of 2 GiB, without --memory.\n\n%s\n' "$head"
  copy=
  for i in 0 1 4; do
    run_case "$i" "${confined[@]}"
    : "${copy:=$(cat ms)}"
    row "${names[$i]}" "$(cat ms)" "$copy"
  done
else
  printf '\nNo control group can be made here: nothing was run within 2 GiB.\n'
fi

if [[ ${PEERS:-} ]]; then
  # Seconds of a command that is given ten minutes.
  timed() {
    local name=$1 begin
    shift
    begin=$(date +%s%N)
    if timeout 600 "$@"; then
      awk -v name="$name" -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "| %s | %.1f |\n", name, ns / 1e9 }'
    else
      echo "| $name | not done in 600, or not possible |"
    fi
    rm -f out.npy out.txt
  }
  printf '\n| beside it | seconds |\n|---|---|\n'
  timed "NumPy, memmap, transposed to a memmap" python3 -c "
import numpy as np
a = np.load('in.npy', mmap_mode='r').reshape(2**$side, -1)
b = np.lib.format.open_memmap('out.npy', 'w+', a.dtype, a.shape[::-1])
b[:] = a.T
b.flush()"
  timed "shuf of as many bytes in lines of 8" bash -c "set -o pipefail; head -c $((bytes / 2)) in.npy | od -An -v -tx4 -w4 | cut -c3- | shuf >out.txt"
fi

# The file cut to a shape without powers of two, in turns with a copy of that.
length=$(($(od -An -tu2 -j8 -N2 in.npy) + 10))
bytes=$((odd * 181 * 181 * 4))
truncate -s $((length + bytes)) in.npy
reshape "$odd, 181, 181"
budget=(--memory "$memory")
for ((round = 0; round < rounds; ++round)); do
  measure 7
  measure 8
done
# shellcheck disable=SC2016  # backquotes are printed
printf '\nThe file cut, `--memory %s`.\n\n%s\n' "$memory" "$head"
rows_of 7 8
