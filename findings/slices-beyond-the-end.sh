#!/usr/bin/env bash
# Slices of the five elements 1 to 5, as Python and NumPy 2.4.6 take them, and others. nibabel 5.4.2 counts from the end a second time where a
# negative bound lies before the beginning: [:-7] are three elements, and [-1:-6:-1], all in reverse, none. sparse 0.19.3 takes the end -1 of a
# reversed slice for the place before the first element, and Python for the last one. Dask 2026.8.0, and xarray 2026.9.0 of a file, reverse all where
# the start lies before the beginning; Astropy's .section (8.0.2) of a compressed image has one there. fitsio 1.4.2 has one or none of any reversed
# slice. netCDF4 1.7.5.1.post1 is as NumPy.
# Seen on CPython 3.11:
#     NumPy: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] none, [::-1] 54321
#     nibabel: [:-7] 123, [-1:-6:-1] none, [4:-1:-1] none, [-7::-1] 4321, [::-1] 54321
#     sparse: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] 54321, [-7::-1] none, [::-1] 54321
#     Dask: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] 54321, [::-1] 54321
#     xarray: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] IndexError, [-7::-1] 54321, [::-1] 54321
#     Astropy: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] 1, [::-1] 54321
#     fitsio: [:-7] ValueError, [-1:-6:-1] 5, [4:-1:-1] 5, [-7::-1] none, [::-1] none
#     netCDF4: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] none, [::-1] 54321
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    nibabel==5.4.2 sparse==0.19.3 dask[array]==2026.8.0 xarray==2026.9.0 netCDF4==1.7.5.1.post1 astropy==8.0.2 fitsio==1.4.2 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import dask.array, fitsio, netCDF4, nibabel, numpy as np, sparse, xarray
from astropy.io import fits

x, folder = np.arange(1, 6, dtype=np.int32), sys.argv[1]
nibabel.save(nibabel.Nifti1Image(x[:, None, None], np.eye(4)), folder + "/x.nii")
fitsio.write(folder + "/x.fits", x[:, None], compress="RICE_1")
with netCDF4.Dataset(folder + "/x.nc", "w") as file:
    file.createDimension("n", 5)
    file.createVariable("x", "i4", ("n",))[:] = x
arrays = {
    "NumPy": x,
    "nibabel": nibabel.load(folder + "/x.nii").dataobj,
    "sparse": sparse.COO.from_numpy(x),
    "Dask": dask.array.from_array(x, chunks=2),
    "xarray": xarray.open_dataset(folder + "/x.nc", engine="netcdf4")["x"],
    "Astropy": fits.open(folder + "/x.fits")[1].section,
    "fitsio": fitsio.FITS(folder + "/x.fits")[1],
    "netCDF4": netCDF4.Dataset(folder + "/x.nc")["x"],
}

def taken(name, array, text):
    each = slice(*(int(part) if part else None for part in text[1:-1].split(":")))
    try:
        part = array[each, :] if name == "fitsio" else array[each]
        return "".join(map(str, np.asarray(part.todense() if name == "sparse" else part).ravel())) or "none"
    except Exception as error:
        return type(error).__name__

for name, array in arrays.items():
    print(f"{name}: " + ", ".join(f"{text} {taken(name, array, text)}" for text in ("[:-7]", "[-1:-6:-1]", "[4:-1:-1]", "[-7::-1]", "[::-1]")))
P
)
echo "$seen"
[[ $seen == "NumPy: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] none, [::-1] 54321
nibabel: [:-7] 123, [-1:-6:-1] none, [4:-1:-1] none, [-7::-1] 4321, [::-1] 54321
sparse: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] 54321, [-7::-1] none, [::-1] 54321
Dask: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] 54321, [::-1] 54321
xarray: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] IndexError, [-7::-1] 54321, [::-1] 54321
Astropy: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] 1, [::-1] 54321
fitsio: [:-7] ValueError, [-1:-6:-1] 5, [4:-1:-1] 5, [-7::-1] none, [::-1] none
netCDF4: [:-7] none, [-1:-6:-1] 54321, [4:-1:-1] none, [-7::-1] none, [::-1] 54321" ]]
