#!/usr/bin/env bash
# PyTorch 2.15.0 compares a tensor of integers with a number of Python in the tensor's type, without an error, and what does not fit wraps: no uint8 is less
# than 256, 255 equals -1, and no int32 is less than 2**32, so that a check of bounds before a narrower type fails, or passes. A tensor of the
# number with an axis is compared as it is, one without is not. NumPy compares the numbers.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint8 [0, 5, 255]: < 256 torch [False, False, False], with an axis [True, True, True], NumPy [True, True, True]
#     uint8 [0, 5, 255]: == -1 torch [False, False, True], with an axis [False, False, False], NumPy [False, False, False]
#     int32 [0, 5, 2147483647]: < 4294967296 torch [False, False, False], with an axis [True, True, True], NumPy [True, True, True]
#     int32 [0, 5, 2147483647]: == 4294967301 torch [False, True, False], with an axis [False, False, False], NumPy [False, False, False]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
from operator import eq, lt

import numpy as np, torch

for kind, compare, sign, number in (("uint8", lt, "<", 256), ("uint8", eq, "==", -1), ("int32", lt, "<", 2**32), ("int32", eq, "==", 2**32 + 5)):
    array = np.array([0, 5, np.iinfo(kind).max], dtype=kind)
    tensor = torch.from_numpy(array)
    print(f"{kind} {array.tolist()}: {sign} {number} torch {compare(tensor, number).tolist()}, "
          f"with an axis {compare(tensor, torch.tensor([number])).tolist()}, NumPy {compare(array, number).tolist()}")
P
)
echo "$seen"
[[ $seen == "uint8 [0, 5, 255]: < 256 torch [False, False, False], with an axis [True, True, True], NumPy [True, True, True]
uint8 [0, 5, 255]: == -1 torch [False, False, True], with an axis [False, False, False], NumPy [False, False, False]
int32 [0, 5, 2147483647]: < 4294967296 torch [False, False, False], with an axis [True, True, True], NumPy [True, True, True]
int32 [0, 5, 2147483647]: == 4294967301 torch [False, True, False], with an axis [False, False, False], NumPy [False, False, False]" ]]
