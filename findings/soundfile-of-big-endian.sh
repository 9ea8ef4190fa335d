#!/usr/bin/env bash
# soundfile 0.14.0: write() takes big-endian numbers of NumPy for little-endian ones, and read() into a big-endian array leaves its bytes reversed; no
# error says so, while a type that it does not know is refused. SciPy gives such arrays: wavfile.read() of a file of RIFX, the big-endian form of WAV,
# so that a file read by SciPy and written by soundfile is noise.
# Seen with numpy 2.4.6 and scipy 1.17.1, on CPython 3.11:
#     RIFX read by soundfile: [1, 2, -3] <i2
#     RIFX read by SciPy: [1, 2, -3] >i2
#     SciPy's array written by soundfile: [256, 512, -513]
#     int32 written by soundfile: [16777216, 33554432, -33554433]
#     float32 written by soundfile: [4.600602988224807e-41, 8.96831017167883e-44, 2.322792334464817e-41]
#     read into big-endian: [256, 512, -513]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check soundfile==0.14.0 scipy==1.17.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import io

import numpy as np, scipy.io.wavfile, soundfile

samples = np.array([1, 2, -3])
rifx = io.BytesIO()
soundfile.write(rifx, samples.astype("<i2"), 8000, format="WAV", endian="BIG", subtype="PCM_16")
read = {}
for name, reader in ("soundfile", lambda f: soundfile.read(f, dtype="int16")[0]), ("SciPy", lambda f: scipy.io.wavfile.read(f)[1]):
    rifx.seek(0)
    read[name] = reader(rifx)
    print(f"RIFX read by {name}: {read[name].tolist()} {read[name].dtype.str}")
arrays = ("SciPy's array", read["SciPy"], "PCM_16"), ("int32", samples.astype(">i4"), "PCM_32"), ("float32", samples.astype(">f4"), "FLOAT")
for name, array, subtype in arrays:
    file = io.BytesIO()
    soundfile.write(file, array, 8000, format="WAV", subtype=subtype)
    file.seek(0)
    print(f"{name} written by soundfile: {soundfile.read(file, dtype=array.dtype.name)[0].tolist()}")
rifx.seek(0)
print(f"read into big-endian: {soundfile.read(rifx, out=np.zeros(3, '>i2'))[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "RIFX read by soundfile: [1, 2, -3] <i2
RIFX read by SciPy: [1, 2, -3] >i2
SciPy's array written by soundfile: [256, 512, -513]
int32 written by soundfile: [16777216, 33554432, -33554433]
float32 written by soundfile: [4.600602988224807e-41, 8.96831017167883e-44, 2.322792334464817e-41]
read into big-endian: [256, 512, -513]" ]]
