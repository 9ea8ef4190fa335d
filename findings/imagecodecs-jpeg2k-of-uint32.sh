#!/usr/bin/env bash
# imagecodecs 2026.3.6 (OpenJPEG 2.5.4): jpeg2k_encode, which is lossless unless a level is told, makes 1 of every 0 in uint32, so that the background
# of a labelled image becomes label 1, and cuts what has more than 26 bits: 2^32 - 1 comes back as 2^26 - 1. int32, uint16 and htj2k of the same
# numbers are right. Its docstring asks of (u)int32 whether it must hold at most 26 bits; of 0 it says nothing, and no error comes.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint16 [0, 1, 2, 7]: jpeg2k [0, 1, 2, 7], htj2k [0, 1, 2, 7]
#     int32 [0, 1, 2, 7]: jpeg2k [0, 1, 2, 7], htj2k [0, 1, 2, 7]
#     uint32 [0, 1, 2, 7]: jpeg2k [1, 1, 2, 7], htj2k [0, 1, 2, 7]
#     uint32 [0, 67108863, 67108864, 4294967295]: jpeg2k [1, 67108863, 1, 67108863], htj2k [0, 67108863, 67108864, 4294967295]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check imagecodecs==2026.3.6 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import imagecodecs, numpy as np

for values in [0, 1, 2, 7], [0, 2**26 - 1, 2**26, 2**32 - 1]:
    for dtype in np.uint16, np.int32, np.uint32:
        if max(values) <= np.iinfo(dtype).max:
            x = np.tile(np.array(values, dtype), (4, 1))
            seen = (name + str(decode(encode(x))[0].tolist()) for name, encode, decode in (
                ("jpeg2k ", imagecodecs.jpeg2k_encode, imagecodecs.jpeg2k_decode), ("htj2k ", imagecodecs.htj2k_encode, imagecodecs.htj2k_decode)))
            print(f"{x.dtype} {values}: {', '.join(seen)}")
P
)
echo "$seen"
[[ $seen == "uint16 [0, 1, 2, 7]: jpeg2k [0, 1, 2, 7], htj2k [0, 1, 2, 7]
int32 [0, 1, 2, 7]: jpeg2k [0, 1, 2, 7], htj2k [0, 1, 2, 7]
uint32 [0, 1, 2, 7]: jpeg2k [1, 1, 2, 7], htj2k [0, 1, 2, 7]
uint32 [0, 67108863, 67108864, 4294967295]: jpeg2k [1, 67108863, 1, 67108863], htj2k [0, 67108863, 67108864, 4294967295]" ]]
