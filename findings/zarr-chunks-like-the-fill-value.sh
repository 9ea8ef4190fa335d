#!/usr/bin/env bash
# zarr 3.1.6 does not store a chunk that equals the fill value. For floats it compares zeros by their bits, so that -0.0 is kept; for complex
# numbers by value, so that the signs of zeros are lost, and with them the side of a branch cut. A chunk of NaN under a fill value of NaN is
# dropped whatever the NaN: the payloads by which R and others mark missing values (R's NA is NaN with 1954) are gone. tensorstore 0.1.86
# stores all three chunks.
# Seen on CPython 3.11:
#     float64 -0.0: zarr kept, tensorstore kept
#     complex128 0-0j: zarr lost, tensorstore kept
#     float64 NA of R: zarr lost, tensorstore kept
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check zarr==3.1.6 numpy==2.4.6 tensorstore==0.1.86
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numpy as np, tensorstore, zarr

chunks = (("float64 -0.0", np.full(4, -0.0), 0.0),
          ("complex128 0-0j", np.full(4, complex(0.0, -0.0)), 0.0),
          ("float64 NA of R", np.full(4, 0x7FF00000000007A2 | 1 << 51, np.uint64).view(np.float64), np.nan))
for index, (name, chunk, fill) in enumerate(chunks):
    seen, dtype = [], chunk.dtype
    array = zarr.create_array(f"{sys.argv[1]}/zarr{index}", shape=(4,), chunks=(4,), dtype=dtype, fill_value=dtype.type(fill))
    array[:] = chunk
    seen.append(zarr.open_array(f"{sys.argv[1]}/zarr{index}")[:])
    kvstore = {"driver": "file", "path": f"{sys.argv[1]}/tensorstore{index}"}
    store = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, create=True, dtype=dtype.name, shape=[4],
                             fill_value=np.array(fill, dtype)).result()
    store.write(chunk).result()
    seen.append(store.read().result())
    kept = ["kept" if read.tobytes() == chunk.tobytes() else "lost" for read in seen]
    print(f"{name}: zarr {kept[0]}, tensorstore {kept[1]}")
P
)
echo "$seen"
[[ $seen == "float64 -0.0: zarr kept, tensorstore kept
complex128 0-0j: zarr lost, tensorstore kept
float64 NA of R: zarr lost, tensorstore kept" ]]
