"""Arrays permuted where they are, in whatever order their axes lie in memory.

An array that fills its memory is a dense array of the same axes in another order, some of them backwards: Fortran's order,
PyTorch's channels_last, ``x[::-1]``. What is asked of the array is done to that dense one:

    x      shape (3, 4, 5), strides (1, 15, 3)                       axes 1, 2, 0 from the slowest to the fastest
    block  shape (4, 5, 3), dense                                    flip(x, 0) is flip(block, 2)

A result of the array's own shape is the array itself. One of another shape is a dense array of the same memory.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Sequence

from . import _arrays, _faro, _run, maps
from ._errors import FaroUnsupportedError, FaroValueError, refuse
from ._records import record

_MOST_BYTES = _run._MOST_BYTES
_WIDTHS = tuple(1 << b for b in range(13))  # of elements that every plan takes


@record()
class Block:
    """A dense array and how the caller's lies in it."""

    x: Any
    array: _arrays.Array
    order: tuple[int, ...]  # the caller's axes from the slowest to the fastest
    turned: tuple[bool, ...]  # those of them that go backwards, by the caller's numbers

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape[a] for a in self.order)

    @property
    def address(self) -> int:
        last = sum((e - 1) * s for e, s, turned in zip(self.array.shape, self.array.strides, self.turned) if turned)
        return self.array.address + last

    @property
    def is_plain(self) -> bool:
        return self.order == tuple(range(len(self.order))) and not any(self.turned)

    def place_of(self, axis: int) -> int:
        return self.order.index(axis)

    def dense_view(self, shape: tuple[int, ...]) -> Any:
        """An array of the caller's kind on the same memory."""
        x = self.x
        if any(self.turned):
            x = x[tuple(slice(None, None, -1 if turned else 1) for turned in self.turned)]
        if self.order != tuple(range(len(self.order))):
            x = x.permute(self.order) if hasattr(x, "permute") else x.transpose(self.order)
        if hasattr(x, "reshape"):
            return x.reshape(shape)
        seen = memoryview(x)
        return seen.cast("B").cast(seen.format, shape)  # type: ignore[call-overload]


def block_of(x: Any, out: Any, operation: str = "permute") -> Block:
    """Raises FaroValueError for an array that does not fill its memory."""
    if out is not None:
        refuse(operation, "in_place and out=", "one of them")
    array = _arrays.describe(x, writable=True)
    axes = range(len(array.shape))
    if array.size == 0 or _arrays.is_dense(array):
        return Block(x, array, tuple(axes), (False,) * len(axes))
    long = sorted((a for a in axes if array.shape[a] > 1), key=lambda a: -abs(array.strides[a]))
    wanted = array.itemsize
    for a in reversed(long):
        if abs(array.strides[a]) != wanted:
            refuse(operation, f"strides of {array.strides} bytes for shape {array.shape} in place",
                   "an array that fills its memory",
                   "leave in_place= out: the result is a new array")
        wanted *= array.shape[a]
    turned = tuple(array.shape[a] > 1 and array.strides[a] < 0 for a in axes)
    return Block(x, array, tuple(a for a in axes if array.shape[a] == 1) + tuple(long), turned)


@record()
class Step:
    """``batch`` arrays, one after another, each permuted by the map in rows of so many elements."""

    by: "maps.Map"
    batch: int = 1
    row: int = 1


def run(block: Block, steps: Sequence[Step | None], stream: Any) -> None:
    """Every step is planned before one is run."""
    if block.array.size <= 1 or block.array.itemsize == 0:
        return
    queue = _run.stream_of(block.array, stream, "permute")
    planned = [_planned(block.array, step) for step in steps if step is not None]
    for each in planned:
        each(block.address, queue)


def _planned(array: _arrays.Array, step: Step) -> Callable[[int, int], None]:
    if step.by.count * step.batch * step.row != array.size:
        refuse("permute", f"an array of {array.size} elements", f"{step.by.count * step.batch * step.row}, as the map has")
    width = array.itemsize * step.row
    ways = [(step.by, width)]
    if width > _MOST_BYTES:  # rolls, flips and equal axes take any width; on the host cycles are as fast
        ways = [widened(step.by, width)] + (ways if array.device is not None else [])
    opts = _run.options_for(array.device, in_place=True)
    opts.set_batch(step.batch)
    for by, unit in ways:
        if unit > _MOST_BYTES and array.device is None:
            break
        try:
            handle = _faro.plan_map(by._handle, unit, opts)
        except (FaroUnsupportedError, FaroValueError):  # the kernels of affine maps take widths of powers of two
            if unit <= _MOST_BYTES and (not unit & (unit - 1) or not _is_affine(by) or
                                        (array.device is not None and unit == width)):
                raise
        else:
            return functools.partial(_run_planned, handle)
    return _by_cycles(array, step, width)


