#!/usr/bin/env bash
# safetensors 0.8.0: safetensors.numpy.save() and save_file() write the memory of a column-major array under its shape, so that what is loaded
# is a permutation of what was saved, without a word; so do they with other strides than those of rows. Its documentation asks for contiguous
# arrays, which column-major ones are; safetensors.torch checks the same and raises ValueError.
# Seen with numpy 2.4.6, on CPython 3.11:
#     rows: saved [[0, 1, 2], [3, 4, 5]], loaded [[0, 1, 2], [3, 4, 5]], numbers kept True
#     columns: saved [[0, 1, 2], [3, 4, 5]], loaded [[0, 3, 1], [4, 2, 5]], numbers kept True
#     transposed: saved [[0, 3], [1, 4], [2, 5]], loaded [[0, 1], [2, 3], [4, 5]], numbers kept True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check safetensors==0.8.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np
from safetensors.numpy import load, save

warnings.simplefilter("error")
rows = np.arange(6).reshape(2, 3)
for name, saved in (("rows", rows), ("columns", np.asfortranarray(rows)), ("transposed", rows.T)):
    loaded = load(save({"x": saved}))["x"]
    print(f"{name}: saved {saved.tolist()}, loaded {loaded.tolist()}, numbers kept {sorted(loaded.ravel()) == sorted(saved.ravel())}")
P
)
echo "$seen"
[[ $seen == "rows: saved [[0, 1, 2], [3, 4, 5]], loaded [[0, 1, 2], [3, 4, 5]], numbers kept True
columns: saved [[0, 1, 2], [3, 4, 5]], loaded [[0, 3, 1], [4, 2, 5]], numbers kept True
transposed: saved [[0, 3], [1, 4], [2, 5]], loaded [[0, 1], [2, 3], [4, 5]], numbers kept True" ]]
