#!/usr/bin/env bash
# datasets 5.2.0 with the format "numpy": a row has the numbers of the column's type, and a slice, a batch or a column has int64 and float32 whatever
# the type is. So 2^63 + 1 of uint64 is negative in a slice, 0.1 of float64 loses 29 bits, and int64 with a missing value is float32 there, and 2^24 +
# 1 becomes even. Rows that are lists or tensors are cut one by one, too. The types of the slices are datasets' defaults; that an element has two
# values, one in x[0]["x"] and one in x["x"][0], is the surprise.
# Seen with pyarrow 26.0.1, numpy 2.4.6, on CPython 3.11:
#     uint64: uint64 in the file, row uint64 9223372036854775809, slice int64 -9223372036854775807
#     float64: float64 in the file, row float64 0.1, slice float32 0.10000000149011612
#     int64, one missing: int64 in the file, row int64 16777217, slice float32 16777216.0
#     uint8: uint8 in the file, row uint8 200, slice int64 200
#     list: float64 in the file, row float32 [0.10000000149011612], slice float32 [[0.10000000149011612]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0 pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
from datasets import Dataset
import numpy as np

columns = {"uint64": np.array([2**63 + 1], np.uint64), "float64": [0.1], "int64, one missing": [2**24 + 1, None], "uint8": np.array([200], np.uint8)}
for name, column in columns.items():
    x = Dataset.from_dict({"x": column}).with_format("numpy")
    row, part = x[0]["x"], x[:]["x"][0]
    print(f"{name}: {x.features['x'].dtype} in the file, row {row.dtype} {row.item()}, slice {part.dtype} {part.item()}")
x = Dataset.from_dict({"x": [[0.1]]}).with_format("numpy")
print(f"list: {x.features['x'].feature.dtype} in the file, row {x[0]['x'].dtype} {x[0]['x'].tolist()}, slice {x[:]['x'].dtype} {x[:]['x'].tolist()}")
P
)
echo "$seen"
[[ $seen == "uint64: uint64 in the file, row uint64 9223372036854775809, slice int64 -9223372036854775807
float64: float64 in the file, row float64 0.1, slice float32 0.10000000149011612
int64, one missing: int64 in the file, row int64 16777217, slice float32 16777216.0
uint8: uint8 in the file, row uint8 200, slice int64 200
list: float64 in the file, row float32 [0.10000000149011612], slice float32 [[0.10000000149011612]]" ]]
