#!/usr/bin/env bash
# faro permute --mesh of stores by mpirun: the array that several ranks read and write by whole chunks is the one that a single
# process writes, whatever the chunks, the codecs and the distributions; also where each rank has a file of its own.
set -euo pipefail
fail() {
  echo "$1" >&2
  exit 1
}
ranks() { "$MPIEXEC" -n "$@" 2>stderr.txt; }
same() { # the elements of two arrays of any formats
  for side in "$1 left.npy" "$2 right.npy"; do "$FARO" convert $side --quiet 2>convert.txt || fail "$1 $2: $(cat convert.txt)"; done
  cmp left.npy right.npy || fail "$3: another array"
}
refused() { # words, then a command of two ranks
  local words=$1 && shift
  ranks 2 "$FARO" permute "$@" --quiet && fail "$* was not refused"
  [[ $(grep -c '^faro: ' stderr.txt) == 1 ]] && grep -q "$words" stderr.txt || fail "not one line with $words of $*: $(cat stderr.txt)"
}

"$FARO" new 96x50x7 u4 in.npy 2>new.txt
"$FARO" permute 'axes(2 0 1)' in.npy alone.npy --quiet
"$FARO" convert in.npy in.zarr --chunks 10,16,4 --codec zstd:1 --quiet
"$FARO" convert in.npy shards.zarr --chunks 10,8,4 --shard-chunks 20,16,4 --quiet
"$FARO" convert in.npy in.safetensors:t --quiet
"$FARO" convert in.npy in.raw --quiet
inputs=(in.npy in.zarr shards.zarr in.safetensors:t)
outputs=(o.npy 'o.zarr --chunks 3,20,11' 'o.zarr --chunks 2,10,5 --shard-chunks 4,20,25' o.zarr2 o.safetensors:t o.nii o.tif)
if "$FARO" convert in.npy in.h5:/t --chunks 16,9,7 --codec gzip:1 --quiet 2>convert.txt; then # a build with HDF5
  inputs+=(in.h5:/t)
  outputs+=(o.h5:/t 'o.h5:/t --chunks 3,20,11 --codec gzip:1')
fi

# Each input to the first two outputs, each output of the first two inputs, the number of ranks by turns.
turn=0
for i in "${!inputs[@]}"; do
  for o in "${!outputs[@]}"; do
    ((i < 2 || o < 2)) || continue
    in=${inputs[i]} && out=${outputs[o]%% *} && turn=$((turn + 1))
    n=$((turn % 4 * 2 + 2)) # 2, 4, 6, 8
    case $((turn % 3)) in
      0) from="axis 1 over 0 in blocks of 3; axis 2 over 1" to="axis 0 over 1 0" ;;
      1) from="axis 2 over 1" to="axis 1 over 0 in blocks of 5; axis 2 over 1" ;;
      *) from="axis 0 over 0; axis 1 over 1" to=replicated ;;
    esac
    checks=() && ((turn % 2)) && checks=(--verify)
    rm -rf "${out%%:*}"
    ranks $n "$FARO" permute 'axes(2 0 1)' "$in" ${outputs[o]} --mesh 2x$((n / 2)) --from "$from" --to "$to" "${checks[@]}" ||
      fail "$in to $out by $n ranks, $from to $to: $(cat stderr.txt)"
    same alone.npy "$out" "$in to $out by $n ranks, $from to $to"
  done
done
grep -q 'ranks' stderr.txt || fail "nothing was told: $(cat stderr.txt)"

# Other maps, whose cuts count other axes than the store; more ranks than chunks; raw bytes; no elements; one.
for spec in 'roll(777)' 'flip(1)' 'b (h d) s -> b h s d' 'random(33600, 3)'; do
  let=() && [[ $spec != b* ]] || let=(--let h=5)
  "$FARO" permute "$spec" "${let[@]}" in.npy whole.npy --quiet
  rm -rf o.zarr
  ranks 3 "$FARO" permute "$spec" "${let[@]}" in.zarr o.zarr --shards --verify || fail "$spec: $(cat stderr.txt)"
  same whole.npy o.zarr "$spec by 3 ranks"
done
"$FARO" permute 'flip(96)' --axis 0 in.npy whole.npy --quiet
rm -rf o.zarr
ranks 5 "$FARO" permute 'flip(96)' --axis 0 in.zarr o.zarr --shards --chunks 96,50,7 --verify || fail "rows: $(cat stderr.txt)"
same whole.npy o.zarr "rows by 5 ranks"
rm -rf o.zarr
ranks 3 "$FARO" permute 'axes(2 0 1)' in.raw o.zarr --raw '<u4' --shape 96x50x7 --mesh 3 --from 'axis 0 over 0' --to 'axis 1 over 0' --quiet || fail "raw: $(cat stderr.txt)"
same alone.npy o.zarr "raw bytes by 3 ranks"
for shape in 0x5 1x1; do
  "$FARO" new $shape u4 small.npy 2>new.txt
  "$FARO" permute transpose small.npy whole.npy --quiet
  rm -rf o.zarr
  ranks 3 "$FARO" permute transpose small.npy o.zarr --shards --chunks 4,4 --verify --quiet || fail "$shape: $(cat stderr.txt)"
  same whole.npy o.zarr "$shape by 3 ranks"
