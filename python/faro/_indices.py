"""Index arrays of any library: as entries that rows are moved by, and as maps."""

from __future__ import annotations

import array as _array
from typing import Any

from . import _arrays, _faro, _kinds
from ._errors import FaroTypeError, refuse
from ._map import Map


def _no_array(shape: tuple[int, ...]) -> Any:
    raise AssertionError("indices are only read")


class IndexEntries:
    """A dense array of integers of 4 or 8 bytes, and what keeps it; of ``given``, whose memory it is or which was copied."""

    def __init__(self, address: int, size: int, itemsize: int, is_signed: bool, shape: tuple[int, ...], keep: Any,
                 given: Any = None, is_given: bool = True):
        self.address, self.size, self.itemsize, self.is_signed = address, size, itemsize, is_signed
        self.shape, self.keep = shape, keep
        self._given, self._is_given = given, is_given

    @property
    def given(self) -> Any:
        """Where the caller's own indices lie."""
        if not self._is_given:
            return self._given
        return _arrays.Array(self.address, (self.size,), (self.itemsize,), self.itemsize, True, None, 0, self.keep, _no_array)


# PyTorch's integers of less than a byte, which DLPack calls integers of eight bits.
_SHELLS = {f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)}


def index_entries(indices: Any, operation: str) -> IndexEntries:
    """Integers of any library and width as entries; narrow ones are widened."""
    np = _arrays.numpy()
    if np is None:
        values = indices if isinstance(indices, _array.array) and indices.typecode in "ilqILQ" else None
        if values is None:
            values = _array.array("q", [int(i) for i in indices])
        return IndexEntries(
            values.buffer_info()[0], len(values), values.itemsize, values.typecode.islower(), (len(values),), values
        )
    if _arrays.is_jax(indices):
        _arrays.check_jax(indices, operation)
        _arrays.refuse_jax(operation, "take(), put() and add_at() of faro.jax read such indices when they are run", indices)
    _arrays.refuse_recorded(indices)
    if indices.__class__ is not np.ndarray and not isinstance(indices, (list, tuple, int)):
        indices = _arrays.resolved(indices) if _arrays.is_tensor(indices) else _kinds.read(indices, operation)
    if not isinstance(indices, np.ndarray) and hasattr(indices, "__dlpack__"):
        device = indices.__dlpack_device__()[0]
        if device not in (1, 3, 13):
            refuse(operation, "indices on a device", "indices in the host's memory",
                   "copy the indices to the host first")
        type_name = str(getattr(indices, "dtype", ""))
        if type_name in _SHELLS:
            refuse(operation, f"indices of {type_name}", "whole numbers of 8 to 64 bits", kind=FaroTypeError)
        indices = np.asarray(indices) if _arrays.is_jax(indices) else np.from_dlpack(indices)
    if isinstance(indices, np.ma.MaskedArray):
        refuse(operation, "a masked array of indices", "an array without a mask", "indices.filled(-1), and fill= for what they take")
    values = read = _arrays.as_array(indices, operation)
    if values.size == 0 and values.dtype.kind == "f":
        values = values.astype(np.int64)
    if values.dtype.kind not in "iu":
        refuse(operation, f"indices of dtype {values.dtype}", "whole numbers", kind=FaroTypeError)
    if values.dtype.itemsize < 4 or not values.dtype.isnative:
        values = values.astype(np.int32 if values.dtype.itemsize < 4 and values.dtype.kind == "i" else
                               np.uint32 if values.dtype.itemsize < 4 else values.dtype.newbyteorder("="))
    values = np.ascontiguousarray(values)
    return IndexEntries(
        values.__array_interface__["data"][0], values.size, values.dtype.itemsize, values.dtype.kind == "i",
        np.shape(indices), values, read, values is read,
    )


_DEVICE_ENTRIES = {"int32": True, "int64": True, "uint32": False, "uint64": False}
_DLPACK_ENTRIES = {(0, 32, 1): "int32", (0, 64, 1): "int64", (1, 32, 1): "uint32", (1, 64, 1): "uint64"}


def _lies_on_a_gpu(indices: Any) -> bool:
    _arrays.refuse_recorded(indices)
    if hasattr(indices, "__dlpack_device__"):
        return indices.__dlpack_device__()[0] == _arrays.CUDA
    return hasattr(indices, "__cuda_array_interface__")


def _from_device(array: _arrays.Array, gather: bool) -> Map:
    """A map of an array on a GPU: what its library's current stream still writes is waited for."""
    operation = "make a map of indices"
    dtype = _DLPACK_ENTRIES.get(array.dtype, array.dtype) if isinstance(array.dtype, tuple) else array.dtype
    name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    if name not in _DEVICE_ENTRIES:
        refuse(operation, f"indices of {array.dtype} on a GPU", "32- or 64-bit integers", kind=FaroTypeError)
    if len(array.shape) != 1:
        refuse(operation, f"indices of {len(array.shape)} axes", "one axis")
    if not _arrays.is_dense(array):
        refuse(operation, "indices on a GPU with strides", "a dense array", "faro.ascontiguousarray() first")
    return Map(_faro.map_from_device_indices(
        array.address, array.size, array.itemsize, _DEVICE_ENTRIES[name], gather, array.device or 0, array.stream))


def from_indices(indices: Any, gather: bool = False) -> Map:
    """``out[indices[i]] = in[i]``, with ``gather=True`` ``out[i] = in[indices[i]]``: an array of 32- or 64-bit
    integers, which is copied. Raises FaroValueError where it is no permutation.

    An array of a GPU gives a map that lies there: composed with others, as ``m @ bit_reversal(20)``, it is one index array of
    that GPU again, and one plan moves arrays of the GPU by both at once. Its single images cannot be asked for.

    >>> from_indices([2, 0, 1])(0)
    2
    """
    if _lies_on_a_gpu(indices):
        return _from_device(_arrays.describe(indices), gather)
    entries = index_entries(indices, "make a map of indices")
    if len(entries.shape) != 1:
        refuse("make a map of indices", f"indices of {len(entries.shape)} axes", "one axis")
    return Map(_faro.map_from_indices(entries.address, entries.size, entries.itemsize, entries.is_signed, gather))
