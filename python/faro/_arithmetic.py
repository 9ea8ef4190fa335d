"""Numbers that are changed while they are moved: converted, scaled, added, in the sweep that permutes.

    out[pi(i)] = to( scale * op(x[i]) + offset + beta * add[pi(i)] )

The functions that take ``dtype=`` and the others of ``Change`` (_changes.py) come here: with a view of the input to ``moved``, with a map
to ``by_map``, with rows to ``taken`` and ``written``. Views of arrays of JAX, and of tensors whose operations are recorded, are handed to
their libraries' modules, all others to the engine; it moves rows on the host, and by maps and rows what is dense.
"""

from __future__ import annotations

import functools
import math
import struct
from typing import Any, Callable, NamedTuple, NoReturn, Sequence

from . import _arrays, _changes, _device_rows, _faro, _in_place, _kinds, _libraries, _outputs, _run, maps
from ._changes import Change, How, View, ViewOf
from ._errors import FaroTypeError, FaroUnsupportedError, refuse
from ._fills import fill_bytes
from ._indices import IndexEntries, index_entries
from ._records import record

__all__ = ["astype", "channels_first"]


# --- types of numbers


class _Type(NamedTuple):
    """A type of numbers: the library's own, its place in faro.h, and whether its bytes are in the other order."""

    dtype: Any
    number: int
    swapped: bool


@functools.lru_cache(maxsize=256)
def _type_of(dtype: Any, operation: str, of_input: bool = False) -> _Type:
    """Kept, since NumPy makes a type's name anew each time. A text is the format of a buffer."""
    if isinstance(dtype, str):
        dtype = _type_of_format(dtype)
    _changes.check_type(dtype, operation, of_input)
    return _Type(dtype, _changes.NUMBERS.index(_changes.name_of(dtype)), not getattr(dtype, "isnative", True))


def _type_of_format(text: str) -> Any:
    """NumPy's type of a buffer's elements, or the text itself, where there is none."""
    try:
        return _arrays.numpy().dtype(text.replace("Zf", "F").replace("Zd", "D"))
    except TypeError:
        return text


def _asked_type(dtype: Any, x: Any, operation: str) -> _Type:
    """The result's type in the input's library."""
    if _arrays.is_tensor(x):
        return _type_of(_libraries.functions_for("torch").type_named(dtype, operation), operation)
    return _type_of(type_named(dtype, operation), operation)


def asked_width(dtype: Any, x: Any, operation: str) -> int:
    """Bytes of the result's numbers."""
    return int(_asked_type(dtype, x, operation).dtype.itemsize)


def type_named(dtype: Any, operation: str) -> Any:
    """A type of NumPy's or of ml_dtypes, or of such a name."""
    np = _arrays.numpy()
    named = dtype if isinstance(dtype, (str, type)) else _changes.name_of(dtype)
    try:
        return np.dtype(dtype if hasattr(dtype, "isnative") else named)
    except (SyntaxError, TypeError, ValueError):  # NumPy reads a text as fields
        pass
    try:
        import ml_dtypes
    except ImportError:
        refuse(operation, f"dtype={dtype!r}", "a type that NumPy knows; ml_dtypes has bfloat16 and 8-bit floats", kind=FaroTypeError)
    found = getattr(ml_dtypes, str(named), None)
    if not isinstance(found, type):
        refuse(operation, f"dtype={dtype!r}", "a type of NumPy's or of ml_dtypes, or its name", kind=FaroTypeError)
    return np.dtype(found)


# --- scales and offsets

# As complex128, whose bits say 0.0 and -0.0 apart where plans are looked up, and the axis of the view that several are along.
Values = tuple[bytes, int] | None
_NUMBER_BYTES = 16


def bits_of(number: Any, what: str, operation: str) -> bytes:
    """Of a number of Python's, or of an array of one."""
    try:
        value = complex(number)
    except (OverflowError, TypeError, ValueError):
        refuse(operation, f"{what}={str(number)[:40]}", "a number that binary64 holds")
    return struct.pack("2d", value.real, value.imag)


ONE = struct.pack("2d", 1, 0)


def several(values: bytes) -> bool:
    return len(values) > _NUMBER_BYTES


