"""What a caller says of numbers that are changed while they are moved, for arrays of every library.

    out[pi(i)] = to( scale * op(x[i]) + offset + beta * add[pi(i)] )

pi is a view of the input: its axes, some of them split, in another order, some flipped, neighbours joined. Extents may be
symbols, and nothing here reads an array: _arithmetic.py, _torch_arithmetic.py and _jax_arithmetic.py do.
docs/guide/arithmetic.md says in which type all is computed, and what is rounded, saturated and taken for NaN.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, NamedTuple, Sequence, TypedDict

from . import _run
from ._errors import FaroTypeError, refuse
from ._patterns import single_axes


class Change(TypedDict, total=False):
    """What is done to each number: the keywords of every function that takes ``dtype=``."""

    dtype: Any  # of the result: the input library's, or a name as "bfloat16"; else the input's
    op: str  # "conj", "neg", "abs", "reciprocal", "sqrt", "exp", "log", "tanh", "sigmoid", "relu" or "gelu"; first
    scale: Any  # a number, or an array that is broadcast to the result along one axis at most
    offset: Any  # likewise
    add: Any  # an array of the result's shape; it may be ``out``, which accumulates
    beta: Any  # a number that ``add`` is multiplied by; else 1
    rounding: str  # of floats to integers: "truncate" or "nearest"
    saturate: bool  # floats of 16 and 8 bits: the largest finite number for what is beyond it


KEYWORDS = ("dtype", "op", "scale", "offset", "add", "beta", "rounding", "saturate")
# By their places in faro.h.
OPS = ("identity", "conjugate", "negate", "absolute", "reciprocal", "square_root", "exp", "log", "tanh", "sigmoid", "relu",
       "gelu")
NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
           "bool", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
_SHORT = {"conj": "conjugate", "neg": "negate", "negative": "negate", "abs": "absolute", "sqrt": "square_root"}


def name_of(dtype: Any) -> str:
    """Of a type of any library, or its name: "float32"."""
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


_HELD = {"complex32": "complex64", "bcomplex32": "complex64", "complex256": "complex128", "float128": "float64"}
_SMALL = {"float": "float32", "int": "int8", "uint": "uint8"}


def check_type(dtype: Any, operation: str, of_input: bool = False) -> None:
    if name_of(dtype) not in NUMBERS:
        refuse(operation, f"elements {dtype}", f"numbers of the types {', '.join(NUMBERS)}", _held_by(dtype) if of_input else "",
               kind=FaroTypeError)


def _held_by(dtype: Any) -> str:
    """The remedy for elements whose numbers another type holds; "" for others."""
    name = name_of(dtype)
    letters = name.partition("_")[0].rstrip("0123456789")
    wide = _HELD.get(name) or ("" if name.endswith("_x2") else _SMALL.get(letters))
    if not wide:
        return ""
    return f"x.to(torch.{wide}) has such numbers" if str(dtype).startswith("torch.") else f"x.astype('{wide}') has such numbers"


class How(NamedTuple):
    """What is done to a number besides sums and products."""

    dtype: Any  # None: the input's
    op: str = "identity"
    to_nearest: bool = False
    saturate: bool = False


def how_of(change: Mapping[str, Any], operation: str) -> How:
    """Raises TypeError for keywords that there are none of, FaroValueError for words that mean nothing."""
    for name in change:
        if name not in KEYWORDS:
            raise TypeError(f"{operation}() got an unexpected keyword argument '{name}'")
    given = change.get("op") or "identity"
    op = _SHORT.get(given, given) if isinstance(given, str) else given
    if op not in OPS:
        refuse(operation, f"op={given!r}", ", ".join((*_SHORT, *OPS[4:])))
    rounding = change.get("rounding") or "truncate"
    if rounding not in ("truncate", "nearest"):
        refuse(operation, f"rounding={rounding!r}", "'truncate' or 'nearest'")
    if change.get("add") is None and change.get("beta") is not None:
        refuse(operation, "beta= without add=", "an array to add")
    if math.prod(getattr(change.get("beta"), "shape", ())) != 1:
        refuse(operation, f"beta= of shape {tuple(change['beta'].shape)}", "a number")
    return How(change.get("dtype"), op, rounding == "nearest", bool(change.get("saturate")))


def apart(pattern: str, named: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The lengths that a pattern's caller says, and what is done to the numbers. An axis may have any name."""
    names = set(pattern.replace("(", " ").replace(")", " ").replace(",", " ").replace("->", " ").split())
    change = {name: given for name, given in named.items() if name in KEYWORDS and name not in names}
    return {name: given for name, given in named.items() if name not in change}, change


