"""Rows as operators of PyTorch: taken, put, added, in segments, sent to buckets and brought back.

An index of -1 names no row, as in faro's functions, and gradients keep to that: what -1 left out gets none, what it filled gives none.
"""

from __future__ import annotations

import math
from typing import Any

import torch as _torch

from . import _faro, _rows, _run
from ._torch_operators import SameShape, call, first, one_by_one, operator

_WIDER = {_torch.float16: _torch.float32, _torch.bfloat16: _torch.float32}


def _shifted(index: Any, count: int, rows: int) -> Any:
    """Index arrays of a batch as one, for arrays that follow one another. What names no row of its own array names none."""
    is_signed = index.dtype.is_signed
    index = index.to(_torch.int64)
    offsets = _torch.arange(count, device=index.device).reshape([-1] + [1] * (index.dim() - 1)) * rows
    inside = _torch.where((index >= 0) & (index < rows), index + offsets, count * rows)
    return (_torch.where(index < 0, index, inside) if is_signed else inside).reshape(-1)


def along_one_axis(values: Any, index: Any, dim: int) -> tuple[Any, Any]:
    """Values for indices of any number of axes as values for a list of them."""
    shape = list(values.shape)
    return values.reshape(shape[:dim] + [math.prod(index.shape)] + shape[dim + len(index.shape) :]), index.reshape(-1)


def _all(x: Any, axis: int | None, count: int) -> Any:
    """The arrays of a batch, one for each where they are the same."""
    return x.expand(count, *x.shape) if axis is None else first(x, axis)


def _one_after_another(x: Any, dim: int) -> Any:
    """The rows along an axis of each array of a batch as those of one array."""
    return x.movedim(dim + 1, 1).flatten(0, 1)


def _apart(rows: Any, count: int, dim: int) -> Any:
    return rows.unflatten(0, (count, -1)).movedim(1, dim + 1)


@operator("take(Tensor x, Tensor index, int dim, Scalar? fill=None) -> Tensor")
class _Take:
    def move(x: Any, index: Any, dim: int, fill: Any = None) -> Any:
        return _rows.take(x, index, dim, fill=fill)

    def fake(x: Any, index: Any, dim: int, fill: Any = None) -> Any:
        return x.new_empty([*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]])

    def keep(ctx: Any, x: Any, index: Any, dim: int, fill: Any) -> None:
        ctx.save_for_backward(index)
        ctx.dim, ctx.rows = dim, x.shape[dim]

    def back(ctx: Any, g: Any) -> Any:
        values, index = along_one_axis(g, ctx.saved_tensors[0], ctx.dim)
        return call("add_rows", values, index, ctx.dim, ctx.rows), None, None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        _, index, dim, fill = inputs
        return call("take", tangents[0], index, dim, None if fill is None else 0)

    def batch(info: Any, in_dims: Any, x: Any, index: Any, dim: int, fill: Any = None) -> Any:
        if in_dims[1] is None:
            return call("take", first(x, in_dims[0]), index, dim + 1, fill), 0
        index = first(index, in_dims[1])
        if in_dims[0] is None:
            return call("take", x, index.reshape(-1), dim, fill).unflatten(dim, index.shape), dim
        x = first(x, in_dims[0])
        taken = call("take", _one_after_another(x, dim), _shifted(index, info.batch_size, x.shape[dim + 1]), 0, fill)
        more = range(1, index.dim())
        return taken.unflatten(0, index.shape).movedim(tuple(more), tuple(dim + k for k in more)), 0


@operator("take_back(Tensor x, Tensor index, int dim) -> Tensor")
class _TakeBack(SameShape):
    """The inverse of a take by indices that name every row once."""

    def move(x: Any, index: Any, dim: int) -> Any:
        return _rows.take(x, index, dim, inverse=True)

    def keep(ctx: Any, x: Any, index: Any, dim: int) -> None:
        ctx.save_for_backward(index)
        ctx.dim = dim

    def back(ctx: Any, g: Any) -> Any:
        return call("take", g, ctx.saved_tensors[0], ctx.dim, None), None, None

    def batch(info: Any, in_dims: Any, x: Any, index: Any, dim: int) -> Any:
        if in_dims[1] is None:
            return call("take_back", first(x, in_dims[0]), index, dim + 1), 0
        x = _all(x, in_dims[0], info.batch_size)
        index = _shifted(first(index, in_dims[1]), info.batch_size, x.shape[dim + 1])
        return _apart(call("take_back", _one_after_another(x, dim), index, 0), info.batch_size, dim), 0


