#!/usr/bin/env bash
# GRIB says with alternativeRowScanning that every second row runs the other way. ecCodes 2.50.0 gives the values as they are stored, and the
# latitudes and longitudes beside them, in codes_grib_get_data() too, as if all rows ran one way: those of the second row are mirrored. GDAL
# (rasterio 1.4.4), and cfgrib 0.9.15.1 above ecCodes, turn the row.
# Seen with xarray 2026.9.0 and numpy 2.4.6, on CPython 3.11:
#     ecCodes: row at 0 [(0.0, 3.0), (15.0, 4.0), (30.0, 5.0)]; longitudes [0.0, 15.0, 30.0]: cfgrib [5.0, 4.0, 3.0], GDAL [5.0, 4.0, 3.0]
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
                   "alternativeRowScanning": 1}.items():
    eccodes.codes_set(message, key, value)
eccodes.codes_set_values(message, np.arange(6.0))
with open(path, "wb") as file:
    eccodes.codes_write(message, file)
points = [(point.lat, point.lon, point.value) for point in eccodes.codes_grib_get_data(message)]
x = xarray.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})["t"]
kelvin = (rasterio.open(path).read(1) + 273.15).round()
print(f"ecCodes: row at 0 {[point[1:] for point in points if point[0] == 0]}; longitudes {x.longitude.values.tolist()}: "
      f"cfgrib {x.sel(latitude=0).values.tolist()}, GDAL {kelvin[1].tolist()}")
P
)
echo "$seen"
[[ $seen == "ecCodes: row at 0 [(0.0, 3.0), (15.0, 4.0), (30.0, 5.0)]; longitudes [0.0, 15.0, 30.0]: cfgrib [5.0, 4.0, 3.0], GDAL [5.0, 4.0, 3.0]" ]]
