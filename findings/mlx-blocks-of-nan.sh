#!/usr/bin/env bash
# MLX 0.32.4 quantizes a block that holds a NaN or an infinity to other numbers, on the CPU, without a sign of either: in mode mxfp8 all of the block,
# numbers of 0.25 and 2 too, become 896 or -896, in mxfp4 and nvfp4 they become 0, and the affine 4 bits put a number of the block in the place of a
# NaN. One infinity makes NaN of an affine block, which at least shows. Other blocks are right.
# Seen with numpy 2.4.6, on CPython 3.11:
#     mxfp8 of [2.0, -0.25, 1.0, nan, 2.0]: [896.0, -896.0, 896.0, 896.0, 896.0]
#     mxfp8 of [2.0, -0.25, 1.0, inf, 2.0]: [896.0, -896.0, 896.0, 896.0, 896.0]
#     mxfp4 of [2.0, -0.25, 1.0, nan, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
#     mxfp4 of [2.0, -0.25, 1.0, inf, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
#     nvfp4 of [2.0, -0.25, 1.0, nan, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
#     nvfp4 of [2.0, -0.25, 1.0, inf, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
#     affine of [2.0, -0.25, 1.0, nan, 2.0]: [2.0, -0.286, 1.14, 4.0, 2.0]
#     affine of [2.0, -0.25, 1.0, inf, 2.0]: [nan, nan, nan, nan, nan]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mlx[cpu]==0.32.4 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import mlx.core as mx, numpy as np

for mode in "mxfp8", "mxfp4", "nvfp4", "affine":
    for odd in np.nan, np.inf:
        x = np.tile(np.array([2, -0.25, 1, 4], np.float32), 8)[None]
        x[0, 3] = odd
        how = dict(group_size=32, bits=4) if mode == "affine" else {}
        back = mx.dequantize(*mx.quantize(mx.array(x), mode=mode, **how), mode=mode, **how).astype(mx.float32)
        print(f"{mode} of {x[0, :5].tolist()}: {[float(f'{each:.3g}') for each in back[0, :5].tolist()]}")
P
)
echo "$seen"
[[ $seen == "mxfp8 of [2.0, -0.25, 1.0, nan, 2.0]: [896.0, -896.0, 896.0, 896.0, 896.0]
mxfp8 of [2.0, -0.25, 1.0, inf, 2.0]: [896.0, -896.0, 896.0, 896.0, 896.0]
mxfp4 of [2.0, -0.25, 1.0, nan, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
mxfp4 of [2.0, -0.25, 1.0, inf, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
nvfp4 of [2.0, -0.25, 1.0, nan, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
nvfp4 of [2.0, -0.25, 1.0, inf, 2.0]: [0.0, 0.0, 0.0, 0.0, 0.0]
affine of [2.0, -0.25, 1.0, nan, 2.0]: [2.0, -0.286, 1.14, 4.0, 2.0]
affine of [2.0, -0.25, 1.0, inf, 2.0]: [nan, nan, nan, nan, nan]" ]]
