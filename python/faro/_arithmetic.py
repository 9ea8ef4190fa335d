"""Numbers that are changed while they are moved: converted, scaled, added, in the sweep that permutes.

    out[pi(i)] = to( scale * op(x[i]) + offset + beta * add[pi(i)] )

The functions that take ``dtype=`` and the others of ``Change`` come here, with the input's axes in the result's order.
docs/guide/arithmetic.md says in which type all is computed, and what is rounded, saturated and taken for NaN.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Sequence, TypedDict

from . import _arrays, _faro, _in_place, _kinds, _outputs, _run
from ._errors import FaroTypeError, FaroUnsupportedError, refuse
from ._fills import fill_bytes

__all__ = ["astype", "channels_first"]


class Change(TypedDict, total=False):
    """What is done to each number: the keywords of every function that takes ``dtype=``."""

    dtype: Any  # of the result: the input library's, or a name as "bfloat16"; else the input's
    op: str  # "conj", "neg", "abs", "reciprocal", "sqrt", "exp", "log", "tanh", "sigmoid", "relu" or "gelu"; first
    scale: Any  # a number, or an array that is broadcast to the result along one axis at most
    offset: Any  # likewise
    add: Any  # an array of the result's shape; it may be ``out``, which accumulates
    beta: Any  # a number that ``add`` is multiplied by; else 1
    rounding: str  # of floats to integers: "truncate" or "nearest"
    saturate: bool  # floats of 16 and 8 bits: the largest finite number for what is beyond it


_KEYWORDS = frozenset(Change.__annotations__)
# By their places in faro.h.
_NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
            "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
_OPS = ("identity", "conjugate", "negate", "absolute", "reciprocal", "square_root", "exp", "log", "tanh", "sigmoid", "relu",
        "gelu")
_SHORT = {"conj": "conjugate", "neg": "negate", "negative": "negate", "abs": "absolute", "sqrt": "square_root"}


class _Type(NamedTuple):
    """A type of numbers: the library's own, its place in faro.h, and whether its bytes are in the other order."""

    dtype: Any
    number: int
    swapped: bool


