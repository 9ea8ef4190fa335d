#!/usr/bin/env bash
# Numba 0.68.1: np.median in a compiled function takes NaN for a number where NumPy gives NaN: of NaN, 2 and 1 it is 2, as the order of the elements
# has it, while max, min, sum and argmax compiled are NumPy's. Of uint64 the two middle numbers are added and wrap: the median of 2^63 and 2^63 is 0.
# Seen with numpy 2.4.6, on CPython 3.11:
#     [nan, 2.0, 1.0]: median 2.0, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
#     [2.0, nan, 1.0]: median nan, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
#     [2.0, 1.0, nan]: median 2.0, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
#     uint64 [9223372036854775808, 9223372036854775808]: median 0.0, NumPy's 9.223372036854776e+18
#     int64 [9223372036854775807, 9223372036854775807]: median -1.0, NumPy's 9.223372036854776e+18
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numba==0.68.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numba, numpy as np

functions = {"median": lambda x: np.median(x), "max": lambda x: np.max(x), "sum": lambda x: np.sum(x)}
compiled = {name: numba.njit(function) for name, function in functions.items()}
for numbers in [np.nan, 2.0, 1.0], [2.0, np.nan, 1.0], [2.0, 1.0, np.nan]:
    x = np.array(numbers)
    print(f"{numbers}:", ", ".join(f"{name} {compiled[name](x)}, NumPy's {functions[name](x)}" for name in functions))
for x in np.array([2**63, 2**63], np.uint64), np.array([2**63 - 1, 2**63 - 1]):
    print(f"{x.dtype} {x.tolist()}: median {compiled['median'](x)}, NumPy's {np.median(x)}")
P
)
echo "$seen"
[[ $seen == "[nan, 2.0, 1.0]: median 2.0, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
[2.0, nan, 1.0]: median nan, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
[2.0, 1.0, nan]: median 2.0, NumPy's nan, max nan, NumPy's nan, sum nan, NumPy's nan
uint64 [9223372036854775808, 9223372036854775808]: median 0.0, NumPy's 9.223372036854776e+18
int64 [9223372036854775807, 9223372036854775807]: median -1.0, NumPy's 9.223372036854776e+18" ]]
