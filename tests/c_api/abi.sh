#!/usr/bin/env bash
# abi.sh LIBRARY FACTS [--write]: what a program that was compiled before relies on is as abi.txt has it: the soname, functions with
# their versions, structures and numbers. New lines are told, and `--write` keeps them; none that is there may change.
set -euo pipefail
kept=$(dirname "$0")/abi.txt
now=$(
  readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/soname \1/p'
  nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@@?/, " ", $3); print "function", $3 }' | sort
  "$2"
)
if [[ ${3:-} == --write ]]; then
  echo "$now" >"$kept"
  exit
fi
changed=$(comm -23 <(sort "$kept") <(sort <<<"$now"))
added=$(comm -13 <(sort "$kept") <(sort <<<"$now"))
[[ -z $added ]] || printf 'new since abi.txt (abi.sh LIBRARY FACTS --write keeps it):\n%s\n' "$added"
[[ -z $changed ]] || { printf 'older programs would break; these were there:\n%s\n' "$changed" >&2; exit 1; }
