#!/usr/bin/env bash
# Into a dataset of a narrower integer, HDF5 (h5py 3.16.0) clips what does not fit, and so does h5netcdf 1.8.2, which writes netCDF by way of it;
# netCDF4 1.7.5.1.post1, of which h5netcdf is the other engine, wraps, as zarr 3.1.6 does. Reading is alike: dataset.astype('uint8')[:] is not
# dataset[:].astype('uint8'), of the same file. There is no error and no warning in any. Masks of -1 are 0 in one library and 255 in the other.
# Seen with numpy 2.4.6, on CPython 3.11:
#     [-1, 300, 127] into uint8: h5py [0, 255, 127], h5netcdf [0, 255, 127], netCDF4 [255, 44, 127], zarr [255, 44, 127]
#     [-1, 300, 127] into int8: h5py [-1, 127, 127], h5netcdf [-1, 127, 127], netCDF4 [-1, 44, 127], zarr [-1, 44, 127]
#     h5py, int64 as uint8: astype of the dataset [0, 255, 127], of what is read [255, 44, 127]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    h5py==3.16.0 h5netcdf==1.8.2 netCDF4==1.7.5.1.post1 zarr==3.1.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import h5netcdf, h5py, netCDF4, numpy as np, zarr

x = np.array([-1, 300, 127])
for dtype in "uint8", "int8":
    with h5py.File(sys.argv[1] + "/a.h5", "w") as file:
        file.create_dataset("v", x.shape, dtype)[:] = x
        seen = {"h5py": file["v"][:]}
    with h5netcdf.File(sys.argv[1] + "/b.nc", "w") as file:
        file.dimensions["x"] = x.size
        file.create_variable("v", ("x",), dtype)[:] = x
        seen["h5netcdf"] = file["v"][:]
    with netCDF4.Dataset(sys.argv[1] + "/c.nc", "w") as file:
        file.createDimension("x", x.size)
        variable = file.createVariable("v", dtype, ("x",), fill_value=False)
        variable[:] = x
        variable.set_auto_mask(False)
        seen["netCDF4"] = variable[:]
    array = zarr.create_array({}, shape=x.shape, dtype=dtype)
    array[:] = x
    seen["zarr"] = array[:]
    print(f"{x.tolist()} into {dtype}: " + ", ".join(f"{name} {read.tolist()}" for name, read in seen.items()))
with h5py.File(sys.argv[1] + "/d.h5", "w") as file:
    data = file.create_dataset("v", data=x)
    print(f"h5py, int64 as uint8: astype of the dataset {data.astype('uint8')[:].tolist()}, of what is read {data[:].astype('uint8').tolist()}")
P
)
echo "$seen"
[[ $seen == "[-1, 300, 127] into uint8: h5py [0, 255, 127], h5netcdf [0, 255, 127], netCDF4 [255, 44, 127], zarr [255, 44, 127]
[-1, 300, 127] into int8: h5py [-1, 127, 127], h5netcdf [-1, 127, 127], netCDF4 [-1, 44, 127], zarr [-1, 44, 127]
h5py, int64 as uint8: astype of the dataset [0, 255, 127], of what is read [255, 44, 127]" ]]
