"""Plans of rows: the same indices for one array after another, or for several at once."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from . import _arrays, _columns, _faro, _row_values, _rows, _run, _tables
from ._errors import refuse
from ._fills import fill_bytes

__all__ = ["plan_rows", "RowPlan"]


class RowPlan:
    """Rows that are taken, put or added by the same indices again and again; ``plan_rows`` makes it.

    >>> import numpy as np, faro
    >>> plan = faro.plan_rows("take", [2, 0], 3)
    >>> plan.verb, plan.rows
    ('take', 3)
    """

    def __init__(self, move: _columns._Move, axis: int, fill: Any, sums: str):
        self._move, self._axis, self._fill, self._sums = move, axis, fill, sums

    @property
    def verb(self) -> str:
        """"take", "put" or "add".

        >>> plan_rows("put", [1], 2).verb
        'put'
        """
        return self._move.verb

    @property
    def rows(self) -> int:
        """The rows that the indices number.

        >>> plan_rows("put", [1], 2).rows
        2
        """
        return int(self._move.rows or 0)

    def __call__(self, x: Any, out: Any = None, *, stream: Any = None, check: bool = False) -> Any:
        """Takes the rows of ``x``, or puts or adds them to ``out``: an array, or a list, tuple or dict of them, whose rows have any widths.
        Returns ``out``, or of "take" a new array, or a collection of these. ``stream`` and ``check``: as ``take``.

        >>> import numpy as np, faro
        >>> faro.plan_rows("add", [1, 1], 3)(np.array([2.0, 5.0]), out=np.zeros(3)).tolist()
        [0.0, 7.0, 0.0]
        """
        move = replace(self._move, stream=stream, check=check)
        is_take = self.verb == "take"
        if not is_take and out is None:
            refuse(move.operation, "no out=", f"out=, what {self.verb} writes to")
        if is_take:
            _arrays.refuse_jax(f"run a plan of {self.verb}", "faro.jax.take() makes plans that JAX runs", *_columns._listed(x))
        given = x if is_take else out
        recorded = self._recorded(x, out, given, move)
        if recorded is not None:
            return recorded
        if isinstance(given, dict) or _tables._is_frame(given) or (isinstance(given, (list, tuple)) and _holds_arrays(given)):
            table = _columns._table(given, move.operation)
            if is_take:
                return _columns._taken(table, move, self._axis, self._fill, out, blocks=False)
            _columns._written(table, x, move, self._axis, self._sums, blocks=False)
            return out
        alone = _columns._Table(["x" if is_take else "out"], [given], list)
        if is_take:
            return _columns._taken(alone, move, self._axis, self._fill, None if out is None else [out], blocks=False)[0]
        _columns._written(alone, [x], move, self._axis, self._sums, blocks=False)
        return out

    def _recorded(self, x: Any, out: Any, given: Any, move: _columns._Move) -> Any:
        """Where PyTorch records what is done with a tensor, by the functions that are without a plan; else None."""
        is_alone = _arrays.is_tensor(given)
        if not is_alone and not isinstance(given, (dict, list, tuple)):
            return None
        columns = [given] if is_alone else list(given.values() if isinstance(given, dict) else given)
        if not any(map(_arrays.is_tensor, columns)):
            return None
        others = [] if self.verb == "take" else [x] if is_alone else list(x.values() if isinstance(x, dict) else x)
        if _run.recording(move.operation, (*columns, *others), None, move.stream, move.check) is None:
            return None
        for each in columns:
            if each.shape[_run.axis_of(self._axis, len(each.shape), move.operation)] != self.rows:
                refuse(move.operation, f"an array of shape {tuple(each.shape)}", f"{self.rows} rows, which the plan is for")
        if self.verb == "take":
            take: Any = _rows.take if is_alone else _columns.take_columns
            return take(x, move.indices, self._axis, fill=self._fill, out=out)
        if self.verb == "put":
            return (_rows.put if is_alone else _columns.put_columns)(out, move.indices, x, self._axis)
        return (_rows.add_at if is_alone else _columns.add_columns)(out, move.indices, x, self._axis, sums=self._sums)

    def explain(self, x: Any) -> str:
        """How the rows of such an array as ``x`` (of "take" the input, else the output) are moved, and why.

        >>> import numpy as np, faro
        >>> "short rows" in faro.plan_rows("take", [2, 0], 3).explain(np.zeros((3, 4)))
        True
        """
        array = _arrays.describe(x)
        move = replace(self._move, stream=None)
        move.begin(_columns._Table(["x"], [x], list), [array])
        k = _columns._axis("an array", array, self._axis, move.operation, False)
        if array.shape[k] != self.rows:
            refuse(move.operation, f"an array of {array.shape[k]} rows", f"{self.rows}, which the plan is for")
        adds = (_row_values.number_of(array, move.operation), _row_values.SUMS[self._sums]) if self.verb == "add" else (0, 0)
        fill = fill_bytes(self._fill, array, x, move.operation)
        kind = _columns._Kind(self.rows, math.prod(array.shape[:k]), fill, adds)
        return str(move.plan(kind, math.prod(array.shape[k + 1 :]) * array.itemsize)[0].explain())


def _holds_arrays(given: Any) -> bool:
    """Whether a list is one of arrays, and not of numbers."""
    return any(not isinstance(each, _run.OF_NUMBERS) for each in given)


def plan_rows(verb: str, indices: Any, rows: int, axis: int = 0, *, fill: Any = None, sums: str = "usual", threads: int = 0) -> RowPlan:
    """A plan that takes (``"take"``), puts (``"put"``) or adds (``"add"``) rows along ``axis`` by the same indices, which number ``rows`` rows.
    It is called with arrays, one after another or several at once. ``fill``, ``sums``, ``threads``: as ``take`` and ``add_at``.

    The plan keeps the indices, which have to stay as they are. On the host they are checked here; where they lie on a GPU, elements of 4 and 8
    bytes, one a row, are moved by a schedule that the first call makes and all others use: where they are too many for the caches that
    takes a fraction of the time.

    >>> import numpy as np, faro
    >>> plan = faro.plan_rows("take", [2, 0, -1], 3, fill=0)
    >>> plan(np.array([1.5, 2.5, 3.5])).tolist()
    [3.5, 1.5, 0.0]
    >>> [y.tolist() for y in plan([np.arange(3), np.array([[1, 2], [3, 4], [5, 6]])])]
    [[2, 0, 0], [[5, 6], [1, 2], [0, 0]]]
    """
    operation = "plan_rows"
    if not isinstance(verb, str) or verb not in ("take", "put", "add"):
        refuse(operation, f"verb {verb!r}", "take, put or add")
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse(operation, f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    if fill is not None and verb != "take":
        refuse(operation, f"fill= of {verb}", "none: other rows stay")
    number = _run.whole(rows, operation, "rows =", 0, 2**62)
    _arrays.refuse_jax(operation, f"faro.jax.{'add_at' if verb == 'add' else verb}() makes plans that JAX runs", indices)
    on_gpu = _rows._on_gpu(indices)
    move = _columns._Move(operation, verb, indices, None, False, threads, rows=number, made={})
    move.read(_arrays.describe(indices).device if on_gpu else None)
    if verb != "take" and len(move.entries.shape) > 1:
        refuse(operation, f"indices of {len(move.entries.shape)} axes", "one axis")
    if not on_gpu and move.entries.size:
        checked = _rows._rows(move.entries, number, 0, 1, threads)
        if verb == "take":
            _faro.take(checked, None if fill is None else b"\0", 0, 0, False)
        elif verb == "put":
            _faro.put(checked, 0, 0)
        else:
            _faro.add(checked, 1, 0, 0, 0)
    return RowPlan(move, _run.whole(axis, operation, "axis ="), fill, sums)
