"""Rows of arrays on a GPU: taken, put, added, routed and combined by indices that lie beside them.

A plan is made once for a kind of move, its sizes and its device, and run with any arrays and indices of these sizes:
queued, and nothing waits, so that a graph may capture it. Indices that name no row are noted on the device; ``check=True``
fetches that.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any

from . import _arrays, _faro, _outputs, _row_values, _run
from ._errors import FaroTypeError, refuse
from ._fills import fill_bytes

_INTEGERS = {f"{kind}{bits}": kind == "int" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


class _PlanOfRows:
    """A plan that is made with the first run's indices, since it is for those of their device."""

    def __init__(self, kind: str, sizes: tuple[int, ...], is_signed: bool, fill: bytes | None, adds: tuple[int, int], device: int):
        self.kind, self.sizes, self.is_signed = kind, sizes, is_signed
        self.fill, self.adds, self.device = fill, adds, device
        self.made: Any = None
        self.workspace_bytes = 0

    def run(self, entries: _arrays.Array, source: int, target: int, stream: int) -> None:
        """A workspace is an array of the indices' library, where the stream is that library's, too: it keeps some memory and
        knows what is queued."""
        self._make(entries)
        if self.workspace_bytes == 0 or stream != entries.stream:
            return self.made.run(entries.address, source, target, stream)
        lent = self._lent(entries)
        self.made.run_in_workspace(entries.address, source, target, lent.address, self.workspace_bytes, stream)

    def run_columns(self, entries: _arrays.Array, columns: list[tuple[int, int, int]], stream: int) -> None:
        """Of (source, target, bytes of a row) each."""
        self._make(entries)
        if self.workspace_bytes == 0 or stream != entries.stream:
            return self.made.run_columns(entries.address, columns, 0, 0, stream)
        lent = self._lent(entries)
        self.made.run_columns(entries.address, columns, lent.address, self.workspace_bytes, stream)

    def _make(self, entries: _arrays.Array) -> None:
        if self.made is not None:
            return
        count, entry_bytes, rows, outer, row_bytes = self.sizes
        moved = _faro.Rows.make(entries.address, count, entry_bytes, self.is_signed, rows, outer, row_bytes, 0)
        self.made = _faro.RowPlan.make(self.kind, moved, self.fill, *self.adds, self.device, 0)
        self.workspace_bytes = self.made.workspace_bytes()

    def _lent(self, entries: _arrays.Array) -> _arrays.Array:
        return _arrays.describe(entries.new((-(-self.workspace_bytes // entries.itemsize),)), writable=True)


@functools.lru_cache(maxsize=256)
def _plan(kind: str, sizes: tuple[int, ...], is_signed: bool, fill: bytes | None, adds: tuple[int, int], device: int) -> _PlanOfRows:
    return _PlanOfRows(kind, sizes, is_signed, fill, adds, device)


def entries_of(indices: Any, device: int | None, operation: str) -> tuple[Any, _arrays.Array]:
    array = _arrays.describe(indices)
    if array.device != device:
        refuse(operation, "indices in another memory", "indices on the arrays' device",
               "copy the indices to the arrays' device first")
    name = getattr(array.dtype, "name", str(array.dtype)).rpartition(".")[2]
    if name not in _INTEGERS:
        refuse(operation, f"indices of {array.dtype}", "whole numbers of 8 to 64 bits", kind=FaroTypeError)
    if not _arrays.is_dense(array):
        indices = _faro.run(indices, _run.COPY, None, None, None)
        array = _arrays.describe(indices)
    return indices, array


def _move(kind: str, numbered: tuple[int, ...], k: int, entries: _arrays.Array, itemsize: int, fill: bytes | None,
          adds: tuple[int, int], addresses: tuple[int, int], stream: int, check: bool, every: bool = False) -> None:
    """`every`: no index may be absent; as a number without a sign -1 is one that names no row."""
    outer, rows = math.prod(numbered[:k]), numbered[k]
    row_bytes = math.prod(numbered[k + 1 :]) * itemsize
    if outer * entries.size * row_bytes == 0:
        return
    plan = plan_for(kind, entries, rows, outer, row_bytes, fill, adds, every)
    plan.run(entries, *addresses, stream)
    if check:
        plan.made.check(stream)


def plan_for(kind: str, entries: _arrays.Array, rows: int, outer: int, row_bytes: int, fill: bytes | None,
             adds: tuple[int, int], every: bool = False) -> _PlanOfRows:
    """The plan that moves rows by such indices, kept from call to call."""
    sizes = (entries.size, entries.itemsize, rows, outer, row_bytes)
    return _plan(kind, sizes, is_signed(entries) and not every, fill, adds, int(entries.device or 0))


def take(x: Any, array: _arrays.Array, indices: Any, axis: int | None, fill: Any, out: Any, stream: Any, check: bool) -> Any:
    beside = _outputs.reads(out, input=x, indices=indices)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    kept, entries = entries_of(indices, array.device, "take")
    shape = array.shape if axis is not None else (array.size,)
    k = 0 if axis is None else _run.axis_of(axis, len(shape), "take")
    queue = _run.stream_of(array, stream, "take")
    filled = fill_bytes(fill, array, out, "take")
    result = shape[:k] + entries.shape + shape[k + 1 :]
    target, finished = _run.result_of(x, array, out, result, "take", queue, filled == b"", beside)
    _move("take", shape, k, entries, array.itemsize, filled, (0, 0), (array.address, target.address), queue, check)
    del kept
    return finished()


def _into(out: Any, target: _arrays.Array, indices: Any, values: Any, axis: int, operation: str, adds: tuple[int, int],
          stream: Any, check: bool, every: bool = False) -> Any:
    k = _run.axis_of(axis, len(target.shape), operation)
    kept, entries = entries_of(indices, target.device, operation)
    if len(entries.shape) > 1:
        refuse(operation, f"indices of {len(entries.shape)} axes", "one axis")
    wanted = target.shape[:k] + (entries.size,) + target.shape[k + 1 :]
    given, source, written, finished = _row_values.placed(out, target, values, wanted, operation, stream)
    _outputs.check_disjoint(operation, (("output", target),), _outputs.reads(out, values=given, indices=indices))
    kind = "put" if operation == "put" else "add"
    _move(kind, target.shape, k, entries, target.itemsize, None, adds, (source.address, written.address),
          _run.stream_of(target, stream, operation), check, every)
    del kept
    return finished()


def put(out: Any, target: _arrays.Array, indices: Any, values: Any, axis: int, stream: Any, check: bool, every: bool = False) -> Any:
    return _into(out, target, indices, values, axis, "put", (0, 0), stream, check, every)


def add(out: Any, target: _arrays.Array, indices: Any, values: Any, axis: int, adds: tuple[int, int], stream: Any,
        check: bool) -> Any:
    return _into(out, target, indices, values, axis, "add_at", adds, stream, check)


# --- routing: plans are for the keys', places' and weights' addresses, whose contents every run reads


@functools.lru_cache(maxsize=256)
def _route_plan(keys: tuple[int, int, int, bool], how: tuple[int, int, int, int], device: int) -> Any:
    return _faro.RoutePlan.make(*keys, *how, device)


@functools.lru_cache(maxsize=256)
def _combine_plan(places: tuple[int, int, int, bool], rows: int, row_bytes: int, how: tuple[int, int, int, int], device: int) -> Any:
    address, count, width, is_signed = places
    moved = _faro.Rows.make(address, count, width, is_signed, rows, 1, row_bytes, 0)
    return _faro.CombinePlan.make(moved, *how, device)


def is_signed(entries: _arrays.Array) -> bool:
    return _INTEGERS[getattr(entries.dtype, "name", str(entries.dtype)).rpartition(".")[2]]


def _int64(like: Any, array: _arrays.Array, count: int, operation: str = "route", what: str = "keys") -> Any:
    """A new array of int64 of the same library, on the same device."""
    if _arrays.is_tensor(like):
        return like.new_empty(count, dtype=sys.modules["torch"].int64)
    if type(like).__module__.partition(".")[0] == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(array.device):
            return cupy.empty(count, cupy.int64)
    refuse(operation, f"{what} of {type(like).__name__} on a GPU", "a tensor of PyTorch or an array of CuPy", kind=FaroTypeError)


# --- ragged rows: plans are for the offsets' and indices' addresses


@functools.lru_cache(maxsize=256)
def _segments_plan(offsets: tuple[int, int, int, bool], taken: tuple[int, int, int, bool], element: int, device: int) -> Any:
    of, by = _faro.Rows.make(*offsets, 0, 1, 1, 0), _faro.Rows.make(*taken, 0, 1, 1, 0)
    return _faro.SegmentsPlan.make(of, by, element, device)


def take_segments(x: Any, array: _arrays.Array, offsets: Any, indices: Any, element: int, out: Any, room: int | None, stream: Any,
                  check: bool) -> tuple[Any, Any]:
    operation = "take_segments"
    beside = _outputs.reads(out, input=x, offsets=offsets, indices=indices)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    lists = []
    for name, given in (("offsets", offsets), ("indices", indices)):
        kept, entries = entries_of(given, array.device, operation)
        if len(entries.shape) != 1:
            refuse(operation, f"{name} of {len(entries.shape)} axes", "one axis")
        lists.append((kept, entries))
    cuts, taken = ((e.address, e.size, e.itemsize, is_signed(e)) for _, e in lists)
    queue = _run.stream_of(array, stream, operation)
    plan = _segments_plan(cuts, taken, element, int(array.device or 0))
    begins = _int64(x, array, taken[1] + 1, operation, "an array")
    address = _arrays.describe(begins, writable=True).address
    size = array.size * array.itemsize
    if out is not None:
        held = _arrays.describe(out, writable=True)
        if not _arrays.is_dense(held) or not held.shape:
            refuse(operation, "an output with strides", "a dense array")
        room = held.shape[0]
    waits = room is None
    if room is None:
        plan.offsets(size, address, queue)
        plan.check(queue)  # waits
        room = int(begins[-1])
    target, finished = _run.result_of(x, array, out, (room,) + array.shape[1:], operation, queue, beside=beside)
    plan.run(array.address, size, target.address, target.size * target.itemsize, address, queue)
    if check and not waits:
        plan.check(queue)
    del lists
    return finished(), begins


def route(keys: Any, how: tuple[int, int, int, int], stream: Any, check: bool) -> Any:
    """(places, inverse, offsets, counts, rows); the inverse and rows are as long as they may become."""
    array = _arrays.describe(keys)
    queue = _run.stream_of(array, stream, "route")
    plan, made, kept = _routing(keys, array, how)
    plan.run(*(_arrays.describe(each).address for each in made.values()), queue)
    if check:
        plan.check(queue)
    del kept
    return made["places"], made["inverse"], made["offsets"], made["counts"], made["rows"]


def _routing(keys: Any, array: _arrays.Array, how: tuple[int, int, int, int]) -> tuple[Any, dict[str, Any], Any]:
    """(a plan, the lists that it writes, what keeps the keys)."""
    kept, entries = entries_of(keys, array.device, "route")
    plan = _route_plan((entries.address, entries.size, entries.itemsize, is_signed(entries)), how, entries.device)
    most, buckets = plan.most_places(), how[0]
    lists = {"places": entries.size, "inverse": most, "rows": most, "offsets": buckets + 1, "counts": buckets}
    return plan, {name: _int64(keys, array, count) for name, count in lists.items()}, (kept, entries)


def route_rows(x: Any, keys: Any, how: tuple[int, int, int, int], out: Any, stream: Any, check: bool) -> tuple[Any, tuple[Any, ...]]:
    """The rows that are sent, and what route() gives."""
    operation = "route_rows"
    array, of_keys = _arrays.describe(x), _arrays.describe(keys)
    if not array.shape:
        refuse(operation, "a single number", "an array of rows")
    if array.device != of_keys.device:
        refuse(operation, "rows and keys on different devices", "one device", "copy the keys to the rows' device first")
    beside = _outputs.reads(out, input=x, keys=keys)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    if of_keys.size != array.shape[0] * how[1]:
        refuse(operation, f"{array.shape[0]} rows and {of_keys.size} keys, {how[1]} of a row", f"{of_keys.size // how[1]} rows")
    plan, made, kept = _routing(keys, of_keys, how)
    row_bytes = math.prod(array.shape[1:]) * array.itemsize
    queue = _run.stream_of(array, stream, operation)
    target, finished = _run.result_of(x, array, out, (plan.most_places(),) + array.shape[1:], operation, queue, beside=beside)
    lists = [_arrays.describe(each).address for each in made.values()]
    if row_bytes:
        plan.send(*lists, row_bytes, array.address, target.address, queue)
    else:
        plan.run(*lists, queue)
    if check:
        plan.check(queue)
    del kept
    return finished(), (made["places"], made["inverse"], made["offsets"], made["counts"], made["rows"])


@functools.lru_cache(maxsize=256)
def _dispatch_plan(places: tuple[int, int, int, bool], taken: tuple[int, int, int, bool], keys_per_row: int, row_bytes: int,
                   device: int) -> Any:
    moved = _faro.Rows.make(*places, taken[1], 1, row_bytes, 0)
    return _faro.DispatchPlan.make(moved, keys_per_row, _faro.Rows.make(*taken, places[1] // keys_per_row, 1, row_bytes, 0), device)


def dispatch(x: Any, array: _arrays.Array, routing: Any, out: Any, stream: Any, check: bool) -> Any:
    operation = "dispatch"
    beside = _outputs.reads(out, input=x, places=routing.places, rows=routing.rows)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    kept, places = entries_of(routing.places, array.device, operation)
    also_kept, taken = entries_of(routing.rows, array.device, operation)
    k = routing.keys_per_row
    if places.size != array.shape[0] * k:
        refuse(operation, f"{array.shape[0]} rows and {places.size} places, {k} of a row", f"{places.size // k} rows")
    row_bytes = math.prod(array.shape[1:]) * array.itemsize
    queue = _run.stream_of(array, stream, operation)
    target, finished = _run.result_of(x, array, out, (taken.size,) + array.shape[1:], operation, queue, beside=beside)
    if taken.size * row_bytes:
        listed = [(e.address, e.size, e.itemsize, is_signed(e)) for e in (places, taken)]
        plan = _dispatch_plan(listed[0], listed[1], k, row_bytes, int(array.device or 0))
        plan.run(array.address, target.address, queue)
        if check:
            plan.check(queue)
    del kept, also_kept
    return finished()


def combine(x: Any, array: _arrays.Array, places: Any, keys_per_row: int, weights: Any, adds: tuple[int, int], out: Any,
            stream: Any, check: bool) -> Any:
    beside = _outputs.reads(out, input=x, places=places, weights=weights)
    if not _arrays.is_dense(array):
        x = _faro.run(x, _run.COPY, None, None, stream)
        array = _arrays.describe(x)
    kept, entries = entries_of(places, array.device, "combine")
    factors = 0
    if weights is not None:
        given = _arrays.describe(weights)
        if given.device != array.device or not _arrays.is_dense(given):
            refuse("combine", "weights elsewhere or with strides", "dense ones on the array's device")
        if given.itemsize != 4 or _row_values.number_of(given, "combine") != _row_values.NUMBERS["f4"] or given.size != entries.size:
            refuse("combine", f"{given.size} weights of {given.dtype}", f"{entries.size} of float32")
        factors = given.address
    row_bytes = math.prod(array.shape[1:]) * array.itemsize
    queue = _run.stream_of(array, stream, "combine")
    shape = (entries.size // keys_per_row,) + array.shape[1:]
    target, finished = _run.result_of(x, array, out, shape, "combine", queue, beside=beside)
    if entries.size * row_bytes:
        plan = _combine_plan((entries.address, entries.size, entries.itemsize, is_signed(entries)), array.shape[0], row_bytes,
                             (keys_per_row, factors, *adds), array.device)
        plan.run(array.address, target.address, queue)
        if check:
            plan.check(queue)
    del kept
    return finished()
