"""Stores of arrays: Zarr, HDF5, safetensors, .npy, .npz, GGUF, NIfTI, FITS and TIFF files, laid out anew within a budget."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from . import _faro, _run
from ._errors import FaroTypeError, refuse

__all__ = ["open", "relayout", "Store", "StoredArray", "Relayout"]


@dataclass(frozen=True)
class StoredArray:
    """What a store says of an array; ``refusal`` says why it cannot be read, where it cannot.

    >>> import numpy as np, tempfile
    >>> path = tempfile.mkdtemp() + "/a.npy"
    >>> np.save(path, np.zeros((3, 4), ">f4"))
    >>> array = faro.open(path)[""]
    >>> array.dtype, array.big_endian, array.chunks
    ('float32', True, None)
    """

    name: str
    format: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    big_endian: bool
    chunks: tuple[int, ...] | None
    shards: tuple[int, ...] | None
    codec: str
    dimensions: tuple[str, ...]
    attributes: dict[str, Any]
    refusal: str = ""


class Store(Mapping[str, StoredArray]):
    """The arrays of a store by their names; the only array of a file without names is called ``""``.

    >>> import numpy as np, tempfile
    >>> path = tempfile.mkdtemp() + "/two.npz"
    >>> np.savez(path, x=np.zeros(3), y=np.zeros((4, 5)))
    >>> {name: array.shape for name, array in faro.open(path).items()}
    {'x': (3,), 'y': (4, 5)}
    """

    def __init__(self, path: str, arrays: dict[str, StoredArray]):
        self.path = path
        self._arrays = arrays

    def __getitem__(self, name: str) -> StoredArray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<faro.Store {self.path!r} of {len(self)} arrays>"


@dataclass(frozen=True)
class Relayout:
    """What a relayout did, or would do: ``plan`` in words, and the numbers behind it; seconds are predicted by ``explain``, where
    the disk was measured.

    >>> import numpy as np, tempfile
    >>> path = tempfile.mkdtemp() + "/a.npy"
    >>> np.save(path, np.zeros((30, 40), "f4"))
    >>> told = faro.relayout(path, path + ".zarr", axes=(1, 0), chunks=(8, 8), explain=True)
    >>> told.sweeps, told.result.chunks, told.finished
    (1, (8, 8), False)
    """

    plan: str
    source: StoredArray
    result: StoredArray
    region: tuple[int, ...]
    sweeps: int
    scratch: bool
    decoded: float
    read_bytes: int
    written_bytes: int
    memory_bytes: int
    threads: int
    finished: bool = False
    verified: bool = False
    resumed_regions: int = 0
    arrays: int = 1
    left_out: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)
    predicted_seconds: float | None = None


def _array(told: dict[str, Any]) -> StoredArray:
    return StoredArray(
        told["name"], told["format"], tuple(told["shape"]), told["dtype"], told["bytes"], told["big_endian"],
        tuple(told["chunks"]) or None, tuple(told["shards"]) or None, told["codec"], tuple(told["dimensions"]),
        told["attributes"], told["refusal"],
    )


def _path(path: str | os.PathLike[str], operation: str) -> str:
    try:
        return os.fsdecode(path)
    except TypeError:
        refuse(operation, f"the path {path!r}", "a text or os.PathLike", kind=FaroTypeError)


def _extents(given: Any, what: str) -> list[int] | None:
    if given is None:
        return None
    listed = _run.listed(given)
    return [_run.whole(each, "relayout", what) for each in (listed if isinstance(listed, tuple) else (listed,))]


@contextlib.contextmanager
def _telling(progress: Any) -> Iterator[Callable[[int, int], Any] | None]:
    """A function of done and total bytes: of itself, or of a bar as tqdm's, ``tqdm`` itself included, which is closed afterwards."""
    if progress is None or not hasattr(progress, "update"):
        yield progress
        return
    is_class = isinstance(progress, type)
    bar = progress(total=0, unit="B", unit_scale=True) if is_class else progress
    seen = 0

    def tell(done: int, total: int) -> None:
        nonlocal seen
        bar.total = total
        bar.update(done - seen)
        seen = done

    try:
        yield tell
        bar.update(max(0, (bar.total or seen) - seen))
    finally:
        if is_class:
            bar.close()


def _local_path(array: Any) -> str | None:
    """Of an array of zarr-python or h5py whose files are on a local disk and written by nobody."""
    store: Any = getattr(array, "store", None)
    if type(store).__name__ in ("LocalStore", "DirectoryStore", "NestedDirectoryStore"):
        return os.path.join(str(getattr(store, "root", None) or store.path), array.path)
    file: Any = getattr(array, "file", None)
    if getattr(file, "driver", None) == "sec2" and file.mode == "r" and os.path.exists(file.filename):
        return f"{file.filename}:{array.name}"
    return None


