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

import json as _json
from typing import Any, Sequence

from . import _faro
from ._circuits import circuit, from_qasm, from_qiskit
from ._errors import refuse
from ._indices import from_indices
from ._map import Map, identity, items_of, parse
from ._run import order_of, shape_of, whole

__all__ = [
    "Map", "parse", "identity", "bit_reversal", "reverse", "xor", "rotate_bits", "shuffle", "swap_bits", "bits", "gray",
    "sequency", "transpose", "axes", "morton", "hilbert", "healpix", "roll", "flip", "multiply", "random", "random_bmmc", "aos_to_soa", "soa_to_aos",
    "from_matrix", "from_indices", "circuit", "from_qasm", "from_qiskit", "catalogue",
]


def catalogue() -> list[dict[str, str]]:
    """Every named map: its name, syntax, meaning and an example.

    >>> "gray" in {entry["name"] for entry in catalogue()}
    True
    """
    return _json.loads(_faro.catalogue())


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
    places = [whole(t, "make a map of bits", "place", 0, 63) for t in items_of(to, "make a map of bits")]
    return parse(f"bits({len(places)}; {' '.join(map(str, places))})") if places else identity(0)


def gray(n: int) -> Map:
    """x goes to x ^ (x >> 1).

    >>> [gray(2)(x) for x in range(4)]
    [0, 1, 3, 2]
    """
    return parse(f"gray({n})")


def sequency(n: int, order: str = "hadamard") -> Map:
    """The rows of a Walsh-Hadamard transform of 2^n by sequency, their number of sign changes: from ``"hadamard"``
    (natural) order, which :func:`faro.walsh_hadamard` gives, or from ``"dyadic"`` (Paley) order. An affine map.

    >>> [sequency(2)(x) for x in range(4)]              # ++++ +-+- ++-- +--+
    [0, 3, 1, 2]
    >>> sequency(5, "dyadic") @ bit_reversal(5) == sequency(5)
    True
    """
    if order not in ("hadamard", "natural", "dyadic", "paley"):
        refuse("make a map of sequency", repr(order), "the order before: 'hadamard' or 'dyadic'")
    return parse(f"sequency({n}, {order})")


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
    extents = shape_of(shape, "make a map of axes")
    return Map(_faro.map_from_axes(list(extents), list(order_of(order, len(extents), "make a map of axes"))))


def morton(d: int, b: int) -> Map:
    """A d-dimensional array of 2^b elements a side becomes Morton (Z) order.

    >>> morton(2, 1).indices.tolist()
    [0, 1, 2, 3]
    """
    return parse(f"morton({d}, {b})")


def hilbert(d: int, b: int) -> Map:
    """A d-dimensional array of 2^b elements a side, row-major, becomes Hilbert's order: m(x) is the number of element
    x along the curve, as the packages hilbertcurve and numpy-hilbert-curve count. Computed, not stored; d b is at most
    62. Raises FaroValueError beyond.

    >>> [hilbert(2, 1)(x) for x in range(4)]            # rows 0 1 and 3 2
    [0, 1, 3, 2]
    >>> hilbert(3, 9).text
    'hilbert(3, 9)'
    """
    return parse(f"hilbert({d}, {b})")


def healpix(k: int) -> Map:
    """The 12 * 4^k pixels of a HEALPix map of ``nside = 2**k``, nested, become rings; ``~healpix(k)`` is the way back.
    m(x) is ``healpy.nest2ring(2**k, x)``. Computed, not stored; k is at most 29. Raises FaroValueError beyond.

    >>> [healpix(1)(x) for x in range(4)]
    [13, 5, 4, 0]
    >>> (~healpix(9))(0) == 4**9 - 1
    True
    """
    return parse(f"healpix({k})")


def roll(count: int, shift: int) -> Map:
    """x goes to (x + shift) mod count.

    >>> roll(5, -1)(0)
    4
    """
    count = whole(count, "make a roll", "count", 0, 2**63)
    shift = whole(shift, "make a roll", "shift", None, None)
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
    rows = [list(items_of(row, operation)) for row in items_of(matrix, operation)]
    n = len(rows)
    if any(len(row) != n for row in rows):
        refuse(operation, "a matrix that is not square", "n rows of n bits")
    if any(value not in (0, 1) for row in rows for value in row):
        refuse(operation, "entries other than 0 and 1", "a matrix of bits")
    rows = [[int(value) for value in row] for row in rows]
    complement = whole(complement, operation, "complement", 0, 2**64 - 1)
    columns = [sum(rows[i][j] << i for i in range(n)) for j in range(n)]
    return Map(_faro.map_from_matrix(columns, complement))
