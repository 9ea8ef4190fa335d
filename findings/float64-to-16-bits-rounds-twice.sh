#!/usr/bin/env bash
# ml_dtypes 0.6.0 and PyTorch 2.15.0: float64 becomes bfloat16 by way of float32, so it is rounded twice. 1 + 2^-8 + 2^-40 lies above the middle
# between the bfloat16 numbers 1 and 1 + 2^-7, and becomes 1; 1 + 2^-8 is what is left after float32, a tie that goes to even. PyTorch rounds
# float64 to float16 twice as well; NumPy 2.4.6 rounds that once, so the same cast of the same two types differs between the two. The same holds
# for int64 beyond 2^53. One would expect the nearest number, as IEEE 754's conversions are defined and NumPy's own do.
# Seen on CPython 3.11:
#     bfloat16: ml_dtypes 1.0, torch 1.0, nearest 1.0078125; float16: numpy 1.0009765625, torch 1.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import ml_dtypes, numpy as np, torch

brain, half = np.array([1 + 2**-8 + 2**-40]), np.array([1 + 2**-11 + 2**-40])
print(f"bfloat16: ml_dtypes {float(brain.astype(ml_dtypes.bfloat16)[0])}, torch {torch.from_numpy(brain).bfloat16().item()}, "
      f"nearest {1 + 2**-7}; float16: numpy {float(half.astype(np.float16)[0])}, torch {torch.from_numpy(half).half().item()}")
P
)
echo "$seen"
[[ $seen == "bfloat16: ml_dtypes 1.0, torch 1.0, nearest 1.0078125; float16: numpy 1.0009765625, torch 1.0" ]]
