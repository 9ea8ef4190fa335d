#!/usr/bin/env bash
# isclose and allclose of MLX 0.32.4 compute in the type of the arrays: of uint8, 200 is not close to 201 within 2, and 201 is to 200, for 200 - 201
# is 255. The int8 -128 is not close to itself, so that allclose(x, x) is False, and neither is the least int32: its absolute value is negative, and
# so is what may differ. array_equal is right, as all are in floats. NumPy 2.4.6 has True for each.
# Seen on CPython 3.11:
#     uint8 200 and 201 within 2: isclose False, allclose False, equal False, NumPy True
#     uint8 201 and 200 within 2: isclose True, allclose True, equal False, NumPy True
#     float32 200 and 201 within 2: isclose True, allclose True, equal False, NumPy True
#     int8 -128 and -128 within 0: isclose False, allclose False, equal True, NumPy True
#     int32 -2147483648 and -2147483648 within 0: isclose False, allclose False, equal True, NumPy True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlx[cpu]==0.32.4 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import mlx.core as mx, numpy as np

cases = ("uint8", 200, 201, 2), ("uint8", 201, 200, 2), ("float32", 200, 201, 2), ("int8", -128, -128, 0), ("int32", -(2**31), -(2**31), 0)
for dtype, a, b, within in cases:
    x, y = np.array([a], dtype), np.array([b], dtype)
    close = mx.isclose(mx.array(x), mx.array(y), atol=within).item(), mx.allclose(mx.array(x), mx.array(y), atol=within).item()
    print(f"{dtype} {a} and {b} within {within}: isclose {close[0]}, allclose {close[1]}, equal {mx.array_equal(mx.array(x), mx.array(y)).item()}, "
          f"NumPy {np.allclose(x.astype(float), y.astype(float), atol=within)}")
P
)
echo "$seen"
[[ $seen == "uint8 200 and 201 within 2: isclose False, allclose False, equal False, NumPy True
uint8 201 and 200 within 2: isclose True, allclose True, equal False, NumPy True
float32 200 and 201 within 2: isclose True, allclose True, equal False, NumPy True
int8 -128 and -128 within 0: isclose False, allclose False, equal True, NumPy True
int32 -2147483648 and -2147483648 within 0: isclose False, allclose False, equal True, NumPy True" ]]
