#!/usr/bin/env bash
# Awkward 2.14.0: max, min and ptp over all of an array give NaN if one is among it, as NumPy's do, and along an axis, in lists or regular, leave it
# out, as nanmax does: the greatest of the rows' maxima is not the maximum. argmax and argmin leave NaN out in both, so that the element that argmax
# names is not max. sort puts NaN first, where NumPy puts it last; sum counts it everywhere.
# Seen with numpy 2.4.6, on CPython 3.11:
#     max: of rows [1.0, 3.0], NumPy's [nan, 3.0]; of all nan, NumPy's nan
#     min: of rows [0.0, 2.0], NumPy's [nan, 2.0]; of all nan, NumPy's nan
#     ptp: of rows [1.0, 1.0], NumPy's [nan, 1.0]; of all nan, NumPy's nan
#     sum: of rows [nan, 5.0], NumPy's [nan, 5.0]; of all nan, NumPy's nan
#     argmax: of rows [0, 1], NumPy's [1, 1]; of all 4, NumPy's 1
#     sort: [[nan, 0.0, 1.0], [2.0, 3.0]], NumPy's [[0.0, 1.0, nan], [2.0, 3.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check awkward==2.14.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import awkward as ak, numpy as np

a = ak.Array([[1.0, np.nan, 0.0], [2.0, 3.0]])
rows = [np.array(row) for row in a.tolist()]
for name in "max", "min", "ptp", "sum", "argmax":
    along, over = getattr(ak, name)(a, axis=1).tolist(), getattr(ak, name)(a, axis=None)
    numpys = [getattr(np, name)(row).item() for row in rows], getattr(np, name)(np.concatenate(rows))
    print(f"{name}: of rows {along}, NumPy's {numpys[0]}; of all {over}, NumPy's {numpys[1]}")
print(f"sort: {ak.sort(a, axis=1).tolist()}, NumPy's {[np.sort(row).tolist() for row in rows]}")
P
)
echo "$seen"
[[ $seen == "max: of rows [1.0, 3.0], NumPy's [nan, 3.0]; of all nan, NumPy's nan
min: of rows [0.0, 2.0], NumPy's [nan, 2.0]; of all nan, NumPy's nan
ptp: of rows [1.0, 1.0], NumPy's [nan, 1.0]; of all nan, NumPy's nan
sum: of rows [nan, 5.0], NumPy's [nan, 5.0]; of all nan, NumPy's nan
argmax: of rows [0, 1], NumPy's [1, 1]; of all 4, NumPy's 1
sort: [[nan, 0.0, 1.0], [2.0, 3.0]], NumPy's [[0.0, 1.0, nan], [2.0, 3.0]]" ]]
