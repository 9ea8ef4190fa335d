#!/usr/bin/env bash
# Qiskit 2.6.2: transpile() at its default level (2) takes swaps out of a circuit and keeps the permutation in the result's layout only,
# with no device named, too. inverse(), decompose(), power(1), repeat(1) and another transpile(), even at level 0, drop that
# layout, so the swaps are lost without a word; reverse_ops() keeps it though it is then wrong. One would expect them to carry it over
# or to refuse. After each name: is it the operator of the same method on the circuit? (Operator.from_circuit applies the layout.)
# Seen with numpy 2.4.6, on CPython 3.11:
#     gates ['x'], layout [1, 2, 0], transpiled True, copy True, inverse False, decompose False, power False, repeat False, again False,
#     reverse_ops False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check qiskit==2.6.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
from qiskit import QuantumCircuit, transpile
from qiskit.quantum_info import Operator

c = QuantumCircuit(3)
c.x(0)
c.swap(0, 1)
c.swap(1, 2)
t = transpile(c)
methods = {
    "transpiled": lambda c: c,
    "copy": lambda c: c.copy(),
    "inverse": lambda c: c.inverse(),
    "decompose": lambda c: c.decompose(),
    "power": lambda c: c.power(1, matrix_power=False),
    "repeat": lambda c: c.repeat(1),
    "again": lambda c: transpile(c, optimization_level=0),
    "reverse_ops": lambda c: c.reverse_ops(),
}
print(f"gates {list(t.count_ops())}, layout {t.layout.final_index_layout()}, "
      + ", ".join(f"{name} {Operator.from_circuit(f(t)) == Operator.from_circuit(f(c))}" for name, f in methods.items()))
P
)
echo "$seen"
[[ $seen == "gates ['x'], layout [1, 2, 0], transpiled True, copy True, inverse False, decompose False, power False, repeat False, \
again False, reverse_ops False" ]]
