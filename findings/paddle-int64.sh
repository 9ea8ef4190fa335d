#!/usr/bin/env bash
# PaddlePaddle 3.3.1 on the CPU multiplies matrices of int64 by way of float64, and inner, outer and dot are exact: @ with the identity rounds. x[0]
# = n, x + n and full_like round a Python number to float64 on its way into int64, and full, fill_ and index_fill do not. bincount's integer weights
# are rounded, too. sum of int8, uint8 and int16 wraps in these types, and that of int32 does not; cumsum of int8 does not, so that its last number
# is not the sum.
# Seen with numpy 2.4.6, on CPython 3.11:
#     products, what they lack to 2**53 + 1: @ 1, mm 1, tensordot 1, inner 0, dot 0, outer 0, bincount 1
#     numbers, what they lack to 2**53 + 1: x[0] = n 1, zeros + n 1, full_like 1, full 0, fill_ 0, index_fill 0
#     int8 [100, 100]: sum -56, cumsum 200
#     uint8 [200, 100]: sum 44, no cumsum
#     int16 [30000, 30000]: sum -5536, no cumsum
#     int32 [2147483647, 1]: sum 2147483648, cumsum 2147483648
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check paddlepaddle==3.3.1 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import numpy as np, paddle

n = 2**53 + 1
x, one, zero = paddle.to_tensor(np.array([n])), paddle.to_tensor(np.array([1])), paddle.to_tensor(np.array([0]))

def changed(change):
    y = zero.clone()
    change(y)
    return y

products = {
    "@": x[None] @ one[None], "mm": paddle.mm(x[None], one[None]), "tensordot": paddle.tensordot(x, one, 1), "inner": paddle.inner(x, one),
    "dot": paddle.dot(x, one), "outer": paddle.outer(x, one), "bincount": paddle.bincount(zero, x),
}
numbers = {
    "x[0] = n": changed(lambda y: y.__setitem__(0, n)), "zeros + n": zero + n, "full_like": paddle.full_like(zero, n),
    "full": paddle.full([1], n, "int64"), "fill_": changed(lambda y: y.fill_(n)), "index_fill": paddle.index_fill(zero, zero, 0, n),
}
for title, tried in ("products", products), ("numbers", numbers):
    print(f"{title}, what they lack to 2**53 + 1:", ", ".join(f"{name} {n - int(y.numpy().ravel()[0])}" for name, y in tried.items()))
for dtype, numbers in (np.int8, [100, 100]), (np.uint8, [200, 100]), (np.int16, [30000, 30000]), (np.int32, [2**31 - 1, 1]):
    y = paddle.to_tensor(np.array(numbers, dtype))
    last = "no cumsum" if dtype in (np.uint8, np.int16) else f"cumsum {int(paddle.cumsum(y).numpy()[-1])}"
    print(f"{dtype.__name__} {numbers}: sum {int(paddle.sum(y).numpy())}, {last}")
P
)
echo "$seen"
[[ $seen == "products, what they lack to 2**53 + 1: @ 1, mm 1, tensordot 1, inner 0, dot 0, outer 0, bincount 1
numbers, what they lack to 2**53 + 1: x[0] = n 1, zeros + n 1, full_like 1, full 0, fill_ 0, index_fill 0
int8 [100, 100]: sum -56, cumsum 200
uint8 [200, 100]: sum 44, no cumsum
int16 [30000, 30000]: sum -5536, no cumsum
int32 [2147483647, 1]: sum 2147483648, cumsum 2147483648" ]]
