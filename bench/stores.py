#!/usr/bin/env python3
"""bench/stores.py FARO [FOLDER [ROUNDS [GROUP…]]]   512 MiB of float32 in chunks of 1 x 512 x 1024 to chunks of 256 x 32 x 32, within 64 MiB: faro beside
`cp -r` and careful loops of zarr-python, tensorstore and h5py, tensorstore in one write, Dask on two threads, h5repack and nccopy, once each. Groups: zarr, zarr2, zstd,
sharded, hdf5, hdf5-gzip, tiff; all without any; `zstd:faro,Dask` is the ways of a group that begin so; `codec` decodes and encodes a sixteenth of the same chunks and does
nothing else. Needs zarr, tensorstore, h5py, tifffile, numcodecs, dask; rechunker in the environment of the interpreter $RECHUNKER, for it needs zarr 2. Some gigabytes in FOLDER."""

import os
import pathlib
import sys

from beside_copy import print_table

SHAPE, CHUNKS, OTHER, SHARDS = (256, 512, 1024), (1, 512, 1024), (256, 32, 32), (256, 128, 256)
# Regions of 64 MiB of the output that are whole chunks, or shards.
LOOP = f"""
import itertools, sys, numpy as np
kind, source, axes, codec = sys.argv[1], sys.argv[2], tuple(map(int, sys.argv[3])), sys.argv[4]
turned = axes != (0, 1, 2)
chunks = tuple({OTHER}[axis] for axis in axes)
region = tuple((256, 64, 1024)[axis] if not turned else (128, 256, 512)[place] for place, axis in enumerate(axes))
shards = None
if codec == "sharded":
    codec, shards, region = "zstd", {SHARDS}, (256, 128, 512)
shape = tuple({SHAPE}[axis] for axis in axes)
def parts():
    for corner in itertools.product(*(range(0, extent, step) for extent, step in zip(shape, region))):
        part = tuple(slice(begin, min(begin + step, extent)) for begin, step, extent in zip(corner, region, shape))
        back = [None] * 3
        for axis, each in zip(axes, part):
            back[axis] = each
        yield part, tuple(back)
if kind == "zarr":
    import zarr
    read = zarr.open_array(source, mode="r")
    codecs = None if codec == "none" else [zarr.codecs.ZstdCodec(level=3)]
    made = zarr.create_array("out.zarr", shape=shape, chunks=chunks, shards=shards, dtype="f4", compressors=codecs)
    for part, back in parts():
        made[part] = np.transpose(read[back], axes)
elif kind == "dask":
    import dask.array, zarr
    codecs = None if codec == "none" else [zarr.codecs.ZstdCodec(level=3)]
    made = zarr.create_array("out.zarr", shape=shape, chunks=chunks, shards=shards, dtype="f4", compressors=codecs)
    read = zarr.open_array(source, mode="r")
    values = dask.array.from_array(read, chunks=read.shards or read.chunks).transpose(axes).rechunk(shards or chunks)
    dask.array.store(values, made, lock=False, scheduler="threads", num_workers=2)
elif kind == "rechunker":
    import rechunker, zarr
    rechunker.rechunk(zarr.open(source, mode="r"), chunks, "64MB", "out.zarr", temp_store="temporary.zarr", executor="python").execute()
    import shutil
    shutil.rmtree("temporary.zarr", ignore_errors=True)
elif kind.startswith("tensorstore"):
    import tensorstore
    spec = lambda path: dict(driver="zarr3", kvstore=dict(driver="file", path=path))
    read = tensorstore.open(spec(source)).result()
    chain = [dict(name="bytes", configuration=dict(endian="little"))] + ([] if codec == "none" else [dict(name="zstd", configuration=dict(level=3))])
    if shards:
        chain = [dict(name="sharding_indexed", configuration=dict(chunk_shape=chunks, codecs=chain))]
    grid = dict(name="regular", configuration=dict(chunk_shape=shards or chunks))
    made = tensorstore.open(dict(spec("out.zarr"), metadata=dict(shape=shape, data_type="float32", chunk_grid=grid, codecs=chain)), create=True).result()
    if kind == "tensorstore-whole":
        made.write(read.transpose(axes)).result()
    else:
        for part, back in parts():
            made[part].write(np.transpose(read[back].read().result(), axes)).result()
else:
    import h5py
    options = {{}} if codec == "none" else dict(compression="gzip", compression_opts=1, shuffle=True)
    cache = dict(rdcc_nbytes=64 << 20, rdcc_nslots=100003)
    with h5py.File(source, "r", **cache) as read, h5py.File("out.h5", "w", **cache) as made:
        to = made.create_dataset("data", shape, "f4", chunks=chunks, **options)
        for part, back in parts():
            to[part] = np.transpose(read["data"][back], axes)
"""
CODEC = f"""
import sys, time, numpy as np, numcodecs
values = np.memmap("values.raw", "f4", "r", shape={SHAPE})
if sys.argv[1] == "zstd":
    codec, shuffle = numcodecs.Zstd(3), None
else:
    codec, shuffle = numcodecs.Zlib(1), numcodecs.Shuffle(4)
def encoded(part):
    data = np.ascontiguousarray(part)
    return codec.encode(shuffle.encode(data) if shuffle else data)
before = [encoded(values[z]) for z in range(0, 256, 16)]
begin = time.process_time()
for each in before:
    data = codec.decode(each)
    if shuffle: shuffle.decode(data)
decoding = 16 * (time.process_time() - begin)
begin = time.process_time()
for y in range(0, 512, 128):
    for x in range(0, 1024, 128):
        encoded(values[:, y:y + 32, x:x + 32])
print(f"codec alone, {{sys.argv[1]}}: {{decoding + 16 * (time.process_time() - begin):.1f}} processor s, of a sixteenth", flush=True)
"""
MEMORY_MAP = """
import numpy as np, tifffile
read = tifffile.memmap("stack.tif", mode="r")
made = np.lib.format.open_memmap("out.npy", "w+", read.dtype, read.shape[::-1])
made[...] = read.transpose(2, 1, 0)
made.flush()
"""


