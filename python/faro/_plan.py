"""Plans as objects: made once, run often, explained, saved."""

from __future__ import annotations

import json as _json
import math
import os as _os
from typing import Any, Sequence

from . import _arrays, _faro, _kinds, _outputs, _run, maps
from ._errors import FaroError, FaroTypeError, refuse

__all__ = ["Plan", "plan", "load_plan", "export_wisdom", "import_wisdom", "forget_wisdom"]


class Plan:
    """How a permutation is carried out on arrays of one shape and element width.

    Any number of threads may call one plan at once.

    >>> import numpy as np, faro
    >>> p = faro.plan("bit_reversal", shape=(1024,), itemsize=8)
    >>> x = np.arange(1024.0)
    >>> bool((p.inverse(p(x)) == x).all())
    True
    """

    def __init__(self, handle: Any, shape: tuple[int, ...], out_shape: tuple[int, ...], itemsize: int, device: int | None):
        self._handle = handle
        self._inverse: Plan | None = None
        self.shape = shape
        self.out_shape = out_shape
        self.itemsize = itemsize
        self.device = device
        self.on_gpu, self.in_place = handle.facts()
        self._call = None
        if not self.in_place and not (self.on_gpu and device is None):
            self._call = _faro.Call.make(handle, shape, out_shape, itemsize, device if self.on_gpu and device is not None else -1)

    def __call__(self, x: Any, out: Any = None, stream: Any = None) -> Any:
        """The permuted array: a new one of ``x``'s kind, or ``out``; of a plan in place ``x`` itself.

        ``x`` has the plan's shape and element width; one with strides is made dense first. Raises FaroValueError for
        other arrays; nothing is written then.
        """
        if out is None and stream is None and self._call is not None:
            made = _faro.call(self._call, x)
            if made is not None:
                return made
        recorder = None if self.in_place else _run.recording("run a plan", (x,), out, stream)
        if recorder is not None:
            return recorder.by_plan(x, self)
        if not self.in_place:
            _arrays.refuse_jax("run a plan", "faro.jax.permute() makes plans that JAX runs", x)
            x = _kinds.read(x, "run a plan")
            if _kinds.is_masked(x):
                return _kinds.with_mask(x, lambda data: self(data, stream=stream), out, "run a plan", self._moved_mask)
        array = _arrays.describe(x, writable=self.in_place)
        if array.shape != self.shape or array.itemsize != self.itemsize:
            refuse("run a plan", f"shape {array.shape} of {array.itemsize} bytes", f"{self.shape} of {self.itemsize} bytes")
        if (array.device is not None) != self.on_gpu:
            refuse("run a plan", "an array on another device", "an array of the host" if not self.on_gpu else "an array on a GPU",
                   "engine='cuda' plans for arrays on a GPU, 'cpu' for those of the host")
        queue = _run.stream_of(array, stream, "run a plan")
        beside = _outputs.reads(out, input=array)
        if not _arrays.is_dense(array):
            if self.in_place:
                refuse("run a plan", "an array with strides in place", "a dense array")
            x = _faro.run(x, _run.COPY, None, None, stream)
            array = _arrays.describe(x)
        if self.in_place:
            if out is not None:
                refuse("run a plan", "out= of a plan in place", "none")
            self._handle.run_in_place(array.address, queue)
            return x if self.out_shape == self.shape else x.reshape(self.out_shape)
        target, finished = _run.result_of(x, array, out, self.out_shape, "run a plan", queue, beside=beside)
        _run.move(self._handle, array, array.address, target.address, queue)
        return finished()

    def _moved_mask(self, mask: Any) -> Any:
        """A mask, whose elements are made as wide as the plan's."""
        np: Any = _arrays.numpy()
        wide = np.zeros(mask.shape, f"V{self.itemsize}")
        size = mask.dtype.itemsize
        wide.view(np.uint8).reshape(*mask.shape, self.itemsize)[..., :size] = mask[..., None].view(np.uint8)
        moved = self(wide)
        return np.ascontiguousarray(moved.view(np.uint8).reshape(*moved.shape, self.itemsize)[..., :size]).view(mask.dtype)[..., 0]

    @property
    def inverse(self) -> "Plan":
        """The plan of the way back. Its inverse is this plan.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> p.inverse.inverse is p
        True
        """
        if self._inverse is None:
            back = Plan(self._handle.inverse(), self.out_shape, self.shape, self.itemsize, self.device)
            back._inverse = self
            self._inverse = back
        return self._inverse

    def explain(self) -> str:
        """The plan in words, as ``faro explain`` prints it.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> "gray(10)" in p.explain()
        True
        """
        return str(self._handle.explain())

    def explain_json(self) -> dict[str, Any]:
        """The same as a dictionary (docs/guide/json.md).

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> p.explain_json()["batch"]
        1
        """
        return _json.loads(self._handle.explain_json())

    @property
    def predicted_time(self) -> float | None:
        """Seconds that a run is predicted to take; None where nothing is known. On the CPU by the curves that ``faro tune`` measured, else
        those of a machine with two cores.

        >>> import faro
        >>> faro.plan("gray(10)", itemsize=4, engine="cpu").predicted_time < 1e-3
        True
        """
        microseconds = self._handle.predicted_us()
        return None if math.isnan(microseconds) else microseconds * 1e-6

    @property
    def workspace_bytes(self) -> int:
        """Bytes that a run allocates beside its arrays.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> p.workspace_bytes
        0
        """
        return self._handle.workspace_bytes()

    def svg(self) -> str:
        """The drawing of the index bits. Raises FaroUnsupportedError for plans without one.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> "<svg" in p.svg()
        True
        """
        return str(self._handle.svg())

    def to_bytes(self) -> bytes:
        """What makes the same plan again: ``load_plan`` takes it.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> faro.load_plan(p.to_bytes()).shape
        (1024,)
        """
        head = _json.dumps({"shape": self.shape, "out_shape": self.out_shape, "itemsize": self.itemsize})
        return _MAGIC + head.encode() + b"\n" + self._handle.to_bytes()

    def save(self, path: str | _os.PathLike[str]) -> None:
        """Writes ``to_bytes()`` to a file, whole or not at all. Raises FaroFileError.

        >>> import faro
        >>> p = faro.plan("gray(10)", itemsize=4)
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "gray.plan")
        ...     p.save(path)
        ...     faro.load_plan(path).shape
        (1024,)
        """
        _write_whole(_path_of(path), self.to_bytes())

    def __reduce__(self) -> Any:
        return _from_bytes, (self.to_bytes(), "cuda" if self.on_gpu else "cpu", self.device)

    def _repr_html_(self) -> str:
        try:
            drawn = self.svg()
        except FaroError:
            drawn = ""
        drawn = drawn[drawn.find("<svg") :] if "<svg" in drawn else ""
        import html as _html  # of two tables of entities

        return f"<div>{drawn}<pre>{_html.escape(self.explain())}</pre></div>"

    def __repr__(self) -> str:
        return f"<faro.Plan {self.shape} -> {self.out_shape}, {self.itemsize} bytes, {'cuda' if self.on_gpu else 'cpu'}>"


