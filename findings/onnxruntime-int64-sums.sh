#!/usr/bin/env bash
# ONNX Runtime 1.32.0 computes ReduceSum, ReduceProd and ReduceL1 of int64 by way of float64, and Pow, too: the sum of the one number 2^53 + 1 is
# 2^53, 3^39 ends in 56 and not in 67, and a sum that leaves int64 is its largest number. Add, CumSum and ReduceMax are exact, and Add wraps. onnx's
# reference is exact in all.
# Seen with onnx 1.23.2, numpy 2.4.6, on CPython 3.11:
#     ReduceSum of [9007199254740993]: [9007199254740992], reference [9007199254740993]
#     ReduceProd of [9007199254740993]: [9007199254740992], reference [9007199254740993]
#     ReduceL1 of [9007199254740993]: [9007199254740992], reference [9007199254740993]
#     ReduceMax of [9007199254740993]: [9007199254740993], reference [9007199254740993]
#     CumSum of [9007199254740993], [0]: [9007199254740993], reference [9007199254740993]
#     ReduceSum of [9223372036854775807, 1]: [9223372036854775807], reference [-9223372036854775808]
#     Add of [9223372036854775807], [1]: [-9223372036854775808], reference [-9223372036854775808]
#     Pow of [3], [39]: [4052555153018976256], reference [4052555153018976267]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import numpy as np, onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

def both(operation, *inputs):
    ends = [helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for i, x in enumerate(inputs)]
    node = helper.make_node(operation, [end.name for end in ends], ["y"])
    graph = helper.make_graph([node], operation, ends, [helper.make_tensor_value_info("y", ends[0].type.tensor_type.elem_type, None)])
    model, feeds = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), dict(zip(node.input, inputs))
    runs = onnxruntime.InferenceSession(model.SerializeToString()), ReferenceEvaluator(model)
    seen, right = (run.run(None, feeds)[0].ravel().tolist() for run in runs)
    print(f"{operation} of {', '.join(str(x.ravel().tolist()) for x in inputs)}: {seen}, reference {right}")

one, most = np.array([2**53 + 1]), np.array([2**63 - 1, 1])
for operation in "ReduceSum", "ReduceProd", "ReduceL1", "ReduceMax":
    both(operation, one)
both("CumSum", one, np.array(0))
both("ReduceSum", most)
both("Add", most[:1], most[1:])
both("Pow", np.array([3]), np.array([39]))
P
)
echo "$seen"
[[ $seen == "ReduceSum of [9007199254740993]: [9007199254740992], reference [9007199254740993]
ReduceProd of [9007199254740993]: [9007199254740992], reference [9007199254740993]
ReduceL1 of [9007199254740993]: [9007199254740992], reference [9007199254740993]
ReduceMax of [9007199254740993]: [9007199254740993], reference [9007199254740993]
CumSum of [9007199254740993], [0]: [9007199254740993], reference [9007199254740993]
ReduceSum of [9223372036854775807, 1]: [9223372036854775807], reference [-9223372036854775808]
Add of [9223372036854775807], [1]: [-9223372036854775808], reference [-9223372036854775808]
Pow of [3], [39]: [4052555153018976256], reference [4052555153018976267]" ]]
