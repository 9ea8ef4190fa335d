"""Many arrays at once, each with a map of its own: one launch for each family of kernels on a GPU, one team on a CPU."""

from __future__ import annotations

from typing import Any, Iterable, NoReturn

from . import _arrays, _faro, _kinds, _run
from ._errors import FaroError, FaroTypeError, FaroUnsupportedError, refuse
from ._map import Map
from ._plan import Plan

__all__ = ["Group", "group"]


class Group:
    """Arrays that are permuted together, kept: group() makes it. Any number of threads may run one at once, of other arrays.

    >>> import numpy as np, faro
    >>> len(faro.group([(np.arange(6).reshape(2, 3), (1, 0), np.zeros((3, 2), int))]))
    1
    """

    def __init__(self, members: Iterable[Any], threads: int = 0):
        if not isinstance(members, Iterable):
            refuse("group", f"a {type(members).__name__}", "members (x, how, out)", kind=FaroTypeError)
        plans, ins, outs, first = [], [], [], None
        self._keep, self._shapes = [], []
        for number, member in enumerate(members):
            try:
                x, how, out = member
            except (TypeError, ValueError):
                refuse("group", f"member {number}, a {type(member).__name__}", "an array, a map or an order of axes, and an output",
                       kind=FaroTypeError)
            try:
                handle, source, target = _planned(x, how, out)
                if first is not None and source.device != first.device:
                    refuse("group", f"an array on {_where(source)}", f"{_where(first)}, where that of member 0 is")
            except FaroError as error:
                _numbered(error, number)
            first = first or source
            plans.append(handle)
            ins.append(source.address)
            outs.append(target.address)
            self._keep.append((x, out))
            self._shapes.append((*_laid(source), source.itemsize, *_laid(target)))
        self._first = first
        self._outs = [out for _, out in self._keep]
        self._device = None if first is None else first.device
        try:
            self._handle = _faro.Group.make(plans, ins, outs, self._shapes, -1 if self._device is None else self._device,
                                            _run.threads_of(threads, "group"))
        except FaroError as error:
            raise error from None

    def run(self, ins: Iterable[Any] | None = None, outs: Iterable[Any] | None = None, *, stream: Any = None) -> list[Any]:
        """Permutes all arrays, and returns the outputs: those that the group was made with, or others of the same shapes, strides and
        element widths, as many as there are members. On a GPU it is queued, and nothing waits.

        >>> import numpy as np, faro
        >>> x, y = np.arange(6).reshape(2, 3), np.zeros((3, 2), int)
        >>> faro.group([(x, (1, 0), y)]).run([x + 10], [y])[0].tolist()
        [[10, 13], [11, 14], [12, 15]]
        """
        if (ins is None) != (outs is None):
            refuse("group", "ins or outs alone", "both, or none")
        if ins is None or outs is None:
            if self._first is not None and not (stream is None and self._handle.run_kept(self._keep[0][0])):
                self._handle.run(self._queue(self._keep[0][0], stream))
            return list(self._outs)
        try:
            given, written = list(ins), list(outs)
        except TypeError as wrong:
            refuse("group", f"ins or outs that are no arrays ({wrong})", "an array for each member", kind=FaroTypeError)
        if stream is None and self._handle.run_plain(given, written):
            return written
        for name, arrays in (("ins", given), ("outs", written)):
            if len(arrays) != len(self._shapes):
                refuse("group", f"{len(arrays)} {name}", f"{len(self._shapes)}, one for each member")
        sources, targets = [], []
        for number, (x, out) in enumerate(zip(given, written)):
            try:
                source, target = _arrays.describe(x), _arrays.describe(out, writable=True)
                found = (*_laid(source), source.itemsize, *_laid(target))
                if found != self._shapes[number] or target.itemsize != source.itemsize:
                    refuse("group", f"arrays of shapes {source.shape} and {target.shape}, or other strides or widths",
                           f"{self._shapes[number][0]} and {self._shapes[number][3]} as the member was made with")
                if source.device != self._device or target.device != self._device:
                    refuse("group", "an array in another memory", "that of the group's arrays")
            except FaroError as error:
                _numbered(error, number)
            sources.append(source.address)
            targets.append(target.address)
        if given:
            self._handle.run_arrays(sources, targets, self._queue(given[0], stream))
        return written

    def run_table(self, addresses: Any, *, stream: Any = None) -> None:
        """The same by addresses that lie on the group's GPU, int64, those of all inputs and then those of all outputs: they are read when
        the launches run, so a captured graph is replayed with other arrays. Nobody checks them. Raises FaroUnsupportedError on a CPU, and
        for members that have launches of their own (explain() names them).

        >>> import faro
        >>> try:
        ...     faro.group([]).run_table([])
        ... except faro.FaroUnsupportedError as error:
        ...     "run" in error.operation
        True
        """
        if self._device is None:
            refuse("run a group", "a table of addresses for arrays of the host", "arrays on a GPU", "run(ins, outs)", kind=FaroUnsupportedError)
        table = _arrays.describe(addresses)
        if table.device != self._device or table.itemsize != 8 or table.size != 2 * len(self._shapes) or not _arrays.is_dense(table):
            refuse("run a group", f"{table.size} addresses of {table.itemsize} bytes", f"{2 * len(self._shapes)} of int64 on the group's device")
        self._handle.run_table(table.address, _run.stream_of(table, stream, "group"))

    @property
    def launches(self) -> int:
        """Of a run on a GPU; on a CPU how often the team is woken.

        >>> import faro
        >>> faro.group([]).launches
        0
        """
        return int(self._handle.facts()[1])

    def explain(self) -> str:
        """Launches, blocks, bytes and the time that is predicted, in words.

        >>> import numpy as np, faro
        >>> len(faro.group([(np.zeros((2, 3)), (1, 0), np.zeros((3, 2)))]).explain()) > 0
        True
        """
        return str(self._handle.explain())

    def __len__(self) -> int:
        return len(self._shapes)

    def _queue(self, x: Any, stream: Any) -> int:
        if self._device is None and stream is None:
            return 0
        return _run.stream_of(_arrays.describe(x), stream, "group")


