#!/usr/bin/env bash
# pennylane 0.45.1: the device reference.qubit gives wrong expectation values of qml.Hermitian: it weighs the ascending eigenvalues with the
# probabilities of the computational basis, as if the matrix were diagonal and sorted. Pauli operators and their sums are right on it, and
# default.qubit is right on all. So the plain device that others may be held against differs from them, and no error says so.
# Seen with numpy 2.4.6, on CPython 3.11; the state is RY(0.5) of 0, so that X is 0.479 and Z 0.878:
#     X: default.qubit 0.479, reference.qubit 0.479
#     Hermitian of X: default.qubit 0.479, reference.qubit -0.878
#     Z: default.qubit 0.878, reference.qubit 0.878
#     Hermitian of Z: default.qubit 0.878, reference.qubit -0.878
#     X + Z: default.qubit 1.357, reference.qubit 1.357
#     Hermitian of X + Z: default.qubit 1.357, reference.qubit -1.241
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pennylane==0.45.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, pennylane as qml

x, z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
cases = (("X", qml.X(0)), ("Hermitian of X", qml.Hermitian(x, 0)), ("Z", qml.Z(0)), ("Hermitian of Z", qml.Hermitian(z, 0)),
         ("X + Z", qml.X(0) + qml.Z(0)), ("Hermitian of X + Z", qml.Hermitian(x + z, 0)))
for name, observable in cases:
    line = []
    for device in "default.qubit", "reference.qubit":
        @qml.qnode(qml.device(device, wires=1))
        def circuit():
            qml.RY(0.5, 0)
            return qml.expval(observable)
        line.append(f"{device} {circuit():.3f}")
    print(f"{name}: {', '.join(line)}")
P
)
echo "$seen"
[[ $seen == "X: default.qubit 0.479, reference.qubit 0.479
Hermitian of X: default.qubit 0.479, reference.qubit -0.878
Z: default.qubit 0.878, reference.qubit 0.878
Hermitian of Z: default.qubit 0.878, reference.qubit -0.878
X + Z: default.qubit 1.357, reference.qubit 1.357
Hermitian of X + Z: default.qubit 1.357, reference.qubit -1.241" ]]
