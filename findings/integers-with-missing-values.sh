#!/usr/bin/env bash
# pandas 3.1.1 and PyArrow 26.0.1: one missing value in an array of 64-bit integers makes numpy.asarray() of it float64, so that its
# *other* values are rounded, without a word: 2**53 + 1 becomes 2**53, and of two identifiers that differ both are the same. pandas
# tells in Series.to_numpy() that such an array becomes ndarray[object] and that what it gives is "the same up to equality". PyArrow
# refuses the same rounding in cast("float64"), and does it in numpy.asarray() and in to_pandas(safe=True).
# Seen with numpy 2.4.6, on CPython 3.11 (after each type: what became of 2**53 + 1):
#     pandas: int64 +0, with a missing value float64 -1, to_numpy float64 -1; PyArrow: int64 +0, with a missing value float64 -1,
#     to_pandas float64 -1, cast ArrowInvalid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np, pandas as pd, pyarrow as pa

warnings.simplefilter("error")
n = 2**53 + 1


def kept(x):
    x = np.asarray(x)
    return f"{x.dtype} {int(x[0]) - n:+d}"


series, array = pd.Series([n, None], dtype="Int64"), pa.array([n, None])
try:
    cast = kept(array.cast("float64"))
except pa.ArrowInvalid as e:
    cast = type(e).__name__
print(f"pandas: {kept(series[:1])}, with a missing value {kept(series)}, to_numpy {kept(series.to_numpy())}; "
      f"PyArrow: {kept(array[:1])}, with a missing value {kept(array)}, to_pandas {kept(array.to_pandas(safe=True))}, cast {cast}")
P
)
echo "$seen"
[[ $seen == "pandas: int64 +0, with a missing value float64 -1, to_numpy float64 -1; PyArrow: int64 +0, with a missing value float64 -1, \
to_pandas float64 -1, cast ArrowInvalid" ]]
