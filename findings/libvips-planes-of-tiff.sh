#!/usr/bin/env bash
# libvips 8.18.7 (pyvips 3.2.0) reads TIFF files whose bands lie in planes, as GDAL (rasterio 1.4.4) writes them with INTERLEAVE=BAND, wrongly if they
# are not RGB and a strip has several rows: with two bands, row 1 begins in the middle of row 0, in the right shape and without an error, in all
# types. Of RGB it reads float16 so, and the other types rightly. With one row a strip, or bands pixel by pixel, all is right, and GDAL reads all.
# Seen with numpy 2.4.6, on CPython 3.11:
#     minisblack of uint8, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
#     minisblack of uint8, rows a strip 3: [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
#     minisblack of float32, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
#     minisblack of float32, rows a strip 3: [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
#     rgb of uint8, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
#     rgb of uint8, rows a strip 3: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
#     rgb of float16, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
#     rgb of float16, rows a strip 3: [0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyvips==3.2.0 pyvips-binary==8.18.7 rasterio==1.4.4 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, pyvips, rasterio

for kind, bands, dtype in ("minisblack", 2, "uint8"), ("minisblack", 2, "float32"), ("rgb", 3, "uint8"), ("rgb", 3, "float16"):
    x = np.arange(6 * bands).reshape(3, 2, bands).astype(dtype)
    for rows in 1, 3:
        path = f"{sys.argv[1]}/{kind}-{dtype}-{rows}.tif"
        how = dict(width=2, height=3, count=bands, photometric=kind, interleave="band", blockysize=rows)
        if dtype == "float16":
            how |= dict(dtype="float32", nbits=16)
        with rasterio.open(path, "w", driver="GTiff", **({"dtype": dtype} | how)) as file:
            file.write(np.moveaxis(x, -1, 0).astype(how.get("dtype", dtype)))
        with rasterio.open(path) as file:
            assert np.array_equal(np.moveaxis(file.read(), 0, -1), x)
        print(f"{kind} of {dtype}, rows a strip {rows}: {pyvips.Image.new_from_file(path).numpy().ravel().astype(int).tolist()}")
P
)
echo "$seen"
[[ $seen == "minisblack of uint8, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
minisblack of uint8, rows a strip 3: [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
minisblack of float32, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
minisblack of float32, rows a strip 3: [0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7]
rgb of uint8, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
rgb of uint8, rows a strip 3: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
rgb of float16, rows a strip 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
rgb of float16, rows a strip 3: [0, 1, 2, 3, 4, 5, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9]" ]]
