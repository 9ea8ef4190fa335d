#!/usr/bin/env bash
# Qibo 0.3.6: the dagger of iSWAP is iSWAP again, and that of DEUTSCH and GeneralizedRBS has the parameters unchanged, though none of the three is
# its own inverse. So Circuit.invert() of a circuit that has one does not undo it, without an error; SiSWAP, fSim, GIVENS and Unitary are inverted
# rightly. Printed is |tr(V U)| / 8 for the matrix U of a gate in a circuit of three qubits and V of the inverted circuit: 1 if it undoes it.
# Seen with numpy 2.4.6, on CPython 3.11:
#     iSWAP: dagger iSWAP, undone 0.00
#     DEUTSCH: dagger DEUTSCH, undone 0.54
#     GeneralizedRBS: dagger GeneralizedRBS, undone 0.89
#     SiSWAP: dagger SiSWAPDG, undone 1.00
#     fSim: dagger fSim, undone 1.00
#     GIVENS: dagger GIVENS, undone 1.00
#     Unitary: dagger Unitary, undone 1.00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check qibo==0.3.6 numpy==2.4.6
seen=$(QIBO_LOG_LEVEL=4 "$folder/env/bin/python" - <<'P'
import numpy as np, qibo
from qibo import Circuit, gates

qibo.set_backend("numpy")
wrong = gates.iSWAP(0, 2), gates.DEUTSCH(0, 1, 2, 0.3), gates.GeneralizedRBS([0], [1, 2], 0.3, 0.4)
right = gates.SiSWAP(0, 2), gates.fSim(0, 2, 0.3, 0.4), gates.GIVENS(0, 2, 0.3), gates.Unitary(gates.iSWAP(0, 1).matrix(), 0, 2)
for gate in wrong + right:
    circuit = Circuit(3)
    circuit.add(gate)
    undone = abs(np.trace(circuit.invert().unitary() @ circuit.unitary())) / 8
    print(f"{type(gate).__name__}: dagger {type(gate.dagger()).__name__}, undone {undone:.2f}")
P
)
echo "$seen"
[[ $seen == "iSWAP: dagger iSWAP, undone 0.00
DEUTSCH: dagger DEUTSCH, undone 0.54
GeneralizedRBS: dagger GeneralizedRBS, undone 0.89
SiSWAP: dagger SiSWAPDG, undone 1.00
fSim: dagger fSim, undone 1.00
GIVENS: dagger GIVENS, undone 1.00
Unitary: dagger Unitary, undone 1.00" ]]