def values_of(given: Any, shape: Sequence[int], what: str, operation: str) -> tuple[bytes, int | None] | None:
    """Its values, and the axis of the result that several are along."""
    if given is None:
        return None
    if isinstance(given, (int, float, complex)):
        return bits_of(given, what, operation), None
    np = _arrays.numpy()
    if _arrays.is_tensor(given):
        given = given.detach().cpu()
        given = (given.to(_torch().complex128) if given.is_complex() else given.to(_torch().float64)).numpy()
    array = _arrays.as_array(given, operation)
    if array.dtype.kind not in "biufcV" or array.dtype.fields is not None:
        refuse(operation, f"{what}= of elements {array.dtype}", "numbers", kind=FaroTypeError)
    axis = _changes.axis_of_values(array.shape, shape, what, operation)
    return np.ravel(array).astype(np.complex128).tobytes(), axis


def _torch() -> Any:
    import torch

    return torch


# --- plans, and what they are kept by


class _Key(NamedTuple):
    """How numbers are changed."""

    numbers: tuple[int, int]
    op: int
    scale: Values
    offset: Values
    addend: tuple[int, tuple[int, ...], bytes, bool] | None  # number, strides of a view, beta, swapped
    flags: tuple[bool, bool, bool, bool]

    def change(self) -> Any:
        addend = None if self.addend is None else _faro.Addend(*self.addend)
        return _faro.Change.make(self.numbers, self.op, self.scale, self.offset, addend, list(self.flags))


def _key(how: How, from_type: _Type, to_type: _Type, scale: Values, offset: Values, addend: Any) -> _Key:
    return _Key((from_type.number, to_type.number), _changes.OPS.index(how.op), scale, offset, addend,
                (how.to_nearest, how.saturate, from_type.swapped, to_type.swapped))


@functools.lru_cache(maxsize=1024)
def _planned(extents: Any, in_strides: Any, out_strides: Any, key: _Key, device: int | None) -> Any:
    return _faro.plan_arithmetic(extents, in_strides, out_strides, key.change(), _run.options_for(device))


@functools.lru_cache(maxsize=256)
def _planned_map(handle: Any, shape: Any, batch: int, in_place: bool, key: _Key, device: int | None = None) -> Any:
    """Kept by the map itself, of which the cache keeps one."""
    return _faro.plan_arithmetic_map(handle, shape, key.change(), _run.options_for(device, in_place, batch))


# --- a view by the engine


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


def _read(array: _arrays.Array, view: View) -> tuple[_arrays.Array, int, tuple[int, ...]]:
    """The input in the result's order, before axes are joined: what holds it, its address, and strides in elements."""
    array, strides = _laid_in_elements(array)
    strides = strides if view.extents is None else _split(array.shape, strides, view.extents)
    address, extents, made = array.address, view.moved_extents(array.shape), [strides[a] for a in view.order]
    for axis in view.flipped:
        address += made[axis] * (extents[axis] - 1) * array.itemsize
        made[axis] = -made[axis]
    return array, address, tuple(made)


def _output(x: Any, array: _arrays.Array, shape: tuple[int, ...], type_: _Type, is_asked: bool, out: Any,
            operation: str) -> tuple[Any, _arrays.Array, _Type]:
    """A new array of this type, or ``out``, how it lies, and its type."""
    result = _new(x, array, shape, type_.dtype) if out is None else out
    target = _arrays.describe(result, writable=True)
    if target.shape != shape:
        refuse(operation, f"out= of shape {target.shape}", f"shape {shape}")
    if target.device != array.device:
        refuse(operation, "out= on another device", "one device")
    found = _type_of(target.dtype, operation)
    if is_asked and found[1:] != type_[1:]:
        refuse(operation, f"out= of elements {target.dtype}", f"elements {type_.dtype}")
    return result, target, found


def _new(x: Any, array: _arrays.Array, shape: tuple[int, ...], dtype: Any) -> Any:
    if _arrays.is_tensor(x):
        return _torch().empty(shape, dtype=dtype, device=x.device)
    if array.device is None:
        return _arrays.new_numbers(shape, dtype)
    return array.new(shape) if dtype == array.dtype else _arrays.new_on_device(x, shape, dtype)


def _addend(add: Any, shape: tuple[int, ...], device: int | None, operation: str) -> tuple[_arrays.Array, _Type] | None:
    if add is None:
        return None
    array = _arrays.describe(add)
    if array.shape != shape or array.device != device:
        refuse(operation, f"add= of shape {array.shape}", f"shape {shape}, on the same device")
    return array, _type_of(array.dtype, operation)


