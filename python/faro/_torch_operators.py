"""faro's operators in PyTorch: how each is declared, and those that permute whole arrays.

An operator is a class, of which no objects are made and whose functions take none: what it does below autograd, its result for tensors
without memory, what is kept for its gradient, the gradient, and the rule for batches. All are linear in the arrays that they move, so that a tangent is moved as its array is, unless the class
says otherwise. The classes are declared here, in _torch_rows.py and in _torch_networks.py; faro/torch.py has what users call.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, Sequence

import torch as _torch
import torch.autograd.forward_ad as _forward_ad
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch.autograd.function import _SingleLevelFunction

from . import _arrays, _faro, _rows, _run, _torch_modes, maps
from ._errors import FaroTypeError, refuse
from ._functions import permute as _permute

_DEVICES = ("cpu", "cuda")
_LIBRARY = _torch.library.Library("faro", "FRAGMENT")
_ops = _torch.ops.faro


def any_recorded(*given: Any) -> bool:
    """Whether a compiler reads a call, or what is done with one of its arrays is recorded."""
    return _torch.compiler.is_compiling() or any(_arrays.is_recorded(x) for x in given)


def by_operator(operation: str, x: Any, *beside: Any) -> bool:
    """Whether a call goes by operators, which move tensors only; other calls are those of faro's function of that name."""
    if not any_recorded(x, *beside):
        return False
    if not _torch.compiler.is_compiling():
        _torch_modes.refuse_unmoved(operation, beside)
    check_moved(operation, x)
    return True


def check_moved(operation: str, *moved: Any) -> None:
    """Refuses what operators do not move. A compiler has no other tensors, and NumPy's arrays are tensors to it."""
    if _torch.compiler.is_compiling():
        return
    _torch_modes.refuse_unmoved(operation, moved)
    for x in moved:
        if not _torch.is_tensor(x):
            refuse(operation, f"a {type(x).__name__} beside tensors whose operations are recorded", "a tensor",
                   "torch.as_tensor(x) is one", kind=FaroTypeError)


def call(name: str, *arguments: Any) -> Any:
    if not _torch.compiler.is_compiling():
        _torch_modes.refuse_unmoved(name, arguments)
        _torch_modes.refuse_mixed()
    return getattr(_ops, name)(*arguments)


def _plain(given: Any) -> Any:
    """A tensor below autograd: nothing is recorded any more."""
    if not _torch.is_tensor(given):
        return given
    given = given.detach()
    return given.resolve_conj().resolve_neg() if given.is_conj() or given.is_neg() else given


def _tangent(name: str, inputs: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return call(name, tangents[0], *inputs[1:])


def operator(schema: str) -> Callable[[Any], Any]:
    """Registers what a class declares: ``move``, ``fake``, and of those with derivatives ``back``, and ``batch``, ``keep`` and
    ``tangent`` where there is more to say."""
    name = schema[: schema.index("(")]
    parameters = [each.split("=")[0].split()[-1] for each in schema[len(name) + 1 : schema.index(")")].split(", ")]

    def declared(made: Any) -> Any:
        _LIBRARY.define(schema)
        for device in _DEVICES:
            _LIBRARY.impl(name, _moved(made), device.upper())
        _torch.library.register_fake(f"faro::{name}", made.fake, lib=_LIBRARY)
        _torch.library.register_vmap(f"faro::{name}", getattr(made, "batch", _batched(name, parameters)), lib=_LIBRARY)
        _LIBRARY.impl(name, _derived(name, made), "Autograd", with_keyset=True)
        return made

    return declared


def _batched(name: str, parameters: Sequence[str]) -> Any:
    """The rule for batches of what moves along the axes from ``dim`` or behind ``batch_dims``, or the last ones: an axis more."""

    def batch(info: Any, in_dims: Any, x: Any, *how: Any) -> Any:
        told = (value + 1 if parameter in ("dim", "batch_dims") else value for parameter, value in zip(parameters[1:], how))
        return call(name, first(x, in_dims[0]), *told), 0

    return batch


def _moved(made: Any) -> Any:
    """What an operator does below autograd, with nobody left to hear of it."""

    def move(*given: Any) -> Any:
        with _torch.no_grad(), _forward_ad._set_fwd_grad_enabled(False):
            return made.move(*map(_plain, given))

    return move


def _derived(name: str, made: Any) -> Any:
    """What autograd has of an operator: an autograd.Function whose forward is the operator below autograd. It is applied as PyTorch's
    own operators are, at the level of torch.func's transforms that calls it, and not by the way for functions of users, which
    torch.library takes: that knows no tangents, and no transforms."""
    keep = getattr(made, "keep", lambda ctx, *inputs: None)
    move_tangents = getattr(made, "tangent", functools.partial(_tangent, name))
    overload = getattr(_ops, name).default

    def below(keys: Any, inputs: Any) -> Any:
        with _torch._C._AutoDispatchBelowAutograd():
            return overload.redispatch(keys & _torch._C._after_autograd_keyset, *inputs)

    def forward(keys: Any, *inputs: Any) -> Any:
        # Its own derivatives an autograd.Function takes itself; those of the transforms outside are taken below.
        with _torch.enable_grad(), _forward_ad._set_fwd_grad_enabled(True):
            return below(keys, inputs)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        inputs = inputs[1:]
        keep(ctx, *inputs)
        ctx.others = tuple(None if _torch.is_tensor(given) else (given,) for given in inputs)
        ctx.save_for_forward(*filter(_torch.is_tensor, inputs))
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(*(out for out in outputs if not (out.is_floating_point() or out.is_complex())))

    def backward(ctx: Any, *gradients: Any) -> Any:
        return None, *made.back(ctx, *gradients)

    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        with _forward_ad._set_fwd_grad_enabled(True):  # as in forward, of the transforms outside; this one's are in `tangents`
            saved = (_forward_ad.unpack_dual(x).primal for x in ctx.saved_tensors)
            return move_tangents([next(saved) if given is None else given[0] for given in ctx.others], tangents)

    function: Any = type(f"_{name}", (_SingleLevelFunction,), {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup),
        "backward": staticmethod(backward),
        "jvp": staticmethod(jvp),
    })

    count = len(overload._schema.arguments)

    def derived(keys: Any, *inputs: Any) -> Any:
        inputs += (None,) * (count - len(inputs))  # which all default to
        is_transformed = _forward_ad._current_level >= 0 or _torch._C._are_functorch_transforms_active()
        if is_transformed or (_torch.is_grad_enabled() and any(_torch.is_tensor(x) and x.requires_grad for x in inputs)):
            with enable_single_level_autograd_function():
                return function.apply(keys, *inputs)
        return below(keys, inputs)

    return derived


