"""Rows of JAX's arrays by index arrays, which may be traced: taken, put and added, and sent to buckets and back.

Nothing is written in place: ``put`` and ``add_at`` give new arrays. Indices are checked when they are used, -1 names no row.
"""

from __future__ import annotations

from typing import Any

import jax as _jax
import jax.numpy as _jnp
import numpy as _np

from . import _fills, _row_values, _rows, _run
from ._errors import FaroTypeError, FaroUnsupportedError, refuse
from ._jax_primitives import array_of, indices_of, take_bind, vary_alike, write_bind


def take(x: Any, index: Any, axis: int = 0, *, inverse: bool = False, fill: Any = None) -> Any:
    """The rows ``x[index[i]]`` along ``axis``, as ``jax.numpy.take``. An index that is no row fails when it is used.

    ``fill``: what an index of -1 gives, a number (which may be traced, and has a gradient), or bytes, repeated along the row;
    None: -1 fails.
    ``inverse=True``, of an index that names every row once, goes the way back.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.take(jnp.array([5, 6, 7]), jnp.array([2, 2, 0])).tolist()
    [7, 7, 5]
    >>> faro.jax.take(jnp.array([5, 6, 7]), jnp.array([2, -1, 0]), fill=0).tolist()
    [7, 0, 5]
    """
    x, index = array_of(x, "take"), indices_of(index, "take")
    k = _run.axis_of(axis, x.ndim, "take")
    if inverse:
        if fill is not None:
            refuse("take", "fill= of an inverse", "none: every row is written")
        return put_every(x, index, k, "take")
    if fill is None:
        return take_bind(*vary_alike(x, index), axis=k)
    row = x.shape[k + 1 :]
    given = _fill_of(fill, x.dtype, row)
    taken = take_bind(*vary_alike(x, index), axis=k, zeros=True)
    if given is None:
        return taken
    absent = (index < 0).reshape(index.shape + (1,) * len(row))
    return _jnp.where(absent, given, taken)


def _fill_of(fill: Any, dtype: Any, row: tuple[int, ...]) -> Any:
    """An array that spreads along rows; None for zeros, which the engine writes itself."""
    if isinstance(fill, str):
        refuse("take", f"fill={fill!r}", "a number, or bytes", "put() gives an array whose other rows are as they were")
    if isinstance(fill, (bytes, bytearray)):
        if not fill:
            refuse("take", "fill of 0 bytes", "at least one byte")
        count = int(_np.prod(row)) * dtype.itemsize
        return _jnp.asarray(_np.resize(_np.frombuffer(fill, _np.uint8), count).view(dtype).reshape(row))
    if isinstance(fill, _jax.Array):
        if fill.ndim or _kind_of(fill.dtype) > _kind_of(dtype):
            refuse("take", f"fill of {fill.dtype}{list(fill.shape)}", f"one number that elements {dtype} hold",
                   kind=FaroTypeError)
        return fill.astype(dtype)
    if isinstance(fill, (int, float)) and fill == 0 and _np.copysign(1, fill) > 0:
        return None
    made = _fills.as_elements(fill, _np.dtype(dtype), "take", "a fill")
    if made.ndim:
        refuse("take", f"fill of shape {made.shape}", "one number")
    return _jnp.asarray(made)


def _kind_of(dtype: Any) -> int:
    """Each kind of numbers holds those before it."""
    return sum(bool(_jnp.issubdtype(dtype, kind)) for kind in (_jnp.number, _jnp.inexact, _jnp.complexfloating))


def put_every(x: Any, index: Any, axis: int, operation: str) -> Any:
    """Rows to their places, of an index that names every row once: -1 is one that there is none of, as it is without a sign."""
    index = indices_of(index, operation)
    if not x.ndim or index.shape != x.shape[axis : axis + 1]:
        refuse(operation, f"indices of shape {index.shape} for the inverse", f"shape {x.shape[axis : axis + 1]}, every row once",
               "put() writes some rows")
    unsigned = index.astype(f"uint{8 * index.dtype.itemsize}")
    return write_bind(*vary_alike(x, unsigned, _jnp.zeros(x.shape, x.dtype)), axis=axis, verb="put")


