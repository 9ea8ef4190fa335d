"""Numbers of 8 and 4 bits with a scale for each block of them, made and undone in the sweep that permutes.

    x[j] = s[block of j] * q[j]

The formats are those of the Open Compute Project's MX standard and of NVIDIA's FP4. Views of arrays are quantised, of the host or of a GPU; scales
lie row-major along the axes of the data or of the wide array, or in tiles as matrix products of a GPU read them.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple, Sequence

from . import _arithmetic, _arrays, _changes, _faro, _run
from ._errors import FaroTypeError, FaroUnsupportedError, refuse

__all__ = ["dequantize_blocks", "quantize_blocks"]


class _Format(NamedTuple):
    number: int  # faro_block_format
    block: int
    element: str | None  # None: two to a byte
    scale: str


FORMATS = {
    "mxfp8_e4m3": _Format(0, 32, "float8_e4m3fn", "float8_e8m0fnu"),
    "mxfp8_e5m2": _Format(1, 32, "float8_e5m2", "float8_e8m0fnu"),
    "mxfp4": _Format(2, 32, None, "float8_e8m0fnu"),
    "nvfp4": _Format(3, 16, None, "float8_e4m3fn"),
}
LAYOUTS = ("data", "wide", "tiled")
WIDE = ("float32", "float16", "bfloat16")
_TILE_ROWS, _TILE_COLUMNS = 128, 4


class _Asked(NamedTuple):
    """What both ways are asked for: of the data's shape in numbers, and of the wide array's axes in the data's order."""

    format: _Format
    shape: tuple[int, ...]
    order: tuple[int, ...]  # the data's axes among those of the wide array
    axis: int
    layout: str

    @property
    def data_shape(self) -> tuple[int, ...]:
        return self.shape if self.format.element else (*self.shape[:-1], self.shape[-1] // 2)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Scales along each axis of the data."""
        return tuple(n // self.format.block if a == self.axis else n for a, n in enumerate(self.shape))

    @property
    def scale_shape(self) -> tuple[int, ...]:
        if self.layout == "data":
            return self.blocks
        if self.layout == "wide":
            return tuple(self.blocks[self.order.index(a)] for a in range(len(self.shape)))
        columns = self.blocks[self.axis]
        rows = math.prod(self.blocks) // columns if columns else 0
        return -(-rows // _TILE_ROWS) * _TILE_ROWS, -(-columns // _TILE_COLUMNS) * _TILE_COLUMNS

    def scale_strides(self) -> tuple[int, ...] | None:
        if self.layout == "tiled":
            return None
        dense = _arrays.dense_strides(self.scale_shape, 1)
        return dense if self.layout == "data" else tuple(dense[a] for a in self.order)

    def planned(self, wide: int, strides: Sequence[int], ceil: bool, global_scale: Any, device: int | None, operation: str) -> Any:
        return _planned(device, self.format.number, wide, self.shape, tuple(strides), self.axis, self.scale_strides(), ceil,
                        _global(self.format, global_scale, operation))


@functools.lru_cache(maxsize=256)
def _planned(device: int | None, *request: Any) -> Any:
    plan: Any = _faro.plan_blocks
    return plan(*request, options=_run.options_for(device))


def _global(format: _Format, given: Any, operation: str) -> float:
    if given is None:
        return 1.0
    try:
        value = float(given)
    except (OverflowError, TypeError, ValueError):
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        refuse(operation, f"global_scale={given!r}", "a finite number above 0")
    if format.number != FORMATS["nvfp4"].number:
        refuse(operation, "global_scale= of scales that are powers of two", "format='nvfp4'")
    return value


def _format(name: Any, operation: str) -> _Format:
    if not isinstance(name, str) or name not in FORMATS:
        refuse(operation, f"format={name!r}", "one of " + ", ".join(FORMATS))
    return FORMATS[name]


def _asked(format: _Format, shape: Sequence[int], order: Sequence[int], axis: Any, layout: Any, operation: str) -> _Asked:
    if not isinstance(layout, str) or layout not in LAYOUTS:
        refuse(operation, f"scale_layout={layout!r}", "one of " + ", ".join(LAYOUTS))
    if not shape:
        refuse(operation, "an array without axes", "one of whole blocks")
    along = _run.axis_of(axis, len(shape), operation)
    if shape[along] % format.block:
        refuse(operation, f"an axis of {shape[along]}", f"a multiple of {format.block}")
    if format.element is None and shape[-1] % 2:
        refuse(operation, f"a last axis of {shape[-1]} numbers of 4 bits", "an even number")
    return _Asked(format, tuple(shape), tuple(order), along, layout)


def _described(x: Any, operation: str) -> _arrays.Array:
    if _arrays.is_traced(x):
        refuse(operation, "an array whose operations are recorded", "its values", kind=FaroUnsupportedError)
    return _arrays.describe(x)


def _named(x: Any, name: str, operation: str) -> Any:
    if _arrays.is_tensor(x):
        return _arithmetic._asked_type(name, x, operation).dtype
    return _arithmetic.type_named(name, operation)


def _scale_type(x: Any, name: str, operation: str) -> Any:
    """What its library calls it; bytes in one that knows no such type."""
    if _arrays.is_tensor(x):
        torch = _arithmetic._torch()
        return getattr(torch, name, torch.uint8)
    import ml_dtypes

    return _arrays.numpy().dtype("uint8" if _arrays.module_of(x) == "cupy" else getattr(ml_dtypes, name, "uint8"))


def _bytes_type(x: Any) -> Any:
    return _arithmetic._torch().uint8 if _arrays.is_tensor(x) else _arrays.numpy().dtype("uint8")


def _wide_number(dtype: Any, operation: str) -> int:
    if not getattr(dtype, "isnative", True) or _changes.name_of(dtype) not in WIDE:
        refuse(operation, f"elements {dtype}", "elements " + ", ".join(WIDE), "astype() makes them", kind=FaroTypeError)
    return _changes.NUMBERS.index(_changes.name_of(dtype))


def quantize_blocks(x: Any, format: str, axes: Sequence[int] | None = None, *, axis: int = -1, rounding: str = "floor",
                    global_scale: float | None = None, scale_layout: str = "data", stream: Any = None) -> tuple[Any, Any]:
    """``x`` with its axes in another order, in 8 or 4 bits and a scale for each block along ``axis`` of the result, in one sweep: the data
    and the scales, two new dense arrays.

    ``format``: ``mxfp8_e4m3``, ``mxfp8_e5m2``, ``mxfp4`` (blocks of 32, scales that are powers of two, float8_e8m0fnu) or ``nvfp4`` (blocks
    of 16, scales of float8_e4m3fn, which are divided by ``global_scale``). ``axes``: as of transpose(); none leaves their order. Two numbers
    of 4 bits are a byte of uint8, the first in its lower half. ``rounding``: of powers of two, ``floor`` as the MX standard has them, or
    ``ceil``, by which nothing saturates. ``scale_layout``: row-major along the axes of the ``data``, or along those of ``x`` (``wide``), or
    ``tiled``: 128 x 4 at a time, as cuBLAS reads them, filled up with zeros.

    float32, float16 and bfloat16, of NumPy, PyTorch and CuPy, on the host or a GPU (bytes, where a library has no such type), there queued on
    ``stream``. Raises FaroValueError for an axis of no whole number of blocks.
    Reads and writes every element once.

    >>> import numpy as np, faro
    >>> data, scales = faro.quantize_blocks(np.full((32, 2), 3.0, "float32"), "mxfp8_e4m3", (1, 0))
    >>> data.shape, scales.shape, float(data[0, 0]) * float(scales[0, 0])
    ((2, 32), (2, 1), 3.0)
    """
    operation = "quantize_blocks"
    of_format = _format(format, operation)
    if rounding not in ("floor", "ceil"):
        refuse(operation, f"rounding={rounding!r}", "floor or ceil")
    array = _described(x, operation)
    queue = _run.stream_of(array, stream, operation)
    number = _wide_number(array.dtype, operation)
    array, strides = _arithmetic._laid_in_elements(array)
    order = tuple(range(len(array.shape))) if axes is None else tuple(_run.order_of(axes, len(array.shape), operation))
    asked = _asked(of_format, [array.shape[a] for a in order], order, axis, scale_layout, operation)
    element = _bytes_type(x) if of_format.element is None else _scale_type(x, of_format.element, operation)
    data = _arithmetic._new(x, array, asked.data_shape, element)
    scales = _arithmetic._new(x, array, asked.scale_shape, _scale_type(x, of_format.scale, operation))
    plan = asked.planned(number, [strides[a] for a in order], rounding == "ceil", global_scale, array.device, operation)
    if 0 not in asked.shape:
        plan.quantize(array.address, _arrays.describe(data, writable=True).address, _arrays.describe(scales, writable=True).address, queue)
    return _arrays.given_back(x, data), _arrays.given_back(x, scales)


def dequantize_blocks(data: Any, scales: Any, format: str, axes: Sequence[int] | None = None, *, axis: int = -1, dtype: Any = "float32",
                      global_scale: float | None = None, scale_layout: str = "data", stream: Any = None) -> Any:
    """What quantize_blocks() made, in wide numbers again and with the axes of ``data`` in another order, in one sweep: a new dense array.

    ``axis``: of the data, along which its blocks are. ``dtype``: float32, float16 or bfloat16. A number is multiplied by its scale, and
    that by ``global_scale``, in float32, and rounded once. The other arguments are those of quantize_blocks().

    Raises FaroValueError for scales of another shape. Reads and writes every element once.

    >>> import numpy as np, faro
    >>> x = np.array([[0.5, -2.0] * 16], "float32")
    >>> data, scales = faro.quantize_blocks(x, "mxfp4")
    >>> faro.dequantize_blocks(data, scales, "mxfp4").tolist() == x.tolist()
    True
    """
    operation = "dequantize_blocks"
    of_format = _format(format, operation)
    array, of_scales = _described(data, operation), _described(scales, operation)
    if array.device != of_scales.device:
        refuse(operation, "data and scales on two devices", "one device")
    queue = _run.stream_of(array, stream, operation)
    if array.itemsize != 1 or of_scales.itemsize != 1:
        refuse(operation, f"items of {max(array.itemsize, of_scales.itemsize)} bytes", "data and scales of one byte", kind=FaroTypeError)
    shape = array.shape if of_format.element or not array.shape else (*array.shape[:-1], 2 * array.shape[-1])
    moved = tuple(range(len(shape))) if axes is None else tuple(_run.order_of(axes, len(shape), operation))
    order = tuple(moved.index(a) for a in range(len(shape)))
    asked = _asked(of_format, shape, order, axis, scale_layout, operation)
    if of_scales.shape != asked.scale_shape:
        refuse(operation, f"scales of shape {of_scales.shape}", f"shape {asked.scale_shape}")
    wide_type = _named(data, dtype if isinstance(dtype, str) else _changes.name_of(dtype), operation)
    number = _wide_number(wide_type, operation)
    wide = _arithmetic._new(data, array, tuple(shape[a] for a in moved), wide_type)
    strides = _arrays.dense_strides(tuple(shape[a] for a in moved), 1)
    plan = asked.planned(number, [strides[a] for a in order], False, global_scale, array.device, operation)
    if 0 not in shape:
        dense, dense_scales = _arithmetic._dense(array), _arithmetic._dense(of_scales)
        plan.dequantize(dense.address, dense_scales.address, _arrays.describe(wide, writable=True).address, queue)
    return _arrays.given_back(data, wide)
