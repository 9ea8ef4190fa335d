#!/usr/bin/env bash
# TensorFlow 2.21.0 on the CPU: one NaN among float32 is the result of reduce_max, is left out by argmax and tensor_scatter_nd_max, and makes
# segment_max forget what is before it: of [3, nan, 1, 2] that is 2. top_k has it by its place, and sort of the same numbers is [1, 3, nan, 2].
# Seen with numpy 2.4.6, on CPython 3.11:
#     [nan, 3.0, 1.0, 2.0]: sort [nan, 1.0, 2.0, 3.0], top_k [nan, 3.0], reduce_max nan, argmax 1, segment_max 3.0, scatter 3.0
#     [3.0, nan, 1.0, 2.0]: sort [1.0, 3.0, nan, 2.0], top_k [3.0, nan], reduce_max nan, argmax 0, segment_max 2.0, scatter 3.0
#     [3.0, 1.0, 2.0, nan]: sort [1.0, 2.0, 3.0, nan], top_k [3.0, 2.0], reduce_max nan, argmax 0, segment_max nan, scatter 3.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0 numpy==2.4.6
seen=$(TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= "$folder/env/bin/python" - <<'P'
import numpy as np, tensorflow as tf

for numbers in [np.nan, 3.0, 1.0, 2.0], [3.0, np.nan, 1.0, 2.0], [3.0, 1.0, 2.0, np.nan]:
    x = tf.constant(numbers)
    seen = {
        "sort": tf.sort(x), "top_k": tf.math.top_k(x, 2)[0], "reduce_max": tf.reduce_max(x), "argmax": tf.argmax(x),
        "segment_max": tf.math.segment_max(x, [0] * 4)[0], "scatter": tf.tensor_scatter_nd_max(tf.zeros([1]), [[0]] * 4, x)[0],
    }
    print(f"{numbers}:", ", ".join(f"{name} {y.numpy().tolist()}" for name, y in seen.items()))
P
)
echo "$seen"
[[ $seen == "[nan, 3.0, 1.0, 2.0]: sort [nan, 1.0, 2.0, 3.0], top_k [nan, 3.0], reduce_max nan, argmax 1, segment_max 3.0, scatter 3.0
[3.0, nan, 1.0, 2.0]: sort [1.0, 3.0, nan, 2.0], top_k [3.0, nan], reduce_max nan, argmax 0, segment_max 2.0, scatter 3.0
[3.0, 1.0, 2.0, nan]: sort [1.0, 2.0, 3.0, nan], top_k [3.0, 2.0], reduce_max nan, argmax 0, segment_max nan, scatter 3.0" ]]
