"""Several arrays by one index array: tables and caches.

One plan moves all arrays of a call, whatever the widths of their rows, on the host or on a GPU, where arrays of one width share a
launch. (Columns that need another fill value, type of sums or number of arrays before the axis have a plan of their own.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from . import _arrays, _device_rows, _faro, _kinds, _libraries, _outputs, _row_values, _rows, _run
from ._errors import FaroTypeError, refuse
from ._fills import fill_bytes
from ._indices import index_entries
from ._tables import _axis, _beside, _fills, _Table, _table, same_counts, same_rows

__all__ = ["take_columns", "put_columns", "add_columns", "take_blocks", "put_blocks"]


@dataclass(frozen=True)
class _Kind:
    """What columns have to have in common for one plan."""

    rows: int
    outer: int
    fill: bytes | None = None
    adds: tuple[int, int] = (0, 0)  # the type of numbers, and of sums


@dataclass
class _Move:
    """All that one call moves."""

    operation: str
    verb: str  # of plans: "take", "put" or "add"
    indices: Any
    stream: Any
    check: bool
    threads: int
    device: int | None = None
    queue: int = 0
    entries: Any = None
    kept: Any = None
    rows: int | None = None  # that a plan of the caller's is for
    made: dict[Any, Any] | None = None  # its plans, kept from run to run

    def read(self, device: int | None) -> None:
        self.device = device
        if device is None:
            self.entries = index_entries(self.indices, self.operation)
            self.threads = _run.threads_of(self.threads, self.operation)
        else:
            self.kept, self.entries = _device_rows.entries_of(self.indices, device, self.operation)

    def given_indices(self) -> Any:
        """Of a device as the caller has them: they may have been copied."""
        return self.entries.given if self.device is None else self.indices

    def begin(self, table: _Table, arrays: list[_arrays.Array]) -> None:
        """Reads the indices, which lie where the columns do, all in one memory and on one stream."""
        device = arrays[0].device
        for i, array in enumerate(arrays):
            if array.device != device:
                refuse(self.operation, f"{table.word(i)} on another device than {table.word(0)}", "columns on one device",
                       "copy the columns to one device first")
        if self.entries is not None and device != self.device:
            refuse(self.operation, "arrays on another device than the plan's indices", "one device",
                   "copy them to its device first, or plan with indices on theirs")
        queues = {_run.stream_of(array, self.stream, self.operation) for array in arrays}
        if len(queues) > 1:
            refuse(self.operation, "columns of libraries with different streams", "one stream", "give it as stream=")
        self.queue = queues.pop()
        if self.entries is None:
            self.read(device)

    def same_rows(self, table: _Table, counts: list[int]) -> None:
        same_counts(table, counts, self.operation, self.rows)

    def run(self, moved: list[tuple[_Kind, _arrays.Array, _arrays.Array, int]]) -> None:
        """Moves from one array to another, rows of so many bytes; every plan is made before one is run."""
        groups: dict[_Kind, list[tuple[int, int, int]]] = {}
        for kind, source, target, row_bytes in moved:
            if kind.outer * row_bytes:
                groups.setdefault(kind, []).append((source.address, target.address, row_bytes))
        if self.made is not None:
            return self._run_kept(groups)
        if self.device is not None:
            return self._run_on_device(groups)
        if not groups and moved and self.entries.size:  # nothing to move, but every index still has to name a row
            kind = moved[0][0]
            _faro.take(_rows._rows(self.entries, kind.rows, 0, 1, self.threads), kind.fill and bytes(1), 0, 0, False)
        plans = []
        for kind, columns in groups.items():
            rows = _rows._rows(self.entries, kind.rows, kind.outer, columns[0][2], self.threads)
            plans.append((_faro.RowPlan.make(self.verb, rows, kind.fill, *kind.adds, -1, 0), columns))
        for plan, columns in plans:
            plan.run_columns(0, columns, 0, 0, 0)

    def plan(self, kind: _Kind, row_bytes: int) -> tuple[Any, int]:
        """A plan that is kept, and its workspace. On a device it is for one width, by which it may have a schedule."""
        assert self.made is not None
        key = kind if self.device is None else (kind, row_bytes)
        if key not in self.made:
            if self.device is None:
                rows = _rows._rows(self.entries, kind.rows, kind.outer, row_bytes, self.threads)
                plan = _faro.RowPlan.make(self.verb, rows, kind.fill, *kind.adds, -1, 0)
            else:
                listed = self.entries
                rows = _faro.Rows.make(listed.address, listed.size, listed.itemsize, _device_rows.is_signed(listed), kind.rows, kind.outer,
                                       row_bytes, 0)
                plan = _faro.RowPlan.make(self.verb, rows, kind.fill, *kind.adds, self.device, 1 << 20)
            self.made[key] = plan, plan.workspace_bytes()
        found: tuple[Any, int] = self.made[key]
        return found

    def _run_kept(self, groups: dict[_Kind, list[tuple[int, int, int]]]) -> None:
        runs = []
        for kind, columns in groups.items():
            for width in {c[2] for c in columns} if self.device is not None else (columns[0][2],):
                some = [c for c in columns if self.device is None or c[2] == width]
                runs.append((*self.plan(kind, width), some))
        for plan, needed, columns in runs if self.entries.size else ():
            if needed == 0 or self.queue != self.entries.stream:
                plan.run_columns(0, columns, 0, 0, self.queue)
            else:
                lent = _arrays.describe(self.entries.new((-(-needed // self.entries.itemsize),)), writable=True)
                plan.run_columns(0, columns, lent.address, needed, self.queue)
        for plan, _, _ in runs if self.check else ():
            plan.check(self.queue)

    def _run_on_device(self, groups: dict[_Kind, list[tuple[int, int, int]]]) -> None:
        if self.entries.size == 0:
            return
        plans = [
            (_device_rows.plan_for(self.verb, self.entries, kind.rows, kind.outer, columns[0][2], kind.fill, kind.adds), columns)
            for kind, columns in groups.items()
        ]
        for plan, columns in plans:
            plan.run_columns(self.entries, columns, self.queue)
        for plan, _ in plans if self.check else ():
            plan.made.check(self.queue)


def _check_outputs(table: _Table, move: _Move, outs: list[Any], read: list[_arrays.Array]) -> None:
    """All outputs of a call together: none overlaps another one, or what any column reads."""
    outputs = [(f"output {table.names[i]!r}", out) for i, out in enumerate(outs) if out is not None]
    if outputs:
        given = {f"input {table.names[i]!r}": each for i, each in enumerate(read)}
        _outputs.check_disjoint(move.operation, outputs, _outputs.reads(outs, **given, indices=move.given_indices()))


def _listed(columns: Any) -> list[Any]:
    """The arrays of a collection, or of one alone."""
    if isinstance(columns, Mapping):
        return list(columns.values())
    return list(columns) if isinstance(columns, (list, tuple)) else [columns]


def _blocks_of_jax(x: Any, table: Any, axis: int, fill: Any) -> Any:
    taken = _libraries.functions_for("jax").take(x, table, axis, fill=fill)
    behind = x.ndim - 1 - axis % x.ndim  # the tokens' axis and those after it
    shape = taken.shape
    return taken.reshape(shape[: -behind - 1] + (shape[-behind - 1] * shape[-behind],) + shape[len(shape) - behind + 1 :])


def _taken(table: _Table, move: _Move, axis: int, fill: Any, out: Any, blocks: bool) -> Any:
    """`blocks`: the last axis of the indices and the axis behind the rows' are one."""
    if not table.columns:
        return table.like([])
    fills = _fills(fill, table, move.operation)
    columns = [_kinds.read(x, move.operation) for x in table.columns]
    if any(_kinds.is_masked(x) for x in columns):
        return table.like(_taken_with_masks(_Table(table.names, columns, list), move, axis, fills, out, blocks))
    table = _Table(table.names, columns, table.like)
    outs = [None] * len(fills) if out is None else _beside(out, table, "out=", move.operation)
    arrays = [_arrays.describe(x) for x in table.columns]
    given = list(arrays)
    move.begin(table, arrays)
    index_shape = tuple(move.entries.shape)
    if blocks and not index_shape:
        refuse(move.operation, "a single number as block table", "a table of one axis or more")
    counts, moved, finish = [], [], []
    for i, (x, array) in enumerate(zip(table.columns, arrays)):
        k = _axis(table.word(i), array, axis, move.operation, blocks)
        if not _arrays.is_dense(array):
            x = _faro.run(x, _run.COPY, None, None, move.stream)
            array = arrays[i] = _arrays.describe(x)
        counts.append(array.shape[k])
        shape = array.shape[:k] + index_shape + array.shape[k + 1 :]
        if blocks:
            shape = array.shape[:k] + index_shape[:-1] + (index_shape[-1] * array.shape[k + 1],) + array.shape[k + 2 :]
        filled = fill_bytes(fills[i], array, outs[i], move.operation)
        target, finished = _run.result_of(x, array, outs[i], shape, move.operation, move.queue, keeps=filled == b"")
        kind = _Kind(array.shape[k], math.prod(array.shape[:k]), filled)
        moved.append((kind, array, target, math.prod(array.shape[k + 1 :]) * array.itemsize))
        finish.append((finished, x))
    move.same_rows(table, counts)
    _check_outputs(table, move, [None if o is None else _arrays.describe(o, writable=True) for o in outs], given)
    move.run(moved)
    return table.like([finished() for finished, _ in finish])


