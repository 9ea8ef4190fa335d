"""What PyTorch does with a call beside its numbers: gradients, tangents, transforms, tracers, modes, version counters.

    a call with a tensor
         |  pytorch.cpp asks whether anything is active, in some nanoseconds
    nothing is active, or the call is an operator's own work: the engine moves the memory
         |  else
    watcher(x)   says who would not hear of it
         |  functions that have an operator (faro.torch) go by it; the others refuse, with their name

A write by a call raises the tensor's version counter (``written``), so that backward refuses what it saved before.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn, Sequence

import torch as _torch
import torch.autograd.forward_ad as _forward_ad

from . import _faro, _libraries
from ._errors import FaroTypeError, FaroUnsupportedError, called, refuse

_C: Any = _torch._C
_dispatch_modes = _C._len_torch_dispatch_stack
_is_function_mode = _C._is_torch_function_mode_enabled
_is_tracing = _C._is_tracing
_transform = _C._functorch.peek_interpreter_stack
QUESTIONS = (_dispatch_modes, _is_function_mode, _is_tracing, _C._are_functorch_transforms_active)
_PLAIN = (_torch.Tensor, _torch.nn.Parameter)

# Of each watcher: what a tensor is called, and what else can be done.
_GRADIENT = "a tensor whose operations are recorded", "x.detach() has the same elements"
_TANGENT = "a tensor whose operations are recorded, for its tangent", "x.detach() has the same elements, and no tangent"
_TRANSFORM = "a tensor whose operations are recorded, by torch.func", "call it outside the transformed function"
_TRACER = "a tensor whose operations are recorded, by torch.jit.trace", "call it outside the traced function"


def meet() -> tuple[Any, ...]:
    """What the short way of a call asks, and tells: once it has seen a tensor."""
    keys = _keys()
    return keys, () if keys else QUESTIONS, _forward_ad.__dict__, is_active, _C._increment_version, (_torch.int8, _torch.uint8)


def _keys() -> list[int]:
    """The dispatch keys that are included while something is active, where libc10's own functions are found to tell what PyTorch's
    Python functions tell; else none."""
    names = ("Python", "Tracer", "FuncTorchDynamicLayerFrontMode")
    try:
        keys = [_C._dispatch_key_parse(name) for name in names]
        bits = [int(_C.DispatchKeySet(key).raw_repr()) for key in keys]

        def agrees() -> bool:
            included = [bool(_C._dispatch_tls_is_dispatch_key_included(name)) for name in names]
            return bool(_faro.torch_tells(bits) == [*included, bool(_is_function_mode())])

        agree = [agrees()]
        for key in keys:
            with _C._IncludeDispatchKeyGuard(key):
                agree.append(agrees())
        with _torch.overrides.BaseTorchFunctionMode():
            agree.append(agrees())
    except (AttributeError, TypeError):  # of another PyTorch
        return []
    return bits if all(agree) else []


_NOT_INLINED = ("_arithmetic", "_arrays", "_automorphisms", "_columns", "_device_rows", "_functions", "_indices", "_networks", "_plan", "_row_plans",
                "_rows", "_torch_modes", "shards")


def keep_from_dynamo() -> bool:
    """torch.compile calls these modules' functions between its graphs, as it calls those of an extension: what they read of a tensor
    it cannot trace. (faro.torch it inlines.) Asked once Dynamo is there, since importing it takes a second; tells whether it was."""
    rules: Any = getattr(_torch._dynamo, "trace_rules", None)
    for name in _NOT_INLINED if hasattr(rules, "add") else ():
        rules.add(f"{__package__}.{name}")
    return rules is not None


def is_active() -> bool:
    """Whether a mode, a tracer or a transform may have to hear of a call. An operator's own work is done below them."""
    return _transform() is not None or _mode() is not None


def _mode() -> tuple[str, str] | None:
    count = _dispatch_modes()
    if count:
        return _under(_C._get_dispatch_stack_at(count - 1))
    if _is_tracing() and (_transform() is not None or not _C._dispatch_tls_is_dispatch_key_excluded("Tracer")):
        return _TRACER  # which an operator's own work excludes, and a transform does while it lasts
    if _is_function_mode():
        for place in reversed(range(_C._len_torch_function_stack())):
            mode = _C._get_function_stack_at(place)
            if not isinstance(mode, _torch.utils._device.DeviceContext):  # which chooses where new tensors lie, and no more
                return _under(mode)
    return None


def _under(mode: Any) -> tuple[str, str]:
    return f"a tensor whose operations are recorded, by {type(mode).__name__}", "call it outside the mode, or the traced function"


def are_plain(tensors: Sequence[Any]) -> bool:
    """Whether all are strided tensors of numbers as they lie there, and nobody has to hear of what is done with them: what describe()
    asks of each, in a tenth of the time."""
    if is_active() or _forward_ad._current_level >= 0:
        return False
    grads, wrapped = _torch.is_grad_enabled(), _C._functorch.is_functorch_wrapped_tensor
    for x in tensors:
        if type(x) not in _PLAIN or (grads and x.requires_grad) or x.layout is not _torch.strided or x.is_conj() or x.is_neg():
            return False
        if x.is_quantized or x.is_nested or wrapped(x) or _torch._is_functional_tensor(x):
            return False
    return True


