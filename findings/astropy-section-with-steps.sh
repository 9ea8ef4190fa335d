#!/usr/bin/env bash
# Astropy 8.0.2: slices of .section of an image of uint64 are exact, and those with a step are float64: the numbers above 2^53 are rounded.
# .data with the same slice is right.
# Seen on CPython 3.11:
#     section[:, 0:2] uint64 9223372036854775809
#     section[:, 0:2:2] float64 9.223372036854776e+18
#     data[:, 0:2:2] uint64 9223372036854775809
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check astropy==8.0.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import numpy as np
from astropy.io import fits

fits.writeto(sys.argv[1] + "/a.fits", np.array([[2**63 + 1, 2], [3, 4]], np.uint64))
with fits.open(sys.argv[1] + "/a.fits") as file:
    image = file[0]
    for name, part in (("section[:, 0:2]", image.section[:, 0:2]), ("section[:, 0:2:2]", image.section[:, 0:2:2]),
                       ("data[:, 0:2:2]", image.data[:, 0:2:2])):
        print(f"{name} {part.dtype} {part[0, 0]}")
P
)
echo "$seen"
[[ $seen == "section[:, 0:2] uint64 9223372036854775809
section[:, 0:2:2] float64 9.223372036854776e+18
data[:, 0:2:2] uint64 9223372036854775809" ]]
