#!/usr/bin/env bash
# onnx 1.23.2: Unique with sorted=0 over axis 1 is to give the distinct columns in the order in which they appear. The reference evaluator,
# which defines what operators mean, gives rows instead: the indices that it found along axis 1 are used on axis 0. ONNX Runtime 1.32.0 gives
# the columns; with sorted=1 both do.
# Seen on CPython 3.11:
#     sorted=0: reference [[2, 1, 1], [3, 4, 4]], runtime [[2, 1], [3, 4], [5, 6]]
#     sorted=1: reference [[1, 2], [4, 3], [6, 5]], runtime [[1, 2], [4, 3], [6, 5]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, onnxruntime
from onnx import TensorProto as T, helper
from onnx.reference import ReferenceEvaluator

x = np.array([[2, 1, 1], [3, 4, 4], [5, 6, 6]], np.int64)
for order in (0, 1):
    node = helper.make_node("Unique", ["x"], list("yijn"), axis=1, sorted=order)
    outputs = [helper.make_tensor_value_info(name, T.INT64, None) for name in "yijn"]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", T.INT64, [3, 3])], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    reference = ReferenceEvaluator(model).run(None, {"x": x})[0]
    runtime = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    print(f"sorted={order}: reference {reference.tolist()}, runtime {runtime.tolist()}")
P
)
echo "$seen"
[[ $seen == "sorted=0: reference [[2, 1, 1], [3, 4, 4]], runtime [[2, 1], [3, 4], [5, 6]]
sorted=1: reference [[1, 2], [4, 3], [6, 5]], runtime [[1, 2], [4, 3], [6, 5]]" ]]
