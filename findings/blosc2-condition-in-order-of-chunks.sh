#!/usr/bin/env bash
# blosc2 4.14.1: the elements of an array where a condition holds, a[a > 5], come in the order of the chunks if the condition is lazy, and in that of
# the rows if it was computed or is NumPy's. So two arrays selected by one condition do not match each other if their chunks differ, and a computed
# mask gives other numbers at the same place. Arrays with one chunk, or whose chunks are whole rows, hide it.
# Seen with numpy 2.4.6, on CPython 3.11:
#     chunks (3, 4): lazy [6, 7, 8, 9, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]
#     chunks (1, 4): lazy [6, 7, 8, 9, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]
#     chunks (3, 2): lazy [8, 9, 6, 7, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check blosc2==4.14.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import blosc2, numpy as np

rows = np.arange(12).reshape(3, 4)
for chunks in (3, 4), (1, 4), (3, 2):
    a = blosc2.asarray(rows, chunks=chunks, blocks=chunks)
    condition = a > 5
    print(f"chunks {chunks}: lazy {a[condition][:].tolist()}, computed {a[condition.compute()][:].tolist()}, NumPy's {a[rows > 5][:].tolist()}")
P
)
echo "$seen"
[[ $seen == "chunks (3, 4): lazy [6, 7, 8, 9, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]
chunks (1, 4): lazy [6, 7, 8, 9, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]
chunks (3, 2): lazy [8, 9, 6, 7, 10, 11], computed [6, 7, 8, 9, 10, 11], NumPy's [6, 7, 8, 9, 10, 11]" ]]
