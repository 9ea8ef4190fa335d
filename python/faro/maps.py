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
from typing import Any, Iterable, Iterator, NoReturn, Sequence

from . import _arrays, _faro
from ._errors import FaroError, FaroTypeError, FaroUnsupportedError, refuse

__all__ = [
    "Map", "parse", "identity", "bit_reversal", "reverse", "xor", "rotate_bits", "shuffle", "swap_bits", "bits", "gray",
    "transpose", "axes", "morton", "roll", "flip", "multiply", "random", "random_bmmc", "aos_to_soa", "soa_to_aos",
    "from_matrix", "from_indices", "circuit", "from_qasm", "from_qiskit", "catalogue",
]


def _whole(value: Any, operation: str, what: str, least: int | None, most: int | None) -> int:
    from ._run import whole

    return whole(value, operation, what, least, most)


def _items(given: Any, operation: str) -> Iterator[Any]:
    try:
        return iter(given)
    except TypeError:
        refuse(operation, f"a {type(given).__name__}", "a sequence", kind=FaroTypeError)


class Map:
    """A permutation of ``count`` indices. Immutable; made by the functions of this module.

    >>> m = parse("gray(3)")
    >>> m.count, m(2), (m @ m)(2), (~m)(3), (m ** 8).is_identity
    (8, 3, 2, 2, True)
    """

    __slots__ = ("_handle", "_text")

    def __init__(self, handle: Any, text: str | None = None):
        self._handle = handle
        self._text = text

    @property
    def count(self) -> int:
        """The number of indices.

        >>> gray(3).count
        8
        """
        return self._handle.count()

    def __len__(self) -> int:
        return self.count

    @property
    def text(self) -> str:
        """The text form, which ``parse`` reads but for long index arrays.

        >>> (~gray(3)).text
        'affine(3; 0x1 0x3 0x7; 0x0)'
        """
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
        """The way back, as ``~m``.

        >>> gray(3).inverse == ~gray(3)
        True
        """
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
        """Whether everything stays where it is.

        >>> (reverse(3) ** 2).is_identity
        True
        """
        return self._handle.equal(self._handle.compose(self._handle.inverse()))

    @property
    def normal_form(self) -> "Map":
        """The same map in the form with the most to offer: an index array is recognised.

        >>> from_indices([0, 2, 1, 3]).normal_form == bit_reversal(2)
        True
        """
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
        """c of an affine map, ``m(x) = A x ^ c``.

        >>> xor(3, 5).complement
        5
        """
        return self._handle.matrix()[1]

    @property
    def indices(self) -> Any:
        """``m(0), m(1), …`` as uint64: a NumPy array, or an array.array without NumPy.

        >>> bit_reversal(2).indices.tolist()
        [0, 2, 1, 3]
        """
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
        """The index bits in letters; of what is not affine, up to 26 elements before and after.

        >>> print(bit_reversal(3).picture)
        y2  y1  y0
        x0  x1  x2
        """
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
    from ._run import shape_of

    if not isinstance(text, str):
        refuse("parse a map", f"a {type(text).__name__}", "its text", kind=FaroTypeError)
    return Map(_faro.map_parse(text, list(() if shape is None else shape_of(shape, "parse a map"))))


def catalogue() -> list[dict[str, str]]:
    """Every named map: its name, syntax, meaning and an example.

    >>> "gray" in {entry["name"] for entry in catalogue()}
    True
    """
    return _json.loads(_faro.catalogue())


def identity(n: int) -> Map:
    """2^n indices stay where they are.

    >>> identity(3).is_identity
    True
    """
    return parse(f"identity({n})")


def bit_reversal(n: int) -> Map:
    """Bit i goes to n - 1 - i.

    >>> [bit_reversal(3)(x) for x in range(4)]
    [0, 4, 2, 6]
    """
    return parse(f"bit_reversal({n})")


def reverse(n: int) -> Map:
    """x goes to 2^n - 1 - x.

    >>> reverse(3)(0)
    7
    """
    return parse(f"reverse({n})")


