#!/usr/bin/env bash
# onnx 1.23.2: the reference of Resize to one element by pytorch_half_pixel takes the coordinate -0.5, where the specification says 0. By cubic it so
# gives a number that is none of the input and may lie outside its range; ONNX Runtime 1.32.0 gives the first element, as specified. With antialias
# the two differ too: the reference filters about another place. To two elements they agree.
# Seen with numpy 2.4.6, on CPython 3.11:
#     linear, antialias 0, to 1: reference [10.0], ONNX Runtime [10.0]
#     linear, antialias 0, to 2: reference [15.0, 35.0], ONNX Runtime [15.0, 35.0]
#     linear, antialias 1, to 1: reference [14.38], ONNX Runtime [16.25]
#     linear, antialias 1, to 2: reference [16.25, 33.75], ONNX Runtime [16.25, 33.75]
#     cubic, antialias 0, to 1: reference [9.06], ONNX Runtime [10.0]
#     cubic, antialias 0, to 2: reference [14.06, 35.94], ONNX Runtime [14.06, 35.94]
#     cubic, antialias 1, to 1: reference [12.93], ONNX Runtime [15.37]
#     cubic, antialias 1, to 2: reference [14.9, 35.1], ONNX Runtime [14.9, 35.1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper, reference

x = np.array([10, 20, 30, 40], np.float32).reshape(1, 1, 1, 4)
for mode in "linear", "cubic":
    for antialias in 0, 1:
        for extent in 1, 2:
            node = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode=mode, antialias=antialias,
                                    coordinate_transformation_mode="pytorch_half_pixel")
            sizes = helper.make_tensor("sizes", TensorProto.INT64, [4], [1, 1, 1, extent])
            graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                                      [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [sizes])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
            session = onnxruntime.InferenceSession(model.SerializeToString())
            seen = [run(None, {"x": x})[0].ravel().astype(float).round(2).tolist() for run in (reference.ReferenceEvaluator(model).run, session.run)]
            print(f"{mode}, antialias {antialias}, to {extent}: reference {seen[0]}, ONNX Runtime {seen[1]}")
P
)
echo "$seen"
[[ $seen == "linear, antialias 0, to 1: reference [10.0], ONNX Runtime [10.0]
linear, antialias 0, to 2: reference [15.0, 35.0], ONNX Runtime [15.0, 35.0]
linear, antialias 1, to 1: reference [14.38], ONNX Runtime [16.25]
linear, antialias 1, to 2: reference [16.25, 33.75], ONNX Runtime [16.25, 33.75]
cubic, antialias 0, to 1: reference [9.06], ONNX Runtime [10.0]
cubic, antialias 0, to 2: reference [14.06, 35.94], ONNX Runtime [14.06, 35.94]
cubic, antialias 1, to 1: reference [12.93], ONNX Runtime [15.37]
cubic, antialias 1, to 2: reference [14.9, 35.1], ONNX Runtime [14.9, 35.1]" ]]
