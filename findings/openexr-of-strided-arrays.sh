#!/usr/bin/env bash
# OpenEXR 3.5.3, the library's own package: a File writes the memory of NumPy's arrays from their first element on under their shape, whatever their
# strides. A column-major channel is written permuted, of every second column of an array the columns between are written, and colours that
# numpy.moveaxis put behind the rows are mixed. There is no error, and compression and reading are right. Big-endian arrays it refuses.
# Seen with numpy 2.4.6, on CPython 3.11:
#     rows: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#     columns: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
#     every second column: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 0.0, 1.0], [1.0, 2.0, 2.0]]
#     planes moved behind: red [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 10.0], [13.0, 20.0, 23.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check OpenEXR==3.5.3 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numpy as np, OpenEXR

path, x = sys.argv[1] + "/x.exr", np.arange(6, dtype=np.float32).reshape(2, 3)
arrays = {"rows": x, "columns": np.asfortranarray(x), "every second column": np.repeat(x, 2, 1)[:, ::2]}
def back(channel, array):
    with OpenEXR.File({"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}, {channel: array}) as file:
        file.write(path)
    with OpenEXR.File(path) as file:
        return file.channels()[channel].pixels

for name, array in arrays.items():
    assert np.array_equal(array, x)
    print(f"{name}: {array.tolist()} came back as {back('Z', array).tolist()}")
colours = np.moveaxis(np.array([x, x + 10, x + 20]), 0, -1)
print(f"planes moved behind: red {colours[..., 0].tolist()} came back as {back('RGB', colours)[..., 0].tolist()}")
P
)
echo "$seen"
[[ $seen == "rows: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
columns: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
every second column: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 0.0, 1.0], [1.0, 2.0, 2.0]]
planes moved behind: red [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 10.0], [13.0, 20.0, 23.0]]" ]]
