#!/usr/bin/env bash
# tinygrad 0.14.0 on the CPU: round of a float32 that is an integer gives another one if it is odd and at least 2**23, of 12345677 12345678; floor,
# ceil and trunc give it itself. The variance of the integers [1, 2] is 0, that of the same floats 0.5, for the squares are cut to integers before
# they are added; mean() of the integers is 1.5.
# Seen with numpy 2.4.6, on CPython 3.11:
#     round of [8388607, 8388609, 12345677, 16777215, -8388609]: [8388607, 8388610, 12345678, 16777216, -8388610]
#     floor, ceil and trunc keep them: True
#     [1, 2]: mean 1.5, variance 0, of floats 0.5, NumPy 0.5
#     [0, 0, 1]: mean 0.33, variance 0, of floats 0.33, NumPy 0.33
#     [1, 2, 9]: mean 4, variance 19, of floats 19, NumPy 19
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0 numpy==2.4.6
seen=$(DEV=CPU "$folder/env/bin/python" - <<'P'
import numpy as np
from tinygrad import Tensor

numbers = [8388607.0, 8388609.0, 12345677.0, 16777215.0, -8388609.0]
x = Tensor(numbers)
print(f"round of {[int(each) for each in numbers]}: {[int(each) for each in x.round().tolist()]}")
print(f"floor, ceil and trunc keep them: {x.floor().tolist() == x.ceil().tolist() == x.trunc().tolist() == numbers}")
for numbers in [1, 2], [0, 0, 1], [1, 2, 9]:
    x, y = Tensor(numbers), Tensor([float(each) for each in numbers])
    print(f"{numbers}: mean {x.mean().tolist():.2g}, variance {x.var().tolist():.2g}, of floats {y.var().tolist():.2g}, "
          f"NumPy {np.var(numbers, ddof=1):.2g}")
P
)
echo "$seen"
[[ $seen == "round of [8388607, 8388609, 12345677, 16777215, -8388609]: [8388607, 8388610, 12345678, 16777216, -8388610]
floor, ceil and trunc keep them: True
[1, 2]: mean 1.5, variance 0, of floats 0.5, NumPy 0.5
[0, 0, 1]: mean 0.33, variance 0, of floats 0.33, NumPy 0.33
[1, 2, 9]: mean 4, variance 19, of floats 19, NumPy 19" ]]
