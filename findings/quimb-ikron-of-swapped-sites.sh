#!/usr/bin/env bash
# quimb 1.16.0: ikron() with a list of operators puts each on the site named for it, and with one operator of two sites it sorts the sites: XZ on [1,
# 0] is XZ on [0, 1], without an error. pkron() and Circuit.local_expectation() of the same operator and sites obey the order. So a CNOT with control
# 1 and target 0 is one with control 0, if ikron embeds it.
# Seen with numpy 2.4.6, on CPython 3.11:
#     ikron of a list: X on 1, Z on 0
#     ikron of a product: X on 0, Z on 1
#     pkron of a product: X on 1, Z on 0
#     local_expectation: X on 1, Z on 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check quimb==1.16.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
from functools import reduce

import numpy as np, quimb, quimb.tensor

eye, x, z = np.eye(2), np.array([[0, 1], [1, 0]]), np.diag([1, -1])
wanted, other = reduce(np.kron, [z, x, eye]), reduce(np.kron, [x, z, eye])

def which(matrix):
    return "X on 1, Z on 0" if np.allclose(matrix, wanted) else "X on 0, Z on 1" if np.allclose(matrix, other) else "neither"

sites = [1, 0]
print(f"ikron of a list: {which(quimb.ikron([x, z], [2, 2, 2], sites))}")
print(f"ikron of a product: {which(quimb.ikron(np.kron(x, z), [2, 2, 2], sites))}")
print(f"pkron of a product: {which(quimb.pkron(np.kron(x, z), [2, 2, 2], sites))}")
state = quimb.rand_ket(8, seed=1)
inside = quimb.tensor.Circuit(3, psi0=quimb.tensor.Dense1D(np.asarray(state).ravel())).local_expectation(np.kron(x, z), sites)
print("local_expectation: X on 1, Z on 0" if np.allclose(inside, quimb.expec(wanted, state)) else "local_expectation: another")
P
)
echo "$seen"
[[ $seen == "ikron of a list: X on 1, Z on 0
ikron of a product: X on 0, Z on 1
pkron of a product: X on 1, Z on 0
local_expectation: X on 1, Z on 0" ]]
