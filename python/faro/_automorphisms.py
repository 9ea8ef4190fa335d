"""Automorphisms of polynomials modulo X^n + 1.

X -> X^k, by which homomorphic encryption rotates slots, in one sweep on the host or on a GPU; docs/recipes/rotate-slots.md shows what it is for.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _arrays, _faro, _kinds, _libraries, _outputs, _row_values, _run
from ._errors import refuse

__all__ = ["permute_negacyclic", "permute_evaluations"]


def _polynomials(x: Any, k: Any, out: Any, stream: Any, threads: int, operation: str,
                 move: Callable[[_arrays.Array, int, int, int, int, tuple[int, int, int]], None]) -> Any:
    """`move` gets the array, n, k, the addresses, and (device, threads, stream)."""
    x = _kinds.read(x, operation)
    array = _arrays.describe(x)
    if not array.shape:
        refuse(operation, "a single number", "an array whose last axis has the n numbers of a polynomial")
    n = array.shape[-1]
    number = _run.whole(k, operation, "k =")
    queue = _run.stream_of(array, stream, operation)
    beside = _outputs.reads(out, input=array)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    target, finished = _run.result_of(x, array, out, array.shape, operation, queue, beside=beside)
    many = _run.threads_of(threads, operation)
    device = -1 if array.device is None else array.device
    move(array, n, number % (2 * n) if n else number, array.address, target.address, (device, many, queue))
    return finished()


def permute_negacyclic(x: Any, k: int, *, modulus: Any = 0, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """X -> X^k of polynomials modulo X^n + 1, whose n coefficients are the last axis: coefficient i goes to ``k i mod n``, and is negated
    where ``k i mod 2 n`` is n or more. k has no divisor with 2 n; ``pow(k, -1, 2 * n)`` is the way back.

    Numbers are negated by their sign, integers in two's complement; with ``modulus``, unsigned ones below it as ``modulus - number``, and 0
    stays 0. Polynomials of several moduli, the residues of one ciphertext, take an array of them that broadcasts to ``x.shape[:-1]``: for
    ``x`` of shape (ciphertexts, residues, n) one a residue. It lies on the host, also where ``x`` does not. Raises FaroValueError for a k that
    has a divisor with 2 n and for moduli of another shape, FaroTypeError for numbers that are not whole.

    >>> import numpy as np, faro
    >>> faro.permute_negacyclic(np.array([1, 2, 3, 4]), 3).tolist()
    [1, 4, -3, 2]
    >>> faro.permute_negacyclic(np.array([1, 2, 3, 4], "u4"), 3, modulus=17).tolist()
    [1, 4, 14, 2]
    >>> faro.permute_negacyclic(np.array([[1, 2, 3, 4], [1, 2, 3, 4]], "u4"), 3, modulus=[17, 97]).tolist()
    [[1, 4, 14, 2], [1, 4, 94, 2]]
    """
    recorder = _run.recording("permute_negacyclic", (x,), out, stream)
    if recorder is not None:
        return recorder.permute_negacyclic(x, k, modulus=modulus)
    if _arrays.by_jax("permute_negacyclic", x, out=out, stream=stream):
        return _libraries.functions_for("jax").permute_negacyclic(x, k, modulus=modulus)

    def move(array: _arrays.Array, n: int, k: int, source: int, target: int, where: tuple[int, int, int]) -> None:
        number = _row_values.number_of(array, "permute_negacyclic", whole=True)
        moduli = moduli_of(modulus, array.shape[:-1])
        _faro.permute_negacyclic(n, k, number, moduli, source, target, array.size * array.itemsize, *where)

    return _polynomials(x, k, out, stream, threads, "permute_negacyclic", move)


def moduli_of(modulus: Any, shape: _run.Shape) -> list[int]:
    """Of arrays of polynomials of this shape, so many that the rest have them again."""
    operation = "permute_negacyclic"
    given = _run.listed(modulus)
    if not isinstance(given, tuple):
        return [_run.whole(given, operation, "modulus =", 0, 2**64 - 1)]
    np = _arrays.numpy()
    if np is None:
        of, numbers = (len(given),), list(given)
    else:
        listed = _arrays.as_array(modulus, operation, object)
        of, numbers = listed.shape, listed.ravel().tolist()
    moduli = [_run.whole(number, operation, "a modulus of", 0, 2**64 - 1) for number in numbers]
    if len(moduli) == 1:
        return moduli
    behind = shape[max(len(shape) - len(of), 0):]
    if len(of) > len(shape) or any(extent not in (1, there) for extent, there in zip(of, behind)):
        refuse(operation, f"moduli of shape {of} for polynomials of shape {shape}", "one number, or what broadcasts to that shape",
               "numpy.reshape(modulus, (-1, 1)) has one for each place of the axis before the last two")
    if of == behind:
        return moduli
    return [int(each) for each in np.broadcast_to(np.array(moduli, np.uint64).reshape(of), behind).ravel()]


def permute_evaluations(x: Any, k: int, *, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """The same automorphism on a polynomial's values, the last axis, in the bit-reversed order in which transforms of number theory leave
    them: place p has the value at ``psi^(2 rev(p) + 1)``. n is a power of two and k is odd; nothing is negated, and elements have any type.

    >>> import numpy as np, faro
    >>> faro.permute_evaluations(np.arange(4), 3).tolist()
    [2, 3, 0, 1]
    """
    recorder = _run.recording("permute_evaluations", (x,), out, stream)
    if recorder is not None:
        return recorder.permute_evaluations(x, k)
    if _arrays.by_jax("permute_evaluations", x, out=out, stream=stream):
        return _libraries.functions_for("jax").permute_evaluations(x, k)
    x = _kinds.read(x, "permute_evaluations")
    if _kinds.is_masked(x):
        return _kinds.with_mask(x, lambda part: permute_evaluations(part, k, threads=threads), out, "permute_evaluations")

    def move(array: _arrays.Array, n: int, k: int, source: int, target: int, where: tuple[int, int, int]) -> None:
        _faro.permute_evaluations(n, k, array.itemsize, source, target, array.size * array.itemsize, *where)

    return _polynomials(x, k, out, stream, threads, "permute_evaluations", move)
