"""Permutations as values: made by name, from text, matrices, circuits and index arrays; composed, inverted, raised
to powers.

A map sends index ``x`` to ``m(x)``: ``out[m(x)] = in[x]``.

>>> from faro import maps
>>> m = maps.bit_reversal(20) @ maps.gray(20)       # gray first
>>> (~m @ m).is_identity
True
>>> maps.rotate_bits(4, 1) ** 4 == maps.identity(4)
True
>>> maps.gray(3).text
'gray(3)'
"""

from __future__ import annotations

import array as _array
import json as _json
import os as _os
import tempfile as _tempfile
from typing import Any, Iterable, Sequence

from . import _arrays, _faro
from ._errors import FaroTypeError, refuse

__all__ = [
    "Map", "parse", "identity", "bit_reversal", "reverse", "xor", "rotate_bits", "shuffle", "swap_bits", "bits", "gray",
    "transpose", "axes", "morton", "roll", "flip", "multiply", "random", "random_bmmc", "aos_to_soa", "soa_to_aos",
    "from_matrix", "from_indices", "circuit", "from_qasm", "from_qiskit", "catalogue",
]


def _whole(value: Any, operation: str, what: str, least: int, most: int) -> int:
    from ._run import whole

    return whole(value, operation, what, least, most)


class Map:
    """A permutation of ``count`` indices. Immutable; made by the functions of this module."""

    __slots__ = ("_handle", "_text")

    def __init__(self, handle: Any, text: str | None = None):
        self._handle = handle
        self._text = text

    @property
    def count(self) -> int:
        """The number of indices."""
        return self._handle.count()

    __len__ = count.fget

    @property
    def text(self) -> str:
        """The text form, which ``parse`` reads but for long index arrays."""
        if self._text is None:
            self._text = str(self._handle.text())
        return self._text

    def __call__(self, x: int) -> int:
        """Where index ``x`` goes. Raises FaroValueError for what is no index."""
        return self._handle.apply(_whole(x, "apply a map", "index", 0, 2**64 - 1))

    def __matmul__(self, other: "Map") -> "Map":
        """``a @ b`` is b, then a: ``(a @ b)(x) == a(b(x))``."""
        if not isinstance(other, Map):
            return NotImplemented
        return Map(self._handle.compose(other._handle))

    def __invert__(self) -> "Map":
        return Map(self._handle.inverse())

    @property
    def inverse(self) -> "Map":
        """The way back, as ``~m``."""
        return ~self

    def __pow__(self, k: int) -> "Map":
        """The map k times; negative k: its inverse."""
        return Map(self._handle.power(_whole(k, "raise a map to a power", "power", -(2**63), 2**63 - 1)))

    def __eq__(self, other: object) -> bool:
        """Whether two maps are the same permutation, whatever their forms."""
        if not isinstance(other, Map):
            return NotImplemented
        return self._handle.equal(other._handle)

    def __hash__(self) -> int:
        try:
            return hash((Map, self._handle.apply(1)))
        except ValueError:  # of fewer than two indices
            return hash(Map)

    @property
    def is_identity(self) -> bool:
        """Whether everything stays where it is."""
        return self._handle.equal(self._handle.compose(self._handle.inverse()))

    @property
    def normal_form(self) -> "Map":
        """The same map in the form with the most to offer: an index array is recognised."""
        return Map(self._handle.normal_form())

    @property
    def matrix(self) -> Any:
        """The bit matrix A of an affine map, ``m(x) = A x ^ c``: ``A[i][j]`` is bit i of column j. A NumPy array
        of uint8, a list of lists without NumPy. Raises FaroUnsupportedError for other maps.

        >>> bit_reversal(3).matrix.tolist()
        [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
        """
        columns, _ = self._handle.matrix()
        rows = [[c >> i & 1 for c in columns] for i in range(len(columns))]
        np = _arrays.numpy()
        return rows if np is None else np.array(rows, np.uint8).reshape(len(columns), len(columns))

    @property
    def complement(self) -> int:
        """c of an affine map, ``m(x) = A x ^ c``."""
        return self._handle.matrix()[1]

    @property
    def indices(self) -> Any:
        """``m(0), m(1), …`` as uint64: a NumPy array, or an array.array without NumPy."""
        np = _arrays.numpy()
        count = self.count
        if np is not None:
            images = np.empty(count, np.uint64)
            self._handle.images(images.__array_interface__["data"][0])
            return images
        images = _array.array("Q", bytes(8 * count))
        self._handle.images(images.buffer_info()[0])
        return images

    @property
    def picture(self) -> str:
        """The index bits in letters; of what is not affine, up to 26 elements before and after."""
        return str(self._handle.picture())

    def __repr__(self) -> str:
        return f"faro.maps.parse({self.text!r})"

    def __reduce__(self) -> Any:
        try:
            _faro.map_parse(self.text, [])
        except ValueError:
            return from_indices, (self.indices,)
        return parse, (self.text,)


