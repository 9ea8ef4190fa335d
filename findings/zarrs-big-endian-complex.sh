#!/usr/bin/env bash
# zarrs 0.2.3, the codecs for zarr in Rust, exchanges the real and the imaginary part of complex numbers that are stored big-endian, if it reads a
# part of a chunk: whole chunks are right, and so is all that zarr 3.1.6 itself reads of the same array. So a number is another in one slice than in
# the next, and the last chunk of an array, which its shape cuts, is always wrong. It reverses the eight bytes of a number at once, not those of each
# part.
# Seen with numpy 2.4.6, on CPython 3.11:
#     little, zarr: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
#     little, zarrs: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
#     big, zarr: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
#     big, zarrs: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (10+9j)], [0:2] [(1+2j), (3+4j)], [1:4] [(4+3j), (5+6j), (7+8j)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check zarrs==0.2.3 zarr==3.1.6 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, zarr, zarrs

x = np.array([1 + 2j, 3 + 4j, 5 + 6j, 7 + 8j, 9 + 10j], np.complex64)
for endian in "little", "big":
    path = f"{sys.argv[1]}/{endian}"
    zarr.create_array(path, shape=5, chunks=2, dtype=x.dtype, serializer=zarr.codecs.BytesCodec(endian=endian))[...] = x
    for pipeline in "zarr.core.codec_pipeline.BatchedCodecPipeline", "zarrs.ZarrsCodecPipeline":
        with zarr.config.set({"codec_pipeline.path": pipeline}):
            a = zarr.open_array(path)
            print(f"{endian}, {pipeline.split('.')[0]}: [:] {a[:].tolist()}, [0:2] {a[0:2].tolist()}, [1:4] {a[1:4].tolist()}")
P
)
echo "$seen"
[[ $seen == "little, zarr: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
little, zarrs: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
big, zarr: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (9+10j)], [0:2] [(1+2j), (3+4j)], [1:4] [(3+4j), (5+6j), (7+8j)]
big, zarrs: [:] [(1+2j), (3+4j), (5+6j), (7+8j), (10+9j)], [0:2] [(1+2j), (3+4j)], [1:4] [(4+3j), (5+6j), (7+8j)]" ]]
