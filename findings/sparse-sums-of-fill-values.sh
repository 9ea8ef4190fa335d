#!/usr/bin/env bash
# sparse 0.19.3: of one array of uint8 whose fill value is 200, sum(axis=1) gives a row that has stored elements in 64 bits, as NumPy does, and one
# that has none modulo 256: 88 for three times 200. The type of all of them is uint64. So are mean, 29.3 where all elements are 200, and prod, and
# so it is for the sum of the whole array if nothing is stored in it.
# Seen with numba 0.68.1, scipy 1.17.1 and numpy 2.4.6, on CPython 3.11:
#     sum: [88, 401, 203] in uint64, NumPy [600, 401, 203]
#     prod: [0, 40000, 400] in uint64, NumPy [8000000, 40000, 400]
#     mean: [29.3, 133.7, 67.7] in float64, NumPy [200.0, 133.7, 67.7]
#     sum of the first row 88, of all 1204, NumPy 600, 1204
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check sparse==0.19.3 numba==0.68.1 scipy==1.17.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, sparse

dense = np.array([[200, 200, 200], [1, 200, 200], [1, 2, 200]], np.uint8)
x = sparse.COO.from_numpy(dense, fill_value=np.uint8(200))
for name in "sum", "prod", "mean":
    seen = getattr(x, name)(axis=1)
    print(f"{name}: {np.round(seen.todense(), 1).tolist()} in {seen.dtype}, NumPy {np.round(getattr(dense, name)(axis=1), 1).tolist()}")
print(f"sum of the first row {x[0].sum().todense()}, of all {x.sum().todense()}, NumPy {dense[0].sum()}, {dense.sum()}")
P
)
echo "$seen"
[[ $seen == "sum: [88, 401, 203] in uint64, NumPy [600, 401, 203]
prod: [0, 40000, 400] in uint64, NumPy [8000000, 40000, 400]
mean: [29.3, 133.7, 67.7] in float64, NumPy [200.0, 133.7, 67.7]
sum of the first row 88, of all 1204, NumPy 600, 1204" ]]