_MAGIC = b"faro-python-plan 1\n"


def plan(by: "str | maps.Map", like: Any = None, *, shape: Sequence[int] | None = None, itemsize: int | None = None,
         engine: str = "auto", threads: int = 0, device: int | None = None, in_place: bool = False,
         repeats: int = 0, measure: bool = False) -> Plan:
    """Plans a map, or its text form, for arrays as ``like``, or of this shape and element width in bytes.

    ``engine``: ``"cpu"``, ``"cuda"`` or ``"auto"``, which is where ``like`` lies, else the CPU. ``threads`` 0: as many as
    OpenMP would use. ``repeats``: how often an index array's plan will be run, 0: often. ``measure``, of the CPU: some ways
    are tried on arrays of this size, for up to some seconds, and the fastest is taken and remembered (``export_wisdom``).

    Raises FaroValueError and FaroUnsupportedError as ``permute``, FaroDeviceError for an engine that is not here.

    >>> faro.plan("transpose", shape=(3, 5), itemsize=4).out_shape
    (5, 3)
    """
    if not isinstance(by, (str, maps.Map)):
        refuse("plan", f"a {type(by).__name__}", "a map or its text", kind=FaroTypeError)
    if like is not None:
        if shape is not None or itemsize is not None:
            refuse("plan", "an array and a shape or itemsize", "one of them")
        _arrays.refuse_jax("plan", "shape=x.shape and itemsize=x.dtype.itemsize say the same", like)
        given = _kinds.read(like, "plan")
        array = _arrays.describe(_kinds.parts_of(given)[0] if _kinds.is_masked(given) else given)
        shape, itemsize = array.shape, array.itemsize
        if engine == "auto" and array.device is not None:
            engine, device = "cuda", array.device
    elif itemsize is None:
        refuse("plan", "no element width", "an array, or itemsize=")
    itemsize = _run.whole(itemsize, "plan", "itemsize", 1, 4096)
    if shape is None:
        shape = (by.count,) if isinstance(by, maps.Map) else (maps.parse(by).count,)
    given = _run.shape_of(shape, "plan")
    opts = _run.options(engine, threads, device, in_place, 1, repeats, measure)
    strides = _arrays.dense_strides(given, itemsize)
    if isinstance(by, maps.Map):
        handle, out_shape = _run._plan_map(given, strides, itemsize, by, opts, is_plan=True)
    else:
        handle, out_shape = _run._plan_text(given, strides, itemsize, (by, False), opts, is_plan=True)
    return Plan(handle, given, out_shape, itemsize, device)


