#!/usr/bin/env bash
# Checkpoints that cannot be changed: what is refused is one line, and leaves nothing.
set -euo pipefail
PATH=$(dirname "$FARO"):$PATH

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
faro checkpoint rules.json model whole --memory 60KiB --shard-size 200KiB --verify --quiet

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
