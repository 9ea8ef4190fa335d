#!/usr/bin/env bash
# NumPy 2.4.6: since 1.13 ufuncs, take(), compress(), choose() and einsum() are right where out= overlaps what they read. concatenate() and stack() are
# not: they copy one array after the other, and read what they have already overwritten. A rotation of an array in its own memory loses elements and
# doubles others, without a word.
# Seen on CPython 3.11:
#     rotated by 1: concatenate [1, 2, 3, 4, 5, 1], take [1, 2, 3, 4, 5, 0]
#     rotated by 2: concatenate [2, 3, 4, 5, 2, 3], take [2, 3, 4, 5, 0, 1]
#     rotated by 4: concatenate [4, 5, 4, 5, 2, 3], take [4, 5, 0, 1, 2, 3]
#     rows exchanged: stack [[3, 4], [3, 4]]; transposed: einsum [[1, 3], [2, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np

warnings.simplefilter("error")
x = np.arange(6)
for k in (1, 2, 4):
    joined, taken = x.copy(), x.copy()
    np.concatenate((joined[k:], joined[:k]), out=joined)
    np.take(taken, np.roll(x, -k), out=taken)
    print(f"rotated by {k}: concatenate {joined.tolist()}, take {taken.tolist()}")
rows, turned = np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])
np.stack((rows[1], rows[0]), out=rows)
np.einsum("ij->ji", turned, out=turned)
print(f"rows exchanged: stack {rows.tolist()}; transposed: einsum {turned.tolist()}")
P
)
echo "$seen"
[[ $seen == "rotated by 1: concatenate [1, 2, 3, 4, 5, 1], take [1, 2, 3, 4, 5, 0]
rotated by 2: concatenate [2, 3, 4, 5, 2, 3], take [2, 3, 4, 5, 0, 1]
rotated by 4: concatenate [4, 5, 4, 5, 2, 3], take [4, 5, 0, 1, 2, 3]
rows exchanged: stack [[3, 4], [3, 4]]; transposed: einsum [[1, 3], [2, 4]]" ]]
