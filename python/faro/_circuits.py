"""Circuits of X, CX, SWAP and permutation gates as maps: lists of gates, OpenQASM, Qiskit."""

from __future__ import annotations

import cmath as _cmath
import math as _math
import os as _os
from typing import Any, Iterable, NoReturn, Sequence

from . import _faro
from ._errors import FaroError, FaroTypeError, FaroUnsupportedError, refuse
from ._map import Map, items_of, parse

_ROUNDING = 1e-9  # of angles, and of the entries of a gate's matrix

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
    """The map of an OpenQASM 2 or 3 circuit of X, CX, SWAP and what is made of them: a path, or the text itself, which holds a
    ``;`` or several lines. Measurements at the end are passed over. Raises FaroUnsupportedError for another gate and
    FaroValueError for what cannot be read, with its line, FaroFileError for a file that is not there.

    >>> from_qasm('OPENQASM 3.0; qubit[2] q; x q[1];')(0)
    2
    """
    try:
        text = _os.fsdecode(source)
    except TypeError:
        refuse("read a circuit", f"a {type(source).__name__}", "a path, or the text itself", kind=FaroTypeError)
    is_text = isinstance(source, str) and (";" in text or "\n" in text or text.split()[:1] == ["OPENQASM"])
    if not is_text or _os.path.isfile(text):
        return parse(f'@"{text}"')
    import tempfile  # a hundredth of a second, that every import of faro would take

    with tempfile.NamedTemporaryFile("wb", suffix=".qasm", prefix="faro") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
        file.flush()
        try:
            return parse(f'@"{file.name}"')
        except FaroError as error:  # which names a file that the caller does not know
            operation, got, wanted, remedy = (
                part.replace(f"`{file.name}`", "a circuit").replace(f"{file.name}:", "line ").replace(file.name, "the text")
                for part in (error.operation, error.got, error.wanted, error.remedy))
            kind = type(error)
    refuse(operation, got, wanted, remedy, kind)


def from_qiskit(quantum_circuit: Any, *, ignore_layout: bool = False) -> Map:
    """The map of a Qiskit circuit of X, CX, SWAP, permutation gates, barriers, delays and identities, and of gates that are made
    of them; qubit k is bit k, as Qiskit has it. Measurements after all gates of their qubits are passed over, and so are
    phases that are rounding.

    A transpiled circuit is read as the circuit that was given to the transpiler, on that one's qubits: qubits are where its
    ``layout`` puts them, SWAPs that the transpiler left out for another order of the qubits at the end count, and the qubits
    that it added start as 0. ``ignore_layout=True`` takes the gates as they stand, on all qubits of the device.

    Raises FaroUnsupportedError for another gate, naming it, for a global phase, for a gate behind a measurement and where
    qubits that the layout added do not end as 0. Needs nothing of Qiskit but the circuit. Cost: a few operations on integers
    of n bits a gate.

    >>> from_qiskit(circuit_of_qiskit) == circuit(2, [("x", 0), ("cx", 0, 1)])  # doctest: +SKIP
    True
    """
    if not hasattr(quantum_circuit, "num_qubits") or not hasattr(quantum_circuit, "data"):
        refuse("read a circuit", f"a {type(quantum_circuit).__name__}", "a circuit of Qiskit", kind=FaroTypeError)
    n = quantum_circuit.num_qubits
    layout = None if ignore_layout else getattr(quantum_circuit, "layout", None)
    given, found = _places_of_layout(layout, n) if layout is not None else (list(range(n)), list(range(n)))
    if len(given) > 64:
        refuse("read a circuit", f"{len(given)} qubits", "at most 64", kind=FaroUnsupportedError)
    # The bits of the index that each qubit is the sum of; bit n is the constant 1.
    sums = [0] * n
    for bit, place in enumerate(given):
        sums[place] = 1 << bit
    _Reader(sums, one=1 << len(given)).read(quantum_circuit)
    if any(sums[place] for place in set(range(n)).difference(found)):
        refuse("read a circuit", "gates that set qubits which the layout added", "a circuit that leaves them 0",
               "ignore_layout=True takes the gates as they stand, on all qubits", kind=FaroUnsupportedError)
    rows = [sums[place] for place in found]
    columns = [sum((row >> bit & 1) << i for i, row in enumerate(rows)) for bit in range(len(given) + 1)]
    return Map(_faro.map_from_matrix(columns[:-1], columns[-1]))


def _places_of_layout(layout: Any, n: int) -> tuple[list[int], list[int]]:
    """Where a transpiled circuit of n qubits has the qubits of the original at its start, and at its end."""
    given = layout.initial_index_layout(filter_ancillas=True)
    found = layout.final_index_layout(filter_ancillas=True)
    if len(given) != len(found) or any(place is None or not 0 <= place < n for place in (*given, *found)):
        refuse("read a circuit", f"a layout of qubits {given} at the start and {found} at the end, of {n}",
               "a layout of this circuit's qubits", "ignore_layout=True takes the gates as they stand, on all qubits")
    return given, found


