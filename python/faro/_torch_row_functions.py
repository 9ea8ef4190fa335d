"""What users of faro.torch call for rows: by index tensors, in columns and blocks, in segments, routed."""

from __future__ import annotations

import math
from typing import Any

import torch as _torch

from . import _arrays, _columns, _kinds, _row_values, _rows, _run, _tables
from ._errors import FaroTypeError, refuse
from ._indices import index_entries
from ._torch_operators import any_recorded, by_operator, call, check_moved
from ._torch_rows import _copied, along_one_axis

__all__ = ["take", "take_segments", "put", "add_at", "add_rows", "dispatch", "combine", "take_columns", "put_columns", "add_columns",
           "take_blocks", "put_blocks"]


def _index(index: Any, x: Any, operation: str) -> Any:
    """A tensor of whole numbers beside ``x``. Lists and NumPy's arrays are the host's."""
    if not isinstance(index, _torch.Tensor):  # to a compiler NumPy's arrays are tensors, by is_tensor()
        if _torch.compiler.is_compiling():
            index = _torch.as_tensor(index)
        else:
            held = index_entries(index, operation)
            index = _torch.tensor(held.keep).reshape(held.shape)
    if index.dtype.is_floating_point or index.dtype.is_complex or index.dtype == _torch.bool:
        if index.numel() or not index.dtype.is_floating_point:
            refuse(operation, f"indices of {index.dtype}", "whole numbers", kind=FaroTypeError)
        index = index.to(_torch.int64)
    if index.device != x.device:
        refuse(operation, f"indices on {index.device}", f"indices on {x.device}", "index.to(x.device) is there")
    return index


def _list(index: Any, x: Any, operation: str) -> Any:
    index = _index(index, x, operation)
    if index.dim() > 1:
        refuse(operation, f"indices of {index.dim()} axes", "one axis")
    return index.reshape(-1)


def take(x: Any, index: Any, dim: int = 0, *, inverse: bool = False, fill: Any = None) -> Any:
    """The rows ``x[index[i]]`` along ``dim``, as ``torch.index_select``. ``index``: whole numbers on x's device, of any shape. ``fill``:
    what an index of -1 gives, a number (a tensor of one has a gradient), or bytes that are repeated along the row; None: -1 is refused.

    ``inverse=True``, of indices that name every row once, goes the way back: ``result[index[i]] = x[i]``. The gradient is the sum of
    what each row's copies got, in the order of the index; rows of ``fill`` give it to that.

    >>> import torch, faro.torch
    >>> faro.torch.take(torch.tensor([5, 6, 7]), torch.tensor([2, -1, 0]), fill=1).tolist()
    [7, 1, 5]
    """
    if not by_operator("take", x, index, fill):
        return _rows.take(x, index, dim, inverse=inverse, fill=fill)
    d = _run.axis_of(dim, x.dim(), "take")
    index = _index(index, x, "take")
    if inverse:
        if fill is not None:
            refuse("take", "fill= of an inverse", "none: every row is written")
        if index.dim() != 1 or index.shape[0] != x.shape[d]:
            refuse("take", f"indices of shape {tuple(index.shape)} for the inverse", f"shape ({x.shape[d]},), every row once",
                   "put() writes some rows")
        return call("take_back", x, index, d)
    if isinstance(fill, str):
        refuse("take", f"fill {fill!r}", "a number or bytes", "put() leaves rows as they were")
    is_number = isinstance(fill, _torch.Tensor) and any_recorded(fill)
    if is_number or isinstance(fill, (bytes, bytearray)):
        row = _as_element(fill, x) if is_number else _row_of_bytes(fill, x, x.shape[d + 1 :])
        absent = (index == -1).reshape([*index.shape, *[1] * (x.dim() - 1 - d)])
        return _torch.where(absent, row, call("take", x, index, d, 0))
    return call("take", x, index, d, fill.item() if hasattr(fill, "item") else fill)


def _as_element(fill: Any, x: Any) -> Any:
    """A tensor of one number, whose operations are recorded."""
    wider = fill.dtype.is_complex and not x.dtype.is_complex or fill.dtype.is_floating_point and not (
        x.dtype.is_floating_point or x.dtype.is_complex)
    if fill.numel() != 1 or wider:
        refuse("take", f"fill of {fill.dtype}{list(fill.shape)}", f"one number that elements {x.dtype} hold", kind=FaroTypeError)
    return fill.reshape(()).to(x.dtype)


