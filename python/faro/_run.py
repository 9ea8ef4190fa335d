"""From an operation and an array's shape to a plan, and the long way of a call.

Arrays of NumPy and PyTorch go by ``_faro.run``, which asks ``plan`` here once for each operation, width, shape, strides,
device and argument, and keeps what it gets. All others come to ``run`` below, which does the same in Python.
"""

from __future__ import annotations

import functools
import math
import re as _re
import sys as _sys
from operator import index as _index
from typing import Any, Callable, Sequence

from . import _arrays, _faro, _kinds, _libraries, _outputs
from ._errors import FaroTypeError, refuse

Shape = tuple[int, ...]

# Operations, by number for the cache's key.
PERMUTE_DIMS, FLIP, ROLL, TEXT, MAP, QUBITS, COPY, BATCH = range(8)
_NAMES = ("permute_dims", "flip", "roll", "permute", "permute", "permute_qubits", "ascontiguousarray", "permute")

_MOST_BYTES = 4096  # of an element


def options(
    engine: str = "auto", threads: int = 0, device: int | None = None, in_place: bool = False, batch: int = 1, repeats: int = 0,
    measure: bool = False,
) -> Any:
    """faro.h's options."""
    engines = ("auto", "cpu", "cuda")
    if engine not in engines:
        refuse("plan", f"engine {engine!r}", "'auto', 'cpu' or 'cuda'")
    threads = threads_of(threads, "plan")
    repeats = whole(repeats, "plan", "repeats =", 0, 2**63 - 1)
    number = 0 if device is None else whole(device, "plan", "device =", 0, 2**16) + 1
    return _faro.Options.make(engines.index(engine), threads, number, bool(in_place), batch, repeats, bool(measure))


def options_for(device: int | None, in_place: bool = False, batch: int = 1) -> Any:
    if device is None:
        return options("cpu", in_place=in_place, batch=batch)
    return options("cuda", device=device, in_place=in_place, batch=batch)


# --- axes


def whole(value: Any, operation: str, what: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number of the caller's, from ``least`` to ``most``."""
    try:
        number = _index(value)
    except TypeError:
        if _arrays.is_traced(value):
            refuse(operation, f"{what} a traced {value.dtype} of JAX", "a whole number", "jax.jit's static_argnums make it one",
                   kind=FaroTypeError)
        refuse(operation, f"{what} {value!r}", "a whole number", kind=FaroTypeError)
    if (least is not None and number < least) or (most is not None and number > most):
        refuse(operation, f"{what} {number}", f"{least} to {most}" if most is not None else f"{least} or more")
    return number


def threads_of(threads: Any, operation: str) -> int:
    """0: as many as OpenMP would use."""
    return whole(threads, operation, "threads =", 0, 4096)


OF_NUMBERS = _arrays.OF_NUMBERS


def listed(given: Any) -> Any:
    """None, one number, or a tuple of several, whatever sequence held them: keys of plans are made of these."""
    if given is None or given.__class__ in (tuple, int) or isinstance(given, str):
        return given
    if given.__class__ is list:
        return tuple(given)
    try:
        return _index(given)
    except TypeError:
        pass
    try:
        return tuple(given)
    except TypeError:
        return given  # refused by what it is for


def inverse_order(axes: Any, operation: str) -> tuple[int, ...]:
    """The order that takes back what ``axes`` does."""
    given = listed(axes)
    if not isinstance(given, tuple):
        refuse(operation, f"the axes {given!r}", "a sequence of them", kind=FaroTypeError)
    order = order_of(given, len(given), operation)
    return tuple(order.index(a) for a in range(len(order)))


def shape_of(shape: Any, operation: str) -> Shape:
    """Extents of the caller's: several, or one."""
    extents = listed(shape)
    if isinstance(extents, tuple) or isinstance(extents, int):
        return tuple(whole(e, operation, "extent", 0, 2**62) for e in (extents if isinstance(extents, tuple) else (extents,)))
    refuse(operation, f"the shape {shape!r}", "whole numbers", kind=FaroTypeError)


def axis_of(axis: Any, rank: int, operation: str) -> int:
    number = whole(axis, operation, "axis")
    if not -rank <= number < rank:
        refuse(operation, f"axis {number} of an array of {rank}", f"an axis from {-rank} to {rank - 1}" if rank else
               "an array with axes: this is a single number")
    return number % rank


def order_of(axes: Any, rank: int, operation: str) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(rank - 1, -1, -1))
    try:
        given = tuple(axes)
    except TypeError:
        refuse(operation, f"the axes {axes!r}", "a sequence of them", kind=FaroTypeError)
    order = tuple(axis_of(axis, rank, operation) for axis in given)
    if sorted(order) != list(range(rank)):
        refuse(operation, f"the axes {given}", f"each of the {rank} axes once")
    return order