def make_inputs():
    import h5py
    import numpy as np
    import tifffile
    import zarr

    steps = np.random.default_rng(0).random(SHAPE, dtype="f4") - np.float32(0.5)
    values = np.round(np.cumsum(steps, axis=2, dtype="f4"), 2)
    values.tofile("values.raw")
    zstd = [zarr.codecs.ZstdCodec(level=3)]
    for name, options in (("plain.zarr", {"compressors": None}), ("zstd.zarr", {"compressors": zstd}),
                          ("sharded.zarr", {"compressors": zstd, "shards": (64, 512, 1024)}), ("plain.zarr2", {"compressors": None, "zarr_format": 2})):
        zarr.create_array(name, shape=SHAPE, chunks=CHUNKS, dtype="f4", **options)[...] = values
    for name, options in (("plain.h5", {}), ("gzip.h5", {"compression": "gzip", "compression_opts": 1, "shuffle": True})):
        with h5py.File(name, "w") as file:
            file.create_dataset("data", data=values, chunks=CHUNKS, **options)
    tifffile.imwrite("stack.tif", values)


def main():
    faro = os.path.abspath(sys.argv[1])
    os.chdir(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "."))
    if not os.path.exists("stack.tif"):
        make_inputs()
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    budget = ["--memory", "64MiB", "--quiet"]

    def convert(source, out, *options):
        return [faro, "convert", source, out, "--chunks", "256,32,32", *options, *budget]

    def turn(source, out, *options):
        return [faro, "permute", "axes(2 0 1)", source, out, "--chunks", "32,256,32", *options, *budget]

    def loop(kind, source, axes, codec):
        return [sys.executable, "-c", LOOP, kind, source, axes, codec]

    def coded(source, codec, *options):
        return {"cp -r": ["cp", "-r", source, "out.zarr"], "faro": convert(source, "out.zarr", "--codec", "zstd:3", *options),
                "faro, turned": turn(source, "out.zarr", "--codec", "zstd:3"), "zarr-python": loop("zarr", source, "012", codec),
                "tensorstore": loop("tensorstore", source, "012", codec),
                "tensorstore in one write": loop("tensorstore-whole", source, "012", codec), "Dask": loop("dask", source, "012", codec)}

    def hdf5(source, codec, name):
        return {"cp": ["cp", source, "out.h5"], "faro": convert(source, "out.h5", "--codec", name),
                "faro, turned": turn(source, "out.h5", "--codec", name), "h5py": loop("h5py", source, "012", codec),
                "h5py, turned": loop("h5py", source, "201", codec),
                "h5repack": ["h5repack", "-l", "data:CHUNK=256x32x32", "-f", "NONE" if codec == "none" else "SHUF", *([] if codec == "none" else ["-f", "GZIP=1"]), source, "out.h5"],
                "nccopy": ["nccopy", "-4", "-c", "phony_dim_0/256,phony_dim_1/32,phony_dim_2/32", "-m", "64M",
                           *(["-d", "0"] if codec == "none" else ["-d", "1", "-s"]), source, "out.h5"]}

    groups = {
        "zarr": ("out.zarr", {
            "cp -r": ["cp", "-r", "plain.zarr", "out.zarr"], "faro": convert("plain.zarr", "out.zarr", "--codec", "none"),
            "faro, turned": turn("plain.zarr", "out.zarr", "--codec", "none"),
            "zarr-python": loop("zarr", "plain.zarr", "012", "none"), "zarr-python, turned": loop("zarr", "plain.zarr", "201", "none"),
            "tensorstore": loop("tensorstore", "plain.zarr", "012", "none"),
            "tensorstore, turned": loop("tensorstore", "plain.zarr", "201", "none"),
            "tensorstore in one write": loop("tensorstore-whole", "plain.zarr", "012", "none"),
            "Dask": loop("dask", "plain.zarr", "012", "none"), "Dask, turned": loop("dask", "plain.zarr", "201", "none")}),
        "zarr2": ("out.zarr", {
            "cp -r": ["cp", "-r", "plain.zarr2", "out.zarr"], "faro": convert("plain.zarr2", "out.zarr", "--codec", "none", "--format", "zarr2"),
            **({"rechunker": [os.environ["RECHUNKER"], *loop("rechunker", "plain.zarr2", "012", "none")[1:]]} if "RECHUNKER" in os.environ else {})}),
        "zstd": ("out.zarr", coded("zstd.zarr", "zstd")),
        "sharded": ("out.zarr", coded("sharded.zarr", "sharded", "--shard-chunks", ",".join(map(str, SHARDS)))),
        "hdf5": ("out.h5", hdf5("plain.h5", "none", "none")),
        "hdf5-gzip": ("out.h5", hdf5("gzip.h5", "gzip", "shuffle+gzip:1")),
        "tiff": ("out.npy", {"cp": ["cp", "stack.tif", "out.npy"], "faro": [faro, "permute", "axes(2 1 0)", "stack.tif", "out.npy", *budget],
                             "memory maps of tifffile and NumPy": [sys.executable, "-c", MEMORY_MAP]}),
    }
    for name in sys.argv[4:] or groups:
        if name == "codec":
            for codec in ("zstd", "gzip"):
                os.spawnlp(os.P_WAIT, sys.executable, sys.executable, "-c", CODEC, codec)
            continue
        name, _, only = name.partition(":")
        result, ways = groups[name]
        ways = {what: command for what, command in ways.items() if what.startswith(("cp", *only.split(",")))}
        print(f"\n{name}:\n", flush=True)
        print_table(ways, result, rounds, once=[what for what in ways if not what.startswith(("cp", "faro"))])


if __name__ == "__main__":
    main()
