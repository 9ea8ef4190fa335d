#!/usr/bin/env bash
# cirq-core 1.7.0: X**-1 (what cirq.inverse makes of X) and X are equal, have one hash and one matrix, and circuits of them are equal; the
# OpenQASM text (2 and 3) of the one is `x`, of the other `rx(pi*-1)`, whose matrix is i times that. The same with Y, Z and with X**3. What reads
# the text and puts a control on it has another gate: Qiskit's control() of the two is CX and CX with a phase. One would expect equal
# circuits to have equal texts, or texts of equal matrices.
# Seen with qiskit 2.6.2, numpy 2.4.6, on CPython 3.11:
#     equal True, hash True, matrices True; texts x q[0]; and rx(pi*-1) q[0]; read by Qiskit: up to phase True, controlled False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check cirq-core==1.7.0 qiskit==2.6.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import cirq, numpy as np
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator

x, inverse = cirq.X, cirq.inverse(cirq.X)
a, b = (cirq.Circuit(gate(cirq.LineQubit(0))) for gate in (x, inverse))
last = [c.to_qasm(version="3.0").strip().splitlines()[-1] for c in (a, b)]
read = [QuantumCircuit.from_qasm_str(c.to_qasm()) for c in (a, b)]
print(f"equal {a == b}, hash {hash(x) == hash(inverse)}, matrices {np.array_equal(cirq.unitary(a), cirq.unitary(b))}; "
      f"texts {last[0]} and {last[1]} read by Qiskit: up to phase {Operator(read[0]).equiv(Operator(read[1]))}, "
      f"controlled {Operator(read[0].control()).equiv(Operator(read[1].control()))}")
P
)
echo "$seen"
[[ $seen == "equal True, hash True, matrices True; texts x q[0]; and rx(pi*-1) q[0]; read by Qiskit: up to phase True, controlled False" ]]
