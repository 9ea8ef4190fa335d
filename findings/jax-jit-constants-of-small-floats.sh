#!/usr/bin/env bash
# JAX 0.10.2 on the CPU: a jitted conversion of float32 to float8_e8m0fnu or float4_e2m1fn and back gives other numbers where the array is a
# constant of the function than where it is its argument. With an argument negative numbers and 0, which e8m0 lacks, become NaN, and infinity
# becomes 6 in float4; with a constant the sign is dropped, 0 becomes 2**-127, NaN becomes infinity, which e8m0 lacks, too, and infinity
# becomes 0 in float4.
# Seen on CPython 3.11:
#     e8m0 of [-3, 0, inf, nan]: argument [nan, nan, nan, nan], constant [4.0, 5.877471754111438e-39, inf, inf]
#     float4 of [-3, 0, inf, nan]: argument [-3.0, 0.0, 6.0, -0.0], constant [-3.0, 0.0, 0.0, 0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import jax, jax.numpy as jnp, numpy as np

x = np.array([-3, 0, np.inf, np.nan], np.float32)
for name, dtype in (("e8m0", jnp.float8_e8m0fnu), ("float4", jnp.float4_e2m1fn)):
    back = lambda x: x.astype(dtype).astype(jnp.float32)
    argument, constant = jax.jit(back)(x), jax.jit(lambda: back(jnp.asarray(x)))()
    print(f"{name} of [-3, 0, inf, nan]: argument {argument.tolist()}, constant {constant.tolist()}")
P
)
echo "$seen"
[[ $seen == "e8m0 of [-3, 0, inf, nan]: argument [nan, nan, nan, nan], constant [4.0, 5.877471754111438e-39, inf, inf]
float4 of [-3, 0, inf, nan]: argument [-3.0, 0.0, 6.0, -0.0], constant [-3.0, 0.0, 0.0, 0.0]" ]]
