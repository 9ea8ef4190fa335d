"""faro for PyTorch: eager calls, and the same as operators that torch.compile, export, autograd and vmap know.

>>> import torch, faro.torch
>>> x = torch.arange(6.0).reshape(2, 3).requires_grad_()
>>> y = faro.torch.permute_dims(x, (1, 0))
>>> y.sum().backward(); x.grad.shape
torch.Size([2, 3])

A tensor is moved on its device, on PyTorch's current stream, which a CUDA graph may be capturing (the first call with a
shape makes its plan: call once before). Every function has a gradient: that of a permutation is its inverse, that of ``take`` a sum
in a fixed order, so gradients are the same in every run. Autocast changes nothing: elements are moved as they are. All return new
tensors, ``put`` and ``add_at``, too, and take no ``out=``. Arrays of other libraries are moved as faro's functions of these names move
them, beside plain tensors; beside tensors that are differentiated, transformed or traced they are refused.

Called eagerly on plain tensors these functions go straight to the engine; what is traced, transformed or differentiated goes by
``torch.ops.faro.*`` (_torch_modes.py says what that is).
"""

from __future__ import annotations

import functools
from typing import Any, Sequence, Unpack

import torch as _torch

from . import _changes, _faro, _functions, _networks, _automorphisms, _run, maps
from . import _torch_networks
from ._changes import Change
from ._errors import FaroTypeError, refuse
from ._torch_operators import by_family, by_operator, by_plan, call, inverse_order, sources
from ._patterns import single_axes
from ._torch_arithmetic import astype, changed, channels_first, type_named  # noqa: F401
from ._torch_row_functions import (add_at, add_columns, add_rows, combine, dispatch, put, put_blocks, put_columns, take, take_blocks,
                                   take_columns, take_segments, write_back)
from ._torch_sharded import permute_dims_sharded

__all__ = [
    "permute_dims", "transpose", "flip", "roll", "permute", "bit_reverse", "permute_qubits", "rearrange", "aos_to_soa", "soa_to_aos",
    "astype", "channels_first", "take", "take_segments", "put", "add_at", "add_rows", "dispatch", "combine", "take_columns", "put_columns", "add_columns",
    "take_blocks", "put_blocks", "network", "sort", "walsh_hadamard", "fft", "permute_negacyclic", "permute_evaluations",
    "permute_dims_sharded",
]


