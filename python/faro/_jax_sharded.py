"""Arrays of JAX that are sharded over a mesh, permuted by shard_map."""

from __future__ import annotations

import functools
from typing import Any, Sequence

import jax as _jax
import jax.numpy as _jnp

from . import _run, maps
from ._errors import FaroUnsupportedError, refuse
from ._jax_moves import permute, permute_dims
from ._jax_primitives import array_of


def _shard_map(function: Any, mesh: Any, before: Any, after: Any) -> Any:
    # Every output is sharded, so that what varies over the mesh need not be followed.
    if hasattr(_jax, "shard_map"):
        return _jax.shard_map(function, mesh=mesh, in_specs=before, out_specs=after, check_vma=False)
    from jax.experimental.shard_map import shard_map

    return shard_map(function, mesh=mesh, in_specs=before, out_specs=after, check_rep=False)


def _spec(ndim: int, axis: int, name: str) -> Any:
    return _jax.sharding.PartitionSpec(*(name if a == axis else None for a in range(ndim)))


def permute_dims_sharded(x: Any, axes: Sequence[int], mesh: Any, name: str, *, in_axis: int = 0, out_axis: int = 0) -> Any:
    """The axes of a sharded array in another order: cut along ``in_axis`` before and ``out_axis`` after, evenly, among the
    devices of the mesh's axis ``name``.

    By shard_map: each device packs its part, one all-to-all follows, and one pass puts what came in its place. Works inside
    jit and grad. Raises FaroValueError for extents that the devices do not divide.
    """
    operation = "permute_dims_sharded"
    x = array_of(x, operation)
    order = _run.order_of(tuple(axes), x.ndim, operation)
    cut, after = _run.axis_of(in_axis, x.ndim, operation), _run.axis_of(out_axis, x.ndim, operation)
    split, ranks = order[after], mesh.shape[name]
    for axis in (cut, split):
        if x.shape[axis] % ranks:
            refuse(operation, f"axis {axis} of {x.shape[axis]} places on {ranks} devices", "a multiple of the devices")

    def local(part: Any) -> Any:
        if split == cut:
            return permute_dims(part, order)
        pieces = part.reshape(part.shape[:split] + (ranks, part.shape[split] // ranks) + part.shape[split + 1 :])
        packed = permute_dims(pieces, (split, *(a for a in range(x.ndim + 1) if a != split)))
        received = _jax.lax.all_to_all(packed, name, 0, 0, tiled=True)
        back = [a for k in order for a in ((0, k + 1) if k == cut else (k + 1,))]
        shape = [x.shape[k] // (ranks if a == after else 1) for a, k in enumerate(order)]
        return permute_dims(received, back).reshape(shape)

    return _shard_map(local, mesh, _spec(x.ndim, cut, name), _spec(x.ndim, after, name))(x)


@functools.lru_cache(maxsize=64)
def _sharded_passes(text: str, width: int, ranks: int) -> Any:
    """Of an affine map in blocks: packing and unpacking of each rank, and rounds of (rank, message, peer, slot)."""
    from . import shards

    plans = [shards.ShardPlan(text, itemsize=width, ranks=ranks, rank=rank) for rank in range(ranks)]
    if plans[0].explain_json()["method"] != "affine":
        refuse("permute_sharded", f"`{text}` on {ranks} devices", "an affine map of 2^n elements on 2^g devices",
               f"x[(~faro.maps.parse({text!r})).indices] is moved by JAX itself", kind=FaroUnsupportedError)

    def texts(unpack: bool) -> list[str]:
        made = [plan._handle.pass_map(unpack) for plan in plans]
        return ["" if each is None else str(each.text()) for each in made]

    sends = [[peer for peer, _, _ in plan.sends] for plan in plans]
    sizes = [plan.receives[0][2] for plan in plans]
    slots = [{peer: offset // sizes[rank] for peer, offset, _ in plan.receives} for rank, plan in enumerate(plans)]
    # Ranks with the same targets take them by turns, so that a round is a permutation of ranks.
    groups: dict[tuple[int, ...], list[int]] = {}
    for rank in range(ranks):
        groups.setdefault(tuple(sorted(sends[rank])), []).append(rank)
    rounds = []
    for k in range(len(sends[0])):
        step = []
        for targets, sources in groups.items():
            for i, rank in enumerate(sources):
                peer = targets[(i + k) % len(targets)]
                step.append((rank, sends[rank].index(peer), peer, slots[peer][rank]))
        rounds.append(step)
    return texts(False), texts(True), rounds


def permute_sharded(x: Any, text: str, mesh: Any, name: str) -> Any:
    """Element ``i`` of an array of one axis goes to ``m(i)``, for an affine map by its text; input and output are cut into
    even blocks among the 2^g devices of the mesh's axis ``name``.

    By shard_map: each device packs, sends 2^rho messages, to ranks that differ (docs/theory/shards.md), and unpacks.
    """
    x = array_of(x, "permute_sharded")
    if x.ndim != 1:
        refuse("permute_sharded", f"an array of shape {x.shape}", "one axis", "x.reshape(-1) has one")
    ranks = mesh.shape[name]
    packs, unpacks, rounds = _sharded_passes(maps.parse(text, tuple(x.shape)).text, x.dtype.itemsize, ranks)
    messages = len(rounds)

    def by_rank(part: Any, moves: list[str]) -> Any:
        kinds = sorted(set(moves))
        branches = [(lambda p, m=m: permute(p, m) if m else p) for m in kinds]
        if len(kinds) == 1:
            return branches[0](part)
        which = _jnp.asarray([kinds.index(m) for m in moves])[_jax.lax.axis_index(name)]
        return _jax.lax.switch(which, branches, part)

    def local(part: Any) -> Any:
        me = _jax.lax.axis_index(name)
        packed = by_rank(part, packs).reshape(messages, -1)
        received, places = [], []
        for step in rounds:
            chosen, slot = [0] * ranks, [0] * ranks
            for rank, message, peer, at in step:
                chosen[rank], slot[peer] = message, at
            sent = _jax.lax.dynamic_index_in_dim(packed, _jnp.asarray(chosen)[me], 0, keepdims=False)
            received.append(_jax.lax.ppermute(sent, name, [(rank, peer) for rank, _, peer, _ in step]))
            places.append(slot)
        # places[k][r]: where the message of round k belongs at rank r; the other way round for each rank.
        order = [[row.index(s) for s in range(messages)] for row in zip(*places)]
        arrived = _jnp.stack(received)[_jnp.asarray(order)[me]] if messages > 1 else received[0]
        return by_rank(arrived.reshape(-1), unpacks)

    spec = _jax.sharding.PartitionSpec(name)
    return _shard_map(local, mesh, spec, spec)(x)


