#!/usr/bin/env bash
# bench/files.sh FARO [SIZE_LOG2 [MEMORY [FOLDER [ROUNDS]]]]: files larger than memory, beside plain copies of the same file; tables for
# bench/results/. Takes two files' room, five for case 9.
#
# SIZE_LOG2: of the file in bytes (33: 8 GiB); MEMORY: the budget (1GiB). Each job stands beside two copies by the same threads and the same ways
# of reading and writing, and the tables name both:
#   copy in order       `roll(N, 0)`: the file copied from its begin to its end, in requests of 1 MiB. It runs just before and just after every
#                       job, and the job's time is divided by the mean of the two: a disk that is slow for a minute is slow for all three.
#   copy by its         what the job reads and writes, in its segments and its order of tiles, with nothing permuted (file_requests_bench, where
#   requests            it was built in build/bench and the job is one sweep). Over the copy in order that is what the disk charges for
#                       segments; the job over it is what faro adds.
# The tables have the medians of these ratios over the rounds, and the least and the most of them.
# ONLY='1 8': these cases alone, by their numbers. Beyond the usual ones: 9, an index array as large as the file, 10, a multiplication, and
# 11, `cp` and `sync`, by way of the page cache, which is emptied before where that is allowed, and 12, the bit reversal of elements of 64 bytes,
# whose segments are longer.
# GROUP=2G: a second table within a control group of so much, as in a container, without --memory, of cases 1, 3 and 4; GROUP= leaves it out.
# TUNE=1: by the rates that `faro tune --disk` measures first, 1 GiB in the same folder, kept in it.
# PEERS=1: also what others do it with, within the same control group and ten minutes each (PEER_SECONDS): cp, NumPy's memmap (a
# transposition), shuf, sort -R.
set -euo pipefail
faro=$(realpath "$1")
log2=${2:-33}
memory=${3:-1GiB}
memory_bytes=$(numfmt --from=iec-i --suffix=B "$memory")
memory_bytes=${memory_bytes%B}
folder=$(mktemp -d "${4:-.}/faro-bench-XXXXXX")
rounds=${5:-3}
group_bytes=${GROUP-2G}
group=/sys/fs/cgroup/faro-bench-$$ # version 2, else version 1
limit=memory.max
[[ -d /sys/fs/cgroup/memory ]] && group=/sys/fs/cgroup/memory/faro-bench-$$ && limit=memory.limit_in_bytes
trap 'rm -rf "$folder"; rmdir "$group" 2>/dev/null || true' EXIT
cd "$folder"
items=$((log2 - 2))
side=$((items / 2))
odd=$((1 << (items - 15)))
run=("$faro") # how faro is started
requests=$(dirname "$faro")/bench/file_requests_bench

# Before each run: the disk has nothing left to do, and as much memory as the run takes was in use a moment ago. A virtual machine's host takes
# back what was not, and giving it again costs up to a second a GiB, which would fall upon whichever of job and copies came first.
begin() {
  rm -f out.npy
  sync
  python3 -c "b'1' * $((memory_bytes + memory_bytes / 8))"
}
# Runs faro, and keeps what is told of it: milliseconds, how, bytes.
once() {
  local report key
  begin
  report=$("${run[@]}" "$@" "${budget[@]}" --json 2>/dev/null)
  sed -n 's/.*"ms": \([0-9.]*\).*/\1/p' <<<"$report" >ms
  for key in plan io; do sed -n "s/.*\"$key\": \"\(.*\)\".*/\1/p" <<<"$report" >$key; done
  for key in read_bytes written_bytes journal_bytes; do sed -n "s/.*\"$key\": \([0-9]*\).*/\1/p" <<<"$report" >$key; done
  rm -f out.npy
}
# Of numbers, one a line: their median, the least and the most.
spread() { sort -g | awk '{ a[NR] = $1 } END { m = (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2; printf "%.2f (%.2f to %.2f)", m, a[1], a[NR] }'; }

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

# The same of `cp`, from the disk to the disk.
once_cp() {
  local at
  begin
  { echo 1 >/proc/sys/vm/drop_caches; } 2>/dev/null || true
  at=$(date +%s%N)
  cp in.npy out.npy
  sync out.npy
  awk -v ns=$(($(date +%s%N) - at)) 'BEGIN { print ns / 1e6 }' >ms
  echo "by way of the page cache" >plan
  for key in read_bytes written_bytes; do echo $((count * 4)) >$key; done
  echo 0 >journal_bytes
  rm -f out.npy
}

