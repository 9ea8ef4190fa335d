#!/usr/bin/env bash
# netCDF4 1.7.5.1.post1: a variable indexed (`v[:]`) gives a masked array where values are missing; given to NumPy as it is, its fill
# value counts as a number, without a warning: numpy.mean(v) and numpy.min(v) are not those of v[:]. One would expect the mask to be kept,
# NaN, or an error.
# Seen with numpy 2.4.6, on CPython 3.11:
#     v[:] [1.0, 2.0, None, 4.0], asarray [1.0, 2.0, -999.0, 4.0], mean of v[:] 2.33, mean of v -248.00, min of v -999.0, warnings 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check netCDF4==1.7.5.1.post1 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder/example.nc" <<'P'
import sys, warnings

import netCDF4, numpy as np

with netCDF4.Dataset(sys.argv[1], "w") as file:
    file.createDimension("t", 4)
    file.createVariable("v", "f4", ("t",), fill_value=-999)[:] = np.ma.masked_values([1.0, 2.0, 3.0, 4.0], 3.0)
with netCDF4.Dataset(sys.argv[1]) as file, warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    v = file["v"]
    print(f"v[:] {v[:].tolist()}, asarray {np.asarray(v).tolist()}, mean of v[:] {np.mean(v[:]):.2f}, mean of v {np.mean(v):.2f}, "
          f"min of v {np.min(v)}, warnings {len(warned)}")
P
)
echo "$seen"
[[ $seen == "v[:] [1.0, 2.0, None, 4.0], asarray [1.0, 2.0, -999.0, 4.0], mean of v[:] 2.33, mean of v -248.00, min of v -999.0, \
warnings 0" ]]