def parse(text: str, shape: Sequence[int] | None = None) -> Map:
    """Reads a map's text form (docs/guide/maps.md). ``shape``: of the array at hand, which completes ``transpose``,
    ``bit_reversal`` or ``'b s d -> s b d'``.

    >>> parse("compose(gray(4), bit_reversal(4))")(1)
    12
    >>> parse("transpose", shape=(3, 5))(1)
    3
    """
    return Map(_faro.map_parse(text, list(shape or [])))


def catalogue() -> list[dict[str, str]]:
    """Every named map: its name, syntax, meaning and an example."""
    return _json.loads(_faro.catalogue())


def identity(n: int) -> Map:
    """2^n indices stay where they are."""
    return parse(f"identity({n})")


def bit_reversal(n: int) -> Map:
    """Bit i goes to n - 1 - i."""
    return parse(f"bit_reversal({n})")


def reverse(n: int) -> Map:
    """x goes to 2^n - 1 - x."""
    return parse(f"reverse({n})")


def xor(n: int, mask: int) -> Map:
    """x goes to x ^ mask."""
    return parse(f"xor({n}, {mask})")


def rotate_bits(n: int, k: int) -> Map:
    """Bit i goes to (i + k) mod n."""
    return parse(f"rotate_bits({n}, {k})")


def shuffle(n: int) -> Map:
    """The perfect (faro) shuffle: rotate_bits(n, 1)."""
    return parse(f"shuffle({n})")


def swap_bits(n: int, i: int, j: int) -> Map:
    """Bits i and j change places."""
    return parse(f"swap_bits({n}, {i}, {j})")


def bits(to: Sequence[int]) -> Map:
    """Bit i goes to to[i]."""
    return parse(f"bits({len(to)}; {' '.join(str(int(t)) for t in to)})")


def gray(n: int) -> Map:
    """x goes to x ^ (x >> 1)."""
    return parse(f"gray({n})")


def transpose(rows: int, columns: int) -> Map:
    """A row-major rows x columns array becomes columns x rows."""
    return parse(f"transpose({rows}, {columns})")


def axes(shape: Sequence[int], order: Sequence[int]) -> Map:
    """The axes of an array of this shape, as ``numpy.transpose(x, order)`` orders them."""
    return Map(_faro.map_from_axes(list(shape), list(order)))


def morton(d: int, b: int) -> Map:
    """A d-dimensional array of 2^b elements a side becomes Morton (Z) order."""
    return parse(f"morton({d}, {b})")


def roll(count: int, shift: int) -> Map:
    """x goes to (x + shift) mod count."""
    return parse(f"roll({count}, {shift % count if count else 0})")


def flip(count: int) -> Map:
    """x goes to count - 1 - x."""
    return parse(f"flip({count})")


def multiply(count: int, factor: int) -> Map:
    """x goes to factor * x mod count, an index array. ``factor`` has no divisor with ``count``."""
    return parse(f"multiply({count}, {factor})")


def random(count: int, seed: int) -> Map:
    """A permutation drawn from ``seed``, the same on every machine."""
    return parse(f"random({count}, {seed})")


def random_bmmc(n: int, seed: int) -> Map:
    """An affine map on n bits drawn from ``seed``."""
    return parse(f"random_bmmc({n}, {seed})")


def aos_to_soa(count: int, words: int) -> Map:
    """An array of ``count`` structs of ``words`` words becomes ``words`` arrays."""
    return parse(f"aos_to_soa({count}, {words})")


def soa_to_aos(count: int, words: int) -> Map:
    """Its inverse."""
    return parse(f"soa_to_aos({count}, {words})")


def from_matrix(matrix: Any, complement: int = 0) -> Map:
    """``m(x) = A x ^ complement`` for a square matrix of bits, ``matrix[i][j]`` from bit j of x to bit i of m(x).
    Raises FaroValueError for one that is singular or not square.

    >>> from_matrix([[0, 1], [1, 0]]) == bit_reversal(2)
    True
    """
    rows = [[int(value) for value in row] for row in matrix]
    n = len(rows)
    if any(len(row) != n for row in rows):
        refuse("make a map of a matrix", "a matrix that is not square", "n rows of n bits")
    if any(value not in (0, 1) for row in rows for value in row):
        refuse("make a map of a matrix", "entries other than 0 and 1", "a matrix of bits")
    complement = _whole(complement, "make a map of a matrix", "complement", 0, 2**64 - 1)
    columns = [sum(rows[i][j] << i for i in range(n)) for j in range(n)]
    return Map(_faro.map_from_matrix(columns, complement))