def xor(n: int, mask: int) -> Map:
    """x goes to x ^ mask.

    >>> xor(3, 5)(1)
    4
    """
    return parse(f"xor({n}, {mask})")


def rotate_bits(n: int, k: int) -> Map:
    """Bit i goes to (i + k) mod n.

    >>> rotate_bits(4, 1)(9)
    3
    """
    return parse(f"rotate_bits({n}, {k})")


def shuffle(n: int) -> Map:
    """The perfect (faro) shuffle: rotate_bits(n, 1).

    >>> shuffle(3).indices.tolist()
    [0, 2, 4, 6, 1, 3, 5, 7]
    """
    return parse(f"shuffle({n})")


def swap_bits(n: int, i: int, j: int) -> Map:
    """Bits i and j change places.

    >>> swap_bits(3, 0, 2)(1)
    4
    """
    return parse(f"swap_bits({n}, {i}, {j})")


def bits(to: Sequence[int]) -> Map:
    """Bit i goes to to[i].

    >>> bits([1, 2, 0])(1)
    2
    """
    places = [_whole(t, "make a map of bits", "place", 0, 63) for t in _items(to, "make a map of bits")]
    return parse(f"bits({len(places)}; {' '.join(map(str, places))})") if places else identity(0)


def gray(n: int) -> Map:
    """x goes to x ^ (x >> 1).

    >>> [gray(2)(x) for x in range(4)]
    [0, 1, 3, 2]
    """
    return parse(f"gray({n})")


def transpose(rows: int, columns: int) -> Map:
    """A row-major rows x columns array becomes columns x rows.

    >>> transpose(3, 5)(1)
    3
    """
    return parse(f"transpose({rows}, {columns})")


def axes(shape: Sequence[int], order: Sequence[int]) -> Map:
    """The axes of an array of this shape, as ``numpy.transpose(x, order)`` orders them.

    >>> axes((2, 3, 4), (2, 0, 1)).count
    24
    """
    from ._run import order_of, shape_of

    extents = shape_of(shape, "make a map of axes")
    return Map(_faro.map_from_axes(list(extents), list(order_of(order, len(extents), "make a map of axes"))))


def morton(d: int, b: int) -> Map:
    """A d-dimensional array of 2^b elements a side becomes Morton (Z) order.

    >>> morton(2, 1).indices.tolist()
    [0, 1, 2, 3]
    """
    return parse(f"morton({d}, {b})")


def roll(count: int, shift: int) -> Map:
    """x goes to (x + shift) mod count.

    >>> roll(5, -1)(0)
    4
    """
    count = _whole(count, "make a roll", "count", 0, 2**63)
    shift = _whole(shift, "make a roll", "shift", None, None)
    return parse(f"roll({count}, {shift % count if count else 0})")


def flip(count: int) -> Map:
    """x goes to count - 1 - x.

    >>> flip(5)(0)
    4
    """
    return parse(f"flip({count})")


def multiply(count: int, factor: int) -> Map:
    """x goes to factor * x mod count, an index array. ``factor`` has no divisor with ``count``.

    >>> [multiply(7, 3)(x) for x in range(4)]
    [0, 3, 6, 2]
    """
    return parse(f"multiply({count}, {factor})")


def random(count: int, seed: int) -> Map:
    """A permutation drawn from ``seed``, the same on every machine.

    >>> sorted(random(5, 1).indices.tolist())
    [0, 1, 2, 3, 4]
    """
    return parse(f"random({count}, {seed})")


def random_bmmc(n: int, seed: int) -> Map:
    """An affine map on n bits drawn from ``seed``.

    >>> (random_bmmc(6, 1) @ ~random_bmmc(6, 1)).is_identity
    True
    """
    return parse(f"random_bmmc({n}, {seed})")


