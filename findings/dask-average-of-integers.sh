#!/usr/bin/env bash
# dask 2026.8.0 multiplies by the weights of `average` in the type of the array and the weights, and only then sums in float64: the weighted mean of
# 100 and 50 in int8 is -0.52, and that of one int32 of two thousand million is negative. NumPy 2.4.6 multiplies in the type of the result, float64;
# so does Dask's mean, which has no weights.
# Seen on CPython 3.11:
#     int8: dask -0.52, numpy 75.0, without weights 75.0
#     int32: dask -147483648.0, numpy 2000000000.0, without weights 2000000000.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import dask.array as da
import numpy as np

for values, weights, dtype in (([100, 50], [100, 100], "int8"), ([2_000_000_000], [2], "int32")):
    x, w = np.array(values, dtype), np.array(weights, dtype)
    print(f"{dtype}: dask {da.average(da.from_array(x, chunks=1), weights=w).compute()}, numpy {np.average(x, weights=w)}, "
          f"without weights {da.average(da.from_array(x, chunks=1)).compute()}")
P
)
echo "$seen"
[[ $seen == "int8: dask -0.52, numpy 75.0, without weights 75.0
int32: dask -147483648.0, numpy 2000000000.0, without weights 2000000000.0" ]]
