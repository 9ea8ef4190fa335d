#!/usr/bin/env bash
# tools/left_out.sh SCRIPT OBJECT…   writes SCRIPT, for GNU's linker: functions of faro that the objects and archives call and that none of them
# has are faro_left_out() (cli/left_out.cpp). A table of virtual functions or a constant that is lacking is an error, since nobody calls it; but for
# solvers of an engine that is left out, which src/plan/solvers.cpp lists and nobody asks.
set -euo pipefail
script=$1
shift
symbols=$(nm --no-sort "$@" 2>/dev/null)
lacking=$(comm -23 <(awk '$1 == "U" && $2 ~ /4faro/ { print $2 }' <<<"$symbols" | sort -u) \
  <(awk '$2 ~ /^[A-TV-Zuvw]$/ && $3 ~ /4faro/ { print $3 }' <<<"$symbols" | sort -u))
data=$(grep -E '^_ZT[VIST]|[0-9]k[A-Z][A-Za-z]*E?$' <<<"$lacking" | grep -v Solver || true)
if [[ -n $data ]]; then
  printf 'left out, and not only called:\n%s\n' "$(c++filt <<<"$data")" >&2
  exit 1
fi
awk 'NF { print "\"" $1 "\" = faro_left_out;" }' <<<"$lacking" >"$script"
