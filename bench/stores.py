#!/usr/bin/env python3
"""bench/stores.py FARO [FOLDER [ROUNDS]]   512 MiB of float32 in Zarr v3, chunks of 1 x 512 x 1024, to chunks of 256 x 32 x 32 within 64 MiB: faro beside
`cp -r` and a careful loop of zarr-python, plain, turned by (2 0 1), and by zstd-3. Needs zarr; a gigabyte and a half in FOLDER."""

import os
import pathlib
import sys

from beside_copy import print_table

LOOP = """
import itertools, sys, numpy as np, zarr
source, axes, codec = sys.argv[1], tuple(map(int, sys.argv[2])), sys.argv[3]
read = zarr.open_array(source, mode="r")
shape = [read.shape[axis] for axis in axes]
chunks, region = ((256, 32, 32), (256, 64, 1024)) if axes == (0, 1, 2) else ((32, 256, 32), (128, 256, 512))
codecs = None if codec == "none" else [zarr.codecs.ZstdCodec(level=3)]
made = zarr.create_array("out.zarr", shape=shape, chunks=chunks, dtype="f4", compressors=codecs)
for corner in itertools.product(*(range(0, extent, step) for extent, step in zip(shape, region))):
    part = tuple(slice(begin, begin + step) for begin, step in zip(corner, region))
    back = [None] * 3
    for axis, each in zip(axes, part):
        back[axis] = each
    made[part] = np.transpose(read[tuple(back)], axes)
"""


def make_stores():
    import numpy as np
    import zarr

    steps = np.random.default_rng(0).random((256, 512, 1024), dtype="f4") - np.float32(0.5)
    values = np.round(np.cumsum(steps, axis=2, dtype="f4"), 2)
    for name, codecs in (("plain.zarr", None), ("zstd.zarr", [zarr.codecs.ZstdCodec(level=3)])):
        made = zarr.create_array(name, shape=values.shape, chunks=(1, 512, 1024), dtype="f4", compressors=codecs)
        made[...] = values


def main():
    faro = os.path.abspath(sys.argv[1])
    os.chdir(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "."))
    if not os.path.exists("zstd.zarr"):
        make_stores()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    budget = ["--memory", "64MiB", "--quiet"]
    ways = {
        "cp -r": ["cp", "-r", "plain.zarr", "out.zarr"],
        "faro, plain": [faro, "convert", "plain.zarr", "out.zarr", "--chunks", "256,32,32", "--codec", "none", *budget],
        "faro, turned": [faro, "permute", "axes(2 0 1)", "plain.zarr", "out.zarr", "--chunks", "32,256,32", "--codec", "none", *budget],
        "faro, zstd-3": [faro, "convert", "zstd.zarr", "out.zarr", "--chunks", "256,32,32", "--codec", "zstd:3", *budget],
        "zarr-python, plain": [sys.executable, "-c", LOOP, "plain.zarr", "012", "none"],
        "zarr-python, turned": [sys.executable, "-c", LOOP, "plain.zarr", "201", "none"],
        "zarr-python, zstd-3": [sys.executable, "-c", LOOP, "zstd.zarr", "012", "zstd"],
    }
    print_table(ways, "out.zarr", rounds)


if __name__ == "__main__":
    main()
