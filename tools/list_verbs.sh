#!/usr/bin/env bash
# tools/list_verbs.sh FARO     the verbs of the command FARO, one a line, as its --help lists them group by group
set -euo pipefail
help=$("$1" --help)
verbs=$(awk '/^[A-Z][A-Za-z]*:$/ { on = $0 != "Options:" && $0 != "Positionals:" && $0 != "Examples:" } on && /^  [^ ]/ { print $1 }' <<<"$help")
[[ -n $verbs ]] || { echo "$1 --help names no verb" >&2; exit 1; }
printf '%s\n' "$verbs"
