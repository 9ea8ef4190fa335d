#!/usr/bin/env bash
# polars 2.1.0 transposes a square NumPy array that is column-major in memory if the names of its columns are given, and not if they are not: of two
# equal arrays one is taken by rows and one by columns. Its own to_numpy() gives such arrays, as that of pandas does, so that a square table there and
# back with its names is transposed, and every other shape is right. The manual infers the orientation from the extents and takes columns where they
# do not tell, as here, and says nothing of the memory; row-major arrays are taken by rows all the same. orient="row" is right for all. Told in its
# issue 17918, open.
# Seen with pandas 3.1.1, pyarrow 26.0.1, numpy 2.4.6, on CPython 3.11:
#     row-major: without names [(1, 2), (3, 4)], with names [(1, 2), (3, 4)], with orient [(1, 2), (3, 4)]
#     column-major: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
#     of pandas: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
#     of polars: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
#     2 x 3, column-major, with names: [(0, 1, 2), (3, 4, 5)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, pandas as pd, polars as pl

rows = np.array([[1, 2], [3, 4]])
table = pd.DataFrame({"a": [1, 3], "b": [2, 4]})
arrays = {"row-major": rows, "column-major": np.asfortranarray(rows), "of pandas": table.to_numpy(), "of polars": pl.from_pandas(table).to_numpy()}
for name, array in arrays.items():
    named, told = pl.DataFrame(array, schema=["a", "b"]), pl.DataFrame(array, schema=["a", "b"], orient="row")
    print(f"{name}: without names {pl.DataFrame(array).rows()}, with names {named.rows()}, with orient {told.rows()}")
wide = np.asfortranarray(np.arange(6).reshape(2, 3))
print(f"2 x 3, column-major, with names: {pl.DataFrame(wide, schema=['a', 'b', 'c']).rows()}")
P
)
echo "$seen"
[[ $seen == "row-major: without names [(1, 2), (3, 4)], with names [(1, 2), (3, 4)], with orient [(1, 2), (3, 4)]
column-major: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
of pandas: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
of polars: without names [(1, 2), (3, 4)], with names [(1, 3), (2, 4)], with orient [(1, 2), (3, 4)]
2 x 3, column-major, with names: [(0, 1, 2), (3, 4, 5)]" ]]
