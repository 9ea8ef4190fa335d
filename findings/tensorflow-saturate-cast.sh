#!/usr/bin/env bash
# TensorFlow 2.21.0 on the CPU: tf.saturate_cast, documented to cast without overflow by clamping, makes of 1e19, too large for int64, the least
# number of int64, from float32 and float64, and 2**63 of 1e20 in uint64. For int32, from float32, it stops at 2147483520, the largest float32 below
# 2**31.
# Seen with numpy 2.4.6, on CPython 3.11:
#     int64 of 1e20, 1e19 and -1e19 in float32: [-9223372036854775808, -9223372036854775808, -9223372036854775808]
#     int64 of 1e20, 1e19 and -1e19 in float64: [-9223372036854775808, -9223372036854775808, -9223372036854775808]
#     uint64 of 1e20, 1e19 and -1e19 in float32: [9223372036854775808, 9999999980506447872, 0]
#     uint64 of 1e20, 1e19 and -1e19 in float64: [9223372036854775808, 10000000000000000000, 0]
#     int32 of 1e20, 1e19 and -1e19 in float32: [2147483520, 2147483520, -2147483648]
#     int32 of 1e20, 1e19 and -1e19 in float64: [2147483647, 2147483647, -2147483648]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensorflow==2.21.0 numpy==2.4.6
seen=$(TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= "$folder/env/bin/python" - <<'P'
import numpy as np, tensorflow as tf

for target in tf.int64, tf.uint64, tf.int32:
    for source in tf.float32, tf.float64:
        x = tf.constant([1e20, 1e19, -1e19], source)
        print(f"{target.name} of 1e20, 1e19 and -1e19 in {source.name}: {tf.saturate_cast(x, target).numpy().tolist()}")
P
)
echo "$seen"
[[ $seen == "int64 of 1e20, 1e19 and -1e19 in float32: [-9223372036854775808, -9223372036854775808, -9223372036854775808]
int64 of 1e20, 1e19 and -1e19 in float64: [-9223372036854775808, -9223372036854775808, -9223372036854775808]
uint64 of 1e20, 1e19 and -1e19 in float32: [9223372036854775808, 9999999980506447872, 0]
uint64 of 1e20, 1e19 and -1e19 in float64: [9223372036854775808, 10000000000000000000, 0]
int32 of 1e20, 1e19 and -1e19 in float32: [2147483520, 2147483520, -2147483648]
int32 of 1e20, 1e19 and -1e19 in float64: [2147483647, 2147483647, -2147483648]" ]]
