#!/usr/bin/env bash
# zfpy 1.0.1.post0: compress_numpy() of an array that NumPy broadcast compresses the memory behind it, not its elements: zfp takes a stride of 0 for
# "contiguous". So a broadcast row of a matrix comes back as the whole matrix, and a broadcast scalar as itself and whatever lies after it. Negative
# strides, steps and transposed arrays, for which strides are passed just so, come back right.
# Seen with numpy 2.4.6, on CPython 3.11:
#     first row, broadcast: [[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]] came back as [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
#     first column, broadcast: [[0.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0]] came back as [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
#     reversed: [[7.0, 6.0, 5.0, 4.0], [3.0, 2.0, 1.0, 0.0]] came back as [[7.0, 6.0, 5.0, 4.0], [3.0, 2.0, 1.0, 0.0]]
#     transposed: [[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]] came back as [[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]
#     every second column: [[0.0, 2.0], [4.0, 6.0]] came back as [[0.0, 2.0], [4.0, 6.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check zfpy==1.0.1.post0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, zfpy

x = np.arange(8.0).reshape(2, 4)
arrays = {"first row, broadcast": np.broadcast_to(x[0], (2, 4)), "first column, broadcast": np.broadcast_to(x[:, :1], (2, 4)),
          "reversed": x[::-1, ::-1], "transposed": x.T, "every second column": x[:, ::2]}
for name, array in arrays.items():
    print(f"{name}: {array.tolist()} came back as {zfpy.decompress_numpy(zfpy.compress_numpy(array)).tolist()}")
P
)
echo "$seen"
[[ $seen == "first row, broadcast: [[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]] came back as [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
first column, broadcast: [[0.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0]] came back as [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]
reversed: [[7.0, 6.0, 5.0, 4.0], [3.0, 2.0, 1.0, 0.0]] came back as [[7.0, 6.0, 5.0, 4.0], [3.0, 2.0, 1.0, 0.0]]
transposed: [[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]] came back as [[0.0, 4.0], [1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]
every second column: [[0.0, 2.0], [4.0, 6.0]] came back as [[0.0, 2.0], [4.0, 6.0]]" ]]
