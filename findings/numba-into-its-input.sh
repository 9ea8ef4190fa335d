#!/usr/bin/env bash
# Numba 0.68.1: in a compiled function x[1:] = x[:-1] and x[:] = x.T give what NumPy gives, which sees that source and target overlap. x += x[::-1],
# x += x.T, x -= x[0], np.add with an out= that overlaps and np.dot into an operand read what was written before, without an error: x += x.T of a
# matrix is not symmetric, and x -= x[0] subtracts the zeros that the first row became.
# Seen with numpy 2.4.6 and scipy 1.17.1, without which Numba has no np.dot, on CPython 3.11:
#     shift: NumPy [[0, 1, 2], [0, 1, 2], [3, 4, 5]], Numba the same
#     transpose: NumPy [[0, 3, 6], [1, 4, 7], [2, 5, 8]], Numba the same
#     add_transpose: NumPy [[0, 4, 8], [4, 8, 12], [8, 12, 16]], Numba [[0, 4, 8], [7, 8, 12], [14, 19, 16]]
#     add_reversed: NumPy [[6, 8, 10], [6, 8, 10], [6, 8, 10]], Numba [[6, 8, 10], [6, 8, 10], [12, 15, 18]]
#     subtract_first: NumPy [[0, 0, 0], [3, 3, 3], [6, 6, 6]], Numba [[0, 0, 0], [3, 4, 5], [6, 7, 8]]
#     add_out: NumPy [[0, 1, 2], [3, 5, 7], [9, 11, 13]], Numba [[0, 1, 2], [3, 5, 7], [9, 12, 15]]
#     dot: NumPy [[15, 18, 21], [42, 54, 66], [69, 90, 111]], Numba [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numba==0.68.1 numpy==2.4.6 scipy==1.17.1
seen=$("$folder/env/bin/python" - <<'P'
import numba, numpy as np

def shift(x):
    x[1:] = x[:-1]

def transpose(x):
    x[:] = x.T

def add_transpose(x):
    x += x.T

def add_reversed(x):
    x += x[::-1]

def subtract_first(x):
    x -= x[0]

def add_out(x):
    np.add(x[:-1], x[1:], x[1:])

def dot(x):
    np.dot(x, x, x)

for function in shift, transpose, add_transpose, add_reversed, subtract_first, add_out, dot:
    seen = []
    for each in function, numba.njit(function):
        x = np.arange(9.0).reshape(3, 3)
        each(x)
        seen.append(x.astype(int).tolist())
    print(f"{function.__name__}: NumPy {seen[0]}, Numba {'the same' if seen[0] == seen[1] else seen[1]}")
P
)
echo "$seen"
[[ $seen == "shift: NumPy [[0, 1, 2], [0, 1, 2], [3, 4, 5]], Numba the same
transpose: NumPy [[0, 3, 6], [1, 4, 7], [2, 5, 8]], Numba the same
add_transpose: NumPy [[0, 4, 8], [4, 8, 12], [8, 12, 16]], Numba [[0, 4, 8], [7, 8, 12], [14, 19, 16]]
add_reversed: NumPy [[6, 8, 10], [6, 8, 10], [6, 8, 10]], Numba [[6, 8, 10], [6, 8, 10], [12, 15, 18]]
subtract_first: NumPy [[0, 0, 0], [3, 3, 3], [6, 6, 6]], Numba [[0, 0, 0], [3, 4, 5], [6, 7, 8]]
add_out: NumPy [[0, 1, 2], [3, 5, 7], [9, 11, 13]], Numba [[0, 1, 2], [3, 5, 7], [9, 12, 15]]
dot: NumPy [[15, 18, 21], [42, 54, 66], [69, 90, 111]], Numba [[0, 0, 0], [0, 0, 0], [0, 0, 0]]" ]]
