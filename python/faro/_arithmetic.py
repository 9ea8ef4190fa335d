"""Numbers that are changed while they are moved: converted, scaled, added, in the sweep that permutes.

    out[pi(i)] = to( scale * op(x[i]) + offset + beta * add[pi(i)] )

The functions that take ``dtype=`` and the others of ``Change`` (_changes.py) come to ``moved``, which hands arrays of JAX and
tensors whose operations are recorded to their libraries' modules, and all others to the engine.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, NamedTuple, Sequence

from . import _arrays, _changes, _faro, _kinds, _libraries, _run
from ._changes import Change, How, View, ViewOf
from ._errors import FaroTypeError, FaroUnsupportedError, refuse

__all__ = ["astype", "channels_first"]


# --- types of numbers


class _Type(NamedTuple):
    """A type of numbers: the library's own, its place in faro.h, and whether its bytes are in the other order."""

    dtype: Any
    number: int
    swapped: bool


@functools.lru_cache(maxsize=256)
def _type_of(dtype: Any, operation: str, of_input: bool = False) -> _Type:
    """Kept, since NumPy makes a type's name anew each time."""
    _changes.check_type(dtype, operation, of_input)
    return _Type(dtype, _changes.NUMBERS.index(_changes.name_of(dtype)), not getattr(dtype, "isnative", True))


def _asked_type(dtype: Any, x: Any, operation: str) -> _Type:
    """The result's type in the input's library."""
    if _arrays.is_tensor(x):
        return _type_of(_libraries.functions_for("torch").type_named(dtype, operation), operation)
    return _type_of(type_named(dtype, operation), operation)


def type_named(dtype: Any, operation: str) -> Any:
    """A type of NumPy's or of ml_dtypes, or of such a name."""
    np = _arrays.numpy()
    named = dtype if isinstance(dtype, (str, type)) else _changes.name_of(dtype)
    try:
        return np.dtype(dtype if hasattr(dtype, "isnative") else named)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        refuse(operation, f"dtype={dtype!r}", "a type that NumPy knows; ml_dtypes has bfloat16 and 8-bit floats", kind=FaroTypeError)
    found = getattr(ml_dtypes, str(named), None)
    if found is None:
        refuse(operation, f"dtype={dtype!r}", "a type of NumPy's or of ml_dtypes, or its name", kind=FaroTypeError)
    return np.dtype(found)


# --- scales and offsets

Values = tuple[tuple[complex, ...], int] | None  # and the axis of the view that several are along


def values_of(given: Any, shape: Sequence[int], what: str, operation: str) -> tuple[tuple[complex, ...], int | None] | None:
    """Its values, and the axis of the result that several are along."""
    if given is None:
        return None
    if isinstance(given, (int, float, complex)):
        return (complex(given),), None
    np = _arrays.numpy()
    if _arrays.is_tensor(given):
        given = given.detach().cpu()
        given = (given.to(_torch().complex128) if given.is_complex() else given.to(_torch().float64)).numpy()
    array = _arrays.as_array(given, operation)
    if array.dtype.kind not in "biufcV" or array.dtype.fields is not None:
        refuse(operation, f"{what}= of elements {array.dtype}", "numbers", kind=FaroTypeError)
    axis = _changes.axis_of_values(array.shape, shape, what, operation)
    return tuple(complex(v) for v in np.ravel(array).astype(np.complex128)), axis


def _torch() -> Any:
    import torch

    return torch


# --- a view by the engine


@functools.lru_cache(maxsize=1024)
def _planned(extents: Any, in_strides: Any, out_strides: Any, numbers: Any, op: int, scale: Values, offset: Values, addend: Any,
             flags: Any, device: int | None) -> Any:
    made = None if addend is None else _faro.Addend(*addend)
    return _faro.plan_arithmetic(extents, in_strides, out_strides, numbers, op, scale, offset, made, list(flags),
                                 _run.options_for(device))


