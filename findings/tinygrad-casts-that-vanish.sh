#!/usr/bin/env bash
# tinygrad 0.14.0 takes a cast to float16 and back out of a graph as if it changed nothing: x.half().float() is x, and x.half().float() - x is 0, so
# that the error of quantization, computed so, is none; a product by 1 between them vanishes with them. If the narrow tensor is realized between, or
# something is added to it, it is rounded as it should be. Casts to integers, to fp8e4m3 and back are kept.
# Seen with numpy 2.4.6, on CPython 3.11:
#     float16 and back [0.10000000149011612, 2049.0, 9.99999993922529e-09], realized between [0.0999755859375, 2048.0, 0.0]
#     fp8e4m3 and back [0.1015625, 448.0, 0.0], realized between [0.1015625, 448.0, 0.0]
#     error 0.0, realized between 1.0
#     float16 times 1: [0.10000000149011612, 2049.0, 9.99999993922529e-09], plus 0.5: [0.6000000238418579, 2049.5, 0.5]
#     int32 and back: [2.0, -1.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tinygrad==0.14.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import os

os.environ["DEV"] = "PYTHON"
from tinygrad import Tensor, dtypes

x = Tensor([0.1, 2049.0, 1e-8])
for name, dtype in ("float16", dtypes.half), ("fp8e4m3", dtypes.fp8e4m3):
    print(f"{name} and back {x.cast(dtype).float().tolist()}, realized between {x.cast(dtype).realize().float().tolist()}")
print(f"error {(x.half().float() - x).abs().max().item()}, realized between {(x.half().realize().float() - x).abs().max().item()}")
print(f"float16 times 1: {(x.half() * 1).float().tolist()}, plus 0.5: {(x.half() + 0.5).float().tolist()}")
print(f"int32 and back: {Tensor([2.75, -1.5]).int().float().tolist()}")
P
)
echo "$seen"
[[ $seen == "float16 and back [0.10000000149011612, 2049.0, 9.99999993922529e-09], realized between [0.0999755859375, 2048.0, 0.0]
fp8e4m3 and back [0.1015625, 448.0, 0.0], realized between [0.1015625, 448.0, 0.0]
error 0.0, realized between 1.0
float16 times 1: [0.10000000149011612, 2049.0, 9.99999993922529e-09], plus 0.5: [0.6000000238418579, 2049.5, 0.5]
int32 and back: [2.0, -1.0]" ]]
