#!/usr/bin/env bash
# h5py 3.16.0 with HDF5 2.0.0: where chunks of a dataset lie is told wrongly if exactly one axis, and not the first, may grow without a limit (an
# extensible array is its index, with libver "latest"). The second chunk of 3 x 8 x 1 numbers in chunks of 3 x 7 x 1 is told to begin at (0, 0, 1),
# outside the dataset, by get_chunk_info() and chunk_iter(); at (0, 7, 0), where it begins, get_chunk_info_by_coord() says that there is none, and
# read_direct_chunk() reads it. HDF5 1.10.8 does the same. The unlimited axis is put first in the index, and its coordinates are not put back. Who
# reads chunks by their places, as tools that make references of HDF5 files do, takes the chunk for missing and gives fill values for its numbers.
# One would expect the offset (0, 7, 0).
# Seen on CPython 3.11:
#     told [(0, 0, 0), (0, 0, 1)]; at (0, 7, 0): place None, first number 7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check h5py==3.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder/a.h5" <<'P'
import sys
import h5py, numpy as np

with h5py.File(sys.argv[1], "w", libver="latest") as file:
    file.create_dataset("t", data=np.arange(24, dtype="<u2").reshape(3, 8, 1), chunks=(3, 7, 1), maxshape=(8, 13, None))
with h5py.File(sys.argv[1]) as file:
    chunks = file["t"].id
    told = [chunks.get_chunk_info(i).chunk_offset for i in range(chunks.get_num_chunks())]
    place = chunks.get_chunk_info_by_coord((0, 7, 0)).byte_offset
    number = np.frombuffer(chunks.read_direct_chunk((0, 7, 0))[1], "<u2")[0]
print(f"told {told}; at (0, 7, 0): place {place}, first number {number}")
P
)
echo "$seen"
[[ $seen == "told [(0, 0, 0), (0, 0, 1)]; at (0, 7, 0): place None, first number 7" ]]