def by_view(x: Any, operation: str, view: View, how: How, scale: Values = None, offset: Values = None, add: Any = None,
            beta: bytes = ONE, out: Any = None, stream: Any = None) -> Any:
    """``x`` by a view, with its numbers changed: a new dense array, or ``out``. Axes of values are those of the view, before joining."""
    array = _arrays.describe(x)
    queue = _run.stream_of(array, stream, operation)
    from_type = _type_of(array.dtype, operation, of_input=True)
    asked = from_type if how.dtype is None else _asked_type(how.dtype, x, operation)
    extents = tuple(view.moved_extents(array.shape))
    shape = extents if view.shape is None else tuple(view.shape)
    result, target, to_type = _output(x, array, shape, asked, how.dtype is not None, out, operation)
    strides = _elements(target.strides, target.itemsize)
    if strides is None:
        refuse(operation, f"out= of strides {target.strides} bytes", f"a multiple of {target.itemsize}")
    added = _addend(add, shape, array.device, operation)
    if 0 not in shape:
        held, address, in_strides = _read(array, view)
        beside, addend = 0, None
        if added is not None:
            other, other_strides = _laid_in_elements(added[0])
            beside, addend = other.address, (added[1].number, _split(shape, other_strides, extents), beta, added[1].swapped)
        plan = _planned(extents, in_strides, _split(shape, strides, extents), _key(how, from_type, to_type, scale, offset, addend), array.device)
        plan.run(address, beside, target.address, held.size * (held.itemsize + target.itemsize), queue)
    return result if out is not None else _arrays.given_back(x, result)


# --- what functions with the keywords of Change do


def moved(x: Any, operation: str, view_of: ViewOf, change: Change, out: Any = None, stream: Any = None, told: Any = None) -> Any:
    """``x`` by a view of its shape, with its numbers changed: a new dense array, or ``out``. ``told``: a tuple of what ``view_of`` depends on
    besides the operation, by which the plan is kept; with it no Python code runs once there is one, for arrays of NumPy's and tensors."""
    made = _short(x, operation, told, change, out, stream, functools.partial(_planned_view, operation, view_of, change))
    if made is not None:
        return made
    how = _changes.how_of(change, operation)
    beside = _beside(change)
    recorder = _run.recording(operation, (x, *beside), out, stream)
    if recorder is not None:
        return recorder.changed(x, operation, view_of, change)
    if _arrays.by_jax(operation, x, *beside, out=out, stream=stream):
        return _libraries.functions_for("jax").changed(x, operation, view_of, change)
    given = _unmasked(x, operation, change)
    view = view_of(_shape_of(given))
    extents = view.moved_extents(_shape_of(given))
    values = [_placed(change.get(what), extents, view, what, operation) for what in ("scale", "offset")]
    if _IN_PARTS in values:
        return moved(by_view(given, operation, view, How(None)), operation, _changes.unmoved, change, out, stream)
    return by_view(given, operation, view, how, values[0], values[1], change.get("add"), _beta(change, operation), out, stream)


def _short(x: Any, operation: str, told: Any, change: Any, out: Any, stream: Any, plan: Any) -> Any:
    """The result by a plan that is kept for arrays that lie so, or that ``plan(x, out)`` makes; None where there is none."""
    return None if told is None or stream is not None else _faro.run_changed(x, operation, told, change, out, plan)


def in_order(x: Any, operation: str, axes: Any, change: Change, out: Any = None, stream: Any = None) -> Any:
    """The same with the axes in an order."""
    axes = _run.listed(axes)
    view_of = _changes.unmoved if axes is None and operation == "astype" else _changes.in_order(axes, operation)
    return moved(x, operation, view_of, change, out, stream, (axes,))


