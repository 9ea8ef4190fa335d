"""Permutations of arrays under NumPy's names.

All take arrays of any strides and element types: NumPy's, PyTorch's, CuPy's, JAX's, and whatever else has
``__dlpack__``, the CUDA Array Interface, a buffer or ``__array__``. The result is a new dense array of the same kind on the same
device (_kinds.py says what that is of others), or ``out=``, an array of the result's shape and element type that does not overlap the input. Device arrays are
moved on their device, on the library's current stream or on ``stream=``. ``inverse=True`` goes the way back:
``f(f(x, …), …, inverse=True)`` is ``x``. Each reads and writes every element once.

Ctrl-C ends the move of a large array on the host; an ``out=`` is then partly written. What is done in place is done whole.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Sequence, Unpack

from . import _arithmetic, _arrays, _changes, _faro, _in_place, _kinds, _libraries, _outputs, _run, maps
from ._changes import Change
from ._errors import FaroTypeError, refuse
from ._indices import IndexEntries

__all__ = [
    "permute_dims", "transpose", "ascontiguousarray", "flip", "roll", "permute", "bit_reverse", "permute_qubits",
    "rearrange", "aos_to_soa", "soa_to_aos",
]


def permute_dims(x: Any, axes: Sequence[int] | None = None, *, inverse: bool = False, out: Any = None, stream: Any = None,
                 in_place: bool = False, bits: int | None = None, shape: Sequence[int] | None = None, bit_order: str = "low",
                 **change: Unpack[Change]) -> Any:
    """The axes in another order, as ``numpy.transpose(x, axes)``, moved. ``axes=None`` reverses them. ``inverse=True``: by
    the inverse order.

    ``bits=4`` moves elements of so many bits that are packed into the items of ``x``; ``shape`` is that of the elements, as
    ``permute_bits`` takes it.

    ``in_place=True`` permutes ``x``, an array that is dense in any order, where it is and returns it with its new shape: axes of powers
    of two in at most two sweeps, and two axes of any extents. Raises FaroValueError for what is no order of the axes, and
    FaroUnsupportedError for one that cannot be done in place.

    >>> import numpy as np, faro
    >>> faro.permute_dims(np.arange(6).reshape(2, 3), (1, 0)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    if inverse and axes is not None:
        axes = _run.inverse_order(axes, "permute_dims")
    if bits is not None or shape is not None:
        if change or stream is not None or in_place:
            refuse("permute_dims", "bits= with stream=, in_place= or numbers that change", "bits=, shape=, bit_order= and out=",
                   "permute_bits(in_place=True) takes maps of 2^n elements")
        from . import _bits

        return _bits.permute_dims(x, axes, bits, shape, bit_order, out)
    if in_place:
        return _arithmetic.in_place(functools.partial(_in_place.permute_dims, x, axes, out, stream), x, "permute_dims", change, stream)
    if change:
        return _arithmetic.in_order(x, "permute_dims", axes, change, out, stream)
    return _faro.run(x, _run.PERMUTE_DIMS, axes if axes.__class__ is tuple else _run.listed(axes), out, stream)


def transpose(x: Any, axes: Sequence[int] | None = None, *, inverse: bool = False, out: Any = None, stream: Any = None,
              in_place: bool = False, **change: Unpack[Change]) -> Any:
    """``permute_dims`` by NumPy's older name.

    >>> import numpy as np, faro
    >>> faro.transpose(np.arange(6).reshape(2, 3)).shape
    (3, 2)
    """
    return permute_dims(x, axes, inverse=inverse, out=out, stream=stream, in_place=in_place, **change)


def ascontiguousarray(x: Any, *, out: Any = None, stream: Any = None, **change: Unpack[Change]) -> Any:
    """A dense array of the same elements; ``x`` itself where it is dense already and there is no ``out``. The way back is
    ``out=`` with strides.

    >>> import numpy as np, faro
    >>> faro.ascontiguousarray(np.arange(8)[::-2]).tolist()
    [7, 5, 3, 1]
    """
    if change:
        return _arithmetic.moved(x, "ascontiguousarray", _changes.unmoved, change, out, stream, ())
    if out is None and stream is None:
        made = _faro.dense(x, _run.COPY)
        if made is not None:
            return made
    if out is None and _arrays.is_recorded(x):
        if x.is_contiguous():
            return x
    elif out is None:
        given = _kinds.read(x, "ascontiguousarray")
        if _kinds.is_masked(given):
            return _kinds.with_mask(given, ascontiguousarray, None, "ascontiguousarray")
        if given is not x:
            return ascontiguousarray(given, stream=stream)
        if _dense(x):
            return x
    return _faro.run(x, _run.COPY, None, out, stream)


def flip(x: Any, axis: int | Sequence[int] | None = None, *, inverse: bool = False, out: Any = None, stream: Any = None,
         in_place: bool = False, **change: Unpack[Change]) -> Any:
    """The elements along ``axis``, several or all axes, in reverse order, as ``numpy.flip``. Its own inverse.

    ``in_place=True`` turns ``x``, an array that is dense in any order, where it is, in one sweep an axis. Raises FaroValueError for an axis that
    there is not.

    >>> import numpy as np, faro
    >>> faro.flip(np.arange(4).reshape(2, 2), 0).tolist()
    [[2, 3], [0, 1]]
    """
    if in_place:
        return _arithmetic.in_place(functools.partial(_in_place.flip, x, _run.listed(axis), out, stream), x, "flip", change, stream)
    if change:
        axis = _run.listed(axis)
        return _arithmetic.moved(x, "flip", _changes.flipped(axis, "flip"), change, out, stream, (axis,))
    return _faro.run(x, _run.FLIP, _run.listed(axis), out, stream)


def roll(x: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None, *, inverse: bool = False,
         out: Any = None, stream: Any = None, in_place: bool = False, **change: Unpack[Change]) -> Any:
    """The elements shifted along an axis, and round its end, as ``numpy.roll``; ``axis=None``: along the flat array.
    ``inverse=True`` shifts them back. ``in_place=True`` shifts those of ``x``, an array that is dense in any order, where they are, in two sweeps an
    axis, on a GPU one where rows fit a block's memory. Raises FaroValueError for an axis that there is not, or other counts of
    both.

    >>> import numpy as np, faro
    >>> faro.roll(np.arange(5), 2).tolist()
    [3, 4, 0, 1, 2]
    """
    shifts: Any = _run.listed(shift)
    if inverse:
        back = tuple(-_run.whole(s, "roll", "a shift of") for s in (shifts if isinstance(shifts, tuple) else (shifts,)))
        shifts = back if isinstance(shifts, tuple) else back[0]
    axes = _run.listed(axis)
    if in_place:
        return _arithmetic.in_place(functools.partial(_in_place.roll, x, shifts, axes, out, stream), x, "roll", change, stream)
    if change:
        return _arithmetic.by_map(x, "roll", functools.partial(_roll_of, shifts, axes), functools.partial(roll, x, shifts, axes, stream=stream),
                                  change, out, stream, (shifts, axes))
    if axes is None and _is_ndarray(x) and not x.flags.c_contiguous:
        _outputs.check_apart(x, out, "roll")
        x = _faro.run(x, _run.COPY, None, None, None)
    return _faro.run(x, _run.ROLL, (shifts, axes), out, stream)


def _roll_of(shifts: Any, axes: Any, array: Any) -> tuple[Any, int, tuple[int, ...]]:
    return _rolled(array.shape, shifts, axes)._handle, 1, array.shape


def permute(x: Any, by: "str | maps.Map", *, inverse: bool = False, axis: int | None = None, out: Any = None,
            stream: Any = None, in_place: bool = False, **change: Unpack[Change]) -> Any:
    """Element ``i`` of the flat array goes to ``m(i)``: ``result.flat[m(i)] = x.flat[i]``.

    ``by`` is a map, or its text form (docs/guide/maps.md), which takes its size from ``x``. ``inverse=True`` goes the
    other way, a gather. ``axis``: the map permutes along this axis alone. Texts that name axes give the result its shape;
    else it is ``x``'s. ``in_place=True`` permutes ``x``, a dense array, where it is, and returns it.

    Raises FaroValueError for a text that cannot be read and sizes that do not fit; FaroUnsupportedError in place for
    what is neither affine nor a transposition.

    >>> import numpy as np, faro
    >>> faro.permute(np.arange(8), "bit_reversal").tolist()
    [0, 4, 2, 6, 1, 5, 3, 7]
    >>> faro.permute(np.arange(6).reshape(2, 3), "transpose").shape
    (3, 2)
    """
    if not isinstance(by, (str, maps.Map)):
        refuse("permute", f"a {type(by).__name__}", "a map or its text", kind=FaroTypeError)
    if change and in_place:
        move = functools.partial(permute, x, by, inverse=inverse, axis=axis, out=out, stream=stream, in_place=True)
        return _arithmetic.in_place(move, x, "permute", change, stream)
    if change and axis is not None:
        return _changed_along(x, by, inverse, axis, change, out, stream)
    if change:
        return _arithmetic.by_map(x, "permute", functools.partial(_mapped, by, inverse),
                                  functools.partial(permute, x, by, inverse=inverse, stream=stream), change, out, stream, (by, bool(inverse)))
    if axis is not None:
        return _along(x, by, inverse, axis, out, stream, in_place)
    if in_place:
        return _in_place.permute(x, _text_or_map(by, inverse), out, stream)
    if isinstance(by, str):
        return _faro.run(x, _run.TEXT, (by, bool(inverse)), out, stream)
    given = _kinds.read(x, "permute")
    if not _kinds.is_masked(given) and not _dense(given):
        _outputs.check_apart(x, out, "permute")
        given = ascontiguousarray(given)
    return _faro.run(given, _run.MAP, ~by if inverse else by, out, stream)


def bit_reverse(x: Any, axis: int | None = None, *, inverse: bool = False, out: Any = None, stream: Any = None,
                in_place: bool = False, **change: Unpack[Change]) -> Any:
    """Element ``i`` goes to the reverse of i's bits, along ``axis`` or the flat array: what a Fourier transform needs
    before or after it. Its own inverse. Raises FaroValueError where the extent is no power of two.

    >>> import numpy as np, faro
    >>> faro.bit_reverse(np.arange(4)).tolist()
    [0, 2, 1, 3]
    """
    return permute(x, "bit_reversal", axis=axis, out=out, stream=stream, in_place=in_place, **change)


def permute_qubits(state: Any, order: Sequence[int], *, little_endian: bool = False, inverse: bool = False,
                   out: Any = None, stream: Any = None, in_place: bool = False, **change: Unpack[Change]) -> Any:
    """The qubits of state vectors in another order: qubit k of the result is qubit ``order[k]`` of ``state``.

    ``state`` has 2^n amplitudes in its last axis, or n axes of two, and any axes before them. ``little_endian=False``:
    qubit 0 is the highest index bit, as in PennyLane and Cirq, and the call is ``numpy.transpose`` of n axes of two;
    ``True``: qubit 0 is the lowest, as in Qiskit. ``in_place=True`` permutes ``state``, a dense array, where it is. Raises
    FaroValueError for another number of amplitudes and for what is no order of the qubits.

    >>> import numpy as np, faro
    >>> faro.permute_qubits(np.arange(8), (2, 0, 1)).tolist()
    [0, 2, 4, 6, 1, 3, 5, 7]
    """
    order = _run.inverse_order(order, "permute_qubits") if inverse else _run.listed(order)
    if not isinstance(order, tuple):
        refuse("permute_qubits", f"the order {order!r}", "a sequence of qubits", kind=FaroTypeError)
    if in_place:
        n = len(order)
        axes = _run.qubit_axes(order, bool(little_endian))
        to = [0] * n
        for place, source in enumerate(axes):
            to[n - 1 - source] = n - 1 - place
        by = maps.bits(to)
        before = _run.before_qubits(_arrays.describe(state, writable=True).shape, n)
        return _arithmetic.in_place(lambda: _in_place.permute(state, by, out, stream, math.prod(before)), state, "permute_qubits", change, stream)
    if change:
        return _arithmetic.moved(state, "permute_qubits", _changes.of_qubits(order, little_endian), change, out, stream,
                                 (order, bool(little_endian)))
    return _faro.run(state, _run.QUBITS, (order, bool(little_endian)), out, stream)


def rearrange(x: Any, pattern: str, *, inverse: bool = False, out: Any = None, stream: Any = None, in_place: bool = False,
              **named: Any) -> Any:
    """The axes as a pattern of einops says, without sums or repeats. ``inverse=True``: from its right side to its left.
    ``in_place=True``: as ``permute_dims``. Other words are lengths of axes that the pattern names, and the keywords of ``permute_dims``.
    Raises FaroValueError for a pattern that does not fit ``x``.

    >>> import numpy as np, faro
    >>> faro.rearrange(np.zeros((2, 6, 5)), "b (h d) s -> b h s d", h=3).shape
    (2, 3, 5, 2)
    """
    if not isinstance(pattern, str):
        refuse("rearrange", f"a {type(pattern).__name__}", "a pattern such as 'b s h d -> b h s d'", kind=FaroTypeError)
    if "->" not in pattern:
        refuse("rearrange", f"{pattern!r}", "a pattern such as 'b s h d -> b h s d'", "permute() takes the names of maps")
    lengths, change = _changes.apart(pattern, named)
    said = pattern + "".join(f", {name}={_run.whole(length, 'rearrange', f'{name} =', 0)}" for name, length in lengths.items())
    if in_place:
        return _arithmetic.in_place(lambda: _in_place.permute(x, _text_or_map(said, inverse), out, stream), x, "rearrange", change, stream)
    view = _changes.of_pattern(pattern, tuple(x.shape), inverse, lengths) if change and hasattr(x, "shape") else None
    if view is not None:
        return _arithmetic.moved(x, "rearrange", lambda _: view, change, out, stream, (said, bool(inverse)))
    if change:
        return _arithmetic.by_map(x, "rearrange", lambda array: _mapped(said, inverse, array),
                                  lambda: rearrange(x, pattern, inverse=inverse, stream=stream, **lengths), change, out, stream)
    return _faro.run(x, _run.TEXT, (said, bool(inverse)), out, stream)


def aos_to_soa(x: Any, *, inverse: bool = False, out: Any = None, stream: Any = None, in_place: bool = False,
               **change: Unpack[Change]) -> Any:
    """An array of structures as a structure of arrays: shape (n, words) becomes (words, n). A one-dimensional
    structured array of NumPy whose fields are all of one type becomes (fields, n) of that type. ``inverse=True``:
    ``soa_to_aos``. ``in_place=True``: in one array, of any numbers of structures and words. Raises FaroValueError for other
    shapes and for structures of several types.

    >>> import numpy as np, faro
    >>> points = np.array([(1, 2), (3, 4)], dtype=[("x", "i4"), ("y", "i4")])
    >>> faro.aos_to_soa(points).tolist()
    [[1, 3], [2, 4]]
    """
    if inverse:
        return soa_to_aos(x, out=out, stream=stream, in_place=in_place, **change)
    fields = getattr(getattr(x, "dtype", None), "fields", None)
    if fields:
        types, places = zip(*(fields[name][:2] for name in x.dtype.names))
        width = types[0].itemsize
        whole = places == tuple(k * width for k in range(len(places))) and width * len(places) == x.dtype.itemsize
        if len(set(types)) != 1 or not whole or types[0].shape or types[0].fields:
            refuse("aos_to_soa", f"structures of {x.dtype}", "fields of numbers of one type, in their order and without gaps")
        if in_place and not _arrays.is_dense(_arrays.describe(x, writable=True)):
            refuse("aos_to_soa", "structures with strides in place", "a dense array", "leave in_place= out")
        if not in_place:
            _outputs.check_apart(x, out, "aos_to_soa")
            x = ascontiguousarray(x)
        if _kinds.is_masked(x):
            return _kinds.with_mask(x, aos_to_soa, out, "aos_to_soa")
        x = x.view(types[0]).reshape(*x.shape, len(types))
    if _rank(x) != 2:
        refuse("aos_to_soa", f"an array of {_rank(x)} axes", "shape (structures, words)")
    return permute_dims(x, (1, 0), out=out, stream=stream, in_place=in_place, **change)


def soa_to_aos(x: Any, *, inverse: bool = False, out: Any = None, stream: Any = None, in_place: bool = False,
               **change: Unpack[Change]) -> Any:
    """A structure of arrays as an array of structures: shape (words, n) becomes (n, words). The rest as ``aos_to_soa``,
    its inverse.

    >>> import numpy as np, faro
    >>> faro.soa_to_aos(np.array([[1, 3], [2, 4]])).tolist()
    [[1, 2], [3, 4]]
    """
    if _rank(x) != 2:
        refuse("soa_to_aos", f"an array of {_rank(x)} axes", "shape (words, structures)")
    if inverse:
        return aos_to_soa(x, out=out, stream=stream, in_place=in_place, **change)
    return permute_dims(x, (1, 0), out=out, stream=stream, in_place=in_place, **change)


# --- what they share


def _rank(x: Any) -> int:
    return len(x.shape if hasattr(x, "shape") else _arrays.describe(x).shape)


def _is_ndarray(x: Any) -> bool:
    """Whether it is an array of NumPy and no subclass, which knows by itself whether it is dense."""
    np = _arrays.numpy()
    return np is not None and x.__class__ is np.ndarray


def _dense(x: Any) -> bool:
    if _arrays.is_recorded(x):
        return x.is_contiguous()
    if _arrays.is_of_jax(x):
        _arrays.check_jax(x, "ascontiguousarray")
        return True
    array = _arrays.describe(x)
    return x.is_contiguous() if _arrays.is_tensor(x) else _arrays.is_dense(array)


def _text_or_map(by: "str | maps.Map", inverse: bool) -> "str | maps.Map":
    if isinstance(by, str):
        return _run._inverse_text(by) if inverse else by
    return ~by if inverse else by


def _rolled(shape: tuple[int, ...], shifts: Any, axes: Any) -> "maps.Map":
    count = math.prod(shape)
    if count == 0 or axes is None:
        total = sum(_run.whole(s, "roll", "a shift of") for s in (shifts if isinstance(shifts, tuple) else (shifts,)))
        return maps.roll(count, total % max(count, 1))
    rolls = " ".join(str(s % e) for s, e in zip(_run._shifts(shifts, axes, len(shape)), shape))
    order = " ".join(map(str, range(len(shape))))
    return maps.parse(f"axes({' '.join(map(str, shape))}; {order}; {rolls};)") if shape else maps.roll(1, 0)


def _mapped(by: "str | maps.Map", inverse: bool, array: _arrays.Array) -> tuple[Any, int, tuple[int, ...]] | None:
    """The map that a dense array of this shape is permuted by, and the result's shape; None of a text that is no permutation."""
    dense = _arrays.dense_strides(array.shape, array.itemsize)
    if not isinstance(by, str):
        chosen = ~by if inverse else by
        _run._plan_on(_run.MAP, array.shape, dense, array.itemsize, chosen, None)  # refuses another count
        return chosen._handle, 1, array.shape
    if by.lstrip().startswith("strided"):
        return None
    _, shape = _run._plan_on(_run.TEXT, array.shape, dense, array.itemsize, (by, bool(inverse)), None)
    said = _run._inverse_text(by) if inverse else by
    if not array.shape and "->" in said:
        said = f"1 {said}"
    return _parsed(said, array.shape or (1,))._handle, 1, shape


@functools.lru_cache(maxsize=256)
def _parsed(text: str, shape: tuple[int, ...]) -> "maps.Map":
    return maps.parse(text, shape)


def _changed_along(x: Any, by: "str | maps.Map", inverse: bool, axis: int, change: Any, out: Any, stream: Any) -> Any:
    """Slices along the axis are rows, taken by the map's inverse."""
    def rows_of(array: _arrays.Array) -> tuple[_arithmetic.Rows, tuple[int, ...]]:
        chosen, k = _chosen_along(array, by, inverse, axis)
        return _arithmetic.Rows(entries_of_images(~chosen), chosen.count, math.prod(array.shape[:k]), math.prod(array.shape[k + 1 :])), array.shape

    return _arithmetic.taken(x, "permute", rows_of, lambda: permute(x, by, inverse=inverse, axis=axis, stream=stream), change, None, out, stream)


def entries_of_images(by: "maps.Map") -> IndexEntries:
    import array as plain

    images = plain.array("Q", bytes(8 * by.count))
    by._handle.images(images.buffer_info()[0])
    return IndexEntries(images.buffer_info()[0], by.count, 8, False, (by.count,), images)


def _along(x: Any, by: "str | maps.Map", inverse: bool, axis: int, out: Any, stream: Any, in_place: bool) -> Any:
    """Every slice along the axis is permuted alike: arrays of rows, or of elements where the axis is the last."""
    recorder = None if in_place else _run.recording("permute", (x,), out, stream)
    if recorder is not None:
        return recorder.permute_recorded(x, by, inverse, axis)
    if not in_place and _arrays.by_jax("permute", x, out=out, stream=stream):
        return _libraries.functions_for("jax").permute(x, by, inverse=inverse, axis=axis)
    given = x if in_place else _kinds.read(x, "permute")
    if _kinds.is_masked(given) and not in_place:
        return _kinds.with_mask(given, lambda part: _along(part, by, inverse, axis, None, stream, False), out, "permute")
    x = given
    array = _arrays.describe(x, writable=in_place)
    chosen, k = _chosen_along(array, by, inverse, axis)
    if in_place:
        return _in_place.along(x, chosen, k, out, stream)
    beside = _outputs.reads(out, input=array)
    if not _arrays.is_dense(array):
        x = ascontiguousarray(x)
        array = _arrays.describe(x)
    outer = math.prod(array.shape[:k])
    row_bytes = math.prod(array.shape[k + 1 :]) * array.itemsize
    queue = _run.stream_of(array, stream, "permute")
    target, finished = _run.result_of(x, array, out, array.shape, "permute", queue, beside=beside)
    if array.size and row_bytes:
        if row_bytes > _run._MOST_BYTES and array.device is not None:
            chosen, row_bytes = _in_place.widened(chosen, row_bytes)
        if row_bytes <= _run._MOST_BYTES:
            _along_elements(chosen, row_bytes, outer, array, target, queue)
        elif array.device is None:
            _along_rows(chosen, row_bytes, outer, array, target)
        else:
            refuse("permute", f"rows of {row_bytes} bytes on a GPU", "rows of at most 4096 bytes, or so many times a power of two and an affine map",
                   "take() of the inverse map's indices on the GPU")
    return finished()


def _chosen_along(array: _arrays.Array, by: "str | maps.Map", inverse: bool, axis: int) -> "tuple[maps.Map, int]":
    k = _run.axis_of(axis, len(array.shape), "permute")
    extent = array.shape[k]
    chosen = _chosen(by, extent, bool(inverse)) if isinstance(by, str) else ~by if inverse else by
    if chosen.count != extent:
        refuse("permute", f"axis {k} of {extent}", f"{chosen.count}, as the map has")
    return chosen, k


@functools.lru_cache(maxsize=256)
def _chosen(text: str, extent: int, inverse: bool) -> "maps.Map":
    """The same map for the same text, by which plans are kept."""
    chosen = maps.parse(text, (extent,))
    return ~chosen if inverse else chosen


def _along_elements(chosen: "maps.Map", width: int, outer: int, array: Any, target: Any, queue: int) -> None:
    handle = _plan_along(chosen._handle, width, outer, array.device)
    handle.run(array.address, target.address, queue)


@functools.lru_cache(maxsize=256)
def _plan_along(map_handle: Any, width: int, outer: int, device: int | None) -> Any:
    """Kept by the map itself, of which the cache keeps one."""
    return _faro.plan_map(map_handle, width, _run.options("cpu" if device is None else "cuda", device=device, batch=outer))


def _along_rows(chosen: "maps.Map", row_bytes: int, outer: int, array: Any, target: Any) -> None:
    entries = entries_of_images(chosen)
    rows = _faro.Rows.make(entries.address, chosen.count, 8, False, chosen.count, outer, row_bytes, 0)
    _faro.put(rows, array.address, target.address)
