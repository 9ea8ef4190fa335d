"""Arithmetic while arrays of JAX are moved: one primitive, linear in what it moves and adds where its function is.

    y[pi(i)] = to( scale * f(x[i]) + offset + beta * add[pi(i)] )

Scale, offset and beta are constants of the program. Those that are traced are applied by XLA, between two calls: f and the move, and
the rounding. A derivative multiplies a tangent by f' and moves it as its array is; the way back is the inverse view, with the
constants as they are, for JAX conjugates none.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Callable, Sequence

import jax as _jax
import jax.numpy as _jnp
import numpy as _np
from jax.interpreters import ad as _ad, batching as _batching

from . import _arithmetic, _arrays, _changes
from ._changes import Change, How, View, ViewOf
from ._errors import refuse
from ._jax_primitives import _carrier, _primitive, _shaped, _TARGET, array_of, no_tangent, vary_alike

_ONE = _arithmetic.ONE
_LINEAR = ("identity", "conjugate", "negate")
_RULES = {"offset": None, "to_nearest": False, "saturate": False}  # of a tangent


# --- the primitive, and its text, which python/src/xla.cpp reads


def _shape(x: Any, *add: Any, order: Sequence[int], dtype: Any, **how: Any) -> Any:
    return _shaped([x.shape[a] for a in order], dtype, x)


def _bits(numbers: bytes) -> str:
    """Real and imaginary parts by turns, each the whole number of the same 64 bits."""
    return " ".join(map(str, struct.unpack(f"{len(numbers) // 8}q", numbers)))


def _values_text(values: Any) -> str:
    return "" if values is None else f"{values[1]} {_bits(values[0])}"


def _number(dtype: Any) -> int:
    return _changes.NUMBERS.index(_changes.name_of(dtype))


def _lower(ctx: Any, x: Any, *add: Any, order: Any, flipped: Any, dtype: Any, op: str, scale: Any, offset: Any, beta: bytes,
           to_nearest: bool, saturate: bool) -> Any:
    given = ctx.avals_in[0]
    extents, dense = [given.shape[a] for a in order], _arrays.dense_strides(tuple(given.shape), 1)
    strides = [dense[a] * (-1 if place in flipped else 1) for place, a in enumerate(order)]
    corner = sum((extents[place] - 1) * dense[order[place]] for place in flipped)
    addend = _number(ctx.avals_in[1].dtype) if add else -1
    words = (
        f"{_number(given.dtype)} {_number(dtype)} {addend} {_changes.OPS.index(op)} {int(to_nearest)} {int(saturate)}",
        " ".join(map(str, extents)), " ".join(map(str, strides)), str(corner), _values_text(scale), _values_text(offset), _bits(beta),
    )
    return _jax.ffi.ffi_lowering(_TARGET)(ctx, x, *add, move=f"arithmetic {';'.join(words)}")


_changed = _primitive("faro_arithmetic", _shape, _lower)


# --- derivatives


def _slopes(op: str, x: Any) -> Any:
    """f'(x), for the complex functions among them the derivative of a function of one complex number."""
    if op == "reciprocal":
        return -1 / (x * x)
    if op == "square_root":
        return 0.5 / _jnp.sqrt(x)
    if op == "exp":
        return _jnp.exp(x)
    if op == "log":
        return 1 / x
    if op == "tanh":
        return 1 - _jnp.tanh(x) ** 2
    if op == "sigmoid":
        return _sigmoid(x) * (1 - _sigmoid(x))
    if op == "relu":
        return (x > 0).astype(x.dtype)
    return (1 + _jax.lax.erf(x * math.sqrt(0.5))) / 2 + x * _jnp.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + _jnp.exp(-x))


def _scaled_tangent(op: str, x: Any, tangent: Any) -> Any:
    """f'(x) times a tangent of x, and the function that is left to be done."""
    wide = _wide(x.dtype)
    x, tangent = x.astype(wide), tangent.astype(wide)
    if op == "absolute":
        made = _jnp.conj(_jnp.sign(x)) * tangent
        return made.real if _jnp.iscomplexobj(made) else made
    return _slopes(op, x) * tangent


def _wide(*dtypes: Any) -> Any:
    """The narrowest type of 32 bits and more that holds the numbers of these, of those that JAX has."""
    kinds = [_np.dtype(dtype) for dtype in dtypes]
    wide = any(d.itemsize == 8 and d.kind != "c" or d.itemsize == 16 or d.kind in "iu" and d.itemsize == 4 for d in kinds)
    is_complex = any(d.kind == "c" for d in kinds)
    return _jax.dtypes.canonicalize_dtype(f"{'complex' if is_complex else 'float'}{(64 if wide else 32) * (2 if is_complex else 1)}")