@operator("add_rows(Tensor values, Tensor index, int dim, SymInt rows) -> Tensor")
class _AddRows:
    """The transpose of take."""

    def move(values: Any, index: Any, dim: int, rows: int) -> Any:
        shape = [*values.shape[:dim], rows, *values.shape[dim + 1 :]]
        return _rows.add_at(values.new_zeros(shape), index, values.contiguous(), dim)

    def fake(values: Any, index: Any, dim: int, rows: int) -> Any:
        return values.new_empty([*values.shape[:dim], rows, *values.shape[dim + 1 :]])

    def keep(ctx: Any, values: Any, index: Any, dim: int, rows: int) -> None:
        ctx.save_for_backward(index)
        ctx.dim = dim

    def back(ctx: Any, g: Any) -> Any:
        return call("take", g, ctx.saved_tensors[0], ctx.dim, 0), None, None, None

    def batch(info: Any, in_dims: Any, values: Any, index: Any, dim: int, rows: int) -> Any:
        if in_dims[1] is None:
            return call("add_rows", first(values, in_dims[0]), index, dim + 1, rows), 0
        count = info.batch_size
        index = _shifted(first(index, in_dims[1]), count, rows)
        values = _one_after_another(_all(values, in_dims[0], count), dim)
        return _apart(call("add_rows", values, index, 0, count * rows), count, dim), 0


# --- what is written to a copy


def _copied(out: Any) -> Any:
    """Of any type, also of those that PyTorch itself does not copy."""
    return _faro.run(out, _run.COPY, None, None, None)


class _Written(SameShape):
    """Both arrays are linear, the one that is written to and the values."""

    def keep(ctx: Any, out: Any, index: Any, values: Any, dim: int, *how: Any) -> None:
        ctx.save_for_backward(index)
        ctx.dim, ctx.count = dim, values.shape[dim]

    @staticmethod
    def moved(name: str, inputs: Any, tangents: Any) -> Any:
        out, index, values, *how = inputs
        of_out, _, of_values = (_torch.zeros_like(x) if t is None else t for x, t in zip((out, index, values), tangents))
        return call(name, of_out, index, of_values, *how)

    @staticmethod
    def together(name: str, info: Any, in_dims: Any, out: Any, index: Any, values: Any, dim: int, *how: Any) -> Any:
        count = info.batch_size
        out, values = _all(out, in_dims[0], count), _all(values, in_dims[2], count)
        if in_dims[1] is None:
            return call(name, out, index, values, dim + 1, *how), 0
        index = _shifted(first(index, in_dims[1]), count, out.shape[dim + 1])
        written = call(name, _one_after_another(out, dim), index, _one_after_another(values, dim), 0, *how)
        return _apart(written, count, dim), 0


@operator("put(Tensor out, Tensor index, Tensor values, int dim) -> Tensor")
class _Put(_Written):
    def move(out: Any, index: Any, values: Any, dim: int) -> Any:
        return _rows.put(_copied(out), index, values, dim)

    def back(ctx: Any, g: Any) -> Any:
        index, = ctx.saved_tensors
        nothing = g.new_zeros([*g.shape[: ctx.dim], ctx.count, *g.shape[ctx.dim + 1 :]])
        return call("put", g, index, nothing, ctx.dim), None, call("take", g, index, ctx.dim, 0), None

    def tangent(inputs: Any, tangents: Any) -> Any:
        return _Written.moved("put", inputs, tangents)

    def batch(info: Any, in_dims: Any, *inputs: Any) -> Any:
        return _Written.together("put", info, in_dims, *inputs)


