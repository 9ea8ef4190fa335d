#!/usr/bin/env bash
# PyTorch 2.15.0: DLPack has a width in bits and could say int4 or uint1; __dlpack__ of a tensor of torch.int4 (or int1 to int7, uint1 to uint7),
# whose elements take a byte each, says int8 or uint8, without a warning. So torch.from_dlpack(x) gives another type than x has, within one
# library, and NumPy, CuPy and JAX take nibbles for whole numbers of eight bits. One would expect the type, or a refusal, as for
# torch.bits8 and quantized types.
# Seen with numpy 2.4.6, on CPython 3.11:
#     torch.int4 -> torch.int8, int8; torch.uint1 -> torch.uint8, uint8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, torch

def told(dtype):
    x = torch.arange(4, dtype=torch.uint8).view(dtype)
    return f"{x.dtype} -> {torch.from_dlpack(x).dtype}, {np.from_dlpack(x).dtype}"

print(told(torch.int4), told(torch.uint1), sep="; ")
P
)
echo "$seen"
[[ $seen == "torch.int4 -> torch.int8, int8; torch.uint1 -> torch.uint8, uint8" ]]
