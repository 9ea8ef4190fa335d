#!/usr/bin/env bash
# blosc2 4.14.1: remainder(), which says that it is Python's %, and % of its arrays give Python's remainder where one element is asked for,
# and where a slice is or the whole is computed, that of C's fmod, with the sign of the dividend: (a % 3)[0] is 2 and (a % 3)[:] begins with
# -1. // rounds down in both, so that in a slice quotient and remainder do not make up the number.
# Seen on CPython 3.11:
#     //: element -3, slice [-3, 2]; %: element 2, slice [-1, 1]; remainder: element 2, slice [-1, 1]; NumPy [2, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check blosc2==4.14.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import blosc2, numpy as np

a = blosc2.asarray(np.array([-7, 7]))
for name, lazy in (("//", a // 3), ("%", a % 3), ("remainder", blosc2.remainder(a, 3))):
    print(f"{name}: element {lazy[0]}, slice {lazy[:].tolist()}; ", end="")
print(f"NumPy {(a[:] % 3).tolist()}")
P
)
echo "$seen"
[[ $seen == "//: element -3, slice [-3, 2]; %: element 2, slice [-1, 1]; remainder: element 2, slice [-1, 1]; NumPy [2, 1]" ]]
