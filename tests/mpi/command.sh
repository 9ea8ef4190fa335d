#!/usr/bin/env bash
# faro permute, bench and explain with --shards, by mpirun: the file that several processes write is the one that a single
# process writes; a refusal is one line, and leaves no file.
set -euo pipefail
fail() {
  echo "$1" >&2
  exit 1
}
# OpenMPI 4.1.4 once lost a process that had ended well, on a busy machine: it told its PID as 0. Such a run is made again.
ranks() {
  "$MPIEXEC" -n "$@" 2>stderr.txt || { grep -q 'with PID 0 on' stderr.txt && "$MPIEXEC" -n "$@" 2>stderr.txt; }
}

"$FARO" new 96x50x7 u4 in.npy
"$FARO" new 2^16 u8 power.npy
"$FARO" new 1000 u4 ids.npy
"$FARO" permute 'random(1000, 1)' ids.npy index.npy --quiet
for spec in 'axes(2 0 1)' 'axes(1 2 0)' 'axes(0 2 1)' 'roll(777)' 'flip(1)' 'roll(7)'; do
  along=(); [[ $spec != 'roll(7)' ]] || along=(--axis 1)
  "$FARO" permute "$spec" "${along[@]}" in.npy alone.npy --quiet
  for n in 2 3; do
    rm -f shared.npy
    ranks $n "$FARO" permute "$spec" "${along[@]}" in.npy shared.npy --shards --verify || fail "$spec, $n ranks: $(cat stderr.txt)"
    cmp alone.npy shared.npy || fail "$spec by $n ranks is another file"
  done
done
grep -q 'verified' stderr.txt || fail "nothing was told: $(cat stderr.txt)"
(($(wc -L <stderr.txt) <= 80)) || fail "a line of more than 80 columns: $(cat stderr.txt)"
for spec in bit_reversal gray 'random_bmmc(16, 7)'; do
  "$FARO" permute "$spec" power.npy alone.npy --quiet
  ranks 4 "$FARO" permute "$spec" power.npy shared.npy --shards --quiet || fail "$spec: $(cat stderr.txt)"
  cmp alone.npy shared.npy || fail "$spec by 4 ranks is another file"
done
"$FARO" permute @index.npy ids.npy alone.npy --quiet
ranks 5 "$FARO" permute @index.npy ids.npy shared.npy --shards --json >told.json || fail "$(cat stderr.txt)"
cmp alone.npy shared.npy || fail "an index array by 5 ranks is another file"
grep -q '"method": "indices"' told.json || fail "$(cat told.json)"

# Meshes: the same file, whoever holds what; a rank that holds nothing, copies of which one writes.
for n in 4 6; do
  mesh=2x$((n / 2))
  for cuts in "axis 0 over 0; axis 1 over 1|axis 1 over 0 in blocks of 2; axis 2 over 1" "axis 2 over 1|axis 0 over 0" \
    "axis 1 over 1 0 in blocks of 3|axis 2 over 1"; do
    "$FARO" permute 'axes(2 0 1)' in.npy alone.npy --quiet
    rm -f shared.npy
    ranks $n "$FARO" permute 'axes(2 0 1)' in.npy shared.npy --mesh $mesh --from "${cuts%|*}" --to "${cuts#*|}" --verify || fail "$cuts: $(cat stderr.txt)"
    cmp alone.npy shared.npy || fail "$cuts by $n ranks is another file"
  done
  rm -f shared.npy
  ranks $n "$FARO" permute 'axes(2 0 1)' in.npy shared.npy --from 'mesh 2; axis 0 over 0' --to 'mesh 2 at 2; axis 1 over 0' --quiet || fail "$(cat stderr.txt)"
  cmp alone.npy shared.npy || fail "disjoint groups of $n ranks: another file"
done
rm -f shared.npy
if ranks 2 "$FARO" permute 'axes(2 0 1)' in.npy shared.npy --mesh 2x3 --from 'axis 0 over 0' --quiet; then fail "six ranks of two"; fi
grep -q 'ranks below 2' stderr.txt || fail "$(cat stderr.txt)"
[[ ! -e shared.npy ]] || fail "a refusal left a file"

# Files larger than the memory: each rank sweeps its share of the tiles.
for n in 2 3; do
  for spec in 'axes(2 0 1)' 'roll(777)' 'flip(1)'; do
    "$FARO" permute "$spec" in.npy alone.npy --quiet
    rm -f shared.npy
    ranks $n "$FARO" permute "$spec" in.npy shared.npy --shards --memory 16KiB --verify || fail "$spec swept: $(cat stderr.txt)"
    cmp alone.npy shared.npy || fail "$spec swept by $n ranks is another file"
  done
done
grep -q 'from file to file' stderr.txt || fail "nothing was told: $(cat stderr.txt)"

