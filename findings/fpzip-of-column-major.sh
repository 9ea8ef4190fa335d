#!/usr/bin/env bash
# fpzip 1.2.5: compress() with its default order writes the memory of a column-major array under the array's shape, and decompress() gives it back
# permuted; with order="F" it does so to a row-major array. Its text says that the order should be that of the memory, but nothing checks it, and
# a view with negative strides or steps is copied and comes back right under either order.
# Seen with numpy 2.4.6, on CPython 3.11:
#     row-major, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#     row-major, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
#     column-major, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
#     column-major, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#     reversed, order C: [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] came back as [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
#     reversed, order F: [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] came back as [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
#     stepped, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
#     stepped, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check fpzip==1.2.5 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import fpzip, numpy as np

x = np.arange(6, dtype=np.float32).reshape(2, 3)
wide = np.repeat(x, 2, axis=1)
for name, array in ("row-major", x), ("column-major", np.asfortranarray(x)), ("reversed", x[::-1]), ("stepped", wide[:, ::2]):
    for order in "CF":
        back = fpzip.decompress(fpzip.compress(array, order=order), order=order)
        print(f"{name}, order {order}: {array.tolist()} came back as {back.squeeze().tolist()}")
P
)
echo "$seen"
[[ $seen == "row-major, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
row-major, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
column-major, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]]
column-major, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
reversed, order C: [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] came back as [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
reversed, order F: [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] came back as [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
stepped, order C: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
stepped, order F: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] came back as [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]" ]]
