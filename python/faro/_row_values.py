"""Rows that are written: their numbers, how they are added, and where they go."""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import _arrays, _faro, _kinds, _outputs, _run
from ._errors import FaroTypeError, FaroUnsupportedError, refuse
from ._fills import as_elements

NUMBERS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f2": 8, "bfloat16": 9, "f4": 10, "f8": 11}
SUMS = {"usual": 0, "fp32": 1, "fp64": 2, "compensated": 3}


def number_of(array: _arrays.Array, operation: str, whole: bool = False) -> int:
    """The numbers of an array's elements, as faro.h counts them; of complex ones, unless each has to be one number, that of
    their two parts."""
    dtype = array.dtype
    name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    if name == "bfloat16":
        return NUMBERS["bfloat16"]
    if isinstance(dtype, tuple) and dtype[0] == 4:  # DLPack's code
        return NUMBERS["bfloat16"]
    kind = _arrays.kind_of(array)[0]
    parts = kind == "c" and not whole
    number = NUMBERS.get(f"f{array.itemsize // 2}" if parts else f"{kind}{array.itemsize}")
    if number is None or not getattr(dtype, "isnative", True):
        wanted = "integers, float16, bfloat16, float32 or float64" if whole else "integers, floats of 2 to 8 bytes or complex numbers"
        refuse(operation, f"elements {dtype}", f"{wanted} of this machine's byte order", _arrays.widened(dtype),
               kind=FaroTypeError)
    return number


def require_host(array: _arrays.Array, operation: str) -> None:
    if array.device is not None:
        refuse(operation, "an array on a GPU", "arrays of the host", "copy it to the host first",
               kind=FaroUnsupportedError)


def values_of(values: Any, target: _arrays.Array, operation: str) -> Any:
    """Numbers of Python's own as elements of the output, as far as these can hold their kind."""
    np = _arrays.numpy()
    if np is None or not isinstance(values, _run.OF_NUMBERS):
        return values
    if isinstance(target.dtype, np.dtype):
        return as_elements(values, target.dtype, operation, "values")
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(target.dtype, torch.dtype) and target.device is None:
        made = torch.from_numpy(_arrays.as_array(values, operation))
        if torch.can_cast(made.dtype, target.dtype) and (made.to(target.dtype) == made).all() | made.is_floating_point():
            return made.to(target.dtype)
    return values


def placed(out: Any, target: _arrays.Array, values: Any, wanted: tuple[int, ...], operation: str,
            stream: Any) -> tuple[_arrays.Array, _arrays.Array, _arrays.Array, Callable[[], Any]]:
    """(the values as they were given, and dense, a dense array to write to, and what then gives the caller ``out``), of the host or a
    device."""
    if isinstance(out, _run.OF_NUMBERS):
        refuse(operation, f"a {type(out).__name__} to write to", "an array", kind=FaroTypeError)
    _kinds.refuse_units(out, operation)
    if target.device is None:
        values = values_of(values, target, operation)
        source = given = _arrays.describe(values)
        require_host(source, operation)
    else:
        if not _arrays.is_dense(target):
            refuse(operation, "an output with strides", "a dense array")
        source = given = _arrays.describe(values)
        if source.device != target.device:
            refuse(operation, "values on another device", "one device", "copy the values to the output's device first")
    if source.shape != wanted:
        refuse(operation, f"values of shape {source.shape}", f"shape {wanted}")
    if not _arrays.are_alike(out, target, values, source):
        refuse(operation, f"values of elements {source.dtype}", f"elements {target.dtype}", kind=FaroTypeError)
    if not _arrays.is_dense(source):
        source = _arrays.describe(_faro.run(values, _run.COPY, None, None, stream))
    if _arrays.is_dense(target):
        return given, source, target, lambda: out
    _outputs.check_disjoint(operation, (("output", target),))
    return given, source, *_run.copy_and_back(out, target)