def permute_dims(x: Any, dims: Sequence[int] | None = None, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """The axes in another order, moved: ``x.permute(dims).contiguous()``. ``dims=None`` reverses them. ``inverse=True``: by the
    inverse order.

    >>> import torch, faro.torch
    >>> x = torch.arange(6.0).reshape(2, 3)
    >>> faro.torch.permute_dims(x, (1, 0)).shape
    torch.Size([3, 2])
    """
    if inverse and dims is not None:
        dims = inverse_order(dims)
    if change:
        return changed(x, "permute_dims", _changes.in_order(dims, "permute_dims"), change)
    if _torch.compiler.is_compiling():
        return call("permute_dims", x, list(range(x.dim() - 1, -1, -1)) if dims is None else list(dims))
    return _faro.run(x, _run.PERMUTE_DIMS, dims if dims is None else tuple(dims), None, None)


transpose = permute_dims


def flip(x: Any, dims: int | Sequence[int] | None = None, **change: Unpack[Change]) -> Any:
    """The elements along the axes in reverse order, as ``torch.flip``; ``dims=None``: along all.

    >>> import torch, faro.torch
    >>> faro.torch.flip(torch.arange(3)).tolist()
    [2, 1, 0]
    """
    if change:
        return changed(x, "flip", _changes.flipped(dims, "flip"), change)
    if _torch.compiler.is_compiling():
        return call("flip", x, _all_dims(x, dims))
    return _faro.run(x, _run.FLIP, tuple(dims) if isinstance(dims, list) else dims, None, None)


def _all_dims(x: Any, dims: int | Sequence[int] | None) -> list[int]:
    if dims is None:
        return list(range(x.dim()))
    return [dims] if isinstance(dims, int) else list(dims)


def roll(x: Any, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None, *, inverse: bool = False,
         **change: Unpack[Change]) -> Any:
    """The elements shifted along the axes, and round their ends, as ``torch.roll``; ``dims=None``: the flat tensor.
    ``inverse=True`` shifts them back.

    >>> import torch, faro.torch
    >>> faro.torch.roll(torch.arange(4), 1).tolist()
    [3, 0, 1, 2]
    """
    if change:
        return changed(roll(x, shifts, dims, inverse=inverse), "roll", _changes.unmoved, change)
    by: tuple[Any, ...] = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    if inverse:
        by = tuple(-_shift(s) for s in by)
    axes = None if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if _torch.compiler.is_compiling():
        return call("roll", x, [_shift(s) for s in by], list(axes or ()))
    return _faro.run(x, _run.ROLL, (by, axes), None, None)


def _shift(by: Any) -> Any:
    """A whole number, or a symbol of one."""
    return by if isinstance(by, (int, _torch.SymInt)) else _run.whole(by, "roll", "a shift of")


# --- maps


def permute(x: Any, by: "str | maps.Map", *, inverse: bool = False, dim: int | None = None, **change: Unpack[Change]) -> Any:
    """Element ``i`` of the flat tensor goes to ``m(i)``, for a map or its text (docs/guide/maps.md), as ``faro.permute``. ``dim``: the
    map permutes along this axis alone.

    >>> import torch, faro.torch
    >>> faro.torch.permute(torch.arange(4), "bit_reversal").tolist()
    [0, 2, 1, 3]
    """
    if not isinstance(by, (str, maps.Map)):
        refuse("permute", f"a {type(by).__name__}", "a map or its text", kind=FaroTypeError)
    if change:
        return changed(permute(x, by, inverse=inverse, dim=dim), "permute", _changes.unmoved, change)
    if not _torch.compiler.is_compiling():
        if dim is None and isinstance(by, str):
            return _faro.run(x, _run.TEXT, (by, bool(inverse)), None, None)
        return _functions.permute(x, by, inverse=inverse, axis=dim)
    return permute_recorded(x, by, inverse, dim)


def permute_recorded(x: Any, by: "str | maps.Map", inverse: bool, dim: int | None = None) -> Any:
    if dim is not None:
        return _along(x, by, inverse, dim)
    text = by if isinstance(by, str) else _text_of(by)
    if text is None:
        return call("take", x.reshape(-1), _sources_of(by, inverse, x.device), 0, None).reshape(x.shape)  # type: ignore[union-attr]
    return _by_text(x, text, inverse)


# A map is a constant of a program that is compiled, as far as Dynamo takes an object for one; before, it is read between two graphs.
_takes_objects = tuple(int(word) for word in _torch.__version__.split(".")[:2]) >= (2, 15)
_constant: Any = _torch.compiler.assume_constant_result if _takes_objects else _torch.compiler.disable


@functools.lru_cache(maxsize=256)
def _text_of_kept(handle: Any) -> str | None:
    text = str(handle.text())
    try:
        maps.parse(text)
    except ValueError:
        return None
    return text


@_constant
def _text_of(by: maps.Map) -> str | None:
    """None of a map of a long index array, which has no text that says all."""
    return _text_of_kept(by._handle)


@_constant
def _sources_of(by: maps.Map, inverse: bool, device: Any) -> Any:
    return sources(by._handle, inverse, device)


def _along(x: Any, by: "str | maps.Map", inverse: bool, dim: int) -> Any:
    d = _run.axis_of(dim, x.dim(), "permute")
    text = by if isinstance(by, str) else _text_of(by)
    if text is None:
        if by.count != x.shape[d]:  # type: ignore[union-attr]
            refuse("permute", f"axis {d} of {x.shape[d]}", f"{by.count}, as the map has")  # type: ignore[union-attr]
        return call("take", x, _sources_of(by, inverse, x.device), d, None)  # type: ignore[union-attr]
    return call("permute_along", x, text, bool(inverse), d)


def _by_text(x: Any, text: str, inverse: bool) -> Any:
    """Orders of axes by the operators of axes, whose extents may be symbols; other maps by that of maps."""
    if "->" in text:
        return _by_pattern(x, text, inverse, {})
    said = text.strip()
    if said == "transpose":
        return call("permute_dims", x, list(range(x.dim() - 1, -1, -1)))
    if said.startswith("axes(") and ";" not in said and x.dim() != 1:
        order = [int(word) for word in said[5:].rstrip(") ").split() if word.isdigit()]
        if sorted(order) == list(range(x.dim())):
            return call("permute_dims", x, inverse_order(order) if inverse else order)
    return call("permute", x, text, bool(inverse), 0)


def bit_reverse(x: Any, dim: int | None = None, **change: Unpack[Change]) -> Any:
    """Element ``i`` goes to the reverse of i's bits, along ``dim`` or the flat tensor. Its own inverse.

    >>> import torch, faro.torch
    >>> faro.torch.bit_reverse(torch.arange(4)).tolist()
    [0, 2, 1, 3]
    """
    if not _torch.compiler.is_compiling():
        return _functions.bit_reverse(x, dim, **change)
    return permute(x, "bit_reversal", dim=dim, **change)


def permute_qubits(state: Any, order: Sequence[int], *, little_endian: bool = False, inverse: bool = False,
                   **change: Unpack[Change]) -> Any:
    """The qubits of state vectors in another order, as ``faro.permute_qubits``.

    >>> import torch, faro.torch
    >>> faro.torch.permute_qubits(torch.arange(4), (1, 0)).tolist()
    [0, 2, 1, 3]
    """
    if not _torch.is_tensor(state):
        return _functions.permute_qubits(state, order, little_endian=little_endian, inverse=inverse, **change)
    n = len(order)
    if inverse:
        order = inverse_order(order)
    if change:
        return changed(state, "permute_qubits", _changes.of_qubits(order, little_endian), change)
    dims = _run.qubit_axes(tuple(order), little_endian)
    grouped = state.dim() >= n > 0 and all(state.shape[state.dim() - 1 - k] == 2 for k in range(n))
    before = list(state.shape[: state.dim() - n]) if grouped else list(state.shape[:-1])
    if not grouped and (state.dim() == 0 or state.shape[-1] != 1 << n):
        refuse("permute_qubits", f"a tensor of shape {tuple(state.shape)}",
               f"2^{n} amplitudes in the last axis, or {n} axes of two")
    axes = state.reshape(before + [2] * n)
    k = len(before)
    return permute_dims(axes, [*range(k), *(k + d for d in dims)]).reshape(state.shape)


def rearrange(x: Any, pattern: str, *, inverse: bool = False, **named: Any) -> Any:
    """The axes as a pattern of einops says, without sums or repeats, as ``faro.rearrange``.

    >>> import torch, faro.torch
    >>> faro.torch.rearrange(torch.zeros(2, 6), "a (b c) -> b a c", b=3).shape
    torch.Size([3, 2, 2])
    """
    if not isinstance(pattern, str) or "->" not in pattern:
        return _functions.rearrange(x, pattern)  # which says what is wrong
    lengths, change = _changes.apart(pattern, named)
    if change:
        return _changed_by_pattern(x, pattern, inverse, lengths, change)
    if _torch.compiler.is_compiling():
        return _by_pattern(x, pattern, inverse, lengths)
    told = (f", {name}={_run.whole(length, 'rearrange', f'{name} =', 0)}" for name, length in lengths.items())
    said = pattern + "".join(told) if lengths else pattern
    return _faro.run(x, _run.TEXT, (said, bool(inverse)), None, None)


def _changed_by_pattern(x: Any, pattern: str, inverse: bool, lengths: dict[str, Any], change: Any) -> Any:
    view = _changes.of_pattern(pattern, x.shape, inverse, lengths)
    if view is None:
        return changed(rearrange(x, pattern, inverse=inverse, **lengths), "rearrange", _changes.unmoved, change)
    return changed(x, "rearrange", lambda _: view, change)


def _by_pattern(x: Any, pattern: str, inverse: bool, lengths: dict[str, Any]) -> Any:
    told = single_axes(pattern, x.shape, inverse, lengths)
    if told is None:  # which the engine reads, or says what is wrong with it
        said = pattern + "".join(f", {name}={int(length)}" for name, length in lengths.items())
        return call("permute", x, said, bool(inverse), 0)
    extents, order, result = told
    return call("permute_dims", x.reshape(extents), order).reshape(result)


def aos_to_soa(x: Any, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """An array of structures as a structure of arrays: shape (n, words) becomes (words, n). ``inverse=True``: ``soa_to_aos``.

    >>> import torch, faro.torch
    >>> faro.torch.aos_to_soa(torch.tensor([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    return _transposed(x, "aos_to_soa", "structures, words", inverse, change)


def soa_to_aos(x: Any, *, inverse: bool = False, **change: Unpack[Change]) -> Any:
    """A structure of arrays as an array of structures: shape (words, n) becomes (n, words). ``inverse=True``: ``aos_to_soa``.

    >>> import torch, faro.torch
    >>> faro.torch.soa_to_aos(torch.tensor([[1, 3], [2, 4]])).tolist()
    [[1, 2], [3, 4]]
    """
    return _transposed(x, "soa_to_aos", "words, structures", inverse, change)


def _transposed(x: Any, operation: str, wanted: str, inverse: bool, change: Any) -> Any:
    if not _torch.is_tensor(x):
        return getattr(_functions, operation)(x, inverse=inverse, **change)
    if x.dim() != 2:
        refuse(operation, f"a tensor of {x.dim()} axes", f"shape ({wanted})")
    return permute_dims(x, (1, 0), **change)


# --- networks and transforms


def network(x: Any, program: str, dim: int = -1) -> Any:
    """The program on every slice along ``dim``, a power of two of elements, as ``faro.network``. A program of permutations,
    ``hadamard``, ``fourier``, multiplications and additions has a gradient; another is refused, as FaroUnsupportedError, when it is
    asked for one.

    >>> import torch, faro.torch
    >>> faro.torch.network(torch.tensor([1.0, 2.0]), "wht").tolist()
    [3.0, -1.0]
    """
    if not isinstance(program, str):
        refuse("run a network", f"a program that is a {type(program).__name__}", "its text", kind=FaroTypeError)
    if not by_operator("run a network", x):
        return _networks.network(x, program, dim)
    return call("network", x, program, _run.axis_of(dim, x.dim(), "run a network"))


def walsh_hadamard(x: Any, dim: int = -1, *, inverse: bool = False) -> Any:
    """The Walsh-Hadamard transform along ``dim``, in natural order, unscaled, as ``faro.walsh_hadamard``.

    >>> import torch, faro.torch
    >>> faro.torch.walsh_hadamard(torch.tensor([1.0, 0.0])).tolist()
    [1.0, 1.0]
    """
    if not by_operator("transform", x):
        return _networks.walsh_hadamard(x, dim, inverse=inverse)
    return network(x, _scaled(x, "wht", dim) if inverse else "wht", dim)


def fft(x: Any, dim: int = -1, *, inverse: bool = False) -> Any:
    """The discrete Fourier transform along ``dim``, a power of two of complex numbers, as ``torch.fft.fft``, and with
    ``inverse=True`` as ``torch.fft.ifft``.

    >>> import torch, faro.torch
    >>> faro.torch.fft(torch.tensor([1, 1j], dtype=torch.complex64)).tolist()
    [(1+1j), (1-1j)]
    """
    if not by_operator("transform", x):
        return _networks.fft(x, dim, inverse=inverse)
    if not x.is_complex():
        refuse("transform", f"elements {x.dtype}", "complex64 or complex128", kind=FaroTypeError)
    return network(x, _scaled(x, "inverse_fft", dim) if inverse else "fft", dim)


def _scaled(x: Any, program: str, dim: int) -> str:
    if not (x.is_floating_point() or x.is_complex()):
        refuse("transform", f"the inverse of elements {x.dtype}", "floats or complex numbers", kind=FaroTypeError)
    extent = x.shape[_run.axis_of(dim, x.dim(), "transform")] if x.dim() else 1
    count = 1
    while count < extent:  # a power of two, or the engine refuses it; a number also where the extent is a symbol
        count *= 2
    return f"each(multiply {1 / count!r}) . {program}" if count > 1 else program


def sort(x: Any, dim: int | None = -1) -> Any:
    """Sorted along ``dim`` (None: the flat tensor), floats in IEEE 754's total order, as ``faro.sort``. The gradient of an element goes to
    the place where it was, which is found by ``torch.argsort`` on the way back.

    >>> import torch, faro.torch
    >>> faro.torch.sort(torch.tensor([3.0, 1.0, 2.0])).tolist()
    [1.0, 2.0, 3.0]
    """
    if not by_operator("sort", x):
        return _networks.sort(x, dim)
    x, dim = (x.reshape(-1), -1) if dim is None else (x, dim)
    return call("sort", x, _run.axis_of(dim, x.dim(), "sort"))


# --- polynomials


def permute_negacyclic(x: Any, k: int, *, modulus: Any = 0) -> Any:
    """X -> X^k of polynomials modulo X^n + 1, whose coefficients are the last axis, as ``faro.permute_negacyclic``.

    >>> import torch, faro.torch
    >>> faro.torch.permute_negacyclic(torch.tensor([1, 2, 3, 4]), 3).tolist()
    [1, 4, -3, 2]
    """
    if not by_operator("permute_negacyclic", x):
        return _automorphisms.permute_negacyclic(x, k, modulus=modulus)
    moduli = [modulus] if isinstance(modulus, int) else _moduli_of(modulus, tuple(x.shape[:-1]))
    return call("permute_negacyclic", x, k, [_torch_networks.as_signed(m) for m in moduli])


@_constant
def _moduli_of(modulus: Any, shape: tuple[int, ...]) -> list[int]:
    return _automorphisms.moduli_of(modulus, shape)


def permute_evaluations(x: Any, k: int) -> Any:
    """The same automorphism on a polynomial's values, in bit-reversed order, as ``faro.permute_evaluations``.

    >>> import torch, faro.torch
    >>> faro.torch.permute_evaluations(torch.arange(4), 3).tolist()
    [2, 3, 0, 1]
    """
    if not by_operator("permute_evaluations", x):
        return _automorphisms.permute_evaluations(x, k)
    return call("permute_evaluations", x, k)


# --- what faro's functions of whole arrays do with tensors that are recorded (_run.py)


def _recorded(x: Any, op: int, argument: Any) -> Any:
    if op == _run.PERMUTE_DIMS:
        return call("permute_dims", x, list(_run.order_of(argument, x.dim(), "permute_dims")))
    if op == _run.COPY:
        return call("permute_dims", x, list(range(x.dim())))
    if op == _run.FLIP:
        return call("flip", x, list(_run.axes_of(argument, x.dim(), "flip")))
    if op == _run.ROLL:
        shifts, axes = argument
        shifts = [_shift(s) for s in (shifts if isinstance(shifts, (tuple, list)) else (shifts,))]
        axes = () if axes is None else (axes,) if isinstance(axes, int) else axes
        many = max(len(shifts), len(axes)) if axes else len(shifts)
        shifts = shifts * (many if len(shifts) == 1 and axes else 1)
        return call("roll", x, shifts, list(axes) * (many if len(axes) == 1 else 1))
    if op == _run.QUBITS:
        return permute_qubits(x, argument[0], little_endian=argument[1])
    if op == _run.MAP:
        return permute_recorded(x, argument, False)
    return permute_recorded(x, argument[0], argument[1])
