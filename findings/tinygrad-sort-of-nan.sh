#!/usr/bin/env bash
# tinygrad 0.14.0 on the CPU: sort, argsort and topk of numbers with a NaN do not permute them: of [3, nan, 1, 2] comes [1, 2, 3, 3], and of a NaN
# that is first come four. argsort has an index twice. max is NaN or not by the place of NaN, sign(nan) is 1 and relu(nan) is 0; sort of numbers
# without NaN, infinities among them, is right. NumPy sorts NaN last, and its maximum, sign and np.maximum(nan, 0) are NaN.
# Seen with numpy 2.4.6, on CPython 3.11:
#     [3.0, nan, 1.0, 2.0]: sort [1.0, 2.0, 3.0, 3.0], argsort [2, 3, 0, 0], topk [3.0, 3.0], max 3.0
#     [nan, 3.0, 1.0, 2.0]: sort [nan, nan, nan, nan], argsort [0, 0, 0, 0], topk [nan, nan], max nan
#     [3.0, 1.0, 2.0, nan]: sort [1.0, 3.0, 1.0, 3.0], argsort [1, 0, 0, 0], topk [3.0, 1.0], max 3.0
#     [3.0, inf, 1.0, -inf]: sort [-inf, 1.0, 3.0, inf], argsort [3, 2, 0, 1], topk [inf, 3.0], max inf
#     sign [1.0], relu [0.0], clip [nan], maximum [nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0 numpy==2.4.6
seen=$(DEV=CPU "$folder/env/bin/python" - <<'P'
from tinygrad import Tensor

nan, inf = float("nan"), float("inf")
for numbers in [3.0, nan, 1.0, 2.0], [nan, 3.0, 1.0, 2.0], [3.0, 1.0, 2.0, nan], [3.0, inf, 1.0, -inf]:
    x = Tensor(numbers)
    print(f"{numbers}: sort {x.sort()[0].tolist()}, argsort {x.argsort().tolist()}, topk {x.topk(2)[0].tolist()}, max {x.max().tolist()}")
x = Tensor([nan])
print(f"sign {x.sign().tolist()}, relu {x.relu().tolist()}, clip {x.clip(0, 1).tolist()}, maximum {x.maximum(0.0).tolist()}")
P
)
echo "$seen"
[[ $seen == "[3.0, nan, 1.0, 2.0]: sort [1.0, 2.0, 3.0, 3.0], argsort [2, 3, 0, 0], topk [3.0, 3.0], max 3.0
[nan, 3.0, 1.0, 2.0]: sort [nan, nan, nan, nan], argsort [0, 0, 0, 0], topk [nan, nan], max nan
[3.0, 1.0, 2.0, nan]: sort [1.0, 3.0, 1.0, 3.0], argsort [1, 0, 0, 0], topk [3.0, 1.0], max 3.0
[3.0, inf, 1.0, -inf]: sort [-inf, 1.0, 3.0, inf], argsort [3, 2, 0, 1], topk [inf, 3.0], max inf
sign [1.0], relu [0.0], clip [nan], maximum [nan]" ]]
