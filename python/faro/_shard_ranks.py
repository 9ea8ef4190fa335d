"""Ranks as Python has them: processes of mpi4py, of a process group of torch.distributed, or one alone.

Each carries bytes (``exchange``) and words (``gather``); by words what is wrong on one rank is raised on all, before
anything is sent (``together``).
"""

from __future__ import annotations

import pickle
import sys
import weakref
from typing import Any, Callable

from . import _arrays, _errors, _faro, _sockets
from ._errors import FaroError, FaroTypeError, refuse

_PIECE = 1 << 30  # bytes of one call of MPI, whose counts are ints
_TAG = 23
_WORD_BYTES = 1016  # what a rank tells the others mostly fits


class OfMpi:
    name = "MPI"

    def __init__(self, comm: Any):
        from mpi4py import MPI

        self._mpi, self._comm = MPI, comm
        self.identity: Any = comm
        self.ranks, self.rank = comm.Get_size(), comm.Get_rank()

    def gather(self, word: Any) -> list[Any]:
        return self._comm.allgather(word)

    def check(self, array: _arrays.Array, operation: str) -> None:
        """Parts of any memory are taken."""

    def exchange(self, source: Any, sends: Any, target: Any, receives: Any) -> None:
        """``source`` and ``target``: bytes, of one kind of memory."""
        on_host = _to_host(source), _to_host(target)
        requests = []
        for messages, start, bytes_of in ((receives, self._comm.Irecv, on_host[1]), (sends, self._comm.Isend, on_host[0])):
            for peer, offset, count in messages:
                if peer == self.rank:
                    continue
                for done in range(0, count, _PIECE):
                    piece = bytes_of[offset + done : offset + min(count, done + _PIECE)]
                    requests.append(start([piece, self._mpi.BYTE], peer, _TAG))
        _copy_own(on_host[0], sends, on_host[1], receives, self.rank)
        self._mpi.Request.Waitall(requests)
        if _arrays.is_tensor(target):
            import torch

            target.copy_(torch.from_numpy(on_host[1]))
        elif target is not on_host[1]:  # CuPy's
            target.set(on_host[1])


class OfGroup:
    """What is kept for a process group of torch.distributed, as long as it lives, and what its ranks tell each other."""

    def __init__(self, group: Any, dist: Any):
        self._dist, self._group = dist, weakref.ref(group)
        self.ranks, self.rank = dist.get_world_size(group), dist.get_rank(group)
        self.kinds = {device.type for device in getattr(group, "_device_types", ())}
        self.has_nccl = "nccl" in str(dist.get_backend_config(group)).lower()
        # Words of NCCL go over the GPU, behind all that is queued there.
        self._words: Any = None
        if "cpu" not in self.kinds and dist.is_gloo_available():
            self._words = dist.new_group(dist.get_process_group_ranks(group), backend="gloo",
                                         use_local_synchronization=group != dist.group.WORLD)
        self._sockets: Any = None  # on one machine; False: there are none
        self._nccl: Any = None  # False: there is none, for `why`
        self.why = ""
        self.plans: dict[Any, Any] = {}  # by what was asked, the last ones
        self.lists: dict[Any, Any] = {}  # of arrays that go together, the last one

    def gather(self, mine: bytes) -> list[bytes]:
        if self._words is None and "cpu" not in self.kinds:
            words: list[Any] = [None] * self.ranks
            self._dist.all_gather_object(words, mine, group=self._group())
            return words
        if self._sockets is None:
            self._sockets = _sockets.between(self.ranks, self.rank, self._gather_by_group)
        said = self._sockets.gather(mine) if self._sockets else None
        return said if said is not None else self._gather_by_group(mine)

    def _gather_by_group(self, mine: bytes) -> list[bytes]:
        import torch

        room = _WORD_BYTES
        while True:
            # A first row of a size that all know; where one is longer, a second of theirs.
            row = (len(mine).to_bytes(8, "little") + mine[:room]).ljust(room + 8, b"\0")
            sent = torch.frombuffer(bytearray(row), dtype=torch.uint8)
            received = [torch.empty_like(sent) for _ in range(self.ranks)]
            self._dist.all_gather(received, sent, group=self._words or self._group())
            rows = [each.numpy().tobytes() for each in received]
            sizes = [int.from_bytes(each[:8], "little") for each in rows]
            if max(sizes) <= room:
                return [each[8 : 8 + size] for each, size in zip(rows, sizes)]
            room = max(sizes)

    def device_plan(self, plan: Any, device: int, memory: int) -> Any:
        """The plan over GPUs that store at each other or talk by NCCL; None where this group has none. Collective."""
        if self._nccl is None:
            self._nccl = False
            this = weakref.ref(self)  # the ranks keep what carries their words

            def gather(mine: bytes) -> list[bytes]:
                kept = this()
                return [] if kept is None else kept.gather(mine)

            if self.has_nccl:
                try:
                    self._nccl = _faro.nccl_ranks(self.ranks, self.rank, device, gather)
                except _errors.FaroDeviceError as error:  # on all ranks alike
                    self.why = str(error)
        return self._nccl.plan(plan._handle, memory) if self._nccl else None