def _elements(strides: Sequence[int], itemsize: int) -> tuple[int, ...] | None:
    """Strides in elements; None where they are no whole number of them."""
    if any(stride % itemsize for stride in strides):
        return None
    return tuple(stride // itemsize for stride in strides)


def _laid_in_elements(array: _arrays.Array) -> tuple[_arrays.Array, tuple[int, ...]]:
    """The array, or a dense copy of one whose elements lie at parts of their width from one another."""
    strides = _elements(array.strides, array.itemsize)
    if strides is not None:
        return array, strides
    copy = _arrays.describe(_run.run(array.keep, _run.COPY, None, None, None))
    return copy, _elements(copy.strides, copy.itemsize) or ()


def _split(shape: Sequence[int], strides: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """The strides of the axes that an array's are split to."""
    if 0 in shape:
        return (0,) * len(extents)
    made: list[int] = []
    for extent, stride in zip(shape, strides):
        first = len(made)
        while math.prod(extents[first : len(made)]) < extent:
            made.append(0)
        for place in reversed(range(first, len(made))):
            made[place] = stride * math.prod(extents[place + 1 : len(made)])
    return tuple(made + [0] * (len(extents) - len(made)))


class _Laid(NamedTuple):
    """An array as the axes of a view have it, before they are joined."""

    address: int
    strides: tuple[int, ...]  # in elements
    type: _Type


def _read(array: _arrays.Array, view: View, type_: _Type) -> _Laid:
    """The input, in the result's order."""
    array, strides = _laid_in_elements(array)
    strides = strides if view.extents is None else _split(array.shape, strides, view.extents)
    address, extents, made = array.address, view.moved_extents(array.shape), [strides[a] for a in view.order]
    for axis in view.flipped:
        address += made[axis] * (extents[axis] - 1) * array.itemsize
        made[axis] = -made[axis]
    return _Laid(address, tuple(made), type_)


def _written(target: _arrays.Array, extents: Sequence[int], asked: _Type | None, operation: str) -> _Laid:
    type_ = _type_of(target.dtype, operation)
    if asked is not None and type_[1:] != asked[1:]:
        refuse(operation, f"out= of elements {target.dtype}", f"elements {asked.dtype}")
    strides = _elements(target.strides, target.itemsize)
    if strides is None:
        refuse(operation, f"out= of strides {target.strides} bytes", f"a multiple of {target.itemsize}")
    return _Laid(target.address, _split(target.shape, strides, extents), type_)


def _added(add: Any, target: _arrays.Array, extents: Sequence[int], operation: str) -> _Laid:
    array = _arrays.describe(add)
    if array.shape != target.shape or array.device != target.device:
        refuse(operation, f"add= of shape {array.shape}", f"shape {target.shape}, on the same device")
    type_ = _type_of(array.dtype, operation)
    array, strides = _laid_in_elements(array)
    return _Laid(array.address, _split(array.shape, strides, extents), type_)


def by_view(x: Any, operation: str, view: View, how: How, scale: Values = None, offset: Values = None, add: Any = None,
            beta: complex = 1, out: Any = None, stream: Any = None) -> Any:
    """``x`` by a view, with its numbers changed: a new dense array, or ``out``. Axes of values are those of the view, before joining."""
    array = _arrays.describe(x)
    queue = _run.stream_of(array, stream, operation)
    from_type = _type_of(array.dtype, operation, of_input=True)
    asked = None if how.dtype is None else _asked_type(how.dtype, x, operation)
    extents = tuple(view.moved_extents(array.shape))
    shape = extents if view.shape is None else tuple(view.shape)
    result = _new(x, array, shape, (asked or from_type).dtype) if out is None else out
    target = _arrays.describe(result, writable=True)
    if target.shape != shape:
        refuse(operation, f"out= of shape {target.shape}", f"shape {shape}")
    if target.device != array.device:
        refuse(operation, "out= on another device", "one device")
    to = _written(target, extents, asked, operation)
    other = None if add is None else _added(add, target, extents, operation)
    if 0 not in shape:
        given = _read(array, view, from_type)
        addend = other and (other.type.number, other.strides, complex(beta), other.type.swapped)
        flags = how.to_nearest, how.saturate, from_type.swapped, to.type.swapped
        plan = _planned(extents, given.strides, to.strides, (from_type.number, to.type.number), _changes.OPS.index(how.op), scale, offset,
                        addend, flags, array.device)
        plan.run(given.address, other.address if other else 0, to.address, array.size * (array.itemsize + target.itemsize), queue)
    return result if out is not None else _arrays.given_back(x, result)


def _new(x: Any, array: _arrays.Array, shape: tuple[int, ...], dtype: Any) -> Any:
    if _arrays.is_tensor(x):
        return _torch().empty(shape, dtype=dtype, device=x.device)
    if array.device is None:
        return _arrays.new_numbers(shape, dtype)
    return array.new(shape) if dtype == array.dtype else _arrays.new_on_device(x, shape, dtype)


# --- what functions with the keywords of Change do


def moved(x: Any, operation: str, view_of: ViewOf, change: Change, out: Any = None, stream: Any = None, in_place: bool = False) -> Any:
    """``x`` by a view of its shape, with its numbers changed: a new dense array, or ``out``."""
    how = _changes.how_of(change, operation)
    if in_place:
        refuse(operation, f"in_place=True with {next(iter(change))}=", "two arrays", "leave in_place= out", kind=FaroUnsupportedError)
    beside = [change.get(name) for name in ("scale", "offset", "add", "beta")]
    recorder = _run.recording(operation, (x, *beside), out, stream)
    if recorder is not None:
        return recorder.changed(x, operation, view_of, change)
    if _arrays.by_jax(operation, x, *beside, out=out, stream=stream):
        return _libraries.functions_for("jax").changed(x, operation, view_of, change)
    if _kinds.is_masked(x):
        refuse(operation, f"a masked array with {next(iter(change))}=", "an array without a mask", "x.filled(value) has none")
    given = x if _arrays.is_tensor(x) else _kinds.read(x, operation)
    view = view_of(_shape_of(given))
    extents = view.moved_extents(_shape_of(given))
    values = [_placed(change.get(what), extents, view, what, operation) for what in ("scale", "offset")]
    if _IN_PARTS in values:
        return moved(by_view(given, operation, view, How(None)), operation, _changes.unmoved, change, out, stream)
    beta = change.get("beta")
    return by_view(given, operation, view, how, values[0], values[1], change.get("add"), 1 if beta is None else complex(beta), out, stream)


_IN_PARTS: Any = "along several axes of the view at once"  # so that the array is moved before, in a sweep more


def _placed(given: Any, extents: Sequence[int], view: View, what: str, operation: str) -> Values:
    shape = extents if view.shape is None else view.shape
    values = values_of(given, shape, what, operation)
    if values is None or values[1] is None:
        return values and (values[0], 0)
    axis = _changes.axis_before_joining(values[1], shape, extents)
    return _IN_PARTS if axis is None and 0 not in shape else (values[0], axis or 0)


def _shape_of(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if hasattr(x, "shape") else _arrays.describe(x).shape


def changed_after(move: Callable[[], Any], operation: str, change: Change, out: Any = None, stream: Any = None,
                  in_place: bool = False) -> Any:
    """What is moved by no view, and changed in a sweep more."""
    _changes.how_of(change, operation)
    return moved(None if in_place else move(), operation, _changes.unmoved, change, out, stream, in_place)


def astype(x: Any, dtype: Any, axes: Sequence[int] | None = None, *, out: Any = None, stream: Any = None, **change: Any) -> Any:
    """The numbers in another type, as ``x.astype(dtype)``, and with ``axes`` the axes in that order, in one sweep: a new dense
    array.

    The other keywords are those of ``Change``: ``scale``, ``offset``, ``op``, ``add``, ``beta``, ``rounding``, ``saturate``. Arrays of
    NumPy (with ml_dtypes' types), PyTorch and JAX, of either byte order. Integers saturate, and take 0 for NaN. Raises
    FaroTypeError for types that are no numbers. Reads and writes every element once.

    >>> import numpy as np, faro
    >>> faro.astype(np.array([[1.5, -2.5], [300, np.nan]]), "uint8", (1, 0)).tolist()
    [[1, 255], [0, 0]]
    """
    view_of = _changes.unmoved if axes is None else _changes.in_order(axes, "astype")
    return moved(x, "astype", view_of, {"dtype": dtype, **change}, out, stream)  # type: ignore[typeddict-item]


def channels_first(images: Any, dtype: Any = "float32", *, mean: Any = 0.0, std: Any = 1.0, out: Any = None, stream: Any = None) -> Any:
    """Images of height, width and channels, one or a batch of them, as channels, height, width of floats, normalised as torchvision does:
    ``(x - mean) / std`` of a channel, where bytes count as 0 to 1. A new dense array.

    ``mean`` and ``std``: a number, or one for each channel. Raises FaroValueError for other shapes, and a ``std`` of 0. Reads and writes
    every element once.

    >>> import numpy as np, faro
    >>> faro.channels_first(np.full((2, 2, 3), 255, np.uint8), mean=0.5, std=0.25).tolist()[0]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    return moved(images, "channels_first", _changes.channels_before, _changes.normalised(images, dtype, mean, std), out, stream)
