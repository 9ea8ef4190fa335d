#!/usr/bin/env bash
# jax.lax.reduce_precision of JAX 0.10.2, which rounds to so many bits of exponent and mantissa, makes 0 of what is subnormal in that type. The
# conversion to the type and back keeps it: in 4 bits and 3, float8_e4m3's, all below 0.0156 is lost, and the smallest number of that type is 0.00195.
# With the bits of float16, 0 begins below 6.1e-5. Infinities and the largest numbers agree.
# Seen with ml_dtypes 0.6.0, numpy 2.4.6, on CPython 3.11:
#     float8_e4m3 of [0.02, 0.015, 0.002, 300]: reduce_precision [0.0195, 0.0, 0.0, inf], converted [0.0195, 0.0156, 0.00195, inf]
#     float16 of [7e-05, 6e-05, 1e-06, 100000.0]: reduce_precision [7e-05, 0.0, 0.0, inf], converted [7e-05, 6e-05, 1.01e-06, inf]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import jax, jax.numpy as jnp, numpy as np

for dtype, exponent, mantissa, numbers in ("float8_e4m3", 4, 3, [0.02, 0.015, 0.002, 300]), ("float16", 5, 10, [7e-5, 6e-5, 1e-6, 1e5]):
    x = jnp.array(numbers, jnp.float32)
    reduced, converted = jax.lax.reduce_precision(x, exponent, mantissa), x.astype(dtype).astype(jnp.float32)
    print(f"{dtype} of {numbers}: reduce_precision {[float(f'{each:.3g}') for each in reduced.tolist()]}, "
          f"converted {[float(f'{each:.3g}') for each in converted.tolist()]}")
P
)
echo "$seen"
[[ $seen == "float8_e4m3 of [0.02, 0.015, 0.002, 300]: reduce_precision [0.0195, 0.0, 0.0, inf], converted [0.0195, 0.0156, 0.00195, inf]
float16 of [7e-05, 6e-05, 1e-06, 100000.0]: reduce_precision [7e-05, 0.0, 0.0, inf], converted [7e-05, 6e-05, 1.01e-06, inf]" ]]
