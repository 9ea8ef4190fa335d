#!/usr/bin/env bash
# PyArrow 26.0.1: SparseCOOTensor.from_dense_numpy() of a column-major matrix counts the coordinates as if its extents were in reverse: of 2 x 3
# numbers, 2 is put at (2, 0), outside, and 3 at (1, 1), where 5 is; has_canonical_format says that they are sorted. Where all extents
# are equal they are right. SparseCSRMatrix and SparseCSCMatrix of the same memory are right, and so are matrices of strides that are neither.
# Seen with numpy 2.4.6, on CPython 3.11; number at row, column:
#     row-major: 1 at 0, 0; 2 at 0, 1; 3 at 0, 2; 4 at 1, 0; 5 at 1, 1; 6 at 1, 2
#     column-major: 1 at 0, 0; 4 at 1, 0; 2 at 2, 0; 5 at 0, 1; 3 at 1, 1; 6 at 2, 1
#     CSR, column-major: [[1, 2, 3], [4, 5, 6]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, pyarrow as pa

rows = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
for name, matrix in (("row-major", rows), ("column-major", np.asfortranarray(rows))):
    numbers, places = pa.SparseCOOTensor.from_dense_numpy(matrix).to_numpy()
    print(f"{name}: {'; '.join(f'{number} at {row}, {column}' for number, (row, column) in zip(numbers[:, 0], places))}")
print(f"CSR, column-major: {pa.SparseCSRMatrix.from_dense_numpy(np.asfortranarray(rows)).to_tensor().to_numpy().tolist()}")
P
)
echo "$seen"
[[ $seen == "row-major: 1 at 0, 0; 2 at 0, 1; 3 at 0, 2; 4 at 1, 0; 5 at 1, 1; 6 at 1, 2
column-major: 1 at 0, 0; 4 at 1, 0; 2 at 2, 0; 5 at 0, 1; 3 at 1, 1; 6 at 2, 1
CSR, column-major: [[1, 2, 3], [4, 5, 6]]" ]]
