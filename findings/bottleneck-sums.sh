#!/usr/bin/env bash
# Bottleneck 1.6.0 adds one number after another in their own type. The nanmean of 2^25 ones in float32 is 0.5, since the sum stays at 2^24, whatever
# their order in memory; NumPy adds pairs. nansum of int32 wraps, where NumPy's has 64 bits, and the median of two equal integers is negative where
# their sum has no room.
# Seen on CPython 3.11:
#     nanmean of ones: bottleneck 0.5, numpy 1.0
#     nansum of 2^31 - 1 twice: bottleneck -2, numpy 4294967294
#     median of 2^31 - 1 twice: bottleneck -1.0, numpy 2147483647.0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check bottleneck==1.6.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import bottleneck as bn
import numpy as np

ones, large = np.ones(1 << 25, "f4"), np.full(2, 2**31 - 1, "i4")
print(f"nanmean of ones: bottleneck {bn.nanmean(ones)}, numpy {np.nanmean(ones)}")
print(f"nansum of 2^31 - 1 twice: bottleneck {bn.nansum(large)}, numpy {np.nansum(large)}")
print(f"median of 2^31 - 1 twice: bottleneck {bn.median(large)}, numpy {np.median(large)}")
P
)
echo "$seen"
[[ $seen == "nanmean of ones: bottleneck 0.5, numpy 1.0
nansum of 2^31 - 1 twice: bottleneck -2, numpy 4294967294
median of 2^31 - 1 twice: bottleneck -1.0, numpy 2147483647.0" ]]