def _planned_view(operation: str, view_of: ViewOf, change: Change, x: Any, out: Any) -> Any:
    """What _faro.run_changed() keeps; None where ``moved`` has more to do."""
    request = _asked(x, operation, change, out, on_device=True)
    if request is None:
        return None
    view = view_of(request.array.shape)
    extents = tuple(view.moved_extents(request.array.shape))
    shape = extents if view.shape is None else tuple(view.shape)
    target = None if out is None else request.output(shape)[1]
    added = request.added(shape)
    scale, offset = (_placed(change.get(what), extents, view, what, operation) for what in ("scale", "offset"))
    arrays = (request.array, target, added and added[0])
    laid: list[Any] = [() if array is None else _elements(array.strides, array.itemsize) for array in arrays]
    if 0 in shape or None in laid or _IN_PARTS in (scale, offset):
        return None
    _, address, strides = _read(request.array, view)
    out_strides = _arrays.dense_strides(extents, 1) if target is None else _split(shape, laid[1], extents)
    addend = added and (added[1].number, _split(shape, laid[2], extents), _beta(change, operation), added[1].swapped)
    key = _key(request.how, request.from_type, request.to_type, scale, offset, addend)
    return request.kept(_planned(extents, strides, out_strides, key, request.array.device), shape, address - request.array.address)


def _beta(change: Change, operation: str) -> bytes:
    beta = change.get("beta")
    return ONE if beta is None else bits_of(beta, "beta", operation)


def _beside(change: Change) -> list[Any]:
    return [change.get(name) for name in ("scale", "offset", "add", "beta")]


def _unmasked(x: Any, operation: str, change: Change) -> Any:
    if _kinds.is_masked(x):
        refuse(operation, f"a masked array with {next(iter(change))}=", "an array without a mask", "x.filled(value) has none")
    return x if _arrays.is_tensor(x) else _kinds.read(x, operation)


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


def changed_after(move: Callable[[], Any], operation: str, change: Change, out: Any = None, stream: Any = None) -> Any:
    """What is moved as it is, and changed in a sweep more."""
    _changes.how_of(change, operation)
    return moved(move(), operation, _changes.unmoved, change, out, stream)


# --- dense arrays of the host: maps, what is done in place, rows


@record()
class _Request:
    """What is asked for of an array, without the places that its numbers go to."""

    operation: str
    x: Any
    array: _arrays.Array
    change: Change
    out: Any
    how: How
    from_type: _Type
    to_type: _Type
    queue: int = 0

    def output(self, shape: tuple[int, ...]) -> tuple[Any, _arrays.Array]:
        """A new array, or ``out``, and how it lies; its type is what numbers become."""
        result, target, self.to_type = _output(self.x, self.array, shape, self.to_type, self.how.dtype is not None, self.out, self.operation)
        return result, target

    def writes_densely(self, shape: tuple[int, ...]) -> bool:
        """Whether ``out``, where it is given, is dense."""
        return self.out is None or _arrays.is_dense(self.output(shape)[1])

    def added(self, shape: tuple[int, ...]) -> tuple[_arrays.Array, _Type] | None:
        return _addend(self.change.get("add"), shape, self.array.device, self.operation)

    def key(self, shape: tuple[int, ...], added: tuple[_arrays.Array, _Type] | None = None) -> _Key:
        scale, offset = (self._values(what, shape) for what in ("scale", "offset"))
        addend = None if added is None else (added[1].number, (), _beta(self.change, self.operation), added[1].swapped)
        return _key(self.how, self.from_type, self.to_type, scale, offset, addend)

    def kept(self, plan: Any, shape: tuple[int, ...], offset: int = 0) -> Any:
        """(plan, offset of the input in bytes, shape, and an empty tensor of the result's type or a dtype)."""
        return plan, offset, shape, _torch().empty(0, dtype=self.to_type.dtype) if _arrays.is_tensor(self.x) else self.to_type.dtype

    def _values(self, what: str, shape: tuple[int, ...]) -> Values:
        values = values_of(self.change.get(what), shape, what, self.operation)
        return None if values is None else (values[0], values[1] or 0)


def _asked(x: Any, operation: str, change: Change, out: Any = None, stream: Any = None, on_device: bool = False) -> _Request | None:
    """None of what is of JAX, recorded by PyTorch, or, but ``on_device``, not on the host."""
    how, beside = _changes.how_of(change, operation), _beside(change)
    recorder = _run.recording(operation, (x, *beside), out, stream)
    if recorder is not None or _arrays.by_jax(operation, x, *beside, out=out, stream=stream):
        return None
    x = _unmasked(x, operation, change)
    array = _arrays.describe(x)
    if array.device is not None and not on_device:
        return None
    queue = _run.stream_of(array, stream, operation)
    from_type = _type_of(array.dtype, operation, of_input=True)
    to_type = from_type if how.dtype is None else _asked_type(how.dtype, x, operation)
    return _Request(operation, x, array, change, out, how, from_type, to_type, queue)


