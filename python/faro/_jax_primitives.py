"""What faro hands to JAX: arrays read, and three primitives with their derivatives and batches.

``faro_move`` permutes, ``faro_take`` takes rows, and ``faro_write`` adds or puts rows to an array. Each is linear, so that the
derivative of one is itself and its transpose another of them. Elements of less than a byte and sums of 8-bit floats go in
wider types.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any, Sequence

import jax as _jax
import jax.numpy as _jnp
import numpy as _np
from jax.extend.core import Primitive as _Primitive
from jax.interpreters import ad as _ad, batching as _batching, mlir as _mlir

from . import _arrays, _faro
from ._errors import FaroTypeError, FaroUnsupportedError, refuse
from ._indices import index_entries

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


def vary_alike(*arrays: Any) -> list[Any]:
    """All of them along the axes of any."""
    along = [_varying(_jax.typeof(x)) if hasattr(_jax, "typeof") else frozenset() for x in arrays]
    axes: frozenset[Any] = frozenset().union(*along)
    return [_made_varying(x, tuple(axes - own)) if axes - own else x for x, own in zip(arrays, along)]


def _made_varying(x: Any, axes: tuple[Any, ...]) -> Any:
    lax: Any = _jax.lax
    return lax.pcast(x, axes, to="varying") if hasattr(lax, "pcast") else lax.pvary(x, axes)


def _primitive(name: str, shape_of: Any, lower: Any) -> Any:
    made = _Primitive(name)
    made.def_abstract_eval(shape_of)
    made.def_impl(functools.partial(_run_eagerly, made))
    for platform in ("cpu", "cuda"):
        _mlir.register_lowering(made, lower, platform=platform)
    if not hasattr(_jax, "shard_map"):  # older ones follow what varies over a mesh by rules for each primitive
        older: Any = importlib.import_module("jax.experimental.shard_map")
        older.register_standard_check(made)
        older.register_standard_rewrite(made)
    return made


def _run_eagerly(made: Any, *arrays: Any, **how: Any) -> Any:
    return _compiled(made, tuple(sorted(how.items())))(*arrays)


@functools.lru_cache(maxsize=1024)
def _compiled(made: Any, how: tuple[Any, ...]) -> Any:
    return _jax.jit(functools.partial(made.bind, **dict(how)))


# --- what callers give


def array_of(x: Any, operation: str) -> Any:
    """An array of JAX: the caller's, or made of numbers."""
    if _arrays.is_jax(x):
        _arrays.check_jax(x, operation)
        return x
    if not hasattr(x, "dtype"):
        x = _arrays.as_array(x, operation)
    try:
        return _jnp.asarray(x)
    except (TypeError, ValueError, OverflowError, RuntimeError) as wrong:
        why = str(wrong).partition("\n")[0]
        refuse(operation, f"a {type(x).__name__} of {x.dtype} that makes no array of JAX ({why})", "numbers of JAX's types",
               kind=FaroTypeError)


def indices_of(index: Any, operation: str) -> Any:
    """Index arrays of any library as JAX's, of 4 or 8 bytes. NumPy's of 8 bytes have to fit the 4 that JAX makes of them."""
    if not _arrays.is_jax(index):
        entries = index_entries(index, operation)
        values = entries.keep.reshape(entries.shape)
        if values.dtype.itemsize == 8 and not _jax.config.read("jax_enable_x64"):
            beyond = values[(values > _MOST_OF_32) | (values < ~_MOST_OF_32)]
            if beyond.size:
                refuse(operation, f"row {int(beyond.flat[0])}", "indices of 32 bits, as JAX has them, or -1",
                       "jax.config.update('jax_enable_x64', True) has those of 64")
            values = values.astype(_np.int32)
        return _jnp.asarray(values)
    _arrays.check_jax(index, operation)
    if index.dtype.kind not in "iu":
        refuse(operation, f"indices of {index.dtype}", "whole numbers")
    return index if index.dtype.itemsize >= 4 else index.astype(_np.int32)


_MOST_OF_32 = 2**31 - 1


