"""Rows by index arrays that may repeat or leave out, and rows sent to buckets.

``-1`` in an index array of signed numbers names no row. (NumPy counts it from the end: faro does not.) Every other index
is checked: on the host before anything is moved; on a GPU, where indices lie beside the arrays and nothing waits, while it
is moved (_device_rows.py).
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Unpack

from . import _arithmetic, _arrays, _device_rows, _faro, _kinds, _libraries, _outputs, _row_values, _run, maps
from ._changes import Change
from ._errors import FaroTypeError, FaroValueError, refuse
from ._fills import fill_bytes
from ._functions import _is_ndarray, ascontiguousarray, entries_of_images
from ._indices import IndexEntries, index_entries
from ._records import record

__all__ = ["take", "take_segments", "put", "add_at", "route", "route_rows", "dispatch", "combine", "Routing"]


def _dense(x: Any, operation: str, array: _arrays.Array | None = None) -> tuple[Any, _arrays.Array]:
    """Also of what was described already."""
    if array is None:
        x = _kinds.read(x, operation)
        array = _arrays.describe(x)
    _row_values.require_host(array, operation)
    if _arrays.is_dense(array):
        return x, array
    x = _faro.run(x, _run.COPY, None, None, None)
    return x, _arrays.describe(x)


def _rows(entries: IndexEntries, rows: int, outer: int, row_bytes: int, threads: int) -> Any:
    return _faro.Rows.make(
        entries.address, entries.size, entries.itemsize, entries.is_signed, rows, outer, row_bytes,
        _run.threads_of(threads, "move rows"),
    )


def take(x: Any, indices: Any, axis: int | None = None, *, inverse: bool = False, fill: Any = None, out: Any = None,
         stream: Any = None, check: bool = False, threads: int = 0, **change: Unpack[Change]) -> Any:
    """The rows ``x[indices[i]]`` along ``axis``, as ``numpy.take``; ``axis=None``: of the flat array.

    ``fill``: what an index of -1 gives, a value that the elements hold (0 is a zero of every type), bytes, repeated along the row, or
    ``"keep"``: what is there in ``out=``; None: -1 is refused.
    Raises FaroValueError naming the first index that is no row. On a GPU ``indices`` lie there, too, such an index leaves
    its row of the result unwritten, and ``check=True`` waits and raises.

    ``inverse=True``, of indices that name every row once, goes the way back: ``result[indices[i]] = x[i]``. ``put`` writes some
    rows.

    >>> import numpy as np, faro
    >>> faro.take(np.array([10, 20, 30]), [2, 0, 2, -1], fill=0).tolist()
    [30, 10, 30, 0]
    """
    if change:
        if fill is None and stream is None and threads == 0 and not (check or inverse):
            made = _faro.run_changed(x, "take", axis, change, out, functools.partial(_arithmetic.planned_take, axis, change, indices), indices)
            if made is not None:
                return made
        return _take_changed(x, indices, axis, inverse, fill, out, stream, check, threads, change)
    if fill is None and stream is None and threads == 0 and not (check or inverse):
        made = _faro.take_short(x, indices, axis, out)
        if made is None and out is None and _is_ndarray(x):
            if indices.__class__ is list and all(i.__class__ is int for i in indices):
                made = _faro.take_short(x, _arrays.as_array(indices, "take"), axis)
            if made is None and not x.flags.c_contiguous:
                x = _faro.run(x, _run.COPY, None, None, None)
                made = _faro.take_short(x, indices, axis)
        if made is not None:
            return made
    recorder = _run.recording("take", (x, indices, fill) if _arrays.is_tensor(x) else (x, indices), out, stream, check)
    if recorder is not None:
        return recorder.take(x.reshape(-1) if axis is None else x, indices, axis or 0, inverse=inverse, fill=fill)
    if _arrays.by_jax("take", x, indices, fill, out=out, stream=stream):
        of_jax = _libraries.functions_for("jax")
        x = of_jax.array_of(x, "take")
        return of_jax.take(x.reshape(-1) if axis is None else x, indices, 0 if axis is None else axis, inverse=inverse, fill=fill)
    if inverse:
        return _take_back(x, indices, axis, fill, out, stream, check, threads)
    given = _kinds.read(x, "take")
    if _kinds.is_masked(given):
        return _take_with_mask(given, indices, axis, fill, out, threads)
    x = given
    array = _arrays.describe(x)
    if array.device is not None:
        return _device_rows.take(x, array, indices, axis, fill, out, stream, check)
    _run.stream_of(array, stream, "take")
    entries = index_entries(indices, "take")
    beside = _outputs.reads(out, input=array, indices=entries.given)
    x, array = _dense(x, "take", array)
    shape = array.shape if axis is not None else (array.size,)
    k = 0 if axis is None else _run.axis_of(axis, len(shape), "take")
    outer, rows = math.prod(shape[:k]), shape[k]
    row_bytes = math.prod(shape[k + 1 :]) * array.itemsize
    result = shape[:k] + tuple(entries.shape) + shape[k + 1 :]
    filled = fill_bytes(fill, array, out, "take")
    target, finished = _run.result_of(x, array, out, result, "take", 0, filled == b"", beside)
    if math.prod(result) and array.itemsize:
        _faro.take(_rows(entries, rows, outer, row_bytes, threads), filled, array.address, target.address, out is None)
    elif entries.size:  # nothing to move, but every index still has to name a row
        _faro.take(_rows(entries, rows, 0, 1, threads), filled and bytes(1), 0, 0, False)
    return finished()


def _take_changed(x: Any, indices: Any, axis: int | None, inverse: bool, fill: Any, out: Any, stream: Any, check: bool, threads: int,
                  change: Any) -> Any:
    """The way back names every row once, so that it is a take by the rows' places; on a GPU rows are moved, and then changed."""
    def rows_of(array: _arrays.Array) -> tuple[_arithmetic.Rows, tuple[int, ...]]:
        shape = array.shape if axis is not None else (array.size,)
        k = 0 if axis is None else _run.axis_of(axis, len(shape), "take")
        entries = _arithmetic.entries_beside(array, indices, "take")
        if inverse:
            if entries.shape != (shape[k],):
                refuse("take", f"indices of shape {entries.shape} for the inverse", f"shape ({shape[k]},), every row once",
                       "put() writes some rows")
            entries = entries_of_images(~maps.from_indices(indices))
        rows = _arithmetic.Rows(entries, shape[k], math.prod(shape[:k]), math.prod(shape[k + 1 :]), _run.threads_of(threads, "take"))
        return rows, (array.shape if inverse and axis is None else shape[:k] + tuple(entries.shape) + shape[k + 1 :])

    if inverse and fill is not None:
        refuse("take", "fill= of an inverse", "none: every row is written")
    move = functools.partial(take, x, indices, axis, inverse=inverse, stream=stream, check=check)
    return _arithmetic.taken(x, "take", rows_of, move, change, fill, out, stream, check, on_device=not inverse)


