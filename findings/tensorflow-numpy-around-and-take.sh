#!/usr/bin/env bash
# tensorflow.experimental.numpy of TensorFlow 2.21.0: around of integers to tens gives 19 and 29 for 15 and 25, since it divides by 0.1 in float32
# and cuts; float64 gets the error of float32, too. take of the index -1 gives the first element, where take_along_axis and indexing give the last,
# as NumPy does. trace of int8 wraps, and the sum of the diagonal does not.
# Seen with numpy 2.4.6, on CPython 3.11:
#     around of [15, 25, -15] to tens: NumPy [20, 20, -20], TensorFlow [19, 29, -19]
#     around of [15.0, 25.0] to tens: NumPy [20.0, 20.0], TensorFlow [19.99999970197678, 29.99999955296517]
#     take of [-1]: NumPy [3], TensorFlow [1]
#     take_along_axis of [-1]: NumPy [3], TensorFlow [3]
#     index of [-1]: NumPy [3], TensorFlow [3]
#     trace of int8: NumPy 200, TensorFlow -56
#     sum of the diagonal: NumPy 200, TensorFlow 200
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0 numpy==2.4.6
seen=$(TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= "$folder/env/bin/python" - <<'P'
import numpy as np, tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior()
for name, call in {
    "around of [15, 25, -15] to tens": lambda m: m.around(m.array([15, 25, -15]), -1),
    "around of [15.0, 25.0] to tens": lambda m: m.around(m.array([15.0, 25.0]), -1),
    "take of [-1]": lambda m: m.take(m.array([1, 2, 3]), m.array([-1])),
    "take_along_axis of [-1]": lambda m: m.take_along_axis(m.array([1, 2, 3]), m.array([-1]), 0),
    "index of [-1]": lambda m: m.array([1, 2, 3])[m.array([-1])],
    "trace of int8": lambda m: m.trace(m.array([[100, 0], [0, 100]], dtype=np.int8)),
    "sum of the diagonal": lambda m: m.sum(m.diag(m.array([[100, 0], [0, 100]], dtype=np.int8))),
}.items():
    print(f"{name}: NumPy {np.asarray(call(np)).tolist()}, TensorFlow {np.asarray(call(tnp)).tolist()}")
P
)
echo "$seen"
[[ $seen == "around of [15, 25, -15] to tens: NumPy [20, 20, -20], TensorFlow [19, 29, -19]
around of [15.0, 25.0] to tens: NumPy [20.0, 20.0], TensorFlow [19.99999970197678, 29.99999955296517]
take of [-1]: NumPy [3], TensorFlow [1]
take_along_axis of [-1]: NumPy [3], TensorFlow [3]
index of [-1]: NumPy [3], TensorFlow [3]
trace of int8: NumPy 200, TensorFlow -56
sum of the diagonal: NumPy 200, TensorFlow 200" ]]
