#!/usr/bin/env bash
# ncnn 1.0.20261020 makes of a NumPy array the matrix of its memory in row-major order, whatever its strides are: a transposed array and a slice with
# a step go into inference as other numbers, without an error.
# Seen on CPython 3.11:
#     row-major: first row [0.0, 1.0, 2.0, 3.0], of the array [0.0, 1.0, 2.0, 3.0]
#     transposed: first row [0.0, 1.0, 2.0], of the array [0.0, 4.0, 8.0]
#     every second column: first row [0.0, 1.0, 2.0, 3.0], of the array [0.0, 2.0, 4.0, 6.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check ncnn==1.0.20261020 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import ncnn
import numpy as np

rows = np.arange(12, dtype="f4").reshape(3, 4)
for name, x in (("row-major", rows), ("transposed", rows.T), ("every second column", np.arange(24, dtype="f4").reshape(3, 8)[:, ::2])):
    print(f"{name}: first row {np.array(ncnn.Mat(x))[0].tolist()}, of the array {x[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "row-major: first row [0.0, 1.0, 2.0, 3.0], of the array [0.0, 1.0, 2.0, 3.0]
transposed: first row [0.0, 1.0, 2.0], of the array [0.0, 4.0, 8.0]
every second column: first row [0.0, 1.0, 2.0, 3.0], of the array [0.0, 2.0, 4.0, 6.0]" ]]