def _take_with_mask(x: Any, indices: Any, axis: int | None, fill: Any, out: Any, threads: int) -> Any:
    return _kinds.with_mask(x, lambda part: take(part, indices, axis, fill=fill, threads=threads), out, "take",
                            lambda mask: take(mask, indices, axis, fill=unmasked_fill(fill), threads=threads))


def unmasked_fill(fill: Any) -> Any:
    """The fill of a mask: what a value fills is not masked."""
    return None if fill is None else False


def _take_back(x: Any, indices: Any, axis: int | None, fill: Any, out: Any, stream: Any, check: bool, threads: int) -> Any:
    if fill is not None:
        refuse("take", "fill= of an inverse", "none: every row is written")
    x = _kinds.read(x, "take")
    if _kinds.is_masked(x):
        return _kinds.with_mask(x, lambda part: _take_back(part, indices, axis, None, None, stream, check, threads), out, "take")
    array = _arrays.describe(x)
    shape = array.shape if axis is not None else (array.size,)
    if not shape:
        refuse("take", "a single number", "an array of rows")
    k = 0 if axis is None else _run.axis_of(axis, len(shape), "take")
    entries: Any = _arrays.describe(indices) if array.device is not None else index_entries(indices, "take")
    if entries.shape != (shape[k],):
        refuse("take", f"indices of shape {entries.shape} for the inverse", f"shape ({shape[k]},), every row once",
               "put() writes some rows")
    made = array.new(shape) if out is None else out
    if out is not None:
        read = indices if array.device is not None else entries.given
        _outputs.check_out(x, array, out, shape, "take", _outputs.reads(out, indices=read))
    if axis is None and len(array.shape) != 1:
        x = _kinds.flat(ascontiguousarray(x))
    target = _arrays.describe(made, writable=True)
    if array.device is not None:
        _device_rows.put(made, target, indices, x, k, stream, check, every=True)
    else:
        _run.stream_of(target, stream, "take")
        _put_every(made, target, entries, x, k, threads)
    return made if out is not None else _arrays.given_back(x, made)


