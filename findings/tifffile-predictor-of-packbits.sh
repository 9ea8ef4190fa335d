#!/usr/bin/env bash
# tifffile 2026.3.3 writes TIFF files of PackBits with a predictor if it is asked for one, and reads them; libtiff, and with it GDAL (rasterio 1.4.4),
# OpenCV 5.0.0.93 and Pillow 13.0.0, obeys the predictor in LZW, Deflate and Zstandard, and not there. The differences are read as numbers: 10, 11, 12
# becomes 10, 1, 1, and floats, whose bytes their predictor sorts, are noise. All read without an error.
# Seen with imagecodecs 2026.3.6, numpy 2.4.6, on CPython 3.11:
#     deflate, predictor None: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
#     deflate, predictor 2: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
#     packbits, predictor None: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
#     packbits, predictor 2: tifffile [10, 11, 12, 13], GDAL [10, 1, 1, 1], OpenCV [10, 1, 1, 1], Pillow [10, 1, 1, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    tifffile==2026.3.3 imagecodecs==2026.3.6 rasterio==1.4.4 pillow==13.0.0 opencv-python-headless==5.0.0.93 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import cv2, numpy as np, rasterio, tifffile
from PIL import Image

path, x = sys.argv[1] + "/x.tif", np.array([[10, 11, 12, 13], [300, 200, 100, 0]], np.uint16)
for codec in "deflate", "packbits":
    for predictor in None, 2:
        tifffile.imwrite(path, x, compression=codec, predictor=predictor)
        with rasterio.open(path) as file:
            seen = {"tifffile": tifffile.imread(path), "GDAL": file.read(1)}
        seen |= {"OpenCV": cv2.imread(path, cv2.IMREAD_UNCHANGED), "Pillow": np.asarray(Image.open(path))}
        print(f"{codec}, predictor {predictor}: " + ", ".join(f"{name} {read[0].tolist()}" for name, read in seen.items()))
P
)
echo "$seen"
[[ $seen == "deflate, predictor None: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
deflate, predictor 2: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
packbits, predictor None: tifffile [10, 11, 12, 13], GDAL [10, 11, 12, 13], OpenCV [10, 11, 12, 13], Pillow [10, 11, 12, 13]
packbits, predictor 2: tifffile [10, 11, 12, 13], GDAL [10, 1, 1, 1], OpenCV [10, 1, 1, 1], Pillow [10, 1, 1, 1]" ]]