def _regions(shape: Sequence[int], chunks: Sequence[int], most: int) -> Iterator[tuple[slice, ...]]:
    """Boxes of whole chunks, of ``most`` elements where one chunk has no more."""
    extents = [max(1, min(chunk, extent)) for chunk, extent in zip(chunks, shape)]
    for axis in reversed(range(len(shape))):
        others = math.prod(extents) // extents[axis]
        extents[axis] = min(max(1, shape[axis]), extents[axis] * max(1, most // (others * extents[axis])))
    for corner in itertools.product(*(range(0, extent, step) for extent, step in zip(shape, extents))):
        yield tuple(slice(begin, min(begin + step, extent)) for begin, step, extent in zip(corner, extents, shape))


def _chunks_of(array: Any) -> tuple[int, ...]:
    layout = getattr(getattr(array, "chunk_layout", None), "read_chunk", None)  # tensorstore's
    chunks = getattr(layout, "shape", None) or getattr(array, "chunks", None) or array.shape
    # Dask's have the extents of all; tensorstore's may be unknown.
    return tuple((max(each) if isinstance(each, tuple) else each) or extent for each, extent in zip(chunks, array.shape))


@contextlib.contextmanager
def _staged(array: Any, beside: str, memory: int | None, is_read: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """An array that is read through its own interface, as a plain file beside the result, and what says what is in it."""
    import numpy as np

    shape = tuple(int(extent) for extent in array.shape)
    dtype = np.dtype(getattr(array.dtype, "numpy_dtype", array.dtype))  # tensorstore's
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(os.path.abspath(beside)), prefix=".faro-source-") as file:
        file.truncate(math.prod(shape) * dtype.itemsize)
        most = (memory or 1 << 28) // (2 * dtype.itemsize)
        if is_read and math.prod(shape) > 0:
            for part in _regions(shape, _chunks_of(array), most):
                values = array[part]
                values = values.read().result() if hasattr(values, "read") else values
                np.memmap(file.name, dtype, "r+", shape=shape)[part] = np.asarray(values)
        yield file.name, {"raw_dtype": _dtype_name(dtype), "raw_shape": list(shape)}


def open(path: str | os.PathLike[str]) -> Store:  # noqa: A001
    """What is in a store, from its headers alone.

    >>> import numpy as np, tempfile
    >>> path = tempfile.mkdtemp() + "/a.npy"
    >>> np.save(path, np.zeros((3, 4), "f4"))
    >>> faro.open(path)[""].shape
    (3, 4)
    """
    named = _path(path, "open")
    return Store(named, {told["name"]: _array(told) for told in json.loads(_faro.store_arrays(named))})


def relayout(
    source: str | os.PathLike[str] | Any,
    result: str | os.PathLike[str],
    *,
    axes: Sequence[int] | None = None,
    map: str | None = None,  # noqa: A002
    chunks: Sequence[int] | None = None,
    shards: Sequence[int] | None = None,
    codec: str | None = None,
    dtype: Any = None,
    order: str = "C",
    format: str | None = None,  # noqa: A002
    memory: int | None = None,
    threads: int = 0,
    verify: bool = False,
    resume: bool = False,
    explain: bool = False,
    progress: Any = None,
) -> Relayout:
    """An array of one store as an array of another: axes turned, chunks, codec, dtype and format as they are asked for,
    within ``memory`` bytes. A path names an array behind a colon, ``"in.h5:/t"``; without one, a store of several is laid out as a
    whole. Arrays of zarr-python and h5py are read from their files, where those are on a local disk and only read; these elsewhere,
    tensorstore's, and others that have a shape, a dtype and parts are read by themselves, chunk by chunk, into a plain file beside the
    result, which goes afterwards. ``progress(done, total)`` is called with bytes, or a bar as tqdm's, or ``tqdm`` itself, is moved on;
    what it raises ends the run, as Ctrl-C does, and no result is there.
    With ``resume`` what is finished by then is kept beside the result's place, and the same call goes on behind it. With
    ``explain`` nothing is written.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/a.npy", np.arange(12).reshape(3, 4))
    >>> faro.relayout(folder + "/a.npy", folder + "/b.npy", axes=(1, 0)).result.shape
    (4, 3)
    >>> np.load(folder + "/b.npy")[1].tolist()
    [1, 5, 9]
    """
    if order not in ("C", "F"):
        refuse("relayout", f"order {order!r}", "'C' or 'F'")
    if axes is not None and map is not None:
        refuse("relayout", "axes and map", "one of them")
    request = {
        "axes": _extents(axes, "axes ="), "map": map, "chunks": _extents(chunks, "chunks ="),
        "shards": _extents(shards, "shards ="), "codec": codec, "dtype": None if dtype is None else _dtype_name(dtype),
        "fortran_order": order == "F", "format": format,
        "memory_bytes": 0 if memory is None else _run.whole(memory, "relayout", "memory =", 1, 2**62),
        "threads": _run.threads_of(threads, "relayout"), "verify": bool(verify), "resume": bool(resume), "explain": bool(explain),
    }
    with contextlib.ExitStack() as stack:
        path: Any = source if isinstance(source, (str, bytes, os.PathLike)) else _local_path(source)
        left_out: tuple[str, ...] = ()
        if path is None and hasattr(source, "shape") and hasattr(source, "dtype"):
            if resume:
                refuse("relayout", "resume of an array that is in no file here", "a path, or no resume")
            path, raw = stack.enter_context(_staged(source, _path(result, "relayout"), memory, not explain))
            request.update(raw)
            left_out = ("attributes",) if len(getattr(source, "attrs", ())) else ()
        tell = stack.enter_context(_telling(progress))
        named = _path(source if path is None else path, "relayout")
        told = json.loads(_faro.store_relayout(named, _path(result, "relayout"), json.dumps(request), tell))
    return Relayout(
        told["plan"], _array(told["in"]), _array(told["out"]), tuple(told["region"]), told["sweeps"], told["scratch"],
        told["decoded"], told["read_bytes"], told["written_bytes"], told["memory_bytes"], told["threads"],
        told.get("finished", False), told.get("verified", False), told.get("resumed_regions", 0), told["arrays"],
        tuple(told.get("left_out", ())) + left_out, told.get("ms", 0.0) / 1e3,
        None if told["predicted_ms"] is None else told["predicted_ms"] / 1e3,
    )


def _dtype_name(dtype: Any) -> str:
    if isinstance(dtype, str):
        return dtype
    if not getattr(dtype, "isnative", True):
        return str(dtype.str)
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype))
