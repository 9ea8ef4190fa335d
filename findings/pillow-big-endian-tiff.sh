#!/usr/bin/env bash
# Pillow 13.0.0 reads a big-endian TIFF file that is compressed with every sample's bytes in reverse, where samples are int16, int32 or
# float32: libtiff has already put them in the machine's order, and Pillow swaps them once more. Uncompressed files and uint16 come out right,
# other readers (tifffile, which wrote these, GDAL, OpenCV) read all of them, and there is neither an error nor a warning.
# Seen on CPython 3.11:
#     uint16: raw [1, 2], deflate [1, 2]
#     int16: raw [1, 2], deflate [256, 512]
#     int32: raw [1, 2], deflate [16777216, 33554432]
#     float32: raw [1.0, 2.0], deflate [4.600602988224807e-41, 8.96831017167883e-44]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pillow==13.0.0 tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import io

import numpy as np, tifffile
from PIL import Image

for dtype in ("uint16", "int16", "int32", "float32"):
    seen = []
    for compression in (None, "deflate"):
        file = io.BytesIO()
        tifffile.imwrite(file, np.array([[1, 2]], dtype), byteorder=">", compression=compression, photometric="minisblack")
        file.seek(0)
        assert tifffile.imread(file).tolist() == [[1, 2]]
        file.seek(0)
        seen.append(np.asarray(Image.open(file))[0].tolist())
    print(f"{dtype}: raw {seen[0]}, deflate {seen[1]}")
P
)
echo "$seen"
[[ $seen == "uint16: raw [1, 2], deflate [1, 2]
int16: raw [1, 2], deflate [256, 512]
int32: raw [1, 2], deflate [16777216, 33554432]
float32: raw [1.0, 2.0], deflate [4.600602988224807e-41, 8.96831017167883e-44]" ]]
