"""faro for JAX: functions for use inside jit, grad, vmap and jvp, carried out by jax.ffi.

>>> import jax, jax.numpy as jnp, faro.jax
>>> f = jax.jit(lambda x: faro.jax.permute_dims(x, (1, 0)))
>>> f(jnp.arange(6.0).reshape(2, 3)).shape
(3, 2)
>>> jax.grad(lambda x: faro.jax.roll(x, 1)[0] * 5)(jnp.arange(3.0)).tolist()
[0.0, 0.0, 5.0]

Each permutation is one call of the host's or the GPU's engine on XLA's buffers. All are linear: a permutation's transpose
is its inverse, that of ``take`` is ``add_rows``. A batch of vmap is one more axis, not a loop. Shapes are known when a
function is traced, so what is wrong with axes and maps is said then; indices are checked when they are used. Axes, shifts,
lengths and k are Python's own numbers; indices, values, fills and weights may be traced. Elements have any type of JAX's but random
keys: those of less than a byte are widened and narrowed again, which takes two passes more.
"""

from __future__ import annotations

from typing import Any

from . import _run
from ._jax_arithmetic import astype, changed, channels_first  # noqa: F401
from ._jax_moves import (
    aos_to_soa, bit_reverse, flip, permute, permute_dims, permute_evaluations, permute_negacyclic, permute_qubits, rearrange,
    roll, soa_to_aos,
)
from ._jax_primitives import array_of
from ._jax_rows import add_at, add_rows, combine, dispatch, put, take, take_segments
from ._jax_sharded import permute_dims_sharded, permute_sharded

__all__ = ["permute_dims", "transpose", "flip", "roll", "permute", "bit_reverse", "permute_qubits", "rearrange", "aos_to_soa",
           "soa_to_aos", "astype", "channels_first", "permute_negacyclic", "permute_evaluations", "take", "add_rows", "put", "add_at", "take_segments",
           "dispatch", "combine", "permute_dims_sharded", "permute_sharded"]

transpose = permute_dims


# --- what faro's own functions do with arrays of JAX on a device, and inside its transformations


def _by_operation(x: Any, op: int, argument: Any) -> Any:
    if op == _run.PERMUTE_DIMS:
        return permute_dims(x, argument)
    if op == _run.COPY:
        return array_of(x, "ascontiguousarray")
    if op == _run.FLIP:
        return flip(x, argument)
    if op == _run.ROLL:
        return roll(x, *argument)
    if op == _run.QUBITS:
        return permute_qubits(x, argument[0], little_endian=argument[1])
    if op == _run.MAP:
        return permute(x, argument)
    return permute(x, argument[0], inverse=argument[1])
