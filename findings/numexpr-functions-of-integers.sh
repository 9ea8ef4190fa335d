#!/usr/bin/env bash
# NumExpr 2.14.2 takes abs() of integers in float64: 2^53 + 1 becomes 2^53, and a float. Its sum() of int32 wraps, where NumPy's has 64 bits, and its
# min() and max() leave NaN out, where NumPy's give it.
# Seen on CPython 3.11:
#     abs: numexpr np.float64(9007199254740992.0), numpy np.int64(9007199254740993)
#     sum: numexpr array(2147483645, dtype=int32), numpy np.int64(6442450941)
#     min and max: numexpr 1.0 2.0, numpy nan nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numexpr==2.14.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import numexpr as ne
import numpy as np

x, y, z = np.array([-(2**53 + 1)]), np.full(3, 2**31 - 1, "i4"), np.array([1.0, np.nan, 2.0])
print(f"abs: numexpr {ne.evaluate('abs(x)')[0]!r}, numpy {np.abs(x)[0]!r}")
print(f"sum: numexpr {ne.evaluate('sum(y)')!r}, numpy {np.sum(y)!r}")
print(f"min and max: numexpr {ne.evaluate('min(z)')} {ne.evaluate('max(z)')}, numpy {np.min(z)} {np.max(z)}")
P
)
echo "$seen"
[[ $seen == "abs: numexpr np.float64(9007199254740992.0), numpy np.int64(9007199254740993)
sum: numexpr array(2147483645, dtype=int32), numpy np.int64(6442450941)
min and max: numexpr 1.0 2.0, numpy nan nan" ]]
