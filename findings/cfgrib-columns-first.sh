#!/usr/bin/env bash
# GRIB says with jPointsAreConsecutive that the points of a column follow one another. cfgrib 0.9.15.1 reads such fields as if those of a row did: the
# shape is right, and the values lie at other coordinates than those that ecCodes 2.50.0 tells for them, and GDAL (rasterio 1.4.4). It minds
# alternativeRowScanning, the flag beside it.
# Seen with xarray 2026.9.0 and numpy 2.4.6, on CPython 3.11:
#     latitudes [60.0, 0.0], longitudes [0.0, 15.0, 30.0]: cfgrib [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], ecCodes [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]], GDAL [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check cfgrib==0.9.15.1 eccodes==2.50.0 eccodeslib==2.50.0.33 xarray==2026.9.0 rasterio==1.4.4 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import sys, warnings

import eccodes, numpy as np, rasterio, xarray

warnings.simplefilter("ignore")
path = sys.argv[1] + "/x.grib"
message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
for key, value in {"Ni": 3, "Nj": 2, "longitudeOfLastGridPointInDegrees": 30, "iDirectionIncrementInDegrees": 15, "jDirectionIncrementInDegrees": 60,
                   "jPointsAreConsecutive": 1}.items():
    eccodes.codes_set(message, key, value)
eccodes.codes_set_values(message, np.arange(6.0))
with open(path, "wb") as file:
    eccodes.codes_write(message, file)
points = {(point.lat, point.lon): point.value for point in eccodes.codes_grib_get_data(message)}
x = xarray.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})["t"]
told = [[points[lat, lon] for lon in x.longitude.values] for lat in x.latitude.values]
kelvin = (rasterio.open(path).read(1) + 273.15).round()
print(f"latitudes {x.latitude.values.tolist()}, longitudes {x.longitude.values.tolist()}: cfgrib {x.values.tolist()}, ecCodes {told}, GDAL {kelvin.tolist()}")
P
)
echo "$seen"
[[ $seen == "latitudes [60.0, 0.0], longitudes [0.0, 15.0, 30.0]: cfgrib [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], ecCodes [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]], GDAL [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]" ]]