of_groups: "weakref.WeakKeyDictionary[Any, OfGroup]" = weakref.WeakKeyDictionary()
KEPT_PLANS = 4


class OfTorch:
    name = "torch.distributed"

    def __init__(self, group: Any):
        import torch.distributed as dist
        import torch.distributed.distributed_c10d as c10d

        self._dist, self._group = dist, group
        pg: Any = group or c10d._get_default_group()
        if pg not in of_groups:
            of_groups[pg] = OfGroup(pg, dist)
        self.kept = of_groups[pg]
        self.identity: Any = self.kept
        self.ranks, self.rank = self.kept.ranks, self.kept.rank

    def gather(self, word: Any) -> list[Any]:
        return [pickle.loads(each) for each in self.kept.gather(pickle.dumps(word))]

    def check(self, array: _arrays.Array, operation: str) -> None:
        own = "cpu" if array.device is None else "cuda"
        if self.kept.kinds and own not in self.kept.kinds:
            refuse(operation, f"a part on {own} over a group for {', '.join(sorted(self.kept.kinds))}", "a part where the group's messages are",
                   "torch.distributed.init_process_group('cpu:gloo,cuda:nccl') carries both")

    def exchange(self, source: Any, sends: Any, target: Any, receives: Any) -> None:
        import torch

        # PyTorch, NCCL and gloo have no name for many elements; all of them have one for bytes.
        source, target = _as_tensor(source, torch), _as_tensor(target, torch)
        rank_of = (lambda peer: peer) if self._group is None else (
            lambda peer: self._dist.get_global_rank(self._group, peer))
        operations = []
        for messages, start, flat in ((sends, self._dist.isend, source), (receives, self._dist.irecv, target)):
            for peer, offset, count in messages:
                if peer != self.rank and count > 0:
                    part = flat[offset : offset + count]
                    operations.append(self._dist.P2POp(start, part, rank_of(peer), group=self._group))
        _copy_own(source, sends, target, receives, self.rank)
        if operations:
            for request in self._dist.batch_isend_irecv(operations):
                request.wait()


class Alone:
    name = "nobody"
    ranks, rank = 1, 0
    identity: Any = None

    def gather(self, word: Any) -> list[Any]:
        return [word]

    def check(self, array: _arrays.Array, operation: str) -> None:
        """Parts of any memory are taken."""

    def exchange(self, source: Any, sends: Any, target: Any, receives: Any) -> None:
        _copy_own(source, sends, target, receives, 0)