@operator("add_at(Tensor out, Tensor index, Tensor values, int dim, str sums) -> Tensor")
class _AddAt(_Written):
    def move(out: Any, index: Any, values: Any, dim: int, sums: str) -> Any:
        return _rows.add_at(_copied(out), index, values, dim, sums=sums)

    def back(ctx: Any, g: Any) -> Any:
        return g.clone(), None, call("take", g, ctx.saved_tensors[0], ctx.dim, 0), None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        return _Written.moved("add_at", inputs, tangents)

    def batch(info: Any, in_dims: Any, *inputs: Any) -> Any:
        return _Written.together("add_at", info, in_dims, *inputs)


# --- ragged rows


@operator("take_segments(Tensor x, Tensor offsets, Tensor index, SymInt? room) -> (Tensor, Tensor)")
class _TakeSegments:
    def move(x: Any, offsets: Any, index: Any, room: int | None) -> Any:
        values, begins = _rows.take_segments(x, offsets, index, room=room)
        return values, begins if _torch.is_tensor(begins) else _torch.as_tensor(begins)

    def fake(x: Any, offsets: Any, index: Any, room: int | None) -> Any:
        length = _torch.library.get_ctx().new_dynamic_size() if room is None else room
        return x.new_empty([length, *x.shape[1:]]), x.new_empty([index.shape[0] + 1], dtype=_torch.int64)

    def keep(ctx: Any, x: Any, offsets: Any, index: Any, room: int | None) -> None:
        ctx.save_for_backward(offsets, index)
        ctx.rows = x.shape[0]

    def back(ctx: Any, g: Any, of_begins: Any) -> Any:
        offsets, index = ctx.saved_tensors
        rows = call("segment_rows", offsets, index, ctx.rows, g.shape[0])
        return call("add_rows", g, rows, 0, ctx.rows), None, None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        return call("take_segments", tangents[0], *inputs[1:])[0], None

    def batch(info: Any, in_dims: Any, x: Any, offsets: Any, index: Any, room: int | None) -> Any:
        if in_dims[1] is None and in_dims[2] is None:
            values, begins = call("take_segments", x.movedim(in_dims[0], -1), offsets, index, room)
            return (values, begins), (values.dim() - 1, None)
        made = [call("take_segments", *(x if axis is None else x.select(axis, i)
                                        for x, axis in zip((x, offsets, index), in_dims)), room) for i in range(info.batch_size)]
        return tuple(_torch.stack(each) for each in zip(*made)), (0, 0)  # of one length, or torch says so


@operator("segment_rows(Tensor offsets, Tensor index, SymInt rows, SymInt length) -> Tensor")
class _SegmentRows:
    """The row of x at each place of what take_segments makes of ``rows`` rows, -1 behind the last."""

    def move(offsets: Any, index: Any, rows: int, length: int) -> Any:
        numbers = _torch.arange(rows, device=offsets.device)
        places, begins = _TakeSegments.move(numbers, offsets, index, length if offsets.is_cuda else None)
        if offsets.is_cuda:
            return _torch.where(_torch.arange(length, device=offsets.device) < begins[-1], places, -1)
        return places

    def fake(offsets: Any, index: Any, rows: int, length: int) -> Any:
        return offsets.new_empty([length], dtype=_torch.int64)

    def back(ctx: Any, g: Any) -> Any:
        return None, None, None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        return None

    def batch(info: Any, in_dims: Any, *inputs: Any) -> Any:
        return one_by_one("segment_rows", info, in_dims, inputs)


# --- routed rows


def _routing(places: Any, rows: Any, keys_per_row: int) -> _rows.Routing:
    return _rows.Routing(places, None, None, None, rows, None, None, keys_per_row)


