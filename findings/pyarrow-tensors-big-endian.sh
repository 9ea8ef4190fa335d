#!/usr/bin/env bash
# PyArrow 26.0.1: pyarrow.array() and FixedShapeTensorArray refuse big-endian arrays, such as those of FITS and netCDF files; Tensor.from_numpy(),
# SparseCOOTensor.from_dense_numpy() and SparseCSRMatrix.from_dense_numpy() take their bytes for little-endian ones, without a word.
# Seen with numpy 2.4.6, on CPython 3.11:
#     array: Byte-swapped arrays not supported
#     FixedShapeTensorArray: Byte-swapped arrays not supported
#     Tensor: int32 [[16777216, 0], [0, 33554432]]
#     SparseCOOTensor: int32 [[16777216, 0], [0, 33554432]]
#     SparseCSRMatrix: int32 [[16777216, 0], [0, 33554432]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np, pyarrow as pa

warnings.simplefilter("error")
x = np.array([[1, 0], [0, 2]], ">i4")
for name, made in (("array", lambda: pa.array(x[0])), ("FixedShapeTensorArray", lambda: pa.FixedShapeTensorArray.from_numpy_ndarray(x)),
                   ("Tensor", lambda: pa.Tensor.from_numpy(x)), ("SparseCOOTensor", lambda: pa.SparseCOOTensor.from_dense_numpy(x).to_tensor()),
                   ("SparseCSRMatrix", lambda: pa.SparseCSRMatrix.from_dense_numpy(x).to_tensor())):
    try:
        tensor = made()
        print(f"{name}: {tensor.type} {tensor.to_numpy().tolist()}")
    except pa.ArrowNotImplementedError as e:
        print(f"{name}: {e}")
P
)
echo "$seen"
[[ $seen == "array: Byte-swapped arrays not supported
FixedShapeTensorArray: Byte-swapped arrays not supported
Tensor: int32 [[16777216, 0], [0, 33554432]]
SparseCOOTensor: int32 [[16777216, 0], [0, 33554432]]
SparseCSRMatrix: int32 [[16777216, 0], [0, 33554432]]" ]]
