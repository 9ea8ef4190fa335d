#!/usr/bin/env bash
# tools/extract_snippets.sh DIRECTORY PAGE.md…
#
# From each page, into DIRECTORY: PAGE_K.cpp, its K-th ```cpp block that holds an #include (a complete program), and
# PAGE.sh, the lines of its ```sh and ```console blocks that start with `faro ` or `$ faro `, in order, each with its continuation
# lines. A file whose content stays is left untouched. No two pages with snippets may have one name.
set -euo pipefail
target=$1
shift
fresh=$(mktemp -d)
one_page=$(mktemp -d)
trap 'rm -rf "$fresh" "$one_page"' EXIT

for page in "$@"; do
  awk -v base="$one_page/$(basename "$page" .md)" '
    function finish() {
      if (kind == "cpp" && text ~ /#include/) printf "%s", text > (base "_" (++programs) ".cpp")
      kind = ""
    }
    /^ *```/ {
      if (kind != "") { finish(); next }
      kind = $0
      sub(/^ *```/, "", kind)
      if (kind == "console" || kind == "bash") kind = "sh"
      if (kind == "") kind = "text"
      text = ""
      continued = 0
      next
    }
    kind == "cpp" { text = text $0 "\n" }
    kind == "sh" {
      line = $0
      if (continued || line ~ /^(\$ )?faro( |$)/) {
        if (!continued) sub(/^\$ /, "", line)
        if (!commands++) print "set -euxo pipefail" > (base ".sh")
        print line > (base ".sh")
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
