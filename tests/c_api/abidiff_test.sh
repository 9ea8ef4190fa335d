#!/usr/bin/env bash
# abidiff_test.sh HEADER MAP SCRATCH: abidiff.sh lets functions be added and options grow into their room, and refuses what would break
# programs: a function that is gone, another argument, a member that moved, another number.
set -euo pipefail
check=$(dirname "$0")/abidiff.sh header=$1 map=$2 scratch=$3
mkdir -p "$scratch"
failed=0
# tried STATUS WHAT: the header as stdin changes it, as what follows it.
tried() {
  local status=0 said
  cat >"$scratch/changed.h"
  cmp -s "$scratch/changed.h" "$header" && { echo "not tried: $2" >&2; failed=1; return; }
  said=$("$check" "$scratch/changed.h" "$map" "$scratch/compared" "$header" 2>&1) || status=$?
  [[ $status == 77 ]] && exit 77
  [[ $status == "$1" ]] || { printf '%s: status %s, wanted %s\n%s\n' "$2" "$status" "$1" "$said" >&2; failed=1; }
}
sed 's/^FARO_API void faro_free(/FARO_API int faro_new(int a);\n&/' "$header" | tried 0 "a function is added"
sed '0,/uint64_t reserved\[3\];/s//uint64_t more;\n  uint64_t reserved[2];/' "$header" | tried 0 "options grow into their room"
sed '/^FARO_API const char\* faro_version(void);/d' "$header" | tried 1 "a function is gone"
sed 's/faro_set_memory_known(int known)/faro_set_memory_known(int64_t known)/' "$header" | tried 1 "another type of argument"
sed 's/^  int is_output;$/  int other;\n&/' "$header" | tried 1 "a member is added to a structure"
sed 's/FARO_ENDED = 10 /FARO_ENDED = 11 /' "$header" | tried 1 "another number"
exit $failed
