#!/usr/bin/env bash
# NumPy 2.4.6 with ml_dtypes 0.6.0: np.isnan, np.nanmax and np.nanmin know the NaN of bfloat16 and of the 8-bit floats; np.nansum, np.nanmean and
# np.nanvar count it in, and np.nan_to_num leaves it and infinity, without a word: they ask first whether the type is one of NumPy's own floats. For
# the same reason np.mean takes no wider sum: the mean of 1000 ones is 1 in float16 and 0.256 in bfloat16, and that of 15 and 15 is 15 in uint8 and 7
# in uint4, whose sum wraps. ml_dtypes was told of nan_to_num (issue 346) and sees it as NumPy's.
# Seen on CPython 3.11:
#     float16: nanmax 2.0, nansum 3.0, nanmean 1.5, nan_to_num [1.0, 0.0, 2.0], mean of 1000 ones 1.0
#     bfloat16: nanmax 2.0, nansum nan, nanmean nan, nan_to_num [1.0, nan, 2.0], mean of 1000 ones 0.255859375
#     float8_e4m3fn: nanmax 2.0, nansum nan, nanmean nan, nan_to_num [1.0, nan, 2.0], mean of 1000 ones 0.015625
#     mean of 15 and 15: uint8 15.0 uint4 7
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check ml_dtypes==0.6.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import ml_dtypes, numpy as np

for dtype in np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn:
    a = np.array([1, np.nan, 2], dtype)
    print(f"{a.dtype}: nanmax {np.nanmax(a)}, nansum {np.nansum(a)}, nanmean {np.nanmean(a)}, nan_to_num {np.nan_to_num(a).tolist()}, "
          f"mean of 1000 ones {float(np.ones(1000, dtype).mean())}")
print("mean of 15 and 15:", *(f"{a.dtype} {a.mean()}" for a in (np.full(2, 15, np.uint8), np.full(2, 15).astype(ml_dtypes.uint4))))
P
)
echo "$seen"
[[ $seen == "float16: nanmax 2.0, nansum 3.0, nanmean 1.5, nan_to_num [1.0, 0.0, 2.0], mean of 1000 ones 1.0
bfloat16: nanmax 2.0, nansum nan, nanmean nan, nan_to_num [1.0, nan, 2.0], mean of 1000 ones 0.255859375
float8_e4m3fn: nanmax 2.0, nansum nan, nanmean nan, nan_to_num [1.0, nan, 2.0], mean of 1000 ones 0.015625
mean of 15 and 15: uint8 15.0 uint4 7" ]]
