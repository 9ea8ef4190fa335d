#!/usr/bin/env bash
# Astropy 8.0.2: CompImageHDU with quantize_level=0, which turns the quantization of floats off, keeps them under GZIP_1 and GZIP_2, and cuts
# them to integers, without a scale, under RICE_1, HCOMPRESS_1 and PLIO_1: 0.75 is written as 0, with neither an error nor a warning. CFITSIO
# (fitsio 1.4.2) refuses the same: lossless compression of floats must use GZIP.
# Seen on CPython 3.11:
#     GZIP_1 [0.75, 1.5, 2.25], GZIP_2 [0.75, 1.5, 2.25], RICE_1 [0.0, 1.0, 2.0], HCOMPRESS_1 [0.0, 1.0, 2.0]; warnings 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check astropy==8.0.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import io, warnings

import numpy as np
from astropy.io import fits

image, seen = (np.arange(1, 65, dtype="float32") * 0.75).reshape(8, 8), []
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    for method in ("GZIP_1", "GZIP_2", "RICE_1", "HCOMPRESS_1"):
        file = io.BytesIO()
        fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(image, compression_type=method, quantize_level=0)]).writeto(file)
        file.seek(0)
        seen.append(f"{method} {fits.getdata(file, 1)[0, :3].tolist()}")
print(f"{', '.join(seen)}; warnings {len(warned)}")
P
)
echo "$seen"
[[ $seen == "GZIP_1 [0.75, 1.5, 2.25], GZIP_2 [0.75, 1.5, 2.25], RICE_1 [0.0, 1.0, 2.0], HCOMPRESS_1 [0.0, 1.0, 2.0]; warnings 0" ]]
