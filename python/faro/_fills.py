"""Values that are written where no row is named, as the bytes of elements, and numbers of Python's own as elements.

Elements get the bits of what was given, or it is refused: floats alone are rounded.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from . import _arrays, _kinds
from ._errors import FaroError, FaroTypeError, FaroValueError, refuse


def fill_bytes(fill: Any, array: _arrays.Array, out: Any, operation: str) -> bytes | None:
    """What -1 gives, as faro.h has it: None where it is refused, no byte where rows stay as they were."""
    if fill is None:
        return None
    _arrays.refuse_recorded(fill)
    if isinstance(fill, str) and fill == "keep":
        if out is None:
            refuse(operation, "fill='keep' without out=", "out=, an array whose rows stay")
        return b""
    if isinstance(fill, (bytes, bytearray)) and getattr(array.dtype, "kind", "") != "S":
        if not fill:
            refuse(operation, "fill of 0 bytes", "at least one byte", "fill='keep' leaves rows of out= as they were")
        return bytes(fill)
    if isinstance(fill, (int, float)) and fill == 0 and math.copysign(1, fill) > 0:
        return bytes(1)
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(array.dtype, torch.dtype):
        made = _tensor_bytes(fill, array.dtype, torch)
    else:
        made = _ndarray_bytes(fill, array, operation)
    if made is None:
        refuse(operation, f"fill {fill!r}", f"0, bytes, or what elements {array.dtype} hold", kind=FaroTypeError)
    return made


def _tensor_bytes(fill: Any, dtype: Any, torch: Any) -> bytes | None:
    """A value as the bytes of a tensor's element; None where that does not hold it."""
    try:
        np = _arrays.numpy()
        if np is not None and isinstance(fill, np.generic):  # by its bits: a number of Python's would be another NaN
            fill = torch.from_numpy(np.asarray(fill)) if fill.dtype.kind in "biufc" else float(fill)
        plain = torch.as_tensor(fill, device="cpu").detach().resolve_conj().resolve_neg().reshape(-1)
        # A number of Python's own is made the element at once, one of an array or tensor by way of its own type.
        made = plain.to(dtype) if hasattr(fill, "dtype") else torch.tensor(fill, dtype=dtype, device="cpu").reshape(-1)
        is_exact = not (dtype.is_floating_point or dtype.is_complex)
        if is_exact and made.tolist() != plain.tolist() or plain.is_complex() and not dtype.is_complex:
            return None
        if (plain.isfinite() & ~made.to(torch.complex128).isfinite()).any():
            return None
        return bytes(made.contiguous().view(torch.uint8).numpy().tobytes())
    except (OverflowError, TypeError, ValueError, RuntimeError):
        return None


def _ndarray_bytes(fill: Any, array: _arrays.Array, operation: str) -> bytes | None:
    """The same of other libraries' elements, where NumPy has their type."""
    np = _arrays.numpy()
    if np is None:
        return None
    dtype = array.dtype
    if not isinstance(dtype, np.dtype):
        kind = _arrays.kind_of(array)
        if str(dtype) == "bfloat16" or dtype == (4, 16, 1):
            dtype = np.dtype(_arrays.numpy_type((4, 16, 1)))
        elif kind[0] not in "iufcb":
            return None
        else:
            dtype = np.dtype(kind)
    return bytes(as_elements(fill, dtype, operation, "a fill").tobytes())


_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}  # each holds those before it


def as_elements(given: Any, dtype: Any, operation: str, what: str) -> Any:
    """Numbers of Python's own as elements of a type of NumPy, as far as these can hold them."""
    np: Any = _arrays.numpy()
    try:
        plain = np.asanyarray(given)
        is_text = plain.dtype.kind in "SU"
        is_other = _KINDS.get(plain.dtype.kind, 0) > _KINDS.get(dtype.kind, 3) or (dtype.kind in "SU") != is_text
        is_date = plain.dtype.kind == "U" and dtype.kind in "Mm"  # may be written
        if is_other and not is_date:
            refuse(operation, f"{what} of {plain.dtype}", f"elements {dtype}", kind=FaroValueError if is_text else FaroTypeError)
        if _kinds.is_masked(plain):
            refuse(operation, f"{what} that is masked", f"elements {dtype}", kind=FaroTypeError)
        with np.errstate(over="ignore"):
            # ml_dtypes' types read and write single numbers in this machine's order, whatever theirs is.
            made = np.asarray(given, dtype if dtype.isnative or dtype.kind != "V" or dtype.fields else dtype.newbyteorder("="))
        is_changed = not is_date and dtype.fields is None and bool(_is_changed(made, plain, np))
        made = made if made.dtype == dtype else made.astype(dtype)
    except (OverflowError, ValueError, TypeError) as why:
        if isinstance(why, FaroError):
            raise
        refuse(operation, f"{what} that cannot be held ({why})", f"elements {dtype}")
    if is_changed:
        refuse(operation, f"{what} that cannot be held", f"elements {dtype}")
    return made


def _is_changed(made: Any, plain: Any, np: Any) -> Any:
    """Whether whole numbers, texts or dates became others, or numbers infinite: floats are rounded."""
    dtype = made.dtype
    if dtype.kind in "biuSUMm" or dtype.name.startswith(("int", "uint")):  # the latter of ml_dtypes
        held = made.astype(np.int64) if dtype.kind == "V" else made
        return ((held != plain) & (plain == plain)).any()
    if plain.dtype.kind not in "biufc":
        return False
    return (np.isfinite(plain) & ~np.isfinite(made.astype(np.complex128))).any()
