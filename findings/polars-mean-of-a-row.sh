#!/usr/bin/env bash
# polars 2.1.0 adds the columns of `mean_horizontal` in their own type: the mean of 200 and 100 in UInt8 is 22, and that of two equal Int32 is -1. The
# mean along a column, of a list and of an array of fixed length have more bits, and so has the sum of a column of 8 bits, but not that of Int32.
# Seen on CPython 3.11:
#     UInt8: mean_horizontal 22.0, mean 150.0, list.mean 150.0; sum_horizontal 44, sum 300
#     Int32: mean_horizontal -1.0, mean 2147483647.0, list.mean 2147483647.0; sum_horizontal -2, sum -2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import polars as pl

for values, dtype in (([200, 100], pl.UInt8), ([2**31 - 1] * 2, pl.Int32)):
    rows = pl.DataFrame([pl.Series(name, [value], dtype=dtype) for name, value in zip("ab", values)])
    column = pl.Series(values, dtype=dtype)
    listed = pl.Series([values], dtype=pl.List(dtype))
    print(f"{dtype}: mean_horizontal {rows.mean_horizontal()[0]}, mean {column.mean()}, list.mean {listed.list.mean()[0]}; "
          f"sum_horizontal {rows.sum_horizontal()[0]}, sum {column.sum()}")
P
)
echo "$seen"
[[ $seen == "UInt8: mean_horizontal 22.0, mean 150.0, list.mean 150.0; sum_horizontal 44, sum 300
Int32: mean_horizontal -1.0, mean 2147483647.0, list.mean 2147483647.0; sum_horizontal -2, sum -2" ]]
