"""Arrays that are spread over ranks: processes of mpi4py, or of torch.distributed.

Every rank calls with its own part; each element crosses a link at most once, and only where it changes its rank.

    from mpi4py import MPI
    plan = faro.shards.plan("transpose", MPI.COMM_WORLD, shape=(4096, 8192), itemsize=4)
    out = plan(part)                                   # rows of the input in, rows of the transpose out

``comm`` is a communicator of mpi4py, or a process group of torch.distributed (``None``: its default one). What is cut,
and how, is told by texts: ``"axis(0)"``, slabs of an axis as even as can be; ``"axis(1; 3 1 2)"``, so many places of it
for each rank; ``"bits(28 29)"``, index bits that are the rank's; or a distribution over a mesh, ``"mesh 2x3; axis 0 over 0; axis 1 over 1"``
(``faro.distributions``). Axes are those that the map names; of a map without,
as a bit reversal, there is one, of all elements.

Errors are the same on all ranks: what is wrong on one is raised on every one, before anything is sent. Tensors on GPUs go
over a group with NCCL by faro's own engine (``ShardedPlan.explain`` says how): stores into the peers' memory where GPUs
of a machine reach it, which has to be ordinary memory of the device and no expandable segments, else messages in slices; over
other groups by their sends and receives; by mpi4py they are staged through the host. DTensors and JAX's arrays are in
``faro.torch`` and ``faro.jax``.
"""

from __future__ import annotations

import functools
import hashlib
import json as _json
import math
from typing import Any, Callable, NamedTuple, Sequence

from . import _arrays, _faro, _kinds, _run, _shard_ranks, distributions, maps
from ._errors import FaroTypeError, refuse

__all__ = ["ShardPlan", "ShardedPlan", "plan", "permute", "redistribute", "run_all"]


class ShardPlan:
    """What one rank of ``ranks`` does; made without talking to the others.

    >>> import faro
    >>> p = faro.shards.ShardPlan("bit_reversal(20)", itemsize=4, ranks=8, rank=3)
    >>> p.ranks_met, p.sent_bytes == p.in_bytes * 7 // 8
    (7, True)
    """

    def __init__(self, by: "str | maps.Map", *, shape: Sequence[int] = (), itemsize: int, ranks: int, rank: int,
                 cut_in: str = "axis(0)", cut_out: str = "axis(0)"):
        operation = "plan shards"
        self.shape = _run.shape_of(shape, operation)
        self.itemsize = _run.whole(itemsize, operation, "itemsize", 1, 4096)
        self.ranks = _run.whole(ranks, operation, "ranks", 1, 1 << 20)
        self.rank = _run.whole(rank, operation, "rank", 0, self.ranks - 1)
        self.cut_in, self.cut_out = str(cut_in), str(cut_out)
        cuts = (self.ranks, self.rank, self.cut_in, self.cut_out)
        if isinstance(by, maps.Map):
            if self.shape and math.prod(self.shape) != by.count:
                refuse(operation, f"a map of {by.count} elements", f"one of all {math.prod(self.shape)} of shape {self.shape}",
                       _run.along_remedy(self.shape, by.count, is_plan=True))
            self._handle = _faro.shard_plan_map(by._handle, self.itemsize, cuts)
        elif isinstance(by, str):
            self._handle = _faro.shard_plan_text(by, list(self.shape), self.itemsize, cuts)
        else:
            refuse(operation, f"a map of type {type(by).__name__}", "a text or a faro.maps.Map", kind=FaroTypeError)
        self.in_bytes, self.out_bytes = self._handle.bytes()
        facts = self.explain_json()
        before, after = tuple(facts["in_shape"]), tuple(facts["out_shape"])
        if len(before) == len(after) == 1 and self.shape:  # a map that names no axes leaves the array its own
            before = after = self.shape
        self._shapes = before, after
        self.ranks_met: int = facts["ranks_met"]
        self.sent_bytes: int = facts["sent_bytes"]
        self.received_bytes: int = facts["received_bytes"]
        self.workspace_bytes: int = facts["workspace_bytes"]

    @property
    def sends(self) -> list[tuple[int, int, int]]:
        """(rank, offset in bytes, bytes) of each message, into what is packed; those to itself among them."""
        return self._handle.messages(False)

    @property
    def receives(self) -> list[tuple[int, int, int]]:
        """The same of what is received. The k-th message to a rank arrives as its k-th from this one."""
        return self._handle.messages(True)

    def explain(self) -> str:
        """The plan in words, as ``faro explain --shards`` prints it."""
        return str(self._handle.explain())

    def explain_json(self) -> dict[str, Any]:
        """The same as a dictionary (docs/guide/json.md)."""
        return _json.loads(self._handle.explain_json())

    def __repr__(self) -> str:
        return f"<faro.shards.ShardPlan rank {self.rank} of {self.ranks}, {self.in_bytes} -> {self.out_bytes} bytes>"


