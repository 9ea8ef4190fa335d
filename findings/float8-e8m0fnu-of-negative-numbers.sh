#!/usr/bin/env bash
# PyTorch 2.15.0 drops the sign where it makes float8_e8m0fnu, the scales of MX formats: -3 becomes 4, and 0 becomes 2**-127. ml_dtypes 0.6.0,
# with the same type, makes NaN of both, as the OCP specification has no negative scale and no zero. Infinity is NaN in both. A scale computed
# with the wrong sign passes in the one and shows in the other.
# Seen on CPython 3.11:
#     torch [4.0, 4.0, 5.877471754111438e-39, nan], ml_dtypes [4.0, nan, nan, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import ml_dtypes, numpy as np, torch

x = np.array([3, -3, 0, np.inf], np.float32)
print(f"torch {torch.from_numpy(x).to(torch.float8_e8m0fnu).float().tolist()}, "
      f"ml_dtypes {x.astype(ml_dtypes.float8_e8m0fnu).astype(np.float32).tolist()}")
P
)
echo "$seen"
[[ $seen == "torch [4.0, 4.0, 5.877471754111438e-39, nan], ml_dtypes [4.0, nan, nan, nan]" ]]
