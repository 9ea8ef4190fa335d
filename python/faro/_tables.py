"""Collections of arrays that are columns of one table: their names, and what is given for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from . import _run
from ._errors import FaroTypeError, refuse


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


def _axis(word: str, array: Any, axis: int, operation: str, blocks: bool) -> int:
    rank = len(array.shape)
    if rank == 0:
        refuse(operation, f"{word}, a single number", "an array of rows")
    k = _run.axis_of(axis, rank, operation)
    if blocks and k == rank - 1:
        refuse(operation, f"{word} of {rank} axes with its blocks along the last", "an axis of tokens behind that of the blocks")
    return k


def same_counts(table: _Table, counts: Sequence[int], operation: str, planned: int | None = None) -> None:
    for i, rows in enumerate(counts):
        if planned is not None and rows != planned:
            refuse(operation, f"{table.word(i)} of {rows} rows", f"{planned}, which the plan is for")
        if rows != counts[0]:
            refuse(operation, f"{table.word(i)} of {rows} rows", f"{counts[0]}, as {table.word(0)} has")


def same_rows(table: _Table, axis: int, operation: str) -> None:
    """Of columns that are moved one by one."""
    same_counts(table, [x.shape[_axis(table.word(i), x, axis, operation, False)] for i, x in enumerate(table.columns)], operation)
