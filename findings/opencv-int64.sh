#!/usr/bin/env bash
# OpenCV 5.0.0 (opencv-python-headless 5.0.0.93) has 64-bit integers (CV_64S, CV_64U), but its Python interface takes arrays of them for
# 32-bit ones: flip, transpose, max and all others that were tried keep the low 32 bits of every number and give int32, of uint64 also,
# without an error or a warning. uint32 and float64 come through. A pure move of data loses it; one would expect the numbers, or a refusal.
# Seen on CPython 3.11:
#     int64 [-1, 4294967297]: flip int32 [[1, -1]], max with itself int32 [[-1, 1]]
#     uint64 [7, 4294967297]: flip int32 [[1, 7]], max with itself int32 [[7, 1]]
#     uint32 [7, 4294967295]: flip uint32 [[4294967295, 7]], max with itself uint32 [[7, 4294967295]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check opencv-python-headless==5.0.0.93 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import cv2, numpy as np

for dtype, values in (("int64", [-1, 2**32 + 1]), ("uint64", [7, 2**32 + 1]), ("uint32", [7, 2**32 - 1])):
    array = np.array([values], dtype)
    flipped, largest = cv2.flip(array, 1), cv2.max(array, array)
    print(f"{dtype} {values}: flip {flipped.dtype} {flipped.tolist()}, max with itself {largest.dtype} {largest.tolist()}")
P
)
echo "$seen"
[[ $seen == "int64 [-1, 4294967297]: flip int32 [[1, -1]], max with itself int32 [[-1, 1]]
uint64 [7, 4294967297]: flip int32 [[1, 7]], max with itself int32 [[7, 1]]
uint32 [7, 4294967295]: flip uint32 [[4294967295, 7]], max with itself uint32 [[7, 4294967295]]" ]]
