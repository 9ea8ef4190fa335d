#!/usr/bin/env bash
# tifffile 2026.3.3 with imagecodecs 2026.3.6 reads 0 for NaN in TIFF files that LERC compressed without loss, its own and GDAL's: LERC keeps NaN as a
# mask beside the numbers, which tifffile does not ask for. GDAL (rasterio 1.4.4) reads NaN from the same files, and with Zstandard tifffile does. The
# sign of -0.0 and all other bits are kept, so that nothing else tells.
# Seen with numpy 2.4.6, on CPython 3.11:
#     lerc of tifffile: tifffile [[0.5, 0.0, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
#     lerc of rasterio: tifffile [[0.5, 0.0, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
#     zstd of tifffile: tifffile [[0.5, nan, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
#     zstd of rasterio: tifffile [[0.5, nan, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tifffile==2026.3.3 imagecodecs==2026.3.6 rasterio==1.4.4 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, rasterio, tifffile

path, x = sys.argv[1] + "/x.tif", np.array([[0.5, np.nan, 1], [2, -0.0, 3]], np.float32)
for codec in "lerc", "zstd":
    for writer in "tifffile", "rasterio":
        if writer == "tifffile":
            tifffile.imwrite(path, x, compression=codec)
        else:
            with rasterio.open(path, "w", driver="GTiff", height=2, width=3, count=1, dtype=x.dtype, compress=codec) as file:
                file.write(x, 1)
        with rasterio.open(path) as file:
            read = file.read(1).tolist()
        print(f"{codec} of {writer}: tifffile {tifffile.imread(path).tolist()}, rasterio {read}")
P
)
echo "$seen"
[[ $seen == "lerc of tifffile: tifffile [[0.5, 0.0, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
lerc of rasterio: tifffile [[0.5, 0.0, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
zstd of tifffile: tifffile [[0.5, nan, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]
zstd of rasterio: tifffile [[0.5, nan, 1.0], [2.0, -0.0, 3.0]], rasterio [[0.5, nan, 1.0], [2.0, -0.0, 3.0]]" ]]