def _run_planned(handle: Any, address: int, queue: int) -> None:
    handle.run_in_place(address, queue)


def _is_affine(by: "maps.Map") -> bool:
    try:
        by._handle.matrix()
    except FaroUnsupportedError:
        return False
    return True


@functools.lru_cache(maxsize=256)
def widened(by: "maps.Map", width: int) -> tuple["maps.Map", int]:
    """An affine map of elements of ``width`` bytes, as one of units that a plan can have, and their width; the map itself where
    there are none."""
    unit = width
    while unit > _MOST_BYTES and unit % 2 == 0:
        unit //= 2
    low = (width // unit).bit_length() - 1
    if unit > _MOST_BYTES or not _is_affine(by):
        return by, width
    columns, complement = by._handle.matrix()
    if len(columns) + low > 63:
        return by, width
    wide = [1 << b for b in range(low)] + [c << low for c in columns]
    text = " ".join(hex(c) for c in wide)
    return maps.parse(f"affine({len(wide)}; {text}; {hex(complement << low)})"), unit


def _by_cycles(array: _arrays.Array, step: Step, width: int) -> Callable[[int, int], None]:
    if array.device is not None:
        refuse("permute", f"rows of {width} bytes on a GPU in place",
               "rows of at most 4096 bytes, a power of two of bytes and an affine map, or a roll or a flip",
               "take() of the inverse map's indices on the GPU moves them to a new array", kind=FaroUnsupportedError)
    if _is_affine(step.by):
        columns, complement = (~step.by)._handle.matrix()
        return lambda data, queue: _faro.permute_affine_rows_in_place(columns, complement, step.batch, width, data)
    sources = (~step.by).indices
    address = sources.__array_interface__["data"][0] if hasattr(sources, "__array_interface__") else sources.buffer_info()[0]

    def follow(data: int, queue: int, kept: Any = sources) -> None:
        _faro.permute_rows_in_place(address, step.by.count, step.batch, width, data)

    return follow


# --- what is asked of an array


def cyclic(block: Block, shifts: Sequence[int], flipped: Sequence[int]) -> Step | None:
    """The block's axes that keep their places, each rolled or flipped; None where nothing moves."""
    shape = block.shape
    if not math.prod(shape) or not (any(shifts) or any(shape[a] > 1 for a in flipped)):
        return None
    if not any(shifts) and all(e & (e - 1) == 0 for e in (block.array.itemsize, *shape)):
        return Step(_flip_mask(shape, flipped))
    lists = (shape, range(len(shape)), shifts, flipped)
    text = f"axes({'; '.join(' '.join(map(str, each)) for each in lists if each)})"
    return Step(maps.parse(text, (math.prod(shape),)))


def _flip_mask(shape: tuple[int, ...], flipped: Sequence[int]) -> "maps.Map":
    """A flip of axes of powers of two complements their index bits."""
    bits, mask = 0, 0
    for axis in reversed(range(len(shape))):
        if axis in flipped:
            mask |= (shape[axis] - 1) << bits
        bits += shape[axis].bit_length() - 1
    return maps.xor(bits, mask)


def _ordered(shape: tuple[int, ...], order: Sequence[int]) -> Step | None:
    moved = [a for a in order if shape[a] > 1]
    if not math.prod(shape) or moved == sorted(moved):
        return None
    return Step(maps.parse(f"axes({' '.join(map(str, order))})", shape))


def flip(x: Any, axis: Any, out: Any, stream: Any) -> Any:
    block = block_of(x, out, "flip")
    flipped = _run.axes_of(axis, len(block.order), "flip")
    run(block, [cyclic(block, [0] * len(block.order), [block.place_of(a) for a in flipped])], stream)
    return x


def roll(x: Any, shift: Any, axis: Any, out: Any, stream: Any) -> Any:
    block = block_of(x, out, "roll")
    shape, rank = block.array.shape, len(block.order)
    if axis is None:
        given = shift if isinstance(shift, tuple) else (shift,)
        total = sum(_run.whole(s, "roll", "a shift of") for s in given) % max(block.array.size, 1)
        step = Step(maps.parse(f"roll({block.array.size}, {total})")) if total else None
        run(block, [*_to_dense(block), step, *_from_dense(block)] if step else [], stream)
        return x
    shifts = [s % max(e, 1) for s, e in zip(_run._shifts(shift, axis, rank), shape)]
    there = [(-shifts[a] if block.turned[a] else shifts[a]) % max(shape[a], 1) for a in block.order]
    run(block, [cyclic(block, there, ())], stream)
    return x


def permute_dims(x: Any, axes: Any, out: Any, stream: Any) -> Any:
    block = block_of(x, out, "permute_dims")
    shape, rank = block.array.shape, len(block.order)
    order = _run.order_of(axes, rank, "permute_dims")
    result = tuple(shape[a] for a in order)
    if result == shape:
        to = [order[a] for a in block.order]  # the caller's axis at each of the block's places
        flipped = [k for k, a in enumerate(block.order) if block.turned[a] != block.turned[order[a]]]
    else:
        to = list(order)
        flipped = [k for k, a in enumerate(order) if block.turned[a]]
    moved = _ordered(block.shape, [block.place_of(a) for a in to])
    after = Block(x, block.array, tuple(to), block.turned)
    run(block, [moved, cyclic(after, [0] * rank, flipped)], stream)
    return x if result == shape else block.dense_view(result)


def permute(x: Any, by: "str | maps.Map", out: Any, stream: Any, batch: int = 1) -> Any:
    """The whole array, or of a map ``batch`` arrays, one after another."""
    block = block_of(x, out)
    array = block.array
    if isinstance(by, str):
        return _by_text(block, by, stream)
    if by.count * batch != array.size:
        refuse("permute", f"an array of {array.size} elements", f"{by.count * batch}, as the map has",
               _run.along_remedy(tuple(array.shape), by.count))
    run(block, [*_to_dense(block), Step(by, batch), *_from_dense(block)], stream)
    return x


def _by_text(block: Block, text: str, stream: Any) -> Any:
    array = block.array
    if block.is_plain and array.size > 1 and array.itemsize in _WIDTHS:
        opts = _run.options_for(array.device, in_place=True)
        handle = _faro.plan_array(text, list(array.shape), None, array.itemsize, opts)
        shape = tuple(handle.out_shape())
        if math.prod(shape) != array.size:
            refuse("permute", f"an array of {array.size} elements", f"{math.prod(shape)}, as `{text}` has",
                   _run.along_remedy(tuple(block.array.shape), math.prod(shape)))
        result = shape if _run._is_named(text, list(shape)) else array.shape
        handle.run_in_place(array.address, _run.stream_of(array, stream, "permute"))
    else:
        dense = _arrays.dense_strides(array.shape, 1)
        result = _run._plan_text(array.shape, dense, 1, (text, False), _run.options("cpu"))[1]
        if array.size > 1:
            back = _from_dense(block) if result == array.shape else []
            run(block, [*_to_dense(block), Step(maps.parse(text, array.shape)), *back], stream)
    return block.x if result == array.shape else block.dense_view(result)


def along(x: Any, by: "maps.Map", axis: int, out: Any, stream: Any) -> Any:
    block = block_of(x, out)
    place, shape = block.place_of(axis), block.shape
    step = Step(by, math.prod(shape[:place]), math.prod(shape[place + 1 :]))
    turn = cyclic(block, [0] * len(shape), [place]) if block.turned[axis] else None
    run(block, [turn, step, turn], stream)
    return x


def _to_dense(block: Block) -> list[Step | None]:
    """What puts the elements into the order of the caller's axes."""
    if block.is_plain:
        return []
    turned = [block.place_of(a) for a in range(len(block.order)) if block.turned[a]]
    order = [block.place_of(a) for a in range(len(block.order))]
    return [cyclic(block, [0] * len(block.order), turned), _ordered(block.shape, order)]


def _from_dense(block: Block) -> list[Step | None]:
    back = _to_dense(block)
    if not back:
        return []
    return [_ordered(block.array.shape, block.order), back[0]]
