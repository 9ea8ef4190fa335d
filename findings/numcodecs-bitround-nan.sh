#!/usr/bin/env bash
# numcodecs 0.16.6: BitRound, which zarr and others use before compression, rounds the bits of NaN as those of numbers. NaN whose bits are all ones
# becomes -0.0 or 0.0 (CUDA's operations give 0x7fffffff), and NaN whose upper fraction bits are zero becomes infinity: R's NA is 0x7ff00000000007a2.
# NumPy's own NaN stays.
# Seen with numpy 2.4.6, on CPython 3.11:
#     NumPy's: float32 nan -> nan
#     CUDA's: float32 nan -> -0.0
#     all ones: float32 nan -> 0.0
#     R's NA: float64 nan -> inf
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numcodecs==0.16.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np
from numcodecs import BitRound

warnings.simplefilter("error")
for name, bits, number in (("NumPy's", 0x7FC00000, np.uint32), ("CUDA's", 0x7FFFFFFF, np.uint32), ("all ones", 0xFFFFFFFF, np.uint32),
                           ("R's NA", 0x7FF00000000007A2, np.uint64)):
    x = np.array([bits], number).view(f"f{number().itemsize}")
    codec = BitRound(keepbits=10)
    rounded = codec.decode(codec.encode(x)).view(x.dtype)
    print(f"{name}: {x.dtype} {x[0]} -> {rounded[0]}")
P
)
echo "$seen"
[[ $seen == "NumPy's: float32 nan -> nan
CUDA's: float32 nan -> -0.0
all ones: float32 nan -> 0.0
R's NA: float64 nan -> inf" ]]
