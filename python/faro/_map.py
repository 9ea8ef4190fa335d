"""What a permutation is as a value: ``Map``, and the text form that it is read from (maps.py has all ways to make one)."""

from __future__ import annotations

import array as _array
from typing import Any, Iterator, Sequence

from . import _arrays, _faro
from ._errors import FaroTypeError, refuse
from ._run import shape_of, whole


def items_of(given: Any, operation: str) -> Iterator[Any]:
    try:
        return iter(given)
    except TypeError:
        refuse(operation, f"a {type(given).__name__}", "a sequence", kind=FaroTypeError)


class Map:
    """A permutation of ``count`` indices. Immutable; made by the functions of ``faro.maps``.

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
        return self._handle.apply(whole(x, "apply a map", "index", 0, 2**64 - 1))

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
        return Map(self._handle.power(whole(k, "raise a map to a power", "power", -(2**63), 2**63 - 1)))

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
            images = _arrays.new_numbers((count,), np.uint64)
            self._handle.images(images.__array_interface__["data"][0])
            return images
        try:
            images = _array.array("Q", bytes(8 * count))
        except (MemoryError, OverflowError):
            _arrays.refuse_memory((count,), 8)
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
            return _of_images, (self.indices,)
        return parse, (self.text,)


def _of_images(images: Any) -> Map:
    """The map of what Map.indices gave, as pickles have it."""
    address = images.buffer_info()[0] if isinstance(images, _array.array) else images.__array_interface__["data"][0]
    return Map(_faro.map_from_indices(address, len(images), 8, False, False))


def parse(text: str, shape: Sequence[int] | None = None) -> Map:
    """Reads a map's text form (docs/guide/maps.md). ``shape``: of the array at hand, which completes ``transpose``,
    ``bit_reversal`` or ``'b s d -> s b d'``.

    >>> parse("compose(gray(4), bit_reversal(4))")(1)
    12
    >>> parse("transpose", shape=(3, 5))(1)
    3
    """
    if not isinstance(text, str):
        refuse("parse a map", f"a {type(text).__name__}", "its text", kind=FaroTypeError)
    return Map(_faro.map_parse(text, list(() if shape is None else shape_of(shape, "parse a map"))))


def identity(n: int) -> Map:
    """2^n indices stay where they are.

    >>> identity(3).is_identity
    True
    """
    return parse(f"identity({n})")
