#!/usr/bin/env bash
# CFITSIO (fitsio 1.4.2) compresses uint16 by PLIO_1 with BZERO = 32768, as all uint16 of FITS, but with the samples themselves in the tiles, which
# hold no negative numbers, and reads them so. Astropy 8.0.2 adds BZERO to them: 0 is 32768, 32768 is 0, and a sample of the upper half can be yet
# another number. Both are silent. Under RICE_1 and GZIP they agree, and so they do on int16 and int32 under PLIO_1; Astropy itself refuses to write
# uint16 by PLIO_1.
# Seen with numpy 2.4.6, on CPython 3.11:
#     RICE_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [0, 1, 300, 32768, 40000, 65535]
#     GZIP_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [0, 1, 300, 32768, 40000, 65535]
#     PLIO_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [32768, 32769, 33068, 0, 7232, 32767]
#     PLIO_1 of int16: fitsio [0, 1, 300], Astropy [0, 1, 300]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check astropy==8.0.2 fitsio==1.4.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys

import fitsio, numpy as np
from astropy.io import fits

x = np.array([[0, 1, 300, 32768, 40000, 65535]], np.uint16)
for codec in "RICE_1", "GZIP_1", "PLIO_1":
    path = f"{sys.argv[1]}/{codec}.fits"
    fitsio.write(path, x, compress=codec)
    header = fits.getheader(path, 1)
    print(f"{codec}: BZERO {header.get('BZERO')}, fitsio {fitsio.read(path, ext=1)[0].tolist()}, Astropy {fits.getdata(path, 1)[0].tolist()}")
path = sys.argv[1] + "/int16.fits"
fitsio.write(path, x[:, :3].astype(np.int16), compress="PLIO_1")
print(f"PLIO_1 of int16: fitsio {fitsio.read(path, ext=1)[0].tolist()}, Astropy {fits.getdata(path, 1)[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "RICE_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [0, 1, 300, 32768, 40000, 65535]
GZIP_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [0, 1, 300, 32768, 40000, 65535]
PLIO_1: BZERO 32768, fitsio [0, 1, 300, 32768, 40000, 65535], Astropy [32768, 32769, 33068, 0, 7232, 32767]
PLIO_1 of int16: fitsio [0, 1, 300], Astropy [0, 1, 300]" ]]
