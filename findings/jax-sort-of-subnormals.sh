#!/usr/bin/env bash
# JAX 0.10.2 on the CPU takes subnormal float32 for 0 where it compares: jnp.sort leaves them in the order in which they came, negative ones behind
# positive ones, jnp.unique makes one of four different numbers, and jnp.max of them is 0. jax.lax.top_k sorts the same array, and all that moves
# elements keeps them, so that x == 0 is true of numbers that, converted to Python, are not 0. NumPy 2.4.6 beside it.
# Seen on CPython 3.11:
#     x is [3, 1, -2, 0] times 1e-40; jnp.asarray [3, 1, -2, 0], reversed [0, -2, 1, 3], top_k [3, 1, 0, -2]
#     sort: JAX [3, 1, -2, 0], NumPy [-2, 0, 1, 3]; unique: JAX [3], NumPy [-2, 0, 1, 3]
#     x == 0: JAX [True, True, True, True], NumPy [False, False, False, True]; x + x: JAX [0, 0, 0, 0], NumPy [6, 2, -4, 0]
#     max: JAX 0, NumPy 3
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import jax, jax.numpy as jnp, numpy as np

x = np.array([3, 1, -2, 0], np.float32) * np.float32(1e-40)

def shown(each):
    return [round(float(number) * 1e40) for number in np.asarray(each)]

a = jnp.asarray(x)
print(f"x is {shown(x)} times 1e-40; jnp.asarray {shown(a)}, reversed {shown(a[::-1])}, top_k {shown(jax.lax.top_k(a, 4)[0])}")
print(f"sort: JAX {shown(jnp.sort(a))}, NumPy {shown(np.sort(x))}; unique: JAX {shown(jnp.unique(a))}, NumPy {shown(np.unique(x))}")
print(f"x == 0: JAX {(a == 0).tolist()}, NumPy {(x == 0).tolist()}; x + x: JAX {shown(a + a)}, NumPy {shown(x + x)}")
print(f"max: JAX {shown([jnp.max(a)])[0]}, NumPy {shown([np.max(x)])[0]}")
P
)
echo "$seen"
[[ $seen == "x is [3, 1, -2, 0] times 1e-40; jnp.asarray [3, 1, -2, 0], reversed [0, -2, 1, 3], top_k [3, 1, 0, -2]
sort: JAX [3, 1, -2, 0], NumPy [-2, 0, 1, 3]; unique: JAX [3], NumPy [-2, 0, 1, 3]
x == 0: JAX [True, True, True, True], NumPy [False, False, False, True]; x + x: JAX [0, 0, 0, 0], NumPy [6, 2, -4, 0]
max: JAX 0, NumPy 3" ]]
