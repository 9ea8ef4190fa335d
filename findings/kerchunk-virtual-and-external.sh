#!/usr/bin/env bash
# kerchunk 0.2.10 reads zeros from HDF5 datasets whose numbers are in other datasets (virtual) or in a file beside (external): it finds no chunk in
# the file and writes references to none, without an error, and zarr fills what is missing. pyfive 1.3.0 does so for external ones and gives None for
# virtual ones. h5py reads both.
# Seen with zarr 3.1.6, fsspec 2026.9.0, h5py 3.16.0, numpy 2.4.6, on CPython 3.11:
#     part: h5py [1, 2, 3], kerchunk [1, 2, 3], pyfive [1, 2, 3]
#     virtual: h5py [1, 2, 3], kerchunk [0, 0, 0], pyfive None
#     external: h5py [1, 2, 3], kerchunk [0, 0, 0], pyfive [0, 0, 0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    kerchunk==0.2.10 pyfive==1.3.0 zarr==3.1.6 fsspec==2026.9.0 h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import fsspec, h5py, numpy as np, pyfive, zarr
from kerchunk.hdf import SingleHdf5ToZarr

path = sys.argv[1] + "/x.h5"
with h5py.File(path, "w") as file:
    file["part"] = np.arange(1, 4)
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource(file["part"])
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("external", (3,), "i8", external=[(sys.argv[1] + "/x.raw", 0, 24)])[...] = [1, 2, 3]
references = fsspec.filesystem("reference", fo=SingleHdf5ToZarr(path).translate(), asynchronous=True)
group = zarr.open_group(zarr.storage.FsspecStore(references, read_only=True), mode="r", zarr_format=2)
with h5py.File(path) as file:
    for name in "part", "virtual", "external":
        seen = f"h5py {file[name][()].tolist()}, kerchunk {group[name][...].tolist()}"
        print(f"{name}: {seen}, pyfive {np.asarray(pyfive.File(path)[name][()]).tolist()}")
P
)
echo "$seen"
[[ $seen == "part: h5py [1, 2, 3], kerchunk [1, 2, 3], pyfive [1, 2, 3]
virtual: h5py [1, 2, 3], kerchunk [0, 0, 0], pyfive None
external: h5py [1, 2, 3], kerchunk [0, 0, 0], pyfive [0, 0, 0]" ]]
