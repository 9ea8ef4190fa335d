#!/usr/bin/env bash
# What `make demo` shows, with a smaller array: at most 25 lines, each result verified, the map timed beside the loop and a copy, and a
# picture. Where the free memory is said to be small, the array follows it.
set -euo pipefail
demo=$(cd "$(dirname "$0")/../../tools" && pwd)/demo.sh

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

export CUDA_VISIBLE_DEVICES= # through a GPU the reports have other words
cp "$FARO" faro              # the picture lies beside the command
shown=$("$demo" ./faro 16)
lines=$(wc -l <<<"$shown")
((lines <= 25)) || fail "$lines lines, wanted at most 25: $shown"
[[ $(grep -c ', verified$' <<<"$shown") == 2 ]] || fail "not both results are verified: $shown"
for kernel in faro naive copy; do
  grep -Eq "^bit_reversal\(16\) .*512 KiB .* $kernel .*%$" <<<"$shown" || fail "no row of $kernel: $shown"
done
grep -q 'this may lie in a cache' <<<"$shown" || fail "an array of 512 KiB is called one in memory: $shown"
[[ $(head -c 5 bit_reversal.svg) == '<?xml' || $(head -c 4 bit_reversal.svg) == '<svg' ]] || fail "no picture"
longest=$(awk '{ if (length > most) most = length } END { print most }' <<<"$(grep -v '^its index' <<<"$shown")")
((longest <= 110)) || fail "a line of $longest characters: $shown"

# A command that reports 100 MiB of free memory: three arrays of 32 MiB fit, 2^22 elements of 8 bytes.
cat >little <<'END'
#!/usr/bin/env bash
case $1 in
  info) "$(dirname "$0")/faro" "$@" | sed 's/"available_memory_bytes": [0-9]*/"available_memory_bytes": 104857600/' ;;
  bench) echo "timed: $2" ;;
  *) exec "$(dirname "$0")/faro" "$@" ;;
esac
END
chmod +x little
shown=$("$demo" ./little)
grep -qx 'timed: bit_reversal(22)' <<<"$shown" || fail "the array does not follow the memory: $shown"
echo "$lines lines"