def bytes_of(array: _arrays.Array, operation: str) -> Any:
    """The memory of a dense array as flat bytes, whatever its elements are: of the host a memoryview, of a GPU an array of its library."""
    if array.device is None:
        import ctypes

        count = array.size * array.itemsize
        return memoryview((ctypes.c_ubyte * count).from_address(array.address) if count else bytearray()).cast("B")
    x = array.keep
    if _arrays.is_tensor(x):
        import torch

        flat = x.reshape(-1)
        return flat.view(torch.uint8) if flat.numel() else flat.new_empty(0, dtype=torch.uint8)
    if type(x).__module__.startswith("cupy"):
        return x.reshape(-1).view("uint8")
    refuse(operation, f"a {type(x).__name__} on a GPU", "a tensor of PyTorch or an array of CuPy", kind=FaroTypeError)


def _as_tensor(flat: Any, torch: Any) -> Any:
    if isinstance(flat, memoryview):
        return torch.frombuffer(flat, dtype=torch.uint8) if len(flat) else torch.empty(0, dtype=torch.uint8)
    return flat if _arrays.is_tensor(flat) else torch.from_dlpack(flat)


def _to_host(flat: Any) -> Any:
    """Bytes as MPI takes them; of a GPU a copy."""
    if isinstance(flat, memoryview):
        return flat
    return flat.cpu().numpy() if _arrays.is_tensor(flat) else flat.get()


def _copy_own(source: Any, sends: Any, target: Any, receives: Any, rank: int) -> None:
    own = [offset for peer, offset, _ in sends if peer == rank]
    mine = [(offset, count) for peer, offset, count in receives if peer == rank]
    for at, (offset, count) in zip(own, mine):
        target[offset : offset + count] = source[at : at + count]


def communicator(comm: Any) -> Any:
    module = type(comm).__module__
    if module.startswith("mpi4py"):
        return OfMpi(comm)
    if comm is None:
        dist = sys.modules.get("torch.distributed")  # whoever has a process group has imported it
        return OfTorch(None) if dist is not None and dist.is_available() and dist.is_initialized() else Alone()
    if module.startswith("torch"):
        return OfTorch(comm)
    refuse("plan shards", f"a communicator of type {type(comm).__name__}",
           "one of mpi4py, a process group of torch.distributed, or None", kind=FaroTypeError)


def outcome(work: Callable[[], Any]) -> tuple[Any, Any]:
    """What ``work`` gives, and nothing; or nothing, and what it raised, as the others are told."""
    try:
        return work(), None
    except FaroError as error:
        return None, (type(error).__name__, str(error), error.operation, error.got, error.wanted, error.remedy)
    except Exception as error:  # of a library below: the others have to hear of it, too
        return None, ("FaroInternalError", f"{type(error).__name__}: {error}", "shards", str(error), "no exception", "")


def raise_first(all_told: list[Any]) -> None:
    """What was raised on the first rank that told of it, on all."""
    for rank, theirs in enumerate(all_told):
        if theirs is None:
            continue
        kind, line, operation, got, wanted, remedy = theirs
        said = line if all(each == theirs for each in all_told) else f"rank {rank}: {line}"
        raised = getattr(_errors, kind)(said)
        raised.operation, raised.got, raised.wanted, raised.remedy = operation, got, wanted, remedy
        raise raised


def same_places(places: list[str]) -> None:
    for rank, theirs in enumerate(places):
        if theirs != places[0]:
            refuse("run shards", f"rank {rank} with a part on {theirs}, rank 0 on {places[0]}", "parts on devices of one kind")


def together(comm: Any, work: Callable[[], Any], tell: Callable[[Any], str] = lambda result: "") -> Any:
    """What ``work`` gives; where it raises on one rank, all raise what the first such rank did, or that it is of several kinds."""
    result, told = outcome(work)
    all_said = comm.gather((told, tell(result) if told is None else ""))
    raise_first([each for each, _ in all_said])
    same_places([each for _, each in all_said])
    return result
