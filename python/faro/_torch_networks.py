"""Networks, transforms, sorting and automorphisms as operators of PyTorch."""

from __future__ import annotations

from typing import Any

import torch as _torch

from . import _automorphisms, _network_text, _networks
from ._torch_operators import SameShape, call, operator


@operator("network(Tensor x, str program, int dim) -> Tensor")
class _Network(SameShape):
    """A linear program has a gradient; another is refused when it is asked for one."""

    def move(x: Any, program: str, dim: int) -> Any:
        return _networks.network(x, program, dim)

    def keep(ctx: Any, x: Any, program: str, dim: int) -> None:
        ctx.how = program, dim

    def back(ctx: Any, g: Any) -> Any:
        program, dim = ctx.how
        return call("network", g, _network_text.adjoint(program), dim), None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        _, program, dim = inputs
        return call("network", tangents[0], _network_text.linear_part(program), dim)


@operator("sort_order(Tensor x, int dim) -> Tensor")
class _SortOrder:
    """The place in x of each element of the sorted: floats by IEEE 754's total order, as faro has it. Equal elements are the same
    bits, so that any order of them gives what faro gives."""

    def move(x: Any, dim: int) -> Any:
        if x.is_floating_point():
            bits = 8 * x.element_size()
            x = x.view(getattr(_torch, f"int{bits}"))
            x = _torch.where(x < 0, x ^ ((1 << (bits - 1)) - 1), x)
        return _torch.argsort(x, dim=dim, stable=True)

    def fake(x: Any, dim: int) -> Any:
        return x.new_empty(x.shape, dtype=_torch.int64)

    def back(ctx: Any, g: Any) -> Any:
        return None, None

    def tangent(inputs: Any, tangents: Any) -> Any:
        return None


@operator("sort(Tensor x, int dim) -> Tensor")
class _Sort(SameShape):
    """Not linear; where no two elements are equal it is the permutation that sorts."""

    def move(x: Any, dim: int) -> Any:
        return _networks.sort(x, dim)

    def keep(ctx: Any, x: Any, dim: int) -> None:
        ctx.save_for_backward(x)
        ctx.dim = dim

    def back(ctx: Any, g: Any) -> Any:
        order = call("sort_order", ctx.saved_tensors[0].detach(), ctx.dim)
        return _torch.zeros_like(g).scatter(ctx.dim, order, g), None

    def tangent(inputs: Any, tangents: Any) -> Any:
        x, dim = inputs
        return _torch.take_along_dim(tangents[0], call("sort_order", x.detach(), dim), dim)


# --- automorphisms of polynomials, whose coefficients or values are the last axis


_SIGN = 1 << 63


def as_signed(number: int) -> int:
    """A number of 64 bits without a sign, as an operator's argument holds it."""
    return number - 2 * _SIGN if number >= _SIGN else number


@operator("permute_negacyclic(Tensor x, int k, int[] moduli) -> Tensor")
class _Negacyclic(SameShape):
    def move(x: Any, k: int, moduli: list[int]) -> Any:
        if not x.numel():
            return _automorphisms.permute_negacyclic(x, k)
        told = [m % (2 * _SIGN) for m in moduli]
        polynomials = x.reshape(-1, len(told), x.shape[-1])
        return _automorphisms.permute_negacyclic(polynomials, k, modulus=told).reshape(x.shape)

    def keep(ctx: Any, x: Any, k: int, moduli: list[int]) -> None:
        ctx.how = pow(k, -1, 2 * int(x.shape[-1])), moduli

    def back(ctx: Any, g: Any) -> Any:
        return call("permute_negacyclic", g, *ctx.how), None, None


@operator("permute_evaluations(Tensor x, int k) -> Tensor")
class _Evaluations(SameShape):
    def move(x: Any, k: int) -> Any:
        return _automorphisms.permute_evaluations(x, k)

    def keep(ctx: Any, x: Any, k: int) -> None:
        ctx.back = pow(k, -1, 2 * int(x.shape[-1]))

    def back(ctx: Any, g: Any) -> Any:
        return call("permute_evaluations", g, ctx.back), None
