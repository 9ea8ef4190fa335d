"""What arrays are read as, whoever made them, and what becomes of what they keep beside their elements.

One rule for all functions: a result is an array of the library of what was given, where faro knows how that library makes
arrays: NumPy, PyTorch, JAX, CuPy, Numba, and whoever makes arrays from DLPack. Everything else is read once and gives arrays of
NumPy: numbers in lists, columns of tables, handles of files, and NumPy's own subclasses, whose units and names are left behind.
Masks are part of the values: NumPy's masked arrays are moved with theirs, and missing values of other libraries are refused.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NoReturn

from . import _arrays
from ._errors import FaroTypeError, refuse


def is_masked(x: Any) -> bool:
    """Whether it is a masked array of NumPy, with anything masked or not."""
    np = _arrays.numpy()
    return np is not None and isinstance(x, np.ma.MaskedArray)


def read(x: Any, operation: str = "read an array") -> Any:
    """The array that stands for ``x`` in all that follows: ``x`` itself where its library has a kind of its own, and masked
    arrays; else NumPy's array of its elements, of its memory where that is one. Handles of files are read here, so once a call.

    Raises FaroValueError for missing values, which have no place in such an array; what is no array is given back for
    ``describe`` to refuse.
    """
    np = _arrays.numpy()
    if np is None or x.__class__ is np.ndarray or _has_own_kind(x, np):
        return x
    if isinstance(x, np.ndarray):
        _refuse_mask(x, operation, np)
        return x.view(np.ndarray)
    if isinstance(x, np.generic):
        return np.asarray(x)
    if isinstance(x, _arrays.OF_NUMBERS):
        return _arrays.as_array(x, operation)
    return _read_once(x, operation, np)


_arrays.read_by(read)


def _has_own_kind(x: Any, np: Any) -> bool:
    if _arrays.is_tensor(x) or isinstance(x, (memoryview, np.ma.MaskedArray)) or hasattr(x, "__cuda_array_interface__"):
        return True
    jax: Any = sys.modules.get("jax")
    if jax is not None and isinstance(x, getattr(jax, "Array", ())):
        return True
    return hasattr(x, "__dlpack__") and not isinstance(x, (np.ndarray, np.generic)) and _arrays.from_dlpack_of(x) is not None


def _read_once(x: Any, operation: str, np: Any) -> Any:
    _refuse_mask(x, operation, np)
    _refuse_missing(x, operation)
    try:
        if _arrays.module_of(x) == "netCDF4" and hasattr(x, "__getitem__"):
            made = x[...]  # __array__ would give missing values as the number that stands for them in the file
        elif any(hasattr(x, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
            made = np.asanyarray(x)
        elif hasattr(x, "__dlpack__"):
            made = np.from_dlpack(x)
        else:
            made = np.asarray(memoryview(x))
    except (BufferError, NotImplementedError, RuntimeError, TypeError, ValueError) as why:
        if hasattr(x, "__array__"):
            reason = str(why).split("\n")[0].split(". ")[0]
            refuse(operation, f"a {type(x).__name__} that makes no array ({reason})", "numbers of one type")
        return x
    if isinstance(made, np.ma.MaskedArray):
        return made
    return made.view(np.ndarray) if isinstance(made, np.ndarray) else np.asarray(made)


def _refuse_mask(x: Any, operation: str, np: Any) -> None:
    """Masks that would be lost: of classes that are not NumPy's masked arrays, and of masked arrays within others."""
    if isinstance(getattr(x, "magnitude", None), np.ma.MaskedArray):
        refuse(operation, f"a {type(x).__name__} of a masked array", "an array", "x.magnitude is moved with its mask")
    if isinstance(getattr(type(x), "mask", None), property) and isinstance(x, np.ndarray):
        refuse(operation, f"a {type(x).__name__}, which has a mask", "an array without one, or numpy.ma.MaskedArray",
               "numpy.ma.array(x.unmasked, mask=x.mask) is moved with its mask")


