#!/usr/bin/env bash
# NumPy 2.4.6: == and < compare int64 with uint64 exactly (since NumPy 2), and the functions of sets and of sorted arrays convert both to float64
# first. So np.isin says that 2^53 + 1 is among numbers none of which equals it, from ten of them on: for fewer it compares one by one, and is right.
# The answer turns with the count of the others alone. np.intersect1d has an element that only one of its arrays has, and np.searchsorted finds a
# place where the array is not in order.
# Seen on CPython 3.11:
#     among 9: equal to any False, isin False, intersect1d has 1
#     among 10: equal to any False, isin True, intersect1d has 1
#     searchsorted([9007199254740992], [9007199254740993]) = 0, though 9007199254740992 < 9007199254740993 is True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np

odd = np.array([2**53 + 1], np.uint64)
for count in 9, 10:
    even = 2**53 + 10**6 * np.arange(count)
    print(f"among {count}: equal to any {(odd == even).any()}, isin {np.isin(odd, even)[0]}, intersect1d has {np.intersect1d(odd, even).size}")
a = np.array([2**53])
print(f"searchsorted({a}, {odd}) = {np.searchsorted(a, odd)[0]}, though {a[0]} < {odd[0]} is {(a < odd)[0]}")
P
)
echo "$seen"
[[ $seen == "among 9: equal to any False, isin False, intersect1d has 1
among 10: equal to any False, isin True, intersect1d has 1
searchsorted([9007199254740992], [9007199254740993]) = 0, though 9007199254740992 < 9007199254740993 is True" ]]
