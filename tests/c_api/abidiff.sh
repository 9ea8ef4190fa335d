#!/usr/bin/env bash
# abidiff.sh HEADER MAP SCRATCH [BASE]: a program that was linked with the last release's libfaro.so runs with this one's, as abidiff of
# Debian's abigail-tools judges: each function, each type that one takes, each enumerator; what is added is allowed. BASE is a header to
# compare with; else that of the last tag v*, or, before the first release, of the commit that last raised FARO_ABI_VERSION. Ends with 77,
# for ctest a skipped test, without abidiff or without a history.
#
# Types are in faro.h alone, so libraries are compared whose functions are those of a header and have no body: that is a
# tenth of a second. That the real library exports the same is exports.sh's, and the C++ compiler's, which reads faro.h where they are defined.
set -euo pipefail
header=$(realpath "$1") map=$(realpath "$2") scratch=$3
command -v abidiff >/dev/null || { echo "no abidiff: abigail-tools has it" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/old" "$scratch/new"
cp "$header" "$scratch/new/faro.h"
if [[ -n ${4:-} ]]; then
  base=$4
  cp "$4" "$scratch/old/faro.h"
else
  cd "$(dirname "$header")"
  base=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null ||
    git log -1 --format=%h -G'define FARO_ABI_VERSION' -- faro.h 2>/dev/null || true)
  [[ -n $base ]] && git show "$base:./faro.h" >"$scratch/old/faro.h" || { echo "no history to compare with" >&2; exit 77; }
  cd - >/dev/null
fi

for each in old new; do
  # FARO_API status name(…);   becomes a function that is never called.
  perl -0pe 's{/\*.*?\*/}{}gs; s/FARO_API\s+([^;{]+);/$1 { __builtin_trap(); }/g' "$scratch/$each/faro.h" >"$scratch/$each/faro.c"
  gcc -g -O0 -fPIC -shared -Wl,-soname,libfaro.so.1 -Wl,--version-script="$map" "$scratch/$each/faro.c" -o "$scratch/$each/libfaro.so"
done
# What options need more is taken from their room to grow; that they stay of one size abi.sh checks.
cat >"$scratch/room" <<'EOF'
[suppress_type]
  name_regexp = ^faro_.*options$
  has_data_member_inserted_at = offset_of(reserved)
EOF
functions=$(nm -D --defined-only "$scratch/old/libfaro.so" | grep -c ' T ')
abidiff --suppr "$scratch/room" --no-added-syms "$scratch/old/libfaro.so" "$scratch/new/libfaro.so" ||
  { echo "programs that were linked with faro of $base would break: the rule is in CONTRIBUTING.md, A release" >&2; exit 1; }
echo "all $functions functions of $base are there as they were"
