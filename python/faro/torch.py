"""faro for PyTorch: eager calls, and the same as operators that torch.compile, export, autograd and vmap know.

>>> import torch, faro.torch
>>> x = torch.arange(6.0).reshape(2, 3).requires_grad_()
>>> y = faro.torch.permute_dims(x, (1, 0))
>>> y.sum().backward(); x.grad.shape
torch.Size([2, 3])

A tensor is moved on its device, on PyTorch's current stream, which a CUDA graph may be capturing (the first call with a
shape makes its plan: call once before). The gradient of a permutation is its inverse, that of ``take`` a sum in a fixed
order, so gradients are the same in every run. Autocast changes nothing: elements are moved as they are.

Called eagerly on plain tensors these functions go straight to the engine; what is traced, transformed or differentiated goes by
``torch.ops.faro.*`` (_torch_modes.py says what that is).
"""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch as _torch

from . import _arrays, _faro, _run, _torch_modes, maps
from . import take as _take_rows, add_at as _add_rows
from ._errors import FaroUnsupportedError, refuse

__all__ = ["permute_dims", "transpose", "flip", "roll", "permute", "bit_reverse", "permute_qubits", "rearrange", "take",
           "add_rows", "permute_dims_sharded"]

_define = _torch.library.define
_define("faro::permute_dims", "(Tensor x, int[] dims) -> Tensor")
_define("faro::flip", "(Tensor x, int[] dims) -> Tensor")
_define("faro::roll", "(Tensor x, int[] shifts, int[] dims) -> Tensor")
_define("faro::permute", "(Tensor x, str map, bool inverse, int batch_dims) -> Tensor")
_define("faro::take", "(Tensor x, Tensor index, int dim) -> Tensor")
_define("faro::add_rows", "(Tensor values, Tensor index, int dim, int rows) -> Tensor")
_ops = _torch.ops.faro
_DEVICES = ("cpu", "cuda")


# --- what the operators do


def _move(x: Any, op: int, argument: Any) -> Any:
    """Below autograd: nothing is recorded any more."""
    x = x.detach()
    if x.is_conj() or x.is_neg():
        x = x.resolve_conj().resolve_neg()
    return _faro.run(x, op, argument, None, None)


@_torch.library.impl("faro::permute_dims", _DEVICES)
def _(x: Any, dims: list[int]) -> Any:
    return _move(x, _run.PERMUTE_DIMS, tuple(dims))


@_torch.library.impl("faro::flip", _DEVICES)
def _(x: Any, dims: list[int]) -> Any:
    return _move(x, _run.FLIP, tuple(dims))


@_torch.library.impl("faro::roll", _DEVICES)
def _(x: Any, shifts: list[int], dims: list[int]) -> Any:
    return _move(x, _run.ROLL, (tuple(shifts), tuple(dims) if dims else None))


@_torch.library.impl("faro::permute", _DEVICES)
def _(x: Any, map: str, inverse: bool, batch_dims: int) -> Any:
    if batch_dims == 0:
        return _move(x, _run.TEXT, (map, inverse))
    return _move(x.contiguous(), _run.BATCH, (map, inverse, batch_dims))


@_torch.library.impl("faro::take", _DEVICES)
def _(x: Any, index: Any, dim: int) -> Any:
    return _take_rows(x.detach(), index, dim)


@_torch.library.impl("faro::add_rows", _DEVICES)
def _(values: Any, index: Any, dim: int, rows: int) -> Any:
    values = values.detach()
    shape = list(values.shape)
    shape[dim] = rows
    return _add_rows(values.new_zeros(shape), index, values.contiguous(), dim)


# --- their results' shapes


@functools.lru_cache(maxsize=1024)
def _shape_after(map: str, inverse: bool, shape: tuple[int, ...]) -> tuple[int, ...]:
    width = 1
    return _run._plan_text(shape, _arrays.dense_strides(shape, width), width, (map, inverse), _run.options("cpu"))[1]


