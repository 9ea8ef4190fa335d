#!/usr/bin/env bash
# fastremap 1.21.0's `transpose` permutes the memory of an array in place and returns it under the shape that it had: of 2 x 3 the result is 2 x 3,
# and its elements are those of the transpose one behind another. Column-major arrays come back with their elements in other places than either. Of a
# cube in C order the result is right; `asfortranarray` and `ascontiguousarray`, which do the same to the memory, are right.
# Seen on CPython 3.11:
#     C: transpose [[0, 3, 1], [4, 2, 5]], numpy [[0, 3], [1, 4], [2, 5]]
#     F: transpose [[0, 2, 4], [1, 3, 5]], numpy [[0, 3], [1, 4], [2, 5]]
#     asfortranarray [[0, 1, 2], [3, 4, 5]]
#     a cube: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check fastremap==1.21.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import fastremap
import numpy as np

for order in "CF":
    x = np.asarray(np.arange(6).reshape(2, 3), order=order)
    print(f"{order}: transpose {fastremap.transpose(x.copy(order='K')).tolist()}, numpy {x.T.tolist()}")
x = np.arange(6).reshape(2, 3)
print(f"asfortranarray {fastremap.asfortranarray(x.copy()).tolist()}")
x = np.arange(27).reshape(3, 3, 3)
print(f"a cube: {np.array_equal(fastremap.transpose(x.copy()), x.T)}")
P
)
echo "$seen"
[[ $seen == "C: transpose [[0, 3, 1], [4, 2, 5]], numpy [[0, 3], [1, 4], [2, 5]]
F: transpose [[0, 2, 4], [1, 3, 5]], numpy [[0, 3], [1, 4], [2, 5]]
asfortranarray [[0, 1, 2], [3, 4, 5]]
a cube: True" ]]
