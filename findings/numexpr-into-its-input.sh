#!/usr/bin/env bash
# NumExpr 2.14.2: evaluate() whose out= overlaps its input reads what it has already written, without an error. A square array written over itself
# transposed is right if it is small enough for one block of NumExpr's, and wrong beyond, so that tests with small arrays pass; one written a place further
# on is wrong from the third number on. NumPy's ufuncs copy what overlaps, and are right.
# Seen with numpy 2.4.6, one thread, on CPython 3.11:
#     30 x 30 transposed: NumExpr right True, NumPy right True
#     60 x 60 transposed: NumExpr right False, NumPy right True
#     a[1:] = 2 * a[:-1] of ones: NumExpr [1, 2, 4, 8, 16, 32], NumPy [1, 2, 2, 2, 2, 2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numexpr==2.14.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numexpr, numpy as np

def by_numexpr(array, out):
    numexpr.evaluate("2 * a", {"a": array}, out=out)

def by_numpy(array, out):
    np.multiply(2, array, out=out)

numexpr.set_num_threads(1)
for side in 30, 60:
    seen = []
    for name, double in (("NumExpr", by_numexpr), ("NumPy", by_numpy)):
        square = np.arange(side * side, dtype=float).reshape(side, side)
        expected = 2 * square.T
        double(square.T, square)
        seen.append(f"{name} right {np.array_equal(square, expected)}")
    print(f"{side} x {side} transposed: {', '.join(seen)}")
seen = []
for name, double in (("NumExpr", by_numexpr), ("NumPy", by_numpy)):
    line = np.ones(6, int)
    double(line[:-1], line[1:])
    seen.append(f"{name} {line.tolist()}")
print(f"a[1:] = 2 * a[:-1] of ones: {', '.join(seen)}")
P
)
echo "$seen"
[[ $seen == "30 x 30 transposed: NumExpr right True, NumPy right True
60 x 60 transposed: NumExpr right False, NumPy right True
a[1:] = 2 * a[:-1] of ones: NumExpr [1, 2, 4, 8, 16, 32], NumPy [1, 2, 2, 2, 2, 2]" ]]
