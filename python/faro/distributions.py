"""How an array of several axes is distributed over a mesh of ranks: who holds what.

    faro.distributions.Distribution("mesh 2x3; axis 0 over 0; axis 1 over 1")

The text is that of the command (docs/guide/shards.md, "Meshes"). What other libraries call the same is read and written here: the
placements of a DTensor, JAX's NamedSharding, ScaLAPACK's descriptors, the pencils of cuDecomp, the files of a tensor-parallel checkpoint.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import math
import os
import re
from typing import Any, Iterable, Mapping, NamedTuple, NoReturn, Sequence

from ._errors import FaroFileError, FaroUnsupportedError, refuse

__all__ = ["Cut", "Distribution", "Spread", "from_cudecomp", "from_dtensor", "from_named_sharding", "from_safetensors", "from_scalapack",
           "to_named_sharding", "to_placements"]


def _even(extent: int, places: int) -> list[int]:
    return [extent // places + (p < extent % places) for p in range(places)]


@dataclasses.dataclass(frozen=True)
class Cut:
    """An array axis over mesh axes, the slowest first: slabs, even or of ``extents``; or blocks of ``block`` dealt out in turn."""

    axis: int
    over: tuple[int, ...]
    block: int = 0
    extents: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, init=False)
class Distribution:
    """Array axes over the axes of a mesh whose ranks are ``first`` and following, row by row; replicated over the mesh axes that are left.

    >>> import faro
    >>> d = faro.distributions.Distribution("mesh 2x3; axis 0 over 0; axis 1 over 1")
    >>> d.part_shape((4, 7), rank=3), str(d)
    ((2, 3), 'mesh 2x3; axis 0 over 0; axis 1 over 1')
    """

    mesh: tuple[int, ...]
    cuts: tuple[Cut, ...]
    first: int
    names: tuple[str, ...]
    boxes: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]

    def __init__(self, text: str = "", *, mesh: Sequence[int] = (), cuts: Iterable[Cut] = (), first: int = 0, names: Sequence[str] = ()):
        made = _read(text) if text else (tuple(mesh), tuple(cuts), first, tuple(names), ())
        for field, value in zip(dataclasses.fields(self), made):
            object.__setattr__(self, field.name, value)

    def __str__(self) -> str:
        grid = ",".join(f"{n}={p}" for n, p in zip(self.names, self.mesh)) if self.names else "x".join(map(str, self.mesh))
        text = f"mesh {grid}" + (f" at {self.first}" if self.first else "")
        for cut in self.cuts:
            text += f"; axis {cut.axis} over " + " ".join(self.names[m] if self.names else str(m) for m in cut.over)
            text += f" in blocks of {cut.block}" if cut.block else ""
            text += " in " + " ".join(map(str, cut.extents)) if cut.extents else ""
        for rank, ends in self.boxes:
            text += f"; rank {rank} holds " + " ".join(f"{begin}:{end}" for begin, end in ends)
        return text

    @property
    def ranks(self) -> int:
        """How many the mesh has."""
        return math.prod(self.mesh)

    def _coordinates(self, rank: int) -> list[int]:
        number = rank - self.first
        coordinates: list[int] = []
        for extent in reversed(self.mesh):
            coordinates.insert(0, number % extent)
            number //= extent
        return coordinates

    def places(self, shape: Sequence[int], rank: int) -> list[range | list[int]]:
        """The places of each axis that a rank holds: its part is their product. ``numpy.ix_`` takes them. Nothing: all are empty."""
        if not self.first <= rank < self.first + self.ranks:
            return [range(0)] * len(shape)
        if self.boxes:
            ends = dict(self.boxes).get(rank - self.first)
            return [range(0)] * len(shape) if ends is None else [range(begin, end) for begin, end in ends]
        held: list[range | list[int]] = [range(extent) for extent in shape]
        coordinates = self._coordinates(rank)
        for cut in self.cuts:
            place, places = 0, 1
            for m in cut.over:
                place, places = place * self.mesh[m] + coordinates[m], places * self.mesh[m]
            extent = shape[cut.axis]
            if cut.block:
                held[cut.axis] = [i for i in range(extent) if i // cut.block % places == place]
            else:
                extents = cut.extents or _even(extent, places)
                begin = sum(extents[:place])
                held[cut.axis] = range(begin, begin + extents[place])
        return held

    def part_shape(self, shape: Sequence[int], rank: int) -> tuple[int, ...]:
        """Of a rank's part, whose elements lie in the order of the array's indices."""
        return tuple(len(places) for places in self.places(shape, rank))


def _read(text: str) -> Any:
    """The fields of a text. What is wrong with it, but for its form, the planner says."""
    operation = "read a distribution"

    def bad(clause: str) -> NoReturn:
        refuse(operation, f"`{clause}`", "`mesh 2x3; axis 0 over 0; axis 1 over 1`, with `in blocks of 64` or `in 3 1 2`, or boxes, "
                                         "`mesh 2; rank 0 holds 0:4 0:8; rank 1 holds 4:8 0:8`")

    head, *clauses = (clause.strip() for clause in text.split(";"))
    found = re.fullmatch(r"mesh (\S+)(?: at (\d+))?", head)
    if found is None or not re.fullmatch(r"\d+(x\d+)*|[A-Za-z_]\w*=\d+(,[A-Za-z_]\w*=\d+)*", found[1]):
        bad(head)
    named = "=" in found[1]
    parts = found[1].split(",") if named else found[1].split("x")
    names = tuple(part.split("=")[0] for part in parts) if named else ()
    mesh = tuple(int(part.split("=")[-1]) for part in parts)
    cuts: list[Cut] = []
    boxes: list[Any] = []
    for clause in clauses:
        box = re.fullmatch(r"rank (\d+) holds((?: \d+:\d+)*)", clause)
        cut = re.fullmatch(r"axis (\d+) over ((?:\w+ ?)*?)(?: ?in (?:blocks of (\d+)|((?:\d+ ?)+)))?", clause)
        if box is not None:
            ends = tuple(tuple(map(int, pair.split(":"))) for pair in box[2].split())
            boxes.append((int(box[1]), ends))
        elif cut is not None:
            over = [names.index(word) if word in names else int(word) if word.isdigit() else bad(clause) for word in cut[2].split()]
            cuts.append(Cut(int(cut[1]), tuple(over), int(cut[3] or 0), tuple(map(int, (cut[4] or "").split()))))
        else:
            bad(clause)
    return mesh, tuple(cuts), int(found[2] or 0), names, tuple(boxes)


# --- PyTorch


def _nested_chunks(extent: int, meshes: Sequence[int]) -> list[int]:
    """torch.chunk along the first mesh axis, and each chunk along the next."""
    if not meshes:
        return [extent]
    size = -(-extent // meshes[0])
    made: list[int] = []
    for place in range(meshes[0]):
        made += _nested_chunks(max(0, min(size, extent - place * size)), meshes[1:])
    return made


def from_dtensor(placements: Sequence[Any], mesh: Any, shape: Sequence[int]) -> Distribution:
    """What a DTensor of this global shape is over ``mesh``, a DeviceMesh of consecutive ranks or a tuple of its extents.

    Raises FaroUnsupportedError for Partial, whose parts are sums that are not added up yet, and for other placements than Shard and
    Replicate.
    """
    operation = "read placements"
    extents: tuple[int, ...] = tuple(getattr(mesh, "shape", mesh))
    first = 0
    names: tuple[str, ...] = ()
    if hasattr(mesh, "mesh"):
        numbers = mesh.mesh.flatten().tolist()
        first, names = numbers[0], tuple(mesh.mesh_dim_names or ())
        if numbers != list(range(first, first + len(numbers))):
            refuse(operation, f"a mesh of ranks {numbers}", "consecutive ranks, row by row", kind=FaroUnsupportedError)
    if len(placements) != len(extents):
        refuse(operation, f"{len(placements)} placements", f"{len(extents)}, one for each axis of the mesh")
    over: dict[int, list[int]] = {}
    for m, placement in enumerate(placements):
        kind = type(placement).__name__
        if kind == "Shard":
            axis = placement.dim % len(shape)
            over.setdefault(axis, []).append(m)
        elif kind != "Replicate":
            refuse(operation, f"{kind} over axis {m} of the mesh", "Shard and Replicate", kind=FaroUnsupportedError)
    cuts = []
    for axis, meshes in sorted(over.items()):
        chunks = _nested_chunks(shape[axis], [extents[m] for m in meshes])
        even = chunks == _even(shape[axis], len(chunks))
        cuts.append(Cut(axis, tuple(meshes), extents=() if even else tuple(chunks)))
    return Distribution(mesh=extents, cuts=cuts, first=first, names=names)


def to_placements(distribution: Distribution, shape: Sequence[int]) -> list[Any]:
    """The placements of a DTensor of this shape. Raises FaroUnsupportedError for slabs that torch.chunk does not cut, and blocks."""
    from torch.distributed.tensor import Replicate, Shard

    made: list[Any] = [Replicate() for _ in distribution.mesh]
    for cut in distribution.cuts:
        wanted = _nested_chunks(shape[cut.axis], [distribution.mesh[m] for m in cut.over])
        has = list(cut.extents) or _even(shape[cut.axis], len(wanted))
        if cut.block or has != wanted or list(cut.over) != sorted(cut.over):
            refuse("write placements", f"`{distribution}` of shape {tuple(shape)}", f"slabs of {wanted} along axis {cut.axis}",
                   kind=FaroUnsupportedError)
        for m in cut.over:
            made[m] = Shard(cut.axis)
    if distribution.boxes:
        refuse("write placements", "boxes", "cuts of axes", kind=FaroUnsupportedError)
    return made


# --- JAX


def from_named_sharding(sharding: Any, shape: Sequence[int]) -> Distribution:
    """What JAX's NamedSharding is of an array of this shape; ranks are the mesh's devices, row by row."""
    operation = "read a NamedSharding"
    names = tuple(map(str, sharding.mesh.axis_names))
    extents = tuple(sharding.mesh.shape[name] for name in sharding.mesh.axis_names)
    cuts = []
    for axis, entry in enumerate(sharding.spec):
        if entry is None or entry == ():
            continue
        over = tuple(names.index(str(name)) for name in (entry if isinstance(entry, tuple) else (entry,)))
        places = math.prod(extents[m] for m in over)
        if shape[axis] % places:
            refuse(operation, f"axis {axis} of {shape[axis]} places over {places} devices", "a multiple of the devices")
        cuts.append(Cut(axis, over))
    return Distribution(mesh=extents, cuts=cuts, names=names)


def to_named_sharding(distribution: Distribution, mesh: Any) -> Any:
    """JAX's NamedSharding over ``mesh``, whose axes are the distribution's. Raises FaroUnsupportedError for uneven slabs and blocks."""
    from jax.sharding import NamedSharding, PartitionSpec

    names = tuple(mesh.axis_names)
    if tuple(mesh.shape[name] for name in names) != distribution.mesh:
        refuse("write a NamedSharding", f"a mesh of {dict(mesh.shape)}", f"one of {'x'.join(map(str, distribution.mesh))}")
    axes = max((cut.axis for cut in distribution.cuts), default=-1) + 1
    spec: list[Any] = [None] * axes
    for cut in distribution.cuts:
        if cut.block or cut.extents:
            refuse("write a NamedSharding", f"`{distribution}`", "even slabs", kind=FaroUnsupportedError)
        spec[cut.axis] = tuple(names[m] for m in cut.over) if len(cut.over) > 1 else names[cut.over[0]]
    if distribution.boxes:
        refuse("write a NamedSharding", "boxes", "cuts of axes", kind=FaroUnsupportedError)
    return NamedSharding(mesh, PartitionSpec(*spec))


# --- ScaLAPACK and cuDecomp


def from_scalapack(descriptor: Sequence[int], grid: Sequence[int], *, order: str = "R") -> Distribution:
    """What the nine numbers of a dense matrix's descriptor say over a grid of ``(rows, columns)`` processes, numbered row by row, ``"R"``,
    or column by column, ``"C"``.

    ScaLAPACK's matrices lie column by column: M x N there is an array of shape (N, M) here. Raises FaroUnsupportedError where the first
    block is not the first process's.
    """
    operation = "read a descriptor"
    if len(descriptor) != 9 or descriptor[0] != 1 or len(grid) != 2 or order not in ("R", "C"):
        refuse(operation, f"{list(descriptor)} over {tuple(grid)}, order {order!r}", "nine numbers, the first 1, two extents, and R or C")
    _, _, _, _, row_block, column_block, row_source, column_source, _ = descriptor
    if row_source or column_source:
        refuse(operation, f"the first block at process ({row_source}, {column_source})", "at (0, 0)", kind=FaroUnsupportedError)
    rows, columns = grid
    by_rows = order == "R"
    row_axis, column_axis = (0, 1) if by_rows else (1, 0)
    return Distribution(mesh=(rows, columns) if by_rows else (columns, rows),
                        cuts=[Cut(0, (column_axis,), column_block), Cut(1, (row_axis,), row_block)])


def from_cudecomp(pencil: int, grid: Sequence[int]) -> Distribution:
    """The pencils along axis ``pencil`` (0: x, 1: y, 2: z) of a grid of (rows, columns) ranks: the first of the other axes is cut over the
    rows, the second over the columns, as even as can be.

    cuDecomp has x fastest: its array of (X, Y, Z) is one of shape (Z, Y, X) here.
    """
    if pencil not in (0, 1, 2) or len(grid) != 2:
        refuse("read pencils", f"axis {pencil} over {tuple(grid)}", "an axis of 0, 1 and 2, and two extents")
    first, second = (axis for axis in range(3) if axis != pencil)
    return Distribution(mesh=grid, cuts=[Cut(2 - second, (1,)), Cut(2 - first, (0,))])


# --- checkpoints


class Spread(NamedTuple):
    """A tensor of a checkpoint whose files are ranks: the whole's shape, the type as its header has it, and how it lies."""

    shape: tuple[int, ...]
    dtype: str
    distribution: Distribution


