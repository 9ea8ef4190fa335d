#!/usr/bin/env bash
# netCDF4 1.7.5.1.post1 (netCDF-C) with quantize_mode keeps NaN. Of infinity, GranularBitRound makes zero of the other sign, and BitGroom NaN at odd
# places and infinity at even ones, for it shaves and sets bits in turn; BitRound keeps it. So it is in float32 and float64, with no error or warning.
# Seen with numpy 2.4.6, on CPython 3.11:
#     BitRound f4: [0.333, inf, inf, -inf, nan]
#     BitRound f8: [0.333, inf, inf, -inf, nan]
#     BitGroom f4: [0.3333, nan, inf, nan, nan]
#     BitGroom f8: [0.3333, nan, inf, nan, nan]
#     GranularBitRound f4: [0.333, -0.0, -0.0, 0.0, nan]
#     GranularBitRound f8: [0.333, -0.0, -0.0, 0.0, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check netCDF4==1.7.5.1.post1 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import netCDF4, numpy as np

x = np.array([1 / 3, np.inf, np.inf, -np.inf, np.nan])
for mode, digits in ("BitRound", 8), ("BitGroom", 3), ("GranularBitRound", 3):
    for dtype in "f4", "f8":
        path = f"{sys.argv[1]}/{mode}-{dtype}.nc"
        with netCDF4.Dataset(path, "w") as file:
            file.createDimension("x", x.size)
            file.createVariable("v", dtype, ("x",), compression="zlib", significant_digits=digits, quantize_mode=mode)[:] = x
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            print(f"{mode} {dtype}: {[float(f'{each:.4f}') for each in file['v'][:].tolist()]}")
P
)
echo "$seen"
[[ $seen == "BitRound f4: [0.333, inf, inf, -inf, nan]
BitRound f8: [0.333, inf, inf, -inf, nan]
BitGroom f4: [0.3333, nan, inf, nan, nan]
BitGroom f8: [0.3333, nan, inf, nan, nan]
GranularBitRound f4: [0.333, -0.0, -0.0, 0.0, nan]
GranularBitRound f8: [0.333, -0.0, -0.0, 0.0, nan]" ]]
