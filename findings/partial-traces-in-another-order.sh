#!/usr/bin/env bash
# Asked to keep the qubits [2, 0] of three in this order, density_matrix_from_state_vector and partial_trace of Cirq 1.7.0 and Circuit.partial_trace
# of quimb 1.16.0 keep them so, and ptrace of QuTiP 5.3.1, quimb's own partial_trace and Cirq's sub_state_vector, for a state that is a product, sort
# them first: rows and columns are in the order of [0, 2], without a word. QuTiP's documentation tells. The trace, the purity and the entropy are the
# same in either. Printed are the probabilities of 00, 01, 10 and 11.
# Seen with numpy 2.4.6, scipy 1.17.1, on CPython 3.11:
#     as asked: [0.27, 0.03, 0.63, 0.07]
#     Cirq, density_matrix_from_state_vector: [0.27, 0.03, 0.63, 0.07]
#     Cirq, partial_trace: [0.27, 0.03, 0.63, 0.07]
#     Cirq, sub_state_vector: [0.27, 0.63, 0.03, 0.07]
#     quimb, Circuit.partial_trace: [0.27, 0.03, 0.63, 0.07]
#     quimb, partial_trace: [0.27, 0.63, 0.03, 0.07]
#     QuTiP, ptrace: [0.27, 0.63, 0.03, 0.07]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check qutip==5.3.1 quimb==1.16.0 cirq-core==1.7.0 numpy==2.4.6 scipy==1.17.1
seen=$("$folder/env/bin/python" -W ignore - <<'P'
from functools import reduce

import cirq, numpy as np, quimb, quimb.tensor, qutip

qubits = np.sqrt([[0.9, 0.1], [0.5, 0.5], [0.3, 0.7]]).astype(complex)
state, keep = reduce(np.kron, qubits), [2, 0]
outer = np.outer(state, state.conj())

loaded = quimb.tensor.Circuit(3, psi0=quimb.tensor.Dense1D(state))
sub = cirq.sub_state_vector(state, keep_indices=keep)
seen = {
    "as asked": np.kron(np.outer(qubits[2], qubits[2]), np.outer(qubits[0], qubits[0])),
    "Cirq, density_matrix_from_state_vector": cirq.density_matrix_from_state_vector(state, keep),
    "Cirq, partial_trace": cirq.partial_trace(outer.reshape([2] * 6), keep).reshape(4, 4),
    "Cirq, sub_state_vector": np.outer(sub, sub.conj()),
    "quimb, Circuit.partial_trace": loaded.partial_trace(keep),
    "quimb, partial_trace": quimb.partial_trace(quimb.qarray(outer), [2, 2, 2], keep),
    "QuTiP, ptrace": qutip.Qobj(outer, dims=[[2] * 3] * 2).ptrace(keep).full(),
}
for name, matrix in seen.items():
    print(f"{name}: {np.round(np.diag(matrix).real, 4).tolist()}")
P
)
echo "$seen"
[[ $seen == "as asked: [0.27, 0.03, 0.63, 0.07]
Cirq, density_matrix_from_state_vector: [0.27, 0.03, 0.63, 0.07]
Cirq, partial_trace: [0.27, 0.03, 0.63, 0.07]
Cirq, sub_state_vector: [0.27, 0.63, 0.03, 0.07]
quimb, Circuit.partial_trace: [0.27, 0.03, 0.63, 0.07]
quimb, partial_trace: [0.27, 0.63, 0.03, 0.07]
QuTiP, ptrace: [0.27, 0.63, 0.03, 0.07]" ]]