def _refuse_off_host(x: Any, operation: str, change: Change) -> NoReturn:
    refuse(operation, f"{next(iter(change))}= of a {type(x).__name__} of JAX, on a GPU, or that PyTorch records", "an array of the host",
           "leave it out: astype() changes numbers before or after", kind=FaroUnsupportedError)


def _dense(array: _arrays.Array, stream: Any = None) -> _arrays.Array:
    if _arrays.is_dense(array):
        return array
    return _arrays.describe(_faro.run(array.keep, _run.COPY, None, None, stream))


def _address(added: tuple[_arrays.Array, _Type] | None, stream: Any = None) -> tuple[int, Any]:
    """Of an addend made dense, and what holds it."""
    dense = None if added is None else _dense(added[0], stream)
    return 0 if dense is None else dense.address, dense


def _dense_target(request: _Request, result: Any, target: _arrays.Array, beside: Any, keeps: bool) -> tuple[_arrays.Array, Any]:
    """A dense array to write to, and what puts its elements where they belong. ``keeps``: some of them stay as they were."""
    _outputs.check_disjoint(request.operation, (("output", target),), beside)
    if _arrays.is_dense(target):
        return target, lambda: result if request.out is not None else _arrays.given_back(request.x, result)
    if keeps:
        return _run.copy_and_back(result, target)
    dense = _arrays.describe(target.new(target.shape), writable=True)
    spread = _run.view(target.shape, dense.strides, target.strides, 0, target.itemsize, _run.options_for(target.device))

    def finished() -> Any:
        spread.run(dense.address, target.address, request.queue)
        return result

    return dense, finished


def by_map(x: Any, operation: str, mapped: Any, move: Callable[[], Any], change: Change, out: Any = None, stream: Any = None,
           told: Any = None) -> Any:
    """``x`` permuted by ``mapped(array)``: a map's handle, how many arrays it permutes, and the result's shape. What the engine has no such
    plan for, of JAX, recorded, or where that is None, ``move`` moves, and a sweep more changes. ``told``: as of ``moved``."""
    made = _short(x, operation, told, change, out, stream, functools.partial(_planned_by_map, operation, mapped, change))
    if made is not None:
        return made
    request = _asked(x, operation, change, out, stream, on_device=True)
    chosen = None if request is None else mapped(request.array)
    if request is None or chosen is None:
        return changed_after(move, operation, change, out, stream)
    handle, batch, shape = chosen
    added = request.added(shape)
    result, target = request.output(shape)
    dense, finished = _dense_target(request, result, target, _outputs.reads(out, input=request.array), keeps=False)
    if request.array.size == 0:
        return finished()
    source, (beside, kept) = _dense(request.array, stream), _address(added, stream)
    plan = _planned_map(handle, shape, batch, False, request.key(shape, added), request.array.device)
    plan.run(source.address, beside, dense.address, source.size * (source.itemsize + target.itemsize), request.queue)
    return finished()


def _planned_by_map(operation: str, mapped: Any, change: Change, x: Any, out: Any) -> Any:
    """What _faro.run_changed() keeps; None where ``by_map`` has more to do: of what is not dense."""
    request = _asked(x, operation, change, out, on_device=True)
    chosen = None if request is None else mapped(request.array)
    if request is None or chosen is None:
        return None
    handle, batch, shape = chosen
    added = request.added(shape)
    if 0 in shape or not _arrays.is_dense(request.array) or added and not _arrays.is_dense(added[0]) or not request.writes_densely(shape):
        return None
    return request.kept(_planned_map(handle, shape, batch, False, request.key(shape, added), request.array.device), shape)


