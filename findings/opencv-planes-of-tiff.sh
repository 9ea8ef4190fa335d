#!/usr/bin/env bash
# OpenCV 5.0.0.93 reads a TIFF file whose colours lie in planes (PlanarConfiguration 2) rightly where samples are uint8. Where they are wider, of any
# type, it takes the samples of the first plane for those of successive colours, and reads no other plane: the first pixel is made of the red of
# three. The shape and the type are right, and there is no error. GDAL (rasterio 1.4.4) and tifffile 2026.3.3, which wrote the files, read all of
# them.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint8, contig: (3, 4, 3), first pixel [1, 2, 3], is the image True
#     uint8, separate: (3, 4, 3), first pixel [1, 2, 3], is the image True
#     uint16, contig: (3, 4, 3), first pixel [1, 2, 3], is the image True
#     uint16, separate: (3, 4, 3), first pixel [1, 4, 7], is the image False
#     float32, contig: (3, 4, 3), first pixel [1.0, 2.0, 3.0], is the image True
#     float32, separate: (3, 4, 3), first pixel [1.0, 4.0, 7.0], is the image False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    opencv-python-headless==5.0.0.93 tifffile==2026.3.3 rasterio==1.4.4 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import cv2, numpy as np, rasterio, tifffile

path = sys.argv[1] + "/x.tif"
for dtype in np.uint8, np.uint16, np.float32:
    for layout in "contig", "separate":
        x = np.arange(1, 37).reshape(3, 4, 3).astype(dtype)
        tifffile.imwrite(path, x if layout == "contig" else np.moveaxis(x, -1, 0), photometric="rgb", planarconfig=layout)
        with rasterio.open(path) as file:
            assert np.array_equal(np.moveaxis(file.read(), 0, -1), x)
        read = cv2.imread(path, cv2.IMREAD_UNCHANGED)[..., ::-1]
        print(f"{x.dtype}, {layout}: {read.shape}, first pixel {read[0, 0].tolist()}, is the image {np.array_equal(read, x)}")
P
)
echo "$seen"
[[ $seen == "uint8, contig: (3, 4, 3), first pixel [1, 2, 3], is the image True
uint8, separate: (3, 4, 3), first pixel [1, 2, 3], is the image True
uint16, contig: (3, 4, 3), first pixel [1, 2, 3], is the image True
uint16, separate: (3, 4, 3), first pixel [1, 4, 7], is the image False
float32, contig: (3, 4, 3), first pixel [1.0, 2.0, 3.0], is the image True
float32, separate: (3, 4, 3), first pixel [1.0, 4.0, 7.0], is the image False" ]]