def add_rows(values: Any, index: Any, rows: int, axis: int = 0) -> Any:
    """Zeros of ``rows`` rows along ``axis``, with ``values[i]`` added to row ``index[i]`` in the order of i: the transpose
    of ``take``, the same in every run.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.add_rows(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 1, 0]), 2).tolist()
    [4.0, 3.0]
    """
    values, index = array_of(values, "add_rows"), indices_of(index, "add_rows")
    _require_numbers(values, "add_rows")
    k = _run.axis_of(axis, values.ndim, "add_rows")
    if values.shape[k : k + index.ndim] != index.shape:
        refuse("add_rows", f"values of shape {values.shape} and indices of {index.shape}", "a value for each index")
    shape = values.shape[:k] + (_run.whole(rows, "add_rows", "rows =", 0, 2**62),) + values.shape[k + index.ndim :]
    return write_bind(*vary_alike(values, index, _jnp.zeros(shape, values.dtype)), axis=k, verb="add")


def _require_numbers(x: Any, operation: str) -> None:
    if not _jnp.issubdtype(x.dtype, _jnp.number) or _np.zeros((), x.dtype).astype(_np.complex64) != 0:  # a type of powers of two
        refuse(operation, f"elements {x.dtype}", "numbers", "x.astype('float32') makes them", kind=FaroTypeError)


def put(x: Any, index: Any, values: Any, axis: int = 0) -> Any:
    """A new array: ``x`` with row ``index[i]`` along ``axis`` replaced by ``values[i]``. No two indices may be one row, -1 leaves
    a row of ``values`` out; others fail when they are used. Both arrays have a gradient.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.put(jnp.zeros(4), [3, 1], jnp.array([7.0, 8.0])).tolist()
    [0.0, 8.0, 0.0, 7.0]
    """
    return _written(x, index, values, axis, "put", verb="put")


def add_at(x: Any, index: Any, values: Any, axis: int = 0, *, sums: str = "usual") -> Any:
    """A new array: ``x`` with ``values[i]`` added to row ``index[i]`` along ``axis``, in the order of i, as ``faro.add_at``.

    >>> import jax.numpy as jnp, faro.jax
    >>> faro.jax.add_at(jnp.zeros(3), [1, 1, 2], jnp.array([1.0, 2.0, 5.0])).tolist()
    [0.0, 3.0, 5.0]
    """
    return _written(x, index, values, axis, "add_at", verb="add", sums=_sums_of(sums, "add_at"))


def _sums_of(sums: Any, operation: str) -> int:
    if not isinstance(sums, str) or sums not in _row_values.SUMS:
        refuse(operation, f"sums {sums!r}", f"one of {', '.join(_row_values.SUMS)}")
    return _row_values.SUMS[sums]


def _written(x: Any, index: Any, values: Any, axis: int, operation: str, **how: Any) -> Any:
    x, index = array_of(x, operation), indices_of(index, operation)
    if how["verb"] == "add":
        _require_numbers(x, operation)
    k = _run.axis_of(axis, x.ndim, operation)
    if index.ndim > 1:
        refuse(operation, f"indices of {index.ndim} axes", "one axis")
    index = index.reshape(-1)
    if isinstance(values, _run.OF_NUMBERS):
        values = _fills.as_elements(values, _np.dtype(x.dtype), operation, "values")
    values = array_of(values, operation)
    wanted = x.shape[:k] + index.shape + x.shape[k + 1 :]
    if values.shape != wanted:
        refuse(operation, f"values of shape {values.shape}", f"shape {wanted}")
    if values.dtype != x.dtype:
        refuse(operation, f"values of elements {values.dtype}", f"elements {x.dtype}", f"values.astype('{x.dtype}') makes them",
               kind=FaroTypeError)
    return write_bind(*vary_alike(values, index, x), axis=k, **how)


def take_segments(x: Any, offsets: Any, indices: Any) -> tuple[Any, Any]:
    """Ragged rows, each whole, as ``faro.take_segments``. ``offsets`` and ``indices`` are there when the function is traced,
    since the length of the result is their sum.

    >>> import jax.numpy as jnp, faro.jax
    >>> values, begins = faro.jax.take_segments(jnp.arange(6), [0, 1, 4, 6], [2, 0, 2])
    >>> values.tolist(), begins.tolist()
    ([4, 5, 0, 4, 5], [0, 2, 3, 5])
    """
    x = array_of(x, "take_segments")
    if not x.ndim:
        refuse("take_segments", "a single number", "an array of elements")
    rows, begins = _rows.take_segments(_np.arange(x.shape[0]), offsets, indices)
    return take(x, rows, 0), begins