class _Reader:
    """Gates as operations on the bits that each qubit is the sum of."""

    def __init__(self, sums: list[int], one: int) -> None:
        self.sums, self.one = sums, one
        self.phase = 0.0
        self.measured: set[int] = set()

    def read(self, quantum_circuit: Any) -> None:
        self._inline(quantum_circuit, list(range(len(self.sums))), None)
        if abs(_math.remainder(self.phase, _math.tau)) > _ROUNDING:
            _refuse(f"a global phase of {self.phase:.12g}", f"circuit.global_phase -= {self.phase!r} takes it out")

    def _inline(self, quantum_circuit: Any, on_qubits: list[int], within: str | None) -> None:
        phase = getattr(quantum_circuit, "global_phase", 0)
        self.phase += _numbers([phase], within or f"a global phase of {phase}")[0]
        number = dict(zip(quantum_circuit.qubits, on_qubits))
        for instruction in quantum_circuit.data:
            self._gate(instruction.operation, [number[qubit] for qubit in instruction.qubits], within)

    def _gate(self, operation: Any, on: list[int], within: str | None) -> None:
        name = operation.name
        called = within or f"the gate {name}"
        if getattr(operation, "condition", None) is not None:
            _refuse(f"{called}, with classical bits")
        # Whoever makes a gate of a circuit may name it as he likes: its definition says what it does.
        is_named = type(operation).__name__ not in ("Gate", "Instruction", "ControlledGate", "_DefinedGate")  # the last of qasm2
        body = None if is_named and name in (*_NAMED, *_IDLE, "measure") else _body_of(operation)
        if body is not None:
            return self._inline(body, on, called)
        if name in _IDLE:
            return
        if name == "measure":
            self.measured.update(on)
            return
        if self.measured.intersection(on):
            _refuse(f"{called} behind a measurement of its qubit", "take the measurement out: a map has none")
        if name == "permutation":
            # Qubit i of the gate's result is qubit pattern[i] of what it is given.
            for place, value in zip(on, [self.sums[on[int(source)]] for source in operation.pattern]):
                self.sums[place] = value
        elif name in ("u", "U", "u3"):
            self._turn(called, on[0], *_numbers(operation.params, called))
        elif name in _NAMED:
            self._add(name, *on)
        else:
            _refuse(called)

    def _add(self, name: str, a: int, b: int = 0) -> None:
        if name == "x":
            self.sums[a] ^= self.one
        elif name == "swap":
            self.sums[a], self.sums[b] = self.sums[b], self.sums[a]
        else:  # cx, and cx_o0 where the control is 0
            self.sums[b] ^= self.sums[a] ^ (self.one if name == "cx_o0" else 0)

    def _turn(self, called: str, qubit: int, theta: float, phi: float, lam: float) -> None:
        """U(theta, phi, lam) where that is a phase, or X and a phase."""
        cosine, sine = _math.cos(theta / 2), _math.sin(theta / 2)
        diagonal = (cosine, cosine * _cmath.exp(1j * (phi + lam)))
        others = (sine * _cmath.exp(1j * phi), -sine * _cmath.exp(1j * lam))
        kept, zero = (others, diagonal) if abs(sine) > abs(cosine) else (diagonal, others)
        if abs(zero[0]) > _ROUNDING or abs(kept[0] - kept[1]) > _ROUNDING:
            _refuse(called)
        self.phase += _cmath.phase(kept[0])
        if kept is others:
            self.sums[qubit] ^= self.one


_IDLE = ("id", "barrier", "delay")
_NAMED = ("x", "cx", "swap", "cx_o0", "permutation", "u", "U", "u3")


def _body_of(operation: Any) -> Any:
    """The circuit that an operation stands for, or None."""
    return operation.blocks[0] if type(operation).__name__ == "BoxOp" else getattr(operation, "definition", None)


def _numbers(angles: Iterable[Any], called: str) -> list[float]:
    try:
        numbers = [float(angle) for angle in angles]
    except (TypeError, ValueError, RuntimeError):  # a parameter that is not bound
        _refuse(f"{called}, with parameters that are no numbers", "bind the parameters: assign_parameters() does")
    if not all(map(_math.isfinite, numbers)):
        _refuse(f"{called}, with angles that are not finite")
    return numbers


def _refuse(what: str, remedy: str = "cut the circuit there and read its parts by themselves") -> NoReturn:
    refuse("read a circuit", what, "x, cx, swap and permutation gates", remedy, kind=FaroUnsupportedError)
