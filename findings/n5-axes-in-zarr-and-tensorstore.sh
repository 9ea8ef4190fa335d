#!/usr/bin/env bash
# N5 names the fastest axis of a dataset first. zarr 2.18.7 (N5Store) reverses the axes, so that an array comes back as it was written, and
# tensorstore 0.1.86 (driver n5) keeps N5's order: of one file, either has the transpose of the other's, of all axes, and chunks likewise. Each reads
# what it wrote; a square image or a cube has no shape that would tell.
# Seen with numcodecs 0.15.2, numpy 1.26.4, on CPython 3.11:
#     written (3, 3) [0, 1, 2, 3, 4, 5, 6, 7, 8]: zarr (3, 3) [0, 1, 2, 3, 4, 5, 6, 7, 8], tensorstore (3, 3) [0, 3, 6, 1, 4, 7, 2, 5, 8]
#     written (2, 2, 2) [0, 1, 2, 3, 4, 5, 6, 7]: zarr (2, 2, 2) [0, 1, 2, 3, 4, 5, 6, 7], tensorstore (2, 2, 2) [0, 4, 2, 6, 1, 5, 3, 7]
#     written (2, 3) [0, 1, 2, 3, 4, 5]: zarr (2, 3) [0, 1, 2, 3, 4, 5], tensorstore (3, 2) [0, 3, 1, 4, 2, 5]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check zarr==2.18.7 numcodecs==0.15.2 tensorstore==0.1.86 numpy==1.26.4
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, tensorstore, zarr

def spec(path):
    return {"driver": "n5", "kvstore": "file://" + path + "/v"}

for shape in (3, 3), (2, 2, 2), (2, 3):
    x, path = np.arange(np.prod(shape), dtype=np.int32).reshape(shape), sys.argv[1] + f"/{len(shape)}-{shape[-1]}-{shape[0]}.n5"
    store = zarr.N5Store(path)
    zarr.group(store).create_dataset("v", data=x, chunks=2, compressor=None)
    read = tensorstore.open(spec(path)).result().read().result()
    print(f"written {x.shape} {x.ravel().tolist()}: zarr {zarr.open(store, path='v').shape} {zarr.open(store, path='v')[:].ravel().tolist()}, "
          f"tensorstore {read.shape} {read.ravel().tolist()}")
P
)
echo "$seen"
[[ $seen == "written (3, 3) [0, 1, 2, 3, 4, 5, 6, 7, 8]: zarr (3, 3) [0, 1, 2, 3, 4, 5, 6, 7, 8], tensorstore (3, 3) [0, 3, 6, 1, 4, 7, 2, 5, 8]
written (2, 2, 2) [0, 1, 2, 3, 4, 5, 6, 7]: zarr (2, 2, 2) [0, 1, 2, 3, 4, 5, 6, 7], tensorstore (2, 2, 2) [0, 4, 2, 6, 1, 5, 3, 7]
written (2, 3) [0, 1, 2, 3, 4, 5]: zarr (2, 3) [0, 1, 2, 3, 4, 5], tensorstore (3, 2) [0, 3, 1, 4, 2, 5]" ]]
