#!/usr/bin/env bash
# exports.sh LIBRARY HEADER: the library exports the functions of the header, all of them and nothing else.
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)
declared=$(grep -o 'faro_[a-z0-9_]*(' "$2" | tr -d '(' | sort -u)
others=$(nm -D --defined-only "$1" | awk '$2 != "T" && $2 != "A" { print $3 }')
# The header's examples name functions too, all of which it declares.
diff <(echo "$declared") <(echo "$exported")
[[ -z $others ]] || { echo "also exported: $others" >&2; exit 1; }
