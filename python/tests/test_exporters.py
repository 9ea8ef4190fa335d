"""Circuits of X, CNOT and SWAP as other libraries export them, read by maps.from_qasm: each library's own exporter, on
circuits that are drawn, against a simulation of the gates one by one."""

import random

import numpy as np
import pytest

import faro
from faro import maps

SEEDS = range(25)


class Drawn:
    """Gates on n qubits, each ("x", a), ("cx", a, b), ("swap", a, b), ("id", a) or ("barrier",)."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.n = rng.randrange(2, 6)
        self.measured = seed % 3 == 0
        self.gates = []
        for _ in range(rng.randrange(1, 12)):
            kind = rng.choice(["x", "cx", "cx", "swap", "swap", "id", "barrier"])
            self.gates.append((kind, *rng.sample(range(self.n), {"x": 1, "id": 1, "barrier": 0}.get(kind, 2))))

    def image(self, x, place):
        """Where basis state x goes, when qubit k is the bit place[k]."""
        for kind, *on in self.gates:
            bits = [x >> place[k] & 1 for k in on]
            if kind == "x":
                x ^= 1 << place[on[0]]
            elif kind == "cx" and bits[0]:
                x ^= 1 << place[on[1]]
            elif kind == "swap" and bits[0] != bits[1]:
                x ^= 1 << place[on[0]] | 1 << place[on[1]]
        return x

    def check(self, text, place=None, n=None):
        place = place or list(range(self.n))
        m = maps.from_qasm(text)
        assert m.count == 2 ** (n or self.n), text
        assert [m(x) for x in range(m.count)] == [self.image(x, place) for x in range(m.count)], text


@pytest.fixture(params=SEEDS)
def drawn(request):
    return Drawn(request.param)


# --- Qiskit


def qiskit_circuit(drawn, sizes=None):
    qiskit = pytest.importorskip("qiskit")
    registers = [qiskit.QuantumRegister(size, f"r{i}") for i, size in enumerate(sizes or [drawn.n])]
    circuit = qiskit.QuantumCircuit(*registers)
    for kind, *on in drawn.gates:
        getattr(circuit, kind)(*on)
    return circuit


@pytest.mark.parametrize("version", [2, 3])
def test_qiskit(drawn, version):
    qiskit = pytest.importorskip("qiskit")
    dumps = pytest.importorskip(f"qiskit.qasm{version}").dumps
    circuit = qiskit_circuit(drawn, [1, drawn.n - 1])
    if drawn.measured:
        circuit.measure_all()
    drawn.check(dumps(circuit))
    # As gates of a definition, with a delay and a permutation that does nothing.
    whole = qiskit.QuantumCircuit(drawn.n)
    part = qiskit_circuit(drawn)
    part.data = [instruction for instruction in part.data if instruction.operation.name != "barrier"]  # no gate has one
    whole.append(part.to_gate(label="part"), range(drawn.n))
    whole.append(qiskit.circuit.library.PermutationGate(list(range(drawn.n))), range(drawn.n))
    whole.delay(100, 0, unit="ns")
    drawn.check(dumps(whole))


def test_qiskit_on_the_qubits_of_a_device(drawn):
    """Version 3 of a transpiled circuit names physical qubits."""
    qiskit = pytest.importorskip("qiskit")
    from qiskit.transpiler import CouplingMap

    first = random.Random(drawn.n).sample(range(drawn.n), drawn.n)
    # All-to-all, since the text says nothing of a routing's last permutation.
    transpiled = qiskit.transpile(qiskit_circuit(drawn), coupling_map=CouplingMap.from_full(drawn.n), initial_layout=first,
                                  basis_gates=["x", "cx", "swap", "id"], optimization_level=0)
    transpiled.barrier()  # which names all qubits
    text = pytest.importorskip("qiskit.qasm3").dumps(transpiled)
    assert "$" in text
    drawn.check(text, place=first)


def test_qiskit_names_of_any_script():
    qiskit = pytest.importorskip("qiskit")
    circuit = qiskit.QuantumCircuit(qiskit.QuantumRegister(2, "量子"), qiskit.ClassicalRegister(2, "ψ"))
    circuit.x(0)
    circuit.cx(0, 1)
    circuit.measure([0, 1], [0, 1])
    assert maps.from_qasm(pytest.importorskip("qiskit.qasm3").dumps(circuit)) == maps.circuit(2, [("x", 0), ("cx", 0, 1)])


# --- Cirq


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_cirq(drawn, version):
    cirq = pytest.importorskip("cirq")
    qubits = cirq.LineQubit.range(drawn.n)
    gates = {"x": cirq.X, "cx": cirq.CNOT, "swap": cirq.SWAP, "id": cirq.I}
    circuit = cirq.Circuit([gates[kind](*[qubits[k] for k in on]) for kind, *on in drawn.gates if kind != "barrier"])
    circuit.append(cirq.IdentityGate(drawn.n)(*qubits))  # so that all are there
    if drawn.measured:
        circuit.append(cirq.measure(*qubits, key="result"))
    drawn.check(circuit.to_qasm(version=version))


def test_cirq_permutations(drawn):
    cirq = pytest.importorskip("cirq")
    to = random.Random(drawn.n).sample(range(drawn.n), drawn.n)
    circuit = cirq.Circuit(cirq.QubitPermutationGate(to)(*cirq.LineQubit.range(drawn.n)))
    assert maps.from_qasm(circuit.to_qasm()) == maps.bits(to)  # qubit k goes to to[k]


# --- PennyLane


@pytest.mark.parametrize("labels", ["numbers", "words"])
def test_pennylane(drawn, labels):
    qml = pytest.importorskip("pennylane")
    wires = list(range(drawn.n))[::-1] if labels == "numbers" else [f"w{k}" for k in range(drawn.n)]
    gates = {"x": qml.X, "cx": qml.CNOT, "swap": qml.SWAP, "id": qml.Identity, "barrier": qml.Barrier}
    with qml.queuing.AnnotatedQueue() as queue:
        for kind, *on in drawn.gates:
            gates[kind](wires=[wires[k] for k in on] if kind != "barrier" else wires)
        qml.probs(wires=wires)
    tape = qml.tape.QuantumScript.from_queue(queue)
    drawn.check(qml.to_openqasm(tape, wires=qml.wires.Wires(wires), rotations=False, measure_all=drawn.measured))


# --- pytket


def test_pytket(drawn):
    pytket = pytest.importorskip("pytket")
    from pytket.qasm import circuit_to_qasm_str

    circuit = pytket.Circuit(drawn.n)
    for kind, *on in drawn.gates:
        if kind == "barrier":
            circuit.add_barrier(range(drawn.n))
        else:
            circuit.add_gate({"x": pytket.OpType.X, "cx": pytket.OpType.CX, "swap": pytket.OpType.SWAP,
                              "id": pytket.OpType.noop}[kind], on)
    if drawn.measured:
        circuit.measure_all()
    for header in ("qelib1", "hqslib1"):
        drawn.check(circuit_to_qasm_str(circuit, header=header))
    if not drawn.measured:
        box = pytket.circuit.CircBox(circuit)
        drawn.check(circuit_to_qasm_str(pytket.Circuit(drawn.n).add_circbox(box, list(range(drawn.n)))))


# --- Amazon Braket


def braket_circuit(drawn):
    circuits = pytest.importorskip("braket.circuits")
    circuit = circuits.Circuit()
    for kind, *on in drawn.gates:
        if kind == "barrier":
            circuit.barrier(range(drawn.n))
        else:
            getattr(circuit, {"cx": "cnot", "id": "i"}.get(kind, kind))(*on)
    for k in range(drawn.n):
        circuit.i(k)
    return circuit


def test_braket(drawn):
    ir = pytest.importorskip("braket.circuits.serialization")
    circuit = braket_circuit(drawn)
    if drawn.measured:
        circuit.measure(range(drawn.n))
    else:
        circuit.state_vector()  # a pragma
    drawn.check(circuit.to_ir(ir.IRType.OPENQASM).source)


def test_braket_verbatim_boxes_on_physical_qubits(drawn):
    ir = pytest.importorskip("braket.circuits.serialization")
    circuit = type(braket_circuit(drawn))().i(0).add_verbatim_box(braket_circuit(drawn))
    text = circuit.to_ir(ir.IRType.OPENQASM, ir.OpenQASMSerializationProperties(
        qubit_reference_type=ir.QubitReferenceType.PHYSICAL)).source
    assert "#pragma braket verbatim" in text and "$" in text
    drawn.check(text)


def test_braket_modifiers():
    circuits = pytest.importorskip("braket.circuits")
    ir = pytest.importorskip("braket.circuits.serialization")
    circuit = circuits.Circuit().x(0, control=1).x(2, control=0, control_state=[0]).x(0, power=2.0)
    circuit.cnot(1, 2, power=-3).swap(0, 2, power=2)
    assert maps.from_qasm(circuit.to_ir(ir.IRType.OPENQASM).source) == maps.circuit(
        3, [("cx", 1, 0), ("cx", 0, 2), ("x", 2), ("cx", 1, 2)])
    for gates in (circuits.Circuit().x(0, control=[1, 2]), circuits.Circuit().x(0, power=0.5), circuits.Circuit().ccnot(0, 1, 2),
                  circuits.Circuit().unitary(matrix=np.eye(2)[::-1], targets=[0]), circuits.Circuit().x(0).bit_flip(0, 0.1)):
        with pytest.raises(faro.FaroUnsupportedError):
            maps.from_qasm(gates.to_ir(ir.IRType.OPENQASM).source)


def test_autoqasm(drawn):
    aq = pytest.importorskip("autoqasm")
    gates = {"x": aq.instructions.x, "cx": aq.instructions.cnot, "swap": aq.instructions.swap, "id": aq.instructions.i}

    @aq.main(num_qubits=drawn.n)
    def whole():
        for kind, *on in drawn.gates:
            if kind != "barrier":
                gates[kind](*on)
        return aq.instructions.measure(list(range(drawn.n)))

    @aq.main
    def boxed():
        with aq.verbatim():
            aq.instructions.i(f"${drawn.n - 1}")
            for kind, *on in drawn.gates:
                if kind != "barrier":
                    gates[kind](*[f"${k}" for k in on])

    drawn.check(whole.build().to_ir())
    drawn.check(boxed.build().to_ir())