def in_place(move: Callable[[], Any], x: Any, operation: str, change: Change, stream: Any = None) -> Any:
    """What ``move`` permutes where it is, and then its numbers there, too."""
    if not change:
        return move()
    request = _asked(x, operation, change, stream=stream) or _refuse_off_host(x, operation, change)
    block = _in_place.block_of(x, None, operation)
    size, width = block.array.size, block.array.itemsize
    if width != getattr(request.to_type.dtype, "itemsize", width):
        refuse(operation, f"{request.array.dtype} to {request.to_type.dtype} in place", "types of one width", "leave in_place= out",
               kind=FaroUnsupportedError)
    arrays = [name for name in ("add", "beta") if change.get(name) is not None]
    arrays += [name for name in ("scale", "offset") if _arrays.as_array(change.get(name), operation).size != 1]
    if arrays:
        refuse(operation, f"in_place=True with an array as {arrays[0]}=", "one number for all", "leave in_place= out",
               kind=FaroUnsupportedError)
    plan = None if size == 0 else _planned_map(maps.roll(size, 0)._handle, (size,), 1, True, request.key((size,)))
    result = move()
    if plan is not None:
        plan.run(block.address, 0, block.address, 2 * size * width, 0)
    return result if request.to_type.dtype == request.from_type.dtype else result.view(request.to_type.dtype)


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


def entries_beside(array: _arrays.Array, indices: Any, operation: str) -> IndexEntries:
    """Indices of rows of an array, in its memory."""
    if array.device is None:
        return index_entries(indices, operation)
    kept, entries = _device_rows.entries_of(indices, array.device, operation)
    return IndexEntries(entries.address, entries.size, entries.itemsize, _device_rows.is_signed(entries), entries.shape, kept, entries, False)


@functools.lru_cache(maxsize=256)
def _kept_rows(rows: tuple[int, ...], move: int, fill: bytes | None, sums: int, shape: tuple[int, ...], key: _Key, device: int) -> list[Any]:
    """Room for the plan of such rows on a GPU: it is made with the first run's entries, and runs by any."""
    return []


def _planned_rows(rows: Rows, itemsize: int, move: int, fill: bytes | None, sums: int, shape: tuple[int, ...], key: _Key,
                  device: int | None) -> Any:
    if device is None:
        return _faro.plan_arithmetic_rows(rows.of(itemsize), move, fill, sums, shape, key.change())
    e = rows.entries
    kept = _kept_rows((e.size, e.itemsize, e.is_signed, rows.rows, rows.outer, rows.numbers), move, fill, sums, shape, key, device)
    if not kept:
        kept.append(_faro.plan_arithmetic_rows(rows.of(itemsize), move, fill, sums, shape, key.change(), device))
    return kept[0]


def _run_rows(plan: Any, rows: Rows, request: _Request, arrays: tuple[int, int, int], moved_bytes: int, check: bool) -> None:
    """Of (input, added array, output)."""
    if request.array.device is None:
        return plan.run(*arrays, moved_bytes, 0)
    plan.run_by(rows.entries.address, *arrays, request.queue)
    if check:
        plan.check(request.queue)


def planned_take(axis: int | None, change: Change, indices: Any, x: Any, out: Any) -> Any:
    """What _faro.run_changed() keeps of rows; None where ``taken`` has more to do."""
    request = _asked(x, "take", change, out, on_device=True)
    if request is None or change.get("add") is not None or request.array.size == 0 or not _arrays.is_dense(request.array):
        return None
    shape = request.array.shape if axis is not None else (request.array.size,)
    k = 0 if axis is None else _run.axis_of(axis, len(shape), "take")
    entries = entries_beside(request.array, indices, "take")
    if entries.size == 0:
        return None
    rows = Rows(entries, shape[k], math.prod(shape[:k]), math.prod(shape[k + 1 :]))
    result = shape[:k] + tuple(entries.shape) + shape[k + 1 :]
    if not request.writes_densely(result):
        return None
    return request.kept(_planned_rows(rows, request.array.itemsize, TAKE, None, 0, result, request.key(result), request.array.device), result)


def planned_write(operation: str, rows_of: Any, change: Change, move: int, sums: int, x: Any, out: Any) -> Any:
    """The same where ``written`` has more to do."""
    request = _asked(x, operation, change, out, on_device=True)
    if request is None or change.get("add") is not None or request.array.size == 0 or not _arrays.is_dense(request.array):
        return None
    shape = _arrays.describe(out, writable=True).shape
    if not request.writes_densely(shape):
        return None
    rows, wanted = rows_of(request.output(shape)[1])
    if request.array.shape != wanted:
        return None
    return request.kept(_planned_rows(rows, request.array.itemsize, move, None, sums, shape, request.key(shape), request.array.device), shape)