def export_wisdom() -> str:
    """What plans with ``measure=True`` have found and kept on this machine and others, as JSON. Raises FaroFileError.

    >>> import faro
    >>> "entries" in faro.export_wisdom()
    True
    """
    return str(_faro.wisdom_export())


def import_wisdom(text: str) -> int:
    """Takes what ``export_wisdom`` told, here or elsewhere; of the same problem, machine and version the faster stays.

    Gives how many entries are new or faster. Raises FaroFileError for any other text, and changes nothing then.

    >>> import faro
    >>> faro.import_wisdom(faro.export_wisdom())
    0
    """
    if not isinstance(text, str):
        refuse("take wisdom", f"a {type(text).__name__}", "the text that export_wisdom gave", kind=FaroTypeError)
    return int(_faro.wisdom_import(text))


def forget_wisdom() -> int:
    """Forgets all that plans with ``measure=True`` have kept; gives how many there were. Raises FaroFileError.

    >>> import faro
    >>> faro.forget_wisdom()
    0
    """
    return int(_faro.wisdom_forget())


def load_plan(source: "bytes | str | _os.PathLike[str]", *, engine: str = "auto", threads: int = 0,
              device: int | None = None) -> Plan:
    """A plan that ``Plan.save`` or ``Plan.to_bytes`` wrote, for this machine. Raises FaroFileError for anything else.

    >>> import faro
    >>> p = faro.plan("gray(10)", itemsize=4)
    >>> faro.load_plan(p.to_bytes()).itemsize
    4
    """
    if isinstance(source, bytes):
        return _from_bytes(source, engine, device, threads)
    path = _path_of(source)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        from ._errors import FaroFileError

        refuse(f"read `{path}`", getattr(error, "strerror", None) or str(error), "a plan that Plan.save wrote", kind=FaroFileError)
    return _from_bytes(data, engine, device, threads)


def _path_of(path: Any) -> Any:
    try:
        return _os.fsdecode(path)
    except TypeError:
        refuse("name a file", f"a {type(path).__name__}", "a path", kind=FaroTypeError)


def _from_bytes(data: bytes, engine: str = "auto", device: int | None = None, threads: int = 0) -> Plan:
    from ._errors import FaroFileError

    head, _, body = data[len(_MAGIC) :].partition(b"\n")
    try:
        if not data.startswith(_MAGIC):
            raise ValueError
        facts = _json.loads(head)
        shape, out_shape = tuple(map(int, facts["shape"])), tuple(map(int, facts["out_shape"]))
        itemsize = int(facts["itemsize"])
        if any(extent < 0 for extent in shape + out_shape) or math.prod(shape) != math.prod(out_shape):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        refuse("read a plan", "bytes that are no plan", "what Plan.save or Plan.to_bytes wrote", kind=FaroFileError)
    handle = _faro.plan_from_bytes(body, _run.options(engine, threads, device))
    if handle.out_bytes() != math.prod(shape) * itemsize:
        refuse("read a plan", "a plan of another size than its shape", "what Plan.save wrote", kind=FaroFileError)
    return Plan(handle, shape, out_shape, itemsize, device)


def _write_whole(path: str, data: bytes) -> None:
    from ._errors import FaroFileError

    beside = f"{path}.{_os.getpid()}.{_os.urandom(4).hex()}.part"
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            _os.fsync(file.fileno())
        _os.replace(beside, path)
    except (OSError, ValueError) as error:  # of a name with a null
        if _os.path.exists(beside):
            _os.unlink(beside)
        refuse(f"write `{path}`", getattr(error, "strerror", None) or str(error), "a folder that can be written to", kind=FaroFileError)
