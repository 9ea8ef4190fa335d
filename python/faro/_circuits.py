"""Circuits of X, CX, SWAP and permutation gates as maps: lists of gates, OpenQASM, Qiskit."""

from __future__ import annotations

import os as _os
import tempfile as _tempfile
from typing import Any, Iterable, Iterator, NoReturn, Sequence

from ._errors import FaroError, FaroTypeError, FaroUnsupportedError, refuse
from ._map import Map, identity, items_of, parse


def circuit(n: int, gates: Iterable[Sequence[Any]]) -> Map:
    """X, CX and SWAP gates on the 2^n amplitudes of n qubits, qubit k bit k: ``("x", 3)``, ``("cx", 0, 5)``,
    ``("swap", 1, 2)``, the first gate first.

    >>> circuit(2, [("x", 0), ("cx", 0, 1)])(0)
    3
    """
    listed = [list(items_of(gate, "make a circuit")) for gate in items_of(gates, "make a circuit")]
    words = "; ".join(" ".join(map(str, gate)) for gate in listed)
    return parse(f"circuit({n}; {words})" if words else f"identity({n})")


def from_qasm(source: str | _os.PathLike[str]) -> Map:
    """The map of an OpenQASM 2 or 3 circuit of X, CX, SWAP and what is made of them: a path, or the text itself. Raises
    FaroUnsupportedError for another gate and FaroValueError for what cannot be read, with its line, FaroFileError for a file that
    is not there.

    >>> from_qasm('OPENQASM 3;\\nqubit[2] q;\\nx q[1];\\n')(0)
    2
    """
    try:
        text = str(_os.fspath(source))
    except TypeError:
        refuse("read a circuit", f"a {type(source).__name__}", "a path, or the text itself", kind=FaroTypeError)
    if "\n" not in text and "OPENQASM" not in text:
        return parse(f'@"{text}"')
    with _tempfile.NamedTemporaryFile("w", suffix=".qasm", prefix="faro") as file:
        file.write(text)
        file.flush()
        try:
            return parse(f'@"{file.name}"')
        except FaroError as error:  # which names a file that the caller does not know
            operation, got, wanted, remedy = (
                part.replace(f"`{file.name}`", "a circuit").replace(f"{file.name}:", "line ").replace(file.name, "the text")
                for part in (error.operation, error.got, error.wanted, error.remedy))
            kind = type(error)
    refuse(operation, got, wanted, remedy, kind)


def from_qiskit(quantum_circuit: Any) -> Map:
    """The map of a Qiskit circuit of X, CX, SWAP, permutation gates, barriers and identities, and of gates that are made of
    them; qubit k is bit k, as Qiskit has it. Raises FaroUnsupportedError for another gate, naming it, and for a global
    phase. Needs nothing of Qiskit but the circuit.

    >>> from_qiskit(circuit_of_qiskit) == circuit(2, [("x", 0), ("cx", 0, 1)])  # doctest: +SKIP
    True
    """
    if not hasattr(quantum_circuit, "num_qubits") or not hasattr(quantum_circuit, "data"):
        refuse("read a circuit", f"a {type(quantum_circuit).__name__}", "a circuit of Qiskit", kind=FaroTypeError)
    n = quantum_circuit.num_qubits
    made = identity(n)
    gates: list[tuple[Any, ...]] = []

    def taken() -> Map:
        nonlocal gates
        result = circuit(n, gates) @ made if gates else made
        gates = []
        return result

    for name, on, pattern in _gates_of_qiskit(quantum_circuit, list(range(n)), None):
        if pattern is None:
            gates.append((name, *on))
            continue
        made = taken()
        # Qubit i of the gate's result is qubit pattern[i] of what it is given.
        to = list(range(n))
        for i, source in enumerate(pattern):
            to[on[source]] = on[i]
        made = parse(f"bits({n}; {' '.join(map(str, to))})") @ made
    return taken()


def _gates_of_qiskit(quantum_circuit: Any, on_qubits: list[int], within: str | None) -> Iterator[tuple[str, list[int], Any]]:
    """(name, qubits, the pattern of a permutation) of each gate; those of gates that are defined by others, too."""
    if getattr(quantum_circuit, "global_phase", 0) != 0:
        _refuse_gate(within or f"a global phase of {quantum_circuit.global_phase}")
    number = dict(zip(quantum_circuit.qubits, on_qubits))
    for instruction in quantum_circuit.data:
        operation = instruction.operation
        name = operation.name
        on = [number[qubit] for qubit in instruction.qubits]
        if name in ("id", "barrier"):
            continue
        if getattr(instruction, "clbits", ()) or getattr(operation, "condition", None) is not None:
            _refuse_gate(within or f"{name}, with classical bits")
        if name in ("x", "cx", "swap"):
            yield name, on, None
        elif name == "cx_o0":  # where the control is 0
            yield from (("x", on[:1], None), ("cx", on, None), ("x", on[:1], None))
        elif name == "permutation":
            yield name, on, [int(p) for p in operation.pattern]
        else:
            definition = getattr(operation, "definition", None)
            if definition is None:
                _refuse_gate(within or name)
            yield from _gates_of_qiskit(definition, on, within or name)


def _refuse_gate(what: str) -> NoReturn:
    refuse("read a circuit", f"the gate {what}" if " phase " not in what else what, "x, cx, swap and permutation gates",
           "other gates do not permute amplitudes by an affine map", kind=FaroUnsupportedError)
