"""Families of shapes: planned once, and called with arrays of other extents."""

from __future__ import annotations

import math
from typing import Any, Sequence

from . import _arrays, _faro, _kinds, _outputs, _run
from ._errors import FaroTypeError, refuse

__all__ = ["Family", "family"]

_RUN = "run a family"
_PLAN = "plan a family"
_MOST = 2**40  # elements of an array


class Family:
    """How arrays of one rank and element width are moved, whatever their free extents are.

    Any number of threads may call one family at once.

    >>> import numpy as np, faro
    >>> move = faro.family((None, 8, 128), (1, 0, 2), itemsize=2)
    >>> [move(np.zeros((tokens, 8, 128), "f2")).shape for tokens in (3, 77)]
    [(8, 3, 128), (8, 77, 128)]
    """

    def __init__(self, handle: Any, shape: tuple[int | None, ...], most: tuple[int, ...], axes: tuple[int, ...], flip: tuple[int, ...],
                 roll: tuple[int, ...], itemsize: int, device: int | None):
        self._handle = handle
        self.shape = shape
        self.most = most
        self.axes = axes
        self.flip = flip
        self.roll = roll
        self.itemsize = itemsize
        self.device = device

    def __call__(self, x: Any, out: Any = None, *, extents: Any = None, stream: Any = None) -> Any:
        """The moved array: a new one of ``x``'s kind, or ``out``. Strides of ``x`` may be any.

        ``extents``: an array of the GPU with the free extents of this call, signed, of 4 or 8 bytes, which the kernel reads when it
        runs; ``x`` and ``out`` are dense arrays then, with room for them, and what is behind them stays as it is. Nothing is planned on the
        host, and a graph that has captured the call is replayed with other extents; one below 0 or past its most moves nothing.

        Raises FaroValueError for arrays of another rank, width or fixed extent, and for extents past their most; nothing is written
        then.
        """
        if stream is None and extents is None:
            made = _faro.call_family(self._handle, x, out)
            if made is not None:
                return made
        recorder = _run.recording(_RUN, (x,), out, stream)
        if recorder is not None:
            return recorder.by_family(x, self, extents)
        _arrays.refuse_jax(_RUN, "faro.jax.permute_dims() takes any shape, symbolic ones too", x)
        x = _kinds.read(x, _RUN)
        if _kinds.is_masked(x):
            return _kinds.with_mask(x, lambda data: self._like(data)(data, stream=stream), out, _RUN)
        array = _arrays.describe(x)
        if (array.device is not None) != (self.device is not None):
            refuse(_RUN, "an array on another device", "an array of the host" if self.device is None else "an array on a GPU",
                   "engine='cuda' makes families for arrays on a GPU")
        queue = _run.stream_of(array, stream, _RUN)
        if extents is not None:
            return self._on_device(x, array, out, extents, queue)
        self._check(array.shape, array.itemsize)
        beside = _outputs.reads(out, input=array)
        if any(s % array.itemsize for s in array.strides) if array.itemsize else False:
            array = _arrays.describe(_faro.run(x, _run.COPY, None, None, stream))
        target, finished = _run.result_of(x, array, out, self._after(array.shape), _RUN, queue, beside=beside)
        free = [e for e, fixed in zip(array.shape, self.shape) if fixed is None]
        strides, address = None, array.address
        if not _arrays.is_dense(array) and 0 not in array.shape:
            strides = [s // array.itemsize if e > 1 else 0 for s, e in zip(array.strides, array.shape)]
            address += sum(s * array.itemsize * (e - 1) for s, e in zip(strides, array.shape) if s < 0)
        self._handle.run(free, strides, None, address, target.address, queue)
        return finished()

    def _on_device(self, x: Any, array: Any, out: Any, extents: Any, queue: int) -> Any:
        if self.device is None:
            refuse(_RUN, "extents in a device's memory for a family of the host", "none: the arrays have them",
                   "engine='cuda' makes families for arrays on a GPU")
        if out is None:
            refuse(_RUN, "extents that the host does not know without out=", "out=, an array with room for the result")
        counts = _arrays.describe(extents)
        target = _arrays.describe(out, writable=True)
        free = self.shape.count(None)
        signed = str(getattr(extents, "dtype", "")).rpartition(".")[2] in ("int32", "int64")
        if not signed or math.prod(counts.shape) != free or counts.device != self.device or not _arrays.is_dense(counts):
            refuse(_RUN, f"extents of shape {counts.shape} and {getattr(extents, 'dtype', 'no type')}",
                   f"{free} of int32 or int64, one behind another on the family's GPU")
        if not (_arrays.is_dense(array) and _arrays.is_dense(target)):
            refuse(_RUN, "arrays with strides beside extents that the host does not know", "dense arrays")
        if array.itemsize != self.itemsize or target.itemsize != self.itemsize:
            refuse(_RUN, f"elements of {array.itemsize} and {target.itemsize} bytes", f"{self.itemsize} bytes")
        _outputs.check_apart(x, out, _RUN)
        self._handle.run_on_device(counts.address, counts.itemsize, array.address, target.address, queue)
        return out

    def _check(self, shape: tuple[int, ...], itemsize: int) -> None:
        alike = len(shape) == len(self.shape) and all(fixed in (None, e) for e, fixed in zip(shape, self.shape))
        if not alike or itemsize != self.itemsize:
            refuse(_RUN, f"shape {shape} of {itemsize} bytes", f"{self.shape} of {self.itemsize} bytes, None being any extent")

    def _after(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(shape[a] for a in self.axes)

    def _like(self, x: Any) -> "Family":
        """The same for elements of another width: a mask's."""
        width = x.dtype.itemsize
        return self if width == self.itemsize else _family(self.shape, self.most, self.axes, self.flip, self.roll, width, "cpu", 0, None)

    def explain(self, *extents: int) -> str:
        """What an array with these free extents is moved by, in a line.

        >>> import faro
        >>> "turned in registers" in faro.family((None, None), (1, 0), itemsize=4, engine="cpu").explain(500, 300)
        True
        """
        free = self.shape.count(None)
        if len(extents) != free:
            refuse("explain a family", f"{len(extents)} extents", f"{free}, those that are free")
        return str(self._handle.explain([_run.whole(e, "explain a family", "extent", 0, _MOST) for e in extents]))


def family(shape: Sequence[int | None], axes: Sequence[int] | None = None, *, itemsize: int, flip: Sequence[int] = (),
           roll: Sequence[int] | None = None, most: int | Sequence[int] | None = None, engine: str = "auto", threads: int = 0,
           device: int | None = None) -> Family:
    """A plan for all arrays of ``shape``, in which None is an extent that comes with each call.

    Axes are flipped, then rolled by ``roll``, a shift each, then put in the order ``axes``; None: as they are. ``most``: what free
    extents may be at most, one number or one for each; without it any. ``engine``: ``"cuda"`` for arrays on the GPU ``device``; ``"auto"``
    and ``"cpu"``: of the host. ``threads`` 0: as many as OpenMP would use.

    A call with a new shape is planned in one or two microseconds; on a GPU, where a search finds better, the second call of a shape is
    planned in up to a millisecond, as by ``permute_dims`` the first array of a shape, which keeps as many plans as there were shapes.

    Raises FaroValueError for what is no order, axis or shift, FaroDeviceError for an engine that is not here.

    >>> import numpy as np, faro
    >>> turn = faro.family((None, None), (1, 0), itemsize=8, flip=(0,))
    >>> turn(np.arange(6).reshape(2, 3)).tolist()
    [[3, 0], [4, 1], [5, 2]]
    """
    asked = _run.listed(shape)
    if not isinstance(asked, tuple):
        refuse(_PLAN, f"the shape {shape!r}", "a sequence of extents, None for those that are free", kind=FaroTypeError)
    given = tuple(None if e is None else _run.whole(e, _PLAN, "extent", 0, _MOST) for e in asked)
    rank = len(given)
    free = given.count(None)
    bounds = _run.listed(most)
    if not isinstance(bounds, tuple):
        bounds = (_MOST if bounds is None else bounds,) * free
    if len(bounds) != free:
        refuse(_PLAN, f"most= of {len(bounds)} extents", f"{free}, those that are free, or one number")
    left = iter(bounds)
    extents = tuple(_run.whole(next(left), _PLAN, "most =", 0, _MOST) if e is None else e for e in given)
    order = tuple(range(rank)) if axes is None else _run.order_of(axes, rank, _PLAN)
    rolled = (0,) * rank if roll is None else _run.listed(roll)
    if not isinstance(rolled, tuple) or len(rolled) != rank:
        refuse(_PLAN, f"roll={roll!r}", f"{rank} shifts, one for each axis")
    shifts = tuple(_run.whole(s, _PLAN, "a shift of", -(2**62) + 1, 2**62 - 1) for s in rolled)
    flipped = _run.axes_of(tuple(flip) if isinstance(flip, (tuple, list)) else flip, rank, _PLAN)
    itemsize = _run.whole(itemsize, _PLAN, "itemsize", 1, 4096)
    return _family(given, extents, order, flipped, shifts, itemsize, engine, threads, device)


def _family(shape: tuple[int | None, ...], most: tuple[int, ...], axes: tuple[int, ...], flip: tuple[int, ...], roll: tuple[int, ...],
            itemsize: int, engine: str, threads: int, device: int | None) -> Family:
    on_gpu = engine == "cuda"
    number = (0 if device is None else device) if on_gpu else None
    handle = _faro.Family.make([-1 if e is None else e for e in shape], list(most), list(axes), [int(a in flip) for a in range(len(shape))],
                               list(roll), itemsize, _run.options(engine, threads, number), -1 if number is None else number)
    return Family(handle, shape, most, axes, flip, roll, itemsize, number)