def _name_of(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def _type_of(dtype: Any, operation: str) -> _Type:
    name = _name_of(dtype)
    if name not in _NUMBERS:
        refuse(operation, f"elements {dtype}", f"numbers of the types {', '.join(_NUMBERS)}", _arrays.widened(dtype),
               kind=FaroTypeError)
    return _Type(dtype, _NUMBERS.index(name), not getattr(dtype, "isnative", True))


def _asked_type(dtype: Any, x: Any, operation: str) -> _Type:
    """The result's type in the input's library."""
    if _arrays.is_tensor(x):
        import torch

        found = dtype if isinstance(dtype, torch.dtype) else getattr(torch, _name_of(dtype), None)
        if not isinstance(found, torch.dtype):
            refuse(operation, f"dtype={dtype!r}", "a type of PyTorch's, or its name", kind=FaroTypeError)
        return _type_of(found, operation)
    np = _arrays.numpy()
    named = dtype if isinstance(dtype, (str, type)) else _name_of(dtype)
    try:
        return _type_of(np.dtype(dtype if hasattr(dtype, "isnative") else named), operation)
    except TypeError as wrong:
        if isinstance(wrong, FaroTypeError):
            raise
    try:
        import ml_dtypes
    except ImportError:
        refuse(operation, f"dtype={dtype!r}", "a type that NumPy knows; ml_dtypes has bfloat16 and 8-bit floats", kind=FaroTypeError)
    found = getattr(ml_dtypes, str(named), None)
    if found is None:
        refuse(operation, f"dtype={dtype!r}", "a type of NumPy's or of ml_dtypes, or its name", kind=FaroTypeError)
    return _type_of(np.dtype(found), operation)


def _coefficient(given: Any, shape: tuple[int, ...], what: str, operation: str) -> tuple[tuple[complex, ...], int] | None:
    """Its values, and the axis of the result that several are along."""
    if given is None:
        return None
    if isinstance(given, (int, float, complex)):
        return (complex(given),), 0
    np = _arrays.numpy()
    if _arrays.is_tensor(given):
        given = given.detach().cpu()
        given = given.to(_torch().complex128).numpy()
    values = _arrays.as_array(given, operation)
    if values.dtype.kind not in "biufcV" or values.dtype.fields is not None:
        refuse(operation, f"{what}= of elements {values.dtype}", "numbers", kind=FaroTypeError)
    long = [a for a, extent in enumerate(values.shape) if extent != 1]
    axes = len(shape) - values.ndim
    fits = axes >= 0 and len(long) <= 1 and all(values.shape[a] == shape[axes + a] for a in long)
    if not fits:
        refuse(operation, f"{what}= of shape {values.shape}",
               f"a number, or an array that is broadcast to {shape} along one axis at most",
               "an array of the result's shape is given as add=")
    listed = tuple(complex(v) for v in np.ravel(values).astype(np.complex128))
    return listed, axes + long[0] if long else 0


def _torch() -> Any:
    import torch

    return torch


class _Key(NamedTuple):
    """How numbers are changed, as plans are kept by."""

    numbers: tuple[int, int]
    op: int
    scale: Any
    offset: Any
    addend: tuple[int, tuple[int, ...], complex, bool] | None  # number, strides of a view, beta, swapped
    flags: tuple[bool, bool, bool, bool]

    def change(self) -> Any:
        addend = None if self.addend is None else _faro.Addend(*self.addend)
        return _faro.Change.make(self.numbers, self.op, self.scale, self.offset, addend, list(self.flags))


@functools.lru_cache(maxsize=1024)
def _planned(shape: Any, in_strides: Any, out_strides: Any, key: _Key) -> Any:
    return _faro.plan_arithmetic(shape, in_strides, out_strides, key.change(), 0)


@functools.lru_cache(maxsize=256)
def _planned_map(handle: Any, shape: Any, batch: int, in_place: bool, key: _Key) -> Any:
    """Kept by the map itself, of which the cache keeps one."""
    return _faro.plan_arithmetic_map(handle, shape, batch, in_place, key.change(), 0)


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


class Turned(NamedTuple):
    """How the result's axes lie in the input: its axis for each, and the axes that are flipped."""

    order: tuple[int, ...]
    flipped: tuple[int, ...] = ()


@dataclass
class _Request:
    """What is asked for of an array, without the places that its numbers go to."""

    operation: str
    x: Any
    array: _arrays.Array
    change: Any
    from_type: _Type
    to_type: _Type
    op: int
    nearest: bool

    def result(self, shape: tuple[int, ...], out: Any) -> tuple[Any, _arrays.Array]:
        """A new array, or ``out``, and how it lies; its type is what numbers become."""
        result = _new(self.x, shape, self.to_type.dtype) if out is None else out
        target = _arrays.describe(result, writable=True)
        if target.shape != shape:
            refuse(self.operation, f"out= of shape {target.shape}", f"shape {shape}")
        if target.device is not None:
            refuse(self.operation, "out= on another device", "one device")
        found = _type_of(target.dtype, self.operation)
        if self.change.get("dtype") is not None and found[1:] != self.to_type[1:]:
            refuse(self.operation, f"out= of elements {target.dtype}", f"elements {self.to_type.dtype}")
        self.to_type = found
        return result, target

    def added(self, shape: tuple[int, ...]) -> _arrays.Array | None:
        add = self.change.get("add")
        if add is None:
            if self.change.get("beta") is not None:
                refuse(self.operation, "beta= without add=", "an array to add")
            return None
        other = _arrays.describe(add)
        if other.shape != shape or other.device is not None:
            refuse(self.operation, f"add= of shape {other.shape}", f"shape {shape}, on the host")
        return other

    def key(self, shape: tuple[int, ...], other: _arrays.Array | None, strides: tuple[int, ...] = ()) -> _Key:
        addend = None
        if other is not None:
            added, beta = _type_of(other.dtype, self.operation), self.change.get("beta")
            addend = (added.number, strides, complex(1 if beta is None else beta), added.swapped)
        scale, offset = (_coefficient(self.change.get(what), shape, what, self.operation) for what in ("scale", "offset"))
        return _Key((self.from_type.number, self.to_type.number), self.op, scale, offset, addend,
                    (self.nearest, bool(self.change.get("saturate")), self.from_type.swapped, self.to_type.swapped))


def _asked(x: Any, operation: str, change: Any, stream: Any = None) -> _Request:
    """Refuses what is no array of the host, and keywords that there are none of."""
    for name in change:
        if name not in _KEYWORDS:
            raise TypeError(f"{operation}() got an unexpected keyword argument '{name}'")
    if _kinds.is_masked(x):
        refuse(operation, f"a masked array with {next(iter(change))}=", "an array without a mask", "x.filled(value) has none")
    if _arrays.is_jax(x):
        _arrays.refuse_jax(operation, _arrays.OUTSIDE_JAX, x)
    x = _kinds.read(x, operation) if not _arrays.is_tensor(x) else x
    _arrays.refuse_recorded(x)
    array = _arrays.describe(x)
    if array.device is not None or stream is not None:
        refuse(operation, f"{next(iter(change))}= of an array on a GPU", "an array of the host",
               "leave it out, and convert the result by the array's own library", kind=FaroUnsupportedError)
    from_type = _type_of(array.dtype, operation)
    asked = change.get("dtype")
    op = change.get("op") or "identity"
    op = _SHORT.get(op, op)
    if op not in _OPS:
        refuse(operation, f"op={change['op']!r}", ", ".join((*_SHORT, *_OPS[4:])))
    rounding = change.get("rounding") or "truncate"
    if rounding not in ("truncate", "nearest"):
        refuse(operation, f"rounding={rounding!r}", "'truncate' or 'nearest'")
    return _Request(operation, x, array, change, from_type, from_type if asked is None else _asked_type(asked, x, operation),
                    _OPS.index(op), rounding == "nearest")


def moved(x: Any, operation: str, turned: Any, change: Any, out: Any = None, stream: Any = None) -> Any:
    """``x`` with its axes as ``turned(rank)`` says, and its numbers changed: a new dense array, or ``out``."""
    request = _asked(x, operation, change, stream)
    order, flipped = turned(len(request.array.shape))
    array, strides = _laid_in_elements(request.array)
    shape = tuple(array.shape[a] for a in order)
    address = array.address
    in_strides = [strides[a] for a in order]
    for axis in flipped:
        address += in_strides[axis] * (shape[axis] - 1) * array.itemsize if shape[axis] > 0 else 0
        in_strides[axis] = -in_strides[axis]
    result, target = request.result(shape, out)
    out_strides = _elements(target.strides, target.itemsize)
    if out_strides is None:
        refuse(operation, f"out= of strides {target.strides} bytes", f"a multiple of {target.itemsize}")
    other, other_strides = request.added(shape), ()
    if other is not None:
        other, other_strides = _laid_in_elements(other)
    plan = _planned(shape, tuple(in_strides), out_strides, request.key(shape, other, other_strides))
    plan.run(address, other.address if other is not None else 0, target.address, array.size * (array.itemsize + target.itemsize))
    return result


def _dense(array: _arrays.Array) -> _arrays.Array:
    if _arrays.is_dense(array):
        return array
    return _arrays.describe(_faro.run(array.keep, _run.COPY, None, None, None))


def _dense_target(request: _Request, result: Any, target: _arrays.Array, beside: Any, keeps: bool) -> tuple[_arrays.Array, Any]:
    """A dense array to write to, and what puts its elements where they belong. ``keeps``: some of them stay as they were."""
    _outputs.check_disjoint(request.operation, (("output", target),), beside)
    if _arrays.is_dense(target):
        return target, lambda: result
    if keeps:
        return _run.copy_and_back(result, target)
    dense = _arrays.describe(target.new(target.shape), writable=True)
    spread = _run.view(target.shape, dense.strides, target.strides, 0, target.itemsize, _run.options_for(None))

    def finished() -> Any:
        spread.run(dense.address, target.address, 0)
        return result

    return dense, finished


def by_map(x: Any, operation: str, mapped: Any, change: Any, out: Any = None, stream: Any = None) -> Any:
    """``x`` permuted by ``mapped(array)``: a map's handle, how many arrays it permutes, and the result's shape."""
    request = _asked(x, operation, change, stream)
    handle, batch, shape = mapped(request.array)
    other = request.added(shape)
    result, target = request.result(shape, out)
    beside = _outputs.reads(out, input=request.array)
    written, finished = _dense_target(request, result, target, beside, keeps=False)
    if request.array.size == 0:
        return result
    array = _dense(request.array)
    if other is not None:
        other = _dense(other)
    plan = _planned_map(handle, shape, batch, False, request.key(shape, other))
    plan.run(array.address, other.address if other is not None else 0, written.address, array.size * (array.itemsize + target.itemsize))
    return finished()


def in_place(x: Any, operation: str, change: Any, stream: Any = None) -> Callable[[Any], Any]:
    """What changes the numbers of ``x`` where they are, once they are moved: it is given what the move returned."""
    request = _asked(x, operation, change, stream)
    if request.array.itemsize != getattr(request.to_type.dtype, "itemsize", request.array.itemsize):
        refuse(operation, f"{request.array.dtype} to {request.to_type.dtype} in place", "types of one width", "leave in_place= out",
               kind=FaroUnsupportedError)
    block = _in_place.block_of(x, None, operation)
    size = block.array.size
    several = [name for name in ("add", "beta") if change.get(name) is not None]
    several += [name for name in ("scale", "offset") if math.prod(_arrays.numpy().shape(change.get(name))) != 1]
    if several:
        refuse(operation, f"in_place=True with an array as {several[0]}=", "one number for all", "leave in_place= out",
               kind=FaroUnsupportedError)
    plan = None if size == 0 else _planned_map(_in_place.maps.roll(size, 0)._handle, (size,), 1, True, request.key((size,), None))

    def finished(result: Any) -> Any:
        if plan is not None:
            plan.run(block.address, 0, block.address, 2 * size * block.array.itemsize)
        return result if request.to_type.dtype == request.from_type.dtype else result.view(request.to_type.dtype)

    return finished


TAKE, PUT, ADD = range(3)  # faro_row_move


class Rows(NamedTuple):
    """A move of rows along an axis: by entries, of so many rows that they number."""

    entries: Any  # IndexEntries
    rows: int
    outer: int
    numbers: int  # of a row
    threads: int = 0

    def of(self, itemsize: int) -> Any:
        e = self.entries
        return _faro.Rows.make(e.address, e.size, e.itemsize, e.is_signed, self.rows, self.outer, self.numbers * itemsize, self.threads)


def taken(x: Any, operation: str, rows_of: Any, change: Any, fill: Any = None, out: Any = None, stream: Any = None) -> Any:
    """Rows taken from ``x``: ``rows_of(array)`` says which, and the result's shape."""
    request = _asked(x, operation, change, stream)
    rows, shape = rows_of(request.array)
    other = request.added(shape)
    result, target = request.result(shape, out)
    filled = fill_bytes(fill, target, out, operation)
    beside = _outputs.reads(out, input=request.array, indices=rows.entries.given)
    written, finished = _dense_target(request, result, target, beside, keeps=filled == b"")
    array = _dense(request.array)
    if other is not None:
        other = _dense(other)
    if rows.numbers == 0 or rows.outer == 0:
        return finished()
    plan = _faro.plan_arithmetic_rows(rows.of(array.itemsize), TAKE, filled, 0, shape, request.key(shape, other).change())
    plan.run(array.address, other.address if other is not None else 0, written.address, target.size * (array.itemsize + target.itemsize))
    return finished()


def written(result: Any, operation: str, rows_of: Any, values: Any, change: Any, move: int = PUT, sums: int = 0, stream: Any = None) -> Any:
    """``values`` put into rows of ``result``, or added to them: ``rows_of(target)`` says which, and the shape of the values."""
    request = _asked(values, operation, change, stream)
    _, target = request.result(_arrays.describe(result, writable=True).shape, result)
    rows, shape = rows_of(target)
    if request.array.shape != shape:
        refuse(operation, f"values of shape {request.array.shape}", f"shape {shape}")
    if change.get("add") is not None:
        refuse(operation, "add=", "none: add_at() accumulates", kind=FaroUnsupportedError)
    beside = _outputs.reads(result, values=request.array, indices=rows.entries.given)
    dense, finished = _dense_target(request, result, target, beside, keeps=True)
    source = _dense(request.array)
    if rows.numbers == 0 or rows.outer == 0:
        return result
    plan = _faro.plan_arithmetic_rows(rows.of(source.itemsize), move, None, sums, target.shape, request.key(target.shape, None).change())
    plan.run(source.address, 0, dense.address, source.size * (source.itemsize + target.itemsize))
    return finished()


def _new(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if _arrays.is_tensor(x):
        return _torch().empty(shape, dtype=dtype)
    return _arrays.new_numbers(shape, dtype)


def astype(x: Any, dtype: Any, axes: Sequence[int] | None = None, *, out: Any = None, **change: Any) -> Any:
    """The numbers in another type, as ``x.astype(dtype)``, and with ``axes`` the axes in that order, in one sweep: a new dense
    array.

    The other keywords are those of ``Change``: ``scale``, ``offset``, ``op``, ``add``, ``beta``, ``rounding``, ``saturate``. Arrays of
    NumPy (with ml_dtypes' types) and PyTorch on the host, of either byte order. Integers saturate, and take 0 for NaN. Raises
    FaroTypeError for types that are no numbers, FaroUnsupportedError on a GPU and for a tensor whose operations are recorded. Reads and
    writes every element once.

    >>> import numpy as np, faro
    >>> faro.astype(np.array([[1.5, -2.5], [300, np.nan]]), "uint8", (1, 0)).tolist()
    [[1, 255], [0, 0]]
    """
    return moved(x, "astype", lambda rank: Turned(tuple(range(rank)) if axes is None else _run.order_of(axes, rank, "astype")),
                 {"dtype": dtype, **change}, out)


def channels_first(images: Any, dtype: Any = "float32", *, mean: Any = 0.0, std: Any = 1.0, out: Any = None) -> Any:
    """Images of height, width and channels, one or a batch of them, as channels, height, width of floats, normalised as torchvision does:
    ``(x - mean) / std`` of a channel, where bytes count as 0 to 1. A new dense array.

    ``mean`` and ``std``: a number, or one for each channel. Raises FaroValueError for other shapes, and a ``std`` of 0. Reads and writes
    every element once.

    >>> import numpy as np, faro
    >>> faro.channels_first(np.full((2, 2, 3), 255, np.uint8), mean=0.5, std=0.25).tolist()[0]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    np = _arrays.numpy()
    rank = len(getattr(images, "shape", ()))
    if rank < 3:
        refuse("channels_first", f"images of {rank} axes", "height, width and channels, or a batch of such")
    channels = images.shape[-1]
    centre, spread = (np.asarray(given, np.float64) for given in (mean, std))
    for name, given in (("mean", centre), ("std", spread)):
        if given.ndim > 1 or given.size not in (1, channels):
            refuse("channels_first", f"{name}= of shape {given.shape}", f"a number, or {channels} of them")
    if not spread.all():
        refuse("channels_first", "std= of 0", "other numbers")
    bytes_ = _name_of(getattr(images, "dtype", "")) == "uint8"
    along = (-1, 1, 1)
    scale = 1 / (spread * (255 if bytes_ else 1))
    offset = -centre / spread
    order = (*range(rank - 3), rank - 1, rank - 3, rank - 2)
    return moved(images, "channels_first", lambda _: Turned(order),
                 {"dtype": dtype, "scale": scale.reshape(along) if scale.ndim else float(scale),
                  "offset": offset.reshape(along) if offset.ndim else float(offset)}, out)
