#!/usr/bin/env bash
# Checkpoints that are changed: killed at random moments and gone on with, the result is that of a run that was left alone; and what is
# refused is one line.
set -euo pipefail
PATH=$(dirname "$FARO"):$PATH
RANDOM=7
times=20

fail() {
  echo "$1" >&2
  exit 1
}

mkdir model
for i in $(seq 6); do
  faro new $((200 + i))x300 f4 t.npy --fill random 2>/dev/null
  faro convert t.npy "model/$i.safetensors:layers.$i.weight" --quiet
done
cat >rules.json <<'END'
{"rules": [{"match": "layers.{i}.weight", "map": "transpose", "dtype": "bfloat16", "name": "l.{i}"}, {"match": "layers.6.weight", "drop": true},
  {"match": "layers.3.weight", "split": {"axis": 1, "into": [{"name": "l.3.a", "size": 100}, {"name": "l.3.b", "size": 200}]}}]}
END
change=(faro checkpoint rules.json model out --memory 60KiB --shard-size 200KiB --checkpoint 0 --no-sync --quiet --io buffered)
faro checkpoint rules.json model whole --memory 60KiB --shard-size 200KiB --verify --quiet
killed=0
resumed=0
for _ in $(seq "$times"); do
  "${change[@]}" &
  sleep "0.$((RANDOM % 20))$((RANDOM % 10))"
  if kill -9 $! 2>/dev/null; then killed=$((killed + 1)); fi
  wait $! 2>/dev/null || true
  if [[ ! -e out ]]; then
    tiles=$("${change[@]}" --resume --verify --json | sed -n 's/.*"resumed_tiles": *\([0-9]*\).*/\1/p')
    resumed=$((resumed + tiles))
  fi
  diff -r whole out || fail "a result that is not whole"
  rm -rf out .faro-partial-out-journal  # which goes after the output has its name
  [[ $(echo .faro-*) == '.faro-*' ]] || fail "left over: $(echo .faro-*)"
done
((killed > 0 && resumed > 0)) || fail "$killed killed, $resumed tiles resumed"

# A full disk, another's output and a changed input leave nothing.
(
  ulimit -f 100
  faro checkpoint rules.json model big 2>error.txt && fail "more than a file may have was written"
  [[ ! -e big && $(wc -l <error.txt) == 1 ]] || fail "$(cat error.txt)"
)
[[ $(echo .faro-*) == '.faro-*' ]] || fail "left over: $(echo .faro-*)"
faro checkpoint rules.json model whole 2>error.txt && fail "a folder was replaced"
grep -q 'there already' error.txt || fail "$(cat error.txt)"
echo '{"rules": [{"match": "layer.{i}.weight"}]}' >wrong.json
faro checkpoint wrong.json model out 2>error.txt && fail "a rule that matches nothing"
grep -q 'rule 1 of the checkpoint: got `layer.{i}.weight`, which match no tensor' error.txt || fail "$(cat error.txt)"
