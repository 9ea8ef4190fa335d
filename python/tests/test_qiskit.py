"""maps.from_qiskit against Qiskit's own unitary matrices: gates, definitions, measurements, phases, layouts."""

import math
import random

import numpy as np
import pytest

import faro
from faro import maps


@pytest.fixture
def qiskit():
    return pytest.importorskip("qiskit", minversion="2.0")  # older ones transpile to other gates, and have no boxes


def images(circuit):
    """Where each basis state goes, by the circuit's matrix, whose entries are 0 and 1."""
    from qiskit.quantum_info import Operator

    matrix = Operator(circuit.remove_final_measurements(inplace=False) if circuit.clbits else circuit).data
    assert np.allclose(matrix, np.abs(matrix)) and np.allclose(matrix, matrix.round())
    return matrix.real.argmax(axis=0).tolist()


def read(circuit, **arguments):
    m = maps.from_qiskit(circuit, **arguments)
    return [m(x) for x in range(m.count)]


def drawn(qiskit, rng, n, gates):
    circuit = qiskit.QuantumCircuit(n)
    for _ in range(gates):
        a, b = rng.sample(range(n), 2)
        rng.choice([lambda: circuit.x(a), lambda: circuit.cx(a, b), lambda: circuit.swap(a, b), lambda: circuit.dcx(a, b),
                    circuit.barrier, lambda: circuit.cx(a, b, ctrl_state=0), lambda: circuit.delay(10, a),
                    lambda: circuit.append(qiskit.circuit.library.PermutationGate(rng.sample(range(n), n)), range(n))])()
    return circuit


@pytest.mark.parametrize("level", range(4))
@pytest.mark.parametrize("coupling", ["none", "line", "ring"])
def test_transpiled_circuits_are_the_circuits_that_were_given(qiskit, level, coupling):
    from qiskit.transpiler import CouplingMap

    permuted = 0
    for seed in range(12):
        rng = random.Random(seed)
        n = rng.randrange(2, 5)
        circuit = drawn(qiskit, rng, n, rng.randrange(1, 9))
        wanted = images(circuit)
        assert read(circuit) == wanted
        if seed % 3 == 0:
            circuit.measure_all()
        device = n + seed % 3
        edges = {"none": None, "line": CouplingMap.from_line(device), "ring": CouplingMap.from_ring(device)}[coupling]
        first = rng.sample(range(device), n) if edges is not None and seed % 2 else None
        # From level 2 on, blocks of u and cx become other gates that are no permutations one by one.
        for basis in (["x", "cx", "swap", "id"], ["x", "cx"], ["u", "cx"])[:3 if level < 2 else 2]:
            transpiled = qiskit.transpile(circuit, optimization_level=level, coupling_map=edges, initial_layout=first,
                                          basis_gates=basis, seed_transpiler=seed)
            assert read(transpiled) == wanted, (seed, basis)
            layout = transpiled.layout
            permuted += layout is not None and layout.final_index_layout() != list(range(n))
            bare = transpiled.copy()
            bare._layout = None
            if basis[0] == "x":
                assert read(transpiled, ignore_layout=True) == images(bare), (seed, basis)
    assert permuted > 0 or (coupling, level) in [("none", 0), ("none", 1)]


def test_a_swap_that_was_left_out_counts(qiskit):
    circuit = qiskit.QuantumCircuit(2)
    circuit.swap(0, 1)
    transpiled = qiskit.transpile(circuit, optimization_level=2)
    assert not transpiled.count_ops()
    assert maps.from_qiskit(transpiled) == maps.bit_reversal(2)
    assert maps.from_qiskit(transpiled, ignore_layout=True).is_identity


def test_devices_of_more_than_64_qubits(qiskit):
    from qiskit.transpiler import CouplingMap

    circuit = qiskit.QuantumCircuit(3)
    circuit.x(0)
    circuit.cx(0, 2)
    circuit.swap(1, 2)
    transpiled = qiskit.transpile(circuit, optimization_level=2, coupling_map=CouplingMap.from_line(127),
                                  initial_layout=[90, 3, 91], basis_gates=["x", "cx", "swap"], seed_transpiler=1)
    assert transpiled.num_qubits == 127 and read(transpiled) == images(circuit)
    with pytest.raises(faro.FaroUnsupportedError, match="127 qubits, wanted at most 64"):
        maps.from_qiskit(transpiled, ignore_layout=True)


