#!/usr/bin/env bash
# SimpleITK 2.5.7 (ITK) reads a TIFF file of 16-bit samples in tiles as 8-bit RGBA: the upper byte three times, and 255; in strips it reads
# the samples. Samples of float16 it takes for uint16, the bits for numbers, in strips, and for the same RGBA in tiles. Both load without an
# error; one would expect the numbers, or a refusal.
# Seen on CPython 3.11:
#     uint16 in strips: uint16 (16, 16), 4660
#     uint16 in tiles: uint8 (16, 16, 4), [18, 18, 18, 255]
#     float16 in strips: uint16 (16, 16), 15872
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check SimpleITK==2.5.7 tifffile==2026.3.3 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numpy as np, SimpleITK, tifffile

path = sys.argv[1] + "/a.tif"
for name, value, dtype, tile in (("uint16 in strips", 0x1234, "uint16", None), ("uint16 in tiles", 0x1234, "uint16", (16, 16)),
                                 ("float16 in strips", 1.5, "float16", None)):
    tifffile.imwrite(path, np.full((16, 16), value, dtype), tile=tile, photometric="minisblack")
    array = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path))
    print(f"{name}: {array.dtype} {array.shape}, {array[0, 0].tolist()}")
P
)
echo "$seen"
[[ $seen == "uint16 in strips: uint16 (16, 16), 4660
uint16 in tiles: uint8 (16, 16, 4), [18, 18, 18, 255]
float16 in strips: uint16 (16, 16), 15872" ]]
