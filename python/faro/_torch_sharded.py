"""DTensors in another order, with their gradients."""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch as _torch

from . import _arrays, _run
from ._errors import FaroUnsupportedError, refuse


def _chunks(extent: int, ranks: int) -> list[int]:
    """What each rank has of an axis that a DTensor shards: torch.chunk's sizes, and none for the ranks that are left."""
    size = -(-extent // ranks)
    return [max(0, min(size, extent - rank * size)) for rank in range(ranks)]


def _cut(axis: int, extent: int, ranks: int) -> str:
    return f"axis({axis}; {' '.join(map(str, _chunks(extent, ranks)))})"


@functools.lru_cache(maxsize=256)
def _plan(text: str, group: Any, itemsize: int, cut_in: str, cut_out: str) -> Any:
    from . import shards

    return shards.plan(text, group, itemsize=itemsize, cut_in=cut_in, cut_out=cut_out)


def _moved(part: Any, shape: tuple[int, ...], order: tuple[int, ...], cut: int, after: int, group: Any, rank: int) -> Any:
    """A rank's part of the array of this shape, cut along an axis, as its part of the result, cut along another."""
    ranks = _torch.distributed.get_world_size(group)
    target = [shape[d] for d in order]
    text = f"axes({' '.join(map(str, shape))}; {' '.join(map(str, order))})"
    plan = _plan(text, group, part.element_size(), _cut(cut, shape[cut], ranks), _cut(after, target[after], ranks))
    local = list(target)
    local[after] = _chunks(target[after], ranks)[rank]
    return plan(part.detach().resolve_conj().resolve_neg().contiguous()).reshape(local)


class _Moved(_torch.autograd.Function):
    """Collective forwards and backwards: every rank's gradient goes back the way that its part came."""

    @staticmethod
    def forward(part: Any, shape: tuple[int, ...], order: tuple[int, ...], cut: int, after: int, group: Any, rank: int) -> Any:
        return _moved(part, shape, order, cut, after, group, rank)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.how = inputs[1:]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        shape, order, cut, after, group, rank = ctx.how
        back = tuple(order.index(a) for a in range(len(order)))
        g = _Moved.apply(gradients[0], tuple(shape[d] for d in order), back, after, cut, group, rank)
        return g, None, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _Moved.apply(tangents[0], *ctx.how)


def permute_dims_sharded(x: Any, dims: Sequence[int], dim: int | None = None) -> Any:
    """A DTensor with its axes in another order, sharded along axis ``dim`` of the result.

    ``x`` is sharded along one axis over a mesh of one dimension, evenly or not. ``dim`` None: the axis stays with the
    ranks that have it, and nothing crosses a link. Collective: every rank of the mesh calls it, and the gradient, which goes the way
    back, is collective, too. Raises on all of them what is wrong on one.
    """
    from torch.distributed.tensor import DTensor, Shard

    operation = "permute_dims_sharded"
    if not isinstance(x, DTensor):
        refuse(operation, f"a {type(x).__name__}", "a DTensor", "permute_dims() takes tensors")
    mesh, placements = x.device_mesh, x.placements
    if mesh.ndim != 1 or len(placements) != 1 or not placements[0].is_shard():
        refuse(operation, f"placements {tuple(placements)} on a mesh of {mesh.ndim} dimensions",
               "one Shard on a mesh of one", kind=FaroUnsupportedError)
    order = _run.order_of(tuple(dims), x.dim(), operation)
    placement: Any = placements[0]  # a Shard
    cut = placement.dim % x.dim()
    after = order.index(cut) if dim is None else _run.axis_of(dim, x.dim(), operation)
    shape = tuple(x.shape)
    out = _Moved.apply(x.to_local(grad_placements=[Shard(cut)]), shape, order, cut, after, mesh.get_group(), mesh.get_local_rank())
    target = tuple(shape[d] for d in order)
    strides = _arrays.dense_strides(target, 1)
    return DTensor.from_local(out, mesh, [Shard(after)], run_check=False, shape=_torch.Size(target), stride=strides)
