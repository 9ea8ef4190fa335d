#!/usr/bin/env bash
# ONNX (its page on 4-bit integers) says of Cast to int4 and uint4 that it rounds to the nearest integer, ties to even. Neither of the two
# that run it does: the reference evaluator of onnx 1.23.2 cuts the fraction off, and ONNX Runtime 1.32.0 rounds ties away from zero. Casts to
# int8 cut in both.
# Seen on CPython 3.11:
#     int4 of [0.5, 1.5, 1.75, 2.5, -1.5]: reference [0.0, 1.0, 1.0, 2.0, -1.0],
#         runtime [1.0, 2.0, 2.0, 3.0, -2.0], ties to even [0.0, 2.0, 2.0, 2.0, -2.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, onnxruntime
from onnx import TensorProto as T, helper
from onnx.reference import ReferenceEvaluator

x = np.array([0.5, 1.5, 1.75, 2.5, -1.5], np.float32)
nodes = [helper.make_node("Cast", ["x"], ["y"], to=T.INT4), helper.make_node("Cast", ["y"], ["z"], to=T.FLOAT)]
ends = [[helper.make_tensor_value_info(name, T.FLOAT, [5])] for name in "xz"]
graph = helper.make_graph(nodes, "g", *ends)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
reference = ReferenceEvaluator(model).run(None, {"x": x})[0]
runtime = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
print(f"int4 of {x.tolist()}: reference {reference.tolist()},\n    runtime {runtime.tolist()}, ties to even {np.rint(x).tolist()}")
P
)
echo "$seen"
[[ $seen == "int4 of [0.5, 1.5, 1.75, 2.5, -1.5]: reference [0.0, 1.0, 1.0, 2.0, -1.0],
    runtime [1.0, 2.0, 2.0, 3.0, -2.0], ties to even [0.0, 2.0, 2.0, 2.0, -2.0]" ]]
