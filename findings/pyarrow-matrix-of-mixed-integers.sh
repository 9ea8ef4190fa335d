#!/usr/bin/env bash
# PyArrow 26.0.1 makes int64 of a record batch of int64 and uint64 by `to_tensor`, and 2^64 - 1 is -1 in it, without an error; pandas and NumPy make
# float64. Columns of narrower integers of both signs become a type that holds both, and int64 beside a float float64, which rounds.
# Seen on CPython 3.11:
#     int8 and uint8: to_tensor int16 255, pandas int16 255
#     int32 and uint32: to_tensor int64 4294967295, pandas int64 4294967295
#     int64 and uint64: to_tensor int64 -1, pandas float64 1.8446744073709552e+19
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import numpy as np
import pyarrow as pa

for first, second, value in ((pa.int8(), pa.uint8(), 255), (pa.int32(), pa.uint32(), 2**32 - 1), (pa.int64(), pa.uint64(), 2**64 - 1)):
    batch = pa.RecordBatch.from_arrays([pa.array([1], first), pa.array([value], second)], names=["a", "b"])
    matrix, frame = batch.to_tensor().to_numpy(), batch.to_pandas().to_numpy()
    print(f"{first} and {second}: to_tensor {matrix.dtype} {matrix[0, 1]}, pandas {frame.dtype} {frame[0, 1]}")
P
)
echo "$seen"
[[ $seen == "int8 and uint8: to_tensor int16 255, pandas int16 255
int32 and uint32: to_tensor int64 4294967295, pandas int64 4294967295
int64 and uint64: to_tensor int64 -1, pandas float64 1.8446744073709552e+19" ]]