def _taken_with_masks(table: _Table, move: _Move, axis: int, fills: list[Any], out: Any, blocks: bool) -> list[Any]:
    """Masks are columns of their own, behind the others."""
    masked = [i for i, x in enumerate(table.columns) if _kinds.is_masked(x)]
    if out is not None:
        _kinds.refuse_out_of_masked(move.operation)
    columns, masks = list(table.columns), {}
    for i in masked:
        columns[i], *mask = _kinds.parts_of(table.columns[i])
        masks.update({i: each for each in mask})
    names = table.names + [f"{table.names[i]} (mask)" for i in masks]
    more = [_rows.unmasked_fill(fills[i]) for i in masks]
    made = _taken(_Table(names, columns + list(masks.values()), list), move, axis, fills + more, None, blocks)
    moved = dict(zip(masks, made[len(fills) :]))
    return [_kinds.masked_like(x, made[i], *([moved[i]] if i in moved else [])) if i in masked else made[i]
            for i, x in enumerate(table.columns)]


def _written(table: _Table, values: Any, move: _Move, axis: int, sums: str, blocks: bool) -> None:
    if not table.columns:
        return
    sources = _beside(values, table, "values", move.operation)
    functional = f"faro.jax.{'add_at' if move.verb == 'add' else 'put'}() gives a new one"
    if blocks:
        functional = ("faro.jax.put(cache, table.reshape(-1), values.reshape(cache.shape[:axis] + (-1,) + cache.shape[axis + 1:]), "
                      "axis) gives a new one")
    _arrays.refuse_to_write_jax(move.operation, functional, *table.columns)
    _arrays.refuse_jax(move.operation, functional, move.indices, *sources)
    arrays = [_arrays.describe(x, writable=True) for x in table.columns]
    move.begin(table, arrays)
    index_shape = tuple(move.entries.shape)
    if blocks and not index_shape:
        refuse(move.operation, "a single number as block table", "a table of one axis or more")
    if not blocks and len(index_shape) > 1:
        refuse(move.operation, f"indices of {len(index_shape)} axes", "one axis")
    counts, moved, finish, given = [], [], [], []
    for i, (x, target) in enumerate(zip(table.columns, arrays)):
        k = _axis(table.word(i), target, axis, move.operation, blocks)
        counts.append(target.shape[k])
        wanted = target.shape[:k] + (move.entries.size,) + target.shape[k + 1 :]
        if blocks:
            wanted = target.shape[:k] + index_shape[:-1] + (index_shape[-1] * target.shape[k + 1],) + target.shape[k + 2 :]
        adds = (_row_values.number_of(target, move.operation), _row_values.SUMS[sums]) if move.verb == "add" else (0, 0)
        read, source, written, finished = _row_values.placed(x, target, sources[i], wanted, move.operation, move.stream)
        given.append(read)
        kind = _Kind(target.shape[k], math.prod(target.shape[:k]), None, adds)
        moved.append((kind, source, written, math.prod(target.shape[k + 1 :]) * target.itemsize))
        finish.append((finished, source))
    move.same_rows(table, counts)
    _check_outputs(table, move, arrays, given)
    move.run(moved)
    for finished, _ in finish:
        finished()