def first(x: Any, axis: int | None) -> Any:
    """The axis of a batch, which the rules for batches have first."""
    return x if axis is None else x.movedim(axis, 0)


def one_by_one(name: str, info: Any, in_dims: Sequence[int | None], inputs: Sequence[Any]) -> tuple[Any, int]:
    """A rule for batches that no single move is for: the results of all, stacked."""
    made = [call(name, *(x.select(axis, i) if isinstance(axis, int) else x for x, axis in zip(inputs, in_dims)))
            for i in range(info.batch_size)]
    return _torch.stack(made), 0


def inverse_order(order: Sequence[int]) -> list[int]:
    n = len(order)
    back = [-1] * n
    for place, d in enumerate(order):
        if -n <= d < n:
            back[d % n] = place
    if -1 in back:
        refuse("permute_dims", f"the axes {tuple(order)}", f"each of the {n} axes once")
    return back


class SameShape:
    """The result's elements and shape are those of the first tensor."""

    def fake(x: Any, *how: Any) -> Any:
        return x.new_empty(x.shape)


# --- axes


@operator("permute_dims(Tensor x, int[] dims) -> Tensor")
class _PermuteDims:
    def move(x: Any, dims: list[int]) -> Any:
        return _faro.run(x, _run.PERMUTE_DIMS, tuple(dims), None, None)

    def fake(x: Any, dims: list[int]) -> Any:
        order = [d % x.dim() for d in dims]
        _torch._check(sorted(order) == list(range(x.dim())), lambda: f"permute_dims: got the axes {dims}, wanted each once")
        return x.new_empty([x.shape[d] for d in order])

    def keep(ctx: Any, x: Any, dims: list[int]) -> None:
        ctx.dims = dims

    def back(ctx: Any, g: Any) -> Any:
        return call("permute_dims", g, inverse_order(ctx.dims)), None

    def batch(info: Any, in_dims: Any, x: Any, dims: list[int]) -> Any:
        x = first(x, in_dims[0])
        return call("permute_dims", x, [0] + [d % (x.dim() - 1) + 1 for d in dims]), 0


@operator("flip(Tensor x, int[] dims) -> Tensor")
class _Flip(SameShape):
    def move(x: Any, dims: list[int]) -> Any:
        return _faro.run(x, _run.FLIP, tuple(dims), None, None)

    keep = _PermuteDims.keep

    def back(ctx: Any, g: Any) -> Any:
        return call("flip", g, ctx.dims), None

    def batch(info: Any, in_dims: Any, x: Any, dims: list[int]) -> Any:
        x = first(x, in_dims[0])
        return call("flip", x, [d % (x.dim() - 1) + 1 for d in dims]), 0


@operator("roll(Tensor x, SymInt[] shifts, int[] dims) -> Tensor")
class _Roll(SameShape):
    def move(x: Any, shifts: list[int], dims: list[int]) -> Any:
        return _faro.run(x, _run.ROLL, (tuple(shifts), tuple(dims) if dims else None), None, None)

    def keep(ctx: Any, x: Any, shifts: list[int], dims: list[int]) -> None:
        ctx.shifts, ctx.dims = shifts, dims

    def back(ctx: Any, g: Any) -> Any:
        return call("roll", g, [-s for s in ctx.shifts], ctx.dims), None, None

    def batch(info: Any, in_dims: Any, x: Any, shifts: list[int], dims: list[int]) -> Any:
        x = first(x, in_dims[0])
        if not dims:
            return call("roll", x.reshape(x.shape[0], -1), shifts, [1] * len(shifts)).reshape(x.shape), 0
        return call("roll", x, shifts, [d % (x.dim() - 1) + 1 for d in dims]), 0


