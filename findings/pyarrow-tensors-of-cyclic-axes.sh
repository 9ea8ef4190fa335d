#!/usr/bin/env bash
# PyArrow 26.0.1: FixedShapeTensorArray.from_numpy_ndarray() of an array whose axes a cycle of three permutes writes the inverse of the permutation
# that Arrow's specification means (logical axis i is physical axis permutation[i]). to_numpy_ndarray() follows the specification, so the same array
# comes back with other extents, and with the same ones, where they are equal, with its elements elsewhere. Permutations that are their own inverse,
# such as an exchange of two axes, are right, and hide it; so does every test with two axes.
# Seen with numpy 2.4.6, on CPython 3.11:
#     axes [0, 1, 2]: permutation [0, 1, 2], (2, 3, 4) came back as (2, 3, 4), equal True
#     axes [0, 2, 1]: permutation [0, 2, 1], (2, 4, 3) came back as (2, 4, 3), equal True
#     axes [1, 2, 0]: permutation [2, 0, 1], (3, 4, 2) came back as (4, 2, 3), equal False
#     axes [1, 2, 0] of 2 x 2 x 2: [[[0, 4], [1, 5]], [[2, 6], [3, 7]]] came back as [[[0, 2], [4, 6]], [[1, 3], [5, 7]]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, pyarrow as pa

def through_arrow(axes, shape):
    tensors = np.arange(2 * np.prod(shape), dtype=np.int32).reshape(2, *shape).transpose([0] + [axis + 1 for axis in axes])
    array = pa.FixedShapeTensorArray.from_numpy_ndarray(tensors)
    return tensors[0], array.type.permutation, array.to_numpy_ndarray()[0]

for axes in [0, 1, 2], [0, 2, 1], [1, 2, 0]:
    one, permutation, back = through_arrow(axes, (2, 3, 4))
    print(f"axes {axes}: permutation {permutation}, {one.shape} came back as {back.shape}, equal {np.array_equal(one, back)}")
one, _, back = through_arrow([1, 2, 0], (2, 2, 2))
print(f"axes [1, 2, 0] of 2 x 2 x 2: {one.tolist()} came back as {back.tolist()}")
P
)
echo "$seen"
[[ $seen == "axes [0, 1, 2]: permutation [0, 1, 2], (2, 3, 4) came back as (2, 3, 4), equal True
axes [0, 2, 1]: permutation [0, 2, 1], (2, 4, 3) came back as (2, 4, 3), equal True
axes [1, 2, 0]: permutation [2, 0, 1], (3, 4, 2) came back as (4, 2, 3), equal False
axes [1, 2, 0] of 2 x 2 x 2: [[[0, 4], [1, 5]], [[2, 6], [3, 7]]] came back as [[[0, 2], [4, 6]], [[1, 3], [5, 7]]]" ]]
