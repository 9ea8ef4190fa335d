#!/usr/bin/env bash
# safetensors 0.8.0 with PyTorch 2.15.0: save() writes the storage of a tensor, and PyTorch's conjugate bit, which conj() sets instead of
# computing, is lost: the tensor loaded is not the conjugate. is_contiguous(), which save() asks for, holds. torch.save keeps the bit. The
# negative bit of .imag of a conjugate is lost alike.
# Seen on CPython 3.11:
#     saved [(1-2j)], safetensors [(1+2j)], torch.save [(1-2j)]
#     saved [-2.0], safetensors [2.0], torch.save [-2.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check safetensors==0.8.0 torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import io

import torch
from safetensors.torch import load, save

conjugate = torch.tensor([1 + 2j]).conj()
for tensor in (conjugate, conjugate.imag):
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    print(f"saved {tensor.tolist()}, safetensors {load(save({'x': tensor}))['x'].tolist()}, torch.save {torch.load(file).tolist()}")
P
)
echo "$seen"
[[ $seen == "saved [(1-2j)], safetensors [(1+2j)], torch.save [(1-2j)]
saved [-2.0], safetensors [2.0], torch.save [-2.0]" ]]
