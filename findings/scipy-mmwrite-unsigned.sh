#!/usr/bin/env bash
# SciPy 1.17.1: scipy.io.mmwrite() takes a matrix of uint8 or uint16 for skew-symmetric if what mirrors one another adds up to 256 or 65536, and
# writes one half of it: it looks for a == -a.T in the type itself. Read again, the other half is negative. The diagonal is to be zero. So it is with the
# sparse matrices of the same numbers.
# Seen with numpy 2.4.6, on CPython 3.11:
#     ndarray uint8 [[0, 56], [200, 0]]: skew-symmetric, read [[0, -200], [200, 0]]
#     coo_array uint8 [[0, 56], [200, 0]]: skew-symmetric, read [[0, -200], [200, 0]]
#     ndarray uint16 [[0, 56], [200, 0]]: general, read [[0, 56], [200, 0]]
#     ndarray uint16 [[0, 1], [65535, 0]]: skew-symmetric, read [[0, -65535], [65535, 0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import io, warnings

import numpy as np
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array, issparse

warnings.simplefilter("error")
image = np.array([[0, 56], [200, 0]])
for a in (image.astype(np.uint8), coo_array(image.astype(np.uint8)), image.astype(np.uint16), np.array([[0, 1], [65535, 0]], np.uint16)):
    file = io.BytesIO()
    mmwrite(file, a)
    kind = file.getvalue().split(b"\n")[0].split()[-1].decode()
    file.seek(0)
    written, read = (x.toarray() if issparse(x) else x for x in (a, mmread(file)))
    print(f"{type(a).__name__} {a.dtype} {written.tolist()}: {kind}, read {read.tolist()}")
P
)
echo "$seen"
[[ $seen == "ndarray uint8 [[0, 56], [200, 0]]: skew-symmetric, read [[0, -200], [200, 0]]
coo_array uint8 [[0, 56], [200, 0]]: skew-symmetric, read [[0, -200], [200, 0]]
ndarray uint16 [[0, 56], [200, 0]]: general, read [[0, 56], [200, 0]]
ndarray uint16 [[0, 1], [65535, 0]]: skew-symmetric, read [[0, -65535], [65535, 0]]" ]]
