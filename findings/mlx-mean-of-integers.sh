#!/usr/bin/env bash
# MLX 0.32.4 sums in the type of the array before it divides: the mean of three billion twice, in uint32, is 852516352, that of two equal int32 is
# negative, and that of two float16 of 60000 is infinite. uint8 and int8 are summed in 32 bits and right; NumPy 2.4.6 adds integers in 64 bits or
# floats, and float16 in float32. The variance and the standard deviation are wrong with the mean. The median, and the mean after a conversion, are
# right.
# Seen on CPython 3.11:
#     uint8, twice 200: mean 200, std 0, mean converted first 200, NumPy's 200
#     int32, twice 2000000000: mean -147483648, std 2147483648, mean converted first 2000000000, NumPy's 2000000000
#     uint32, twice 3000000000: mean 852516352, std 2147483648, mean converted first 3000000000, NumPy's 3000000000
#     float16, twice 60000: mean inf, std inf, mean converted first 60000, NumPy's 60000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlx[cpu]==0.32.4 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import mlx.core as mx, numpy as np

for dtype, number in ("uint8", 200), ("int32", 2_000_000_000), ("uint32", 3_000_000_000), ("float16", 60000):
    x = np.full(2, number, dtype)
    a = mx.array(x)
    seen = [mx.mean(a).item(), mx.std(a).item(), mx.mean(a.astype(mx.float32)).item(), float(np.mean(x))]
    print("{}, twice {}: mean {:.10g}, std {:.10g}, mean converted first {:.10g}, NumPy's {:.10g}".format(dtype, number, *seen))
P
)
echo "$seen"
[[ $seen == "uint8, twice 200: mean 200, std 0, mean converted first 200, NumPy's 200
int32, twice 2000000000: mean -147483648, std 2147483648, mean converted first 2000000000, NumPy's 2000000000
uint32, twice 3000000000: mean 852516352, std 2147483648, mean converted first 3000000000, NumPy's 3000000000
float16, twice 60000: mean inf, std inf, mean converted first 60000, NumPy's 60000" ]]