# A shuffle of rows, of which no rank has the index array: the same as by one process, and back.
"$FARO" new 1001x7 u4 rows.npy
"$FARO" new 0x5 u4 empty.npy
"$FARO" permute transpose empty.npy alone.npy --quiet
ranks 3 "$FARO" permute transpose empty.npy shared.npy --shards --verify || fail "no elements: $(cat stderr.txt)"
cmp alone.npy shared.npy || fail "an array of no elements by 3 ranks is another file"
"$FARO" shuffle rows.npy alone.npy --rows --seed 7 --quiet
same_data() { cmp <(tail -c $((1001 * 28)) "$1") <(tail -c $((1001 * 28)) "$2"); } # headers are padded differently
ranks 3 "$FARO" shuffle rows.npy shared.npy --rows --seed 7 --shards || fail "$(cat stderr.txt)"
cmp alone.npy shared.npy || fail "a shuffle by 3 ranks is another file"
ranks 4 "$FARO" shuffle shared.npy back.npy --rows --seed 7 --inverse --shards --quiet || fail "$(cat stderr.txt)"
same_data rows.npy back.npy || fail "a shuffle undone by 4 ranks is another file"

rm shared.npy
ranks 2 "$FARO" permute 'axes(0 1)' in.npy shared.npy --shards && fail "a wrong rank of axes was not refused"
[[ $(grep -c '^faro: ' stderr.txt) == 1 ]] || fail "not one line: $(cat stderr.txt)"
ranks 2 "$FARO" permute 'axes(2 0 1)' in.npy nowhere/shared.npy --shards && fail "a missing folder was not refused"
[[ $(grep -c '^faro: ' stderr.txt) == 1 ]] || fail "not one line: $(cat stderr.txt)"
# Numbers that change on their way, before they are sent or after; what is added, and factors along an axis.
"$FARO" new 30x20x14 f4 floats.npy
"$FARO" permute 'axes(2 0 1)' floats.npy other.npy --dtype f8 --quiet
for changes in '--dtype bfloat16 --scale 2' '--dtype f8 --op neg --offset 0.5' '--dtype >f4 --add other.npy --beta 0.5' '--dtype f2 --scale 1,2,3,4,5,6,7,8,9,10,11,12,13,14 --along 0'; do
  rm -f alone.npy
  "$FARO" permute 'axes(2 0 1)' floats.npy alone.npy $changes --quiet
  for n in 2 3; do
    rm -f shared.npy
    ranks $n "$FARO" permute 'axes(2 0 1)' floats.npy shared.npy --shards --verify $changes || fail "$changes, $n ranks: $(cat stderr.txt)"
    cmp alone.npy shared.npy || fail "$changes by $n ranks is another file"
  done
done
ranks 4 "$FARO" permute 'axes(2 0 1)' floats.npy shared.npy --mesh 2x2 --from 'axis 0 over 0' --to 'axis 1 over 1' --dtype bfloat16 --verify || fail "a mesh: $(cat stderr.txt)"
"$FARO" permute 'axes(2 0 1)' floats.npy alone.npy --dtype bfloat16 --quiet
cmp alone.npy shared.npy || fail "bfloat16 by a mesh is another file"
rm shared.npy
ranks 2 "$FARO" permute 'axes(2 0 1)' floats.npy shared.npy --shards --add power.npy && fail "an array of another shape was added"
grep -q 'shape' stderr.txt || fail "of what is added nothing was told: $(cat stderr.txt)"
# Also what no rank could read, and what only one was asked for: nobody waits for a rank that is gone.
for wrong in 'permute gray power.npy shared.npy --shards --none' 'bench nonsense --shards' 'bench @none.npy --shards'; do
  ranks 3 "$FARO" $wrong && fail "$wrong was not refused"
  [[ $(grep -c '^faro: ' stderr.txt) == 1 ]] || fail "not one line of $wrong: $(cat stderr.txt)"
done
for verb in "permute gray power.npy shared.npy --engine cuda --devices 0,1" "bench gray(16) --shards --engine cuda --devices 0,1"; do
  ranks 2 "$FARO" $verb && fail "$verb was not refused"
  [[ $(grep -c '^faro: ' stderr.txt) == 1 ]] && grep -q '2 processes' stderr.txt || fail "not one line of $verb: $(cat stderr.txt)"
done
of_two() { # the two ranks' arguments
  local first=() && while [[ $1 != / ]]; do first+=("$1") && shift; done && shift
  timeout 60 "$MPIEXEC" -n 1 "$FARO" "${first[@]}" : -n 1 "$FARO" "$@" 2>stderr.txt && fail "ranks that differ were not refused: $*"
  [[ $(grep -c '^faro: ' stderr.txt) == 1 ]] || fail "not one line of $*: $(cat stderr.txt)"
}
of_two permute gray power.npy shared.npy --shards / permute bit_reversal power.npy shared.npy --shards
of_two permute gray power.npy shared.npy --shards / shuffle power.npy shared.npy --seed 7 --shards
of_two permute gray power.npy shared.npy --shards --memory 16KiB / permute gray power.npy shared.npy --shards --memory 64KiB
of_two permute gray power.npy shared.npy --shards / permute gray power.npy shared.npy --shards --verify
of_two permute gray power.npy shared.npy --shards / permute gray power.npy shared.npy --shards --none
of_two bench 'gray(16)' --shards / bench nonsense --shards
[[ -z $(ls -A . | grep partial || true) && ! -e shared.npy ]] || fail "something was left"

ranks 3 "$FARO" bench 'transpose(300, 500)' --shards >bench.txt || fail "$(cat stderr.txt)"
grep -q 'method slabs, verified' bench.txt || fail "$(cat bench.txt)"
"$FARO" explain 'bit_reversal(30)' --shards 8 | grep 'rho = 3' >/dev/null || fail "explain"
"$FARO" permute gray power.npy alone.npy --shards --quiet # without mpirun: one rank
