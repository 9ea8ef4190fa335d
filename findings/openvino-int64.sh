#!/usr/bin/env bash
# OpenVINO 2026.4.1: on its CPU device a model of int64 or uint64 keeps the low 32 bits, in operations that only move, too: a transposed 2^40 + 3 is
# 3, and the output says int64. Bounds of Clip that do not fit in 32 bits are cut, too: those of 2^60 are 0, and so is every number. float64 is cut to
# float32, while a model without an operation passes all bits on. Its manual lists INT32 and FP32 among the types that the device computes with. ONNX
# Runtime 1.32.0 is right in each.
# Seen with onnx 1.23.2, numpy 2.4.6, on CPython 3.11:
#     Transpose of int64: OpenVINO int64 [[3, -2147483648], [5, 7]], ONNX Runtime [[1099511627779, 2147483648], [5, 7]]
#     Clip of int64: OpenVINO int64 [[0, 0], [0, 0]], ONNX Runtime [[1099511627779, 5], [2147483648, 7]]
#     Transpose of float64: OpenVINO float64 [[3.4028234663852886e+38], [1.0]], ONNX Runtime [[1e+300], [1.0000000000009095]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check openvino==2026.4.1 onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import numpy as np, onnxruntime, openvino
from onnx import helper

core = openvino.Core()

def both(operation, *inputs, **attributes):
    kinds = [helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]
    ends = [helper.make_tensor_value_info(f"x{i}", kind, x.shape) for i, (kind, x) in enumerate(zip(kinds, inputs))]
    node = helper.make_node(operation, [end.name for end in ends], ["y"], **attributes)
    graph = helper.make_graph([node], operation, ends, [helper.make_tensor_value_info("y", kinds[0], None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
    right = onnxruntime.InferenceSession(model).run(None, {end.name: x for end, x in zip(ends, inputs)})[0]
    seen = core.compile_model(core.read_model(model, b""), "CPU")(list(inputs))[0]
    print(f"{operation} of {inputs[0].dtype}: OpenVINO {seen.dtype} {seen.tolist()}, ONNX Runtime {right.tolist()}")

large = np.array([[2**40 + 3, 5], [2**31, 7]])
both("Transpose", large, perm=[1, 0])
both("Clip", large, np.array(-(2**60)), np.array(2**60))
both("Transpose", np.array([[1e300, 1 + 2.0**-40]]), perm=[1, 0])
P
)
echo "$seen"
[[ $seen == "Transpose of int64: OpenVINO int64 [[3, -2147483648], [5, 7]], ONNX Runtime [[1099511627779, 2147483648], [5, 7]]
Clip of int64: OpenVINO int64 [[0, 0], [0, 0]], ONNX Runtime [[1099511627779, 5], [2147483648, 7]]
Transpose of float64: OpenVINO float64 [[3.4028234663852886e+38], [1.0]], ONNX Runtime [[1e+300], [1.0000000000009095]]" ]]
