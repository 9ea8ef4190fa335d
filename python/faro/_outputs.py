"""What may be wrong with an output, found before anything is written: the one way to every array that a function writes.

An output is an array that can be written to, of the result's shape and elements, on the input's device. It shares no byte with what the
function reads or with another output, and no two of its own elements share one: ``m[:, 0::2]`` and ``m[:, 1::2]`` are disjoint, though
their ranges meet. Addresses and strides decide, whatever library an array is of, and whether or not it is copied on its way.
"""

from __future__ import annotations

from typing import Any, Sequence

from . import _arrays, _faro, _kinds
from ._errors import FaroError, refuse

Laid = tuple[str, int, tuple[int, ...], tuple[int, ...], int, bool]  # name, address, shape, strides, width, whether it is written


def _laid(name: str, array: _arrays.Array, is_output: bool = False) -> Laid:
    return name, array.address, array.shape, array.strides, array.itemsize, is_output


def check_disjoint(operation: str, outputs: Sequence[tuple[str, _arrays.Array]], read: Sequence[Laid] = ()) -> None:
    """Outputs by the names that an error calls them by, and what reads() told. Raises FaroValueError for an output that overlaps another
    one, what is read, or itself."""
    _faro.check_disjoint(operation, [*(_laid(name, array, True) for name, array in outputs), *read])


def reads(out: Any, **given: Any) -> list[Laid]:
    """What a function reads, by name, where the caller's arrays lie: objects, or what was made of them already. Nothing without ``out``, for
    what is new overlaps none. Lists and numbers of Python's own lie nowhere."""
    found: list[Laid] = []
    for name, each in given.items() if out is not None else ():
        if isinstance(each, _arrays.Array):
            found.append(_laid(name, each))
        elif each is not None and not isinstance(each, (list, tuple, int, float, complex)):
            try:
                found.append(_laid(name, _arrays.describe(each, recorded=True)))
            except FaroError:  # told by whoever reads it
                pass
    return found


def check_out(x: Any, array: _arrays.Array, out: Any, shape: tuple[int, ...], operation: str, beside: Sequence[Laid] = ()) -> _arrays.Array:
    """``out=`` as an array. Raises where it cannot hold the result, and where it overlaps ``array``, which is ``x``, or what is read beside
    it: of a copy the caller's own array, too."""
    _kinds.refuse_units(out, operation)
    target = _arrays.describe(out, writable=True)
    if target.shape != shape:
        refuse(operation, f"out= of shape {target.shape}", f"shape {shape}")
    if not _arrays.are_alike(x, array, out, target):
        refuse(operation, f"out= of elements {target.dtype}", f"elements {array.dtype}")
    if target.device != array.device:
        refuse(operation, "out= on another device", "one device", "give out= on the input's device, and copy that")
    check_disjoint(operation, (("output", target),), (_laid("input", array), *beside))
    return target


def check_apart(x: Any, out: Any, operation: str) -> None:
    """Of an input that is copied before others compare it with ``out=``."""
    if out is not None:
        check_disjoint(operation, (("output", _arrays.describe(out, writable=True)),), reads(out, input=x))
