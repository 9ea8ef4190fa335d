#!/usr/bin/env bash
# numcodecs 0.16.6's `Delta`, which stores the differences of neighbours and is lossless for integers, does not give bool back: the difference of two
# is whether they differ, which is added up by "or", so that all from the first true on is true. Zarr takes it as a filter of an array of bool, and
# reads other numbers than were written.
# Seen on CPython 3.11:
#     uint8: [0, 1, 0, 0, 1, 1, 0], decoded [0, 1, 0, 0, 1, 1, 0], in Zarr [0, 1, 0, 0, 1, 1, 0]
#     bool: [0, 1, 0, 0, 1, 1, 0], decoded [0, 1, 1, 1, 1, 1, 1], in Zarr [0, 1, 1, 1, 1, 1, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numcodecs==0.16.6 zarr==3.1.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numcodecs, zarr
import numpy as np

for dtype in ("uint8", "bool"):
    x = np.array([0, 1, 0, 0, 1, 1, 0], dtype)
    codec = numcodecs.Delta(dtype)
    array = zarr.create_array(f"{sys.argv[1]}/{dtype}", shape=x.shape, chunks=x.shape, dtype=x.dtype, zarr_format=2, filters=[codec])
    array[:] = x
    decoded, stored = codec.decode(codec.encode(x)), zarr.open_array(f"{sys.argv[1]}/{dtype}")[:]
    print(f"{dtype}: {x.astype(int).tolist()}, decoded {decoded.astype(int).tolist()}, in Zarr {stored.astype(int).tolist()}")
P
)
echo "$seen"
[[ $seen == "uint8: [0, 1, 0, 0, 1, 1, 0], decoded [0, 1, 0, 0, 1, 1, 0], in Zarr [0, 1, 0, 0, 1, 1, 0]
bool: [0, 1, 0, 0, 1, 1, 0], decoded [0, 1, 1, 1, 1, 1, 1], in Zarr [0, 1, 1, 1, 1, 1, 1]" ]]