def axes_of(axis: Any, rank: int, operation: str) -> tuple[int, ...]:
    """One axis or several; None: all."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(a, rank, operation) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        refuse(operation, f"the axes {axis}", "each axis once")
    return axes


# --- views


def _unit(width: int, strides: list[int]) -> int:
    """The widest unit that elements and strides are made of, of at most 4096 bytes."""
    unit = math.gcd(width, *strides)
    if unit <= _MOST_BYTES:
        return unit
    return max(d for d in range(1, _MOST_BYTES + 1) if unit % d == 0)


def view(
    extents: Shape, in_strides: tuple[int, ...], out_strides: tuple[int, ...], in_corner: int, width: int, opts: Any
) -> Any:
    """The plan of a view whose strides and corner are in bytes, of elements of any width."""
    if width == 0 or 0 in extents:
        return _faro.plan_view([0], [1], [1], 0, 0, 1, opts)
    ins = [s if e > 1 else 0 for e, s in zip(extents, in_strides)]
    outs = [s if e > 1 else 0 for e, s in zip(extents, out_strides)]
    unit = _unit(width, ins + outs + [in_corner])
    shape = list(extents)
    if unit != width:
        shape.append(width // unit)
        ins.append(unit)
        outs.append(unit)
    return _faro.plan_view(
        shape, [s // unit for s in ins], [s // unit for s in outs], in_corner // unit, 0, unit, opts
    )


def _dense_view(extents: Shape, in_strides: tuple[int, ...], width: int, opts: Any, in_corner: int = 0) -> Any:
    return view(extents, in_strides, _arrays.dense_strides(extents, width), in_corner, width, opts)


def _plan_permute_dims(shape: Shape, strides: Shape, width: int, axes: Any, opts: Any) -> tuple[Any, Shape]:
    order = order_of(axes, len(shape), "permute_dims")
    result = tuple(shape[a] for a in order)
    return _dense_view(result, tuple(strides[a] for a in order), width, opts), result


def _plan_copy(shape: Shape, strides: Shape, width: int, _: Any, opts: Any) -> tuple[Any, Shape]:
    return _dense_view(shape, strides, width, opts), shape


def _plan_flip(shape: Shape, strides: Shape, width: int, axis: Any, opts: Any) -> tuple[Any, Shape]:
    flipped = axes_of(axis, len(shape), "flip")
    if opts.on_gpu():
        handle = _flip_on_gpu(shape, strides, width, flipped, opts)
        if handle is not None:
            return handle, shape
    turned = tuple(-s if a in flipped else s for a, s in enumerate(strides))
    corner = sum((shape[a] - 1) * strides[a] for a in flipped if shape[a] > 1)
    return _dense_view(shape, turned, width, opts, corner), shape


def _shifts(shift: Any, axis: Any, rank: int) -> list[int]:
    """The shift of every axis, as numpy.roll adds them up."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if len(shifts) == 1:
        shifts = tuple(shifts) * len(axes)
    if len(axes) == 1:
        axes = tuple(axes) * len(shifts)
    if len(shifts) != len(axes):
        refuse("roll", f"{len(shifts)} shifts and {len(axes)} axes", "as many of both, or one")
    sums = [0] * rank
    for a, s in zip(axes, shifts):
        sums[axis_of(a, rank, "roll")] += whole(s, "roll", "a shift of")
    return sums