@_torch.library.register_fake("faro::permute_dims")
def _(x: Any, dims: list[int]) -> Any:
    order = [d % x.dim() for d in dims]
    _torch._check(sorted(order) == list(range(x.dim())), lambda: f"permute_dims: got the axes {dims}, wanted each once")
    return x.new_empty([x.shape[d] for d in order])


@_torch.library.register_fake("faro::flip")
def _(x: Any, dims: list[int]) -> Any:
    return x.new_empty(x.shape)


@_torch.library.register_fake("faro::roll")
def _(x: Any, shifts: list[int], dims: list[int]) -> Any:
    return x.new_empty(x.shape)


@_torch.library.register_fake("faro::permute")
def _(x: Any, map: str, inverse: bool, batch_dims: int) -> Any:
    shape = tuple(int(extent) for extent in x.shape)
    return x.new_empty(shape[:batch_dims] + _shape_after(map, inverse, shape[batch_dims:]))


@_torch.library.register_fake("faro::take")
def _(x: Any, index: Any, dim: int) -> Any:
    shape = list(x.shape)
    return x.new_empty(shape[:dim] + list(index.shape) + shape[dim + 1 :])


@_torch.library.register_fake("faro::add_rows")
def _(values: Any, index: Any, dim: int, rows: int) -> Any:
    shape = list(values.shape)
    shape[dim] = rows
    return values.new_empty(shape)


# --- gradients
#
# Twice: as the operators' own, for eager and compiled programs; and as an autograd.Function, which is what torch.func's
# transformations ask for.

_FUNCTIONS: dict[str, Any] = {}


def _call(name: str, *arguments: Any) -> Any:
    if not _torch.compiler.is_compiling():
        _torch_modes.refuse_distributed(name, arguments)
        if _torch_modes.goes_by_function():
            return _FUNCTIONS[name].apply(*arguments)
    return getattr(_ops, name)(*arguments)


def _inverse_order(order: Sequence[int]) -> list[int]:
    back = [0] * len(order)
    for place, d in enumerate(order):
        back[d % len(order)] = place
    return back


def _differentiable(name: str, keep: Any, back: Any) -> None:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        keep(ctx, *inputs)

    def setup_function(ctx: Any, inputs: Any, output: Any) -> None:
        keep(ctx, *inputs)
        ctx.how = tuple(None if _torch.is_tensor(given) else given for given in inputs[1:])
        ctx.save_for_forward(*filter(_torch.is_tensor, inputs[1:]))

    def forward_mode(ctx: Any, tangent: Any, *_: Any) -> Any:
        tensors = iter(ctx.saved_tensors)
        return _call(name, tangent, *(next(tensors) if given is None else given for given in ctx.how))

    operator = getattr(_ops, name)
    _torch.library.register_autograd(f"faro::{name}", back, setup_context=setup)
    body = {
        "forward": staticmethod(lambda *arguments: operator(*arguments)),
        "setup_context": staticmethod(setup_function),
        "backward": staticmethod(back),
        "jvp": staticmethod(forward_mode),  # all are linear in their first array
    }
    _FUNCTIONS[name] = type(f"_{name}", (_torch.autograd.Function,), body)


def _batched(name: str) -> Any:
    def add(rule: Any) -> Any:
        _torch.library.register_vmap(f"faro::{name}", rule)
        _FUNCTIONS[name].vmap = staticmethod(rule)
        return rule

    return add


def _keep_dims(ctx: Any, x: Any, dims: list[int]) -> None:
    ctx.dims = dims


_differentiable("permute_dims", _keep_dims, lambda ctx, g: (_call("permute_dims", g, _inverse_order(ctx.dims)), None))
_differentiable("flip", _keep_dims, lambda ctx, g: (_call("flip", g, ctx.dims), None))


def _keep_roll(ctx: Any, x: Any, shifts: list[int], dims: list[int]) -> None:
    ctx.shifts, ctx.dims = shifts, dims


_differentiable("roll", _keep_roll, lambda ctx, g: (_call("roll", g, [-s for s in ctx.shifts], ctx.dims), None, None))


def _keep_permute(ctx: Any, x: Any, map: str, inverse: bool, batch_dims: int) -> None:
    ctx.map, ctx.inverse, ctx.batch_dims, ctx.shape = map, inverse, batch_dims, x.shape


