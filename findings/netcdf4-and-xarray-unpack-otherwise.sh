#!/usr/bin/env bash
# One netCDF file, read by netCDF4 1.7.5.1.post1 and by xarray 2026.9.0, whose default engine it is. 255 in uint8 without a fill value, white in an
# image, is missing for netCDF4, which takes the library's default for it, and a number for xarray; so is what lies outside valid_range. An add_offset
# of int8 overflows in netCDF4, 100 + 100 is -56, and xarray adds floats; a scale_factor of int16 overflows in both. xarray makes float32 of int32
# whose scale_factor is the float32 1, and rounds them.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint8 without attributes, [1, 255]: netCDF4 uint8 [1, None], xarray uint8 [1, 255]
#     int16, valid_range 0 to 10, [1, -9]: netCDF4 int16 [1, None], xarray int16 [1, -9]
#     int8, add_offset int8 100, [3, 100]: netCDF4 int8 [103, -56], xarray float64 [103.0, 200.0]
#     int16, scale_factor int16 2, [3, 20000]: netCDF4 int16 [6, -25536], xarray int16 [6, -25536]
#     int32, scale_factor float32 1, [3, 16777217]: netCDF4 int32 [3, 16777217], xarray float32 [3.0, 16777216.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check netCDF4==1.7.5.1.post1 xarray==2026.9.0 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import netCDF4, numpy as np, xarray

cases = {
    "uint8 without attributes": ("u1", [1, 255], {}),
    "int16, valid_range 0 to 10": ("i2", [1, -9], {"valid_range": np.array([0, 10], "i2")}),
    "int8, add_offset int8 100": ("i1", [3, 100], {"add_offset": np.int8(100)}),
    "int16, scale_factor int16 2": ("i2", [3, 20000], {"scale_factor": np.int16(2)}),
    "int32, scale_factor float32 1": ("i4", [3, 2**24 + 1], {"scale_factor": np.float32(1)}),
}
for number, (name, (dtype, values, attributes)) in enumerate(cases.items()):
    path = f"{sys.argv[1]}/{number}.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 2)
        variable = file.createVariable("v", dtype, ("x",))
        variable.set_auto_maskandscale(False)
        variable[:] = values
        variable.setncatts(attributes)
    with netCDF4.Dataset(path) as file, xarray.open_dataset(path) as data:
        read, other = file["v"][:], data["v"].values
    print(f"{name}, {values}: netCDF4 {read.dtype} {read.tolist()}, xarray {other.dtype} {other.tolist()}")
P
)
echo "$seen"
[[ $seen == "uint8 without attributes, [1, 255]: netCDF4 uint8 [1, None], xarray uint8 [1, 255]
int16, valid_range 0 to 10, [1, -9]: netCDF4 int16 [1, None], xarray int16 [1, -9]
int8, add_offset int8 100, [3, 100]: netCDF4 int8 [103, -56], xarray float64 [103.0, 200.0]
int16, scale_factor int16 2, [3, 20000]: netCDF4 int16 [6, -25536], xarray int16 [6, -25536]
int32, scale_factor float32 1, [3, 16777217]: netCDF4 int32 [3, 16777217], xarray float32 [3.0, 16777216.0]" ]]
