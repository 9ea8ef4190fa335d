#!/usr/bin/env bash
# SciPy 1.17.1: a sparse array of integers divided by a number is of floats in the formats CSR, CSC, COO, BSR and DIA. In LIL and DOK, in which arrays
# are built, it keeps its type, and 1/2 is 0; DOK keeps the half in its dictionary, so that A[0, 0] is 0.5, and toarray(), tocsr() and sum()
# make 0 of it. Divided by 2.0, and times 0.5, all are right.
# Seen with numpy 2.4.6, on CPython 3.11:
#     csr: [[1, 2], [3, 0]] / 2 is float64 [[0.5, 1.0], [1.5, 0.0]], sum 3.0; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
#     lil: [[1, 2], [3, 0]] / 2 is int64 [[0, 1], [1, 0]], sum 2; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
#     dok: [[1, 2], [3, 0]] / 2 is int64 [[0, 1], [1, 0]], sum 2; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
#     element (0, 0) of A / 2: csr 0.5, lil 0, dok 0.5
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, scipy.sparse

dense, elements = np.array([[1, 2], [3, 0]]), []
for name in ("csr", "lil", "dok"):
    array = scipy.sparse.coo_array(dense).asformat(name)
    half = array / 2
    print(f"{name}: {array.toarray().tolist()} / 2 is {half.dtype} {half.toarray().tolist()}, sum {half.sum()}; * 0.5 is {(array * 0.5).toarray().tolist()}")
    elements.append(f"{name} {half[0, 0]}")
print(f"element (0, 0) of A / 2: {', '.join(elements)}")
P
)
echo "$seen"
[[ $seen == "csr: [[1, 2], [3, 0]] / 2 is float64 [[0.5, 1.0], [1.5, 0.0]], sum 3.0; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
lil: [[1, 2], [3, 0]] / 2 is int64 [[0, 1], [1, 0]], sum 2; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
dok: [[1, 2], [3, 0]] / 2 is int64 [[0, 1], [1, 0]], sum 2; * 0.5 is [[0.5, 1.0], [1.5, 0.0]]
element (0, 0) of A / 2: csr 0.5, lil 0, dok 0.5" ]]