def _extents(cut: str, extent: int, ranks: int) -> list[int]:
    if ";" in cut:
        return [int(word) for word in cut[cut.index(";") + 1 : -1].split()]
    return [extent // ranks + (rank < extent % ranks) for rank in range(ranks)]


def _part_shape(shape: tuple[int, ...], cut: str, ranks: int, rank: int, count: int) -> tuple[int, ...]:
    """Of a rank's part where that is a product of this shape's axes, else flat."""
    if shape and cut.startswith("mesh"):
        part = distributions.Distribution(cut).part_shape(shape, rank)
        return part if math.prod(part) == count else (count,)
    if shape and cut.startswith("axis("):
        axis = int(cut[5:-1].split(";")[0])
        if axis < len(shape):
            slab = list(shape)
            slab[axis] = _extents(cut, shape[axis], ranks)[rank]
            if math.prod(slab) == count:
                return tuple(slab)
    return (count,)


def _place_of(prepared: Any) -> str:
    return "the host" if prepared[0].device is None else "a GPU"


class _Part:
    """An array of a run, and its bytes."""

    def __init__(self, array: _arrays.Array, operation: str):
        self.array, self.bytes = array, _shard_ranks.bytes_of(array, operation)

    @classmethod
    def new(cls, like: _arrays.Array, size: int, operation: str) -> "_Part":
        return cls(_arrays.describe(like.new((size // like.itemsize,)), writable=True), operation)


class ShardedPlan:
    """A rank's plan together with those that it talks to. Made, and called, on all ranks.

    ``plan`` is the rank's :class:`ShardPlan`; ``in_shape`` and ``out_shape`` are those of its parts.
    """

    def __init__(self, by: "str | maps.Map", comm: Any, *, shape: Sequence[int] = (), itemsize: int,
                 cut_in: str = "axis(0)", cut_out: str = "axis(0)", threads: int = 0, memory: int = 0):
        self._comm = _shard_ranks.communicator(comm)
        self._threads = threads
        self._passes: dict[tuple[bool, int | None], Any] = {}
        self._on_devices: dict[int, Any] = {}  # None: by messages of the group's own

        def make() -> ShardPlan:
            self.memory = _run.whole(memory, "plan shards", "memory", 0)
            return ShardPlan(by, shape=shape, itemsize=itemsize, ranks=self._comm.ranks, rank=self._comm.rank,
                             cut_in=cut_in, cut_out=cut_out)

        self.plan: ShardPlan = _shard_ranks.together(self._comm, make)
        said = by if isinstance(by, str) else by.text
        asked = f"{said} of shape {self.plan.shape}, {itemsize} bytes, {cut_in} -> {cut_out}, {self.memory} bytes of memory"
        others = self._comm.gather(asked)
        for rank, theirs in enumerate(others):
            if theirs != others[0]:
                refuse("plan shards", f"rank {rank} with {theirs}", f"the same on all ranks, of rank 0 {others[0]}")
        self._messages = self.plan.sends, self.plan.receives
        in_count, out_count = self.plan.in_bytes // itemsize, self.plan.out_bytes // itemsize
        before, after = self.plan._shapes
        self.in_shape = _part_shape(before, cut_in, self.plan.ranks, self.plan.rank, in_count)
        self.out_shape = _part_shape(after, cut_out, self.plan.ranks, self.plan.rank, out_count)

    @property
    def backend_reason(self) -> str:
        """What carries the messages, and what is done beside: one line."""
        for made in self._on_devices.values():
            if made is not None:
                line = next(line for line in made.explain().splitlines() if line.startswith("exchange by"))
                return line[len("exchange by") :].strip()
        facts = self.plan.explain_json()
        passes = [name for name in ("pack", "unpack") if facts[name]]
        return f"messages by {self._comm.name}, with {' and '.join(passes) if passes else 'no pass'} of the rank's own part"

    def _pass(self, unpack: bool, device: int | None) -> Any:
        key = (unpack, device)
        if key not in self._passes:
            engine, number = (1, 0) if device is None else (2, device + 1)
            self._passes[key] = self.plan._handle.make_pass(unpack, engine, self._threads, number)
        return self._passes[key]

    def __call__(self, x: Any, out: Any = None) -> Any:
        """This rank's part of the result: a new array of ``x``'s kind and of ``out_shape``, or ``out``.

        ``x`` is dense and has ``in_shape``, or as many elements, of any type, which move as bytes; ``out`` is an array of the same type that
        overlaps none. Collective: raises on all ranks what is wrong on one.
        """
        return self._carried(_shard_ranks.together(self._comm, lambda: self._prepared(x, out), _place_of))

    def _prepared(self, x: Any, out: Any) -> Any:
        """What is checked on this rank alone: the part, the result's array and what makes the result of it; the parts of a run by messages."""
        operation = "run shards"
        given = _kinds.read(x, operation)
        array = _arrays.describe(given)
        if array.itemsize != self.plan.itemsize or array.size * array.itemsize != self.plan.in_bytes:
            refuse(operation, f"a part of {array.size} elements of {array.itemsize} bytes",
                   f"{self.plan.in_bytes // self.plan.itemsize} of {self.plan.itemsize}, this rank's")
        if not _arrays.is_dense(array):
            refuse(operation, "a part with strides", "a dense array", "faro.ascontiguousarray() first")
        self._comm.check(array, operation)
        shape = self.out_shape if out is None else self._shape_of(out, array, operation)
        target, finished = _run.result_of(given, array, out, shape, operation, array.stream)
        goes_by_device = array.device is not None and isinstance(self._comm, _shard_ranks.OfTorch)
        return array, target, finished, None if goes_by_device else self._parts(array, target, operation)

    def _carried(self, prepared: Any) -> Any:
        array, target, finished, parts = prepared
        if parts is None:
            on_device = self._device_plan(array.device)
            if on_device is not None:
                on_device.run(*self._ends(array, target), array.stream)
                return finished()
            parts = _shard_ranks.together(self._comm, lambda: self._parts(array, target, "run shards"))
        pack, unpack, packed, received = parts
        if pack is not None:
            pack.run(array.address, packed.array.address, array.stream)
        self._comm.exchange(packed.bytes, self._messages[0], received.bytes, self._messages[1])
        if unpack is not None:
            unpack.run(received.array.address, target.address, array.stream)
        return finished()

    def _ends(self, array: _arrays.Array, target: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        return (array.address, self.plan.in_bytes), (target.address, self.plan.out_bytes)

    def _parts(self, array: _arrays.Array, target: Any, operation: str) -> Any:
        pack, unpack = self._pass(False, array.device), self._pass(True, array.device)
        beside = (self.plan.in_bytes if pack is not None else 0) + (self.plan.out_bytes if unpack is not None else 0)
        if self.memory and beside > self.memory:
            refuse(operation, f"{beside} bytes that rank {self.plan.rank} needs beside its parts",
                   f"memory= of {self.memory} at most, which only ranks of NCCL keep by rounds")
        packed = _Part(array, operation) if pack is None else _Part.new(array, self.plan.in_bytes, operation)
        received = _Part(target, operation) if unpack is None else _Part.new(array, self.plan.out_bytes, operation)
        return pack, unpack, packed, received

    def _device_plan(self, device: int) -> Any:
        if device not in self._on_devices:
            self._on_devices[device] = self._comm.kept.device_plan(self.plan, device, self.memory)
        return self._on_devices[device]

    def _shape_of(self, out: Any, array: _arrays.Array, operation: str) -> tuple[int, ...]:
        """Of ``out=``, which has as many elements as this rank gets, in any shape."""
        target = _arrays.describe(out, writable=True)
        if target.itemsize != array.itemsize or target.size * target.itemsize != self.plan.out_bytes:
            refuse(operation, f"out= of {target.size} elements of {target.itemsize} bytes",
                   f"{self.plan.out_bytes // self.plan.itemsize} of {self.plan.itemsize}, this rank's")
        return target.shape

    def explain(self) -> str:
        """The plan in words, and what carries the messages."""
        return self.plan.explain() + f"{'exchange by':<14}{self.backend_reason}\n"


def plan(by: "str | maps.Map", comm: Any = None, *, shape: Sequence[int] = (), itemsize: int, cut_in: str = "axis(0)",
         cut_out: str = "axis(0)", threads: int = 0, memory: int = 0) -> ShardedPlan:
    """Plans a map, or its text, of an array of ``shape`` that the ranks of ``comm`` hold. Collective.

    ``memory``: the most bytes that a rank may need beside its parts, 0 without a bound. Between GPUs over a group with NCCL messages then
    go in as many rounds as that takes; others are refused, when they are called, where the parts' passes need more.
    Raises FaroValueError for cuts that do not fit the array or the map, for ranks that ask for different things, and
    what ``faro.plan`` raises; on all ranks alike.
    """
    return ShardedPlan(by, comm, shape=shape, itemsize=itemsize, cut_in=cut_in, cut_out=cut_out, threads=threads, memory=memory)


def permute(x: Any, by: "str | maps.Map", comm: Any = None, *, shape: Sequence[int] = (), cut_in: str = "axis(0)",
            cut_out: str = "axis(0)", memory: int = 0, **change: Any) -> Any:
    """This rank's part of the permuted array, of its part ``x``: ``plan`` and a call of it.

    The keywords of ``Change``, ``dtype``, ``scale`` and others, change its numbers: before they are sent where that makes them narrower and
    nothing but numbers is given, else after; arrays are broadcast to the rank's part. The last four plans of a text over a group of
    torch.distributed are kept, on GPUs with their workspace.
    """
    x = _kinds.read(x, "run shards")
    if change:
        first = _changes_first(x, change)
        moved = permute(_changed(x, change) if first else x, by, comm, shape=shape, cut_in=cut_in, cut_out=cut_out, memory=memory)
        return moved if first else _changed(moved, change)
    width = _arrays.describe(x).itemsize

    def make() -> ShardedPlan:
        return plan(by, comm, shape=shape, itemsize=width, cut_in=cut_in, cut_out=cut_out, memory=memory)

    ranks = _shard_ranks.communicator(comm)
    if not isinstance(ranks, _shard_ranks.OfTorch) or not isinstance(by, str):
        return make()(x)
    asked, kept = (by, _run.shape_of(shape, "plan shards"), width, cut_in, cut_out, memory), ranks.kept.plans
    # One word says what is asked, whether its plan is kept, and how it goes with this part.
    known = kept.get(asked)
    prepared, told = _shard_ranks.outcome(lambda: None if known is None else known._prepared(x, None))
    said = ranks.gather((asked, known is not None, told, "" if prepared is None else _place_of(prepared)))
    if known is not None and all(each[:2] == (asked, True) for each in said):
        kept[asked] = kept.pop(asked)
        _shard_ranks.raise_first([each[2] for each in said])
        _shard_ranks.same_places([each[3] for each in said])
        return known._carried(prepared)
    return _keep(kept, asked, make(), _shard_ranks.KEPT_PLANS)(x)


def _keep(kept: dict[Any, Any], asked: Any, made: Any, most: int) -> Any:
    """The newest of the last ones."""
    kept[asked] = made
    while len(kept) > most:
        del kept[next(iter(kept))]
    return made


def _kept_or_made(kept: dict[Any, Any], ranks: "_shard_ranks.OfTorch", asked: Any, make: Callable[[], Any], most: int) -> Any:
    said = hashlib.sha256(repr(asked).encode()).digest(), asked in kept  # of hundreds of arrays
    if all(each == (said[0], True) for each in ranks.gather(said)):
        return kept[asked]
    return _keep(kept, asked, make(), most)


def run_all(plans: Sequence[ShardedPlan], parts: Sequence[Any], out: "Sequence[Any] | None" = None) -> list[Any]:
    """The results of several plans, as the weights of a model: ``[plan(part) for plan, part in zip(plans, parts)]``.

    ``plans`` are of one communicator, and the same on all ranks in the same order; ``out`` has an array for each. The ranks meet once for
    all of them; between GPUs stores of all go on at the same time, and messages of many go together. Collective: raises on all ranks what
    is wrong on one, before anything is sent: FaroValueError for other lists, and what a call of a plan raises.
    """
    operation = "run shards"
    if not plans:
        return []
    comm = plans[0]._comm

    def prepare() -> Any:
        outs = [None] * len(plans) if out is None else list(out)
        if len(parts) != len(plans) or len(outs) != len(plans):
            refuse(operation, f"{len(parts)} parts and {len(outs)} outputs for {len(plans)} plans", "one of each for each plan")
        if any(each._comm.identity != comm.identity for each in plans):
            refuse(operation, "plans of several communicators", "those of one")
        return [each._prepared(x, to) for each, x, to in zip(plans, parts, outs)]

    all_prepared = _shard_ranks.together(comm, prepare, lambda made: f"{len(made)} arrays, on " + ", ".join(sorted({_place_of(each) for each in made})))
    if any(each[3] is not None for each in all_prepared):
        return [each._carried(prepared) for each, prepared in zip(plans, all_prepared)]
    on_devices = [each._device_plan(prepared[0].device) for each, prepared in zip(plans, all_prepared)]
    if None in on_devices:
        return [each._carried(prepared) for each, prepared in zip(plans, all_prepared)]
    ends = [each._ends(prepared[0], prepared[1]) for each, prepared in zip(plans, all_prepared)]
    _faro.run_sharded_plans(on_devices, ends, all_prepared[0][0].stream)
    return [prepared[2]() for prepared in all_prepared]


def _changes_first(x: Any, change: Any) -> bool:
    """Whether numbers are changed before they are sent: where that makes them narrower, and no arrays of the result's shape are given."""
    from . import _arithmetic, _changes

    dtype = _changes.how_of(change, "run shards").dtype
    width = _arrays.describe(x).itemsize
    after = width if dtype is None else _arithmetic.asked_width(dtype, x, "run shards")
    is_array = any(hasattr(change.get(name), "__len__") or hasattr(change.get(name), "shape") for name in ("scale", "offset", "add"))
    return after < width and not is_array


def _changed(x: Any, change: Any) -> Any:
    from . import _arithmetic, _changes

    return _arithmetic.moved(x, "run shards", _changes.unmoved, change)


def _is_dtensor(x: Any) -> bool:
    return type(x).__name__ == "DTensor" and type(x).__module__.startswith("torch.distributed")


def redistribute(x: Any, *, to: Any, axes: Any = None, source: Any = None, shape: Sequence[Any] = (), comm: Any = None,
                 memory: int = 0, **change: Any) -> Any:
    """The array in another distribution, its axes in another order where ``axes`` is given, as numpy.transpose takes them.

    ``x``: this rank's part of an array of ``shape``, which lies as ``source`` says, a ``faro.distributions.Distribution`` or its text; ``to``
    says how the result lies, of the permuted axes. Or ``x`` is a DTensor, and ``to`` the placements of the result over the same mesh: the
    result is a DTensor. Or ``x`` is a list of these, as the weights of a model, of parts or of DTensors, and each of the others a list of as
    many, or None: the result is a list, and the ranks meet once for all (``run_all``). ``memory``: as of ``plan``, of each array. The
    keywords of ``Change`` change the numbers of all, as those of ``permute``. Collective over ``comm``; every rank's mesh is among the ranks
    of ``comm``. Raises FaroUnsupportedError for Partial.
    """
    if not isinstance(x, (list, tuple)):
        asked, finished = _redistribution(x, to, axes, source, shape)
        return finished(permute(asked.part, asked.text, comm, cut_in=asked.before, cut_out=asked.after, memory=memory, **change))
    count = len(x)
    given = [[None] * count if each is None else each for each in (to, axes, source, shape or None)]
    if any(not isinstance(each, (list, tuple)) or len(each) != count for each in given):
        refuse("redistribute", f"a list of {count} arrays", "lists of as many to=, axes=, source= and shape=, or none of these")
    works = [_redistribution(*each) for each in zip(x, *given)]
    first = [bool(change) and _changes_first(asked.part, change) for asked, _ in works]
    works = [(asked._replace(part=_changed(asked.part, change)) if now else asked, rest) for now, (asked, rest) in zip(first, works)]
    ranks = _shard_ranks.communicator(comm)
    all_asked = tuple((*asked[1:], _arrays.describe(_kinds.read(asked.part, "run shards")).itemsize) for asked, _ in works)

    def make() -> list[ShardedPlan]:
        return [plan(text, comm, itemsize=width, cut_in=before, cut_out=after, memory=memory) for text, before, after, width in all_asked]

    plans = _kept_or_made(ranks.kept.lists, ranks, (*all_asked, memory), make, 1) if isinstance(ranks, _shard_ranks.OfTorch) else make()
    parts = run_all(plans, [asked.part for asked, _ in works])
    if change:
        parts = [part if now else _changed(part, change) for now, part in zip(first, parts)]
    return [finished(part) for (_, finished), part in zip(works, parts)]


class _Asked(NamedTuple):
    part: Any
    text: str
    before: str
    after: str


def _redistribution(x: Any, to: Any, axes: Any, source: Any, shape: Any) -> tuple[_Asked, Callable[[Any], Any]]:
    """What is asked of ``permute``, and what makes the result of its."""
    operation = "redistribute"
    if _is_dtensor(x):
        return _dtensor_redistribution(x, to, axes)
    shape = _run.shape_of(() if shape is None else shape, operation)
    if source is None or not shape:
        refuse(operation, "a part of an array without source= or shape=", "how the whole array lies, and its shape")
    order = tuple(range(len(shape))) if axes is None else _run.order_of(axes, len(shape), operation)
    return _Asked(x, _axes_text(shape, order), str(source), str(to)), lambda part: part


def _axes_text(shape: Sequence[int], order: Sequence[int]) -> str:
    return f"axes({' '.join(map(str, shape))}; {' '.join(map(str, order))})"


def _dtensor_redistribution(x: Any, placements: Sequence[Any], axes: Sequence[int] | None) -> tuple[_Asked, Callable[[Any], Any]]:
    import torch
    from torch.distributed.tensor import DTensor

    shape, mesh = tuple(x.shape), x.device_mesh
    order = tuple(range(len(shape))) if axes is None else _run.order_of(axes, len(shape), "redistribute")
    target = tuple(shape[axis] for axis in order)
    before, _ = _lies(tuple(x.placements), mesh, shape, 0)
    after, held = _lies(tuple(placements), mesh, target, torch.distributed.get_rank())

    def finished(part: Any) -> Any:
        return DTensor.from_local(part.reshape(held), mesh, list(placements), run_check=False, shape=torch.Size(target),
                                  stride=_arrays.dense_strides(target, 1))

    return _Asked(x.to_local().detach().contiguous(), _axes_text(shape, order), before, after), finished


@functools.lru_cache(maxsize=64)
def _lies(placements: tuple[Any, ...], mesh: Any, shape: tuple[int, ...], rank: int) -> tuple[str, tuple[int, ...]]:
    """How a DTensor lies, as a text, and the shape of a rank's part."""
    made = distributions.from_dtensor(placements, mesh, shape)
    return str(made), made.part_shape(shape, rank)
