"""Elements smaller than a byte, packed into the items of arrays, and .bed files.

An item of w bytes holds 8 w / bits elements, the first in its low bits, or with ``bit_order="high"`` in the high bits of its first byte, as
numpy.packbits has them. Arrays are the host's or a GPU's; ml_dtypes' int4 and the like, which NumPy keeps a byte each, are ordinary elements for
``permute_dims``.
"""

from __future__ import annotations

import functools
import json
import math
import os
from typing import Any, NamedTuple, Sequence

from . import _arrays, _faro, _run
from ._errors import FaroTypeError, refuse
from ._map import Map, parse
from ._stores import _path

__all__ = ["permute_bits", "transpose_bed"]

_MOST_BITS = 32768


def _options(bits: int, bit_order: str, threads: int, operation: str, **more: Any) -> str:
    if bit_order not in ("low", "high"):
        refuse(operation, f"bit_order {bit_order!r}", "'low' or 'high'")
    return json.dumps({
        "bits": _run.whole(bits, operation, "bits =", 1, _MOST_BITS), "in_order": bit_order, "out_order": bit_order,
        "threads": _run.threads_of(threads, operation), **more,
    })


class _Asked(NamedTuple):
    """A map, what is asked for of it, and the bytes of both arrays."""

    handle: Any
    options: str
    sizes: tuple[int, int]


def _asked(handle: Any, options: str) -> _Asked:
    return _Asked(handle, options, _faro.packed_bytes(handle, options))


@functools.lru_cache(maxsize=256)
def _asked_axes(extents: tuple[int, ...], order: tuple[int, ...], options: str) -> _Asked:
    return _asked(_faro.map_from_axes(list(extents), list(order)), options)


@functools.lru_cache(maxsize=256)
def _asked_text(text: str, options: str) -> _Asked:
    return _asked(parse(text)._handle, options)


def _dense(x: Any, operation: str, writable: bool = False) -> _arrays.Array:
    array = _arrays.describe(x, writable=writable)
    if not _arrays.is_dense(array):
        refuse(operation, f"strides {array.strides} of an array with bits=", "a dense array", "faro.ascontiguousarray(x) makes one")
    return array


def _moved(x: Any, asked: _Asked, items: Any, out: Any, operation: str) -> Any:
    """``items``: the result's shape in items, or None: as many as it takes, in one row."""
    array = _dense(x, operation)
    in_bytes, out_bytes = asked.sizes
    if array.size * array.itemsize != in_bytes:
        refuse(operation, f"an array of {array.size * array.itemsize} bytes", f"{in_bytes} bytes for the elements of the permutation")
    shape = (out_bytes // array.itemsize,) if items is None else items
    target, finished = _run.result_of(x, array, out, shape, operation, array.stream)
    _faro.packed_permute(asked.handle, asked.options, array.address, in_bytes, target.address, out_bytes, array.stream)
    return finished()


def _in_items(shape: Sequence[int], bits: int, itemsize: int) -> tuple[int, ...] | None:
    """Elements of the last axis as items, where they are whole ones."""
    per_row = shape[-1] * bits
    return (*shape[:-1], per_row // (8 * itemsize)) if shape and per_row % (8 * itemsize) == 0 else None


def permute_dims(x: Any, axes: Sequence[int] | None, bits: Any, shape: Any, bit_order: str, out: Any) -> Any:
    operation = "permute_dims"
    if bits is None:
        refuse(operation, "shape= without bits=", "both")
    array = _dense(x, operation)
    whole = _run.whole(bits, operation, "bits =", 1, _MOST_BITS)
    if shape is None:
        if not array.shape or array.itemsize * 8 % whole:
            refuse(operation, f"bits={whole} without shape=", "the shape of the elements", "shape=(rows, columns) says it")
        shape = (*array.shape[:-1], array.shape[-1] * array.itemsize * 8 // whole)
    extents = _run.shape_of(shape, operation)
    order = tuple(range(len(extents)))[::-1] if axes is None else _run.order_of(axes, len(extents), operation)
    items = _in_items([extents[axis] for axis in order], whole, array.itemsize)
    if 0 in extents:  # there is a map of one axis of no elements
        extents, order = (0,), (0,)
    options = _options(whole, bit_order, 0, operation, zero_pads=True)
    return _moved(x, _asked_axes(tuple(extents), tuple(order), options), items, out, operation)


def permute_bits(x: Any, map: Map | str, bits: int, *, bit_order: str = "low", out: Any = None, in_place: bool = False,  # noqa: A002
                 threads: int = 0) -> Any:
    """Elements of ``bits`` bits, packed into the items of ``x``, by a map or its text: ``out[m(i)] = x[i]``. The result has one axis, and
    zeros after the last element. ``in_place=True`` changes ``x`` itself and returns it: affine maps of elements of 1, 2 or 4 bits or of
    whole bytes. An array on a GPU is moved there, on its library's stream.

    >>> import numpy as np, faro
    >>> [hex(b) for b in faro.permute_bits(np.array([0x10, 0x32, 0x54, 0x76], "u1"), "reverse(3)", 4)]
    ['0x67', '0x45', '0x23', '0x1']
    """
    operation = "permute_bits"
    if not isinstance(map, (str, Map)):
        refuse(operation, f"a {type(map).__name__}", "a faro.maps.Map or its text", kind=FaroTypeError)
    options = _options(bits, bit_order, threads, operation, zero_pads=not in_place)
    asked = _asked_text(map, options) if isinstance(map, str) else _asked(map._handle, options)
    if not in_place:
        return _moved(x, asked, None, out, operation)
    if out is not None:
        refuse(operation, "out= with in_place=True", "one of them")
    array = _dense(x, operation, writable=True)
    size = math.prod(array.shape) * array.itemsize
    _faro.packed_permute(asked.handle, options, array.address, size, array.address, size, array.stream)
    return x


def transpose_bed(source: str | os.PathLike[str], result: str | os.PathLike[str], *, samples: int = 0, variants: int = 0,
                  memory: int | None = None, threads: int = 0, verify: bool = False) -> None:
    """A PLINK 1 ``.bed`` file in the other of its two orders: variant-major, as PLINK writes it, becomes sample-major, and back. What is not
    given of the two sizes is counted in the lines of the ``.fam`` and ``.bim`` beside the source. Files may be larger than
    ``memory`` bytes; the result is there whole or not at all.

    >>> import tempfile, faro
    >>> folder = tempfile.mkdtemp()
    >>> with open(folder + "/a.bed", "wb") as file:
    ...     _ = file.write(bytes([0x6C, 0x1B, 1, 0b11_10_01, 0b00_00_11]))    # two variants of three samples
    >>> faro.transpose_bed(folder + "/a.bed", folder + "/b.bed", samples=3, variants=2)
    >>> with open(folder + "/b.bed", "rb") as file:
    ...     file.read().hex(" ")
    '6c 1b 00 0d 02 03'
    """
    operation = "transpose_bed"
    paths = [_path(each, operation) for each in (source, result)]
    options = {
        "memory_bytes": 0 if memory is None else _run.whole(memory, operation, "memory =", 1, 2**62),
        "threads": _run.threads_of(threads, operation), "verify": bool(verify),
    }
    rows, columns = (_run.whole(value, operation, f"{name} =", 0, 2**40) for name, value in (("samples", samples), ("variants", variants)))
    _faro.transpose_bed(paths[0], paths[1], rows, columns, json.dumps(options))
