#!/usr/bin/env bash
# galois 0.4.11: arrays of a finite field go through np.dot, np.inner, np.matmul, np.kron with the field's arithmetic, and through np.einsum,
# np.tensordot, np.matvec and np.vecdot with the integers': the product of two matrices over GF(7) is a plain ndarray with 39 in it. Functions
# that galois does not support raise NotImplementedError, as np.cross does; these do not. Over GF(2^8), whose sums are no sums modulo
# anything, nothing tells that the numbers are wrong.
# Seen on CPython 3.11:
#     GF(7): dot [[4, 0], [0, 4]], einsum ndarray [[39, 35], [42, 46]], tensordot ndarray [[39, 35], [42, 46]]
#     GF(2^8): np.dot 0, np.vecdot 14; np.cross NotImplementedError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check galois==0.4.11 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import galois, numpy as np

a = galois.GF(7)([[3, 5], [6, 4]])
e, t = np.einsum("ij,jk->ik", a, a), np.tensordot(a, a, 1)
print(f"GF(7): dot {np.dot(a, a).tolist()}, einsum {type(e).__name__} {e.tolist()}, tensordot {type(t).__name__} {t.tolist()}")
v = galois.GF(2**8)([1, 2, 3])
try:
    raised = np.cross(v, v)
except NotImplementedError:
    raised = "NotImplementedError"
print(f"GF(2^8): np.dot {np.dot(v, v)}, np.vecdot {np.vecdot(v, v)}; np.cross {raised}")
P
)
echo "$seen"
[[ $seen == "GF(7): dot [[4, 0], [0, 4]], einsum ndarray [[39, 35], [42, 46]], tensordot ndarray [[39, 35], [42, 46]]
GF(2^8): np.dot 0, np.vecdot 14; np.cross NotImplementedError" ]]