done

# A file for each rank, there and back, of any format; copies; groups of ranks that share nobody.
for n in 4 6; do
  dist=(--mesh 2x$((n / 2)) --from 'axis 0 over 0; axis 1 over 1' --to 'axis 0 over 1; axis 2 over 0 in blocks of 3')
  rm -rf part-* o.zarr
  ranks $n "$FARO" permute 'axes(2 0 1)' in.npy 'part-{rank}.npy' "${dist[@]}" --verify || fail "to files by $n ranks: $(cat stderr.txt)"
  [[ $(ls part-*.npy | wc -l) == "$n" ]] || fail "not $n files"
  ranks $n "$FARO" permute 'axes(1 2 0)' 'part-{rank}.npy' 'part-{rank}.zarr' --mesh 2x$((n / 2)) --from "${dist[5]}" --to "${dist[3]}" --quiet ||
    fail "from files by $n ranks: $(cat stderr.txt)"
  ranks $n "$FARO" permute 'axes(0 1 2)' 'part-{rank}.zarr' o.zarr --mesh 2x$((n / 2)) --from "${dist[3]}" --to 'axis 2 over 1' --verify ||
    fail "joined by $n ranks: $(cat stderr.txt)"
  same in.npy o.zarr "files of $n ranks, there and back"
done
rm -rf part-*
ranks 4 "$FARO" permute 'axes(2 0 1)' in.zarr 'part-{rank}.safetensors:t' --from 'mesh 2; axis 0 over 0' --to 'mesh 2 at 2; axis 1 over 0' --quiet || fail "$(cat stderr.txt)"
ranks 4 "$FARO" permute 'axes(0 1 2)' 'part-{rank}.safetensors:t' o2.zarr --from 'mesh 2 at 2; axis 1 over 0' --to 'mesh 4; axis 1 over 0' --quiet || fail "$(cat stderr.txt)"
same alone.npy o2.zarr "disjoint groups with files of their own"

# What is done is told before it is done.
rm -rf o.zarr
ranks 4 "$FARO" permute 'axes(2 0 1)' in.zarr o.zarr --mesh 2x2 --from 'axis 1 over 0' --to 'axis 0 over 1' --explain >told.txt || fail "$(cat stderr.txt)"
[[ ! -e o.zarr ]] || fail "an explanation wrote"
grep -q '^in .*whole chunks: places of axis 0 in multiples of 10; rank 0 sends' told.txt && grep -q '^memory ' told.txt || fail "$(cat told.txt)"
ranks 4 "$FARO" permute 'axes(2 0 1)' in.zarr o.npy --mesh 2x2 --from 'axis 1 over 0' --to 'axis 0 over 1' --explain >told.txt || fail "$(cat stderr.txt)"
grep -q '^out .*its part where it lies' told.txt || fail "$(cat told.txt)"

# Refusals: one line, and nothing is left.
cuts=(--mesh 2 --from 'axis 0 over 0' --to 'axis 1 over 0')
rm -rf o.* part-*
refused 'within --memory' 'axes(2 0 1)' in.zarr o.zarr "${cuts[@]}" --memory 16KiB
refused 'dtype' 'axes(2 0 1)' in.zarr o.zarr "${cuts[@]}" --dtype float64
refused 'resume' 'axes(2 0 1)' in.zarr o.zarr "${cuts[@]}" --resume
refused 'nowhere' 'axes(2 0 1)' in.zarr nowhere/o.zarr "${cuts[@]}"
refused 'none.zarr' 'axes(2 0 1)' none.zarr o.zarr "${cuts[@]}"
refused 'two axes\|axes' 'axes(1 0)' in.zarr o.zarr "${cuts[@]}"
"$FARO" permute 'axes(0 1 2)' in.npy part-0.npy --quiet
"$FARO" permute 'axes(1 0 2)' in.npy part-1.npy --quiet
refused 'shape' 'axes(2 0 1)' 'part-{rank}.npy' o.zarr "${cuts[@]}"
rm part-1.npy
refused 'part-1.npy' 'axes(2 0 1)' 'part-{rank}.npy' o.zarr "${cuts[@]}"
rm part-0.npy
mkdir o.zarr && touch o.zarr/mine
refused 'something there already' 'axes(2 0 1)' in.zarr o.zarr "${cuts[@]}"
[[ -z $(ls -A . | grep partial || true) && ! -e o.npy ]] || fail "something was left: $(ls -A)"
# Chunks that are damaged are an error on all.
find in.zarr -type f -path '*c/3*' -exec truncate -s 5 {} \;
rm -rf o.zarr
refused 'in.zarr' 'axes(2 0 1)' in.zarr o.zarr "${cuts[@]}"
[[ ! -e o.zarr && ! -e .o.zarr.partial ]] || fail "a damaged input left a result"
