#!/usr/bin/env bash
# ONNX Runtime 1.32.0: Unique takes NaN for an equal of a number near it: of [nan, nan, 1] it says that NaN is all there is, three times, and of [1,
# nan, 2] that 1 is there twice. ReduceMax and ReduceMin leave a NaN out or give it by its place, ArgMax likewise, and TopK puts it first, so that
# the first of TopK is not the largest of ReduceMax. ONNX's reference has NaN in ReduceMax, ReduceMin and ArgMax, as NumPy has, and takes all NaN
# for one in Unique, as NumPy does. Printed is the reference's answer before ONNX Runtime's, the numbers with their counts for Unique.
# Seen with numpy 2.4.6, on CPython 3.11:
#     Unique of [nan, nan, 1]: [1.0, nan] [1, 2]; [nan] [3]
#     Unique of [1, nan, 2]: [1.0, 2.0, nan] [1, 1, 1]; [1.0, 2.0] [2, 1]
#     Unique of [2, 1, nan, 1, 3]: [1.0, 2.0, 3.0, nan] [2, 1, 1, 1]; [1.0, 2.0, 3.0] [3, 1, 1]
#     of [nan, 3, 5]: ReduceMax nan and nan, ReduceMin nan and nan, ArgMax 0 and 0, TopK nan and nan
#     of [3, nan, 5]: ReduceMax nan and 5.0, ReduceMin nan and 3.0, ArgMax 1 and 2, TopK nan and nan
#     of [3, 5, nan]: ReduceMax nan and 5.0, ReduceMin nan and 3.0, ArgMax 2 and 1, TopK nan and nan
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

def run(op, x, outputs=1, k=None, **attributes):
    names = [f"y{i}" for i in range(outputs)]
    constants = [helper.make_tensor("k", TensorProto.INT64, [1], [k])] if k else []
    node = helper.make_node(op, ["x"] + (["k"] if k else []), names, **attributes)
    kinds = [TensorProto.INT64 if i or op == "ArgMax" else TensorProto.FLOAT for i in range(outputs)]
    types = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names, kinds)]
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)], types, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [[y.tolist() for y in each.run(None, {"x": x})] for each in (ReferenceEvaluator(model), session)]

for numbers in [np.nan, np.nan, 1], [1, np.nan, 2], [2, 1, np.nan, 1, 3]:
    reference, runtime = run("Unique", np.float32(numbers), 4)
    print(f"Unique of {numbers}: {reference[0]} {reference[3]}; {runtime[0]} {runtime[3]}")
for numbers in [np.nan, 3, 5], [3, np.nan, 5], [3, 5, np.nan]:
    seen = []
    for op, options in ("ReduceMax", {}), ("ReduceMin", {}), ("ArgMax", {"axis": 0, "keepdims": 0}), ("TopK", {"outputs": 2, "k": 1}):
        reference, runtime = run(op, np.float32(numbers), **options)
        seen.append(f"{op} {np.ravel(reference[0])[0]} and {np.ravel(runtime[0])[0]}")
    print(f"of {numbers}: {', '.join(seen)}")
P
)
echo "$seen"
[[ $seen == "Unique of [nan, nan, 1]: [1.0, nan] [1, 2]; [nan] [3]
Unique of [1, nan, 2]: [1.0, 2.0, nan] [1, 1, 1]; [1.0, 2.0] [2, 1]
Unique of [2, 1, nan, 1, 3]: [1.0, 2.0, 3.0, nan] [2, 1, 1, 1]; [1.0, 2.0, 3.0] [3, 1, 1]
of [nan, 3, 5]: ReduceMax nan and nan, ReduceMin nan and nan, ArgMax 0 and 0, TopK nan and nan
of [3, nan, 5]: ReduceMax nan and 5.0, ReduceMin nan and 3.0, ArgMax 1 and 2, TopK nan and nan
of [3, 5, nan]: ReduceMax nan and 5.0, ReduceMin nan and 3.0, ArgMax 2 and 1, TopK nan and nan" ]]