# --- rows that are sent to buckets: what route() returned outside may be closed over, or be an argument

_jax.tree_util.register_dataclass(
    _rows.Routing, ["places", "inverse", "offsets", "counts", "rows"], ["dropped", "absent", "keys_per_row"])


def _routed(x: Any, routing: Any, operation: str) -> Any:
    x = array_of(x, operation)
    if not x.ndim:
        refuse(operation, "a single number", "an array of rows")
    if not isinstance(routing, _rows.Routing):
        refuse(operation, f"a {type(routing).__name__} as routing", "what faro.route() returned", kind=FaroTypeError)
    return x


def dispatch(x: Any, routing: _rows.Routing) -> Any:
    """Sends the rows of ``x`` to their buckets, as ``faro.dispatch``. ``routing`` is what ``faro.route`` returned; it may be an
    argument of a function that is transformed.

    >>> import jax.numpy as jnp, faro.jax
    >>> r = faro.route([[0, 1], [1, 0]], 2, multiple=3)
    >>> faro.jax.dispatch(jnp.array([[1.0], [10.0]]), r).tolist()
    [[1.0], [10.0], [0.0], [1.0], [10.0], [0.0]]
    """
    x = _routed(x, routing, "dispatch")
    count, k = int(_np.prod(_np.shape(routing.places))), routing.keys_per_row
    if count != x.shape[0] * k:
        refuse("dispatch", f"{x.shape[0]} rows and {count} places, {k} of a row", f"{count // k} rows")
    return take(x, routing.rows, 0, fill=0)


def combine(x: Any, routing: _rows.Routing, weights: Any = None, *, sums: str = "usual") -> Any:
    """Brings routed rows back, as ``faro.combine``, with the same bits; ``x`` and ``weights`` have gradients. Cost: three passes,
    and an array of as many rows as there are items.

    >>> import jax.numpy as jnp, faro.jax
    >>> r = faro.route([[0, 1], [1, 0]], 2)
    >>> faro.jax.combine(faro.jax.dispatch(jnp.array([[1.0], [10.0]]), r), r).tolist()
    [[2.0], [20.0]]
    """
    x = _routed(x, routing, "combine")
    wide = _summed_in(x.dtype, _sums_of(sums, "combine"))
    places = indices_of(routing.places, "combine").reshape(-1)
    taken = take_bind(*vary_alike(x, places), axis=0, zeros=True).astype(wide)
    if weights is not None:
        weights = array_of(weights if hasattr(weights, "dtype") else _np.asarray(weights, _np.float32), "combine")
        if weights.dtype != _np.float32 or weights.size != places.size:
            refuse("combine", f"{weights.size} weights of {weights.dtype}", f"{places.size} of float32")
        taken = taken * weights.reshape((-1,) + (1,) * (x.ndim - 1)).astype(wide)
    k = routing.keys_per_row
    rows = _jnp.arange(places.size, dtype=_np.int32) // k
    shape = (places.size // k,) + x.shape[1:]
    absent = _jnp.where(places < 0, -1, rows)
    return write_bind(*vary_alike(taken, absent, _jnp.zeros(shape, wide)), axis=0, verb="add").astype(x.dtype)


def _summed_in(dtype: Any, sums: int) -> Any:
    """The type that sums are kept in until they are written."""
    if not _jnp.issubdtype(dtype, _jnp.inexact) or dtype.itemsize < 2:
        refuse("combine", f"elements {dtype}", "floats of 2 to 8 bytes or complex numbers",
               "x.astype('float32') makes them", kind=FaroTypeError)
    of_complex = _jnp.issubdtype(dtype, _jnp.complexfloating)
    if sums == _row_values.SUMS["compensated"]:
        refuse("combine", "sums 'compensated' inside a transformation of JAX", "usual, fp32 or fp64", kind=FaroUnsupportedError)
    if sums == _row_values.SUMS["fp64"]:
        if not _jax.config.read("jax_enable_x64"):
            refuse("combine", "sums 'fp64' without JAX's 64-bit types", "usual or fp32",
                   "jax.config.update('jax_enable_x64', True) has them", kind=FaroUnsupportedError)
        return _np.dtype(_np.complex128 if of_complex else _np.float64)
    if sums == _row_values.SUMS["fp32"] or (not of_complex and dtype.itemsize < 4):
        return _np.dtype(_np.complex64 if of_complex else _np.float32)
    return dtype
