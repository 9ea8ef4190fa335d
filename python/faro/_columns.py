"""Several arrays by one index array: tables and caches.

One plan moves all arrays of a call, whatever the widths of their rows, on the host or on a GPU, where arrays of one width share a
launch. (Columns that need another fill value, type of sums or number of arrays before the axis have a plan of their own.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from . import _arrays, _device_rows, _faro, _kinds, _rows, _run
from ._errors import FaroTypeError, refuse
from ._fills import fill_bytes
from ._indices import index_entries

__all__ = ["take_columns", "put_columns", "add_columns", "take_blocks", "put_blocks"]


@dataclass
class _Table:
    """Columns with their names, and what makes the caller's kind of collection of as many others."""

    names: list[Any]
    columns: list[Any]
    like: Callable[[Sequence[Any]], Any]

    def word(self, i: int) -> str:
        return f"column {self.names[i]!r}"


def _table(columns: Any, operation: str) -> _Table:
    if isinstance(columns, Mapping) or _is_frame(columns):
        items = list(columns.items())
        names = [name for name, _ in items]
        return _Table(names, [column for _, column in items], lambda made: dict(zip(names, made)))
    if not isinstance(columns, (list, tuple)):
        refuse(operation, f"a {type(columns).__name__} as columns", "a list, tuple or dict of arrays",
               "take(), put() and add_at() move a single array", kind=FaroTypeError)
    make: Callable[[Sequence[Any]], Any] = list
    if isinstance(columns, tuple):
        make = type(columns)._make if hasattr(columns, "_make") else tuple
    return _Table(list(range(len(columns))), list(columns), make)


def _is_frame(columns: Any) -> bool:
    """A table of pandas, or of a library that names its columns alike."""
    return hasattr(columns, "items") and hasattr(columns, "columns") and not hasattr(columns, "__dlpack__")


def _beside(given: Any, table: _Table, what: str, operation: str) -> list[Any]:
    """What was given for each column: by its name of a dict, by its place else."""
    other = _table(given, operation)
    if len(other.columns) != len(table.columns):
        refuse(operation, f"{what} for {len(other.columns)} columns", f"for {len(table.columns)}")
    if other.names == table.names:
        return other.columns
    if isinstance(given, (list, tuple)):
        return other.columns
    by_name = dict(zip(other.names, other.columns))
    for name in table.names:
        if name not in by_name:
            refuse(operation, f"{what} without column {name!r}", f"columns {', '.join(map(repr, table.names))}")
    return [by_name[name] for name in table.names]


