#!/usr/bin/env bash
# PyTorch 2.15.0: a tensor whose values are negated when they are read (its negative bit, which `z.conj().imag` has) goes through
# DLPack with the sign of what lies in memory: -2.0 arrives as 2.0, in NumPy and in PyTorch itself, without an error. For the
# conjugate bit the same method raises BufferError, so one would expect it here.
# Seen with torch 2.15.0 (and 2.6.0), numpy 2.4.6, on CPython 3.11:
#     is_neg True, torch [-2.0, 4.0], numpy [2.0, -4.0], torch again [2.0, -4.0], conjugate BufferError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, torch

z = torch.tensor([1 + 2j, 3 - 4j])
x = z.conj().imag
try:
    np.from_dlpack(z.conj())
    conjugate = "exported"
except BufferError:
    conjugate = "BufferError"
print(f"is_neg {x.is_neg()}, torch {x.tolist()}, numpy {np.from_dlpack(x).tolist()}, torch again {torch.from_dlpack(x).tolist()}, "
      f"conjugate {conjugate}")
P
)
echo "$seen"
[[ $seen == "is_neg True, torch [-2.0, 4.0], numpy [2.0, -4.0], torch again [2.0, -4.0], conjugate BufferError" ]]
