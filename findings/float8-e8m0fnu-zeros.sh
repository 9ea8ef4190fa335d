#!/usr/bin/env bash
# NumPy 2.4.6 with ml_dtypes 0.6.0, and JAX 0.10.2: float8_e8m0fnu holds powers of two and has no zero. zeros() gives an array of it all
# the same: 2**-127 in NumPy (its bytes are 0), NaN in JAX. NumPy is not at one with itself: full(n, 0) and a conversion of 0 give NaN,
# as does JAX. One would expect an error, or at least one number.
# Seen on CPython 3.11:
#     numpy: zeros 2**-127, full 0 nan, converted nan; jax: zeros nan, full 0 nan, converted nan; warnings 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import jax.numpy as jnp, ml_dtypes, numpy as np


def value(x):
    x = float(np.asarray(x)[0])
    return "2**-127" if x == 2.0**-127 else str(x)


with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    t, seen = ml_dtypes.float8_e8m0fnu, []
    for name, lib in (("numpy", np), ("jax", jnp)):
        seen.append(f"{name}: zeros {value(lib.zeros(1, t))}, full 0 {value(lib.full(1, 0, t))}, "
                    f"converted {value(lib.zeros(1, 'float32').astype(t))}; ")
    print("".join(seen) + f"warnings {len(warned)}")
P
)
echo "$seen"
[[ $seen == "numpy: zeros 2**-127, full 0 nan, converted nan; jax: zeros nan, full 0 nan, converted nan; warnings 0" ]]
