#!/usr/bin/env bash
# tools/extract_snippets.sh DIRECTORY PAGE.md…
#
# From each page, into DIRECTORY: PAGE_K.cpp, its K-th ```cpp block that holds an #include (a complete program), and
# PAGE.sh, the lines of its ```sh and ```console blocks that start with `faro ` or `$ faro `, in order, each with its continuation
# lines. A file whose content stays is left untouched. No two pages with snippets may have one name.
#
# Of the pages of a folder named recipes PAGE.sh does more: it runs every line of a ```sh block, and every command of a ```console
# block (the lines that start with `$ `), and holds what that prints, on either output, against the lines shown below it, where … stands
# for anything. So what a recipe shows is what happens.
set -euo pipefail
target=$1
shift
fresh=$(mktemp -d)
one_page=$(mktemp -d)
trap 'rm -rf "$fresh" "$one_page"' EXIT

recipe_head=$(<"$(dirname "$0")/recipe_head.sh")
export recipe_head

for page in "$@"; do
  recipe=0
  [[ $(basename "$(dirname "$page")") == recipes ]] && recipe=1
  awk -v base="$one_page/$(basename "$page" .md)" -v recipe="$recipe" '
    function say(line) {
      if (!commands++) print (recipe ? ENVIRON["recipe_head"] : "set -euxo pipefail") > (base ".sh")
      print line > (base ".sh")
    }
    # The end of what is shown below a command of a recipe.
    function finish_shown() {
      if (shown) say("SHOWN_ABOVE")
      shown = 0
    }
    function finish() {
      if (kind == "cpp" && text ~ /#include/) printf "%s", text > (base "_" (++programs) ".cpp")
      finish_shown()
      kind = ""
    }
    /^ *```/ {
      if (kind != "") { finish(); next }
      kind = $0
      sub(/^ *```/, "", kind)
      if (kind == "bash" || (kind == "console" && !recipe)) kind = "sh"
      if (kind == "") kind = "text"
      text = ""
      continued = 0
      next
    }
    kind == "cpp" { text = text $0 "\n" }
    kind == "sh" && recipe { say($0) }
    kind == "console" && !continued && /^\$ / {
      finish_shown()
      command = substr($0, 3)
      gsub(/\047/, "\047\\\047\047", command)
      continued = command ~ /\\$/
      say("run \047" command (continued ? "" : "\047 <<\"SHOWN_ABOVE\""))
      shown = 1
      next
    }
    kind == "console" && continued {
      command = $0
      gsub(/\047/, "\047\\\047\047", command)
      continued = command ~ /\\$/
      say(command (continued ? "" : "\047 <<\"SHOWN_ABOVE\""))
      next
    }
    kind == "console" && shown { say($0) }
    kind == "sh" && !recipe {
      line = $0
      if (continued || line ~ /^(\$ )?faro( |$)/) {
        if (!continued) sub(/^\$ /, "", line)
        say(line)
        continued = line ~ /\\$/
      }
    }
  ' "$page"
  for snippet in "$one_page"/*; do
    [[ -e $snippet ]] || continue
    if [[ -e $fresh/$(basename "$snippet") ]]; then
      echo "$page: another page of this name has snippets, too" >&2
      exit 1
    fi
    mv "$snippet" "$fresh/"
  done
done

mkdir -p "$target"
for old in "$target"/*.cpp "$target"/*.sh; do
  [[ -e $old && ! -e $fresh/$(basename "$old") ]] && rm -f "$old"
done
for new in "$fresh"/*; do
  [[ -e $new ]] || continue
  cmp -s "$new" "$target/$(basename "$new")" || cp "$new" "$target/"
done