def group(members: Iterable[Any], *, threads: int = 0) -> Group:
    """A group of ``(x, how, out)``: ``how`` is an order of axes, a map, a text or pattern of one, or a plan of ``faro.plan``; ``out`` is written
    by ``run()``. Arrays of any library, with strides where ``how`` is an order of axes; of one memory.

    Equal members are planned once. Raises, naming the member's number, what permute() and permute_dims() raise, and FaroValueError for
    outputs that overlap one another or an input. Cost: some microseconds a member; a run of a kept group costs one call.

    >>> import numpy as np, faro
    >>> layers = [(np.arange(6).reshape(2, 3), (1, 0), np.zeros((3, 2), int)), (np.arange(4), "bit_reversal", np.zeros(4, int))]
    >>> [y.tolist() for y in faro.group(layers).run()]
    [[[0, 3], [1, 4], [2, 5]], [0, 2, 1, 3]]
    """
    return Group(members, threads)


def _where(array: _arrays.Array) -> str:
    return "the host" if array.device is None else f"device {array.device}"


def _numbered(error: FaroError, number: int) -> NoReturn:
    """The same error with the member's number before what was got."""
    refuse(error.operation or "group", f"member {number}: {error.got or error}", error.wanted or "a member that can be planned", error.remedy,
           kind=type(error))


def _laid(array: _arrays.Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape, and the strides of the axes along which there is a next element."""
    return array.shape, tuple(stride if extent > 1 else 0 for extent, stride in zip(array.shape, array.strides))


def _planned(x: Any, how: Any, out: Any) -> tuple[Any, _arrays.Array, _arrays.Array]:
    if _kinds.is_masked(x):
        refuse("group", "a masked array", "an array without a mask", "x.data and x.mask are members of their own")
    array = _arrays.describe(x)
    target = _arrays.describe(out, writable=True)
    if target.device != array.device:
        refuse("group", f"an output on {_where(target)}", f"{_where(array)}, where the input is")
    if not _arrays.are_alike(x, array, out, target):
        refuse("group", f"an output of elements {target.dtype}", f"elements {array.dtype}")
    handle, shape = _handle_of(array, target, how)
    if target.shape != shape:
        refuse("group", f"an output of shape {target.shape}", f"shape {shape}")
    return handle, array, target


def _handle_of(array: _arrays.Array, target: _arrays.Array, how: Any) -> tuple[Any, tuple[int, ...]]:
    if isinstance(how, Plan):
        if (array.shape, array.itemsize) != (how.shape, how.itemsize) or how.in_place or not _arrays.is_dense(array):
            refuse("group", f"shape {array.shape} of {array.itemsize} bytes", f"a dense array of {how.shape} of {how.itemsize} bytes, out of place")
        _require_dense(target)
        return how._handle, how.out_shape
    if isinstance(how, (Map, str)):
        _require_dense(target)
        op, argument = (_run.MAP, how) if isinstance(how, Map) else (_run.TEXT, (how, False))
        made: tuple[Any, tuple[int, ...]] = _run._plan_on(op, array.shape, array.strides, array.itemsize, argument, array.device)
        return made
    order = _run.order_of(how, len(array.shape), "permute_dims")
    shape = tuple(array.shape[a] for a in order)
    if target.shape != shape or _arrays.is_dense(target):
        made = _run._plan_on(_run.PERMUTE_DIMS, array.shape, array.strides, array.itemsize, order, array.device)
        return made
    ins = tuple(array.strides[a] for a in order)
    return _run.view(shape, ins, target.strides, 0, array.itemsize, _run.options_for(array.device)), shape


def _require_dense(target: _arrays.Array) -> None:
    if not _arrays.is_dense(target):
        refuse("group", "an output with strides", "a dense array, or an order of axes")
