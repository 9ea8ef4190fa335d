#!/usr/bin/env bash
# `round(x, 3)` of NumPy 2.4.6, and so that of pandas 3.1.1, and numcodecs 0.16.6's `Quantize(3)` multiply in the type of the array, round and divide:
# what has no room after the product is infinite, though its digits need no rounding. In float16 that is each number from 66 on, 100 among them, in
# float64 those from 1.8e305 on. Python's round() gives such a number back as it is.
# Seen on CPython 3.11:
#     1.2345 of float16: Quantize 1.234375, numpy 1.234375, pandas 1.234375, Python 1.234
#     100 of float16: Quantize inf, numpy inf, pandas inf, Python 100
#     1e+36 of float32: Quantize inf, numpy inf, pandas inf, Python 1e+36
#     -1e+306 of float64: Quantize -inf, numpy -inf, pandas -inf, Python -1e+306
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numcodecs==0.16.6 pandas==3.1.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import warnings

import numcodecs
import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
for value, dtype in ((1.2345, "float16"), (100, "float16"), (1e36, "float32"), (-1e306, "float64")):
    x = np.array([value], dtype)
    codec = numcodecs.Quantize(digits=3, dtype=dtype)
    print(f"{value} of {dtype}: Quantize {codec.decode(codec.encode(x))[0]}, numpy {np.round(x, 3)[0]}, pandas {pd.Series(x).round(3)[0]}, "
          f"Python {round(float(x[0]), 3):.4g}")
P
)
echo "$seen"
[[ $seen == "1.2345 of float16: Quantize 1.234375, numpy 1.234375, pandas 1.234375, Python 1.234
100 of float16: Quantize inf, numpy inf, pandas inf, Python 100
1e+36 of float32: Quantize inf, numpy inf, pandas inf, Python 1e+36
-1e+306 of float64: Quantize -inf, numpy -inf, pandas -inf, Python -1e+306" ]]