def _written_back(table: _Table, indices: Any, values: Any, axis: int, operation: str, stream: Any, check: bool,
                  made: Callable[[Any, Any, Any], Any]) -> bool:
    """Where PyTorch records what is done with them: all results are made, then each is copied to its output."""
    recorder = None
    if any(_arrays.is_tensor(x) for x in table.columns):
        sources = _beside(values, table, "values", operation)
        recorder = _run.recording(operation, (indices, *table.columns, *sources), None, stream, check)
    if recorder is None:
        return False
    for i, x in enumerate(table.columns):
        if not _arrays.is_tensor(x):
            refuse(operation, f"{table.word(i)}, a {type(x).__name__}, beside tensors whose operations are recorded", "tensors",
                   "a call for each library's columns", kind=FaroTypeError)
    same_rows(table, axis, operation)
    results = [made(recorder, x, y) for x, y in zip(table.columns, sources)]
    for x, result in zip(table.columns, results):
        recorder.write_back(operation, x, result)
    return True


_FEW_INDICES = 4096  # of all columns: a plan would take longer than moving them


def _taken_short(table: _Table, indices: Any, axis: Any) -> Any:
    """Of NumPy's arrays with few rows each; None where that is not what was given, or something is wrong."""
    np = _arrays.numpy()
    if np is None or not table.columns or not isinstance(axis, int):
        return None
    if any(type(x) is not np.ndarray for x in (indices, *table.columns)) or indices.size * len(table.columns) > _FEW_INDICES:
        return None
    if any(not -x.ndim <= axis < x.ndim for x in table.columns) or len({x.shape[axis] for x in table.columns}) > 1:
        return None
    made = []
    for x in table.columns:
        taken = _faro.take_short(x, indices, axis)
        if taken is None:
            return None
        made.append(taken)
    return table.like(made)


