#!/usr/bin/env bash
# HDF5 2.0.0 (h5py 3.16.0) makes infinity of 65505 to 65519 where it converts float32 or float64 to float16, on writing and on reading; the
# nearest number is 65504, the largest, which NumPy and IEEE 754 give for all below 65520. float64 to float32 is the same: 2^128 - 2^103 -
# 2^80 is nearest to the largest float32, and becomes infinity.
# Seen on CPython 3.11:
#     float16 of 65504, 65505, 65519, 65520: HDF5 [65504.0, inf, inf, inf], NumPy [65504.0, 65504.0, 65504.0, inf]
#     float32 of 2^128 - 2^103 - 2^80: HDF5 inf, NumPy 3.4028234663852886e+38
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys, warnings

import h5py, numpy as np

warnings.simplefilter("ignore")
for text, dtype, values in (("65504, 65505, 65519, 65520", "float16", [65504.0, 65505.0, 65519.0, 65520.0]),
                            ("2^128 - 2^103 - 2^80", "float32", 2.0**128 - 2.0**103 - 2.0**80)):
    with h5py.File(sys.argv[1] + "/a.h5", "w") as file:
        stored = file.create_dataset("x", np.shape(values), dtype)
        stored[...] = np.array(values)
        print(f"{dtype} of {text}: HDF5 {stored[()].tolist()}, NumPy {np.array(values).astype(dtype).tolist()}")
P
)
echo "$seen"
[[ $seen == "float16 of 65504, 65505, 65519, 65520: HDF5 [65504.0, inf, inf, inf], NumPy [65504.0, 65504.0, 65504.0, inf]
float32 of 2^128 - 2^103 - 2^80: HDF5 inf, NumPy 3.4028234663852886e+38" ]]
