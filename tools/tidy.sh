#!/usr/bin/env bash
# tools/tidy.sh BUILD_DIR [changed]   clang-tidy over src, cli and extras (headers come with them), with what BUILD_DIR has generated.
#
# With `changed` only over the sources that differ from the merge base with FARO_BASE (origin/main unless told), or that include a
# header of ours that does; over all of them where there is no merge base.
#
# Nearly all of the time goes into headers, so the files of a folder are read as one, but for those whose names clash with
# others', which are read together after them. What was clean is skipped until a file of it, a header of ours that it
# includes, or .clang-tidy changes.
#
# Files that are not of this build, because there is no CUDA, are skipped. Kernels (.cu) are read as plain C++ with
# nvcc's words defined away by tools/tidy_cuda_shim.hpp, since clang 14 cannot read CUDA 13; those that use CUB, which it
# cannot read either, are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
stamps=$build/tidy
mkdir -p "$stamps"
source tools/sources.sh

# tidy FILE...   all of one kind, read as one.
tidy() {
  local stamp unit=$1 includes=() flags=("${as_cpp[@]}")
  stamp=$stamps/$(echo "$@" | sha256sum | cut -c1-32)
  [[ -e $stamp ]] && sha256sum --check --status "$stamp" && return 0
  [[ $1 == *.cu ]] && flags+=(-include tools/tidy_cuda_shim.hpp)
  if (($# > 1)); then
    unit=$stamp.cpp
    printf '#include "%s"  // NOLINT(bugprone-suspicious-include)\n' "$@" >"$unit"
    local errors
    if ! errors=$(clang++-14 "${flags[@]}" -w -ferror-limit=0 -fsyntax-only "$unit" 2>&1); then
      rm "$unit"
      # Errors lie in the second of two files that clash.
      local apart=() together=() file failed=0
      for file in "$@"; do
        if grep -q "$file:[0-9:]* error:" <<<"$errors"; then
          apart+=("$file")
        else
          together+=("$file")
        fi
      done
      if ((${#together[@]} == 0 || ${#apart[@]} == 0)); then
        together=("${@:1:$#/2}")
        apart=("${@:$#/2+1}")
      fi
      tidy "${together[@]}" || failed=1
      tidy "${apart[@]}" || failed=1
      return $failed
    fi
  fi
  echo "clang-tidy $*"
  # -MM lists what the files include, system headers left out; ours are relative.
  mapfile -t includes < <(clang++-14 "${flags[@]}" -MM "$unit" | sed 's/^[^:]*://; s/\\$//' | tr ' ' '\n' |
    grep -v -e '^$' -e '^/' -e "^$stamps" | sort -u)
  clang-tidy-14 --quiet "$unit" -- "${flags[@]}" -w 2> >(grep -v 'warnings\? generated' >&2 || true) || return 1
  sha256sum .clang-tidy tools/tidy.sh "${includes[@]}" >"$stamp"
}

if [[ ${2:-} == --files ]]; then
  tidy "${@:3}"
else
  wanted=$(mktemp)
  trap 'rm -f "$wanted"' EXIT
  if [[ ${2:-} == changed ]] && changed_files >"$wanted"; then
    echo "clang-tidy of $(wc -l <"$wanted") files that differ from the merge base, or whose headers do"
  else
    find src cli extras -type f >"$wanted"
  fi
  # Files that fail must not stop the others: xargs goes on after statuses 1 to 125.
  list_files | awk 'NR == FNR { wanted[$1] = 1; next } $2 in wanted' "$wanted" - | sort -s -k 1,1 |
    awk '$1 != folder || n == 24 { if (line) print line; line = ""; folder = $1; n = 0 } { line = line " " $2; ++n } END { print line }' |
    xargs -r -L 1 -P "$(nproc)" "tools/tidy.sh" "$build" --files
fi