def from_safetensors(files: Sequence[Any], axes: Mapping[str, int]) -> dict[str, Spread]:
    """What the files of a tensor-parallel checkpoint hold, by the tensors' names: file k is what rank k has, from its header alone.

    ``axes``: for names, or patterns as ``"*.q_proj.weight"`` of which the first that fits holds, the axis along which the files' tensors
    continue each other, even or not; tensors of other names are the same in all files. ``faro.shards.redistribute`` takes ``distribution``
    and ``shape`` as source= and shape=, and a rank reads its part with ``safetensors``, or ``faro.relayout(file + ":" + name, …)``.
    Raises FaroValueError for files that have other names, types or extents than the first.

    >>> import numpy as np, tempfile
    >>> files = [f"{tempfile.mkdtemp()}/rank-{k}.safetensors" for k in range(2)]
    >>> for k, file in enumerate(files):
    ...     np.save(file + ".npy", np.zeros((3 + k, 8), "f4"))
    ...     _ = faro.relayout(file + ".npy", file + ":h.0.q.weight")
    >>> held = from_safetensors(files, {"*.q.weight": 0})["h.0.q.weight"]
    >>> held.shape, held.dtype, str(held.distribution)
    ((7, 8), 'F32', 'mesh 2; axis 0 over 0 in 3 4')
    """
    operation = "read a checkpoint's files"
    if not files:
        refuse(operation, "no files", "one for each rank")
    headers = [_safetensors_header(os.fspath(file), operation) for file in files]
    made: dict[str, Spread] = {}
    for name, first in headers[0].items():
        all_held = [header.get(name) for header in headers]
        axis = next((axis for pattern, axis in axes.items() if fnmatch.fnmatchcase(name, pattern)), None)
        rank = len(first["shape"])
        if axis is not None and not 0 <= axis < rank:
            refuse(operation, f"axis {axis} of `{name}`, which has {rank}", f"0 to {rank - 1}")
        for file, held in zip(files, all_held):
            if held is None or held["dtype"] != first["dtype"] or _without(held["shape"], axis) != _without(first["shape"], axis):
                got = "no such tensor" if held is None else f"{held['dtype']} of {held['shape']}"
                alike = "as the first file has" if axis is None else f"as the first file has but for axis {axis}"
                refuse(operation, f"`{name}` in {os.fspath(file)}: {got}", f"{first['dtype']} of {first['shape']}, {alike}")
        shape = list(first["shape"])
        cuts = []
        if axis is not None:
            extents = tuple(header[name]["shape"][axis] for header in headers)
            shape[axis] = sum(extents)
            even = list(extents) == _even(shape[axis], len(files))
            cuts = [Cut(axis, (0,), extents=() if even else extents)]
        made[name] = Spread(tuple(shape), first["dtype"], Distribution(mesh=(len(files),), cuts=cuts))
    for file, header in zip(files, headers):
        if more := sorted(header.keys() - headers[0].keys()):
            refuse(operation, f"`{more[0]}` in {os.fspath(file)}", "the tensors of the first file in all")
    return made


def _without(shape: Sequence[int], axis: int | None) -> list[int]:
    return [extent for at, extent in enumerate(shape) if at != axis]


def _safetensors_header(file: str, operation: str) -> dict[str, Any]:
    try:
        with open(file, "rb") as read:
            size = int.from_bytes(read.read(8), "little")
            told = read.read(size) if size <= 100 << 20 else b""  # safetensors' own bound
        header = json.loads(told)
        return {name: entry for name, entry in header.items() if name != "__metadata__" and len(entry["shape"]) >= 0 and entry["dtype"]}
    except OSError as error:
        refuse(operation, f"{file}: {error.strerror}", "a file of safetensors", kind=FaroFileError)
    except (ValueError, KeyError, TypeError, AttributeError):
        refuse(operation, f"{file} without a header", "a file of safetensors", kind=FaroFileError)
