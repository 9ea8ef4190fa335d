"""Arithmetic while tensors are moved, as an operator of PyTorch with its derivatives.

    y[pi(i)] = to( scale * f(x[i]) + offset + beta * add[pi(i)] )

    gradient of   x       conj(scale) g, moved back, times conj(f'(x))        f linear: one sweep
                  add     conj(beta) g
                  scale   the sum of conj(f(x)) g, moved, over all axes but the one that it is along; so offset, of g,
                          and beta, of conj(add) g

Gradients are made of this operator and PyTorch's own, so that they have gradients themselves. A number that the caller gives is a
tensor without axes here.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch as _torch

from . import _arithmetic, _changes
from ._changes import Change, How, View, ViewOf
from ._errors import FaroTypeError, refuse
from ._torch_operators import by_operator, call, first, inverse_order, one_by_one, operator

_TYPES = {name: getattr(_torch, name) for name in _changes.NUMBERS if hasattr(_torch, name)}
_LINEAR = ("identity", "conjugate", "negate")


def type_named(dtype: Any, operation: str) -> Any:
    """A type of PyTorch's, or of its name."""
    if not isinstance(dtype, _torch.dtype):
        name = _changes.name_of(dtype)
        if name not in _TYPES:
            refuse(operation, f"dtype={dtype!r}", "a type of PyTorch's, or its name", kind=FaroTypeError)
        dtype = _TYPES[name]
    return dtype


# --- derivatives


def _wide(*dtypes: Any) -> Any:
    """What products of such numbers are summed in: float32, float64, or complex numbers of such parts."""
    is_complex = any(dtype.is_complex for dtype in dtypes)
    is_double = any(dtype.itemsize == 8 + 8 * dtype.is_complex for dtype in dtypes)
    if is_complex:
        return _torch.complex128 if is_double else _torch.complex64
    return _torch.float64 if is_double else _torch.float32


def _real(dtype: Any) -> Any:
    return {_torch.complex64: _torch.float32, _torch.complex128: _torch.float64}.get(dtype, dtype)


def _as(x: Any, dtype: Any) -> Any:
    return (x.real if x.is_complex() and not dtype.is_complex else x).to(dtype)


def _gelu_slope(x: Any) -> Any:
    return (1 + _torch.erf(x * math.sqrt(0.5))) / 2 + x * _torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


_SLOPES: dict[str, Callable[[Any], Any]] = {
    "absolute": lambda x: _torch.sgn(x).conj(),  # of complex numbers: the real part of its product with a tangent counts
    "reciprocal": lambda x: -1 / (x * x),
    "square_root": lambda x: 0.5 / _torch.sqrt(x),
    "exp": _torch.exp,
    "log": lambda x: 1 / x,
    "tanh": lambda x: 1 - _torch.tanh(x) ** 2,
    "sigmoid": lambda x: _torch.sigmoid(x) * (1 - _torch.sigmoid(x)),
    "relu": lambda x: (x > 0).to(x.dtype),
    "gelu": _gelu_slope,
}


def _slope(op: str, x: Any) -> Any:
    return _SLOPES[op](x.to(_wide(x.dtype)))


def _along(values: Any, axis: int, rank: int) -> Any:
    """Values as they are broadcast to a result of so many axes."""
    return values if values.dim() == 0 else values.reshape([-1] + [1] * (rank - 1 - axis))


def _summed(x: Any, values: Any, axis: int) -> Any:
    """The gradient of values that were broadcast."""
    others = [a for a in range(x.dim()) if values.dim() == 0 or a != axis]
    return _as(x.sum(others) if others else x, values.dtype)


def _changed(x: Any, dims: Sequence[int], flipped: Sequence[int], dtype: Any, op: str = "identity", scale: Any = None, scale_axis: int = 0,
             add: Any = None, beta: Any = None) -> Any:
    return call("arithmetic", x, dims, flipped, dtype, op, scale, scale_axis, None, 0, add, beta, False, False)


def _conjugated(values: Any) -> Any:
    return None if values is None else values.conj().resolve_conj()


def _gradient(g: Any, x: Any, how: Any, dtype: Any) -> Any:
    """Of the input: ``x`` itself is asked for where f is not linear."""
    dims, flipped, op, scale, axis = how
    back, axis_back = [dims[k] for k in flipped], dims[axis] if dims else 0
    if scale is not None and scale.dim() == 1 and axis in flipped:
        scale = scale.flip(0)
    if op == "conjugate":
        return _changed(g, inverse_order(dims), back, dtype, op, scale, axis_back)
    scale = _conjugated(scale)
    if op in _LINEAR:
        return _changed(g, inverse_order(dims), back, dtype, op, scale, axis_back)
    wide = _wide(dtype, g.dtype)
    if op == "absolute" or not dtype.is_complex:
        wide = _real(wide)
    return _as(_changed(g, inverse_order(dims), back, wide, "identity", scale, axis_back) * _slope(op, x).conj(), dtype)