def _fills(fill: Any, table: _Table, operation: str) -> list[Any]:
    if isinstance(fill, Mapping):
        for name in fill:
            if name not in table.names:
                refuse(operation, f"fill for column {name!r}", f"one of {', '.join(map(repr, table.names))}")
        return [fill.get(name) for name in table.names]
    if isinstance(fill, (list, tuple)):
        return _beside(fill, table, "fill", operation)
    return [fill] * len(table.columns)


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
            self.kept, self.entries = _device_rows._entries(self.indices, device, self.operation)

    def begin(self, table: _Table, arrays: list[_arrays.Array]) -> None:
        """Reads the indices, which lie where the columns do, all in one memory and on one stream."""
        device = arrays[0].device
        for i, array in enumerate(arrays):
            if array.device != device:
                refuse(self.operation, f"{table.word(i)} on another device than {table.word(0)}", "columns on one device",
                       "nothing is copied between devices unasked")
        if self.entries is not None and device != self.device:
            refuse(self.operation, "arrays on another device than the plan's indices", "one device",
                   "nothing is copied between devices unasked")
        queues = {_run.stream_of(array, self.stream, self.operation) for array in arrays}
        if len(queues) > 1:
            refuse(self.operation, "columns of libraries with different streams", "one stream", "give it as stream=")
        self.queue = queues.pop()
        if self.entries is None:
            self.read(device)

    def same_rows(self, table: _Table, counts: list[int]) -> None:
        for i, rows in enumerate(counts):
            if self.rows is not None and rows != self.rows:
                refuse(self.operation, f"{table.word(i)} of {rows} rows", f"{self.rows}, which the plan is for")
            if rows != counts[0]:
                refuse(self.operation, f"{table.word(i)} of {rows} rows", f"{counts[0]}, as {table.word(0)} has")

    def run(self, moved: list[tuple[_Kind, _arrays.Array, _arrays.Array, int]]) -> None:
        """Moves from one array to another, rows of so many bytes; every plan is made before one is run."""
        groups: dict[_Kind, list[tuple[int, int, int]]] = {}
        for kind, source, target, row_bytes in moved:
            if kind.outer * row_bytes:
                groups.setdefault(kind, []).append((source.address, target.address, row_bytes))
        if len(groups) > 1:
            _apart(self.operation, moved)
        if self.made is not None:
            return self._run_kept(groups)
        if self.device is not None:
            return self._run_on_device(groups)
        if not groups and moved and self.entries.size:  # nothing to move, but every index still has to name a row
            kind = moved[0][0]
            _faro.take(_rows._rows(self.entries, kind.rows, 0, 1, self.threads), kind.fill, 0, 0, False)
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
                rows = _faro.Rows.make(listed.address, listed.size, listed.itemsize, _device_rows._is_signed(listed), kind.rows, kind.outer,
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


def _apart(operation: str, moved: list[tuple[_Kind, _arrays.Array, _arrays.Array, int]]) -> None:
    """What a plan refuses of its own arrays, of those of several plans: an output on another array."""
    spans = []
    for _, source, target, _ in moved:
        spans.append((target.address, target.address + target.size * target.itemsize, True))
        spans.append((source.address, source.address + source.size * source.itemsize, False))
    written = read = 0  # where those end that were met
    for begin, end, is_output in sorted(span for span in spans if span[0] < span[1]):
        if begin < written or (is_output and begin < read):
            refuse(operation, "an output that overlaps an array of another column", "arrays that lie apart")
        if is_output:
            written = max(written, end)
        else:
            read = max(read, end)


def _one_by_one(columns: list[Any]) -> bool:
    """Whether their library has to record or trace each move."""
    return any(_arrays.is_recorded(x) or _arrays.is_of_jax(x) for x in columns)


def _axis(word: str, array: Any, axis: int, operation: str, blocks: bool) -> int:
    rank = len(array.shape)
    if rank == 0:
        refuse(operation, f"{word}, a single number", "an array of rows")
    k = _run.axis_of(axis, rank, operation)
    if blocks and k == rank - 1:
        refuse(operation, f"{word} of {rank} axes with its blocks along the last", "an axis of tokens behind that of the blocks")
    return k


def _take_of_jax(x: Any, indices: Any, axis: int, fill: Any) -> Any:
    """In operations of JAX, which may be traced."""
    import jax.numpy as jnp

    from .jax import take

    if fill is None:
        return take(x, indices, axis)
    index = jnp.asarray(indices)
    taken = take(x, jnp.maximum(index, 0), axis)
    absent = (index < 0).reshape(index.shape + (1,) * (x.ndim - 1 - axis % x.ndim))
    return jnp.where(absent, jnp.asarray(fill, x.dtype), taken)


def _blocks_of_jax(x: Any, table: Any, axis: int, fill: Any) -> Any:
    taken = _take_of_jax(x, table, axis, fill)
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
    arrays = [_arrays.describe(x, writable=True) for x in table.columns]
    move.begin(table, arrays)
    index_shape = tuple(move.entries.shape)
    if blocks and not index_shape:
        refuse(move.operation, "a single number as block table", "a table of one axis or more")
    if not blocks and len(index_shape) > 1:
        refuse(move.operation, f"indices of {len(index_shape)} axes", "one axis")
    counts, moved, finish = [], [], []
    for i, (x, target) in enumerate(zip(table.columns, arrays)):
        k = _axis(table.word(i), target, axis, move.operation, blocks)
        counts.append(target.shape[k])
        wanted = target.shape[:k] + (move.entries.size,) + target.shape[k + 1 :]
        if blocks:
            wanted = target.shape[:k] + index_shape[:-1] + (index_shape[-1] * target.shape[k + 1],) + target.shape[k + 2 :]
        adds = (_rows._number_of(target, move.operation), _rows._SUMS[sums]) if move.verb == "add" else (0, 0)
        source, written, finished = _rows._placed(x, target, sources[i], wanted, move.operation, move.stream)
        kind = _Kind(target.shape[k], math.prod(target.shape[:k]), None, adds)
        moved.append((kind, source, written, math.prod(target.shape[k + 1 :]) * target.itemsize))
        finish.append((finished, source))
    move.same_rows(table, counts)
    move.run(moved)
    for finished, _ in finish:
        finished()


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
    if fill is None and out is None and stream is None and not (check or threads):
        short = _taken_short(table, indices, axis)
        if short is not None:
            return short
    if _one_by_one(table.columns):
        fills = _fills(fill, table, "take_columns")
        outs = [None] * len(fills) if out is None else _beside(out, table, "out=", "take_columns")
        shapes = [getattr(x, "shape", ()) for x in table.columns]
        if all(-len(s) <= axis < len(s) for s in shapes):  # else take() says what is wrong
            _Move("take_columns", "take", indices, stream, check, threads).same_rows(table, [s[axis] for s in shapes])
        return table.like([
            _take_of_jax(x, indices, axis, f) if _arrays.is_of_jax(x) and o is None and stream is None
            else _rows.take(x, indices, axis, fill=f, out=o, stream=stream, check=check, threads=threads)
            for x, f, o in zip(table.columns, fills, outs)
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
    if not isinstance(sums, str) or sums not in _rows._SUMS:
        refuse("add_columns", f"sums {sums!r}", f"one of {', '.join(_rows._SUMS)}")
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
    if out is None and stream is None and any(_arrays.is_of_jax(x) for x in listed.columns):
        fills = _fills(fill, listed, "take_blocks")
        for i, x in enumerate(listed.columns):
            _axis(listed.word(i), x, axis, "take_blocks", True)
        return listed.like([_blocks_of_jax(x, table, axis, f) for x, f in zip(listed.columns, fills)])
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
    _written(listed, values, _Move("put_blocks", "put", table, stream, check, threads), axis, "usual", blocks=True)
    return caches
