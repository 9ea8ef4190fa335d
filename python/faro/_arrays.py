"""Arrays of any library: where their elements are, and new ones of the same kind.

This is the long way: arrays of NumPy, and of libraries that offer DLPack's functions to C, are read by the extension
(python/src/calls.cpp) wherever they are dense or strided and nothing else is to be thought of. Here an array is read by
the first of these that it has: PyTorch's and NumPy's own methods; CuPy's and Numba's CUDA Array Interface, for their current
stream; ``__dlpack__``; anyone's CUDA Array Interface; the buffer protocol. What has no kind of array of its own is made one of
NumPy's before (_kinds.py). To faro an element is so many bytes, whatever they mean.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Callable, NoReturn

from . import _faro
from ._errors import FaroDeviceError, FaroMemoryError, FaroTypeError, FaroUnsupportedError, called, refuse
from ._records import record

CPU = 1
CUDA = 2
_HOST_DEVICES = (1, 3, 13)  # DLPack's: CPU, pinned, managed
OF_NUMBERS = (list, tuple, int, float, complex, bool)  # of Python's own, read as NumPy's arrays


@record()
class Array:
    """An array as faro moves it."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    itemsize: int
    readonly: bool
    device: int | None  # None: the host
    stream: int  # of a device: where its work is queued; 0: the default
    keep: Any  # what has to live as long as the address is used
    new: Callable[[tuple[int, ...]], Any]  # an array of the same kind, elements and device
    dtype: Any = None  # the library's own, to be compared

    @property
    def size(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count


def numpy() -> Any:
    """NumPy where it is installed, else None. Arrays of NumPy then take the short way."""
    global _numpy
    if _numpy is False:
        module: Any = None
        try:
            import numpy as found

            module = found
        except ImportError:
            pass
        _numpy = module
        if module is not None:
            _let_read_directly(module)
    return _numpy


def as_array(given: Any, operation: str, dtype: Any = None) -> Any:
    """NumPy's array of numbers in lists. Raises FaroValueError for what makes none, such as rows of different lengths."""
    if isinstance(given, (list, tuple)) and any(isinstance(each, _numpy.ma.MaskedArray) for each in given):
        refuse(operation, f"a {type(given).__name__} of masked arrays", "one masked array", "numpy.ma.stack() makes one")
    try:
        return _numpy.asarray(given, dtype)
    except (OverflowError, TypeError, ValueError) as wrong:
        why = str(wrong).splitlines()[0].split(". ")[0]
        refuse(operation, f"a {type(given).__name__} that makes no array ({why})", "numbers in rows of equal lengths")


def _let_read_directly(np: Any) -> None:
    """Hands NumPy's table of functions to the extension, and an array to compare what it reads with."""
    core = getattr(np, "_core", None) or np.core
    shown = np.empty((3, 5), np.int16)[::2]
    facts = (shown.__array_interface__["data"][0], shown.shape, shown.strides, shown.dtype)
    global _reads_directly
    _reads_directly = _faro.set_numpy(np.ndarray, core._multiarray_umath._ARRAY_API, shown, facts)


def new_numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array of NumPy. Raises FaroMemoryError where there is no memory for it."""
    if _reads_directly:
        return _faro.new_ndarray(shape, _numpy.dtype(dtype))
    try:
        return _numpy.empty(shape, dtype)
    except (MemoryError, ValueError):
        refuse_memory(shape, _numpy.dtype(dtype).itemsize)


def refuse_memory(shape: tuple[int, ...], itemsize: int) -> NoReturn:
    count = itemsize
    for extent in shape:
        count *= extent
    refuse("make an array", f"{count} bytes of a new array", "no more than there is memory for", kind=FaroMemoryError)


_numpy: Any = False
_reads_directly = False


def dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = []
    stride = itemsize
    for extent in reversed(shape):
        strides.append(stride)
        stride *= max(extent, 1)
    return tuple(reversed(strides))


def is_dense(array: Array) -> bool:
    if 0 in array.shape:
        return True
    wanted = dense_strides(array.shape, array.itemsize)
    return all(e == 1 or s == w for e, s, w in zip(array.shape, array.strides, wanted))


def module_of(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def _as_given(x: Any) -> Any:
    return x


_read: Callable[[Any], Any] = _as_given


def read_by(read: Callable[[Any], Any]) -> None:
    """Takes what makes an array of whatever describe() meets (_kinds.read)."""
    global _read
    _read = read


def describe(x: Any, writable: bool = False, recorded: bool = False) -> Array:
    """The array's memory. Raises FaroTypeError for what is none, and FaroUnsupportedError for a tensor whose operations are
    recorded, unless that is what the caller wants."""
    if writable:
        _refuse_to_write(x)
    elif _numpy is not None:
        x = _read(x)
    kind = module_of(x)
    if is_tensor(x):
        if not recorded:
            refuse_recorded(x)
        array = _of_torch(x)
        if writable:
            torch_modes().written(x)
        return array
    if kind == "torch" and hasattr(x, "data_ptr"):
        torch_modes().refuse_others(x)
    np = numpy()
    if np is not None and isinstance(x, np.ndarray):
        return _of_numpy(x, np, writable)
    if kind in ("cupy", "numba") and hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(x, writable)
    if isinstance(x, (bytes, bytearray, memoryview)) or kind == "array":
        return _of_buffer(x, writable)
    if is_jax(x):
        check_jax(x, "read an array")
        refuse_jax("read an array", "faro.jax has the functions that do", x)
        if _is_on_host(x):
            return _of_jax(x)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x, writable)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_cuda_interface(x, writable)
    try:
        memoryview(x).release()
    except TypeError:
        pass
    else:
        return _of_buffer(x, writable)
    if writable and hasattr(x, "__array__"):
        refuse("write an array", f"a {type(x).__name__}, which NumPy may copy", "an array with a buffer or __dlpack__",
               kind=FaroTypeError)
    refuse(
        "read an array",
        f"a {type(x).__name__}",
        "an array with a buffer, __dlpack__ or __cuda_array_interface__",
        kind=FaroTypeError,
    )


def _refuse_to_write(x: Any) -> None:
    """What would be written to a copy of it, or may not be written to whoever lends its memory."""
    if isinstance(x, OF_NUMBERS) or (_numpy is not None and isinstance(x, _numpy.generic)):
        refuse("write an array", f"a {type(x).__name__}", "an array", kind=FaroTypeError)
    if is_tensor(x) and (x.is_conj() or x.is_neg()):
        refuse("write an array", "a tensor that is conjugated or negated when it is read", "one that holds what it means",
               "x.resolve_conj().resolve_neg()")
    refuse_to_write_jax("write an array", "leave out= and in_place= out", x)


def _of_numpy(x: Any, np: Any, writable: bool) -> Array:
    if x.dtype.hasobject:
        refuse(
            "read an array",
            "elements that are references to objects",
            "elements of plain bytes",
            "x.ravel()[places] moves them, for the places that the same call makes of numpy.arange(x.size).reshape(x.shape)",
        )
    if isinstance(x, np.ma.MaskedArray):
        if writable:
            refuse(called(), "a masked array to write to", "an array without a mask", "a.data and a.mask are written by a call each")
        refuse(called(), "a masked array", "an array without a mask", "x.filled(value) has none")
    dtype = x.dtype
    address = x.__array_interface__["data"][0] if x.size else 0
    if writable and not x.flags.writeable:
        refuse("write an array", "a read-only array", "an array that can be written to")
    return Array(
        address, x.shape, x.strides, dtype.itemsize, not x.flags.writeable, None, 0, x,
        lambda s: new_numbers(s, dtype), dtype
    )


def kind_of(array: Array) -> str:
    """``f4``, ``c16``, …: NumPy's letter, for types of any library."""
    dtype = array.dtype
    kind = getattr(dtype, "kind", None)
    if kind is None and isinstance(dtype, tuple):  # DLPack's code, bits, lanes
        kind = {0: "i", 1: "u", 2: "f", 5: "c"}.get(dtype[0], "?")
    if kind is None:
        name = str(dtype).rpartition(".")[2]
        kind = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bool": "b", "bfloat": "f"}.get(
            name.rstrip("0123456789"), "?")
        if isinstance(dtype, str):
            kind = _kind_of_format(dtype)
    return f"{kind}{array.itemsize}"