def _refuse_missing(x: Any, operation: str) -> None:
    """Missing values of tables' columns, which NumPy's array of them would have as some number."""
    kind = _arrays.module_of(x)
    remedy = "x.fill_null(value)"
    if kind == "pyarrow":
        columns = x.columns if hasattr(x, "columns") else (x,)
        missing = any(getattr(column, "null_count", 0) for column in columns)
        if hasattr(x, "columns"):
            remedy = "fill_null(value) of its columns, each moved by itself"
    elif kind == "polars" and hasattr(x, "null_count"):
        counts = x.null_count()
        missing = bool(counts if isinstance(counts, int) else sum(counts.row(0)))
    elif kind == "pandas" and hasattr(x, "isna"):
        types = list(x.dtypes) if hasattr(x, "columns") else [x.dtype]
        absent: Any = getattr(sys.modules["pandas"], "NA", None)
        nullable = [dtype for dtype in types if getattr(dtype, "na_value", None) is absent or str(dtype) == "category"]  # not NaN
        missing = bool(nullable) and _any(x.isna())
        remedy = "x.fillna(value)"
    else:
        return
    if missing:
        refuse(operation, f"a {type(x).__name__} with missing values", "one without, or a masked array of NumPy", remedy)


def _any(flags: Any) -> bool:
    return bool((flags.to_numpy() if hasattr(flags, "to_numpy") else flags).any())


def refuse_out_of_masked(operation: str) -> NoReturn:
    refuse(operation, "a masked array and out=", "no out=: the result is a masked array", "x.filled(value) has no mask")


def with_mask(x: Any, move: Callable[[Any], Any], out: Any, operation: str, move_mask: Callable[[Any], Any] | None = None) -> Any:
    """``move`` of a masked array's data and, in the same way, of its mask: a masked array with the same fill value. Where it has
    no mask it gets none, and a hard mask stays one."""
    if out is not None:
        refuse_out_of_masked(operation)
    data, *masks = parts_of(x)
    return masked_like(x, move(data), *map(move_mask or move, masks))


def parts_of(x: Any) -> list[Any]:
    """A masked array's data, and its mask where it has one."""
    np: Any = _arrays.numpy()
    mask = np.ma.getmask(x)
    data = x.view(np.ndarray)
    return [data] if mask is np.ma.nomask else [data, mask]


def masked_like(x: Any, data: Any, mask: Any = False) -> Any:
    """A masked array of these parts, as ``x`` is one."""
    np: Any = _arrays.numpy()
    made = np.ma.MaskedArray(data, mask=np.ma.nomask if mask is False else mask, hard_mask=x.hardmask)
    if data.dtype == x.dtype and x is not np.ma.masked:  # which is not written to, and reading its fill value does
        made.fill_value = x.fill_value
    return made


def flat(x: Any) -> Any:
    """A dense array's elements along one axis."""
    if _arrays.is_tensor(x) or hasattr(x, "reshape"):  # torch.compile of PyTorch 2.9 finds that a tensor has none
        return x.reshape(-1)
    seen = memoryview(x)
    return seen.cast("B").cast(seen.format)  # type: ignore[call-overload]


def refuse_units(out: Any, operation: str) -> None:
    """An output whose numbers count something: what is written to it has left its unit behind."""
    if _arrays.is_tensor(out) or isinstance(out, _arrays.OF_NUMBERS):
        return
    unit = next((found for found in (getattr(out, name, None) for name in ("unit", "units")) if found is not None), None)
    if unit is not None:
        refuse(operation, f"an output in {unit}", "one of plain numbers, in the unit of what is moved", _memory_of(out),
               kind=FaroTypeError)


def _memory_of(out: Any) -> str:
    """The remedy that names an output's plain numbers; "" where they are a copy."""
    np: Any = _arrays.numpy()
    if isinstance(out, np.ndarray):
        return "out.view(numpy.ndarray) is its memory"
    for name in ("magnitude", "values"):  # of pint and of xarray
        if isinstance(getattr(out, name, None), np.ndarray):
            return f"out.{name} is its memory"
    return ""