# Likewise, without permuting.
once_requests() { # spec
  begin
  "${run[@]/#"$faro"/"$requests"}" --spec "$1" --in in.npy --out out.npy "${budget[@]}" 2>/dev/null | sed -n 's/.*"ms": \([0-9.]*\).*/\1/p' >ms
}

names=("copy in order" "bit_reversal" "random_bmmc($items, 1)" "transpose(2^$side, 2^$((items - side)))" "shuffle of items of 4 bytes"
  "shuffle of rows of 1 KiB" "bit_reversal, in place, journal and all" "" "axes, $odd x 181 x 181, reversed"
  "index array of items of 4 bytes, itself as large" "multiply(2^$items, 5^7)" "\`cp\`, then \`sync\`"
  "bit_reversal of elements of 64 bytes")
# Those of one sweep.
specs=("" "bit_reversal($items)" "random_bmmc($items, 1)" "transpose($((1 << side)), $((1 << (items - side))))" "" "" "" ""
  "axes($odd 181 181; 2 1 0)" "" "multiply($((1 << items)), 78125)")
run_case() { # number
  case $1 in
    0) once permute "roll($count, 0)" in.npy out.npy ;;
    1 | 2 | 3 | 8 | 10) once permute "${specs[$1]}" in.npy out.npy ;;
    4) once shuffle in.npy out.npy --seed 1 ;;
    5)
      reshape "$((1 << (items - 8))), 256"
      once shuffle in.npy out.npy --seed 1 --rows
      reshape "$((1 << items)),"
      ;;
    6) once permute bit_reversal in.npy --in-place ;;
    9) once permute @index.npy in.npy out.npy ;;
    11) once_cp ;;
    12) once permute "bit_reversal($((log2 - 6)))" in.npy out.npy --element-bytes 64 ;;
  esac
}