@operator("arithmetic(Tensor x, int[] dims, int[] flipped, ScalarType dtype, str op, Tensor? scale, int scale_axis, Tensor? offset, "
          "int offset_axis, Tensor? add, Tensor? beta, bool to_nearest, bool saturate) -> Tensor")
class _Arithmetic:
    def move(x: Any, dims: Any, flipped: Any, dtype: Any, op: str, scale: Any, scale_axis: int, offset: Any, offset_axis: int, add: Any,
             beta: Any, to_nearest: bool, saturate: bool) -> Any:
        return _arithmetic.by_view(x, "arithmetic", View(dims, flipped), How(dtype, op, to_nearest, saturate), _values(scale, scale_axis),
                                   _values(offset, offset_axis), add, _arithmetic.ONE if beta is None else _bits(beta))

    def fake(x: Any, dims: Any, flipped: Any, dtype: Any, op: str, *how: Any) -> Any:
        _torch._check(sorted(dims) == list(range(x.dim())), lambda: f"arithmetic: got the axes {dims}, wanted each once")
        return x.new_empty([x.shape[d] for d in dims], dtype=dtype)

    def keep(ctx: Any, x: Any, dims: Any, flipped: Any, dtype: Any, op: str, scale: Any, scale_axis: int, offset: Any, offset_axis: int,
             add: Any, beta: Any, *rounded: Any) -> None:
        needs_x = op not in _LINEAR or (scale is not None and scale.requires_grad)
        needs_add = beta is not None and beta.requires_grad
        ctx.save_for_backward(x if needs_x else None, scale, offset, add if needs_add else None, beta)
        ctx.how = list(dims), list(flipped), op, scale_axis, offset_axis
        ctx.types = x.dtype, None if add is None else add.dtype

    def back(ctx: Any, g: Any) -> Any:
        x, scale, offset, add, beta = ctx.saved_tensors
        dims, flipped, op, scale_axis, offset_axis = ctx.how
        of_x, _, _, _, _, of_scale, _, of_offset, _, of_add, of_beta, *_ = ctx.needs_input_grad[1:]
        x_type, add_type = ctx.types
        wide = _wide(g.dtype)
        return (
            _gradient(g, x, (dims, flipped, op, scale, scale_axis), x_type) if of_x else None, None, None, None, None,
            _summed(_changed(x, dims, flipped, _wide(x_type, g.dtype), op).conj() * g.to(wide), scale, scale_axis) if of_scale else None, None,
            _summed(g.to(wide), offset, offset_axis) if of_offset else None, None,
            _changed(g, list(range(g.dim())), [], add_type, scale=_conjugated(beta)) if of_add else None,
            _summed(add.to(_wide(add_type)).conj() * g.to(wide), beta, 0) if of_beta else None, None, None,
        )

    def tangent(inputs: Any, tangents: Any) -> Any:
        x, dims, flipped, dtype, op, scale, scale_axis, offset, offset_axis, add, beta, *_ = inputs
        of_x, of_scale, of_offset, of_add, of_beta = (tangents[k] for k in (0, 5, 7, 9, 10))
        wide = _wide(x.dtype, dtype)
        if of_x is None:
            made = x.new_zeros([x.shape[d] for d in dims], dtype=dtype) if of_add is None else \
                _changed(of_add, list(range(of_add.dim())), [], dtype, scale=beta)
        else:
            linear = op in _LINEAR
            if not linear:
                of_x = of_x.to(_wide(x.dtype)) * _slope(op, x)
                of_x = _as(of_x, _real(of_x.dtype)) if op == "absolute" else of_x
            made = _changed(of_x, dims, flipped, dtype, op if linear else "identity", scale, scale_axis, of_add, beta)
        if of_scale is not None:
            made = made + _as(_along(of_scale, scale_axis, made.dim()) * _changed(x, dims, flipped, wide, op), dtype)
        if of_offset is not None:
            made = made + _as(_along(of_offset, offset_axis, made.dim()), dtype)
        if of_beta is not None:
            made = made + _as(of_beta * add.to(_wide(add.dtype)), dtype)
        return made

    def batch(info: Any, in_dims: Any, x: Any, dims: Any, flipped: Any, dtype: Any, op: str, scale: Any, scale_axis: int, offset: Any,
              offset_axis: int, add: Any, beta: Any, to_nearest: bool, saturate: bool) -> Any:
        inputs = x, dims, flipped, dtype, op, scale, scale_axis, offset, offset_axis, add, beta, to_nearest, saturate
        of_x, of_scale, of_offset, of_add, of_beta = (in_dims[k] for k in (0, 5, 7, 9, 10))
        two_axes = any(axis is not None and values.dim() > 1 for values, axis in ((scale, of_scale), (offset, of_offset)))
        if two_axes or of_beta is not None:
            return one_by_one("arithmetic", info, in_dims, inputs)
        x, add = (None if of is None else given.expand(info.batch_size, *given.shape) if axis is None else first(given, axis)
                  for of, given, axis in ((x, x, of_x), (add, add, of_add)))
        rank = x.dim() - 1
        return call("arithmetic", x, [0, *(d % rank + 1 for d in dims)], [a + 1 for a in flipped], dtype, op,
                    scale, 0 if of_scale is not None else scale_axis + 1, offset, 0 if of_offset is not None else offset_axis + 1,
                    add, beta, to_nearest, saturate), 0


