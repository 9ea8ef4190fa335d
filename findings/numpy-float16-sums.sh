#!/usr/bin/env bash
# NumPy 2.4.6 adds float16 up in float32 along the axis that lies together in memory, and in float16 along any other, where 2048 + 1 is 2048: the sums
# of equal arrays differ by the order of their memory, here by a factor of two, and so do einsum() and norm(). mean() is right. The documentation
# of sum() warns of less precision along other axes, in the last digits.
# Seen on CPython 3.11:
#     order C: sum [2048.0, 2048.0], einsum [2048.0, 2048.0], norm [45.25, 45.25], mean [1.0, 1.0], sum in float32 [4096.0, 4096.0]
#     order F: sum [4096.0, 4096.0], einsum [4096.0, 4096.0], norm [64.0, 64.0], mean [1.0, 1.0], sum in float32 [4096.0, 4096.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np

for order in "CF":
    x = np.ones((4096, 2), np.float16, order=order)
    print(f"order {order}: sum {x.sum(0).tolist()}, einsum {np.einsum('ij->j', x).tolist()}, norm {np.linalg.norm(x, axis=0).tolist()}, "
          f"mean {x.mean(0).tolist()}, sum in float32 {x.sum(0, np.float32).tolist()}")
P
)
echo "$seen"
[[ $seen == "order C: sum [2048.0, 2048.0], einsum [2048.0, 2048.0], norm [45.25, 45.25], mean [1.0, 1.0], sum in float32 [4096.0, 4096.0]
order F: sum [4096.0, 4096.0], einsum [4096.0, 4096.0], norm [64.0, 64.0], mean [1.0, 1.0], sum in float32 [4096.0, 4096.0]" ]]
