#!/usr/bin/env bash
# NumPy 2.4.6 assigns an array to itself, reversed or transposed, as if it were copied first: x[...] = x[::-1] is right, and so is x[index] = x[::-1]
# with an array of indices. With a mask, x[mask] = x[::-1], and through an iterator, x.flat = x.T, elements are overwritten before they are read, at
# all sizes and without an error; numpy.place and copyto with the same mask are right.
# Seen on CPython 3.11:
#     x[...] = x[::-1]: [5, 4, 3, 2, 1, 0]
#     x[index] = x[::-1]: [5, 4, 3, 2, 1, 0]
#     x[mask] = x[::-1]: [5, 4, 3, 3, 4, 5]
#     np.place: [5, 4, 3, 2, 1, 0], np.copyto: [5, 4, 3, 2, 1, 0]
#     x[...] = x.T: [0, 3, 6, 1, 4, 7, 2, 5, 8]
#     x.flat = x.T: [0, 3, 6, 3, 4, 7, 6, 7, 8]
#     x.flat[:] = x.T: [0, 3, 6, 3, 4, 7, 6, 7, 8]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np

def after(assign, shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    assign(x)
    return x.ravel().tolist()

everywhere, places = np.ones(6, bool), np.arange(6)
print(f"x[...] = x[::-1]: {after(lambda x: x.__setitem__(..., x[::-1]), 6)}")
print(f"x[index] = x[::-1]: {after(lambda x: x.__setitem__(places, x[::-1]), 6)}")
print(f"x[mask] = x[::-1]: {after(lambda x: x.__setitem__(everywhere, x[::-1]), 6)}")
print(f"np.place: {after(lambda x: np.place(x, everywhere, x[::-1]), 6)}, np.copyto: {after(lambda x: np.copyto(x, x[::-1], where=everywhere), 6)}")
print(f"x[...] = x.T: {after(lambda x: x.__setitem__(..., x.T), (3, 3))}")
print(f"x.flat = x.T: {after(lambda x: setattr(x, 'flat', x.T), (3, 3))}")
print(f"x.flat[:] = x.T: {after(lambda x: x.flat.__setitem__(slice(None), x.T), (3, 3))}")
P
)
echo "$seen"
[[ $seen == "x[...] = x[::-1]: [5, 4, 3, 2, 1, 0]
x[index] = x[::-1]: [5, 4, 3, 2, 1, 0]
x[mask] = x[::-1]: [5, 4, 3, 3, 4, 5]
np.place: [5, 4, 3, 2, 1, 0], np.copyto: [5, 4, 3, 2, 1, 0]
x[...] = x.T: [0, 3, 6, 1, 4, 7, 2, 5, 8]
x.flat = x.T: [0, 3, 6, 3, 4, 7, 6, 7, 8]
x.flat[:] = x.T: [0, 3, 6, 3, 4, 7, 6, 7, 8]" ]]
