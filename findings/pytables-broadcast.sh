#!/usr/bin/env bash
# PyTables 3.11.1: an array that numpy.broadcast_to() made of one element is written by CArray and EArray as what lies after that element in memory,
# and by Array as zeros; nothing is said. Broadcasts whose last axis has a stride, and reversed arrays, are right, and so is h5py 3.16.0.
# Seen with numpy 2.4.6, on CPython 3.11:
#     element [1.0, 1.0, 1.0, 1.0]: array [0.0, 0.0, 0.0, 0.0], carray [1.0, 2.0, 3.0, 4.0], earray [1.0, 2.0, 3.0, 4.0], h5py [1.0, 1.0, 1.0, 1.0]
#     row [[1.0, 2.0], [1.0, 2.0]]: array [[1.0, 2.0], [1.0, 2.0]], carray [[1.0, 2.0], [1.0, 2.0]], earray [[1.0, 2.0], [1.0, 2.0]], h5py [[1.0, 2.0], [1.0, 2.0]]
#     reversed [2.0, 1.0]: array [2.0, 1.0], carray [2.0, 1.0], earray [2.0, 1.0], h5py [2.0, 1.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tables==3.11.1 h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys, warnings

import h5py, numpy as np, tables

warnings.simplefilter("error")
memory = np.array([[1.0, 2.0], [3.0, 4.0]])
for name, x in (("element", np.broadcast_to(memory.ravel()[:1], (4,))), ("row", np.broadcast_to(memory[0], (2, 2))), ("reversed", memory[0, ::-1])):
    path = f"{sys.argv[1]}/{name}.h5"
    with tables.open_file(path, "w") as file:
        for kind in ("array", "carray", "earray"):
            getattr(file, f"create_{kind}")("/", kind, obj=x)
    with h5py.File(path, "a") as file:
        file["h5py"] = x
        print(f"{name} {x.tolist()}: {', '.join(f'{kind} {data[...].tolist()}' for kind, data in file.items())}")
P
)
echo "$seen"
[[ $seen == "element [1.0, 1.0, 1.0, 1.0]: array [0.0, 0.0, 0.0, 0.0], carray [1.0, 2.0, 3.0, 4.0], earray [1.0, 2.0, 3.0, 4.0], h5py [1.0, 1.0, 1.0, 1.0]
row [[1.0, 2.0], [1.0, 2.0]]: array [[1.0, 2.0], [1.0, 2.0]], carray [[1.0, 2.0], [1.0, 2.0]], earray [[1.0, 2.0], [1.0, 2.0]], h5py [[1.0, 2.0], [1.0, 2.0]]
reversed [2.0, 1.0]: array [2.0, 1.0], carray [2.0, 1.0], earray [2.0, 1.0], h5py [2.0, 1.0]" ]]
