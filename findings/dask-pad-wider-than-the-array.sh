#!/usr/bin/env bash
# Dask 2026.8.0: pad() of a width beyond the array's extent gives an array of another shape than asked for, in the modes symmetric, reflect
# and wrap: its margins end where the array does, and no error says so. NumPy goes on from one reflection to the next. For reflect a width of
# the extent itself is too much.
# Seen on CPython 3.11:
#     symmetric by 4 of 3: dask (7,), NumPy (11,)
#     reflect by 3 of 3: dask (5,), NumPy (9,)
#     wrap by 4 of 3: dask (7,), NumPy (11,)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import dask.array as da, numpy as np

for mode, width in (("symmetric", 4), ("reflect", 3), ("wrap", 4)):
    padded = da.pad(da.arange(3), width, mode=mode).compute()
    print(f"{mode} by {width} of 3: dask {padded.shape}, NumPy {np.pad(np.arange(3), width, mode=mode).shape}")
P
)
echo "$seen"
[[ $seen == "symmetric by 4 of 3: dask (7,), NumPy (11,)
reflect by 3 of 3: dask (5,), NumPy (9,)
wrap by 4 of 3: dask (7,), NumPy (11,)" ]]
