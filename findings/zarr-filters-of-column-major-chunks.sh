#!/usr/bin/env bash
# zarr 3.1.6: the filters Delta and FixedScaleOffset of zarr.codecs.numcodecs encode a chunk in the order of the memory that it was given in, and
# decode it in rows. A column-major array written into one chunk comes back permuted, and so does a row-major one if the filter comes after
# zarr's own transpose codec; a big-endian array comes back with its bytes reversed. Without the filter all come back, and in zarr's format 2, with
# the same filters of numcodecs, they do, too.
# Seen with numcodecs 0.16.6, numpy 2.4.6, on CPython 3.11, of [[0, 1, 2], [3, 4, 5]]:
#     format 3, Delta: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 3, 1], [4, 2, 5]], big-endian [[0, 16777216, 33554432], [50331648, 67108864, 83886080]]
#     format 3, transpose and Delta: rows [[0, 2, 4], [1, 3, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 33554432, 67108864], [16777216, 50331648, 83886080]]
#     format 3, no filter: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 1, 2], [3, 4, 5]]
#     format 2, Delta: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 1, 2], [3, 4, 5]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check zarr==3.1.6 numcodecs==0.16.6 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import numcodecs, numpy as np, zarr
from zarr.codecs import TransposeCodec
from zarr.codecs.numcodecs import Delta

rows = np.arange(6, dtype="int32").reshape(2, 3)
delta, transpose = Delta(dtype="<i4"), TransposeCodec(order=(1, 0))
written = {"rows": rows, "columns": np.asfortranarray(rows), "big-endian": rows.astype(">i4")}
for name, version, filters in (("Delta", 3, [delta]), ("transpose and Delta", 3, [transpose, delta]), ("no filter", 3, None),
                               ("Delta", 2, [numcodecs.Delta("<i4")])):
    seen = []
    for kind, array in written.items():
        store = zarr.storage.MemoryStore()
        zarr.create_array(store, shape=(2, 3), chunks=(2, 3), dtype=array.dtype, zarr_format=version, filters=filters or ())[...] = array
        seen.append(f"{kind} {zarr.open_array(store)[...].tolist()}")
    print(f"format {version}, {name}: {', '.join(seen)}")
P
)
echo "$seen"
[[ $seen == "format 3, Delta: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 3, 1], [4, 2, 5]], big-endian [[0, 16777216, 33554432], [50331648, 67108864, 83886080]]
format 3, transpose and Delta: rows [[0, 2, 4], [1, 3, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 33554432, 67108864], [16777216, 50331648, 83886080]]
format 3, no filter: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 1, 2], [3, 4, 5]]
format 2, Delta: rows [[0, 1, 2], [3, 4, 5]], columns [[0, 1, 2], [3, 4, 5]], big-endian [[0, 1, 2], [3, 4, 5]]" ]]