# --- views


class View(NamedTuple):
    """A result's axes: the input's, split to ``extents``, in this order, those of the result that are flipped, and then joined to
    ``shape``. None: nothing is split, nothing is joined."""

    order: Sequence[int]
    flipped: Sequence[int] = ()
    extents: Sequence[Any] | None = None
    shape: Sequence[Any] | None = None

    def moved_extents(self, shape: Sequence[Any]) -> list[Any]:
        """Of the result of an input of this shape, before they are joined."""
        extents = shape if self.extents is None else self.extents
        return [extents[a] for a in self.order]


ViewOf = Callable[[Sequence[Any]], View]  # of an input of a shape


def in_order(axes: Any, operation: str) -> ViewOf:
    return lambda shape: View(_run.order_of(axes, len(shape), operation))


def unmoved(shape: Sequence[Any]) -> View:
    return View(range(len(shape)))


def flipped(axis: Any, operation: str) -> ViewOf:
    return lambda shape: View(range(len(shape)), _run.axes_of(axis, len(shape), operation))


def of_pattern(pattern: str, shape: Sequence[Any], inverse: bool, lengths: Mapping[str, Any]) -> View | None:
    """None of a pattern that does not fit, or is not understood here."""
    told = single_axes(pattern, shape, inverse, lengths)
    return None if told is None else View(told[1], (), told[0], told[2])


def of_qubits(order: Sequence[int], little_endian: bool) -> ViewOf:
    def view(shape: Sequence[Any]) -> View:
        before = list(_run.before_qubits(tuple(shape), len(order)))
        axes = _run.qubit_axes(tuple(order), little_endian)
        moved = [*range(len(before)), *(len(before) + a for a in axes)]
        return View(moved, (), before + [2] * len(order), list(shape))

    return view


def channels_before(shape: Sequence[Any]) -> View:
    """Height, width and channels, of one image or a batch of them, as channels, height, width."""
    rank = len(shape)
    if rank < 3:
        refuse("channels_first", f"images of {rank} axes", "height, width and channels, or a batch of such")
    return View((*range(rank - 3), rank - 1, rank - 3, rank - 2))


def normalised(images: Any, dtype: Any, mean: Any, std: Any) -> Change:
    """What makes ``(x - mean) / std`` of images whose channels are moved to the front; bytes count as 0 to 1."""
    channels = (getattr(images, "shape", None) or (1,))[-1]
    centre, spread = _of_channels(mean, channels, "mean"), _of_channels(std, channels, "std")
    if 0 in spread:
        refuse("channels_first", "std= of 0", "other numbers")
    most = 255 if name_of(getattr(images, "dtype", "")) == "uint8" else 1
    many = max(len(centre), len(spread))
    centre, spread = (values * many if len(values) == 1 else values for values in (centre, spread))
    return {"dtype": dtype, "scale": _column([1 / (s * most) for s in spread]), "offset": _column([-m / s for m, s in zip(centre, spread)])}


def _of_channels(given: Any, channels: Any, what: str) -> list[float]:
    values = given.tolist() if hasattr(given, "tolist") else given
    values = list(values) if isinstance(values, (tuple, list)) else [values]
    many = len(values)
    if many != 1 and many != channels or not all(isinstance(value, (int, float)) for value in values):
        refuse("channels_first", f"{what}={given!r}", f"a number, or {channels} of them")
    return [float(value) for value in values]


def _column(values: list[float]) -> Any:
    """One for each channel, before height and width."""
    return values[0] if len(values) == 1 else [[[value]] for value in values]


# --- scales and offsets


def axis_of_values(given: Sequence[Any], shape: Sequence[Any], what: str, operation: str) -> int | None:
    """The axis of a result that an array of values of this shape is along; None of a single value."""
    long = [a for a, extent in enumerate(given) if extent != 1]
    before = len(shape) - len(given)
    if before < 0 or len(long) > 1 or any(given[a] != shape[before + a] for a in long):
        refuse(operation, f"{what}= of shape {tuple(given)}",
               f"a number, or an array that is broadcast to {tuple(shape)} along one axis at most",
               "an array of the result's shape is given as add=")
    return before + long[0] if long else None


def axis_before_joining(axis: int, shape: Sequence[Any], extents: Sequence[Any]) -> int | None:
    """Which of the axes that were joined to ``shape`` is that axis; None where it is several."""
    before = math.prod(shape[:axis])
    for place, extent in enumerate(extents):
        if extent == shape[axis] and math.prod(extents[:place]) == before:
            return place
    return None