@functools.lru_cache(maxsize=64)
def _carrier(dtype: Any) -> Any:
    """What holds the numbers of a type of less than 8 bits, of which XLA may pack several in a byte; None for other types."""
    if _jnp.issubdtype(dtype, _jnp.integer) and _jnp.iinfo(dtype).bits < 8:
        return _np.dtype(_np.int8 if _jnp.issubdtype(dtype, _jnp.signedinteger) else _np.uint8)
    if _jnp.issubdtype(dtype, _jnp.floating) and _jnp.finfo(dtype).bits < 8:
        return _np.dtype(_np.float32)
    return None


@functools.lru_cache(maxsize=64)
def _adder(dtype: Any) -> Any:
    """What numbers of a type are added in."""
    if _jnp.issubdtype(dtype, _jnp.floating) and _jnp.finfo(dtype).bits < 16:
        return _np.dtype(_np.float32)
    return _carrier(dtype) or dtype


def move_bind(x: Any, **how: Any) -> Any:
    carrier = _carrier(x.dtype)
    return _move.bind(x, **how) if carrier is None else _move.bind(x.astype(carrier), **how).astype(x.dtype)


def take_bind(x: Any, index: Any, *, axis: int, zeros: bool = False) -> Any:
    """Rows; ``zeros``: what -1 gives, which is refused else."""
    carrier = _carrier(x.dtype)
    if carrier is None:
        return _take.bind(x, index, axis=axis, zeros=zeros)
    return _take.bind(x.astype(carrier), index, axis=axis, zeros=zeros).astype(x.dtype)


def write_bind(values: Any, index: Any, base: Any, *, axis: int, verb: str, sums: int = 0) -> Any:
    """``base`` with rows added to it or put to it; -1 leaves a row of ``values`` out."""
    dtype = base.dtype
    wide = (_adder(dtype) if verb == "add" else _carrier(dtype)) or dtype
    if wide != dtype:
        values, base = values.astype(wide), base.astype(wide)
    made = _write.bind(values, index, base, axis=axis, verb=verb, sums=sums)
    return made if wide == dtype else made.astype(dtype)


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


# --- rows: taken, and written to an array


def _take_shape(x: Any, index: Any, *, axis: int, zeros: bool) -> Any:
    return _shaped(x.shape[:axis] + index.shape + x.shape[axis + 1 :], x.dtype, x)


def _lower_take(ctx: Any, x: Any, index: Any, *, axis: int, zeros: bool) -> Any:
    return _jax.ffi.ffi_lowering(_TARGET)(ctx, x, index, move=f"take {axis} 0" if zeros else f"take {axis}")


def _write_shape(values: Any, index: Any, base: Any, *, axis: int, verb: str, sums: int) -> Any:
    return _shaped(base.shape, base.dtype, values)


def _lower_write(ctx: Any, values: Any, index: Any, base: Any, *, axis: int, verb: str, sums: int) -> Any:
    lower = _jax.ffi.ffi_lowering(_TARGET, operand_output_aliases={2: 0})
    return lower(ctx, values, index, base, move=f"add {axis} {sums}" if verb == "add" else f"put {axis}")


_take = _primitive("faro_take", _take_shape, _lower_take)
_write = _primitive("faro_write", _write_shape, _lower_write)


def _transposed_take(ct: Any, x: Any, index: Any, *, axis: int, zeros: bool) -> Any:
    """An index that gives zeros adds nothing: both pass by -1."""
    aval = x.aval
    base = _jnp.zeros(aval.shape, aval.dtype)
    return [write_bind(_ad.instantiate_zeros(ct), index, base, axis=axis, verb="add"), None]


_ad.defjvp(_take, lambda t, x, index, **how: _take.bind(t, index, **how), None)
_ad.primitive_transposes[_take] = _transposed_take


def no_tangent(made: Any) -> Any:
    """What stands for the zeros of a result; newer and older names."""
    zero: Any = _ad.Zero
    return zero.from_primal_value(made) if hasattr(zero, "from_primal_value") else zero(_jax.typeof(made).to_tangent_aval())