def take_columns(columns: Any, indices: Any, axis: int = 0, *, fill: Any = None, out: Any = None, stream: Any = None,
                 check: bool = False, threads: int = 0) -> Any:
    """The rows ``indices`` of each of several arrays along ``axis``, by one plan: the columns of a table, of any types and widths.

    ``columns``: a list, tuple or dict of arrays, or a DataFrame, with as many rows each; the result is a list, tuple or dict.
    ``fill``: what an index of -1 gives: a number for all columns, which each has to hold, or one for each as a list or dict; None: -1 is
    refused. ``out``: a collection of arrays of the results' shapes. ``stream``, ``check``, ``threads``: as ``take``.

    Raises FaroValueError naming a column that does not fit the others, or the first index that is no row, before anything is
    written; on a GPU such an index leaves its rows unwritten. Cost: on the host the indices are checked once for all columns with one
    ``fill``; on a GPU one launch moves up to 128 columns of one width. Arrays of JAX and tensors that record gradients go one by one.

    >>> import numpy as np, faro
    >>> table = {"id": np.array([7, 8, 9]), "x": np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]])}
    >>> taken = faro.take_columns(table, [2, 0, -1], fill=0)
    >>> taken["id"].tolist(), taken["x"].tolist()
    ([9, 7, 0], [[4.5, 5.5], [0.5, 1.5], [0.0, 0.0]])
    """
    table = _table(columns, "take_columns")
    if fill is None and out is None and stream is None and threads == 0 and not check:
        short = _taken_short(table, indices, axis)
        if short is not None:
            return short
    is_recorded = _run.recording("take_columns", (indices, *table.columns, *_listed(fill)), None, stream, check) is not None
    is_of_jax = any(_arrays.is_of_jax(x) for x in table.columns) or _arrays.by_jax("take_columns", indices, *_listed(fill))
    if out is None and (is_recorded or is_of_jax):  # each by its own library
        fills = _fills(fill, table, "take_columns")
        same_rows(table, axis, "take_columns")
        return table.like([
            _rows.take(x, indices, axis, fill=f, stream=stream, check=check, threads=threads)
            for x, f in zip(table.columns, fills)
        ])
    move = _Move("take_columns", "take", indices, stream, check, threads)
    return _taken(table, move, axis, fill, out, blocks=False)


def put_columns(out: Any, indices: Any, values: Any, axis: int = 0, *, stream: Any = None, check: bool = False,
                threads: int = 0) -> Any:
    """``out[name][indices[i]] = values[name][i]`` along ``axis`` for each of several arrays, by one plan; the other rows stay.
    Returns ``out``. ``out`` and ``values`` are lists, tuples or dicts of arrays; the rest is as ``put`` and ``take_columns``.

    >>> import numpy as np, faro
    >>> table = {"id": np.zeros(3, int), "x": np.zeros((3, 2))}
    >>> faro.put_columns(table, [2, 0], {"id": np.array([7, 8]), "x": np.ones((2, 2))})["id"].tolist()
    [8, 0, 7]
    """
    table = _table(out, "put_columns")
    if _written_back(table, indices, values, axis, "put_columns", stream, check, lambda recorder, x, y: recorder.put(x, indices, y, axis)):
        return out
    _written(table, values, _Move("put_columns", "put", indices, stream, check, threads), axis, "usual", blocks=False)
    return out


