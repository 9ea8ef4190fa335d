"""faro for JAX: functions for use inside jit, grad, vmap and jvp, carried out by jax.ffi.

>>> import jax, jax.numpy as jnp, faro.jax
>>> f = jax.jit(lambda x: faro.jax.permute_dims(x, (1, 0)))
>>> f(jnp.arange(6.0).reshape(2, 3)).shape
(3, 2)
>>> jax.grad(lambda x: faro.jax.roll(x, 1)[0] * 5)(jnp.arange(3.0)).tolist()
[0.0, 0.0, 5.0]

Each function is one call of the host's or the GPU's engine on XLA's buffers. All are linear: a permutation's transpose
is its inverse, that of ``take`` is ``add_rows``. A batch of vmap is one more axis, not a loop. Shapes are known when a
function is traced, so what is wrong with axes and maps is said then; indices are checked when they are used.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Sequence

import jax as _jax
import jax.numpy as _jnp
import numpy as _np
from jax.extend.core import Primitive as _Primitive
from jax.interpreters import ad as _ad, batching as _batching, mlir as _mlir

from . import _arrays, _faro, _run, maps
from ._errors import FaroUnsupportedError, refuse

__all__ = ["permute_dims", "transpose", "flip", "roll", "permute", "bit_reverse", "permute_qubits", "rearrange", "take",
           "add_rows", "permute_dims_sharded", "permute_sharded"]

_TARGET = "faro_move"
for _platform, _handler in zip(("cpu", "CUDA"), _faro.xla_handlers()):
    _jax.ffi.register_ffi_target(_TARGET, _handler, platform=_platform)


def _shaped(shape: Sequence[int], dtype: Any, *arrays: Any) -> Any:
    """Within shard_map a result varies along the mesh's axes as the first of its arrays does."""
    if not arrays or not _varying(arrays[0]):
        return _jax.core.ShapedArray(tuple(shape), dtype)
    whole = arrays[0].sharding.update(spec=_jax.sharding.PartitionSpec(*(None for _ in shape)))
    return arrays[0].update(shape=tuple(shape), dtype=dtype, weak_type=False, sharding=whole)


def _varying(kind: Any) -> frozenset[Any]:
    """The axes of a mesh along which an array of this type varies, within shard_map; newer and older names."""
    marks = getattr(kind, "manual_axis_type", None)
    return marks.varying if marks is not None else getattr(kind, "vma", frozenset())


def _vary_alike(*arrays: Any) -> list[Any]:
    """All of them along the axes of any."""
    along = [_varying(_jax.typeof(x)) if hasattr(_jax, "typeof") else frozenset() for x in arrays]
    axes: frozenset[Any] = frozenset().union(*along)
    return [_made_varying(x, tuple(axes - own)) if axes - own else x for x, own in zip(arrays, along)]


def _made_varying(x: Any, axes: tuple[Any, ...]) -> Any:
    return _jax.lax.pcast(x, axes, to="varying") if hasattr(_jax.lax, "pcast") else _jax.lax.pvary(x, axes)


def _primitive(name: str, shape_of: Any, lower: Any) -> Any:
    made = _Primitive(name)
    made.def_abstract_eval(shape_of)
    made.def_impl(functools.partial(_run_eagerly, made))
    for platform in ("cpu", "cuda"):
        _mlir.register_lowering(made, lower, platform=platform)
    return made


def _run_eagerly(made: Any, *arrays: Any, **how: Any) -> Any:
    return _compiled(made, tuple(sorted(how.items())))(*arrays)


@functools.lru_cache(maxsize=1024)
def _compiled(made: Any, how: tuple[Any, ...]) -> Any:
    return _jax.jit(functools.partial(made.bind, **dict(how)))


# --- permutations: one primitive, whose moves are the texts that python/src/xla.cpp reads


def _move_shape(x: Any, *, move: str, back: str, before: tuple[int, ...], after: tuple[int, ...], batch: bool) -> Any:
    return _shaped(x.shape[:1] + after if batch else after, x.dtype, x)


