#!/usr/bin/env bash
# PyTorch 2.15.0: x.to(torch.float8_e4m3fn) takes 448, the largest number, for whatever is beyond it, infinity included, on the CPU, eager and
# compiled. All its other 8-bit floats keep what does not fit apart: float8_e5m2 infinity, the two fnuz types NaN. PyTorch 2.6.0 gave NaN here,
# too, as ml_dtypes and JAX do, and `torch.isfinite` of a converted checkpoint found what had overflowed; now nothing tells. One would expect
# one rule for the types of a library, and the same number in two of its versions.
# Seen on CPython 3.11:
#     float8_e4m3fn [448.0, 448.0, -448.0] float8_e5m2 [57344.0, inf, -inf] float8_e4m3fnuz [nan, nan, nan]; ml_dtypes 0.6.0 [448.0, nan, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import ml_dtypes, numpy as np, torch

inf = float("inf")

def told(name, values):
    return f"{name} {torch.tensor(values).to(getattr(torch, name)).float().tolist()}"

beside = np.array([464, inf, -inf], np.float32).astype(ml_dtypes.float8_e4m3fn).astype(np.float32).tolist()
print(told("float8_e4m3fn", [464, inf, -inf]), told("float8_e5m2", [60000, inf, -inf]), told("float8_e4m3fnuz", [464, inf, -inf]) +
      f"; ml_dtypes {ml_dtypes.__version__} {beside}")
P
)
echo "$seen"
[[ $seen == "float8_e4m3fn [448.0, 448.0, -448.0] float8_e5m2 [57344.0, inf, -inf] float8_e4m3fnuz [nan, nan, nan]; ml_dtypes 0.6.0 [448.0, nan, nan]" ]]