def _plan_roll(shape: Shape, strides: Shape, width: int, argument: Any, opts: Any) -> tuple[Any, Shape]:
    shift, axis = argument
    count = math.prod(shape)
    if count == 0 or width == 0:
        return _dense_view(shape, strides, width, opts), shape
    if axis is None:
        total = sum(whole(s, "roll", "a shift of") for s in (shift if isinstance(shift, (tuple, list)) else (shift,)))
        return _plan_flat_roll(shape, strides, width, total % count, opts), shape
    shifts = [s % e for s, e in zip(_shifts(shift, axis, len(shape)), shape)]
    if opts.on_gpu():
        handle = _roll_on_gpu(shape, strides, width, shifts, opts)
        if handle is not None:
            return handle, shape
    unit = _unit(width, [s for s, e in zip(strides, shape) if e > 1])
    extents = list(shape)
    ins = [s // unit if e > 1 else 0 for s, e in zip(strides, shape)]
    if unit != width:
        extents.append(width // unit)
        ins.append(1)
        shifts.append(0)
    return _faro.plan_roll(extents, ins, shifts, unit, opts), shape


def _plan_flat_roll(shape: Shape, strides: Shape, width: int, shift: int, opts: Any) -> Any:
    count = math.prod(shape)
    pieces = width // _unit(width, [s for s, e in zip(strides, shape) if e > 1])
    unit = width // pieces
    if all(e == 1 or s == w for e, s, w in zip(shape, strides, _arrays.dense_strides(shape, width))):
        if opts.on_gpu():
            return _faro.plan_array(f"roll({count * pieces}, {shift * pieces})", [count * pieces], None, unit, opts)
        return _faro.plan_roll([count * pieces], [1], [shift * pieces], unit, opts)
    extents = list(shape) + [pieces]
    ins = [s // unit if e > 1 else 0 for s, e in zip(strides, shape)] + [1]
    return _faro.plan_array(f"roll({count * pieces}, {shift * pieces})", extents, ins, unit, opts)


# A GPU has kernels for flips and rolls of whole arrays, and of each of a batch, which are faster than boxes of views.


def _flip_on_gpu(shape: Shape, strides: Shape, width: int, flipped: tuple[int, ...], opts: Any) -> Any:
    """Neighbouring axes of a dense array, flipped, are one axis of wider elements; None for others."""
    axes = [a for a in range(len(shape)) if shape[a] != 1]
    turned = [a for a in axes if a in flipped]
    if not turned or 0 in shape or _element_strides(shape, strides, width) is not None:
        return None
    first, last = turned[0], turned[-1]
    element = math.prod(shape[last + 1 :]) * width
    if [a for a in axes if first <= a <= last] != turned or element > _MOST_BYTES:
        return None
    count = math.prod(shape[first : last + 1])
    opts.set_batch(math.prod(shape[:first]))
    return _faro.plan_array(f"flip({count})", [count], None, element, opts)


def _roll_on_gpu(shape: Shape, strides: Shape, width: int, shifts: list[int], opts: Any) -> Any:
    """One axis of a dense array, rolled, is a roll of all that lies behind it; None for others."""
    rolled = [a for a, shift in enumerate(shifts) if shift]
    if len(rolled) != 1 or width > _MOST_BYTES or _element_strides(shape, strides, width) is not None:
        return None
    axis = rolled[0]
    inner = math.prod(shape[axis + 1 :])
    count = shape[axis] * inner
    opts.set_batch(math.prod(shape[:axis]))
    return _faro.plan_array(f"roll({count}, {shifts[axis] * inner})", [count], None, width, opts)


# --- maps


def _inverse_text(text: str) -> str:
    if "->" not in text or "@" in text:
        return f"inverse({text})"
    before, _, rest = text.partition("->")
    after, comma, lengths = rest.partition(",")
    return f"{after.strip()} -> {before.strip()}{comma}{lengths}"


def sized_pattern(pattern: str, shape: Shape, inverse: bool) -> str:
    """A pattern with the axes and the lengths that an array of this shape tells, so that it can be read the other way, too: `...` is so
    many names. The array has the axes of its left side, of its right one with ``inverse``."""
    left, _, rest = pattern.partition("->")
    right, comma, said = rest.partition(",")
    read = right if inverse else left
    if "..." in read:
        named = len(_groups(read)) - 1
        prefix = next(name for name in ("d" * n for n in range(1, len(pattern) + 2)) if name not in pattern)
        axes = " ".join(f"{prefix}{i}" for i in range(len(shape) - named))
        pattern = f"{left}->{right}".replace("...", f" {axes} ") + comma + said
        read = read.replace("...", f" {axes} ")
    lengths = {name.strip(): _length(length) for name, _, length in (each.partition("=") for each in said.split(",")) if length}
    more = {}
    for names, extent in zip(_groups(read), shape):
        unknown = [name for name in names if name not in lengths and not name.isdigit()]
        if len(unknown) == 1:
            more[unknown[0]] = extent // max(math.prod(lengths.get(name, 1) for name in names), 1)
    return pattern + "".join(f", {name}={length}" for name, length in more.items())


def _length(text: str) -> int:
    """`12` or `2^4`, as a pattern writes lengths."""
    base, _, power = text.partition("^")
    return int(base) ** int(power or 1)


def _groups(side: str) -> list[list[str]]:
    """The names that each axis of one side of a pattern joins."""
    return [group.strip("()").split() for group in _re.findall(r"\([^()]*\)|\.\.\.|[^\s().]+", side)]


def _element_strides(shape: Shape, strides: Shape, width: int) -> list[int] | None:
    """None for a dense array. Strides that are no whole elements are for _collected()."""
    if all(e == 1 or s == w for e, s, w in zip(shape, strides, _arrays.dense_strides(shape, width))):
        return None
    return [s // width if e > 1 else 0 for s, e in zip(strides, shape)]


def _is_named(text: str, out_shape: list[int]) -> bool:
    return len(out_shape) != 1 or "->" in text


def along_remedy(shape: Shape, count: int, is_plan: bool = False) -> str:
    """For who gives a map of one axis where whole arrays are permuted; "" where no axis has as many places."""
    axis = next((k for k in reversed(range(len(shape))) if shape[k] == count), None)
    if axis is None or len(shape) < 2:
        return ""
    if is_plan:
        places = f"numpy.arange({math.prod(shape)}).reshape({tuple(shape)})"
        return (f"faro.maps.from_indices({places}.take((~m).indices, {axis}).ravel(), gather=True) "
                f"is map m along axis {axis}")
    return f"faro.permute(x, by, axis={axis}) permutes along axis {axis}"


def _plan_text(shape: Shape, strides: Shape, width: int, argument: Any, opts: Any, is_plan: bool = False) -> tuple[Any, Shape]:
    text, inverse = argument
    said = _inverse_text(text) if inverse else text
    if any(e > 1 and s % width for s, e in zip(strides, shape)):
        refuse(
            "permute", f"strides of {strides} bytes, no whole elements of {width}", "whole elements",
            "faro.ascontiguousarray() first",
        )
    if "strided" in text and text.lstrip().startswith("strided"):
        if _element_strides(shape, strides, width) is not None:
            refuse("permute", "a strided view of an array with strides", "a dense array", "faro.ascontiguousarray() first")
        handle = _faro.plan_array(said, list(shape) or [1], None, width, opts)
        result = tuple(handle.out_shape())
        if math.prod(result) * width != handle.out_bytes():
            refuse("permute", f"`{said}`, whose output has holes", "a view that fills its output",
                   "out[...] = faro.ascontiguousarray(x[...]) leaves the others as they are")
        return handle, result
    given = list(shape) or [1]
    if not shape and "->" in said:  # a single number, which patterns do not count as an axis
        said = f"1 {said}"
    handle = _faro.plan_array(said, given, _element_strides(shape, strides, width) if shape else None, width, opts)
    out_shape = handle.out_shape()
    if math.prod(out_shape) != math.prod(shape):
        refuse(
            "permute", f"an array of {math.prod(shape)} elements", f"{math.prod(out_shape)}, as `{said}` has",
            along_remedy(shape, math.prod(out_shape), is_plan),
        )
    return handle, tuple(out_shape) if _is_named(said, out_shape) else shape


def _plan_map(shape: Shape, strides: Shape, width: int, argument: Any, opts: Any, is_plan: bool = False) -> tuple[Any, Shape]:
    count = math.prod(shape)
    if argument.count != count:
        refuse("permute", f"an array of {count} elements", f"{argument.count}, as the map has",
               along_remedy(shape, argument.count, is_plan))
    if _element_strides(shape, strides, width) is not None:
        refuse("permute", "an array with strides", "a dense array", "faro.ascontiguousarray() first")
    return _faro.plan_map(argument._handle, width, opts), shape


def qubit_axes(order: Shape, little_endian: bool) -> list[int]:
    """The order of n axes of two that brings qubit order[k] to k."""
    n = len(order)
    qubits = order_of(order, n, "permute_qubits")
    if not little_endian:
        return list(qubits)
    # Qubit k is bit k: axis n - 1 - k of n axes of two.
    axes = [0] * n
    for k, source in enumerate(qubits):
        axes[n - 1 - k] = n - 1 - source
    return axes


def before_qubits(shape: Shape, n: int) -> Shape:
    """The axes before those of n qubits."""
    if shape[len(shape) - n :] == (2,) * n and n > 0:
        return shape[: len(shape) - n]
    if shape and shape[-1] == 1 << n:
        return shape[:-1]
    refuse("permute_qubits", f"an array of shape {shape}", f"2^{n} amplitudes in the last axis, or {n} axes of two")


def _plan_qubits(shape: Shape, strides: Shape, width: int, argument: Any, opts: Any) -> tuple[Any, Shape]:
    order, little_endian = argument
    n = len(order)
    axes = qubit_axes(order, little_endian)
    before = len(before_qubits(shape, n))
    ins = list(strides[before:]) if len(shape) - before == n else [strides[-1] << (n - 1 - a) for a in range(n)]
    extents = shape[:before] + (2,) * n
    moved = strides[:before] + tuple(ins[a] for a in axes)
    return _dense_view(extents, moved, width, opts), shape


def _plan_batch(shape: Shape, strides: Shape, width: int, argument: Any, opts: Any) -> tuple[Any, Shape]:
    """A text for each of many dense arrays, which follow one another along the first axes."""
    text, inverse, axes = argument
    said = _inverse_text(text) if inverse else text
    count, one = math.prod(shape[:axes]), shape[axes:]
    if _element_strides(shape, strides, width) is not None:
        refuse("permute", "a batch with strides", "a dense array", "faro.ascontiguousarray() first")
    _, after = _plan_text(one, _arrays.dense_strides(one, width), width, (text, inverse), options("cpu"))
    result = shape[:axes] + after
    if math.prod(result) == 0:
        return _dense_view(result, _arrays.dense_strides(result, width), width, opts), result
    opts.set_batch(count)
    return _faro.plan_array(said, list(one) or [1], None, width, opts), result


_PLANNERS = {
    PERMUTE_DIMS: _plan_permute_dims,
    FLIP: _plan_flip,
    ROLL: _plan_roll,
    TEXT: _plan_text,
    MAP: _plan_map,
    QUBITS: _plan_qubits,
    COPY: _plan_copy,
    BATCH: _plan_batch,
}


def plan(op: int, shape: Shape, strides: Shape, width: int, argument: Any, device: int | None) -> tuple[Any, Shape]:
    """What ``_faro.run`` keeps: the plan of an operation, and the result's shape."""
    return _PLANNERS[op](shape, strides, width, argument, options_for(device))


_plan_on = functools.lru_cache(maxsize=1024)(plan)


def result_of(x: Any, array: _arrays.Array, out: Any, shape: Shape, operation: str, queue: int, keeps: bool = False,
              beside: Sequence[_outputs.Laid] = ()) -> tuple[_arrays.Array, Callable[[], Any]]:
    """A dense array to write the result to, and what makes of it, once it is written, what the caller gets: ``out=`` where it
    is given. One with strides gets its elements from another array, in which they are where some of them stay. ``beside``: as check_out."""
    if out is None:
        made = array.new(shape)
        return _arrays.describe(made, writable=True), lambda: _arrays.given_back(x, made)
    target = _outputs.check_out(x, array, out, shape, operation, beside)
    if _arrays.is_dense(target):
        return target, lambda: out
    on = None if array.device is None else queue
    dense = _arrays.describe(_faro.run(out, COPY, None, None, on) if keeps else array.new(shape), writable=True)
    spread = view(shape, dense.strides, target.strides, 0, array.itemsize, options_for(array.device))

    def finished() -> Any:
        spread.run(dense.address, target.address, queue)
        return out

    return dense, finished


def copy_and_back(out: Any, target: _arrays.Array) -> tuple[_arrays.Array, Callable[[], Any]]:
    """A dense copy of an array with strides on the host, and what puts its elements back once they are changed."""
    copied = _faro.run(out, COPY, None, None, None)
    dense = _arrays.describe(copied, writable=True)
    back = view(target.shape, dense.strides, target.strides, 0, target.itemsize, options_for(None))

    def finished() -> Any:
        back.run(dense.address, target.address, 0)
        return out

    return dense, finished


def stream_of(array: _arrays.Array, stream: Any, operation: str) -> int:
    if stream is None:
        return array.stream
    if array.device is None:
        refuse(operation, "a stream for an array of the host", "no stream")
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)


def recording(operation: str, given: Sequence[Any], out: Any = None, stream: Any = None, check: bool = False) -> Any:
    """``faro.torch`` where what is done with one of these is recorded, for its gradient, by a transformation, by a tracer; else None.
    It makes new tensors, and nothing waits for a device."""
    tensor: Any = getattr(_sys.modules.get("torch"), "Tensor", ())
    for x in (*given, out):
        if isinstance(x, tensor) and _arrays.is_recorded(x):
            break
    else:
        return None
    _arrays.torch_modes().refuse_unmoved(operation, given)
    if out is not None or stream is not None:
        _arrays.torch_modes().refuse_output((*given, out))
    if check and any(getattr(x, "is_cuda", False) for x in given):
        refuse(operation, "check=True for a tensor on a GPU whose operations are recorded", "check=False",
               "the same call of x.detach() checks the indices")
    return _libraries.functions_for("torch")


def move(handle: Any, array: _arrays.Array, source: int, target: int, queue: int) -> None:
    """Runs a plan. On a GPU its workspace is an array of the caller's library, where the stream is that library's, too:
    it keeps some memory and knows what is queued."""
    needed = handle.workspace_bytes() if array.device is not None and queue == array.stream else 0
    if needed == 0 or array.itemsize == 0:
        return handle.run(source, target, queue)
    lent = array.new((-(-needed // array.itemsize),))
    handle.run_in_workspace(source, target, _arrays.describe(lent, writable=True).address, needed, queue)


def run(x: Any, op: int, argument: Any, out: Any, stream: Any) -> Any:
    """The long way: arrays of any library, results with strides, tensors whose operations are recorded."""
    recorder = recording(_NAMES[op], (x,), out, stream)
    if recorder is not None:
        return recorder._recorded(x, op, argument)
    if _arrays.by_jax(_NAMES[op], x, out=out, stream=stream):
        return _libraries.functions_for("jax")._by_operation(x, op, argument)
    operation = _NAMES[op]
    given = _kinds.read(x, operation)
    if _kinds.is_masked(given):
        return _kinds.with_mask(given, lambda part: _faro.run(part, op, argument, None, stream), out, operation)
    if given is not x:
        return _faro.run(given, op, argument, out, stream)
    array = _arrays.describe(x)
    queue = stream_of(array, stream, operation)
    if isinstance(argument, list):
        argument = tuple(argument)
    try:
        hash(argument)
        planner: Any = _plan_on
    except TypeError:  # what plans says what is wrong with it
        planner = plan
    handle, shape = planner(op, array.shape, array.strides, array.itemsize, argument, array.device)
    target, finished = result_of(x, array, out, shape, operation, queue)
    move(handle, array, array.address, target.address, queue)
    return finished()


_faro.set_python_side(plan, run, _arrays.meet_torch)