def _back_permute(ctx: Any, g: Any) -> Any:
    # A text may take its sizes from the shape that it was given: the way back is told the same sizes.
    said = _sized(ctx.map, tuple(int(e) for e in ctx.shape[ctx.batch_dims :]), ctx.inverse)
    return _call("permute", g, said, not ctx.inverse, ctx.batch_dims).reshape(ctx.shape), None, None, None


@functools.lru_cache(maxsize=1024)
def _sized(map: str, shape: tuple[int, ...], inverse: bool) -> str:
    if "->" in map:
        return _run.sized_pattern(map, shape, inverse)
    return maps.parse(map, shape).text


_differentiable("permute", _keep_permute, _back_permute)


def _keep_take(ctx: Any, x: Any, index: Any, dim: int) -> None:
    ctx.save_for_backward(index)
    ctx.dim, ctx.rows = dim, x.shape[dim]


def _along_one_axis(values: Any, index: Any, dim: int) -> tuple[Any, Any]:
    """Values for indices of any number of axes as values for a list of them."""
    shape = list(values.shape)
    return values.reshape(shape[:dim] + [index.numel()] + shape[dim + index.dim() :]), index.reshape(-1)


def _back_take(ctx: Any, g: Any) -> Any:
    values, index = _along_one_axis(g, ctx.saved_tensors[0], ctx.dim)
    return _call("add_rows", values, index, ctx.dim, ctx.rows), None, None


_differentiable("take", _keep_take, _back_take)


def _keep_add(ctx: Any, values: Any, index: Any, dim: int, rows: int) -> None:
    ctx.save_for_backward(index)
    ctx.dim = dim


_differentiable("add_rows", _keep_add,
                lambda ctx, g: (_call("take", g, ctx.saved_tensors[0], ctx.dim), None, None, None))


# --- vmap: a batch is one more axis, the first


def _first(x: Any, axis: int | None) -> Any:
    return x if axis is None else x.movedim(axis, 0)


@_batched("permute_dims")
def _(info: Any, in_dims: Any, x: Any, dims: list[int]) -> Any:
    x = _first(x, in_dims[0])
    rank = x.dim() - 1
    return _call("permute_dims", x, [0] + [d % rank + 1 for d in dims]), 0


@_batched("flip")
def _(info: Any, in_dims: Any, x: Any, dims: list[int]) -> Any:
    x = _first(x, in_dims[0])
    rank = x.dim() - 1
    return _call("flip", x, [d % rank + 1 for d in dims]), 0


@_batched("roll")
def _(info: Any, in_dims: Any, x: Any, shifts: list[int], dims: list[int]) -> Any:
    x = _first(x, in_dims[0])
    if not dims:
        return _call("roll", x.reshape(x.shape[0], -1), shifts, [1] * len(shifts)).reshape(x.shape), 0
    rank = x.dim() - 1
    return _call("roll", x, shifts, [d % rank + 1 for d in dims]), 0


@_batched("permute")
def _(info: Any, in_dims: Any, x: Any, map: str, inverse: bool, batch_dims: int) -> Any:
    return _call("permute", _first(x, in_dims[0]), map, inverse, batch_dims + 1), 0


def _shifted(index: Any, count: int, rows: int) -> Any:
    """Index arrays of a batch as one, for arrays that follow one another. What names no row of its own array names none."""
    offsets = _torch.arange(count, dtype=index.dtype, device=index.device).reshape([-1] + [1] * (index.dim() - 1)) * rows
    inside = _torch.where(index < rows, index + offsets, count * rows)
    return _torch.where(index < 0, index, inside).reshape(-1)


