"""Networks: programs of permutations and operations on pairs, run in few sweeps over memory. On the host."""

from __future__ import annotations

import math
from typing import Any

from . import _arrays, _faro, _run
from ._errors import FaroTypeError, FaroUnsupportedError, refuse

__all__ = ["network", "explain_network", "sort", "walsh_hadamard"]

_ELEMENTS = {"i4": "i32", "u4": "u32", "i8": "i64", "u8": "u64", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128"}


def _element_of(array: _arrays.Array) -> str:
    dtype = array.dtype
    kind = getattr(dtype, "kind", None)
    if kind is None:
        name = str(dtype).rpartition(".")[2]
        kind = {"float": "f", "int": "i", "uint": "u", "complex": "c"}.get(name.rstrip("0123456789"), "?")
    element = _ELEMENTS.get(f"{kind}{array.itemsize}")
    if element is None or not getattr(dtype, "isnative", True):
        refuse("run a network", f"elements {dtype}", "32- and 64-bit integers and floats, complex64 or complex128",
               kind=FaroTypeError)
    return element


def network(x: Any, program: str, axis: int = -1, *, out: Any = None, threads: int = 0) -> Any:
    """The program on every slice along ``axis``, which has a power of two of elements: ``"sort"``, ``"wht"``, ``"fft"``,
    ``"parm(3; wht) . bmmc(bit_reversal)"``, … (docs/guide/network.md has the grammar).

    >>> import numpy as np, faro
    >>> faro.network(np.array([1.0, 2.0, 3.0, 4.0], np.complex64), "fft").tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    array = _arrays.describe(x)
    if array.device is not None:
        refuse("run a network", "an array on a GPU", "an array of the host", kind=FaroUnsupportedError)
    rank = len(array.shape)
    k = _run.axis_of(axis, rank, "run a network")
    extent = array.shape[k]
    if extent == 0 or extent & (extent - 1):
        refuse("run a network", f"an axis of {extent}", "a power of two")
    order = tuple(a for a in range(rank) if a != k) + (k,)
    last = k == rank - 1
    moved = _faro.run(x, _run.PERMUTE_DIMS, order, None, None) if not last or not _arrays.is_dense(array) else x
    source = _arrays.describe(moved)
    # An output with the axis at its place takes a second array where the axis is not the last.
    direct = last and (out is None or _arrays.is_dense(_run.check_out(x, array, out, array.shape, "run a network")))
    made = out if direct and out is not None else source.new(source.shape)
    target = _arrays.describe(made, writable=True)
    batch = math.prod(source.shape[:-1])
    if batch:
        bits = extent.bit_length() - 1
        _faro.network_run(program, bits, _element_of(array), batch, threads, source.address, target.address)
    if direct:
        return made if out is not None else _arrays.given_back(x, made)
    back = [0] * rank
    for place, a in enumerate(order):
        back[a] = place
    return _faro.run(_arrays.given_back(x, made), _run.PERMUTE_DIMS, tuple(back), out, None)


def explain_network(program: str, bits: int, element: str = "f32") -> str:
    """What ``network`` would do on arrays of 2^bits elements, in words."""
    return str(_faro.network_explain(program, bits, element))


def sort(x: Any, axis: int = -1, *, out: Any = None, threads: int = 0) -> Any:
    """Sorted along ``axis``, a power of two of elements, by a sorting network. Floats are in IEEE 754's total order:
    -nan, -inf, …, -0.0, 0.0, …, inf, nan.

    >>> import numpy as np, faro
    >>> faro.sort(np.array([3, 1, 2, 0])).tolist()
    [0, 1, 2, 3]
    """
    return network(x, "sort", axis, out=out, threads=threads)


def walsh_hadamard(x: Any, axis: int = -1, *, out: Any = None, threads: int = 0) -> Any:
    """The Walsh-Hadamard transform along ``axis`` in natural order, unscaled: done twice it is n times ``x``.

    >>> import numpy as np, faro
    >>> faro.walsh_hadamard(np.array([1.0, 0.0, 0.0, 1.0])).tolist()
    [2.0, 0.0, 0.0, 2.0]
    """
    return network(x, "wht", axis, out=out, threads=threads)
