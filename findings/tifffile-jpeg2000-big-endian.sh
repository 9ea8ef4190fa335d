#!/usr/bin/env bash
# tifffile 2026.3.3 with imagecodecs 2026.3.6 writes big-endian TIFF files compressed by JPEG 2000 with the bytes of each number reversed, and reads
# them so: 1 becomes 256. It gives the codec the array in the file's byte order, and jpeg2k_encode, as htj2k_encode, takes big-endian arrays for
# little-endian ones; LERC and JPEG XL refuse them. zlib, LZW and Zstandard, which pack bytes, are right, and so is the same file in the other byte
# order.
# Seen with numpy 2.4.6, on CPython 3.11:
#     jpeg2000, byte order <: [[1, 2, 300], [4, 5, 6]]
#     jpeg2000, byte order >: [[256, 512, 11265], [1024, 1280, 1536]]
#     zlib, byte order <: [[1, 2, 300], [4, 5, 6]]
#     zlib, byte order >: [[1, 2, 300], [4, 5, 6]]
#     lerc, byte order <: [[1, 2, 300], [4, 5, 6]]
#     lerc, byte order >: ValueError
#     jpeg2k_encode of a big-endian array: [[256, 512, 11265], [1024, 1280, 1536]]
#     htj2k_encode of a big-endian array: [[256, 512, 11265], [1024, 1280, 1536]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import imagecodecs, numpy as np, tifffile

path, x = sys.argv[1] + "/x.tif", np.array([[1, 2, 300], [4, 5, 6]], np.uint16)
for codec in "jpeg2000", "zlib", "lerc":
    for order in "<", ">":
        try:
            tifffile.imwrite(path, x, byteorder=order, compression=codec)
            print(f"{codec}, byte order {order}: {tifffile.imread(path).tolist()}")
        except ValueError:
            print(f"{codec}, byte order {order}: ValueError")
for name in "jpeg2k", "htj2k":
    packed = getattr(imagecodecs, name + "_encode")(x.astype(">u2"))
    print(f"{name}_encode of a big-endian array: {getattr(imagecodecs, name + '_decode')(packed).tolist()}")
P
)
echo "$seen"
[[ $seen == "jpeg2000, byte order <: [[1, 2, 300], [4, 5, 6]]
jpeg2000, byte order >: [[256, 512, 11265], [1024, 1280, 1536]]
zlib, byte order <: [[1, 2, 300], [4, 5, 6]]
zlib, byte order >: [[1, 2, 300], [4, 5, 6]]
lerc, byte order <: [[1, 2, 300], [4, 5, 6]]
lerc, byte order >: ValueError
jpeg2k_encode of a big-endian array: [[256, 512, 11265], [1024, 1280, 1536]]
htj2k_encode of a big-endian array: [[256, 512, 11265], [1024, 1280, 1536]]" ]]