def test_gates_on_qubits_that_the_layout_added(qiskit):
    from qiskit.transpiler import CouplingMap

    circuit = qiskit.QuantumCircuit(2)
    circuit.cx(0, 1)
    transpiled = qiskit.transpile(circuit, optimization_level=0, coupling_map=CouplingMap.from_line(4), initial_layout=[1, 2],
                                  basis_gates=["x", "cx", "swap"])
    transpiled.cx(0, 1)  # qubit 0 of the device is 0, and stays it
    assert maps.from_qiskit(transpiled) == maps.circuit(2, [("cx", 0, 1)])
    transpiled.x(3)
    with pytest.raises(faro.FaroUnsupportedError, match="qubits which the layout added.*ignore_layout=True"):
        maps.from_qiskit(transpiled)
    assert maps.from_qiskit(transpiled, ignore_layout=True) == maps.circuit(4, [("cx", 1, 2), ("cx", 0, 1), ("x", 3)])
    wider = qiskit.transpile(qiskit.QuantumCircuit(5), coupling_map=CouplingMap.from_line(5), initial_layout=range(5))
    transpiled._layout = wider.layout
    with pytest.raises(faro.FaroValueError, match="a layout of qubits.*ignore_layout=True"):
        maps.from_qiskit(transpiled)


def test_measurements_at_the_end(qiskit):
    circuit = qiskit.QuantumCircuit(3)
    circuit.x(0)
    circuit.cx(0, 2)
    wanted = maps.from_qiskit(circuit)
    circuit.measure_all()
    assert maps.from_qiskit(circuit) == wanted
    circuit.barrier()
    circuit.delay(3, 1)
    circuit.measure(0, 0)
    assert maps.from_qiskit(circuit) == wanted
    whole = qiskit.QuantumCircuit(3, 3)
    whole.append(circuit.to_instruction(), [0, 1, 2], [0, 1, 2])
    assert maps.from_qiskit(whole) == wanted
    early = qiskit.QuantumCircuit(2, 1)
    early.measure(1, 0)
    early.x(0)
    assert maps.from_qiskit(early) == maps.xor(2, 1)
    early.cx(0, 1)
    with pytest.raises(faro.FaroUnsupportedError, match="gate cx behind a measurement"):
        maps.from_qiskit(early)


def test_phases_that_are_rounding(qiskit):
    library = qiskit.circuit.library
    circuit = qiskit.QuantumCircuit(2, global_phase=1e-12)
    for gate in (library.RXGate(0), library.RZGate(1e-12), library.PhaseGate(2 * math.pi), library.UGate(math.pi, 0, math.pi),
                 library.U3Gate(math.pi, 1e-13, math.pi), library.GlobalPhaseGate(2 * math.pi - 1e-12)):
        circuit.append(gate, range(gate.num_qubits))
    assert maps.from_qiskit(circuit).is_identity
    circuit.rz(2 * math.pi, 0)  # -1
    with pytest.raises(faro.FaroUnsupportedError, match="a global phase of"):
        maps.from_qiskit(circuit)
    circuit.global_phase += math.pi
    assert maps.from_qiskit(circuit).is_identity
    circuit.append(library.UnitaryGate([[0, 1], [1, 0]]), [1])
    assert maps.from_qiskit(circuit) == maps.xor(2, 2)
    circuit.global_phase = math.nan
    with pytest.raises(faro.FaroUnsupportedError, match="not finite"):
        maps.from_qiskit(circuit)


def test_parameters(qiskit):
    theta = qiskit.circuit.Parameter("theta")
    circuit = qiskit.QuantumCircuit(1, global_phase=theta)
    circuit.append(qiskit.circuit.library.UGate(theta, 0, theta), [0])
    with pytest.raises(faro.FaroUnsupportedError, match="assign_parameters"):
        maps.from_qiskit(circuit)
    bound = circuit.assign_parameters({theta: 4 * math.pi})
    assert maps.from_qiskit(bound).is_identity


def test_a_gate_is_what_its_definition_says(qiskit):
    for name in ("x", "cx", "swap", "id", "barrier", "delay", "measure", "box", "permutation", "u"):
        part = qiskit.QuantumCircuit(2, name=name)
        part.cx(1, 0)
        part.x(1)
        for made in (part.to_gate(), part.to_instruction()):
            circuit = qiskit.QuantumCircuit(3)
            circuit.append(made, [2, 0])
            assert read(circuit) == images(circuit), name
        if name not in ("barrier", "measure"):  # words of OpenQASM 2
            text = f"OPENQASM 2.0; gate {name} a, b {{ CX b, a; U(pi, 0, pi) b; }} qreg q[3]; {name} q[2], q[0];"
            assert read(qiskit.qasm2.loads(text)) == images(circuit), name
    flips = qiskit.QuantumCircuit(1, name="swap")
    flips.x(0)
    circuit = qiskit.QuantumCircuit(3)
    with circuit.box():
        circuit.x(1)
        circuit.cx(1, 2)
    circuit.append(flips.to_gate().repeat(3), [0])
    circuit.append(qiskit.circuit.library.LinearFunction([[1, 1], [0, 1]]), [2, 0])
    assert maps.from_qiskit(circuit) == maps.circuit(3, [("x", 1), ("cx", 1, 2), ("x", 0), ("cx", 0, 2)])