def taken(x: Any, operation: str, rows_of: Any, move: Callable[[], Any], change: Change, fill: Any = None, out: Any = None,
          stream: Any = None, check: bool = False, on_device: bool = False) -> Any:
    """Rows taken from ``x``: ``rows_of(array)`` says which, and the result's shape. Off the host, but ``on_device``, ``move`` takes them, and
    a sweep more changes them, where all are rows of ``x``."""
    request = _asked(x, operation, change, out, stream, on_device)
    if request is None and fill is None:
        return changed_after(move, operation, change, out, stream)
    request = request or _refuse_off_host(x, operation, change)
    rows, shape = rows_of(request.array)
    added = request.added(shape)
    result, target = request.output(shape)
    filled = fill_bytes(fill, target, out, operation)
    read = _outputs.reads(out, input=request.array, indices=rows.entries.given)
    dense, finished = _dense_target(request, result, target, read, keeps=filled == b"")
    source, (beside, kept) = _dense(request.array, stream), _address(added, stream)
    if rows.numbers == 0 or rows.outer == 0:
        return finished()
    plan = _planned_rows(rows, source.itemsize, TAKE, filled, 0, shape, request.key(shape, added), source.device)
    moved_bytes = target.size * (source.itemsize + target.itemsize)
    _run_rows(plan, rows, request, (source.address, beside, dense.address), moved_bytes, check)
    return finished()


def written(result: Any, operation: str, rows_of: Any, values: Any, change: Change, move: int = PUT, sums: int = 0, stream: Any = None,
            check: bool = False) -> Any:
    """``values`` put into rows of ``result``, or added to them: ``rows_of(target)`` says which, and the shape of the values. What is added to
    the values themselves, ``add=`` of their shape, is so in a sweep before."""
    request = _asked(values, operation, change, result, stream, True) or _refuse_off_host(values, operation, change)
    _, target = request.output(_arrays.describe(result, writable=True).shape)
    rows, shape = rows_of(target)
    if request.array.shape != shape:
        refuse(operation, f"values of shape {request.array.shape}", f"shape {shape}")
    if change.get("add") is not None:
        summed = moved(values, operation, _changes.unmoved, {**change, "dtype": request.to_type.dtype})
        return written(result, operation, rows_of, summed, {}, move, sums, stream, check)
    read = _outputs.reads(result, values=request.array, indices=rows.entries.given)
    dense, finished = _dense_target(request, result, target, read, keeps=True)
    source = _dense(request.array, stream)
    if rows.numbers == 0 or rows.outer == 0:
        return result
    plan = _planned_rows(rows, source.itemsize, move, None, sums, target.shape, request.key(target.shape), source.device)
    moved_bytes = source.size * (source.itemsize + target.itemsize)
    _run_rows(plan, rows, request, (source.address, 0, dense.address), moved_bytes, check)
    return finished()


# --- functions of their own


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
    return in_order(x, "astype", axes, {"dtype": dtype, **change}, out, stream)  # type: ignore[typeddict-item]


def channels_first(images: Any, dtype: Any = "float32", *, mean: Any = 0.0, std: Any = 1.0, out: Any = None, stream: Any = None) -> Any:
    """Images of height, width and channels, one or a batch of them, as channels, height, width of floats, normalised as torchvision does:
    ``(x - mean) / std`` of a channel, where bytes count as 0 to 1. A new dense array.

    ``mean`` and ``std``: a number, or one for each channel. Raises FaroValueError for other shapes, and a ``std`` of 0. Reads and writes
    every element once.

    >>> import numpy as np, faro
    >>> faro.channels_first(np.full((2, 2, 3), 255, np.uint8), mean=0.5, std=0.25).tolist()[0]
    [[2.0, 2.0], [2.0, 2.0]]
    """
    told = tuple(tuple(given) if isinstance(given, (tuple, list)) else (given,) for given in (mean, std))
    is_plain = all(isinstance(value, (int, float)) for values in told for value in values)
    plan = functools.partial(_planned_channels_first, dtype, mean, std)
    made = _short(images, "channels_first", told if is_plain else None, {"dtype": dtype}, out, stream, plan)
    if made is not None:
        return made
    return moved(images, "channels_first", _changes.channels_before, _changes.normalised(images, dtype, mean, std), out, stream)


def _planned_channels_first(dtype: Any, mean: Any, std: Any, images: Any, out: Any) -> Any:
    return _planned_view("channels_first", _changes.channels_before, _changes.normalised(images, dtype, mean, std), images, out)
