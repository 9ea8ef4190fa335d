#!/usr/bin/env bash
# PyTorch 2.15.0: an operator made with torch.library.custom_op and register_autograd has right gradients in reverse mode; in forward
# mode its result has no tangent, without an error or a warning, and what is computed with it has only a part of its derivative:
# d(x * x**3)/dx at 2 is 32 in reverse mode and 8 in forward mode. torch.func.jvp of the operator alone gives 0. An autograd.Function
# without a jvp raises NotImplementedError there, and so does the operator if the primal asks for a gradient: one would expect it always.
# Seen with torch 2.15.0, numpy 2.4.6, on CPython 3.11:
#     reverse 32.0, forward 8.0, operator alone None, func.jvp 0.0, with requires_grad NotImplementedError, Function NotImplementedError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import torch
from torch.autograd import forward_ad


@torch.library.custom_op("example::cube", mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return x**3

cube.register_autograd(lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
                       setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
class Cube(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: x**3)
    backward = staticmethod(lambda ctx, g: g)

def tangent(f, x):
    with forward_ad.dual_level():
        try:
            return forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.ones_like(x)))).tangent
        except NotImplementedError as e:
            return type(e).__name__

x, needs = torch.tensor(2.0), torch.tensor(2.0, requires_grad=True)
print(f"reverse {torch.autograd.grad(needs * cube(needs), needs)[0]}, forward {tangent(lambda x: x * cube(x), x)}, "
      f"operator alone {tangent(cube, x)}, func.jvp {torch.func.jvp(cube, (x,), (x / x,))[1]}, "
      f"with requires_grad {tangent(cube, needs)}, Function {tangent(Cube.apply, x)}")
P
)
echo "$seen"
[[ $seen == "reverse 32.0, forward 8.0, operator alone None, func.jvp 0.0, \
with requires_grad NotImplementedError, Function NotImplementedError" ]]
