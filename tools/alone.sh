#!/usr/bin/env bash
# tools/alone.sh BUILD_DIR [changed]   reads each source of src, cli and extras by itself, with what BUILD_DIR has generated.
#
# Builds compile the files of a layer together, where a file finds what its neighbours include. With `changed` only those are read that
# differ from the merge base with FARO_BASE (origin/main unless told), or that include a header of ours that does; all of them where
# there is no merge base. Sources for CUDA (.cu), which nvcc compiles one by one, are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
source tools/sources.sh
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
if [[ ${2:-} != changed ]] || ! changed_files >"$wanted"; then
  list_files | cut -d ' ' -f 2 >"$wanted"
fi
list_files | cut -d ' ' -f 2 | awk 'NR == FNR { wanted[$0] = 1; next } /\.cpp$/ && $0 in wanted' "$wanted" - |
  xargs -r -P "$(nproc)" -I {} "${CXX:-g++}" "${as_cpp[@]}" -w -fsyntax-only {}
