#!/usr/bin/env bash
# ONNX Runtime 1.32.0, OpenVINO 2026.4.1 and OpenCV 5.0.0.93 take NumPy's big-endian arrays, as files of FITS, netCDF-3 and many others give them, for
# little-endian ones: 1 becomes 16777216, and 1.0 becomes 4.6e-41. The shape and the type are right, there is no warning, and strides are obeyed. They
# look at NumPy's number of the type, which both byte orders share. onnx's own numpy_helper refuses the same array.
# Seen with onnx 1.23.2, numpy 2.4.6, on CPython 3.11:
#     >i4 of [1, 2]: ONNX Runtime [16777216, 33554432]; OpenVINO [16777216, 33554432]; OpenCV [16777216, 33554432]; onnx ValueError
#     >f4 of [1.0, 2.0]: ONNX Runtime [4.6e-41, 9e-44]; OpenVINO [4.6e-41, 9e-44]; OpenCV [4.6e-41, 9e-44]; onnx ValueError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    onnxruntime==1.32.0 openvino==2026.4.1 opencv-python-headless==5.0.0.93 onnx==1.23.2 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import cv2, numpy as np, onnx, onnxruntime, openvino
from onnx import helper

def runtime(x):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype.newbyteorder("="))
    ends = [[helper.make_tensor_value_info(name, kind, None)] for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", *ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]

def proto(x):
    return onnx.numpy_helper.to_array(onnx.numpy_helper.from_array(x))

ways = {"ONNX Runtime": runtime, "OpenVINO": lambda x: openvino.Tensor(x).data, "OpenCV": lambda x: cv2.copyTo(x, None), "onnx": proto}
for dtype in ">i4", ">f4":
    x, seen = np.array([[1, 2]], dtype), []
    for name, way in ways.items():
        try:
            y = way(x)
            seen.append(f"{name} {[float(f'{v:.2g}') for v in y[0]] if y.dtype.kind == 'f' else y[0].tolist()}")
        except ValueError:
            seen.append(f"{name} ValueError")
    print(f"{dtype} of {x[0].tolist()}: {'; '.join(seen)}")
P
)
echo "$seen"
[[ $seen == ">i4 of [1, 2]: ONNX Runtime [16777216, 33554432]; OpenVINO [16777216, 33554432]; OpenCV [16777216, 33554432]; onnx ValueError
>f4 of [1.0, 2.0]: ONNX Runtime [4.6e-41, 9e-44]; OpenVINO [4.6e-41, 9e-44]; OpenCV [4.6e-41, 9e-44]; onnx ValueError" ]]