def from_indices(indices: Any, gather: bool = False) -> Map:
    """``out[indices[i]] = in[i]``, with ``gather=True`` ``out[i] = in[indices[i]]``: an array of 32- or 64-bit
    integers, which is copied. Raises FaroValueError where it is no permutation.

    >>> from_indices([2, 0, 1])(0)
    2
    """
    entries = index_entries(indices, "make a map of indices")
    return Map(_faro.map_from_indices(entries.address, entries.size, entries.itemsize, entries.is_signed, gather))


class IndexEntries:
    """A dense array of integers of 4 or 8 bytes, and what keeps it."""

    def __init__(self, address: int, size: int, itemsize: int, is_signed: bool, shape: tuple[int, ...], keep: Any):
        self.address, self.size, self.itemsize, self.is_signed = address, size, itemsize, is_signed
        self.shape, self.keep = shape, keep


def index_entries(indices: Any, operation: str) -> IndexEntries:
    """Integers of any library and width as entries; narrow ones are widened."""
    np = _arrays.numpy()
    if np is None:
        values = indices if isinstance(indices, _array.array) and indices.typecode in "ilqILQ" else None
        if values is None:
            values = _array.array("q", [int(i) for i in indices])
        return IndexEntries(
            values.buffer_info()[0], len(values), values.itemsize, values.typecode.islower(), (len(values),), values
        )
    if not isinstance(indices, np.ndarray) and hasattr(indices, "__dlpack__"):
        device = indices.__dlpack_device__()[0]
        if device not in (1, 3, 13):
            refuse(operation, "indices on a device", "indices in the host's memory",
                   "nothing is copied between devices unasked")
        indices = np.from_dlpack(indices)
    values = np.asarray(indices)
    if values.size == 0 and values.dtype.kind == "f":
        values = values.astype(np.int64)
    if values.dtype.kind not in "iu":
        refuse(operation, f"indices of dtype {values.dtype}", "whole numbers", kind=FaroTypeError)
    if values.dtype.itemsize < 4 or not values.dtype.isnative:
        values = values.astype(np.int32 if values.dtype.itemsize < 4 and values.dtype.kind == "i" else
                               np.uint32 if values.dtype.itemsize < 4 else values.dtype.newbyteorder("="))
    values = np.ascontiguousarray(values)
    return IndexEntries(
        values.__array_interface__["data"][0], values.size, values.dtype.itemsize, values.dtype.kind == "i",
        np.shape(indices), values,
    )


def circuit(n: int, gates: Iterable[Sequence[Any]]) -> Map:
    """X, CX and SWAP gates on the 2^n amplitudes of n qubits, qubit k bit k: ``("x", 3)``, ``("cx", 0, 5)``,
    ``("swap", 1, 2)``, the first gate first.

    >>> circuit(2, [("x", 0), ("cx", 0, 1)])(0)
    3
    """
    words = "; ".join(" ".join(str(part) for part in gate) for gate in gates)
    return parse(f"circuit({n}; {words})" if words else f"identity({n})")


def from_qasm(source: str | _os.PathLike[str]) -> Map:
    """The map of an OpenQASM 2 or 3 circuit of X, CX, SWAP and what is made of them: a path, or the text itself."""
    text = _os.fspath(source)
    if "\n" not in text and "OPENQASM" not in text:
        return parse(f'@"{text}"')
    with _tempfile.NamedTemporaryFile("w", suffix=".qasm", prefix="faro") as file:
        file.write(text)
        file.flush()
        return parse(f'@"{file.name}"')


def from_qiskit(quantum_circuit: Any) -> Map:
    """The map of a Qiskit circuit of X, CX, SWAP, permutation gates, barriers and identities; qubit k is bit k, as
    Qiskit has it. Raises FaroUnsupportedError for another gate, naming it."""
    n = quantum_circuit.num_qubits
    number = {qubit: k for k, qubit in enumerate(quantum_circuit.qubits)}
    made = identity(n)
    gates: list[tuple[Any, ...]] = []

    def taken() -> Map:
        nonlocal gates
        result = circuit(n, gates) @ made if gates else made
        gates = []
        return result

    for instruction in quantum_circuit.data:
        name = instruction.operation.name
        on = [number[qubit] for qubit in instruction.qubits]
        if name in ("x", "cx", "swap"):
            gates.append((name, *on))
        elif name == "permutation":
            # Qubit i of the gate's result is qubit pattern[i] of what it is given.
            pattern = [int(p) for p in instruction.operation.pattern]
            made = taken()
            to = list(range(n))
            for i, source in enumerate(pattern):
                to[on[source]] = on[i]
            made = bits(to) @ made
        elif name not in ("id", "barrier"):
            from ._errors import FaroUnsupportedError

            refuse("read a circuit", f"the gate {name}", "x, cx, swap and permutation gates",
                   "other gates do not permute amplitudes by an affine map", kind=FaroUnsupportedError)
    return taken()