def add_columns(out: Any, indices: Any, values: Any, axis: int = 0, *, sums: str = "usual", stream: Any = None,
                check: bool = False, threads: int = 0) -> Any:
    """``out[name][indices[i]] += values[name][i]`` along ``axis`` for each of several arrays, in the order of i. Returns ``out``.
    The arguments are as those of ``put_columns`` and ``add_at``; columns of one type of numbers share a plan.

    >>> import numpy as np, faro
    >>> counts, totals = faro.add_columns([np.zeros(2, int), np.zeros(2)], [1, 1, 0], [np.ones(3, int), np.array([0.5, 1.0, 4.0])])
    >>> counts.tolist(), totals.tolist()
    ([1, 2], [4.0, 1.5])
    """
    table = _table(out, "add_columns")
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse("add_columns", f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if _written_back(table, indices, values, axis, "add_columns", stream, check,
                     lambda recorder, x, y: recorder.add_at(x, indices, y, axis, sums=sums)):
        return out
    _written(table, values, _Move("add_columns", "add", indices, stream, check, threads), axis, sums, blocks=False)
    return out


def take_blocks(caches: Any, table: Any, axis: int = 0, *, fill: Any = 0, out: Any = None, stream: Any = None, check: bool = False,
                threads: int = 0) -> Any:
    """The blocks of many caches by one block table, such as the keys and values of all layers: by one plan, on a GPU one launch for up
    to 128 of them.

    ``caches``: a list, tuple or dict of arrays of shape (…, blocks, tokens of a block, …), ``axis`` being that of the blocks. ``table``:
    whole numbers of shape (…, n), the blocks of each sequence in their order, -1 for none, which gives ``fill``. Each result has shape
    (…, …, n * tokens of a block, …): a sequence's blocks follow each other. The other arguments and errors are as those of
    ``take_columns``. ``put_blocks`` is the way back; for caches whose tokens do not follow the blocks' axis there is ``take_columns``.

    >>> import numpy as np, faro
    >>> keys, values = np.arange(8).reshape(4, 2), np.arange(16).reshape(4, 2, 2)       # 4 blocks of 2 tokens
    >>> k, v = faro.take_blocks([keys, values], [[3, 0], [1, -1]])                      # 2 sequences of at most 2 blocks
    >>> k.tolist(), v.shape
    ([[6, 7, 0, 1], [2, 3, 0, 0]], (2, 4, 2))
    """
    listed = _table(caches, "take_blocks")
    if _arrays.by_jax("take_blocks", *listed.columns, table, *_listed(fill), out=out, stream=stream):
        fills = _fills(fill, listed, "take_blocks")
        for i, x in enumerate(listed.columns):
            _axis(listed.word(i), x, axis, "take_blocks", True)
        return listed.like([_blocks_of_jax(x, table, axis, f) for x, f in zip(listed.columns, fills)])
    given = listed.columns + (_listed(fill) if all(map(_arrays.is_tensor, listed.columns)) else [])
    recorder = _run.recording("take_blocks", (table, *given), None, stream, check)
    if recorder is not None and out is None:
        return recorder.take_blocks(caches, table, axis, fill=fill)
    return _taken(listed, _Move("take_blocks", "take", table, stream, check, threads), axis, fill, out, blocks=True)


def put_blocks(caches: Any, table: Any, values: Any, axis: int = 0, *, stream: Any = None, check: bool = False,
               threads: int = 0) -> Any:
    """Writes sequences to the blocks that a block table names for them, of many caches by one plan; other blocks stay. Returns
    ``caches``. ``values``: what ``take_blocks`` with this table returns; a block is named once at most, and -1 leaves out what
    would go there.

    >>> import numpy as np, faro
    >>> caches = [np.zeros((4, 2), int)]
    >>> faro.put_blocks(caches, [[3, 0], [1, -1]], [np.array([[6, 7, 4, 5], [2, 3, 9, 9]])])[0].tolist()
    [[4, 5], [2, 3], [0, 0], [6, 7]]
    """
    listed = _table(caches, "put_blocks")
    if _written_back(listed, table, values, axis, "put_blocks", stream, check,
                     lambda recorder, x, y: recorder.put_blocks([x], table, [y], axis)[0]):
        return caches
    _written(listed, values, _Move("put_blocks", "put", table, stream, check, threads), axis, "usual", blocks=True)
    return caches