_OTHER_ORDER = (">", "!") if sys.byteorder == "little" else ("<",)  # signs of formats
_FORMATS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"), "?": "b", "Zf": "c", "Zd": "c"}


def _kind_of_format(text: str) -> str:
    """Of a buffer's format, or of the text that the CUDA Array Interface has for a type; "?" for structures, and for numbers of the
    other byte order."""
    letters = text.lstrip("@=|<>!") if text[:1] not in _OTHER_ORDER else ""
    return letters[0] if letters[1:].isdigit() and letters[0] in "iufcb" else _FORMATS.get(letters, "?")


_DLPACK_FLOATS = {4: "bfloat16", 7: "float8_e3m4", 8: "float8_e4m3", 9: "float8_e4m3b11fnuz", 10: "float8_e4m3fn",
                  11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz", 14: "float8_e8m0fnu"}


def _meaning_of(array: Array) -> str | None:
    """What the elements are, in words that are the same for all libraries; None of what only some of them have, which is bytes."""
    dtype = array.dtype
    if isinstance(dtype, tuple):
        name = _DLPACK_FLOATS.get(dtype[0], "")
    else:
        name = getattr(dtype, "name", str(dtype)).rpartition(".")[2]
    if name.startswith(("bfloat", "float8", "float6", "float4", "int4", "uint4", "int2", "uint2")):
        return name
    is_other = dtype[:1] in _OTHER_ORDER if isinstance(dtype, str) else not getattr(dtype, "isnative", True)
    kind = _kind_of_format(dtype[1:]) + str(array.itemsize) if is_other and isinstance(dtype, str) else kind_of(array)
    if kind[0] not in "iufcb":
        return None
    return f"{kind} of the other byte order" if is_other and array.itemsize > 1 else kind


def are_alike(x: Any, array: Array, y: Any, other: Array) -> bool:
    """Whether elements of two arrays mean the same: the same type, or, of two libraries, the same numbers. Bytes mean anything."""
    if array.itemsize != other.itemsize:
        return False
    np = numpy()
    if type(x) is type(y) or (np is not None and isinstance(array.dtype, np.dtype) and isinstance(other.dtype, np.dtype)):
        return bool(array.dtype == other.dtype)
    meanings = _meaning_of(array), _meaning_of(other)
    return meanings[0] == meanings[1] or None in meanings


def is_tensor(x: Any) -> bool:
    """Whether it is a tensor of PyTorch, of a subclass, too."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, getattr(torch, "Tensor", ()))


def is_jax(x: Any) -> bool:
    """Whether it is an array of JAX, traced or not."""
    jax: Any = sys.modules.get("jax")
    return jax is not None and isinstance(x, getattr(jax, "Array", ()))


def is_traced(x: Any) -> bool:
    """Whether it is a value of JAX of which nothing but the type is known yet."""
    return is_jax(x) and isinstance(x, sys.modules["jax"].core.Tracer)


def is_of_jax(x: Any) -> bool:
    """Whether it is an array of JAX that its own library has to make: on a device, or traced."""
    if not is_jax(x):
        return False
    return is_traced(x) or len(x.sharding.device_set) > 1 or not _is_on_host(x)


def _is_on_host(x: Any) -> bool:
    return all(device.platform == "cpu" for device in x.sharding.device_set)


def by_jax(operation: str, *arrays: Any, **beside: Any) -> bool:
    """Whether JAX itself has to make the result of these arrays. What it has no use for, ``out=`` and ``stream=``, is refused."""
    theirs = [x for x in arrays if is_jax(x)]
    for x in theirs:
        check_jax(x, operation)
    if not any(is_of_jax(x) for x in theirs):
        return False
    for name, given in beside.items():
        if given is not None:
            refuse_jax(operation, f"leave {name}= out", *arrays, wanted=f"no {name}= with it")
            return False  # of one device, read by DLPack
    return True


OUTSIDE_JAX = "call it outside of jit, grad and vmap; numpy.asarray(x) gathers an array of several devices"


def refuse_jax(operation: str, remedy: str, *arrays: Any, wanted: str = "one whose elements are there") -> None:
    """Refuses arrays of JAX that are traced, or spread over devices, in which nothing can be read or written by its address."""
    for x in arrays if "jax" in sys.modules else ():
        if is_traced(x):
            refuse(operation, f"an array of JAX that is traced ({x.dtype}{list(x.shape)})", wanted, remedy,
                   kind=FaroUnsupportedError)
        if is_jax(x) and len(x.sharding.device_set) > 1:
            refuse(operation, f"an array of JAX on {len(x.sharding.device_set)} devices", wanted, remedy,
                   kind=FaroUnsupportedError)


def refuse_to_write_jax(operation: str, remedy: str, *arrays: Any) -> None:
    for x in arrays:
        if is_jax(x):
            refuse(operation, "an array of JAX, which never changes", "an array that can be written to", remedy, kind=FaroTypeError)


def check_jax(x: Any, operation: str) -> None:
    """Refuses arrays of JAX without numbers that can be moved: random keys, and those that are deleted."""
    if not is_traced(x) and x.is_deleted():
        refuse(operation, "an array of JAX that is deleted", "one that is there",
               "jax.numpy.copy(x), made before, stays when x is donated or deleted")
    if sys.modules["jax"].dtypes.issubdtype(x.dtype, sys.modules["jax"].dtypes.extended):
        refuse(operation, f"elements {x.dtype}, whose bytes JAX keeps to itself", "numbers",
               "jax.random.key_data(x) has those of keys, jax.random.wrap_key_data() makes keys of them", kind=FaroTypeError)


_LESS_THAN_A_BYTE = re.compile(r"u?int[124]|float4_\w+")


def widened(dtype: Any) -> str:
    """The remedy for a type of less than a byte; "" for others."""
    name = str(getattr(dtype, "name", ""))
    if not _LESS_THAN_A_BYTE.fullmatch(name):
        return ""
    return f"x.astype('{'float32' if name[0] == 'f' else 'int8'}') has whole bytes"


def _of_jax(x: Any) -> Array:
    """NumPy's view of an array on the host, in which elements of less than a byte have one each."""
    return _of_numpy(numpy().asarray(x), numpy(), False)


def _given_to_jax(x: Any, made: Any) -> Any:
    """A new array of NumPy as one of JAX, on ``x``'s device and without a copy. Types of 64 bits stay what they are."""
    jax: Any = sys.modules["jax"]
    where = x.sharding if x.committed else None
    if made.dtype.itemsize < 8 or jax.config.read("jax_enable_x64"):
        return jax.device_put(made, where, may_alias=True)
    wide = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with wide(True):
        return jax.device_put(made, where, may_alias=True)


def torch_modes() -> Any:
    """What knows of PyTorch's modes, gradients and counters; imported where there is a tensor."""
    global _modes, _dynamo_knows
    if _modes is None:
        from . import _torch_modes as found

        _modes = found
    if not _dynamo_knows and "torch._dynamo" in sys.modules:
        _dynamo_knows = _modes.keep_from_dynamo()
    return _modes


_modes: Any = None
_dynamo_knows = False


def is_recorded(x: Any) -> bool:
    """Whether what is done with a tensor of PyTorch is recorded: for its derivatives, by a transformation, a tracer or a mode."""
    return is_tensor(x) and torch_modes().watcher(x) is not None


def refuse_recorded(x: Any) -> None:
    """Raises FaroUnsupportedError, with the called function's name, for a tensor that is_recorded()."""
    if is_tensor(x):
        seen = torch_modes().watcher(x)
        if seen is not None:
            torch_modes().refuse_recorded(x, seen)


def plain_tensors(given: Any, device: int | None = None) -> Any:
    """``_torch_modes`` where all are plain tensors, of that GPU if one is named; else None, and describe() tells of each."""
    if not all(map(is_tensor, given)):
        return None
    modes = torch_modes()
    if not modes.are_plain(given) or not (device is None or all(x.get_device() == device for x in given)):
        return None
    return modes


def meet_torch() -> Any:
    """What the short way of a call needs to know of PyTorch, asked once."""
    return torch_modes().meet()


def resolved(x: Any) -> Any:
    """A tensor whose memory has the numbers that it means: neither conjugated nor negated when it is read. (DLPack tells nothing of
    that.)"""
    return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x


def _of_torch(x: Any) -> Array:
    import torch

    torch_modes().refuse_layout("read an array", x)
    if x.device.type not in ("cpu", "cuda"):
        refuse("read an array", f"a tensor on {x.device}", "a tensor on cpu or cuda")
    x = resolved(x.detach())
    itemsize = x.element_size()
    device = None if x.device.type == "cpu" else int(x.device.index or 0)
    stream = 0 if device is None else torch_modes().queue(device)
    return Array(
        x.data_ptr(),
        tuple(x.shape),
        tuple(s * itemsize for s in x.stride()),
        itemsize,
        False,
        device,
        stream,
        x,
        lambda s: _new_tensor(s, x.dtype, x.device, itemsize),
        x.dtype,
    )


def _new_tensor(shape: tuple[int, ...], dtype: Any, device: Any, itemsize: int) -> Any:
    import torch

    try:
        return torch.empty(shape, dtype=dtype, device=device)
    except RuntimeError as why:  # PyTorch has no class of its own for the host's memory
        if "memory" in str(why) or "overflow" in str(why):
            refuse_memory(shape, itemsize)
        raise


def _of_buffer(x: Any, writable: bool) -> Array:
    view = memoryview(x)
    if view.format is not None and "O" in view.format:
        refuse("read an array", "elements that are references to objects", "elements of plain bytes")
    if writable and view.readonly:
        refuse("write an array", "a read-only array", "an array that can be written to")
    held = _faro.Buffer(x, writable)
    address, shape, strides, itemsize, readonly = held.facts()
    np = numpy()
    format: Any = view.format or "B"

    def new(shape: tuple[int, ...]) -> Any:
        if np is not None:
            made = new_numbers(shape, np.asarray(view).dtype)
            return memoryview(made) if isinstance(x, memoryview) else made
        count = itemsize
        for extent in shape:
            count *= extent
        made = memoryview(bytearray(count))
        return made.cast(format, shape) if format != "B" or len(shape) != 1 else made

    return Array(address, shape, strides, itemsize, readonly, None, 0, held, new, format)


def _of_cuda_interface(x: Any, writable: bool) -> Array:
    facts = x.__cuda_array_interface__
    try:
        itemsize = int(facts["typestr"][2:])
        shape = tuple(facts["shape"])
        strides = facts.get("strides") or dense_strides(shape, itemsize)
        address, readonly = facts["data"]
    except (KeyError, TypeError, ValueError) as why:
        refuse("read an array", f"a {type(x).__name__} whose __cuda_array_interface__ cannot be read ({why!r})",
               "its shape, typestr and data", kind=FaroTypeError)
    if writable and readonly:
        refuse("write an array", "a read-only array", "an array that can be written to")
    kind = module_of(x)
    if kind == "cupy":
        import cupy  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return Array(
            address, shape, tuple(strides), itemsize, readonly, int(x.device.id),
            int(cupy.cuda.get_current_stream().ptr), x, lambda s: new_on_device(x, s), x.dtype,
        )
    if kind == "numba":
        from numba import cuda  # type: ignore[import-not-found,import-untyped,unused-ignore]

        device = int(cuda.get_current_device().id)
        stream = facts.get("stream") or 0
        return Array(
            address, shape, tuple(strides), itemsize, readonly, device, int(stream), x,
            lambda s: cuda.device_array(s, x.dtype), x.dtype,
        )

    device = _faro.cuda_device_of(int(address)) if 0 not in shape else 0
    if device < 0:
        available, reason = _faro.cuda_status()
        wanted = "memory of a CUDA device" + ("" if available else f" ({reason})")
        refuse("read an array", f"a {type(x).__name__} whose memory is no device's", wanted, kind=FaroDeviceError)
    return Array(
        address, shape, tuple(strides), itemsize, readonly, device, int(facts.get("stream") or 0), x,
        lambda s: new_on_device(x, s), facts["typestr"],
    )


def new_on_device(x: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """A new array on ``x``'s GPU, of its type unless another is given: of CuPy, or of a library that follows the array API standard."""
    if module_of(x) == "cupy":
        cupy: Any = sys.modules["cupy"]
        with cupy.cuda.Device(x.device.id):
            return cupy.empty(shape, x.dtype if dtype is None else dtype)
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().empty(shape, dtype=x.dtype if dtype is None else dtype, device=x.device)
    refuse("make an array", f"a {type(x).__name__} on a GPU, of a library that faro does not know", "out=",
           "give the result as out=", kind=FaroTypeError)


def _of_dlpack(x: Any, writable: bool) -> Array:
    try:
        try:
            capsule = x.__dlpack__(max_version=(1, 1))
        except TypeError:
            capsule = x.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError) as why:
        refuse("read an array", f"a {type(x).__name__} that DLPack does not take ({str(why).splitlines()[0]})", "plain numbers",
               kind=FaroTypeError)
    address, shape, strides, itemsize, readonly, device_type, device, dtype = _faro.dlpack_facts(capsule)
    if device_type not in _HOST_DEVICES and device_type != CUDA:
        refuse("read an array", f"an array on a device of DLPack's type {device_type}", "an array on cpu or cuda")

    if writable and readonly:
        refuse("write an array", "a read-only array", "an array that can be written to")

    def new(shape: tuple[int, ...]) -> Any:
        if from_dlpack_of(x) is None and numpy() is not None:
            return new_numbers(shape, numpy_type(dtype))
        _, made = _faro.new_array(list(shape), *dtype)
        return made

    return Array(
        address, shape, strides, itemsize, readonly, device if device_type == CUDA else None, 0, (x, capsule),
        new if device_type != CUDA else lambda s: new_on_device(x, s), dtype,
    )


def numpy_type(dtype: tuple[int, int, int]) -> Any:
    """NumPy's type of DLPack's code, bits and lanes; bytes that mean nothing to it where it has none."""
    code, bits, lanes = dtype
    ml_dtypes: Any = sys.modules.get("ml_dtypes")
    if code == 4 and ml_dtypes is not None:
        return ml_dtypes.bfloat16
    letter = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(code) if lanes == 1 else None
    return f"{letter}{bits // 8}" if letter else f"V{bits * lanes // 8}"


def from_dlpack_of(x: Any) -> Callable[[Any], Any] | None:
    """What makes an array of ``x``'s library of another one's; None where it has no such function."""
    if hasattr(x, "__array_namespace__"):
        found = getattr(x.__array_namespace__(), "from_dlpack", None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return getattr(sys.modules.get(module_of(x)), "from_dlpack", None)


def given_back(x: Any, made: Any) -> Any:
    """An array that ``Array.new`` made of ``x``, once it is written, as ``x``'s library has arrays."""
    if is_jax(x) and made.__class__.__module__ == "numpy":
        return _given_to_jax(x, made)
    if module_of(made) != "nanobind":
        return made
    from_dlpack = from_dlpack_of(x)
    return made if from_dlpack is None else from_dlpack(made)
