"""Networks: programs of permutations and operations on pairs, run in few sweeps over memory."""

from __future__ import annotations

import functools
import math
import re as _re
import sys
from typing import Any

from . import _arrays, _faro, _kinds, _outputs, _run
from ._errors import FaroTypeError, refuse

__all__ = ["network", "explain_network", "sort", "walsh_hadamard", "fft"]

_ELEMENTS = {"i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}


def _element_of(array: _arrays.Array) -> str:
    element = _ELEMENTS.get(_arrays.kind_of(array))
    if element is None or not getattr(array.dtype, "isnative", True):
        refuse("run a network", f"elements {array.dtype}", "32- and 64-bit integers and floats, complex64 or complex128",
               kind=FaroTypeError)
    return element


@functools.lru_cache(maxsize=64)
def _plan(program: str, bits: int, element: str, batch: int, threads: int, device: int | None) -> Any:
    """Kept, for it takes milliseconds, on a GPU half a second."""
    engine, number = (1, 0) if device is None else (2, device + 1)
    return _faro.NetworkPlan.make(program, bits, element, batch, engine, threads, number)


def network(x: Any, program: str, axis: int = -1, *, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """The program on every slice along ``axis``, which has a power of two of elements: ``"sort"``, ``"wht"``, ``"fft"``,
    ``"parm(3; wht) . bmmc(bit_reversal)"``, … (docs/guide/network.md has the grammar). Elements are 32- and 64-bit
    integers and floats, complex64 and complex128. Arrays on a GPU are taken there, their kernel compiled at the first call.

    Raises FaroValueError for a program that cannot be read and for another extent, FaroTypeError for other elements,
    FaroDeviceError where no kernel can be compiled.

    >>> import numpy as np, faro
    >>> faro.network(np.array([1.0, 2.0, 3.0, 4.0], np.complex64), "fft").tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    if not isinstance(program, str):
        refuse("run a network", f"a program that is a {type(program).__name__}", "its text", kind=FaroTypeError)
    recorder = _run.recording("run a network", (x,), out, stream)
    if recorder is not None:
        return recorder.network(x, program, axis)
    _arrays.refuse_jax("network", _arrays.OUTSIDE_JAX, x)
    x = _kinds.read(x, "run a network")
    array = _arrays.describe(x)
    rank = len(array.shape)
    if rank == 0:
        refuse("run a network", "a single number", "an array")
    k = _run.axis_of(axis, rank, "run a network")
    extent = array.shape[k]
    if extent == 0 or extent & (extent - 1):
        refuse("run a network", f"an axis of {extent}", "a power of two")
    queue = _run.stream_of(array, stream, "run a network")
    element = _element_of(array)
    wanted = None if out is None else _outputs.check_out(x, array, out, array.shape, "run a network")
    order = tuple(a for a in range(rank) if a != k) + (k,)
    last = k == rank - 1
    moved = _faro.run(x, _run.PERMUTE_DIMS, order, None, stream) if not last or not _arrays.is_dense(array) else x
    source = _arrays.describe(moved)
    # An output with the axis at its place takes a second array where the axis is not the last.
    direct = last and (wanted is None or _arrays.is_dense(wanted))
    made = out if direct and out is not None else source.new(source.shape)
    target = _arrays.describe(made, writable=True)
    batch = math.prod(source.shape[:-1])
    if batch:
        count = _run.threads_of(threads, "run a network")
        plan = _plan(program, extent.bit_length() - 1, element, batch, count, array.device)
        plan.run(source.address, target.address, queue)
    if direct:
        return made if out is not None else _arrays.given_back(x, made)
    back = [0] * rank
    for place, a in enumerate(order):
        back[a] = place
    return _faro.run(_arrays.given_back(x, made), _run.PERMUTE_DIMS, tuple(back), out, stream)


def explain_network(program: str, bits: int, element: str = "f32") -> str:
    """What ``network`` would do on arrays of 2^bits elements on the host, in words.

    >>> "2^20 elements of 4 bytes" in explain_network("sort", 20, "u32")
    True
    """
    for text in (program, element):
        if not isinstance(text, str):
            refuse("explain a network", f"a {type(text).__name__}", "a text", kind=FaroTypeError)
    return str(_faro.network_explain(program, _run.whole(bits, "explain a network", "bits", 0, 63), element))


def sort(x: Any, axis: int | None = -1, *, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """Sorted along ``axis`` (None: the flat array), by a sorting network: n log^2 n comparisons, whatever the values, and the same on a GPU. Floats
    are in IEEE 754's total order: -nan, -inf, …, -0.0, 0.0, …, inf, nan.

    An axis of a power of two is sorted as it is; another is filled up to the next one first, and elements of 8 and 16 bits are
    sorted by keys of 32. The result has the bits of the input, of NaNs, too. Raises FaroTypeError for elements that have no order.

    >>> import numpy as np, faro
    >>> faro.sort(np.array([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    recorder = _run.recording("sort", (x,), out, stream)
    if recorder is not None:
        return recorder.sort(x, axis)
    _arrays.refuse_jax("sort", "jax.numpy.sort() sorts it", x)
    x = _kinds.read(x, "sort")
    array = _arrays.describe(x)
    if _arrays.widened(array.dtype):
        refuse("sort", f"elements {array.dtype}", "numbers of whole bytes", _arrays.widened(array.dtype), kind=FaroTypeError)
    if out is not None:
        _outputs.check_out(x, array, out, (array.size,) if axis is None else array.shape, "sort")
    if _arrays.is_jax(x) and array.device is None:
        ordered = sort(array.keep, axis, out=out, stream=stream, threads=threads)
        return ordered if out is not None else _arrays.given_back(x, ordered)
    if axis is None:
        x, axis = _flat(x), -1
        array = _arrays.describe(x)
    kind = _arrays.kind_of(array)
    if array.itemsize <= 2 and (kind[:1] in "iub" or _bits_of_float(array.dtype)):
        return _sort_narrow(x, array, kind, axis, out, stream, threads)
    if kind[:1] in "iuf" and not getattr(array.dtype, "isnative", True):  # NumPy's of the other byte order
        ordered = sort(x.astype(array.dtype.newbyteorder("=")), axis, threads=threads).astype(array.dtype)
        return ordered if out is None else _faro.run(ordered, _run.COPY, None, out, None)
    rank = len(array.shape)
    if rank == 0:
        refuse("sort", "a single number", "an array")
    k = _run.axis_of(axis, rank, "sort")
    extent = array.shape[k]
    if kind[:1] not in "iuf":
        refuse("sort", f"elements {array.dtype}", "numbers that have an order", kind=FaroTypeError)
    if extent > 0 and extent & (extent - 1) == 0:
        return network(x, "sort", k, out=out, stream=stream, threads=threads)
    if array.size == 0:
        return _faro.run(x, _run.COPY, None, out, stream)
    _element_of(array)
    return _sort_filled(x, array, k, kind, out, stream, threads)


def _sort_filled(x: Any, array: _arrays.Array, k: int, kind: str, out: Any, stream: Any, threads: int) -> Any:
    """Sorted with as many of the greatest behind it as make a power of two; they come out last, and are cut off."""
    extent = array.shape[k]
    longer = 1 << extent.bit_length()
    bits = 8 * array.itemsize
    top = (1 << (bits if kind[0] == "u" else bits - 1)) - 1
    if array.device is None:
        from ._rows import take

        places = list(range(extent)) + [-1] * (longer - extent)
        filled = take(x, places, k, fill=top.to_bytes(array.itemsize, sys.byteorder))
    else:
        filled = array.new(array.shape[:k] + (longer,) + array.shape[k + 1 :])
        here = (slice(None),) * k
        filled[here + (slice(0, extent),)] = x
        whole = filled.view(f"i{array.itemsize}") if not _arrays.is_tensor(filled) else filled.view(
            getattr(sys.modules["torch"], f"int{bits}"))
        whole[here + (slice(extent, None),)] = top - (1 << bits if kind[0] == "u" else 0)
    done = network(filled, "sort", k, stream=stream, threads=threads)
    source = _arrays.describe(done)
    made = array.new(array.shape) if out is None else out
    target = _arrays.describe(made, writable=True)
    cut = _run.view(array.shape, source.strides, target.strides, 0, array.itemsize, _run.options_for(array.device))
    cut.run(source.address, target.address, _run.stream_of(array, stream, "sort"))
    return made if out is not None else _arrays.given_back(x, made)


def _bits_of_float(dtype: Any) -> int:
    """How many bits a narrow float has, a sign above the others; 0 for other elements."""
    name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    found = _re.fullmatch(r"b?float(\d+)(_e\d+m\d+\w*)?", name)
    return int(found[1]) if found and not name.endswith("x2") else 16 if dtype == (4, 16, 1) else 0


def _sort_narrow(x: Any, array: _arrays.Array, kind: str, axis: int, out: Any, stream: Any, threads: int) -> Any:
    """Elements of 8 and 16 bits by keys of 32, which are made of their bits and give them back: those of NaNs, too."""
    bits = 8 * array.itemsize
    if _arrays.is_tensor(x):
        torch: Any = sys.modules["torch"]
        raw = x.detach().view(torch.uint8 if bits == 8 else torch.int16)
        wide, narrow = raw.to(torch.int32), lambda keys: keys.to(raw.dtype).view(x.dtype)
    elif hasattr(x, "astype"):
        order = "=" if getattr(x.dtype, "byteorder", "=") != ">" else ">"
        raw = x.view(f"{order if order == '>' else ''}u{array.itemsize}")
        wide, narrow = raw.astype("int32"), lambda keys: keys.astype(raw.dtype).view(x.dtype)
    else:
        refuse("sort", f"elements {array.dtype} of a {type(x).__name__}", "elements of 32 or 64 bits",
               "numpy.asarray(x) has them as an array of NumPy", kind=FaroTypeError)
    keys = _exchanged(wide & ((1 << bits) - 1), array.dtype, kind, bits)
    ordered = narrow(_exchanged(sort(keys, axis, stream=stream, threads=threads), array.dtype, kind, bits, back=True))
    return ordered if out is None else _faro.run(ordered, _run.COPY, None, out, stream)


def _exchanged(wide: Any, dtype: Any, kind: str, bits: int, back: bool = False) -> Any:
    """Numbers of bits, as numbers of the same order as the elements, and those back."""
    name = getattr(dtype, "name", str(dtype))
    of_float = _bits_of_float(dtype)
    if kind[0] in "ub" or name.endswith("e8m0fnu"):  # this float has no sign
        return wide
    if not of_float:
        half = 1 << (bits - 1)
        return wide & ((1 << bits) - 1) if back else (wide ^ half) - half
    sign = 1 << (of_float - 1)
    if back:
        signed = wide ^ ((wide >> 31) & (sign - 1))
        return signed & ((1 << of_float) - 1)
    signed = wide - ((wide & sign) << 1)
    ordered = signed ^ ((signed >> 31) & (sign - 1))
    if name.endswith("fnuz"):  # which has one NaN in the place of -0, and no sign for it
        ordered = ordered + (wide == sign) * (sign + 1)
    return ordered


def _flat(x: Any) -> Any:
    from ._functions import ascontiguousarray

    return _kinds.flat(ascontiguousarray(x))


def _scaled(program: str, x: Any, axis: int, inverse: bool, operation: str) -> str:
    """The inverse of a transform that is n times its own inverse, or its conjugate's."""
    if not inverse:
        return program
    array = _arrays.describe(x)
    if _arrays.kind_of(array)[:1] not in "fc":
        refuse(operation, f"the inverse of elements {array.dtype}", "floats or complex numbers", kind=FaroTypeError)
    extent = array.shape[_run.axis_of(axis, len(array.shape), operation)] if array.shape else 1
    if extent < 2:
        return program
    return f"each(multiply {1 / extent!r}) . {program}"


def walsh_hadamard(x: Any, axis: int = -1, *, inverse: bool = False, out: Any = None, stream: Any = None,
                   threads: int = 0) -> Any:
    """The Walsh-Hadamard transform along ``axis``, a power of two of elements, in natural order, unscaled; ``inverse=True``
    divides by their number, so that it takes the transform back. ``maps.sequency(n)`` brings the result to sequency order,
    ``maps.bit_reversal(n)`` to dyadic (Paley) order.

    >>> import numpy as np, faro
    >>> faro.walsh_hadamard(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
    [2.0, 0.0, 0.0, 2.0]
    >>> faro.permute(faro.walsh_hadamard(np.arange(4.0)), faro.maps.sequency(2)).tolist()
    [6.0, -4.0, 0.0, -2.0]
    """
    recorder = _run.recording("transform", (x,), out, stream)
    if recorder is not None:
        return recorder.walsh_hadamard(x, axis, inverse=inverse)
    _arrays.refuse_jax("walsh_hadamard", _arrays.OUTSIDE_JAX, x)
    x = _kinds.read(x, "transform")
    program = _scaled("wht", x, axis, inverse, "transform")
    return network(x, program, axis, out=out, stream=stream, threads=threads)


def fft(x: Any, axis: int = -1, *, inverse: bool = False, out: Any = None, stream: Any = None, threads: int = 0) -> Any:
    """The discrete Fourier transform along ``axis``, a power of two of complex numbers, as ``numpy.fft.fft``, and with
    ``inverse=True`` as ``numpy.fft.ifft``. In the elements' own precision.

    >>> import numpy as np, faro
    >>> faro.fft(np.array([1, 2, 3, 4], np.complex64)).tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    recorder = _run.recording("transform", (x,), out, stream)
    if recorder is not None:
        return recorder.fft(x, axis, inverse=inverse)
    _arrays.refuse_jax("fft", "jax.numpy.fft.fft() transforms it", x)
    x = _kinds.read(x, "transform")
    array = _arrays.describe(x)
    if _arrays.kind_of(array)[:1] != "c":
        refuse("transform", f"elements {array.dtype}", "complex64 or complex128", kind=FaroTypeError)
    program = _scaled("inverse_fft", x, axis, True, "transform") if inverse else "fft"
    return network(x, program, axis, out=out, stream=stream, threads=threads)