@pytest.mark.parametrize("name, add", [
    ("ccx", lambda c: c.ccx(0, 1, 2)), ("cswap", lambda c: c.cswap(0, 1, 2)), ("iswap", lambda c: c.iswap(0, 1)),
    ("cz", lambda c: c.cz(0, 1)), ("z", lambda c: c.z(0)), ("s", lambda c: c.s(0)), ("rx", lambda c: c.rx(1, 0)),
    ("mcx", lambda c: c.mcx([0, 1, 2], 3)), ("reset", lambda c: c.reset(0)), ("initialize", lambda c: c.initialize(1, [0])),
    ("rz", lambda c: c.rz(0.5, 1)), ("h", lambda c: c.h(0)), ("u", lambda c: c.u(math.pi / 2, 0, math.pi, 0)),
])
def test_gates_that_are_no_permutations(qiskit, name, add):
    circuit = qiskit.QuantumCircuit(4)
    add(circuit)
    with pytest.raises(faro.FaroUnsupportedError, match=f"the gate {name}\\b"):
        maps.from_qiskit(circuit)


def test_what_depends_on_a_measurement(qiskit):
    circuit = qiskit.QuantumCircuit(2, 1)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)):
        circuit.x(1)
    with pytest.raises(faro.FaroUnsupportedError, match="the gate if_else"):
        maps.from_qiskit(circuit)


def test_gates(qiskit):
    library = qiskit.circuit.library
    circuit = qiskit.QuantumCircuit(4)
    circuit.x(3)
    circuit.cx(3, 1)
    circuit.append(library.PermutationGate([2, 0, 3, 1]), range(4))
    circuit.barrier()
    circuit.swap(0, 2)
    circuit.cx(1, 0, ctrl_state=0)
    part = qiskit.QuantumCircuit(3, name="part")
    part.swap(0, 2)
    part.append(library.PermutationGate([1, 2, 0]), [2, 0, 1])
    circuit.append(part.to_gate(), [3, 0, 2])
    m = maps.from_qiskit(circuit)
    from qiskit.quantum_info import Statevector

    for x in range(16):
        assert Statevector.from_int(x, 16).evolve(circuit).data[m(x)] == 1
    for wrong, named in ((lambda c: c.h(0), "h"), (lambda c: c.ccx(0, 1, 2), "ccx"), (lambda c: c.rz(0.5, 1), "rz")):
        other = circuit.copy()
        wrong(other)
        with pytest.raises(faro.FaroUnsupportedError, match=f"gate {named}\\b"):
            maps.from_qiskit(other)
    circuit.global_phase = 1
    with pytest.raises(faro.FaroUnsupportedError, match="phase"):
        maps.from_qiskit(circuit)


class StandIn:
    """What from_qiskit() reads of a circuit, where Qiskit is not installed."""

    class Gate:
        def __init__(self, name, pattern=None, definition=None):
            self.name, self.pattern, self.definition = name, pattern, definition

    class Instruction:
        def __init__(self, operation, qubits):
            self.operation, self.qubits, self.clbits = operation, qubits, ()

    def __init__(self, n, *gates):
        self.num_qubits, self.qubits = n, [f"q{k}" for k in range(n)]
        self.data = [self.Instruction(self.Gate(*gate), [f"q{k}" for k in on]) for gate, on in gates]


def test_circuits_that_look_like_qiskits():
    part = StandIn(2, (("cx_o0",), (1, 0)))
    c = StandIn(3, (("x",), (2,)), (("permutation", [2, 0, 1]), (0, 1, 2)), (("part", None, part), (2, 0)),
                (("barrier",), (0, 1, 2)))

    def by_hand(x):
        x ^= 4
        x = (x >> 2 & 1) | (x & 1) << 1 | (x >> 1 & 1) << 2  # qubit i is what pattern[i] was
        return x if x & 1 else x ^ 4  # control: the part's qubit 1, the whole's 0; target: its 0, the whole's 2

    m = maps.from_qiskit(c)
    assert [m(x) for x in range(8)] == [by_hand(x) for x in range(8)]
    with pytest.raises(faro.FaroUnsupportedError, match="gate h\\b"):
        maps.from_qiskit(StandIn(1, (("h",), (0,))))
