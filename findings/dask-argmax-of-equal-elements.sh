#!/usr/bin/env bash
# Dask 2026.8.0: of equal elements NumPy's argmax() and argmin() give the first. Those of Dask over all axes give one that depends on the chunks; along
# an axis they give NumPy's.
# Seen with numpy 2.4.6, on CPython 3.11:
#     chunks (2, 3): argmax 2, along 1 [2, 0], argmin 1
#     chunks (1, 3): argmax 2, along 1 [2, 0], argmin 1
#     chunks (2, 1): argmax 3, along 1 [2, 0], argmin 2
#     chunks (1, 1): argmax 3, along 1 [2, 0], argmin 1
#     NumPy: argmax 2, along 1 [2, 0], argmin 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import dask.array as da, numpy as np

x = np.array([[0, 1, 9], [9, 1, 0]])
y = np.array([[7, 1], [1, 7]])
for chunks in ((2, 3), (1, 3), (2, 1), (1, 1)):
    a, b = (da.from_array(z, chunks=chunks) for z in (x, y))
    print(f"chunks {chunks}: argmax {a.argmax().compute()}, along 1 {a.argmax(1).compute().tolist()}, argmin {b.argmin().compute()}")
print(f"NumPy: argmax {x.argmax()}, along 1 {x.argmax(1).tolist()}, argmin {y.argmin()}")
P
)
echo "$seen"
[[ $seen == "chunks (2, 3): argmax 2, along 1 [2, 0], argmin 1
chunks (1, 3): argmax 2, along 1 [2, 0], argmin 1
chunks (2, 1): argmax 3, along 1 [2, 0], argmin 2
chunks (1, 1): argmax 3, along 1 [2, 0], argmin 1
NumPy: argmax 2, along 1 [2, 0], argmin 1" ]]
