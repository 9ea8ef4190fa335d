#!/usr/bin/env bash
# TensorFlow 2.21.0 on the CPU: the mean of a thousand ones in bfloat16 is 1 by reduce_mean, along either axis, and 0.256 by segment_mean, since its
# sum stops at 256 and its count does not. unsorted_segment_mean is 1, for its count stops there, too, and 2 of a thousand 2 and as many 0. The sums
# of segment_sum, unsorted_segment_sum and tensor_scatter_nd_add and the end of cumsum are 256.
# Seen with numpy 2.4.6, on CPython 3.11:
#     means: reduce_mean 1, of columns 1, segment_mean 0.256, unsorted_segment_mean 1
#     of 2 and 0: reduce_mean 1, segment_mean 0.256, unsorted_segment_mean 2
#     sums: reduce_sum 1000, segment_sum 256, unsorted_segment_sum 256, scatter 256, cumsum 256
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0 numpy==2.4.6
seen=$(TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= "$folder/env/bin/python" - <<'P'
import tensorflow as tf

ones, ids = tf.ones([1000], tf.bfloat16), tf.zeros([1000], tf.int32)
by_type = {
    "reduce_mean": tf.reduce_mean(ones), "of columns": tf.reduce_mean(tf.ones([1000, 3], tf.bfloat16), 0)[0],
    "segment_mean": tf.math.segment_mean(ones, ids)[0], "unsorted_segment_mean": tf.math.unsorted_segment_mean(ones, ids, 1)[0],
}
print("means:", ", ".join(f"{name} {float(y):.3g}" for name, y in by_type.items()))
mixed, twice = tf.concat([ones * 2, ones * 0], 0), tf.zeros([2000], tf.int32)
print(f"of 2 and 0: reduce_mean {float(tf.reduce_mean(mixed)):.3g}, segment_mean {float(tf.math.segment_mean(mixed, twice)[0]):.3g}, "
      f"unsorted_segment_mean {float(tf.math.unsorted_segment_mean(mixed, twice, 1)[0]):.3g}")
sums = {
    "reduce_sum": tf.reduce_sum(ones), "segment_sum": tf.math.segment_sum(ones, ids)[0],
    "unsorted_segment_sum": tf.math.unsorted_segment_sum(ones, ids, 1)[0],
    "scatter": tf.tensor_scatter_nd_add(tf.zeros([1], tf.bfloat16), ids[:, None], ones)[0], "cumsum": tf.cumsum(ones)[-1],
}
print("sums:", ", ".join(f"{name} {float(y):.4g}" for name, y in sums.items()))
P
)
echo "$seen"
[[ $seen == "means: reduce_mean 1, of columns 1, segment_mean 0.256, unsorted_segment_mean 1
of 2 and 0: reduce_mean 1, segment_mean 0.256, unsorted_segment_mean 2
sums: reduce_sum 1000, segment_sum 256, unsorted_segment_sum 256, scatter 256, cumsum 256" ]]
