#!/usr/bin/env bash
# tiledb 0.36.1: a query of a dense array in column-major order gives an array of the shape asked for and with column-major strides, but other
# elements: it takes them in the order of the columns and puts them in that of the rows. So does multi_index, however the array is stored. The same
# query in order C, and a plain slice, are right. One would expect an equal array in other memory.
# Seen with numpy 2.4.6, on CPython 3.11:
#     stored row-major: order C [[0, 1, 2], [3, 4, 5]]; order F [[0, 3, 1], [4, 2, 5]], strides (8, 16); two columns [[0, 3], [1, 4]]
#     stored col-major: order C [[0, 1, 2], [3, 4, 5]]; order F [[0, 3, 1], [4, 2, 5]], strides (8, 16); two columns [[0, 3], [1, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tiledb==0.36.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numpy as np, tiledb

x = np.arange(6).reshape(2, 3)
for order in "row-major", "col-major":
    path = f"{sys.argv[1]}/{order}"
    domain = tiledb.Domain(*(tiledb.Dim(name=f"d{axis}", domain=(0, extent - 1), tile=extent, dtype=np.int64) for axis, extent in enumerate(x.shape)))
    tiledb.Array.create(path, tiledb.ArraySchema(domain=domain, attrs=[tiledb.Attr(name="a", dtype=x.dtype)], cell_order=order))
    with tiledb.open(path, "w") as array:
        array[:] = x
    with tiledb.open(path) as array:
        c, f = (array.query(order=asked)[:]["a"] for asked in "CF")
        part = array.query(order="F").multi_index[0:1, 0:1]["a"]
        print(f"stored {order}: order C {c.tolist()}; order F {f.tolist()}, strides {f.strides}; two columns {part.tolist()}")
P
)
echo "$seen"
[[ $seen == "stored row-major: order C [[0, 1, 2], [3, 4, 5]]; order F [[0, 3, 1], [4, 2, 5]], strides (8, 16); two columns [[0, 3], [1, 4]]
stored col-major: order C [[0, 1, 2], [3, 4, 5]]; order F [[0, 3, 1], [4, 2, 5]], strides (8, 16); two columns [[0, 3], [1, 4]]" ]]
