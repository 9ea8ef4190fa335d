"""Automorphisms of polynomials modulo X^n + 1.

X -> X^k, by which homomorphic encryption rotates slots, in one sweep on the host or on a GPU; docs/recipes/rotate-slots.md shows what it is for.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _arrays, _faro, _rows, _run
from ._errors import refuse

__all__ = ["permute_negacyclic", "permute_evaluations"]


def _polynomials(x: Any, k: Any, out: Any, stream: Any, threads: int, operation: str,
                 move: Callable[[_arrays.Array, int, int, int, int, tuple[int, int, int]], None]) -> Any:
    """`move` gets the array, n, k, the addresses, and (device, threads, stream)."""
    array = _arrays.describe(x)
    if not array.shape:
        refuse(operation, "a single number", "an array whose last axis has the n numbers of a polynomial")
    n = array.shape[-1]
    number = _run.whole(k, operation, "k =")
    queue = _run.stream_of(array, stream, operation)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    target, finished = _run.result_of(x, array, out, array.shape, operation, queue)
    many = _run.threads_of(threads, operation)
    device = -1 if array.device is None else array.device
    move(array, n, number % (2 * n) if n else number, array.address, target.address, (device, many, queue))
    return finished()


def permute_negacyclic(x: Any, k: int, *, modulus: int = 0, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """X -> X^k of polynomials modulo X^n + 1, whose n coefficients are the last axis: coefficient i goes to ``k i mod n``, and is negated
    where ``k i mod 2 n`` is n or more. k has no divisor with 2 n; ``pow(k, -1, 2 * n)`` is the way back.

    Numbers are negated by their sign, integers in two's complement; with ``modulus``, unsigned ones below it as ``modulus - number``, and 0
    stays 0.

    >>> import numpy as np, faro
    >>> faro.permute_negacyclic(np.array([1, 2, 3, 4]), 3).tolist()
    [1, 4, -3, 2]
    >>> faro.permute_negacyclic(np.array([1, 2, 3, 4], "u4"), 3, modulus=17).tolist()
    [1, 4, 14, 2]
    """
    if _arrays.by_jax("permute_negacyclic", x, out=out, stream=stream):
        from .jax import permute_negacyclic as of_jax

        return of_jax(x, k, modulus=modulus)
    most = _run.whole(modulus, "permute_negacyclic", "modulus =", 0, 2**64 - 1)

    def move(array: _arrays.Array, n: int, k: int, source: int, target: int, where: tuple[int, int, int]) -> None:
        number = _rows._number_of(array, "permute_negacyclic", whole=True)
        _faro.permute_negacyclic(n, k, number, most, source, target, array.size * array.itemsize, *where)

    return _polynomials(x, k, out, stream, threads, "permute_negacyclic", move)


def permute_evaluations(x: Any, k: int, *, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """The same automorphism on a polynomial's values, the last axis, in the bit-reversed order in which transforms of number theory leave
    them: place p has the value at ``psi^(2 rev(p) + 1)``. n is a power of two and k is odd; nothing is negated, and elements have any type.

    >>> import numpy as np, faro
    >>> faro.permute_evaluations(np.arange(4), 3).tolist()
    [2, 3, 0, 1]
    """
    if _arrays.by_jax("permute_evaluations", x, out=out, stream=stream):
        from .jax import permute_evaluations as of_jax

        return of_jax(x, k)

    def move(array: _arrays.Array, n: int, k: int, source: int, target: int, where: tuple[int, int, int]) -> None:
        _faro.permute_evaluations(n, k, array.itemsize, source, target, array.size * array.itemsize, *where)

    return _polynomials(x, k, out, stream, threads, "permute_evaluations", move)
