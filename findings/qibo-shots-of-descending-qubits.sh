#!/usr/bin/env bash
# Qibo 0.3.6: the expectation value of X(2)*Z(0) from samples is that of Z(2)*X(0). SymbolicHamiltonian.expectation(circuit, nshots=n) sorts the
# qubits of a product and leaves its Paulis in the order in which they were written, so that each qubit is measured in the basis of the other;
# Z(0)*X(2) is right, and so are both without nshots and by the matrix. A sum is wrong by those products of it that are not written in the order of
# the qubits.
# Seen with numpy 2.4.6, on CPython 3.11:
#     Z(0) * X(2): matrix 0.80, circuit 0.80, a million shots 0.8
#     X(2) * Z(0): matrix 0.80, circuit 0.80, a million shots -0.2
#     X(0) * Z(2): matrix -0.20, circuit -0.20, a million shots -0.2
#     X(2) * Z(0) + 2 * Z(1): matrix 1.14, circuit 1.14, a million shots 0.1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check qibo==0.3.6 numpy==2.4.6
seen=$(QIBO_LOG_LEVEL=4 "$folder/env/bin/python" - <<'P'
import qibo
from qibo import Circuit, gates
from qibo.hamiltonians import SymbolicHamiltonian
from qibo.symbols import X, Z

qibo.set_backend("numpy")

def circuit():
    made = Circuit(3)
    made.add([gates.RY(0, 0.5), gates.RY(1, 1.4), gates.RY(2, 2.0)])
    return made

state = circuit()().state()
for name in "Z(0) * X(2)", "X(2) * Z(0)", "X(0) * Z(2)", "X(2) * Z(0) + 2 * Z(1)":
    h = SymbolicHamiltonian(eval(name), nqubits=3)
    exact, shots = h.expectation(circuit()), h.expectation(circuit(), nshots=1000000)
    print(f"{name}: matrix {(state.conj() @ h.matrix @ state).real:.2f}, circuit {exact:.2f}, a million shots {shots:.1f}")
P
)
echo "$seen"
[[ $seen == "Z(0) * X(2): matrix 0.80, circuit 0.80, a million shots 0.8
X(2) * Z(0): matrix 0.80, circuit 0.80, a million shots -0.2
X(0) * Z(2): matrix -0.20, circuit -0.20, a million shots -0.2
X(2) * Z(0) + 2 * Z(1): matrix 1.14, circuit 1.14, a million shots 0.1" ]]