def aos_to_soa(count: int, words: int) -> Map:
    """An array of ``count`` structs of ``words`` words becomes ``words`` arrays.

    >>> aos_to_soa(3, 2).indices.tolist()
    [0, 3, 1, 4, 2, 5]
    """
    return parse(f"aos_to_soa({count}, {words})")


def soa_to_aos(count: int, words: int) -> Map:
    """Its inverse.

    >>> soa_to_aos(3, 2) == ~aos_to_soa(3, 2)
    True
    """
    return parse(f"soa_to_aos({count}, {words})")


def from_matrix(matrix: Any, complement: int = 0) -> Map:
    """``m(x) = A x ^ complement`` for a square matrix of bits, ``matrix[i][j]`` from bit j of x to bit i of m(x).
    Raises FaroValueError for one that is singular or not square.

    >>> from_matrix([[0, 1], [1, 0]]) == bit_reversal(2)
    True
    """
    operation = "make a map of a matrix"
    rows = [list(_items(row, operation)) for row in _items(matrix, operation)]
    n = len(rows)
    if any(len(row) != n for row in rows):
        refuse(operation, "a matrix that is not square", "n rows of n bits")
    if any(value not in (0, 1) for row in rows for value in row):
        refuse(operation, "entries other than 0 and 1", "a matrix of bits")
    rows = [[int(value) for value in row] for row in rows]
    complement = _whole(complement, operation, "complement", 0, 2**64 - 1)
    columns = [sum(rows[i][j] << i for i in range(n)) for j in range(n)]
    return Map(_faro.map_from_matrix(columns, complement))


_DEVICE_ENTRIES = {"int32": True, "int64": True, "uint32": False, "uint64": False}
_DLPACK_ENTRIES = {(0, 32, 1): "int32", (0, 64, 1): "int64", (1, 32, 1): "uint32", (1, 64, 1): "uint64"}


def _lies_on_a_gpu(indices: Any) -> bool:
    if hasattr(indices, "__dlpack_device__"):
        return indices.__dlpack_device__()[0] == _arrays.CUDA
    return hasattr(indices, "__cuda_array_interface__")


def _from_device(array: _arrays.Array, gather: bool) -> Map:
    """A map of an array on a GPU: what its library's current stream still writes is waited for."""
    operation = "make a map of indices"
    dtype = _DLPACK_ENTRIES.get(array.dtype, array.dtype) if isinstance(array.dtype, tuple) else array.dtype
    name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    if name not in _DEVICE_ENTRIES:
        refuse(operation, f"indices of {array.dtype} on a GPU", "32- or 64-bit integers", kind=FaroTypeError)
    if len(array.shape) != 1:
        refuse(operation, f"indices of {len(array.shape)} axes", "one axis")
    if not _arrays.is_dense(array):
        refuse(operation, "indices on a GPU with strides", "a dense array", "faro.ascontiguousarray() first")
    return Map(_faro.map_from_device_indices(
        array.address, array.size, array.itemsize, _DEVICE_ENTRIES[name], gather, array.device or 0, array.stream))


def from_indices(indices: Any, gather: bool = False) -> Map:
    """``out[indices[i]] = in[i]``, with ``gather=True`` ``out[i] = in[indices[i]]``: an array of 32- or 64-bit
    integers, which is copied. Raises FaroValueError where it is no permutation.

    An array of a GPU gives a map that lies there: composed with others, as ``m @ bit_reversal(20)``, it is one index array of
    that GPU again, and one plan moves arrays of the GPU by both at once. Its single images cannot be asked for.

    >>> from_indices([2, 0, 1])(0)
    2
    """
    if _lies_on_a_gpu(indices):
        return _from_device(_arrays.describe(indices), gather)
    entries = index_entries(indices, "make a map of indices")
    if len(entries.shape) != 1:
        refuse("make a map of indices", f"indices of {len(entries.shape)} axes", "one axis")
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
    values = _arrays.as_array(indices, operation)
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
    listed = [list(_items(gate, "make a circuit")) for gate in _items(gates, "make a circuit")]
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
        made = bits(to) @ made
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