def _tangents(primals: Any, tangents: Any, *, dtype: Any, op: str, order: Any, beta: bytes, **how: Any) -> Any:
    x, *add = primals
    made = _changed.bind(x, *add, dtype=dtype, op=op, order=order, beta=beta, **how)
    of_x, *of_add = tangents
    added = [t for t in of_add if not isinstance(t, _ad.Zero)]
    if not _jnp.issubdtype(dtype, _jnp.inexact) or isinstance(of_x, _ad.Zero) and not added:
        return made, no_tangent(made)
    if isinstance(of_x, _ad.Zero):
        return made, _sum(added[0], dtype, beta)
    if op not in _LINEAR:
        of_x, op = _scaled_tangent(op, x, of_x), "identity"
    return made, _changed.bind(*vary_alike(of_x, *added), dtype=dtype, op=op, order=order, beta=beta if added else _ONE, **{**how, **_RULES})


def _sum(x: Any, dtype: Any, factor: bytes) -> Any:
    """``x`` where it is, times a number."""
    return _changed.bind(x, order=tuple(range(x.ndim)), flipped=(), dtype=dtype, op="identity", scale=(factor, 0), beta=_ONE, **_RULES)


def _transposed(ct: Any, x: Any, *add: Any, order: Any, flipped: Any, dtype: Any, op: str, scale: Any, beta: bytes, **how: Any) -> Any:
    to_x = to_add = None
    if isinstance(ct, _ad.Zero):
        return [None] * (1 + len(add))
    if _ad.is_undefined_primal(x):
        back = tuple(order.index(a) for a in range(len(order)))
        values = scale
        if scale is not None and _arithmetic.several(scale[0]):
            values = (_numbers(scale)[::-1].tobytes() if scale[1] in flipped else scale[0], order[scale[1]])
        if values is not None and op == "conjugate":
            values = (_numbers(values).conj().tobytes(), values[1])
        to_x = _changed.bind(ct, order=back, flipped=tuple(order[place] for place in flipped), dtype=x.aval.dtype, op=op, scale=values,
                             beta=_ONE, **_RULES)
    if add and _ad.is_undefined_primal(add[0]):
        to_add = _sum(ct, add[0].aval.dtype, beta)
    return [to_x, to_add][: 1 + len(add)]


def _numbers(values: Any) -> Any:
    return _np.frombuffer(values[0], _np.complex128)


_ad.primitive_jvps[_changed] = _tangents
_ad.primitive_transposes[_changed] = _transposed


def _batched(arrays: Any, axes: Any, *, order: Any, flipped: Any, scale: Any, offset: Any, **how: Any) -> Any:
    count = next(x.shape[axis] for x, axis in zip(arrays, axes) if axis is not None)
    arrays = [_jnp.broadcast_to(x, (count,) + x.shape) if axis is None else _jnp.moveaxis(x, axis, 0) for x, axis in zip(arrays, axes)]
    scale, offset = (values and (values[0], values[1] + 1 if _arithmetic.several(values[0]) else 0) for values in (scale, offset))
    return _changed.bind(*vary_alike(*arrays), order=(0, *(a + 1 for a in order)), flipped=tuple(a + 1 for a in flipped), scale=scale,
                         offset=offset, **how), 0


_batching.primitive_batchers[_changed] = _batched


# --- what functions with the keywords of Change do


