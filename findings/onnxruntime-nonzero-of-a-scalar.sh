#!/usr/bin/env bash
# onnxruntime 1.32.0: NonZero of a scalar has the shape (1, 1), or (1, 0) of a zero, where ONNX says (0, 1) and (0, 0): one row for each axis, and
# a scalar has none. onnx's own reference gives that. The only sign is a warning in the log (turned off here) if the shape was inferred; what follows,
# such as GatherND by the transposed indices, indexes an axis that is not there.
# Seen with numpy 2.4.6, on CPython 3.11:
#     NonZero of 3 of shape (): reference (0, 1), ONNX Runtime (1, 1)
#     NonZero of 0 of shape (): reference (0, 0), ONNX Runtime (1, 0)
#     NonZero of 3 of shape (1,): reference (1, 1), ONNX Runtime (1, 1)
#     NonZero of 0 of shape (1,): reference (1, 0), ONNX Runtime (1, 0)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, onnxruntime
from onnx import TensorProto, helper, reference

onnxruntime.set_default_logger_severity(3)
for shape in (), (1,):
    for number in 3, 0:
        x = np.full(shape, number, np.float32)
        graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.INT64, None)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        seen = [run(None, {"x": x})[0].shape for run in (reference.ReferenceEvaluator(model).run, session.run)]
        print(f"NonZero of {number} of shape {shape}: reference {seen[0]}, ONNX Runtime {seen[1]}")
P
)
echo "$seen"
[[ $seen == "NonZero of 3 of shape (): reference (0, 1), ONNX Runtime (1, 1)
NonZero of 0 of shape (): reference (0, 0), ONNX Runtime (1, 0)
NonZero of 3 of shape (1,): reference (1, 1), ONNX Runtime (1, 1)
NonZero of 0 of shape (1,): reference (1, 0), ONNX Runtime (1, 0)" ]]
