#!/usr/bin/env bash
# JAX 0.10.2 on the CPU: lax.top_k takes a NaN for more than infinity or for less than minus infinity by its sign, which no one sees. 0/0 on
# x86 makes NaN with the sign set, so that a NaN that comes of a computation is passed over, and nan as written is the largest. jnp.sort and
# argmax take every NaN for the largest, whatever its sign, and agree with NumPy and PyTorch.
# Seen on CPython 3.11:
#     nan: top_k [nan, 2.0], argmax 2; 0/0: top_k [2.0, 1.0], argmax 2, sort [1.0, 2.0, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import jax, jax.numpy as jnp

zero = jnp.zeros(1)
written, computed = jnp.array([1, 2, jnp.nan]), jnp.concatenate([jnp.array([1.0, 2.0]), zero / zero])
print(f"nan: top_k {jax.lax.top_k(written, 2)[0].tolist()}, argmax {jnp.argmax(written)}; "
      f"0/0: top_k {jax.lax.top_k(computed, 2)[0].tolist()}, argmax {jnp.argmax(computed)}, sort {jnp.sort(computed).tolist()}")
P
)
echo "$seen"
[[ $seen == "nan: top_k [nan, 2.0], argmax 2; 0/0: top_k [2.0, 1.0], argmax 2, sort [1.0, 2.0, nan]" ]]
