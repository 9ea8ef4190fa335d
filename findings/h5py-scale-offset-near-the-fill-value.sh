#!/usr/bin/env bash
# HDF5 2.0.0 (h5py 3.16.0): the scale-offset filter of floats keeps D digits after the point, "scaleoffset=D", by rounding. Numbers that are
# less than 10^-D from the dataset's fill value, which is 0 unless told, are not rounded but become the fill value: with no digits 0.9 becomes
# 0 and 1.9 stays within a half, and with a fill value of 5 it is 5.9 that becomes 5. The error is twice what rounding makes, and always
# toward one number.
# Seen on CPython 3.11:
#     fill 0: [0.9, -0.9, 1.9, 5.9] -> [0.0, 0.0, 1.9, 5.9]
#     fill 5: [0.9, -0.9, 1.9, 5.9] -> [1.1, -0.9, 2.1, 5.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import h5py, numpy as np

values = [0.9, -0.9, 1.9, 5.9]
for fill in (0, 5):
    with h5py.File(sys.argv[1] + "/a.h5", "w") as file:
        file.create_dataset("x", data=np.array(values), scaleoffset=0, fillvalue=fill)
    with h5py.File(sys.argv[1] + "/a.h5") as file:
        print(f"fill {fill}: {values} -> {np.round(file['x'][:], 9).tolist()}")
P
)
echo "$seen"
[[ $seen == "fill 0: [0.9, -0.9, 1.9, 5.9] -> [0.0, 0.0, 1.9, 5.9]
fill 5: [0.9, -0.9, 1.9, 5.9] -> [1.1, -0.9, 2.1, 5.0]" ]]
