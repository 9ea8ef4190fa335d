"""Permutations of JAX's arrays: each is one call of an engine on XLA's buffers, whatever axes a vmap has put before it."""

from __future__ import annotations

import functools
import math
from typing import Any, Sequence, Unpack

import numpy as _np

from . import _arrays, _automorphisms, _changes, _functions, _run, maps
from ._changes import Change
from ._errors import FaroTypeError, FaroUnsupportedError, FaroValueError, refuse
from ._jax_arithmetic import changed, changed_after
from ._jax_primitives import array_of, move_bind
from ._jax_rows import put_every, take
from ._patterns import single_axes


def _moved(x: Any, move: str, back: str, after: Sequence[int]) -> Any:
    return move_bind(x, move=move, back=back, before=tuple(x.shape), after=tuple(after), batch=False)


def _view(extents: Sequence[int], strides: Sequence[int], corner: int = 0) -> str:
    return f"view {' '.join(map(str, extents))}; {' '.join(map(str, strides))}; {corner}"


def _axes_view(shape: Sequence[int], order: Sequence[int]) -> str:
    strides = _arrays.dense_strides(tuple(shape), 1)
    return _view([shape[a] for a in order], [strides[a] for a in order])


# --- shapes with symbols, as jax.export has them: what is moved is told without extents, which the arrays have when it runs


def is_symbolic(*extents: Any) -> bool:
    return not all(isinstance(e, (int, _np.integer)) for e in extents)


def _by_family(x: Any, order: Sequence[int], flipped: Sequence[int] = (), shifts: Sequence[int] | None = None) -> Any:
    """Axes flipped, then rolled, then put in an order, of any extents. A flip turns the shift behind it round on the way back."""
    by = list(shifts) if shifts is not None else [0] * x.ndim
    turned = [int(a in flipped) for a in range(x.ndim)]
    back = [order.index(a) for a in range(x.ndim)]
    again = [by[a] if turned[a] else -by[a] for a in order]
    words = (" ".join(map(str, each)) for each in (order, turned, by, back, [turned[a] for a in order], again))
    there_order, there_flips, there_shifts, *return_words = words
    return _moved(x, f"family {there_order}; {there_flips}; {there_shifts}", "family " + "; ".join(return_words),
                  [x.shape[a] for a in order])


def refuse_symbolic(operation: str, remedy: str, *extents: Any) -> None:
    """Refuses what is worked out from extents while a function is traced."""
    if is_symbolic(*extents):
        said = ", ".join(map(str, extents))
        refuse(operation, f"an array of shape ({said}), whose extents are symbols", "extents that are numbers", remedy,
               kind=FaroUnsupportedError)


