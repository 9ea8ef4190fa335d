#!/usr/bin/env bash
# pytket 2.18.5 takes swaps out of a circuit and keeps them as a permutation of its wires, by default in FullPeepholeOptimise, CliffordSimp and
# others. get_unitary, copy, append, dagger and to_dict carry it. In a CircBox it is lost from get_unitary and get_statevector of the circuit that
# holds the box, and there again after DecomposeBoxes, so that decomposing changes the matrix; a QControlBox of the box has it. circuit_to_qasm_str
# leaves it out, and a circuit made of the same gates has another matrix. No warning is given.
# Seen with numpy 2.4.6, on CPython 3.11:
#     swapped True, circuit True, copy True, dagger True, dict True
#     box True, circuit with the box False, controlled True
#     decomposed True, OpenQASM False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pytket==2.18.5 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np
from pytket import Circuit
from pytket.circuit import CircBox, QControlBox
from pytket.passes import DecomposeBoxes, FullPeepholeOptimise
from pytket.qasm import circuit_from_qasm_str, circuit_to_qasm_str

circuit = Circuit(2).H(0).CX(0, 1).CX(1, 0).CX(0, 1).Rz(0.3, 1)
wanted = circuit.get_unitary()

def kept(unitary):
    return bool(np.isclose(abs(np.trace(wanted.conj().T @ unitary)), 4))

FullPeepholeOptimise().apply(circuit)
print(f"swapped {str(circuit.implicit_qubit_permutation()[circuit.qubits[0]]) == 'q[1]'}, circuit {kept(circuit.get_unitary())}, "
      f"copy {kept(circuit.copy().get_unitary())}, dagger {kept(circuit.dagger().dagger().get_unitary())}, "
      f"dict {kept(Circuit.from_dict(circuit.to_dict()).get_unitary())}")
boxed, controlled = Circuit(2).add_gate(CircBox(circuit), [0, 1]), Circuit(3).add_gate(QControlBox(CircBox(circuit), 1), [0, 1, 2])
print(f"box {kept(CircBox(circuit).get_unitary())}, circuit with the box {kept(boxed.get_unitary())}, "
      f"controlled {kept(controlled.get_unitary()[4:, 4:])}")
DecomposeBoxes().apply(boxed)
print(f"decomposed {kept(boxed.get_unitary())}, OpenQASM {kept(circuit_from_qasm_str(circuit_to_qasm_str(circuit)).get_unitary())}")
P
)
echo "$seen"
[[ $seen == "swapped True, circuit True, copy True, dagger True, dict True
box True, circuit with the box False, controlled True
decomposed True, OpenQASM False" ]]
