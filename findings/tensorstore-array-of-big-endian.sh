#!/usr/bin/env bash
# tensorstore 0.1.86: array() of a NumPy array takes big-endian numbers for little-endian ones, while write() of the same array converts it, into a
# store in memory or in zarr, and so does indexed assignment. A comparison of the two, or a copy of a wrapped array into a store, writes numbers with
# their bytes reversed, and no error says so.
# Seen with numpy 2.4.6, on CPython 3.11:
#     array() int32 [[16777216, 33554432], [50331648, 67108864]]
#     write() of the array [[1, 2], [3, 4]]
#     write() of array() [[16777216, 33554432], [50331648, 67108864]]
#     assignment [[1, 2], [3, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensorstore==0.1.86 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, tensorstore as ts

x = np.array([[1, 2], [3, 4]], ">i4")
wrapped = ts.array(x)
print(f"array() {wrapped.dtype.name} {wrapped.read().result().tolist()}")
store = ts.open({"driver": "zarr3", "kvstore": {"driver": "memory"}}, create=True, dtype=ts.int32, shape=x.shape).result()
for name, source in ("write() of the array", x), ("write() of array()", wrapped):
    store.write(source).result()
    print(f"{name} {store.read().result().tolist()}")
store[...] = x
print(f"assignment {store.read().result().tolist()}")
P
)
echo "$seen"
[[ $seen == "array() int32 [[16777216, 33554432], [50331648, 67108864]]
write() of the array [[1, 2], [3, 4]]
write() of array() [[16777216, 33554432], [50331648, 67108864]]
assignment [[1, 2], [3, 4]]" ]]
