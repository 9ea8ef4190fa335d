#!/usr/bin/env bash
# rasterio 1.4.4 reads into a big-endian array given as `out=` this machine's bytes, so that 1 is 256, and writes such an array rightly. Its
# `reproject` by the nearest neighbour, onto the grid that the raster has, rounds int64 beyond 2^53, since GDAL's warper computes in float64; reading
# it with another shape and the nearest neighbour does not.
# Seen on CPython 3.11:
#     written [[1, 2], [3, 4]], read into big-endian [[256, 512], [768, 1024]]
#     beyond 2^53: [[1, 2], [3, 4]], reproject [[0, 2], [4, 4]], read [[1, 2], [3, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check rasterio==1.4.4 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys, warnings

import numpy as np, rasterio
from rasterio.enums import Resampling
from rasterio.transform import from_origin
from rasterio.warp import reproject

warnings.simplefilter("ignore")
grid = from_origin(0, 2, 1, 1)


def written(x):
    path = f"{sys.argv[1]}/{x.dtype.name}.tif"
    with rasterio.open(path, "w", driver="GTiff", height=2, width=2, count=1, dtype=x.dtype.name, transform=grid) as file:
        file.write(x, 1)
    return rasterio.open(path)


x = np.array([[1, 2], [3, 4]], ">i2")
out = np.zeros_like(x)
file = written(x)
file.read(1, out=out)
print(f"written {file.read(1).tolist()}, read into big-endian {out.tolist()}")
x = 2**53 + 1 + np.arange(4).reshape(2, 2)
same = {"src_transform": grid, "dst_transform": grid, "src_crs": "EPSG:3857", "dst_crs": "EPSG:3857"}
near = reproject(x, np.zeros_like(x), resampling=Resampling.nearest, **same)[0]
read = written(x).read(1, out_shape=(4, 4), resampling=Resampling.nearest)[::2, ::2]
print(f"beyond 2^53: {(x - 2**53).tolist()}, reproject {(near - 2**53).tolist()}, read {(read - 2**53).tolist()}")
P
)
echo "$seen"
[[ $seen == "written [[1, 2], [3, 4]], read into big-endian [[256, 512], [768, 1024]]
beyond 2^53: [[1, 2], [3, 4]], reproject [[0, 2], [4, 4]], read [[1, 2], [3, 4]]" ]]
