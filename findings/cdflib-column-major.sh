#!/usr/bin/env bash
# cdflib 1.3.16 writes arrays of two and more axes a record to CDF files of column majority permuted: a record 2 x 3 of 0 to 5 comes back as 0, 2, 4,
# 1, 3, 5 in the same shape, from cdflib and from pycdfpp 0.19.0, and so does one that is column-major in memory. Records of one axis and files of row
# majority are right, and of a column-major file that pycdfpp wrote all read the same numbers: it is the writing. Told in its issue 301, open.
# Seen with numpy 2.4.6, on CPython 3.11:
#     row majority, written by cdflib, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
#     row majority, written by cdflib, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
#     row majority, written by pycdfpp, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
#     row majority, written by pycdfpp, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
#     column majority, written by cdflib, read by cdflib: (2, 2, 3) [[0, 2, 4], [1, 3, 5]]
#     column majority, written by cdflib, read by pycdfpp: (2, 2, 3) [[0, 2, 4], [1, 3, 5]]
#     column majority, written by pycdfpp, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
#     column majority, written by pycdfpp, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check cdflib==1.3.16 pycdfpp==0.19.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import cdflib, numpy as np, pycdfpp

x = np.arange(12, dtype=np.int32).reshape(2, 2, 3)  # two records
for majority in "row", "column":
    path = f"{sys.argv[1]}/{majority}.cdf"
    with cdflib.cdfwrite.CDF(path, cdf_spec={"Majority": majority + "_major"}) as file:
        file.write_var({"Variable": "x", "Data_Type": 4, "Num_Elements": 1, "Rec_Vary": True, "Dim_Sizes": [2, 3]}, var_data=x)
    made = pycdfpp.CDF()
    made.majority = getattr(pycdfpp.Majority, majority)
    made.add_variable("x", values=x)
    pycdfpp.save(made, path[:-4] + "-p.cdf")
    for writer, written in ("cdflib", path), ("pycdfpp", path[:-4] + "-p.cdf"):
        for reader, read in ("cdflib", cdflib.CDF(written).varget("x")), ("pycdfpp", pycdfpp.load(written)["x"].values):
            print(f"{majority} majority, written by {writer}, read by {reader}: {read.shape} {np.asarray(read)[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "row majority, written by cdflib, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
row majority, written by cdflib, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
row majority, written by pycdfpp, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
row majority, written by pycdfpp, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
column majority, written by cdflib, read by cdflib: (2, 2, 3) [[0, 2, 4], [1, 3, 5]]
column majority, written by cdflib, read by pycdfpp: (2, 2, 3) [[0, 2, 4], [1, 3, 5]]
column majority, written by pycdfpp, read by cdflib: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]
column majority, written by pycdfpp, read by pycdfpp: (2, 2, 3) [[0, 1, 2], [3, 4, 5]]" ]]
