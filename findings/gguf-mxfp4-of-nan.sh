#!/usr/bin/env bash
# gguf 0.19.0: its quantization to MXFP4 makes zeros of a whole block of 32 numbers if one of them is NaN or infinite: the NaN is gone, and so are its
# 31 neighbours. Q4_0 and Q8_0 make NaN of the block, BF16 keeps the others; MX has a scale that is NaN for such a block (OCP, E8M0 of 255). A checkpoint that
# has diverged comes out finite.
# Seen with numpy 2.4.6, on CPython 3.11, of 64 ones, but the sixth:
#     nan: MXFP4 32 zeros, 0 NaN; Q4_0 0 zeros, 32 NaN; Q8_0 0 zeros, 32 NaN; BF16 0 zeros, 1 NaN
#     inf: MXFP4 32 zeros, 0 NaN; Q4_0 0 zeros, 31 NaN; Q8_0 0 zeros, 32 NaN; BF16 0 zeros, 0 NaN
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check gguf==0.19.0 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import gguf, numpy as np

for odd in np.nan, np.inf:
    numbers, seen = np.ones((1, 64), np.float32), []
    numbers[0, 5] = odd
    for name in ("MXFP4", "Q4_0", "Q8_0", "BF16"):
        kind = gguf.GGMLQuantizationType[name]
        back = gguf.quants.dequantize(gguf.quants.quantize(numbers, kind), kind)
        seen.append(f"{name} {np.count_nonzero(back == 0)} zeros, {np.count_nonzero(np.isnan(back))} NaN")
    print(f"{odd}: {'; '.join(seen)}")
P
)
echo "$seen"
[[ $seen == "nan: MXFP4 32 zeros, 0 NaN; Q4_0 0 zeros, 32 NaN; Q8_0 0 zeros, 32 NaN; BF16 0 zeros, 1 NaN
inf: MXFP4 32 zeros, 0 NaN; Q4_0 0 zeros, 31 NaN; Q8_0 0 zeros, 32 NaN; BF16 0 zeros, 0 NaN" ]]
