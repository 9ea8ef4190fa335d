#!/usr/bin/env bash
# Bottleneck 1.6.0 adds in the type of the array: the mean of 2**25 ones in float32 is 0.5 and their variance 0.125, since the sum stops at 2**24.
# NumPy's mean is 1 and its variance 0; the mean that Numba compiles is 0.5, too. The median of two equal numbers in int32 is -1 in Bottleneck,
# whose nanmean is right, for it adds integers in float64; nansum of int32 wraps, which NumPy's does not.
# Seen with numpy 2.4.6 and numba 0.68.1, on CPython 3.11:
#     float32: nanmean 0.5, nanvar 0.125; NumPy 1.0, 0.0; Numba's mean 0.5
#     int32 [2147483647, 2147483647]: median -1.0, nanmedian -1.0, nanmean 2147483647.0, nansum -2; NumPy's median 2147483647.0, nansum 4294967294
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check bottleneck==1.6.0 numba==0.68.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import bottleneck as bn, numba, numpy as np

ones = np.ones(2**25, np.float32)
print(f"float32: nanmean {bn.nanmean(ones)}, nanvar {bn.nanvar(ones)}; NumPy {np.nanmean(ones)}, {np.nanvar(ones)}; "
      f"Numba's mean {numba.njit(lambda x: x.mean())(ones)}")
x = np.full(2, 2**31 - 1, np.int32)
print(f"int32 {x.tolist()}: median {bn.median(x)}, nanmedian {bn.nanmedian(x)}, nanmean {bn.nanmean(x)}, nansum {bn.nansum(x)}; "
      f"NumPy's median {np.median(x)}, nansum {np.nansum(x)}")
P
)
echo "$seen"
[[ $seen == "float32: nanmean 0.5, nanvar 0.125; NumPy 1.0, 0.0; Numba's mean 0.5
int32 [2147483647, 2147483647]: median -1.0, nanmedian -1.0, nanmean 2147483647.0, nansum -2; NumPy's median 2147483647.0, nansum 4294967294" ]]