@_batched("take")
def _(info: Any, in_dims: Any, x: Any, index: Any, dim: int) -> Any:
    if in_dims[1] is None:
        return _call("take", _first(x, in_dims[0]), index, dim + 1), 0
    index = _first(index, in_dims[1])
    count = index.shape[0]
    if in_dims[0] is None:
        return _call("take", x, index.reshape(-1), dim).unflatten(dim, index.shape), dim
    moved = _first(x, in_dims[0]).movedim(dim + 1, 1)
    taken = _call("take", moved.flatten(0, 1), _shifted(index, count, moved.shape[1]), 0)
    more = range(1, index.dim())
    return taken.unflatten(0, index.shape).movedim(tuple(more), tuple(dim + k for k in more)), 0


@_batched("add_rows")
def _(info: Any, in_dims: Any, values: Any, index: Any, dim: int, rows: int) -> Any:
    if in_dims[1] is None:
        return _call("add_rows", _first(values, in_dims[0]), index, dim + 1, rows), 0
    index = _first(index, in_dims[1])
    count = index.shape[0]
    values = values.expand(count, *values.shape) if in_dims[0] is None else _first(values, in_dims[0])
    moved = values.movedim(dim + 1, 1)
    added = _call("add_rows", moved.flatten(0, 1), _shifted(index, count, rows), 0, count * rows)
    return added.unflatten(0, (count, rows)).movedim(1, dim + 1), 0


# --- what users call


def permute_dims(x: Any, dims: Sequence[int] | None = None, *, inverse: bool = False) -> Any:
    """The axes in another order, moved: ``x.permute(dims).contiguous()``. ``dims=None`` reverses them. ``inverse=True``: by the
    inverse order.

    >>> import torch, faro.torch
    >>> x = torch.arange(6.0).reshape(2, 3)
    >>> faro.torch.permute_dims(x, (1, 0)).shape
    torch.Size([3, 2])
    """
    if inverse and dims is not None:
        dims = _inverse_order(dims)
    if _torch.compiler.is_compiling():
        return _call("permute_dims", x, list(range(x.dim() - 1, -1, -1)) if dims is None else list(dims))
    return _faro.run(x, _run.PERMUTE_DIMS, dims if dims is None else tuple(dims), None, None)


transpose = permute_dims


def flip(x: Any, dims: int | Sequence[int] | None = None) -> Any:
    """The elements along the axes in reverse order, as ``torch.flip``; ``dims=None``: along all.

    >>> import torch, faro.torch
    >>> faro.torch.flip(torch.arange(3)).tolist()
    [2, 1, 0]
    """
    if _torch.compiler.is_compiling():
        return _call("flip", x, _all_dims(x, dims))
    return _faro.run(x, _run.FLIP, tuple(dims) if isinstance(dims, list) else dims, None, None)


def _all_dims(x: Any, dims: int | Sequence[int] | None) -> list[int]:
    if dims is None:
        return list(range(x.dim()))
    return [dims] if isinstance(dims, int) else list(dims)


