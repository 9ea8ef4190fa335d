#!/usr/bin/env bash
# Dask 2026.8.0: dot(), tensordot() and @ of integers of 8 bits multiply within chunks in 8 bits, as NumPy does, and add the chunks' results
# in 64, so that the same numbers give another product, of another type, after rechunk(). Products of booleans, which are true or false in one
# chunk and in NumPy, become counts of the chunks that are true.
# Seen on CPython 3.11:
#     int8 chunks of 4: -112 int8, of 2: -112 int64, of 1: 400 int64; NumPy -112 int8
#     bool chunks of 4: True bool, of 2: 2 int64, of 1: 4 int64; NumPy True bool
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import dask.array as da, numpy as np

for dtype, value in (("int8", 100), ("bool", 1)):
    a, b = np.full((1, 4), value, dtype), np.ones((4, 1), dtype)
    seen = []
    for chunk in (4, 2, 1):
        product = (da.from_array(a).rechunk((1, chunk)) @ da.from_array(b).rechunk((chunk, 1))).compute()
        seen.append(f"of {chunk}: {product[0, 0]} {product.dtype}")
    print(f"{dtype} chunks {', '.join(seen)}; NumPy {(a @ b)[0, 0]} {(a @ b).dtype}")
P
)
echo "$seen"
[[ $seen == "int8 chunks of 4: -112 int8, of 2: -112 int64, of 1: 400 int64; NumPy -112 int8
bool chunks of 4: True bool, of 2: 2 int64, of 1: 4 int64; NumPy True bool" ]]