def _lower_move(ctx: Any, x: Any, *, move: str, back: str, before: Any, after: Any, batch: bool) -> Any:
    return _jax.ffi.ffi_lowering(_TARGET)(ctx, x, move=f"batch {move}" if batch else move)


_move = _primitive("faro_move", _move_shape, _lower_move)


def _transposed_move(ct: Any, _: Any, *, move: str, back: str, before: Any, after: Any, batch: bool) -> Any:
    return [_move.bind(ct, move=back, back=move, before=after, after=before, batch=batch)]


_ad.deflinear2(_move, _transposed_move)


def _batched_move(arrays: Any, axes: Any, *, before: Any, after: Any, batch: bool, **how: Any) -> Any:
    x = _jnp.moveaxis(arrays[0], axes[0], 0)
    if not batch:
        return _move.bind(x, before=before, after=after, batch=True, **how), 0
    many = x.shape[:2]
    flat = _move.bind(x.reshape((many[0] * many[1],) + before), before=before, after=after, batch=True, **how)
    return flat.reshape(many + after), 0


_batching.primitive_batchers[_move] = _batched_move


def _moved(x: Any, move: str, back: str, after: Sequence[int]) -> Any:
    return _move.bind(x, move=move, back=back, before=tuple(x.shape), after=tuple(after), batch=False)


def _view(extents: Sequence[int], strides: Sequence[int], corner: int = 0) -> str:
    return f"view {' '.join(map(str, extents))}; {' '.join(map(str, strides))}; {corner}"


def _axes_view(shape: Sequence[int], order: Sequence[int]) -> str:
    strides = _arrays.dense_strides(tuple(shape), 1)
    return _view([shape[a] for a in order], [strides[a] for a in order])


def permute_dims(x: Any, axes: Sequence[int] | None = None, *, inverse: bool = False) -> Any:
    """The axes in another order, as ``jax.numpy.permute_dims``. ``axes=None`` reverses them. ``inverse=True``: by the inverse
    order.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_dims(jnp.zeros((2, 3)), (1, 0)).shape
    (3, 2)
    """
    x = _jnp.asarray(x)
    order = _run.order_of(axes, x.ndim, "permute_dims")
    if inverse:
        order = tuple(order.index(a) for a in range(x.ndim))
    after = tuple(x.shape[a] for a in order)
    back = tuple(order.index(a) for a in range(x.ndim))
    return _moved(x, _axes_view(x.shape, order), _axes_view(after, back), after)


transpose = permute_dims


def flip(x: Any, axis: int | Sequence[int] | None = None) -> Any:
    """The elements along ``axis``, several or all axes, in reverse order, as ``jax.numpy.flip``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.flip(jnp.arange(3)).tolist()
    [2, 1, 0]
    """
    x = _jnp.asarray(x)
    flipped = _run.axes_of(tuple(axis) if isinstance(axis, list) else axis, x.ndim, "flip")
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
    return _move.bind(flat, move=text, back=back, before=one, after=one, batch=True).reshape(x.shape)


