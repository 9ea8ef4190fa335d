#!/usr/bin/env bash
# PyArrow 26.0.1: an element of a fixed_shape_tensor array with a permutation has wrong strides. The array as a whole gives the tensor of 3 x 2
# that was put in; array[0].to_numpy() and array[0].to_tensor() give one of the same shape that meets some numbers twice and others, here the last,
# never. Without a permutation both agree.
# Seen with numpy 2.4.6, on CPython 3.11:
#     rows: put in [[0, 1, 2], [3, 4, 5]], of the array [[0, 1, 2], [3, 4, 5]], of its element [[0, 1, 2], [3, 4, 5]] with strides (12, 4)
#     permuted: put in [[0, 3], [1, 4], [2, 5]], of the array [[0, 3], [1, 4], [2, 5]], of its element [[0, 2], [1, 3], [2, 4]] with strides (4, 8)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, pyarrow as pa

rows = np.arange(6, dtype=np.int32).reshape(1, 2, 3)
for name, tensors in (("rows", rows), ("permuted", rows.transpose(0, 2, 1))):
    array = pa.FixedShapeTensorArray.from_numpy_ndarray(tensors)
    print(f"{name}: put in {tensors[0].tolist()}, of the array {array.to_numpy_ndarray()[0].tolist()}, "
          f"of its element {array[0].to_numpy().tolist()} with strides {array[0].to_tensor().strides}")
P
)
echo "$seen"
[[ $seen == "rows: put in [[0, 1, 2], [3, 4, 5]], of the array [[0, 1, 2], [3, 4, 5]], of its element [[0, 1, 2], [3, 4, 5]] with strides (12, 4)
permuted: put in [[0, 3], [1, 4], [2, 5]], of the array [[0, 3], [1, 4], [2, 5]], of its element [[0, 2], [1, 3], [2, 4]] with strides (4, 8)" ]]