def _values(given: Any, axis: int) -> Any:
    return None if given is None else (_bits(given), axis)


def _bits(given: Any) -> bytes:
    return b"".join(_arithmetic.bits_of(value, "values", "arithmetic") for value in given.reshape(-1).tolist())


# --- what functions with the keywords of Change do


def changed(x: Any, operation: str, view_of: ViewOf, change: Change) -> Any:
    """A tensor by a view of its shape, with its numbers changed, by the operator where it is recorded: a new tensor."""
    beside = [change.get(name) for name in ("scale", "offset", "add", "beta")]
    if not by_operator(operation, x, *beside):
        return _arithmetic.moved(x, operation, view_of, change)
    how = _changes.how_of(change, operation)
    view = view_of(x.shape)
    extents = view.moved_extents(x.shape)
    shape = extents if view.shape is None else view.shape
    placed: list[Any] = []
    for what in ("scale", "offset"):
        values, axis = _values_of(change.get(what), shape, what, operation)
        place = None if axis is None else _changes.axis_before_joining(axis, shape, extents)
        if place is None and axis is not None:  # along several axes at once: moved before, in a sweep more
            return changed(changed(x, operation, view_of, {}), operation, _changes.unmoved, change)
        placed += [values, place or 0]
    dtype = x.dtype if how.dtype is None else type_named(how.dtype, operation)
    _changes.check_type(x.dtype, operation, of_input=True)
    _changes.check_type(dtype, operation)
    add, beta = change.get("add"), change.get("beta")
    if add is not None:
        if tuple(add.shape) != tuple(shape):
            refuse(operation, f"add= of shape {tuple(add.shape)}", f"shape {tuple(shape)}, on the same device")
        add = add.reshape(extents)
    given = x if view.extents is None else x.reshape(list(view.extents))
    made = call("arithmetic", given, list(view.order), list(view.flipped), dtype, how.op, *placed, add, None if beta is None else _tensor(beta).reshape(()),
                how.to_nearest, how.saturate)
    return made if view.shape is None else made.reshape(list(view.shape))


def _tensor(given: Any) -> Any:
    """Numbers of Python's, which a tensor of their own type would round."""
    if _torch.is_tensor(given):
        return given
    if isinstance(given, (int, float)):
        return _torch.tensor(given, dtype=_torch.float64)
    made = _torch.as_tensor(given)
    return made.to(_torch.complex128 if made.is_complex() else _torch.float64)


def _values_of(given: Any, shape: Any, what: str, operation: str) -> tuple[Any, int | None]:
    if given is None:
        return None, None
    values = _tensor(given)
    if values.dim() == 0:
        return values, None
    axis = _changes.axis_of_values(values.shape, shape, what, operation)
    return values.reshape(() if axis is None else -1), axis


def astype(x: Any, dtype: Any, dims: Sequence[int] | None = None, **change: Any) -> Any:
    """The numbers in another type, as ``x.to(dtype)``, and with ``dims`` the axes in that order, in one sweep, as ``faro.astype``. The
    gradient has ``x``'s type.

    >>> import torch, faro.torch
    >>> faro.torch.astype(torch.tensor([[1.5, -2.5], [300, 4]]), torch.uint8, (1, 0)).tolist()
    [[1, 255], [0, 4]]
    """
    view_of = _changes.unmoved if dims is None else _changes.in_order(dims, "astype")
    return changed(x, "astype", view_of, {"dtype": dtype, **change})  # type: ignore[typeddict-item]


def channels_first(images: Any, dtype: Any = _torch.float32, *, mean: Any = 0.0, std: Any = 1.0) -> Any:
    """Images of height, width and channels, one or a batch of them, as channels, height, width of floats: ``(x - mean) / std`` of a
    channel, where bytes count as 0 to 1, as ``faro.channels_first``.

    >>> import torch, faro.torch
    >>> faro.torch.channels_first(torch.full((2, 2, 3), 255, dtype=torch.uint8), mean=0.5, std=0.25).tolist()[0]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    return changed(images, "channels_first", _changes.channels_before, _changes.normalised(images, dtype, mean, std))
