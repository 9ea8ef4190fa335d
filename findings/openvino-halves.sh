#!/usr/bin/env bash
# OpenVINO 2026.4.1: opset's constant() of a float16 array makes a constant of int16, with the bits as integers, if the array is not row-major: 1.0
# transposed is 15360. Of float32 and through openvino.Tensor it is right. A result in bfloat16 comes as a NumPy array that calls itself float16 and
# has the bits of bfloat16: 1.0 reads as 1.875, and so on, without a warning, while the tensor beside it says bf16.
# Seen with numpy 2.4.6, on CPython 3.11:
#     rows [[0.0, 1.0], [2.0, 3.0]]: constant float16 [[0.0, 1.0], [2.0, 3.0]], Tensor float16 [[0.0, 1.0], [2.0, 3.0]]
#     transposed [[0.0, 2.0], [1.0, 3.0]]: constant int16 [[0, 16384], [15360, 16896]], Tensor float16 [[0.0, 2.0], [1.0, 3.0]]
#     every second [[0.0], [2.0]]: constant int16 [[0], [16384]], Tensor float16 [[0.0], [2.0]]
#     transposed float32 [[0.0, 2.0], [1.0, 3.0]]: constant float32 [[0.0, 2.0], [1.0, 3.0]], Tensor float32 [[0.0, 2.0], [1.0, 3.0]]
#     0, 1, 2, 3 converted to bf16: float16 [0.0, 1.875, 2.0, 2.125]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check openvino==2026.4.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, openvino
from openvino import opset13

rows = np.array([[0, 1], [2, 3]], np.float16)
for name, x in ("rows", rows), ("transposed", rows.T), ("every second", rows[:, ::2]), ("transposed float32", rows.astype(np.float32).T):
    made, tensor = opset13.constant(x), openvino.Tensor(x)
    print(f"{name} {x.tolist()}: constant {made.data.dtype} {made.data.tolist()}, Tensor {tensor.data.dtype} {tensor.data.tolist()}")
x = opset13.parameter([4], openvino.Type.f32)
model = openvino.compile_model(openvino.Model([opset13.convert(x, "bf16")], [x]), "CPU")
y = model(np.arange(4, dtype=np.float32))[0]
print(f"0, 1, 2, 3 converted to {model.outputs[0].element_type.to_string()}: {y.dtype} {y.tolist()}")
P
)
echo "$seen"
[[ $seen == "rows [[0.0, 1.0], [2.0, 3.0]]: constant float16 [[0.0, 1.0], [2.0, 3.0]], Tensor float16 [[0.0, 1.0], [2.0, 3.0]]
transposed [[0.0, 2.0], [1.0, 3.0]]: constant int16 [[0, 16384], [15360, 16896]], Tensor float16 [[0.0, 2.0], [1.0, 3.0]]
every second [[0.0], [2.0]]: constant int16 [[0], [16384]], Tensor float16 [[0.0], [2.0]]
transposed float32 [[0.0, 2.0], [1.0, 3.0]]: constant float32 [[0.0, 2.0], [1.0, 3.0]], Tensor float32 [[0.0, 2.0], [1.0, 3.0]]
0, 1, 2, 3 converted to bf16: float16 [0.0, 1.875, 2.0, 2.125]" ]]