def permute_dims(x: Any, axes: Sequence[int] | None = None, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """The axes in another order, as ``jax.numpy.permute_dims``. ``axes=None`` reverses them. ``inverse=True``: by the inverse
    order.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_dims(jnp.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    x = array_of(x, "permute_dims")
    order = _run.order_of(axes, x.ndim, "permute_dims")
    if inverse:
        order = tuple(order.index(a) for a in range(x.ndim))
    if change:
        return changed(x, "permute_dims", _changes.in_order(order, "permute_dims"), change)
    if is_symbolic(*x.shape):
        return _by_family(x, order)
    after = tuple(x.shape[a] for a in order)
    back = tuple(order.index(a) for a in range(x.ndim))
    return _moved(x, _axes_view(x.shape, order), _axes_view(after, back), after)



def flip(x: Any, axis: int | Sequence[int] | None = None, **change: Unpack[Change]) -> Any:
    """The elements along ``axis``, several or all axes, in reverse order, as ``jax.numpy.flip``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.flip(jnp.arange(3)).tolist()
    [2, 1, 0]
    """
    x = array_of(x, "flip")
    if change:
        return changed(x, "flip", _changes.flipped(_run.listed(axis), "flip"), change)
    flipped = _run.axes_of(_run.listed(axis), x.ndim, "flip")
    if is_symbolic(*x.shape):
        return _by_family(x, range(x.ndim), flipped)
    first = x.ndim - len(flipped)
    if x.size and flipped and set(flipped) == set(range(first, x.ndim)):
        text = f"text flip({math.prod(x.shape[first:])})"
        return _each(x, first, text, text)
    strides = _arrays.dense_strides(tuple(x.shape), 1)
    corner = sum((x.shape[a] - 1) * strides[a] for a in flipped if x.shape[a] > 1)
    move = _view(x.shape, [-s if a in flipped else s for a, s in enumerate(strides)], corner)
    return _moved(x, move, move, x.shape)


def _each(x: Any, axis: int, text: str, back: str) -> Any:
    """A map of all that lies along and behind an axis, for each of the arrays before it."""
    many, one = x.shape[:axis], (math.prod(x.shape[axis:]),)
    if not many:
        return _moved(x.reshape(one), text, back, one).reshape(x.shape)
    flat = x.reshape((math.prod(many),) + one)
    return move_bind(flat, move=text, back=back, before=one, after=one, batch=True).reshape(x.shape)


def roll(x: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None, *, inverse: bool = False,
         **change: Unpack[Change]) -> Any:
    """The elements shifted along an axis, and round its end, as ``jax.numpy.roll``; ``axis=None``: the flat array.
    ``inverse=True`` shifts them back.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.roll(jnp.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    if change:
        return changed_after(lambda: roll(x, shift, axis, inverse=inverse), "roll", change)
    x = array_of(x, "roll")
    given = _run.listed(shift)
    shift = tuple(_run.whole(s, "roll", "a shift of") for s in (given if isinstance(given, tuple) else (given,)))
    if inverse:
        shift = tuple(-s for s in shift)
    axis = _run.listed(axis)
    if axis is None:
        return roll(x.reshape(-1), sum(shift), 0).reshape(x.shape)
    sums = _run._shifts(shift, axis, x.ndim)
    if is_symbolic(*x.shape):
        return _by_family(x, range(x.ndim), shifts=sums)
    shifts = [s % extent if extent else 0 for s, extent in zip(sums, x.shape)]
    rolled = [a for a, s in enumerate(shifts) if s]
    if len(rolled) == 1 and x.size:
        a = rolled[0]
        count, inner = math.prod(x.shape[a:]), math.prod(x.shape[a + 1 :])
        there = shifts[a] * inner
        return _each(x, a, f"text roll({count}, {there})", f"text roll({count}, {(count - there) % count})")
    words = " ".join(map(str, shifts))
    return _moved(x, f"roll {words}", f"roll {' '.join(str(-s) for s in shifts)}", x.shape)


@functools.lru_cache(maxsize=1024)
def _text_moves(text: str, inverse: bool, shape: tuple[int, ...]) -> tuple[str, str, tuple[int, ...]]:
    """There, back, and the shape there; sizes that a text leaves to the array are said."""
    after = _run._plan_text(shape, _arrays.dense_strides(shape, 1), 1, (text, inverse), _run.options("cpu"))[1]
    said = _run.sized_pattern(text, shape, inverse) if "->" in text else maps.parse(text, shape or (1,)).text
    there, back = said, _run._inverse_text(said)
    return (f"text {back}", f"text {there}", after) if inverse else (f"text {there}", f"text {back}", after)


def permute(x: Any, by: "str | maps.Map", *, inverse: bool = False, axis: int | None = None, **change: Unpack[Change]) -> Any:
    """Element ``i`` of the flat array goes to ``m(i)``, for a map or its text (docs/guide/maps.md), as ``faro.permute``;
    ``axis``: of every slice along it. The indices of a map that was made of a long array are part of the program that XLA compiles.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute(jnp.arange(4), "bit_reversal").tolist()
    [0, 2, 1, 3]
    """
    if change:
        return changed_after(lambda: permute(x, by, inverse=inverse, axis=axis), "permute", change)
    x = array_of(x, "permute")
    if not isinstance(by, (str, maps.Map)):
        refuse("permute", f"a {type(by).__name__}", "a map or its text", kind=FaroTypeError)
    if axis is not None:
        return _along(x, by, inverse, _run.axis_of(axis, x.ndim, "permute"))
    if is_symbolic(*x.shape) or (inverse and isinstance(by, str) and _order_of_text(by, x.ndim)):
        return _of_any_shape(x, by, bool(inverse))
    if isinstance(by, maps.Map):
        if by.count != x.size:
            refuse("permute", f"an array of {x.size} elements", f"{by.count}, as the map has",
                   _run.along_remedy(x.shape, by.count))
        if not _says_all(by):
            return _by_images(x.reshape(-1), by, inverse, 0).reshape(x.shape)
        by = by.text
    there, back, after = _text_moves(by, bool(inverse), tuple(x.shape))
    return _moved(x, there, back, after)


def _order_of_text(text: str, rank: int) -> list[int]:
    """That of `axes(2 0 1)`, whose extents are the array's; none of any other text."""
    said = text.strip()
    order = [int(word) for word in said[5:].rstrip(") ").split() if word.isdigit()] if said.startswith("axes(") and ";" not in said else []
    return order if sorted(order) == list(range(rank)) else []


def _of_any_shape(x: Any, by: "str | maps.Map", inverse: bool) -> Any:
    """Patterns and orders of axes, whose extents may be symbols; other maps are of so many elements."""
    said = by.strip() if isinstance(by, str) else ""
    told = single_axes(said, x.shape, inverse, {}) if "->" in said else None
    if told is not None:
        extents, order, result = told
        return permute_dims(x.reshape(extents), order).reshape(result)
    if said == "transpose":
        return permute_dims(x)
    order = _order_of_text(said, x.ndim)
    if order:
        return permute_dims(x, order, inverse=inverse)
    refuse_symbolic("permute", "axis= permutes along one whose extent is a number; permute_dims, flip and roll take any", *x.shape)


def _says_all(by: maps.Map) -> bool:
    """Whether a map's text can be read, and is not cut short as that of a long index array is."""
    try:
        maps.parse(by.text)
    except FaroValueError:
        return False
    return True


def _by_images(x: Any, by: maps.Map, inverse: bool, axis: int) -> Any:
    images = by.indices
    return take(x, images, axis) if inverse else put_every(x, images, axis, "permute")


def _along(x: Any, by: "str | maps.Map", inverse: bool, axis: int) -> Any:
    """What lies behind the axis is an element of so many bytes; long ones are rows by indices."""
    refuse_symbolic("permute", "flip and roll take axes of any extent", x.shape[axis])
    extent, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    chosen = _functions._chosen(by, extent, False) if isinstance(by, str) else by
    if chosen.count != extent:
        refuse("permute", f"axis {axis} of {extent}", f"{chosen.count}, as the map has")
    if 0 in [e for e in x.shape if not is_symbolic(e)]:
        return x
    if is_symbolic(inner) or inner * x.dtype.itemsize > _run._MOST_BYTES or not _says_all(chosen):
        return _by_images(x, chosen, inverse, axis)
    texts = chosen.text, (~chosen).text
    there, back = (f"{'rows ' if inner > 1 else ''}text {text}" for text in (reversed(texts) if inverse else texts))
    one = (extent, inner) if inner > 1 else (extent,)
    flat = x.reshape((math.prod(x.shape[:axis]),) + one)
    return move_bind(flat, move=there, back=back, before=one, after=one, batch=True).reshape(x.shape)


def bit_reverse(x: Any, axis: int | None = None, **change: Unpack[Change]) -> Any:
    """Element ``i`` goes to the reverse of i's bits, along ``axis`` or the flat array. Its own inverse.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.bit_reverse(jnp.arange(4)).tolist()
    [0, 2, 1, 3]
    """
    return permute(x, "bit_reversal", axis=axis, **change)


def permute_qubits(state: Any, order: Sequence[int], *, little_endian: bool = False, inverse: bool = False,
                   **change: Unpack[Change]) -> Any:
    """The qubits of state vectors in another order, as ``faro.permute_qubits``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_qubits(jnp.arange(4), (1, 0)).tolist()
    [0, 2, 1, 3]
    """
    state = array_of(state, "permute_qubits")
    given = _run.inverse_order(order, "permute_qubits") if inverse else _run.listed(order)
    if not isinstance(given, tuple):
        refuse("permute_qubits", f"the order {order!r}", "a sequence of qubits", kind=FaroTypeError)
    n = len(given)
    if change:
        return changed(state, "permute_qubits", _changes.of_qubits(given, little_endian), change)
    dims = _run.qubit_axes(given, little_endian)
    grouped = state.shape[state.ndim - n :] == (2,) * n and n > 0
    if not grouped and (state.ndim == 0 or state.shape[-1] != 1 << n):
        refuse("permute_qubits", f"an array of shape {state.shape}",
               f"2^{n} amplitudes in the last axis, or {n} axes of two")
    before = state.shape[: state.ndim - n] if grouped else state.shape[:-1]
    axes = state.reshape(before + (2,) * n)
    k = len(before)
    return permute_dims(axes, [*range(k), *(k + d for d in dims)]).reshape(state.shape)


def rearrange(x: Any, pattern: str, *, inverse: bool = False, **named: Any) -> Any:
    """The axes as a pattern of einops says, without sums or repeats, as ``faro.rearrange``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.rearrange(jnp.zeros((2, 6)), "a (b c) -> b a c", b=3).shape
    (3, 2, 2)
    """
    x = array_of(x, "rearrange")
    lengths, change = _changes.apart(pattern, named)
    view = _changes.of_pattern(pattern, x.shape, inverse, lengths) if change else None
    if view is not None:
        return changed(x, "rearrange", lambda _: view, change)
    said = "".join(f", {name}={_run.whole(length, 'rearrange', f'{name} =', 0)}" for name, length in lengths.items())
    return permute(x, pattern + said, inverse=inverse, **change)


def aos_to_soa(x: Any, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """An array of structures, of shape (n, words), as a structure of arrays, of shape (words, n), and with ``inverse=True`` back.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.aos_to_soa(jnp.array([[1, 2], [3, 4], [5, 6]])).tolist()
    [[1, 3, 5], [2, 4, 6]]
    """
    return _turned(x, *(("soa_to_aos", "words, structures") if inverse else ("aos_to_soa", "structures, words")), **change)


def soa_to_aos(x: Any, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """The inverse of ``aos_to_soa``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.soa_to_aos(jnp.array([[1, 3, 5], [2, 4, 6]])).tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    return aos_to_soa(x, inverse=not inverse, **change)


def _turned(x: Any, operation: str, wanted: str, **change: Any) -> Any:
    x = array_of(x, operation)
    if x.ndim != 2:
        refuse(operation, f"an array of {x.ndim} axes", f"shape ({wanted})")
    return permute_dims(x, (1, 0), **change)


# --- polynomials modulo X^n + 1


def permute_negacyclic(x: Any, k: int, *, modulus: Any = 0) -> Any:
    """X -> X^k of polynomials modulo X^n + 1, whose n coefficients are the last axis, as ``faro.permute_negacyclic``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_negacyclic(jnp.array([1, 2, 3, 4]), 3).tolist()
    [1, 4, -3, 2]
    """
    x = array_of(x, "permute_negacyclic")
    moduli = _automorphisms.moduli_of(modulus, x.shape[:-1])
    signed = " ".join(str(each - 2**64 if each >= 2**63 else each) for each in moduli)  # the same bits
    return _automorphism(x, k, "permute_negacyclic", "negacyclic {} " + signed, modulus=max(moduli, default=0))


def permute_evaluations(x: Any, k: int) -> Any:
    """The same automorphism on a polynomial's values in bit-reversed order, as ``faro.permute_evaluations``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_evaluations(jnp.arange(4), 3).tolist()
    [2, 3, 0, 1]
    """
    return _automorphism(array_of(x, "permute_evaluations"), k, "permute_evaluations", "evaluations {}")


def _automorphism(x: Any, k: Any, operation: str, move: str, **how: Any) -> Any:
    """k of 1 to 2 n - 1 has an inverse modulo 2 n, which is the way back and the transpose, signs and all."""
    number = _run.whole(k, operation, "k =")
    # What is wrong with n, k, the modulus or the type of numbers is said of no polynomials of this kind.
    none = (0,) + x.shape[-1:] if x.ndim else ()
    refuse_symbolic(operation, "the polynomials' number may be a symbol, their length is a number", *x.shape[-1:])
    getattr(_automorphisms, operation)(_np.zeros(none, x.dtype), number, **how)
    if 0 in [e for e in x.shape if not is_symbolic(e)]:
        return x
    turns = 2 * x.shape[-1]
    return _moved(x, move.format(number % turns), move.format(pow(number, -1, turns)), x.shape)


