#!/usr/bin/env bash
# JAX 0.10.2 without jax_enable_x64: jax.numpy.from_dlpack() of 64-bit numbers keeps the low 32 bits of integers and turns large floats
# into inf, without a warning; and with copy=False, too, which is told to raise if a copy is needed. Memory of int32 is shared under
# copy=False, as it should be. A Python int of this size raises OverflowError and dtype="int64" at least warns: one would expect
# from_dlpack to raise, and under copy=False by its own documentation.
# Seen with numpy 2.4.6, on CPython 3.11:
#     2**40 + 7: copy=None int32 7, copy=False int32 7, Python int OverflowError, dtype=int64 UserWarning; 1e300: copy=False float32 inf;
#     int32 shared True, int64 shared False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import jax.numpy as jnp, numpy as np

warnings.simplefilter("error")
memory = np.zeros(256, np.uint8)
aligned = memory[-memory.ctypes.data % 64 :][:64]           # JAX shares memory that begins at a multiple of 64 only
integers = aligned.view(np.int64)

def first(f, *args, **options):
    try:
        x = f(*args, **options)
        return f"{x.dtype} {x.ravel()[0]}"
    except (OverflowError, UserWarning) as e:
        return type(e).__name__

shared = [jnp.from_dlpack(x, copy=False).unsafe_buffer_pointer() == x.ctypes.data for x in (aligned.view(np.int32), integers)]
integers[:] = 2**40 + 7
told = [first(jnp.from_dlpack, integers, copy=copy) for copy in (None, False)]
told += [first(jnp.array, 2**40 + 7), first(jnp.asarray, integers, dtype="int64")]
integers.view(np.float64)[:] = 1e300
print("2**40 + 7: copy=None {}, copy=False {}, Python int {}, dtype=int64 {}; 1e300: copy=False {}; "
      "int32 shared {}, int64 shared {}".format(*told, first(jnp.from_dlpack, integers.view(np.float64), copy=False), *shared))
P
)
echo "$seen"
[[ $seen == "2**40 + 7: copy=None int32 7, copy=False int32 7, Python int OverflowError, dtype=int64 UserWarning; \
1e300: copy=False float32 inf; int32 shared True, int64 shared False" ]]