# A table of the cases: in each round copy, job, copy, its requests, copy, job, ..., copy.
table() {
  local round i before seconds bare
  rm -f ms.* ratio.* bare.* bare_ratio.* over_bare.*
  for ((round = 0; round < rounds; ++round)); do
    run_case 0
    cat ms >>ms.0
    for i in "$@"; do
      before=$(cat ms)
      run_case "$i"
      for what in plan io read_bytes written_bytes journal_bytes; do cp "$what" "$what.$i"; done
      seconds=$(cat ms)
      echo "$seconds" >>"ms.$i"
      run_case 0
      cat ms >>ms.0
      awk -v job="$seconds" -v before="$before" -v after="$(cat ms)" 'BEGIN { print job / ((before + after) / 2) }' >>"ratio.$i"
      # Its requests come behind a copy as the job does: who comes behind one finds less of its memory warm.
      if [[ ${specs[$i]:-} && -x $requests && ${#budget[@]} -gt 0 ]]; then
        before=$(cat ms)
        once_requests "${specs[$i]}"
        bare=$(cat ms)
        echo "$bare" >>"bare.$i"
        awk -v job="$seconds" -v bare="$bare" 'BEGIN { print job / bare }' >>"over_bare.$i"
        run_case 0
        cat ms >>ms.0
        awk -v bare="$bare" -v before="$before" -v after="$(cat ms)" 'BEGIN { print bare / ((before + after) / 2) }' >>"bare_ratio.$i"
      fi
    done
  done
  for what in plan io read_bytes written_bytes journal_bytes; do cp "$what" "$what.0"; done
  echo "| job | seconds | **job over copy in order** | copy by its requests, seconds | copy by its requests over copy in order | **job over copy by its requests** | bytes read / written, over the file's | how |"
  echo "|---|---|---|---|---|---|---|---|"
  for i in 0 "$@"; do
    seconds=$(awk '{ print $1 / 1000 }' "ms.$i" | spread)
    [[ $i == 0 ]] && echo "1" >ratio.0
    bare="| |"
    if [[ -e bare.$i ]]; then
      bare="$(awk '{ print $1 / 1000 }' "bare.$i" | spread) | $(spread <"bare_ratio.$i") | $(spread <"over_bare.$i")"
    fi
    awk -v name="${names[$i]}" -v seconds="$seconds" -v ratio="$(spread <"ratio.$i")" -v bare="$bare" -v read="$(cat "read_bytes.$i")" -v written="$(cat "written_bytes.$i")" \
      -v journal="$(cat "journal_bytes.$i")" -v bytes=$((count * 4)) -v plan="$(cat "plan.$i")" 'BEGIN {
        sub(/^1.00 .*/, "1", ratio)
        printf "| %s | %s | %s | %s | %.2f / %.2f | %s |\n", name, seconds, ratio, bare, read / bytes, (written + journal) / bytes, plan }'
  done
}

read -ra cases <<<"${ONLY:-1 2 3 4 5 6 11 8}"
count=$((1 << items))
tuned=
if [[ ${TUNE:-} ]]; then
  export FARO_CACHE=$folder/cache
  "$faro" tune --disk . --quick >/dev/null 2>&1
  tuned=", after \`faro tune --disk --quick\`"
fi
"$faro" new "2^$items" u4 in.npy >/dev/null 2>&1
if [[ " ${cases[*]} " == *" 9 "* ]]; then "$faro" shuffle in.npy index.npy --seed 2 --quiet; fi # its items are their own numbers
budget=(--memory "$memory")
of_powers=()
for i in "${cases[@]}"; do [[ $i == 8 || $i == 0 ]] || of_powers+=("$i"); done
load=$(cut -d' ' -f1 /proc/loadavg)
echo "File of $((1 << (log2 - 20))) MiB, \`--memory $memory\`; medians of $rounds rounds, the least and the most; $("$faro" --version)."
echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | sed -n 1p), $(nproc) cores, load $load; file system $(stat -f -c %T .)$tuned."
cat <<'TEXT'

"Copy in order" is the same file copied from begin to end by the same threads, in requests of 1 MiB; "copy by its requests" reads and writes what the
job does, in its segments and its order, and permutes nothing. The second over the first is what the disk charges for segments.

TEXT
if ((${#of_powers[@]})); then
  table "${of_powers[@]}"
  echo
  echo "Read and written by: $(cat io)."
fi

is_confined=0
# shellcheck disable=SC2016  # expanded by the shell inside
confined=(bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group")
if [[ $group_bytes ]] && mkdir "$group" 2>/dev/null && echo "$group_bytes" 2>/dev/null >"$group/$limit"; then is_confined=1; fi
if ((is_confined)) && [[ -z ${ONLY:-} ]]; then
  printf '\nThe same within a control group of %s, without --memory.\n\n' "$group_bytes"
  run=("${confined[@]}" "$faro")
  budget=()
  table 1 3 4
  run=("$faro")
  budget=(--memory "$memory")
elif [[ -z ${ONLY:-} ]]; then
  printf '\nNo control group can be made here: nothing was run within %s.\n' "${group_bytes:-one}"
fi

if [[ ${PEERS:-} ]]; then
  peer_seconds=${PEER_SECONDS:-600}
  # Seconds of a command that is given so much time, with the same memory as faro where that can be had.
  timed() {
    local name=$1 begin words=()
    shift
    ((is_confined)) && words=("${confined[@]}")
    rm -f out.npy out.txt
    sync
    begin=$(date +%s%N)
    if "${words[@]}" timeout "$peer_seconds" "$@" 2>/dev/null; then
      awk -v name="$name" -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "| %s | %.1f |\n", name, ns / 1e9 }'
    else
      echo "| $name | not done in $peer_seconds s, or not possible |"
    fi
    rm -f out.npy out.txt
  }
  printf '\n| beside it%s | seconds |\n|---|---|\n' "$( ((is_confined)) && echo ", within a control group of $group_bytes")"
  timed "cp, then sync" bash -c 'cp in.npy out.npy && sync out.npy'
  timed "NumPy, memmap, transposed to a memmap" python3 -c "
import numpy as np
a = np.load('in.npy', mmap_mode='r').reshape(2**$side, -1)
b = np.lib.format.open_memmap('out.npy', 'w+', a.dtype, a.shape[::-1])
b[:] = a.T
b.flush()"
  timed "shuf of as many bytes in lines of 8" bash -c "set -o pipefail; head -c $((count * 2)) in.npy | od -An -v -tx4 -w4 | cut -c3- | shuf >out.txt"
  timed "sort -R of the same" bash -c "set -o pipefail; head -c $((count * 2)) in.npy | od -An -v -tx4 -w4 | cut -c3- | sort -R -T . >out.txt"
fi

# The file cut to a shape without powers of two.
if [[ " ${cases[*]} " == *" 8 "* ]]; then
  length=$(($(od -An -tu2 -j8 -N2 in.npy) + 10))
  count=$((odd * 181 * 181))
  truncate -s $((length + count * 4)) in.npy
  reshape "$odd, 181, 181"
  # shellcheck disable=SC2016  # backquotes are printed
  printf '\nThe file cut to %s x 181 x 181, `--memory %s`.\n\n' "$odd" "$memory"
  table 8
fi
