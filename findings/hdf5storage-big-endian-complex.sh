#!/usr/bin/env bash
# hdf5storage 0.2.2: savemat() writes big-endian complex arrays into MATLAB's files of version 7.3 as little-endian ones with their bytes as they are:
# the numbers are noise, in h5py and in hdf5storage itself. Big-endian real arrays are right.
# Seen with h5py 3.16.0 and numpy 2.4.6, on CPython 3.11:
#     <f8: h5py [1.0, 2.0], loaded [[1.0, 2.0]]
#     >f8: h5py [1.0, 2.0], loaded [[1.0, 2.0]]
#     <c16: h5py [1.0, 2.0], loaded [[(1+0j), (2+0j)]]
#     >c16: h5py [3.03865e-319, 3.16e-322], loaded [[(3.03865e-319+0j), (3.16e-322+0j)]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check hdf5storage==0.2.2 h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import h5py, hdf5storage, numpy as np

for dtype in ("<f8", ">f8", "<c16", ">c16"):
    path = f"{sys.argv[1]}/{dtype[0] == '<'}{dtype[1:]}.mat"
    hdf5storage.savemat(path, {"x": np.array([[1.0, 2.0]], dtype)}, format="7.3")
    with h5py.File(path) as file:
        x = file["x"][...]
    print(f"{dtype}: h5py {(x['real'] if x.dtype.names else x).ravel().tolist()}, loaded {hdf5storage.loadmat(path)['x'].tolist()}")
P
)
echo "$seen"
[[ $seen == "<f8: h5py [1.0, 2.0], loaded [[1.0, 2.0]]
>f8: h5py [1.0, 2.0], loaded [[1.0, 2.0]]
<c16: h5py [1.0, 2.0], loaded [[(1+0j), (2+0j)]]
>c16: h5py [3.03865e-319, 3.16e-322], loaded [[(3.03865e-319+0j), (3.16e-322+0j)]]" ]]
