#!/usr/bin/env bash
# ml_dtypes 0.6.0 with NumPy 2.4.6: numpy.sort() puts NaN of float16, float32 and float64 last. Of bfloat16 and the 8-bit floats, NaN seems to count as
# equal to everything: six numbers with two NaN among them come out of sort() as they went in, argsort() is 0 to 5, and unique() keeps what is there
# twice. There is neither an error nor a warning.
# Seen on CPython 3.11:
#     float16: sort [0.5, 1.0, 2.0, 3.0, nan, nan], argsort [5, 2, 3, 0, 1, 4]
#     bfloat16: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
#     float8_e4m3fn: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
#     float8_e5m2: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
#     unique of [1, nan, 1]: float16 [1.0, nan], bfloat16 [1.0, nan, 1.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check ml_dtypes==0.6.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import ml_dtypes, numpy as np

numbers = [3, np.nan, 1, 2, np.nan, 0.5]
for kind in np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2:
    array = np.array(numbers).astype(kind)
    print(f"{array.dtype}: sort {np.sort(array).tolist()}, argsort {np.argsort(array).tolist()}")
once = [np.unique(np.array([1, np.nan, 1]).astype(kind)).tolist() for kind in (np.float16, ml_dtypes.bfloat16)]
print(f"unique of [1, nan, 1]: float16 {once[0]}, bfloat16 {once[1]}")
P
)
echo "$seen"
[[ $seen == "float16: sort [0.5, 1.0, 2.0, 3.0, nan, nan], argsort [5, 2, 3, 0, 1, 4]
bfloat16: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
float8_e4m3fn: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
float8_e5m2: sort [3.0, nan, 1.0, 2.0, nan, 0.5], argsort [0, 1, 2, 3, 4, 5]
unique of [1, nan, 1]: float16 [1.0, nan], bfloat16 [1.0, nan, 1.0]" ]]
