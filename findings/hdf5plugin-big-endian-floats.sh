#!/usr/bin/env bash
# The filters for floats of hdf5plugin 7.1.0, SZ3, Zfp and Sperr, take the bytes of big-endian datasets for little-endian numbers, and the bound of
# the error holds for those: 1.0 to 4.0 are subnormal numbers so read, and become 0, by Sperr 36. Without a loss, as Zfp has it, the order of bytes is
# of no account.
# Seen on CPython 3.11:
#     SZ3 <f8: True, the first 1.0
#     SZ3 >f8: False, the first 0.0
#     Zfp <f8: True, the first 1.0
#     Zfp >f8: False, the first 0.0
#     Zfp without a loss <f8: True, the first 1.0
#     Zfp without a loss >f8: True, the first 1.0
#     Sperr <f8: True, the first 1.0
#     Sperr >f8: False, the first 36.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check hdf5plugin==7.1.0 h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import h5py, hdf5plugin
import numpy as np

filters = {"SZ3": hdf5plugin.SZ3(absolute=1e-6), "Zfp": hdf5plugin.Zfp(accuracy=1e-6), "Zfp without a loss": hdf5plugin.Zfp(reversible=True),
           "Sperr": hdf5plugin.Sperr(absolute=1e-6)}
for name, options in filters.items():
    for dtype in ("<f8", ">f8"):
        x = np.tile(np.arange(1.0, 5.0), (8, 16)).astype(dtype)
        with h5py.File(f"{sys.argv[1]}/a.h5", "w") as file:
            file.create_dataset("x", data=x, chunks=(8, 64), compression=options)
        with h5py.File(f"{sys.argv[1]}/a.h5") as file:
            print(f"{name} {dtype}: {np.abs(file['x'][...] - x).max() < 1e-5}, the first {np.round(file['x'][0, 0], 3)}")
P
)
echo "$seen"
[[ $seen == "SZ3 <f8: True, the first 1.0
SZ3 >f8: False, the first 0.0
Zfp <f8: True, the first 1.0
Zfp >f8: False, the first 0.0
Zfp without a loss <f8: True, the first 1.0
Zfp without a loss >f8: True, the first 1.0
Sperr <f8: True, the first 1.0
Sperr >f8: False, the first 36.0" ]]