def _write_tangents(primals: Any, tangents: Any, **how: Any) -> Any:
    values, index, base = primals
    made = _write.bind(values, index, base, **how)
    if all(isinstance(t, _ad.Zero) for t in (tangents[0], tangents[2])):
        return made, no_tangent(made)
    moved, kept = _ad.instantiate_zeros(tangents[0]), _ad.instantiate_zeros(tangents[2])
    return made, _write.bind(*vary_alike(moved, index, kept), **how)


def _transposed_write(ct: Any, values: Any, index: Any, base: Any, *, axis: int, verb: str, sums: int) -> Any:
    ct = _ad.instantiate_zeros(ct)
    to_values = to_base = None
    if _ad.is_undefined_primal(values):
        to_values = take_bind(ct, index, axis=axis, zeros=True)
    if _ad.is_undefined_primal(base):
        to_base = ct
        if verb == "put":  # what was overwritten has no part in the result
            shape = ct.shape[:axis] + index.shape + ct.shape[axis + 1 :]
            to_base = write_bind(*vary_alike(_jnp.zeros(shape, ct.dtype), index, ct), axis=axis, verb="put")
    return [to_values, None, to_base]


_ad.primitive_jvps[_write] = _write_tangents
_ad.primitive_transposes[_write] = _transposed_write


def _front(x: Any, axis: int | None, count: int) -> Any:
    return _jnp.broadcast_to(x, (count,) + x.shape) if axis is None else _jnp.moveaxis(x, axis, 0)


def _shifted(index: Any, rows: int) -> Any:
    """Index arrays of a batch as one, for arrays that follow one another. What names no row of its own array names none."""
    count = index.shape[0]
    if count * rows > _jnp.iinfo(index.dtype).max:
        if not _jax.config.read("jax_enable_x64"):
            refuse("vmap", f"a batch of {count} arrays of {rows} rows with indices of their own", "rows that 32 bits number",
                   "jax.config.update('jax_enable_x64', True) has 64", kind=FaroUnsupportedError)
        index = index.astype(_np.int64)
    offsets = _jnp.arange(count, dtype=index.dtype).reshape((-1,) + (1,) * (index.ndim - 1)) * rows
    inside = _jnp.where(index < rows, index + offsets, count * rows)
    return _jnp.where(index < 0, index, inside).reshape(-1)


def _batched_take(arrays: Any, axes: Any, *, axis: int, zeros: bool) -> Any:
    x, index = arrays
    if axes[1] is None:
        return _take.bind(_jnp.moveaxis(x, axes[0], 0), index, axis=axis + 1, zeros=zeros), 0
    count = index.shape[axes[1]]
    index = _jnp.moveaxis(index, axes[1], 0)
    if axes[0] is None:
        return _take.bind(x, index, axis=axis, zeros=zeros), axis
    x = _jnp.moveaxis(_jnp.moveaxis(x, axes[0], 0), axis + 1, 1)
    rest = x.shape[2:]
    taken = _take.bind(x.reshape((count * x.shape[1],) + rest), _shifted(index, x.shape[1]), axis=0, zeros=zeros)
    taken = taken.reshape(index.shape + rest)
    k = index.ndim - 1
    return _jnp.moveaxis(taken, range(1, 1 + k), range(axis + 1, axis + 1 + k)), 0


def _batched_write(arrays: Any, axes: Any, *, axis: int, **how: Any) -> Any:
    count = next(x.shape[a] for x, a in zip(arrays, axes) if a is not None)
    values, base = _front(arrays[0], axes[0], count), _front(arrays[2], axes[2], count)
    if axes[1] is None:
        return _write.bind(*vary_alike(values, arrays[1], base), axis=axis + 1, **how), 0
    index = _front(arrays[1], axes[1], count)
    k = index.ndim - 1
    values = _jnp.moveaxis(values, range(axis + 1, axis + 1 + k), range(1, 1 + k))
    base = _jnp.moveaxis(base, axis + 1, 1)
    rows, rest = base.shape[1], base.shape[2:]
    flat = values.reshape((-1,) + rest), _shifted(index, rows), base.reshape((count * rows,) + rest)
    return _jnp.moveaxis(_write.bind(*flat, axis=0, **how).reshape((count, rows) + rest), 1, axis + 1), 0


_batching.primitive_batchers[_take] = _batched_take
_batching.primitive_batchers[_write] = _batched_write
