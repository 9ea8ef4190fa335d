#!/usr/bin/env bash
# flax 0.12.8 (msgpack_serialize, to_bytes), WebDataset 1.0.2 (its .ten format) and ormsgpack 1.13.1 write NumPy's big-endian arrays as they lie and
# name the type without its byte order, so that they come back with the bytes of each number reversed: a checkpoint of weights that were read from a
# big-endian file is silently wrong. Column-major arrays come back right in flax and WebDataset, and msgpack-numpy and numpy.save keep the byte order.
# orjson, of which the same was told (its issue 472), now refuses.
# Seen with orjson 3.13.0, msgpack 1.2.4, msgpack-numpy 0.4.8, numpy 2.4.6, on CPython 3.11:
#     flax: [[16777216, 33554432], [50331648, 67108864]]
#     WebDataset: [[16777216, 33554432], [50331648, 67108864]]
#     ormsgpack: [[16777216, 33554432], [50331648, 67108864]]
#     orjson: TypeError
#     msgpack-numpy: [[1, 2], [3, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    flax==0.12.8 webdataset==1.0.2 ormsgpack==1.13.1 orjson==3.13.0 msgpack==1.2.4 msgpack-numpy==0.4.8 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import msgpack, msgpack_numpy, numpy as np, orjson, ormsgpack
from flax import serialization
from webdataset import tenbin

ways = {"flax": lambda x: serialization.msgpack_restore(serialization.msgpack_serialize({"x": x}))["x"],
        "WebDataset": lambda x: tenbin.decode_buffer(tenbin.encode_buffer([x]))[0],
        "ormsgpack": lambda x: np.array(ormsgpack.unpackb(ormsgpack.packb(x, option=ormsgpack.OPT_SERIALIZE_NUMPY))),
        "orjson": lambda x: np.array(orjson.loads(orjson.dumps(x, option=orjson.OPT_SERIALIZE_NUMPY))),
        "msgpack-numpy": lambda x: msgpack.unpackb(msgpack.packb(x, default=msgpack_numpy.encode), object_hook=msgpack_numpy.decode)}
x = np.array([[1, 2], [3, 4]], ">i4")
for name, way in ways.items():
    try:
        print(f"{name}: {way(x).tolist()}")
    except TypeError:
        print(f"{name}: TypeError")
P
)
echo "$seen"
[[ $seen == "flax: [[16777216, 33554432], [50331648, 67108864]]
WebDataset: [[16777216, 33554432], [50331648, 67108864]]
ormsgpack: [[16777216, 33554432], [50331648, 67108864]]
orjson: TypeError
msgpack-numpy: [[1, 2], [3, 4]]" ]]
