#!/usr/bin/env bash
# Every verb stands in a group of `faro --help` and ends its own --help in two examples, which run; `faro help VERB` is the same page; and
# completions of the three shells name every verb and its options. Measuring verbs are not run: `faro tune` takes 20 seconds.
set -euo pipefail
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
PATH=$(dirname "$FARO"):$PATH

fail() {
  echo "$1" >&2
  exit 1
}

faro new 2^16 u4 in.npy
faro new 2x3x8x8 f4 images.npy
faro new 1000x16 f4 rows.npy
faro new 2000x16 f4 base.npy
faro new 1000 u4 ids.npy
faro permute 'random(1000, 1)' ids.npy index.npy --quiet
faro new 1000 i4 holes.npy
faro new 1000 u1 keys.npy
faro convert rows.npy model.safetensors:rows --quiet
mkdir model
cp model.safetensors model
echo '{"rules": [{"match": "rows", "map": "transpose", "dtype": "bfloat16"}]}' >rules.json

verbs=$("$tools/list_verbs.sh" "$FARO")
faro --help | grep '^Subcommands:$' >/dev/null && fail "a verb of no group: cli/help.cpp has the groups"
[[ $(faro help) == "$(faro --help)" ]] || fail "faro help is not faro --help"
faro help permut 2>error.txt && fail "faro help permut did not fail"
grep -q 'did you mean `permute`' error.txt || fail "$(cat error.txt)"

for verb in $verbs; do
  [[ $(faro help "$verb") == "$(faro "$verb" --help)" ]] || fail "faro help $verb is not faro $verb --help"
  examples=$(faro "$verb" --help | sed -n '/^Examples:$/,$ { /^Examples:$/d; s/^  //; p }')
  [[ $(wc -l <<<"$examples") == 2 ]] || fail "faro $verb --help does not end in two examples: cli/help.cpp has them"
  [[ $verb == tune ]] && continue
  while read -r example; do
    [[ $example == "faro $verb"* ]] || fail "not an example of $verb: $example"
    eval "$example" >out.txt 2>&1 </dev/null || fail "$example: $(cat out.txt)"
  done <<<"$examples"
done

"$tools/make_completions.sh" "$FARO" completions
for verb in $verbs; do
  for completion in faro _faro faro.fish; do
    grep -qw -- "$verb" "completions/$completion" || fail "$completion has no $verb"
  done
done
completed() {
  (
    # shellcheck disable=SC1091  # made above
    source completions/faro
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _faro
    echo "${COMPREPLY[*]}"
  )
}
[[ $(completed faro perm) == permute ]] || fail "perm: $(completed faro perm)"
[[ $(completed faro permute --in-pl) == --in-place ]] || fail "--in-pl: $(completed faro permute --in-pl)"
[[ -z $(completed faro permute in) ]] || fail "a file is completed as an option"
echo "$(wc -w <<<"$verbs") verbs"
