#!/usr/bin/env bash
# kerchunk 0.2.10 and pyfive 1.3.0 read HDF5's integers of fewer bits than their bytes hold as if all bits were the number's: of 12 bits in 16, -5 is
# 4091, and where the bits begin at the fourth, 1 is 16. pyfive leaves the bias of a float out of account, too: 1 in a float of VAX's bias is 4. The
# N-bit filter is made for such types. The types that they tell, int16 and float32, are right, and so are non-negative numbers that begin at bit 0, so
# that much passes. h5py reads the numbers.
# Seen with zarr 3.1.6, fsspec 2026.9.0, h5py 3.16.0, numpy 2.4.6, on CPython 3.11:
#     12 bits of 16: h5py [1, -5, 2047], pyfive [1, 4091, 2047], kerchunk [1, 4091, 2047]
#     bits 4 to 15 of 16: h5py [1, -5, 2047], pyfive [16, -80, 32752], kerchunk [16, -80, 32752]
#     float32, bias 129: h5py [1.0, -5.0, 2047.0], pyfive [4.0, -20.0, 8188.0], kerchunk ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    kerchunk==0.2.10 pyfive==1.3.0 zarr==3.1.6 fsspec==2026.9.0 h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import fsspec, h5py, numpy as np, pyfive, zarr
from h5py import h5d, h5s, h5t
from kerchunk.hdf import SingleHdf5ToZarr

def by_kerchunk(path):
    references = fsspec.filesystem("reference", fo=SingleHdf5ToZarr(path).translate(), asynchronous=True)
    return zarr.open_group(zarr.storage.FsspecStore(references, read_only=True), mode="r", zarr_format=2)["x"][...]

def kind(base, bits=None, begin=0, bias=None):
    made = base.copy()
    if bits:
        made.set_precision(bits)
        made.set_offset(begin)
    if bias:
        made.set_ebias(bias)
    return made

kinds = {"12 bits of 16": kind(h5t.STD_I16LE, 12), "bits 4 to 15 of 16": kind(h5t.STD_I16LE, 12, 4),
         "float32, bias 129": kind(h5t.IEEE_F32LE, bias=129)}
for name, made in kinds.items():
    path = f"{sys.argv[1]}/{name}.h5"
    with h5py.File(path, "w") as file:
        stored = h5d.create(file.id, b"x", made, h5s.create_simple((3,)))
        stored.write(h5s.ALL, h5s.ALL, np.array([1, -5, 2047], "f4" if "float" in name else "i2"))
    seen = {"h5py": h5py.File(path)["x"][()].tolist(), "pyfive": pyfive.File(path)["x"][()].tolist()}
    try:
        seen["kerchunk"] = by_kerchunk(path).tolist()
    except ValueError:
        seen["kerchunk"] = "ValueError"
    print(f"{name}: {', '.join(f'{reader} {numbers}' for reader, numbers in seen.items())}")
P
)
echo "$seen"
[[ $seen == "12 bits of 16: h5py [1, -5, 2047], pyfive [1, 4091, 2047], kerchunk [1, 4091, 2047]
bits 4 to 15 of 16: h5py [1, -5, 2047], pyfive [16, -80, 32752], kerchunk [16, -80, 32752]
float32, bias 129: h5py [1.0, -5.0, 2047.0], pyfive [4.0, -20.0, 8188.0], kerchunk ValueError" ]]
