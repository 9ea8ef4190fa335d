#!/usr/bin/env bash
# JAX 0.10.2 on the CPU: float4_e2m1fn has no infinity and goes up to 6, which JAX takes for infinite: isinf(6) holds, and 6 becomes the largest
# number of the integer type that it is converted to, -6 the smallest. As float32 it is 6, and ml_dtypes 0.6.0 converts it to 6. The largest numbers
# of the 8-bit floats that have no infinity come through.
# Seen with numpy 2.4.6, on CPython 3.11:
#     float4_e2m1fn [4.0, 6.0, -6.0]: isinf [False, True, True], int32 [4, 2147483647, -2147483648], int8 [4, 127, -128]; ml_dtypes int32 [4, 6, -6]
#     float8_e4m3fn [1.0, 448.0, -448.0]: isinf [False, False, False], int32 [1, 448, -448], int8 [1, 127, -128]; ml_dtypes int32 [1, 448, -448]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0
seen=$(JAX_PLATFORMS=cpu "$folder/env/bin/python" - <<'P'
import jax.numpy as jnp, ml_dtypes, numpy as np

for kind, numbers in ((ml_dtypes.float4_e2m1fn, [4, 6, -6]), (ml_dtypes.float8_e4m3fn, [1, 448, -448])):
    array = np.array(numbers).astype(kind)
    there = jnp.asarray(array)
    print(f"{array.dtype} {there.astype(np.float32).tolist()}: isinf {jnp.isinf(there).tolist()}, int32 {there.astype(np.int32).tolist()}, "
          f"int8 {there.astype(np.int8).tolist()}; ml_dtypes int32 {array.astype(np.int32).tolist()}")
P
)
echo "$seen"
[[ $seen == "float4_e2m1fn [4.0, 6.0, -6.0]: isinf [False, True, True], int32 [4, 2147483647, -2147483648], int8 [4, 127, -128]; ml_dtypes int32 [4, 6, -6]
float8_e4m3fn [1.0, 448.0, -448.0]: isinf [False, False, False], int32 [1, 448, -448], int8 [1, 127, -128]; ml_dtypes int32 [1, 448, -448]" ]]
