#!/usr/bin/env bash
# PyTorch 2.15.0: torch.sort() puts NaN last, as NumPy and JAX do. torch.searchsorted() and torch.bucketize() on its result are wrong for *every* value,
# also for those less than all: a NaN met on the way counts as less than anything. NumPy and JAX find the places that their sort() makes.
# Seen with numpy 2.4.6, on CPython 3.11:
#     sorted [1.0, 2.0, nan, nan]: searchsorted [4, 4, 4], bucketize [4, 4, 4], NumPy [0, 1, 2]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, torch

x = torch.sort(torch.tensor([torch.nan, 2.0, 1.0, torch.nan])).values
values = torch.tensor([0.0, 1.5, 3.0])
print(f"sorted {x.tolist()}: searchsorted {torch.searchsorted(x, values).tolist()}, bucketize {torch.bucketize(values, x).tolist()}, "
      f"NumPy {np.searchsorted(x.numpy(), values.numpy()).tolist()}")
P
)
echo "$seen"
[[ $seen == "sorted [1.0, 2.0, nan, nan]: searchsorted [4, 4, 4], bucketize [4, 4, 4], NumPy [0, 1, 2]" ]]