def _row_of_bytes(fill: bytes | bytearray, x: Any, shape: Any) -> Any:
    """Bytes repeated along a row."""
    whole = math.prod(shape) * x.element_size()
    if not fill or whole % len(fill):
        refuse("take", f"fill of {len(fill)} bytes", f"a divisor of the {whole} bytes of a row")
    numbers = [byte for byte in fill] * (whole // len(fill))
    return _torch.tensor(numbers, dtype=_torch.uint8, device=x.device).view(x.dtype).reshape(shape)


def take_segments(x: Any, offsets: Any, index: Any, *, room: int | None = None) -> tuple[Any, Any]:
    """Ragged rows, each whole: segment s is ``x[offsets[s] : offsets[s + 1]]``; returns the segments ``index[0]``, ``index[1]``, … one
    after another, and where they begin, as ``faro.take_segments``. ``room``, on a GPU: elements that there may be at most.

    >>> import torch, faro.torch
    >>> values, begins = faro.torch.take_segments(torch.arange(6), [0, 1, 4, 6], [2, 0])
    >>> values.tolist(), begins.tolist()
    ([4, 5, 0], [0, 2, 3])
    """
    operation = "take_segments"
    if not by_operator(operation, x, offsets, index):
        values, begins = _rows.take_segments(x, offsets, index, room=room)
        return values, _torch.as_tensor(begins) if _torch.is_tensor(values) else begins
    if x.dim() == 0:
        refuse(operation, "a single number", "an array of elements")
    if room is not None and not x.is_cuda:
        refuse(operation, "room= for an array of the host", "none: the length is known there", "leave room= out")
    return call("take_segments", x, _list(offsets, x, operation), _list(index, x, operation), room)


# --- written to a copy


def _values(values: Any, out: Any, operation: str) -> Any:
    """What is written, as a tensor of the output's elements."""
    if isinstance(values, _run.OF_NUMBERS) and not _torch.compiler.is_compiling():
        values = _row_values.values_of(values, _arrays.describe(out, recorded=True), operation)
    values = values if _torch.is_tensor(values) else _torch.as_tensor(values)
    if values.dtype != out.dtype:
        refuse(operation, f"values of elements {values.dtype}", f"elements {out.dtype}", kind=FaroTypeError)
    if values.device != out.device:
        refuse(operation, f"values on {values.device}", f"values on {out.device}", "values.to(out.device) is there")
    return values


def _written(name: str, out: Any, index: Any, values: Any, dim: int, *how: Any) -> Any:
    d = _run.axis_of(dim, out.dim(), name)
    index, values = _list(index, out, name), _values(values, out, name)
    wanted = [*out.shape[:d], index.shape[0], *out.shape[d + 1 :]]
    if list(values.shape) != wanted:
        refuse(name, f"values of shape {tuple(values.shape)}", f"shape {tuple(wanted)}")
    return call(name, out, index, values, d, *how)


def put(out: Any, index: Any, values: Any, dim: int = 0) -> Any:
    """A copy of ``out`` with ``values[i]`` in row ``index[i]`` along ``dim``. No two indices may be one row; -1 leaves a row of
    ``values`` out. (``faro.put`` writes to ``out`` itself.) Both have gradients: ``out`` of the rows that stayed.

    >>> import torch, faro.torch
    >>> faro.torch.put(torch.zeros(4), torch.tensor([3, 1]), torch.tensor([7.0, 8.0])).tolist()
    [0.0, 8.0, 0.0, 7.0]
    """
    if not by_operator("put", out, index, values):
        return _rows.put(_copied(out), index, values, dim)
    return _written("put", out, index, values, dim)


def add_at(out: Any, index: Any, values: Any, dim: int = 0, *, sums: str = "usual") -> Any:
    """A copy of ``out`` with ``values[i]`` added to row ``index[i]`` along ``dim``, in the order of i, the same in every run.
    (``faro.add_at`` adds to ``out`` itself.) ``sums``: as there.

    >>> import torch, faro.torch
    >>> faro.torch.add_at(torch.zeros(3), torch.tensor([1, 1]), torch.tensor([1.0, 2.0])).tolist()
    [0.0, 3.0, 0.0]
    """
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse("add_at", f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if not by_operator("add_at", out, index, values):
        return _rows.add_at(_copied(out), index, values, dim, sums=sums)
    return _written("add_at", out, index, values, dim, sums)


def add_rows(values: Any, index: Any, rows: int, dim: int = 0) -> Any:
    """Zeros of ``rows`` rows along ``dim``, with ``values[i]`` added to row ``index[i]`` in the order of i: the transpose of
    ``take``, the same in every run.

    >>> import torch, faro.torch
    >>> faro.torch.add_rows(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1, 1, 0]), 2).tolist()
    [4.0, 3.0]
    """
    is_tensor = by_operator("add_rows", values, index) or _torch.is_tensor(values)
    if is_tensor:
        index = _index(index, values, "add_rows")
    else:
        values, held = _arrays.as_array(_kinds.read(values, "add_rows"), "add_rows"), index_entries(index, "add_rows")
        index = held.keep.reshape(held.shape)
    d = _run.axis_of(dim, len(values.shape), "add_rows")
    if tuple(values.shape[d : d + len(index.shape)]) != tuple(index.shape):
        refuse("add_rows", f"values of shape {tuple(values.shape)} and indices of {tuple(index.shape)}", "a value for each index")
    values, index = along_one_axis(values, index, d)
    if not is_tensor:
        made = _arrays.new_numbers((*values.shape[:d], _run.whole(rows, "add_rows", "rows =", 0), *values.shape[d + 1 :]), values.dtype)
        made[...] = 0
        return _rows.add_at(made, index, values, d)
    return call("add_rows", values, index, d, rows)


def write_back(operation: str, out: Any, made: Any) -> Any:
    """What faro's functions that write do with tensors that are recorded: PyTorch copies the result to ``out`` and keeps its books."""
    remedy = f"faro.torch.{operation}() returns a new tensor"
    if out.is_leaf and out.requires_grad and _torch.is_grad_enabled():
        refuse(operation, "a leaf that requires its gradient as output", "one that is not", remedy)
    try:
        out.copy_(made)
    except RuntimeError as why:  # such as a tensor of no batch that would get a batch's values
        refuse(operation, f"an output that cannot take it ({str(why).splitlines()[0]})", "one that is transformed as the values are", remedy)
    return out


# --- routed rows


def _lists(x: Any, routing: Any, operation: str) -> list[Any]:
    if not isinstance(routing, _rows.Routing):
        refuse(operation, f"a {type(routing).__name__} as routing", "what route() returned", kind=FaroTypeError)
    if x.dim() == 0:
        refuse(operation, "a single number", "an array of rows")
    return [_list(each, x, operation) for each in (routing.places, routing.rows, routing.inverse)]


def dispatch(x: Any, routing: _rows.Routing) -> Any:
    """Sends the rows of ``x`` to their buckets, as ``faro.dispatch``. The gradient is ``combine``.

    >>> import torch, faro.torch
    >>> r = faro.route(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> faro.torch.dispatch(torch.tensor([[1.0], [10.0]]), r).tolist()
    [[1.0], [10.0], [1.0], [10.0]]
    """
    if not by_operator("dispatch", x):
        return _rows.dispatch(x, routing)
    places, rows, _ = _lists(x, routing, "dispatch")
    k = routing.keys_per_row
    if places.shape[0] != x.shape[0] * k:
        refuse("dispatch", f"{x.shape[0]} rows and {places.shape[0]} places, {k} of a row", f"{places.shape[0] // k} rows")
    return call("dispatch", x, places, rows, k)


def combine(x: Any, routing: _rows.Routing, weights: Any = None, *, sums: str = "usual") -> Any:
    """Brings routed rows back and sums those of a row, each times its weight (float32, one an item), as ``faro.combine``. The gradient
    of ``x`` is ``dispatch``, times the weights; that of a weight is the product of what came and what was there, in float32 at least.

    >>> import torch, faro.torch
    >>> r = faro.route(torch.tensor([[0, 1], [1, 0]]), 2)
    >>> faro.torch.combine(torch.tensor([[1.0], [10.0], [1.0], [10.0]]), r).tolist()
    [[2.0], [20.0]]
    """
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse("combine", f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if not by_operator("combine", x, weights):
        return _rows.combine(x, routing, weights, sums=sums)
    places, rows, inverse = _lists(x, routing, "combine")
    if weights is not None:
        weights = weights if _torch.is_tensor(weights) else _torch.as_tensor(weights, dtype=_torch.float32)
        if weights.dtype != _torch.float32 or weights.numel() != places.shape[0]:
            refuse("combine", f"{weights.numel()} weights of {weights.dtype}", f"{places.shape[0]} of float32")
    return call("combine", x, places, rows, inverse, weights, routing.keys_per_row, sums)


# --- several tensors by one index


def take_columns(columns: Any, index: Any, dim: int = 0, *, fill: Any = None) -> Any:
    """``take`` of each of several tensors by one index: a list, tuple or dict of them, as ``faro.take_columns``.

    >>> import torch, faro.torch
    >>> [y.tolist() for y in faro.torch.take_columns([torch.arange(3), torch.zeros(3, 1)], torch.tensor([2, 0]))]
    [[2, 0], [[0.0], [0.0]]]
    """
    table = _tables._table(columns, "take_columns")
    if not any_recorded(index, *table.columns, *_tables._fills(fill, table, "take_columns")):
        return _columns.take_columns(columns, index, dim, fill=fill)
    _tables.same_rows(table, dim, "take_columns")
    return table.like([take(x, index, dim, fill=f) for x, f in zip(table.columns, _tables._fills(fill, table, "take_columns"))])


def put_columns(out: Any, index: Any, values: Any, dim: int = 0) -> Any:
    """``put`` to each of several tensors by one index; returns a collection of new ones.

    >>> import torch, faro.torch
    >>> faro.torch.put_columns([torch.zeros(3)], torch.tensor([1]), [torch.ones(1)])[0].tolist()
    [0.0, 1.0, 0.0]
    """
    table = _tables._table(out, "put_columns")
    sources = _tables._beside(values, table, "values", "put_columns")
    if not any_recorded(index, *table.columns, *sources):
        return _columns.put_columns(table.like([*map(_copied, table.columns)]), index, values, dim)
    check_moved("put_columns", *table.columns)
    _tables.same_rows(table, dim, "put_columns")
    return table.like([put(x, index, y, dim) for x, y in zip(table.columns, sources)])


def add_columns(out: Any, index: Any, values: Any, dim: int = 0, *, sums: str = "usual") -> Any:
    """``add_at`` to each of several tensors by one index; returns a collection of new ones.

    >>> import torch, faro.torch
    >>> faro.torch.add_columns([torch.zeros(2)], torch.tensor([1, 1]), [torch.ones(2)])[0].tolist()
    [0.0, 2.0]
    """
    table = _tables._table(out, "add_columns")
    sources = _tables._beside(values, table, "values", "add_columns")
    if not any_recorded(index, *table.columns, *sources):
        return _columns.add_columns(table.like([*map(_copied, table.columns)]), index, values, dim, sums=sums)
    check_moved("add_columns", *table.columns)
    _tables.same_rows(table, dim, "add_columns")
    return table.like([add_at(x, index, y, dim, sums=sums) for x, y in zip(table.columns, sources)])


def take_blocks(caches: Any, table: Any, dim: int = 0, *, fill: Any = 0) -> Any:
    """The blocks of many caches by one block table, as ``faro.take_blocks``: a sequence's blocks follow each other.

    >>> import torch, faro.torch
    >>> faro.torch.take_blocks([torch.arange(8).reshape(4, 2)], torch.tensor([[3, 0]]))[0].tolist()
    [[6, 7, 0, 1]]
    """
    listed = _tables._table(caches, "take_blocks")
    if not any_recorded(table, *listed.columns, *_tables._fills(fill, listed, "take_blocks")):
        return _columns.take_blocks(caches, table, dim, fill=fill)
    made = []
    _tables.same_rows(listed, dim, "take_blocks")
    for i, (x, f) in enumerate(zip(listed.columns, _tables._fills(fill, listed, "take_blocks"))):
        check_moved("take_blocks", x)
        k = _tables._axis(listed.word(i), x, dim, "take_blocks", True)
        taken = take(x, table, k, fill=f)
        if taken.dim() == x.dim() - 1:
            refuse("take_blocks", "a single number as block table", "a table of one axis or more")
        made.append(taken.flatten(taken.dim() - x.dim() + k, taken.dim() - x.dim() + k + 1))
    return listed.like(made)


def put_blocks(caches: Any, table: Any, values: Any, dim: int = 0) -> Any:
    """Copies of the caches in which sequences are written to the blocks that a block table names for them, as ``faro.put_blocks``.

    >>> import torch, faro.torch
    >>> faro.torch.put_blocks([torch.zeros(3, 2)], torch.tensor([[2, 0]]), [torch.tensor([[1.0, 2.0, 3.0, 4.0]])])[0].tolist()
    [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]
    """
    operation = "put_blocks"
    listed = _tables._table(caches, operation)
    made = []
    sources = _tables._beside(values, listed, "values", operation)
    if not any_recorded(table, *listed.columns, *sources):
        return _columns.put_blocks(listed.like([*map(_copied, listed.columns)]), table, values, dim)
    _tables.same_rows(listed, dim, operation)
    for i, (x, y) in enumerate(zip(listed.columns, sources)):
        check_moved(operation, x)
        k = _tables._axis(listed.word(i), x, dim, operation, True)
        index = _index(table, x, operation)
        if index.dim() == 0:
            refuse(operation, "a single number as block table", "a table of one axis or more")
        y = _values(y, x, operation)
        blocks, tokens = list(index.shape), x.shape[k + 1]
        wanted = [*x.shape[:k], *blocks[:-1], blocks[-1] * tokens, *x.shape[k + 2 :]]
        if list(y.shape) != wanted:
            refuse(operation, f"values of shape {tuple(y.shape)}", f"shape {tuple(wanted)}")
        last = k + index.dim() - 1  # one axis is cut, then others are joined: a guess at both at once guards a symbol's size
        rows = y.unflatten(last, (blocks[-1], tokens)).flatten(k, last)
        made.append(call("put", x, index.reshape(-1), rows, k))
    return listed.like(made)