def roll(x: Any, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None, *, inverse: bool = False) -> Any:
    """The elements shifted along the axes, and round their ends, as ``torch.roll``; ``dims=None``: the flat tensor.
    ``inverse=True`` shifts them back.

    >>> import torch, faro.torch
    >>> faro.torch.roll(torch.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    shifts = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    if inverse:
        shifts = tuple(-s for s in shifts)
    axes = None if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if _torch.compiler.is_compiling():
        return _call("roll", x, list(shifts), list(axes or ()))
    return _faro.run(x, _run.ROLL, (shifts, axes), None, None)


def permute(x: Any, by: "str | maps.Map", *, inverse: bool = False) -> Any:
    """Element ``i`` of the flat tensor goes to ``m(i)``, for a map or its text (docs/guide/maps.md), as ``faro.permute``.

    >>> import torch, faro.torch
    >>> faro.torch.permute(torch.arange(4), "bit_reversal").tolist()
    [0, 2, 1, 3]
    """
    text = by if isinstance(by, str) else _text_of(by)
    if _torch.compiler.is_compiling():
        return _call("permute", x, text, inverse, 0)
    return _faro.run(x, _run.TEXT, (text, bool(inverse)), None, None)


def _text_of(by: maps.Map) -> str:
    text = by.text
    try:
        maps.parse(text)
    except ValueError:
        refuse("permute", "a map of a long index array", "a map whose text says all", "take() goes by index tensors",
               kind=FaroUnsupportedError)
    return text


def bit_reverse(x: Any) -> Any:
    """Element ``i`` of the flat tensor goes to the reverse of i's bits. Its own inverse.

    >>> import torch, faro.torch
    >>> faro.torch.bit_reverse(torch.arange(4)).tolist()
    [0, 2, 1, 3]
    """
    return permute(x, "bit_reversal")


def permute_qubits(state: Any, order: Sequence[int], *, little_endian: bool = False, inverse: bool = False) -> Any:
    """The qubits of state vectors in another order, as ``faro.permute_qubits``.

    >>> import torch, faro.torch
    >>> faro.torch.permute_qubits(torch.arange(4), (1, 0)).tolist()
    [0, 2, 1, 3]
    """
    n = len(order)
    if inverse:
        order = _inverse_order(order)
    dims = _run.qubit_axes(tuple(order), little_endian)
    grouped = tuple(state.shape[state.dim() - n :]) == (2,) * n and n > 0
    before = list(state.shape[: state.dim() - n]) if grouped else list(state.shape[:-1])
    if not grouped and (state.dim() == 0 or state.shape[-1] != 1 << n):
        refuse("permute_qubits", f"a tensor of shape {tuple(state.shape)}",
               f"2^{n} amplitudes in the last axis, or {n} axes of two")
    axes = state.reshape(before + [2] * n)
    k = len(before)
    return permute_dims(axes, [*range(k), *(k + d for d in dims)]).reshape(state.shape)


def rearrange(x: Any, pattern: str, *, inverse: bool = False, **lengths: int) -> Any:
    """The axes as a pattern of einops says, without sums or repeats, as ``faro.rearrange``.

    >>> import torch, faro.torch
    >>> faro.torch.rearrange(torch.zeros(2, 6), "a (b c) -> b a c", b=3).shape
    torch.Size([3, 2, 2])
    """
    said = pattern + "".join(f", {name}={int(length)}" for name, length in lengths.items())
    return permute(x, said, inverse=inverse)


def take(x: Any, index: Any, dim: int = 0) -> Any:
    """The rows ``x[index[i]]`` along ``dim``, as ``torch.index_select``. ``index``: a tensor of int32 or int64 on x's device.

    >>> import torch, faro.torch
    >>> faro.torch.take(torch.tensor([5, 6, 7]), torch.tensor([2, 2, 0])).tolist()
    [7, 7, 5]
    """
    d = _run.axis_of(dim, x.dim(), "take")
    if _torch.compiler.is_compiling() or _arrays.is_recorded(x) or _arrays.is_recorded(index):
        return _call("take", x, index, d)
    return _take_rows(x, index, d)


def add_rows(values: Any, index: Any, rows: int, dim: int = 0) -> Any:
    """Zeros of ``rows`` rows along ``dim``, with ``values[i]`` added to row ``index[i]`` in the order of i: the transpose of
    ``take``, the same in every run.

    >>> import torch, faro.torch
    >>> faro.torch.add_rows(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1, 1, 0]), 2).tolist()
    [4.0, 3.0]
    """
    d = _run.axis_of(dim, values.dim(), "add_rows")
    if tuple(values.shape[d : d + index.dim()]) != tuple(index.shape):
        refuse("add_rows", f"values of shape {tuple(values.shape)} and indices of {tuple(index.shape)}", "a value for each index")
    values, index = _along_one_axis(values, index, d)
    return _call("add_rows", values, index, d, rows)


# --- what faro's own functions do with tensors that are recorded


def _along_recorded(x: Any, by: "str | maps.Map", inverse: bool, axis: int, out: Any, stream: Any) -> Any:
    if out is not None or stream is not None:
        _torch_modes.refuse_output("permute", x, out)
    d = _run.axis_of(axis, x.dim(), "permute")
    extent = int(x.shape[d])
    chosen = by if isinstance(by, maps.Map) else maps.parse(by, (extent,))
    if chosen.count != extent:
        refuse("permute", f"axis {d} of {extent}", f"{chosen.count}, as the map has")
    sources = (chosen if inverse else ~chosen).indices
    return _call("take", x, _torch.tensor([int(i) for i in sources], device=x.device), d)


def _recorded(x: Any, op: int, argument: Any, out: Any, stream: Any) -> Any:
    if out is not None or stream is not None:
        _torch_modes.refuse_output(_run._NAMES[op], x, out)
    if op == _run.PERMUTE_DIMS:
        return _call("permute_dims", x, list(_run.order_of(argument, x.dim(), "permute_dims")))
    if op == _run.COPY:
        return _call("permute_dims", x, list(range(x.dim())))
    if op == _run.FLIP:
        return _call("flip", x, list(_run.axes_of(argument, x.dim(), "flip")))
    if op == _run.ROLL:
        shifts, axes = argument
        shifts = (shifts,) if isinstance(shifts, int) else shifts
        axes = () if axes is None else (axes,) if isinstance(axes, int) else axes
        many = max(len(shifts), len(axes)) if axes else len(shifts)
        shifts = list(shifts) * (many if len(shifts) == 1 and axes else 1)
        return _call("roll", x, shifts, list(axes) * (many if len(axes) == 1 else 1))
    if op == _run.QUBITS:
        return permute_qubits(x, argument[0], little_endian=argument[1])
    if op == _run.MAP:
        return _call("permute", x, _text_of(argument), False, 0)
    return _call("permute", x, argument[0], argument[1], 0)


# --- DTensors


def _chunks(extent: int, ranks: int) -> list[int]:
    """What each rank has of an axis that a DTensor shards: torch.chunk's sizes, and none for the ranks that are left."""
    size = -(-extent // ranks)
    return [max(0, min(size, extent - rank * size)) for rank in range(ranks)]


@functools.lru_cache(maxsize=256)
def _sharded_plan(text: str, group: Any, itemsize: int, cut_in: str, cut_out: str) -> Any:
    from . import shards

    return shards.plan(text, group, itemsize=itemsize, cut_in=cut_in, cut_out=cut_out)


def permute_dims_sharded(x: Any, dims: Sequence[int], dim: int | None = None) -> Any:
    """A DTensor with its axes in another order, sharded along axis ``dim`` of the result.

    ``x`` is sharded along one axis over a mesh of one dimension, evenly or not. ``dim`` None: the axis stays with the
    ranks that have it, and nothing crosses a link. Collective: every rank of the mesh calls it. Raises on all of them what
    is wrong on one.
    """
    from torch.distributed.tensor import DTensor, Shard

    operation = "permute_dims_sharded"
    if not isinstance(x, DTensor):
        refuse(operation, f"a {type(x).__name__}", "a DTensor", "permute_dims() takes tensors")
    mesh, placements = x.device_mesh, x.placements
    if mesh.ndim != 1 or len(placements) != 1 or not placements[0].is_shard():
        refuse(operation, f"placements {tuple(placements)} on a mesh of {mesh.ndim} dimensions",
               "one Shard on a mesh of one", kind=FaroUnsupportedError)
    order = _run.order_of(tuple(dims), x.dim(), operation)
    placement: Any = placements[0]  # a Shard
    cut = placement.dim % x.dim()
    after = order.index(cut) if dim is None else _run.axis_of(dim, x.dim(), operation)
    shape = tuple(x.shape)
    target = tuple(shape[d] for d in order)
    ranks = mesh.size()

    def text_of(axis: int, extent: int) -> str:
        return f"axis({axis}; {' '.join(map(str, _chunks(extent, ranks)))})"

    said = f"axes({' '.join(map(str, shape))}; {' '.join(map(str, order))})"
    plan = _sharded_plan(said, mesh.get_group(), x.element_size(), text_of(cut, shape[cut]), text_of(after, target[after]))
    local = list(target)
    local[after] = _chunks(target[after], ranks)[mesh.get_local_rank()]
    out = plan(x.to_local().contiguous()).reshape(local)
    strides = _arrays.dense_strides(target, 1)
    return DTensor.from_local(out, mesh, [Shard(after)], run_check=False, shape=_torch.Size(target), stride=strides)