def queue(device: int) -> int:
    """The stream that PyTorch queues work of this GPU on."""
    return int(_C._cuda_getCurrentRawStream(device))


def watcher(x: Any) -> tuple[str, str] | None:
    """Who has to hear of what is done with a tensor, as what it is called and a remedy; None: nobody."""
    if type(x) not in _PLAIN:
        return _of_subclass(x)
    if _C._functorch.is_functorch_wrapped_tensor(x) or _torch._is_functional_tensor(x):
        return _TRANSFORM
    if x.requires_grad and _torch.is_grad_enabled():
        return _GRADIENT
    if _forward_ad._current_level >= 0 and _has_tangent(x):
        return _TANGENT
    return _mode()


def _has_tangent(x: Any) -> bool:
    return bool(_C._is_fwd_grad_enabled()) and _forward_ad.unpack_dual(x).tangent is not None


def _of_subclass(x: Any) -> tuple[str, str]:
    remedy = "x.to_local() is this rank's part" if _is_distributed(x) else "give it plain tensors"
    return f"a {type(x).__name__}, whose operations are recorded", remedy


def _is_distributed(x: Any) -> bool:
    distributed: Any = sys.modules.get("torch.distributed.tensor")
    return distributed is not None and isinstance(x, distributed.DTensor)


def refuse_unmoved(name: str, arguments: Sequence[Any]) -> None:
    """An operator moves a whole array of plain numbers, and has no rule for one that is spread over ranks or has no strides."""
    for x in arguments:
        if not isinstance(x, _torch.Tensor):
            continue
        while _C._functorch.is_functorch_wrapped_tensor(x):
            x = _C._functorch.get_unwrapped(x)
        refuse_layout(name, x)
        if _is_distributed(x):
            refuse(name, "a DTensor", "a tensor of one rank", "x.to_local() is this rank's part, and "
                   "faro.torch.permute_dims_sharded() permutes the axes of the whole", kind=FaroUnsupportedError)


def refuse_layout(operation: str, x: Any) -> None:
    if x.is_nested or x.is_quantized:
        refuse(operation, f"a {'nested' if x.is_nested else 'quantized'} tensor", "a strided tensor of plain numbers",
               "each of x.unbind() by itself" if x.is_nested else "x.dequantize() has its values, x.int_repr() its bytes")
    if x.layout != _torch.strided:
        refuse(operation, f"a tensor of layout {x.layout}", "a strided tensor", "x.to_dense() is one")


def refuse_output(arrays: tuple[Any, ...]) -> NoReturn:
    """Operators make new tensors, on the current stream."""
    watched = [seen for seen in (watcher(given) for given in arrays if isinstance(given, _torch.Tensor)) if seen is not None]
    got, remedy = watched[0] if watched else _GRADIENT
    refuse(called(), f"out= or stream= for {got}", "neither", f"leave them out; or {remedy}")


def refuse_unheard(x: Any) -> None:
    """Of what is no operator derivatives and batches may know; tracers, modes and functionalization do not."""
    seen = _of_subclass(x) if type(x) not in _PLAIN else _mode()
    if any(level.key() == _KINDS.Functionalize for level in _C._functorch.get_interpreter_stack() or ()):
        seen = _TRANSFORM
    if seen is not None:
        refuse_recorded(x, seen)


def refuse_recorded(x: Any, seen: tuple[str, str]) -> NoReturn:
    """For a function that has no operator."""
    got, remedy = seen
    named = called()
    if seen == _GRADIENT and named in _libraries.functions_for("torch").__all__:
        remedy = f"faro.torch.{named}(), or x.detach()"
    refuse(named, got, "one that is detached" if seen in (_GRADIENT, _TANGENT) else "a plain tensor", remedy,
           kind=FaroUnsupportedError)


def written(x: Any) -> None:
    """Raises the version counter of a tensor; one of inference mode has none, and stays as it is."""
    _C._increment_version((x,))


_KINDS = _C._functorch.TransformType


def refuse_mixed() -> None:
    """PyTorch has no way for derivatives of torch.func's beside functionalization, which knows no autograd, or torch.jit.trace."""
    kinds = {level.key() for level in _C._functorch.get_interpreter_stack() or ()}
    if kinds & {_KINDS.Grad, _KINDS.Jvp} and (_KINDS.Functionalize in kinds or _is_tracing()):
        other = "functionalize" if _KINDS.Functionalize in kinds else "torch.jit.trace"
        refuse(called(), f"a derivative of torch.func's beside {other}", "one of them", "make_fx() traces derivatives, in operators only",
               kind=FaroUnsupportedError)


def refuse_others(x: Any) -> None:
    """What has torch's functions and is no tensor: of torch.fx's symbolic tracing."""
    refuse(called(), f"a {type(x).__name__} of {type(x).__module__}", "a tensor",
           "torch.fx.experimental.proxy_tensor.make_fx() traces the functions of faro.torch" if type(x).__module__.startswith("torch.fx") else "",
           kind=FaroTypeError)