def roll(x: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None, *, inverse: bool = False) -> Any:
    """The elements shifted along an axis, and round its end, as ``jax.numpy.roll``; ``axis=None``: the flat array. ``inverse=True``
    shifts them back.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.roll(jnp.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    x = _jnp.asarray(x)
    if inverse:
        shift = tuple(-s for s in shift) if isinstance(shift, (tuple, list)) else -shift  # type: ignore[operator]
    if axis is None:
        total: Any = sum(shift) if isinstance(shift, (tuple, list)) else shift
        return roll(x.reshape(-1), int(total), 0).reshape(x.shape)
    sums = _run._shifts(shift, axis, x.ndim)
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


def permute(x: Any, by: "str | maps.Map", *, inverse: bool = False) -> Any:
    """Element ``i`` of the flat array goes to ``m(i)``, for a map or its text (docs/guide/maps.md), as ``faro.permute``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute(jnp.arange(4), "bit_reversal").tolist()
    [0, 2, 1, 3]
    """
    x = _jnp.asarray(x)
    text = by
    if isinstance(by, maps.Map):
        text = by.text
        try:
            maps.parse(text)
        except ValueError:
            refuse("permute", "a map of a long index array", "a map whose text says all", "take() goes by index arrays",
                   kind=FaroUnsupportedError)
    there, back, after = _text_moves(text, bool(inverse), tuple(x.shape))
    return _moved(x, there, back, after)


def bit_reverse(x: Any) -> Any:
    """Element ``i`` of the flat array goes to the reverse of i's bits. Its own inverse.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.bit_reverse(jnp.arange(4)).tolist()
    [0, 2, 1, 3]
    """
    return permute(x, "bit_reversal")


def permute_qubits(state: Any, order: Sequence[int], *, little_endian: bool = False, inverse: bool = False) -> Any:
    """The qubits of state vectors in another order, as ``faro.permute_qubits``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.permute_qubits(jnp.arange(4), (1, 0)).tolist()
    [0, 2, 1, 3]
    """
    state = _jnp.asarray(state)
    n = len(order)
    if inverse:
        given = _run.order_of(order, n, "permute_qubits")
        order = tuple(given.index(q) for q in range(n))
    dims = _run.qubit_axes(tuple(order), little_endian)
    grouped = state.shape[state.ndim - n :] == (2,) * n and n > 0
    if not grouped and (state.ndim == 0 or state.shape[-1] != 1 << n):
        refuse("permute_qubits", f"an array of shape {state.shape}",
               f"2^{n} amplitudes in the last axis, or {n} axes of two")
    before = state.shape[: state.ndim - n] if grouped else state.shape[:-1]
    axes = state.reshape(before + (2,) * n)
    k = len(before)
    return permute_dims(axes, [*range(k), *(k + d for d in dims)]).reshape(state.shape)


def rearrange(x: Any, pattern: str, *, inverse: bool = False, **lengths: int) -> Any:
    """The axes as a pattern of einops says, without sums or repeats, as ``faro.rearrange``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.rearrange(jnp.zeros((2, 6)), "a (b c) -> b a c", b=3).shape
    (3, 2, 2)
    """
    return permute(x, pattern + "".join(f", {name}={int(length)}" for name, length in lengths.items()), inverse=inverse)


# --- rows


def _take_shape(x: Any, index: Any, *, axis: int) -> Any:
    return _shaped(x.shape[:axis] + index.shape + x.shape[axis + 1 :], x.dtype, x)


def _lower_take(ctx: Any, x: Any, index: Any, *, axis: int) -> Any:
    return _jax.ffi.ffi_lowering(_TARGET)(ctx, x, index, move=f"take {axis}")


def _add_shape(values: Any, index: Any, base: Any, *, axis: int) -> Any:
    return _shaped(base.shape, base.dtype, values)


def _lower_add(ctx: Any, values: Any, index: Any, base: Any, *, axis: int) -> Any:
    lower = _jax.ffi.ffi_lowering(_TARGET, operand_output_aliases={2: 0})
    return lower(ctx, values, index, base, move=f"add {axis}")


_take = _primitive("faro_take", _take_shape, _lower_take)
_add = _primitive("faro_add_rows", _add_shape, _lower_add)


def _transposed_take(ct: Any, x: Any, index: Any, *, axis: int) -> Any:
    aval = x.aval
    return [_add.bind(_ad.instantiate_zeros(ct), index, _jnp.zeros(aval.shape, aval.dtype), axis=axis), None]


_ad.defjvp(_take, lambda t, x, index, **how: _take.bind(t, index, **how), None)
_ad.primitive_transposes[_take] = _transposed_take


def _add_tangents(primals: Any, tangents: Any, *, axis: int) -> Any:
    values, index, base = primals
    moved, _, kept = (_ad.instantiate_zeros(t) for t in tangents)
    return _add.bind(values, index, base, axis=axis), _add.bind(moved, index, kept, axis=axis)


def _transposed_add(ct: Any, values: Any, index: Any, base: Any, *, axis: int) -> Any:
    ct = _ad.instantiate_zeros(ct)
    back = _take.bind(ct, index, axis=axis) if _ad.is_undefined_primal(values) else None
    return [back, None, ct if _ad.is_undefined_primal(base) else None]


_ad.primitive_jvps[_add] = _add_tangents
_ad.primitive_transposes[_add] = _transposed_add


def _front(x: Any, axis: int | None, count: int) -> Any:
    return _jnp.broadcast_to(x, (count,) + x.shape) if axis is None else _jnp.moveaxis(x, axis, 0)


def _shifted(index: Any, rows: int) -> Any:
    """Index arrays of a batch as one, for arrays that follow one another. What names no row of its own array names none."""
    count = index.shape[0]
    offsets = _jnp.arange(count, dtype=index.dtype).reshape((-1,) + (1,) * (index.ndim - 1)) * rows
    inside = _jnp.where(index < rows, index + offsets, count * rows)
    return _jnp.where(index < 0, index, inside).reshape(-1)


def _batched_take(arrays: Any, axes: Any, *, axis: int) -> Any:
    x, index = arrays
    if axes[1] is None:
        return _take.bind(_jnp.moveaxis(x, axes[0], 0), index, axis=axis + 1), 0
    count = index.shape[axes[1]]
    index = _jnp.moveaxis(index, axes[1], 0)
    if axes[0] is None:
        return _take.bind(x, index, axis=axis), axis
    x = _jnp.moveaxis(_jnp.moveaxis(x, axes[0], 0), axis + 1, 1)
    rest = x.shape[2:]
    taken = _take.bind(x.reshape((count * x.shape[1],) + rest), _shifted(index, x.shape[1]), axis=0)
    taken = taken.reshape(index.shape + rest)
    k = index.ndim - 1
    return _jnp.moveaxis(taken, range(1, 1 + k), range(axis + 1, axis + 1 + k)), 0


def _batched_add(arrays: Any, axes: Any, *, axis: int) -> Any:
    count = next(x.shape[a] for x, a in zip(arrays, axes) if a is not None)
    values, base = _front(arrays[0], axes[0], count), _front(arrays[2], axes[2], count)
    if axes[1] is None:
        return _add.bind(values, arrays[1], base, axis=axis + 1), 0
    index = _front(arrays[1], axes[1], count)
    k = index.ndim - 1
    values = _jnp.moveaxis(values, range(axis + 1, axis + 1 + k), range(1, 1 + k))
    base = _jnp.moveaxis(base, axis + 1, 1)
    rows, rest = base.shape[1], base.shape[2:]
    added = _add.bind(values.reshape((-1,) + rest), _shifted(index, rows), base.reshape((count * rows,) + rest), axis=0)
    return _jnp.moveaxis(added.reshape((count, rows) + rest), 1, axis + 1), 0


_batching.primitive_batchers[_take] = _batched_take
_batching.primitive_batchers[_add] = _batched_add


def _indices(index: Any, operation: str) -> Any:
    index = _jnp.asarray(index)
    if index.dtype.kind not in "iu":
        refuse(operation, f"indices of {index.dtype}", "whole numbers")
    return index if index.dtype.itemsize >= 4 else index.astype(_np.int32)


def take(x: Any, index: Any, axis: int = 0) -> Any:
    """The rows ``x[index[i]]`` along ``axis``, as ``jax.numpy.take``. An index that is no row fails when it is used.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.take(jnp.array([5, 6, 7]), jnp.array([2, 2, 0])).tolist()
    [7, 7, 5]
    """
    x, index = _vary_alike(_jnp.asarray(x), _indices(index, "take"))
    return _take.bind(x, index, axis=_run.axis_of(axis, x.ndim, "take"))


def add_rows(values: Any, index: Any, rows: int, axis: int = 0) -> Any:
    """Zeros of ``rows`` rows along ``axis``, with ``values[i]`` added to row ``index[i]`` in the order of i: the transpose
    of ``take``, the same in every run.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.add_rows(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 1, 0]), 2).tolist()
    [4.0, 3.0]
    """
    values, index = _jnp.asarray(values), _indices(index, "add_rows")
    k = _run.axis_of(axis, values.ndim, "add_rows")
    if values.shape[k : k + index.ndim] != index.shape:
        refuse("add_rows", f"values of shape {values.shape} and indices of {index.shape}", "a value for each index")
    shape = values.shape[:k] + (int(rows),) + values.shape[k + index.ndim :]
    return _add.bind(*_vary_alike(values, index, _jnp.zeros(shape, values.dtype)), axis=k)


# --- arrays that are sharded over a mesh


def _shard_map(function: Any, mesh: Any, before: Any, after: Any) -> Any:
    # Every output is sharded, so that what varies over the mesh need not be followed.
    if hasattr(_jax, "shard_map"):
        return _jax.shard_map(function, mesh=mesh, in_specs=before, out_specs=after, check_vma=False)
    from jax.experimental.shard_map import shard_map

    return shard_map(function, mesh=mesh, in_specs=before, out_specs=after, check_rep=False)


def _spec(ndim: int, axis: int, name: str) -> Any:
    return _jax.sharding.PartitionSpec(*(name if a == axis else None for a in range(ndim)))


def permute_dims_sharded(x: Any, axes: Sequence[int], mesh: Any, name: str, *, in_axis: int = 0, out_axis: int = 0) -> Any:
    """The axes of a sharded array in another order: cut along ``in_axis`` before and ``out_axis`` after, evenly, among the
    devices of the mesh's axis ``name``.

    By shard_map: each device packs its part, one all-to-all follows, and one pass puts what came in its place. Works inside
    jit and grad. Raises FaroValueError for extents that the devices do not divide.
    """
    operation = "permute_dims_sharded"
    x = _jnp.asarray(x)
    order = _run.order_of(tuple(axes), x.ndim, operation)
    cut, after = _run.axis_of(in_axis, x.ndim, operation), _run.axis_of(out_axis, x.ndim, operation)
    split, ranks = order[after], mesh.shape[name]
    for axis in (cut, split):
        if x.shape[axis] % ranks:
            refuse(operation, f"axis {axis} of {x.shape[axis]} places on {ranks} devices", "a multiple of the devices")

    def local(part: Any) -> Any:
        if split == cut:
            return permute_dims(part, order)
        pieces = part.reshape(part.shape[:split] + (ranks, part.shape[split] // ranks) + part.shape[split + 1 :])
        packed = permute_dims(pieces, (split, *(a for a in range(x.ndim + 1) if a != split)))
        received = _jax.lax.all_to_all(packed, name, 0, 0, tiled=True)
        back = [a for k in order for a in ((0, k + 1) if k == cut else (k + 1,))]
        shape = [x.shape[k] // (ranks if a == after else 1) for a, k in enumerate(order)]
        return permute_dims(received, back).reshape(shape)

    return _shard_map(local, mesh, _spec(x.ndim, cut, name), _spec(x.ndim, after, name))(x)


@functools.lru_cache(maxsize=64)
def _sharded_passes(text: str, width: int, ranks: int) -> Any:
    """Of an affine map in blocks: packing and unpacking of each rank, and rounds of (rank, message, peer, slot)."""
    from . import shards

    plans = [shards.ShardPlan(text, itemsize=width, ranks=ranks, rank=rank) for rank in range(ranks)]
    if plans[0].explain_json()["method"] != "affine":
        refuse("permute_sharded", f"`{text}` on {ranks} devices", "an affine map of 2^n elements on 2^g devices",
               "permute_dims_sharded() permutes axes", kind=FaroUnsupportedError)

    def texts(unpack: bool) -> list[str]:
        made = [plan._handle.pass_map(unpack) for plan in plans]
        return ["" if each is None else str(each.text()) for each in made]

    sends = [[peer for peer, _, _ in plan.sends] for plan in plans]
    sizes = [plan.receives[0][2] for plan in plans]
    slots = [{peer: offset // sizes[rank] for peer, offset, _ in plan.receives} for rank, plan in enumerate(plans)]
    # Ranks with the same targets take them by turns, so that a round is a permutation of ranks.
    groups: dict[tuple[int, ...], list[int]] = {}
    for rank in range(ranks):
        groups.setdefault(tuple(sorted(sends[rank])), []).append(rank)
    rounds = []
    for k in range(len(sends[0])):
        step = []
        for targets, sources in groups.items():
            for i, rank in enumerate(sources):
                peer = targets[(i + k) % len(targets)]
                step.append((rank, sends[rank].index(peer), peer, slots[peer][rank]))
        rounds.append(step)
    return texts(False), texts(True), rounds


def permute_sharded(x: Any, text: str, mesh: Any, name: str) -> Any:
    """Element ``i`` of an array of one axis goes to ``m(i)``, for an affine map by its text; input and output are cut into
    even blocks among the 2^g devices of the mesh's axis ``name``.

    By shard_map: each device packs, sends 2^rho messages, to ranks that differ (docs/theory/shards.md), and unpacks.
    """
    x = _jnp.asarray(x)
    if x.ndim != 1:
        refuse("permute_sharded", f"an array of shape {x.shape}", "one axis", "reshape it")
    ranks = mesh.shape[name]
    packs, unpacks, rounds = _sharded_passes(maps.parse(text, tuple(x.shape)).text, x.dtype.itemsize, ranks)
    messages = len(rounds)

    def by_rank(part: Any, moves: list[str]) -> Any:
        kinds = sorted(set(moves))
        branches = [(lambda p, m=m: permute(p, m) if m else p) for m in kinds]
        if len(kinds) == 1:
            return branches[0](part)
        which = _jnp.asarray([kinds.index(m) for m in moves])[_jax.lax.axis_index(name)]
        return _jax.lax.switch(which, branches, part)

    def local(part: Any) -> Any:
        me = _jax.lax.axis_index(name)
        packed = by_rank(part, packs).reshape(messages, -1)
        received, places = [], []
        for step in rounds:
            chosen, slot = [0] * ranks, [0] * ranks
            for rank, message, peer, at in step:
                chosen[rank], slot[peer] = message, at
            sent = _jax.lax.dynamic_index_in_dim(packed, _jnp.asarray(chosen)[me], 0, keepdims=False)
            received.append(_jax.lax.ppermute(sent, name, [(rank, peer) for rank, _, peer, _ in step]))
            places.append(slot)
        # places[k][r]: where the message of round k belongs at rank r; the other way round for each rank.
        order = [[row.index(s) for s in range(messages)] for row in zip(*places)]
        arrived = _jnp.stack(received)[_jnp.asarray(order)[me]] if messages > 1 else received[0]
        return by_rank(arrived.reshape(-1), unpacks)

    spec = _jax.sharding.PartitionSpec(name)
    return _shard_map(local, mesh, spec, spec)(x)


# --- what faro's own functions do with arrays of JAX on a device, and inside its transformations


def _by_operation(x: Any, op: int, argument: Any) -> Any:
    if op == _run.PERMUTE_DIMS:
        return permute_dims(x, argument)
    if op == _run.COPY:
        return x
    if op == _run.FLIP:
        return flip(x, argument)
    if op == _run.ROLL:
        return roll(x, *argument)
    if op == _run.QUBITS:
        return permute_qubits(x, argument[0], little_endian=argument[1])
    if op == _run.MAP:
        return permute(x, argument)
    return permute(x, argument[0], inverse=argument[1])
