#!/usr/bin/env bash
# PyTorch 2.15.0 refuses to shift the rows of a matrix in place, x[1:] = x[:-1], and to subtract its first row from all: the written and the read
# elements overlap. Of columns it does both, wrongly: a view that has gaps in memory is not checked. So torch.cat([...], out=x) of x's own parts
# raises along the rows and loses elements along the columns, and torch.mm and torch.tril write into an operand. NumPy 2.4.6 has what is meant in each
# case.
# Seen on CPython 3.11:
#     shift: rows RuntimeError; columns [[0, 0, 0], [3, 3, 3], [6, 6, 6]], NumPy [[0, 0, 1], [3, 3, 4], [6, 6, 7]]
#     subtract the first: rows RuntimeError; columns [[0, 1, 2], [0, 4, 5], [0, 7, 8]], NumPy [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
#     cat: rows RuntimeError; columns [[1, 2, 1], [4, 5, 4], [7, 8, 7]]
#     mm with the identity: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]; tril of the transpose: [[0, 1, 2], [0, 4, 5], [0, 0, 8]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, torch

def after(change):
    x = torch.arange(9.0).reshape(3, 3)
    try:
        change(x)
        return [[int(each) for each in row] for row in x.tolist()]
    except RuntimeError as error:
        assert "single memory location" in str(error)
        return "RuntimeError"

def numpy_after(change):
    x = np.arange(9.0).reshape(3, 3)
    change(x)
    return x.astype(int).tolist()

for name, rows, columns in (
    ("shift", lambda x: x.__setitem__(slice(1, None), x[:-1]), lambda x: x.__setitem__((slice(None), slice(1, None)), x[:, :-1])),
    ("subtract the first", lambda x: x.__isub__(x[:1]), lambda x: x.__isub__(x[:, :1])),
):
    print(f"{name}: rows {after(rows)}; columns {after(columns)}, NumPy {numpy_after(columns)}")
print(f"cat: rows {after(lambda x: torch.cat([x[1:], x[:1]], 0, out=x))}; columns {after(lambda x: torch.cat([x[:, 1:], x[:, :1]], 1, out=x))}")
eye = torch.eye(3)
print(f"mm with the identity: {after(lambda x: torch.mm(x, eye, out=x))}; tril of the transpose: {after(lambda x: torch.tril(x.T, out=x))}")
P
)
echo "$seen"
[[ $seen == "shift: rows RuntimeError; columns [[0, 0, 0], [3, 3, 3], [6, 6, 6]], NumPy [[0, 0, 1], [3, 3, 4], [6, 6, 7]]
subtract the first: rows RuntimeError; columns [[0, 1, 2], [0, 4, 5], [0, 7, 8]], NumPy [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
cat: rows RuntimeError; columns [[1, 2, 1], [4, 5, 4], [7, 8, 7]]
mm with the identity: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]; tril of the transpose: [[0, 1, 2], [0, 4, 5], [0, 0, 8]]" ]]
