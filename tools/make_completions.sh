#!/usr/bin/env bash
# tools/make_completions.sh FARO FOLDER
#
# Writes completions of the command FARO for three shells, from what `FARO --help` and `FARO VERB --help` print: FOLDER/faro (bash), FOLDER/_faro
# (zsh) and FOLDER/faro.fish. A verb first, then its options; values and files are completed as the shell completes files.
set -euo pipefail
faro=$1 folder=$2
mkdir -p "$folder"

# One line an item, fields between tabs: `verb`, its name, its description; then for each of its options
# `option`, the verb, --name, `value` or `flag`, the description.
describe() {
  local verb
  while read -r verb; do
    "$faro" "$verb" --help | awk -v verb="$verb" -v OFS='\t' '
      NR == 1 { print "verb", verb, $0 }
      /^[A-Z][A-Za-z]*:$/ { on = $0 == "Options:"; next }
      on && /^  [^ ]/ {
        line = substr($0, 3)
        words = ""
        if (match(line, /  +/)) { words = substr(line, RSTART + RLENGTH); line = substr(line, 1, RSTART - 1) }
        n = split(line, parts, " ")
        k = split(parts[1], forms, ",")
        print "option", verb, forms[k], (n > 1 ? "value" : "flag"), words
      }'
  done
}

items=$("$(dirname "$0")/list_verbs.sh" "$faro" | describe)

awk -F '\t' '
  $1 == "verb" { names = names (names == "" ? "" : " ") $2; verbs[++count] = $2 }
  $1 == "option" { options[$2] = options[$2] " " $3 }
  END {
    print "# Completion of faro for bash, made by tools/make_completions.sh from its --help."
    print "_faro() {\n  local word=${COMP_WORDS[COMP_CWORD]} options=\n  COMPREPLY=()"
    print "  if ((COMP_CWORD == 1)); then\n    options=\"" names " --help --version\""
    print "  elif [[ ${COMP_WORDS[1]} == help ]]; then\n    options=\"" names "\""
    print "  elif [[ $word == -* ]]; then\n    case ${COMP_WORDS[1]} in"
    for (k = 1; k <= count; ++k) print "      " verbs[k] ") options=\"" substr(options[verbs[k]], 2) "\" ;;"
    print "    esac\n  fi\n  [[ -z $options ]] || mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n}"
    print "complete -o default -F _faro faro"
  }' <<<"$items" >"$folder/faro.part"

awk -F '\t' '
  # In single quotes, with brackets, colons and backslashes kept from zsh.
  function escaped(text) {
    gsub(/[]:[\\]/, "\\\\&", text)
    gsub(/\047/, "\047\\\047\047", text)
    return text
  }
  $1 == "verb" { verbs[++count] = $2; about[$2] = $3 }
  $1 == "option" {
    options[$2] = options[$2] " \\\n        \047*" $3 "[" escaped($5) "]" ($4 == "value" ? ":value:_files" : "") "\047"
  }
  END {
    print "#compdef faro\n# Completion of faro for zsh, made by tools/make_completions.sh from its --help."
    print "_faro() {\n  local -a verbs\n  verbs=("
    for (k = 1; k <= count; ++k) print "    \047" verbs[k] ":" escaped(about[verbs[k]]) "\047"
    print "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n  case ${words[2]} in\n    help) _describe verb verbs ;;"
    for (k = 1; k <= count; ++k) {
      if (verbs[k] != "help") print "    " verbs[k] ")\n      _arguments" options[verbs[k]] " \\\n        \047*:file:_files\047\n      ;;"
    }
    print "  esac\n}\n_faro \"$@\""
  }' <<<"$items" >"$folder/_faro.part"

awk -F '\t' '
  function quoted(text) {
    gsub(/[\\\047]/, "\\\\&", text)
    return "\047" text "\047"
  }
  NR == 1 { print "# Completion of faro for fish, made by tools/make_completions.sh from its --help." }
  $1 == "verb" {
    names = names (names == "" ? "" : " ") $2
    print "complete -c faro -n __fish_use_subcommand -f -a " $2 " -d " quoted($3)
  }
  $1 == "option" {
    print "complete -c faro -n \047__fish_seen_subcommand_from " $2 "\047 -l " substr($3, 3) ($4 == "value" ? " -r" : "") " -d " quoted($5)
  }
  END { print "complete -c faro -n \047__fish_seen_subcommand_from help\047 -f -a " quoted(names) }' <<<"$items" >"$folder/faro.fish.part"

for name in faro _faro faro.fish; do mv "$folder/$name.part" "$folder/$name"; done