# --- maps by their text


_NAMES_AXES = ("->", "axes", "transpose", "strided")  # in texts whose results may have another shape


def keeps_shape(text: str) -> bool:
    """Whether a text permutes the flat array of whatever shape, so that its sizes need not be known."""
    return not any(word in text for word in _NAMES_AXES)


@functools.lru_cache(maxsize=1024)
def _shape_after(text: str, inverse: bool, shape: tuple[int, ...]) -> tuple[int, ...]:
    width = 1
    return _run._plan_text(shape, _arrays.dense_strides(shape, width), width, (text, inverse), _run.options("cpu"))[1]


@functools.lru_cache(maxsize=1024)
def _sized(text: str, shape: tuple[int, ...], inverse: bool) -> str:
    """A text may take its sizes from the shape that it was given: the way back is told the same sizes."""
    if "->" in text:
        return _run.sized_pattern(text, shape, inverse)
    return maps.parse(text, shape).text


@operator("permute(Tensor x, str map, bool inverse, int batch_dims) -> Tensor")
class _Permute:
    def move(x: Any, map: str, inverse: bool, batch_dims: int) -> Any:
        if batch_dims == 0:
            return _faro.run(x, _run.TEXT, (map, inverse), None, None)
        return _faro.run(x.contiguous(), _run.BATCH, (map, inverse, batch_dims), None, None)

    def fake(x: Any, map: str, inverse: bool, batch_dims: int) -> Any:
        if keeps_shape(map) and not all(isinstance(extent, int) for extent in x.shape):
            return x.new_empty(x.shape)
        shape = tuple(int(extent) for extent in x.shape[batch_dims:])
        return x.new_empty([*x.shape[:batch_dims], *_shape_after(map, inverse, shape)])

    def keep(ctx: Any, x: Any, map: str, inverse: bool, batch_dims: int) -> None:
        ctx.map, ctx.inverse, ctx.batch_dims, ctx.shape = map, inverse, batch_dims, x.shape

    def back(ctx: Any, g: Any) -> Any:
        said = ctx.map
        if not keeps_shape(said):
            said = _sized(said, tuple(int(e) for e in ctx.shape[ctx.batch_dims :]), ctx.inverse)
        return call("permute", g, said, not ctx.inverse, ctx.batch_dims).reshape(ctx.shape), None, None, None


@functools.lru_cache(maxsize=8)
def sources(handle: Any, inverse: bool, device: Any) -> Any:
    """Where each element of a map's result comes from: a list for ``take``."""
    chosen = maps.Map(handle)
    places = (chosen if inverse else ~chosen).indices
    return _torch.as_tensor(places.astype("int64") if hasattr(places, "astype") else list(places), device=device)


@operator("permute_along(Tensor x, str map, bool inverse, int dim) -> Tensor")
class _PermuteAlong(SameShape):
    """One axis, permuted by a map that takes its size from it."""

    def move(x: Any, map: str, inverse: bool, dim: int) -> Any:
        if x.is_cuda and math.prod(x.shape[dim + 1 :]) * x.element_size() > _run._MOST_BYTES:
            return _rows.take(x, sources(maps.parse(map, (x.shape[dim],))._handle, inverse, x.device), dim)
        return _permute(x, map, inverse=inverse, axis=dim)

    def keep(ctx: Any, x: Any, map: str, inverse: bool, dim: int) -> None:
        ctx.how = map, not inverse, dim

    def back(ctx: Any, g: Any) -> Any:
        return call("permute_along", g, *ctx.how), None, None, None


# --- plans, which are made for one shape and are no operators


class _ByPlan(_torch.autograd.Function):
    @staticmethod
    def forward(x: Any, plan: Any) -> Any:
        return plan(_plain(x))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.plan = inputs[1]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _ByPlan.apply(gradients[0], ctx.plan.inverse), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _ByPlan.apply(tangents[0], ctx.plan)

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, plan: Any) -> Any:
        return _torch.stack([_ByPlan.apply(each, plan) for each in first(x, in_dims[0])]), 0


def by_family(x: Any, family: Any, extents: Any) -> Any:
    """A family's call by operators, whose extents may be symbols."""
    if extents is not None:
        refuse("run a family", "extents= beside a tensor whose operations are recorded", "none: the tensor has them",
               "x.detach() is not recorded")
    family._check(tuple(x.shape), x.element_size())
    if family.flip:
        x = call("flip", x, list(family.flip))
    rolled = [a for a, shift in enumerate(family.roll) if shift]
    if rolled:
        x = call("roll", x, [family.roll[a] for a in rolled], rolled)
    return call("permute_dims", x, list(family.axes))


@_torch.compiler.disable
def by_plan(x: Any, plan: Any) -> Any:
    """A plan of the user's, between the graphs of a compiled program."""
    _torch_modes.refuse_unheard(x)
    return _ByPlan.apply(x, plan)