def changed(x: Any, operation: str, view_of: ViewOf, change: Change) -> Any:
    """An array by a view of its shape, with its numbers changed."""
    how = _changes.how_of(change, operation)
    x = array_of(x, operation)
    x = x.astype(_carrier(x.dtype) or x.dtype)
    dtype = x.dtype if how.dtype is None else _jax.dtypes.canonicalize_dtype(_arithmetic.type_named(how.dtype, operation))
    _changes.check_type(x.dtype, operation, of_input=True)
    _changes.check_type(dtype, operation)
    view = view_of(x.shape)
    extents = view.moved_extents(x.shape)
    shape = tuple(extents if view.shape is None else view.shape)
    add = change.get("add")
    if add is not None:
        add = array_of(add, operation)
        _changes.check_type(add.dtype, operation)
        if add.shape != shape:
            refuse(operation, f"add= of shape {add.shape}", f"shape {shape}, on the same device")
    given = [_as_array(change.get(what), operation) for what in ("scale", "offset", "beta")]
    axes = [None if values is None or _jnp.ndim(values) == 0 else _changes.axis_of_values(_jnp.shape(values), shape, what, operation)
            for values, what in zip(given, ("scale", "offset", "beta"))]
    places = [None if axis is None else _changes.axis_before_joining(axis, shape, extents) for axis in axes]
    in_parts = any(axis is not None and place is None for axis, place in zip(axes, places))  # along several axes at once
    if in_parts or any(map(_arrays.is_traced, given)):
        return _by_xla(x, view, how, dtype, given, add).reshape(shape)
    scale, offset, beta = (_constants(values, what, shape, place, operation)
                           for values, what, place in zip(given, ("scale", "offset", "beta"), places))
    arrays = [x if view.extents is None else x.reshape(tuple(view.extents))] + ([] if add is None else [add.reshape(tuple(extents))])
    made = _changed.bind(*vary_alike(*arrays), order=tuple(view.order), flipped=tuple(view.flipped), dtype=dtype, op=how.op, scale=scale,
                         offset=offset, beta=_ONE if beta is None else beta[0], to_nearest=how.to_nearest, saturate=how.saturate)
    return made.reshape(shape)


def _as_array(given: Any, operation: str) -> Any:
    return _arrays.as_array(given, operation) if isinstance(given, (list, tuple)) else given


def _constants(given: Any, what: str, shape: Any, place: int | None, operation: str) -> Any:
    values = _arithmetic.values_of(_np.asarray(given) if _arrays.is_jax(given) else given, shape, what, operation)
    return None if values is None else (values[0], place or 0)


def _by_xla(x: Any, view: View, how: How, dtype: Any, given: Sequence[Any], add: Any) -> Any:
    """f and the move, then sums and products by XLA, then the rounding."""
    scale, offset, beta = given
    arrays = [each for each in (x, scale, offset, add, beta) if each is not None]
    wide = _wide(dtype, *(_jnp.asarray(each).dtype for each in arrays))
    made = _plain(x if view.extents is None else x.reshape(tuple(view.extents)), view, wide, op=how.op)
    if view.shape is not None:
        made = made.reshape(tuple(view.shape))
    made = made if scale is None else made * _jnp.asarray(scale, wide)
    made = made if offset is None else made + _jnp.asarray(offset, wide)
    if add is not None:
        made = made + (add.astype(wide) if beta is None else add.astype(wide) * _jnp.asarray(beta, wide))
    return _plain(made, _changes.unmoved(made.shape), dtype, to_nearest=how.to_nearest, saturate=how.saturate)


def _plain(x: Any, view: View, dtype: Any, op: str = "identity", **rounded: bool) -> Any:
    return _changed.bind(x, order=tuple(view.order), flipped=tuple(view.flipped), dtype=dtype, op=op, scale=None, beta=_ONE,
                         **{**_RULES, **rounded})


def changed_after(move: Callable[[], Any], operation: str, change: Change) -> Any:
    """What is moved by no view, and changed in a sweep more."""
    _changes.how_of(change, operation)
    return changed(move(), operation, _changes.unmoved, change)


def astype(x: Any, dtype: Any, axes: Sequence[int] | None = None, **change: Any) -> Any:
    """The numbers in another type, and with ``axes`` the axes in that order, in one sweep, as ``faro.astype``. Scales, offsets and
    factors that are traced are applied by XLA, in sweeps of their own.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.astype(jnp.array([[1.5, -2.5], [300, 4]]), "uint8", (1, 0)).tolist()
    [[1, 255], [0, 4]]
    """
    view_of = _changes.unmoved if axes is None else _changes.in_order(axes, "astype")
    return changed(x, "astype", view_of, {"dtype": dtype, **change})  # type: ignore[typeddict-item]


def channels_first(images: Any, dtype: Any = "float32", *, mean: Any = 0.0, std: Any = 1.0) -> Any:
    """Images of height, width and channels, one or a batch of them, as channels, height, width of floats: ``(x - mean) / std`` of a
    channel, where bytes count as 0 to 1, as ``faro.channels_first``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.channels_first(jnp.full((2, 2, 3), 255, "uint8"), mean=0.5, std=0.25).tolist()[0]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    return changed(images, "channels_first", _changes.channels_before, _changes.normalised(images, dtype, mean, std))
