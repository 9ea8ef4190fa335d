#!/usr/bin/env bash
# tools/tidy.sh BUILD_DIR   clang-tidy over src and cli (headers come with them), as BUILD_DIR compiles them.
# A file that was clean is skipped until it, a header of ours that it includes, or .clang-tidy changes.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
stamps=$build/tidy
mkdir -p "$stamps"

tidy_one() {
  local file=$1 headers key
  # -MM lists what the file includes, system headers left out.
  headers=$(clang++-14 -std=c++20 -fopenmp -MM -Iinclude -Isrc -I. -I"$build/generated" "$file" |
    sed 's/^[^:]*://; s/\\$//' | tr ' ' '\n' | grep -v -e '^$' -e '^/usr/' -e faro_build_info | sort -u)
  # shellcheck disable=SC2086
  key=$(cat .clang-tidy "$0" $headers | sha256sum | cut -c1-32)
  local stamp=$stamps/${file//\//_}.$key
  [[ -e $stamp ]] && return 0
  echo "clang-tidy $file"
  clang-tidy-14 --quiet --extra-arg=-Wno-error --extra-arg=-Wno-unknown-warning-option -p "$build" "$file" 2> >(grep -v 'warnings\? generated' >&2 || true) || return 1
  rm -f "$stamps/${file//\//_}".*
  touch "$stamp"
}

if [[ ${2:-} == --one ]]; then
  tidy_one "$3"
else
  # A file that fails must not stop the others: xargs goes on after statuses 1 to 125.
  find src cli -name '*.cpp' -print0 2>/dev/null | sort -z |
    xargs -0 -r -n 1 -P "$(nproc)" "tools/tidy.sh" "$build" --one
fi
