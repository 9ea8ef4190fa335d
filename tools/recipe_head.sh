# What the script of a recipe begins with (tools/extract_snippets.sh).
set -euo pipefail

# run COMMAND: runs it, and compares what it prints on either output with standard input, where … stands for anything.
run() {
  local shown printed rest part
  shown=$(cat)
  printf '$ %s\n' "$1"
  printed=$(eval "$1" 2>&1) || fail_recipe "the command failed: $printed"
  printf '%s\n' "$printed"
  if [[ $shown != *…* ]]; then
    [[ $printed == "$shown" ]] || fail_recipe "the page shows: $shown"
    return
  fi
  # The first part is the beginning, the last one the end, and those between follow each other.
  part=${shown%%…*}
  [[ $printed == "$part"* ]] || fail_recipe "the page shows: $shown"
  rest=${printed#"$part"}
  local left=${shown#*…}
  while [[ $left == *…* ]]; do
    part=${left%%…*}
    [[ $rest == *"$part"* ]] || fail_recipe "the page shows: $shown"
    rest=${rest#*"$part"}
    left=${left#*…}
  done
  [[ $rest == *"$left" ]] || fail_recipe "the page shows: $shown"
}

fail_recipe() {
  printf '%s\n' "$1"
  exit 1
}