def _put_every(made: Any, target: _arrays.Array, entries: IndexEntries, x: Any, k: int, threads: int) -> None:
    """Puts to every row: -1, which put() leaves out, is one that there is none of, as it is without a sign."""
    _, source, written, finished = _row_values.placed(made, target, x, target.shape, "take", None)
    outer, row_bytes = math.prod(target.shape[:k]), math.prod(target.shape[k + 1 :]) * target.itemsize
    unsigned = IndexEntries(entries.address, entries.size, entries.itemsize, False, entries.shape, entries.keep)
    move = _rows(unsigned, target.shape[k], outer, row_bytes, threads)
    try:
        if outer * row_bytes:
            _faro.put(move, source.address, written.address)
    except FaroValueError:
        for i, row in enumerate(entries.keep) if entries.is_signed else ():
            if row < 0:
                refuse("take", f"row {int(row)} at position {i}", "every row once, of an inverse")
        raise
    finished()


def take_segments(x: Any, offsets: Any, indices: Any, *, out: Any = None, room: int | None = None, stream: Any = None,
                  check: bool = False, threads: int = 0, **change: Unpack[Change]) -> tuple[Any, Any]:
    """Ragged rows, each whole: segment s is ``x[offsets[s] : offsets[s + 1]]`` along the first axis; returns the segments
    ``indices[0]``, ``indices[1]``, … one after another, and where they begin, int64, one more than there are of them.

    Raises FaroValueError for offsets that go down or past ``x`` and for an index that is no segment, before anything is written.

    On a GPU, where ``offsets`` and ``indices`` lie too, the length of the result is worked out there. With ``room``, elements that there
    may be at most, or with ``out=`` of at least as many, nothing waits: what is behind the last segment stays as it was (of ``room``:
    anything), a wrong segment is taken as an empty one, elements without room are left out, and ``check=True`` waits and raises for
    both. Without them the call waits once for the length, and raises.

    >>> import numpy as np, faro
    >>> values, begins = faro.take_segments(np.arange(6), [0, 1, 4, 6], [2, 0, 2])
    >>> values.tolist(), begins.tolist()
    ([4, 5, 0, 4, 5], [0, 2, 3, 5])
    """
    if change:
        return _take_segments_changed(x, offsets, indices, out, room, stream, check, threads, change)
    recorder = _run.recording("take_segments", (x, offsets, indices), out, stream, check)
    if recorder is not None:
        return recorder.take_segments(x, offsets, indices, room=room)
    _arrays.refuse_jax("take_segments", "arrays of NumPy tell the length of the result when a function is traced",
                       offsets, indices)
    if _arrays.by_jax("take_segments", x, out=out, stream=stream, room=room):
        return _libraries.functions_for("jax").take_segments(x, offsets, indices)
    x = _kinds.read(x, "take_segments")
    if _kinds.is_masked(x):
        begins = []

        def move(part: Any) -> Any:
            values, where = take_segments(part, offsets, indices, stream=stream, threads=threads)
            begins.append(where)
            return values

        return _kinds.with_mask(x, move, out, "take_segments"), begins[0]
    array = _arrays.describe(x)
    if not array.shape:
        refuse("take_segments", "a single number", "an array of elements")
    element = math.prod(array.shape[1:]) * array.itemsize
    if element == 0:
        refuse("take_segments", "elements of 0 bytes", "elements of at least one")
    if room is not None:
        room = _run.whole(room, "take_segments", "room =", 0, 2**62 // element)
        if out is not None:
            refuse("take_segments", "room= and out=", "one of them", "leave room= out")
    if array.device is not None:
        return _device_rows.take_segments(x, array, offsets, indices, element, out, room, stream, check)
    _run.stream_of(array, stream, "take_segments")
    if room is not None:
        refuse("take_segments", "room= for an array of the host", "none: the length is known there", "leave room= out")
    cuts, taken = index_entries(offsets, "take_segments"), index_entries(indices, "take_segments")
    beside = _outputs.reads(out, input=array, offsets=cuts.given, indices=taken.given)
    x, array = _dense(x, "take_segments", array)
    for name, entries in (("offsets", cuts), ("indices", taken)):
        if len(entries.shape) != 1:
            refuse("take_segments", f"{name} of {len(entries.shape)} axes", "one axis")
    plan = _faro.SegmentsPlan.make(_rows(cuts, 0, 1, 1, threads), _rows(taken, 0, 1, 1, threads), element, -1)
    begins, address = _new_list(taken.size + 1)
    size = array.size * array.itemsize
    plan.offsets(size, address, 0)
    target, finished = _run.result_of(x, array, out, (plan.elements(),) + array.shape[1:], "take_segments", 0, beside=beside)
    plan.run(array.address, size, target.address, target.size * target.itemsize, 0, 0)
    return finished(), begins


def _take_segments_changed(x: Any, offsets: Any, indices: Any, out: Any, room: int | None, stream: Any, check: bool, threads: int,
                           change: Any) -> tuple[Any, Any]:
    """Row by row, by an entry for each; where they are moved first, as segments."""
    begins = []

    def move() -> Any:
        values, where = take_segments(x, offsets, indices, room=room, stream=stream, check=check, threads=threads)
        begins.append(where)
        return values

    def rows_of(array: _arrays.Array) -> tuple[_arithmetic.Rows, tuple[int, ...]]:
        if not array.shape:
            refuse("take_segments", "a single number", "an array of elements")
        every = _arrays.numpy().arange(array.shape[0])
        taken, where = take_segments(every, offsets, indices, room=room, threads=threads)
        begins.append(where)
        entries = index_entries(taken, "take_segments")
        rows = _arithmetic.Rows(entries, array.shape[0], 1, math.prod(array.shape[1:]), _run.threads_of(threads, "take_segments"))
        return rows, (entries.size,) + array.shape[1:]

    values = _arithmetic.taken(x, "take_segments", rows_of, move, change, None, out, stream)
    return values, begins[0]


def put(out: Any, indices: Any, values: Any, axis: int = 0, *, stream: Any = None, check: bool = False,
        threads: int = 0, **change: Unpack[Change]) -> Any:
    """``out[indices[i]] = values[i]`` along ``axis``; the other rows stay. Returns ``out``, which is copied and copied back
    where it has strides.

    No two indices may be one row, -1 leaves a row of ``values`` out. Raises FaroValueError for others; on a GPU nothing is
    written then, and ``check=True`` waits and raises.

    >>> import numpy as np, faro
    >>> faro.put(np.zeros(4, int), [3, 1], np.array([7, 8])).tolist()
    [0, 8, 0, 7]
    """
    if change:
        return _write_changed(out, indices, values, axis, "put", stream, check, threads, change, _arithmetic.PUT)
    if stream is None and threads == 0 and not check:
        written = _faro.write_short(out, indices, values, axis, False)
        if written is not None:
            return written
    recorder = _run.recording("put", (out, indices, values), None, stream, check)
    if recorder is not None:
        return recorder.write_back("put", out, recorder.put(out, indices, values, axis))
    _arrays.refuse_to_write_jax("put", "faro.jax.put() gives a new one", out)
    _arrays.refuse_jax("put", "faro.jax.put() gives a new array", indices, values)
    target = _arrays.describe(out, writable=True)
    if target.device is not None:
        return _device_rows.put(out, target, indices, values, axis, stream, check)
    _run.stream_of(target, stream, "put")
    move, source, written, finished = _into(out, target, indices, values, axis, "put", threads)
    if move is not None:
        _faro.put(move, source.address, written.address)
    return finished()


def add_at(out: Any, indices: Any, values: Any, axis: int = 0, *, sums: str = "usual", stream: Any = None,
           check: bool = False, threads: int = 0, **change: Unpack[Change]) -> Any:
    """``out[indices[i]] += values[i]`` along ``axis``, in the order of i, as ``numpy.add.at``. Returns ``out``.

    The result is the same for any number of threads, and on a GPU. ``check``: as ``take``. ``sums``: what they are kept in until they are written,
    ``"usual"`` (float32 for the 16-bit types, else the type), ``"fp32"``, ``"fp64"`` or ``"compensated"``.

    >>> import numpy as np, faro
    >>> faro.add_at(np.zeros(3), [1, 1, 2], np.array([1.0, 2.0, 5.0])).tolist()
    [0.0, 3.0, 5.0]
    """
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse("add_at", f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if change:
        return _write_changed(out, indices, values, axis, "add_at", stream, check, threads, change, _arithmetic.ADD, _row_values.SUMS[sums])
    if sums == "usual" and stream is None and threads == 0 and not check:
        written = _faro.write_short(out, indices, values, axis, True)
        if written is not None:
            return written
    recorder = _run.recording("add_at", (out, indices, values), None, stream, check)
    if recorder is not None:
        return recorder.write_back("add_at", out, recorder.add_at(out, indices, values, axis, sums=sums))
    _arrays.refuse_to_write_jax("add_at", "faro.jax.add_at() gives a new one", out)
    _arrays.refuse_jax("add_at", "faro.jax.add_at() gives a new array", indices, values)
    target = _arrays.describe(out, writable=True)
    if target.device is not None:
        number = _row_values.number_of(target, "add_at")
        return _device_rows.add(out, target, indices, values, axis, (number, _row_values.SUMS[sums]), stream, check)
    _run.stream_of(target, stream, "add_at")
    number = _row_values.number_of(target, "add_at")
    move, source, written, finished = _into(out, target, indices, values, axis, "add_at", threads)
    if move is not None:
        _faro.add(move, number, _row_values.SUMS[sums], source.address, written.address)
    return finished()


def _write_changed(out: Any, indices: Any, values: Any, axis: int, operation: str, stream: Any, check: bool, threads: int, change: Any,
                   move: int, sums: int = 0) -> Any:
    def rows_of(target: _arrays.Array) -> tuple[_arithmetic.Rows, tuple[int, ...]]:
        if move == _arithmetic.ADD:
            _row_values.number_of(target, operation, whole=True)
        k = _run.axis_of(axis, len(target.shape), operation)
        entries = _arithmetic.entries_beside(target, indices, operation)
        if len(entries.shape) > 1:
            refuse(operation, f"indices of {len(entries.shape)} axes", "one axis")
        rows = _arithmetic.Rows(entries, target.shape[k], math.prod(target.shape[:k]), math.prod(target.shape[k + 1 :]),
                                _run.threads_of(threads, operation))
        return rows, target.shape[:k] + (entries.size,) + target.shape[k + 1 :]

    if stream is None and threads == 0 and not check:
        plan = functools.partial(_arithmetic.planned_write, operation, rows_of, change, move, sums)
        made = None if out is None else _faro.run_changed(values, operation, (axis, sums), change, out, plan, indices)
        if made is not None:
            return made
    return _arithmetic.written(out, operation, rows_of, values, change, move, sums, stream, check)


def _into(out: Any, target: _arrays.Array, indices: Any, values: Any, axis: int, operation: str,
          threads: int) -> tuple[Any, _arrays.Array, _arrays.Array, Callable[[], Any]]:
    """(the move, the values, a dense array to write to, and what then gives the caller ``out``)."""
    k = _run.axis_of(axis, len(target.shape), operation)
    entries = index_entries(indices, operation)
    if len(entries.shape) > 1:
        refuse(operation, f"indices of {len(entries.shape)} axes", "one axis")
    wanted = target.shape[:k] + (entries.size,) + target.shape[k + 1 :]
    given, source, written, finished = _row_values.placed(out, target, values, wanted, operation, None)
    _outputs.check_disjoint(operation, (("output", target),), _outputs.reads(out, values=given, indices=entries.given))
    outer = math.prod(target.shape[:k])
    row_bytes = math.prod(target.shape[k + 1 :]) * target.itemsize
    move = _rows(entries, target.shape[k], outer, row_bytes, threads) if outer * row_bytes else None

    def finished_with(entries: IndexEntries) -> Any:  # which live until then: the move has their address alone
        return finished()

    return move, source, written, functools.partial(finished_with, entries)


@record(frozen=True)
class Routing:
    """Where the items of ``route`` go; the arrays are int64, of NumPy where it is installed.

    >>> route([1, 0], 2).inverse.tolist()
    [1, 0]
    """

    places: Any  #: of each item, -1: it goes nowhere
    inverse: Any  #: the item at each place, -1: padding
    offsets: Any  #: bucket b has places offsets[b] to offsets[b + 1] - 1
    counts: Any  #: items of each bucket
    rows: Any  #: the row at each place, -1: padding; what ``take`` is given
    dropped: int | None  #: items past the capacity; None on a GPU
    absent: int | None  #: items whose key is -1; None on a GPU
    keys_per_row: int


def route(keys: Any, buckets: int, *, keys_per_row: int | None = None, multiple: int = 1, capacity: int | None = None,
          stream: Any = None, check: bool = False, threads: int = 0) -> Routing:
    """Sends items to buckets by their keys: tokens to experts, records to shards.

    A row with several keys is several items, one after another: ``keys`` of shape (rows, k), or ``keys_per_row``. Each
    bucket's places are a multiple of ``multiple``; ``capacity``: items that a bucket takes. Items of a bucket stay in their
    order. Raises FaroValueError naming the first key that is no bucket.

    Keys on a GPU are routed there, and nothing waits: so ``inverse`` and ``rows`` are as long as they may become, -1 behind the
    last place, ``dropped`` and ``absent`` are None, and a key that is no bucket sends its item nowhere; ``check=True`` waits and
    raises.

    >>> r = route([2, 0, 2, 1, 0], 3)
    >>> r.places.tolist(), r.offsets.tolist()
    ([3, 0, 4, 2, 1], [0, 2, 3, 5])
    """
    entries, how = _keys(keys, buckets, keys_per_row, multiple, capacity)
    if entries is None:
        return _routed_there(_device_rows.route(keys, how, stream, check), how)
    keys_per_row = how[1]
    routed = _faro.route(entries.address, entries.size, entries.itemsize, entries.is_signed, *how, _run.threads_of(threads, "route"))
    lists = [_list_of(routed, which) for which in range(5)]
    dropped, absent = routed.lost()
    places, inverse, offsets, counts, rows = lists
    return Routing(places, inverse, offsets, counts, rows, dropped, absent, keys_per_row)


def _keys(keys: Any, buckets: int, keys_per_row: int | None, multiple: int, capacity: int | None) -> tuple[Any, tuple[int, int, int, int]]:
    """(keys of the host as entries, None of a GPU's; what is asked for: buckets, keys of a row, multiple and capacity, -1: none)."""
    _arrays.refuse_jax("route", _arrays.OUTSIDE_JAX, keys)
    on_gpu = _on_gpu(keys)
    entries: Any = _arrays.describe(keys) if on_gpu else index_entries(keys, "route")
    if keys_per_row is None:
        keys_per_row = entries.shape[-1] if len(entries.shape) > 1 else 1
    most = 2**40
    how = (_run.whole(buckets, "route", "buckets", 0, most), _run.whole(keys_per_row, "route", "keys_per_row", 1, most),
           _run.whole(multiple, "route", "multiple", 1, most), -1 if capacity is None else _run.whole(capacity, "route", "capacity", 0, most))
    return None if on_gpu else entries, how


def _routed_there(lists: tuple[Any, ...], how: tuple[int, int, int, int]) -> Routing:
    places, inverse, offsets, counts, rows = lists
    return Routing(places, inverse, offsets, counts, rows, None, None, how[1])


def route_rows(x: Any, keys: Any, buckets: int, *, keys_per_row: int | None = None, multiple: int = 1, capacity: int | None = None,
               out: Any = None, stream: Any = None, check: bool = False, threads: int = 0) -> tuple[Any, Routing]:
    """Routes, and sends the rows of ``x`` to their buckets: ``(dispatch(x, r), r)`` for ``r = route(keys, buckets, …)``.

    On a GPU up to 4096 keys to 1024 buckets are one launch for both: the tokens of a step to experts. Raises what route() and dispatch()
    raise.

    >>> import numpy as np, faro
    >>> sent, r = faro.route_rows(np.array([[1.0], [10.0]]), [[0, 1], [1, 0]], 2, multiple=3)
    >>> sent.tolist(), r.offsets.tolist()
    ([[1.0], [10.0], [0.0], [1.0], [10.0], [0.0]], [0, 3, 6])
    """
    entries, how = _keys(keys, buckets, keys_per_row, multiple, capacity)
    if entries is not None:
        if out is not None:
            _outputs.check_disjoint("route_rows", (("output", _arrays.describe(out, writable=True)),), _outputs.reads(out, keys=keys))
        routing = route(keys, buckets, keys_per_row=keys_per_row, multiple=multiple, capacity=capacity, threads=threads)
        return dispatch(x, routing, out=out, stream=stream, threads=threads), routing
    _arrays.refuse_recorded(x)
    sent, lists = _device_rows.route_rows(x, keys, how, out, stream, check)
    return sent, _routed_there(lists, how)


def _on_gpu(keys: Any) -> bool:
    _arrays.refuse_recorded(keys)
    if not hasattr(keys, "__dlpack_device__"):
        return hasattr(keys, "__cuda_array_interface__")
    return int(keys.__dlpack_device__()[0]) == _arrays.CUDA


def _new_list(count: int) -> tuple[Any, int]:
    """Int64 numbers, of NumPy where it is installed, and their address."""
    np = _arrays.numpy()
    if np is not None:
        made = np.empty(count, np.int64)
        return made, made.__array_interface__["data"][0]
    import array

    plain = array.array("q", bytes(8 * count))
    return plain, plain.buffer_info()[0]


def _list_of(routed: Any, which: int) -> Any:
    count = routed.count(which)
    made, address = _new_list(count)
    if count:
        routed.copy(which, address)
    return made


def _routed(x: Any, routing: Any, operation: str) -> _arrays.Array:
    array = _arrays.describe(x)
    if not array.shape:
        refuse(operation, "a single number", "an array of rows")
    if not isinstance(routing, Routing):
        refuse(operation, f"a {type(routing).__name__} as routing", "what route() returned", kind=FaroTypeError)
    return array


def dispatch(x: Any, routing: Routing, *, out: Any = None, stream: Any = None, check: bool = False, threads: int = 0,
             **change: Unpack[Change]) -> Any:
    """Sends the rows of ``x`` to their buckets: ``take(x, routing.rows, 0, fill=0)``, but each row is read once and written to all
    its places. On a GPU routing and array lie there, and ``check=True`` waits and raises for places that are none.

    >>> import numpy as np, faro
    >>> r = faro.route([[0, 1], [1, 0]], 2, multiple=3)
    >>> faro.dispatch(np.array([[1.0], [10.0]]), r).tolist()
    [[1.0], [10.0], [0.0], [1.0], [10.0], [0.0]]
    """
    if change:
        return _dispatch_changed(x, routing, out, stream, threads, change)
    recorder = _run.recording("dispatch", (x,), out, stream, check)
    if recorder is not None:
        return recorder.dispatch(x, routing)
    if isinstance(routing, Routing) and _arrays.by_jax("dispatch", x, routing.places, routing.rows, out=out, stream=stream):
        return _libraries.functions_for("jax").dispatch(x, routing)
    x = _kinds.read(x, "dispatch")
    if _kinds.is_masked(x):
        return _kinds.with_mask(x, lambda part: dispatch(part, routing, stream=stream, threads=threads), out, "dispatch")
    array = _routed(x, routing, "dispatch")
    if array.device is not None:
        return _device_rows.dispatch(x, array, routing, out, stream, check)
    _run.stream_of(array, stream, "dispatch")
    places, taken = index_entries(routing.places, "dispatch"), index_entries(routing.rows, "dispatch")
    beside = _outputs.reads(out, input=array, places=places.given, rows=taken.given)
    x, array = _dense(x, "dispatch", array)
    k = routing.keys_per_row
    if places.size != array.shape[0] * k:
        refuse("dispatch", f"{array.shape[0]} rows and {places.size} places, {k} of a row", f"{places.size // k} rows")
    row_bytes = math.prod(array.shape[1:]) * array.itemsize
    target, finished = _run.result_of(x, array, out, (taken.size,) + array.shape[1:], "dispatch", 0, beside=beside)
    if row_bytes:
        moved = _rows(places, taken.size, 1, row_bytes, threads)
        _faro.dispatch(moved, k, _rows(taken, array.shape[0], 1, row_bytes, threads), array.address, target.address)
    return finished()


def _dispatch_changed(x: Any, routing: Any, out: Any, stream: Any, threads: int, change: Any) -> Any:
    """Padding is 0, whatever is added to rows. There is no way to it by a sweep more: that would change the padding, too."""
    def rows_of(array: _arrays.Array) -> tuple[_arithmetic.Rows, tuple[int, ...]]:
        _routed(x, routing, "dispatch")
        places, entries = index_entries(routing.places, "dispatch").size, index_entries(routing.rows, "dispatch")
        k = routing.keys_per_row
        if places != array.shape[0] * k:
            refuse("dispatch", f"{array.shape[0]} rows and {places} places, {k} of a row", f"{places // k} rows")
        rows = _arithmetic.Rows(entries, array.shape[0], 1, math.prod(array.shape[1:]), _run.threads_of(threads, "dispatch"))
        return rows, (entries.size,) + array.shape[1:]

    return _arithmetic.taken(x, "dispatch", rows_of, lambda: dispatch(x, routing, stream=stream), change, 0, out, stream)


def combine(x: Any, routing: Routing, weights: Any = None, *, sums: str = "usual", out: Any = None, stream: Any = None,
            check: bool = False, threads: int = 0, **change: Unpack[Change]) -> Any:
    """Brings routed rows back: row t of the result is the sum of its items' rows of ``x``, in the order of their
    keys, each times its weight (float32, one an item). Items without a place are left out. On a GPU all of them lie there,
    and ``check=True`` waits and raises for places that are none.

    >>> import numpy as np, faro
    >>> r = faro.route([[0, 1], [1, 0]], 2)
    >>> x = faro.take(np.array([[1.0], [10.0]]), r.rows, axis=0)
    >>> faro.combine(x, r).tolist()
    [[2.0], [20.0]]
    """
    if change:
        summed = functools.partial(combine, x, routing, weights, sums=sums, stream=stream, check=check, threads=threads)
        return _arithmetic.changed_after(summed, "combine", change, out, stream)
    recorder = _run.recording("combine", (x, weights), out, stream, check)
    if recorder is not None:
        return recorder.combine(x, routing, weights, sums=sums)
    if isinstance(routing, Routing) and _arrays.by_jax("combine", x, routing.places, weights, out=out, stream=stream):
        return _libraries.functions_for("jax").combine(x, routing, weights, sums=sums)
    x = _kinds.read(x, "combine")
    array = _routed(x, routing, "combine")
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse("combine", f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if array.device is not None:
        adds = (_row_values.number_of(array, "combine"), _row_values.SUMS[sums])
        return _device_rows.combine(x, array, routing.places, routing.keys_per_row, weights, adds, out, stream, check)
    _run.stream_of(array, stream, "combine")
    places = index_entries(routing.places, "combine")
    beside = _outputs.reads(out, input=array, places=places.given, weights=weights)
    x, array = _dense(x, "combine", array)
    k = routing.keys_per_row
    row_bytes = math.prod(array.shape[1:]) * array.itemsize
    factors = 0
    if weights is not None:
        np = _arrays.numpy()
        if np is not None and isinstance(weights, _run.OF_NUMBERS):
            weights = _arrays.as_array(weights, "combine", np.float32)
        weights, given = _dense(weights, "combine")
        if given.itemsize != 4 or _row_values.number_of(given, "combine") != _row_values.NUMBERS["f4"] or given.size != places.size:
            refuse("combine", f"{given.size} weights of {given.dtype}", f"{places.size} of float32")
        factors = given.address
    target, finished = _run.result_of(x, array, out, (places.size // k,) + array.shape[1:], "combine", 0, beside=beside)
    if row_bytes == 0:
        return finished()
    move = _rows(places, array.shape[0], 1, row_bytes, threads)
    _faro.combine(move, k, factors, _row_values.number_of(array, "combine"), _row_values.SUMS[sums], array.address, target.address)
    return finished()