@operator("dispatch(Tensor x, Tensor places, Tensor rows, int keys_per_row) -> Tensor")
class _Dispatch:
    def move(x: Any, places: Any, rows: Any, keys_per_row: int) -> Any:
        return _rows.dispatch(x, _routing(places, rows, keys_per_row))

    def fake(x: Any, places: Any, rows: Any, keys_per_row: int) -> Any:
        return x.new_empty([rows.shape[0], *x.shape[1:]])

    def keep(ctx: Any, x: Any, places: Any, rows: Any, keys_per_row: int) -> None:
        ctx.save_for_backward(places, rows)
        ctx.keys_per_row = keys_per_row

    def back(ctx: Any, g: Any) -> Any:
        places, rows = ctx.saved_tensors
        return call("combine", g, places, rows, rows, None, ctx.keys_per_row, "usual"), None, None, None

    def batch(info: Any, in_dims: Any, *inputs: Any) -> Any:
        if in_dims[1] is not None or in_dims[2] is not None:
            return one_by_one("dispatch", info, in_dims, inputs)
        x, *routing = inputs
        return call("dispatch", x.movedim(in_dims[0], -1).contiguous(), *routing), x.dim() - 1


def _of_length(listed: Any, length: int) -> Any:
    """A list of a routing for an array of so many places: none is behind its last."""
    if listed.shape[0] == length:
        return listed
    return _torch.nn.functional.pad(listed, (0, length - listed.shape[0]), value=-1)  # cuts a longer one


@operator("combine(Tensor x, Tensor places, Tensor rows, Tensor inverse, Tensor? weights, int keys_per_row, str sums) -> Tensor")
class _Combine:
    """The transpose of dispatch where there are no weights. ``rows`` and ``inverse`` are for gradients."""

    def move(x: Any, places: Any, rows: Any, inverse: Any, weights: Any, keys_per_row: int, sums: str) -> Any:
        weights = None if weights is None else weights.contiguous()
        return _rows.combine(x, _routing(places, rows, keys_per_row), weights, sums=sums)

    def fake(x: Any, places: Any, rows: Any, inverse: Any, weights: Any, keys_per_row: int, sums: str) -> Any:
        return x.new_empty([places.numel() // keys_per_row, *x.shape[1:]])

    def keep(ctx: Any, x: Any, places: Any, rows: Any, inverse: Any, weights: Any, keys_per_row: int, sums: str) -> None:
        ctx.has_weights, ctx.keys_per_row, ctx.length = weights is not None, keys_per_row, x.shape[0]
        ctx.save_for_backward(places, rows, inverse, *(() if weights is None else (x, weights)))

    def back(ctx: Any, g: Any) -> Any:
        places, rows, inverse, *factors = ctx.saved_tensors
        sent = call("dispatch", g, places, _of_length(rows, ctx.length), ctx.keys_per_row)  # what each place's row got
        if not ctx.has_weights:
            return sent, None, None, None, None, None, None
        x, weights = factors
        of_places = call("take", weights.reshape(-1), _of_length(inverse, ctx.length), 0, 0)
        of_x = (sent * of_places.reshape([-1] + [1] * (sent.dim() - 1))).to(sent.dtype)
        wide = _WIDER.get(sent.dtype, sent.dtype)
        products = sent.to(wide) * x.to(wide).conj()
        products = products.real if products.is_complex() else products
        at_places = (products.sum(tuple(range(1, x.dim()))) if x.dim() > 1 else products).to(weights.dtype)
        return of_x, None, None, None, call("take", at_places, places.reshape(-1), 0, 0).reshape(weights.shape), None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        x, places, rows, inverse, weights, *how = inputs
        of_x, of_weights = tangents[0], tangents[4]
        moved = None if of_x is None else call("combine", of_x, places, rows, inverse, weights, *how)
        if weights is None or of_weights is None:
            return moved
        more = call("combine", x, places, rows, inverse, of_weights, *how)
        return more if moved is None else moved + more

    def batch(info: Any, in_dims: Any, *inputs: Any) -> Any:
        if any(axis is not None for axis in in_dims[1:]):
            return one_by_one("combine", info, in_dims, inputs)
        x, *others = inputs
        return call("combine", x.movedim(in_dims[0], -1).contiguous(), *others), x.dim() - 1

