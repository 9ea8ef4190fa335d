"""Zarr beside zarr-python and tensorstore: what they write is read, and what faro writes they read."""

import math
import os
import random
import shutil

import numpy as np
import pytest
from stores_calls import A, saved, turned

import faro


def zarr_array(zarr, draw, path):
    """An array with whatever form it may have, and its values."""
    codecs = zarr.codecs
    rank = draw.randint(0, 4)
    shape = tuple(draw.randint(1, 14) for _ in range(rank))
    chunks = tuple(draw.randint(1, extent + 2) for extent in shape)
    values = np.random.default_rng(draw.randint(0, 2**32)).integers(0, 100, shape).astype(draw.choice("u1 i2 f4 f8 c8 i8 b1".split()))
    if rank and draw.random() < 0.3:
        values[: max(1, shape[0] // 2)] = 0
    options = {}
    version = draw.choice([2, 3])
    if version == 3:
        chosen = draw.choice([None, codecs.ZstdCodec(level=3), codecs.GzipCodec(level=1), codecs.BloscCodec(cname="lz4")])
        options["compressors"] = [chosen] if chosen else None
        if chosen and draw.random() < 0.3:
            options["compressors"] = [chosen, codecs.Crc32cCodec()]
        if rank and draw.random() < 0.4:
            options["shards"] = tuple(extent * draw.randint(1, 3) for extent in chunks)
        if rank and draw.random() < 0.3:
            options["filters"] = [codecs.TransposeCodec(order=tuple(draw.sample(range(rank), rank)))]
        if draw.random() < 0.3:
            options["serializer"] = codecs.BytesCodec(endian="big")
        if draw.random() < 0.5:
            options["dimension_names"] = [f"d{axis}" for axis in range(rank)]
    else:
        numcodecs = pytest.importorskip("numcodecs")
        options["compressors"] = draw.choice(
            [None, numcodecs.Blosc(cname="zstd"), numcodecs.Zstd(), numcodecs.LZ4(), numcodecs.GZip(), numcodecs.Zlib()])
        options["order"] = draw.choice("CF")
        if values.dtype.itemsize > 1 and draw.random() < 0.3:
            values = values.astype(values.dtype.newbyteorder(">"))
    made = zarr.create_array(path, shape=shape, chunks=chunks, dtype=values.dtype, zarr_format=version,
                             fill_value=values.dtype.type(draw.choice([0, 1])), attributes={"a": [1, {"b": None}]}, **options)
    made[...] = values
    return made, values


@pytest.mark.parametrize("seed", range(60))
def test_zarr_of_every_form(tmp_path, seed):
    zarr = pytest.importorskip("zarr", "3.0")
    draw = random.Random(seed)
    made, values = zarr_array(zarr, draw, str(tmp_path / "in.zarr"))
    axes = tuple(draw.sample(range(values.ndim), values.ndim))
    wanted = np.transpose(values, axes)
    options = {"axes": axes, "threads": draw.choice([1, 3]), "verify": draw.random() < 0.7, "format": draw.choice(["zarr2", "zarr3"])}
    if values.ndim and draw.random() < 0.7:
        options["chunks"] = [draw.randint(1, extent + 1) for extent in wanted.shape]
        if options["format"] == "zarr3" and draw.random() < 0.4:
            options["shards"] = [extent * draw.randint(1, 3) for extent in options["chunks"]]
    if draw.random() < 0.6:
        more = "lz4" if options["format"] == "zarr2" else "zstd:1+crc32c"
        options["codec"] = draw.choice(["none", "zstd:3", "gzip:1", "blosc:lz4:5:bitshuffle", more])
    options["order"] = draw.choice("CCCF")
    memory = draw.choice([2000, 6000, 20000, 2**26])
    while memory < 2**26:  # as little as is taken
        try:
            faro.relayout(tmp_path / "in.zarr", tmp_path / "out.zarr", memory=memory, explain=True, **options)
            break
        except faro.FaroValueError:
            memory *= 2
    done = faro.relayout(tmp_path / "in.zarr", tmp_path / "out.zarr", memory=memory, **options)
    assert done.memory_bytes <= memory
    got = zarr.open_array(str(tmp_path / "out.zarr"), mode="r")
    np.testing.assert_array_equal(got[...], wanted)
    assert got.fill_value == made.fill_value and dict(got.attrs)["a"] == [1, {"b": None}]
    assert "chunks" not in options or list(got.chunks) == options["chunks"]
    names = getattr(made.metadata, "dimension_names", None)
    if names and options["format"] == "zarr3":
        assert list(got.metadata.dimension_names) == [names[axis] for axis in axes]
    assert sorted(os.listdir(tmp_path)) == ["in.zarr", "out.zarr"]


@pytest.mark.parametrize("form", [2, 3])
def test_zarr_chunks_that_are_missing(tmp_path, form):
    zarr = pytest.importorskip("zarr", "3.0")
    for number, (dtype, fill) in enumerate([(">i4", 1), (">f8", -0.0), (">f4", np.nan), (">c8", 1 + 2j), ("S3", b"ab"), ("V3", b"\1\2\3"), ("U2", "")]):
        kind = np.dtype(dtype)
        values = np.full((5, 7), np.array(fill, kind) if kind.kind != "V" else np.void(fill), kind)
        values[1:3, 2:4] = np.frombuffer(b"\5" * kind.itemsize, kind)[0] if kind.kind != "U" else "é"
        big = {"serializer": zarr.codecs.BytesCodec(endian="big")} if form == 3 and kind.kind in "ifc" else {}
        made = zarr.create_array(str(tmp_path / f"{number}.zarr"), shape=(5, 7), chunks=(2, 2), dtype=kind if form == 2 else kind.newbyteorder("="),
                                 fill_value=values[0, 0], compressors=None, zarr_format=form, **big)
        made[1:3, 2:4] = values[1:3, 2:4]
        faro.relayout(tmp_path / f"{number}.zarr", tmp_path / f"{number}.npy")
        got = np.load(tmp_path / f"{number}.npy")
        assert got.astype(kind).tobytes() == values.tobytes(), dtype
        for to in ("zarr2", "zarr3") if kind.kind != "V" else ("zarr2",):
            faro.relayout(tmp_path / f"{number}.zarr", tmp_path / f"{number}.{to}", chunks=(3, 3), codec="none", format=to)
            got = zarr.open_array(str(tmp_path / f"{number}.{to}"), mode="r")
            assert got[...].astype(kind).tobytes() == values.tobytes() and str(got.fill_value) == str(made.fill_value), (dtype, to)


def test_zarr_v2_without_a_fill_value_has_all_chunks(tmp_path):
    pytest.importorskip("zarr", "3.0")
    faro.relayout(saved(tmp_path, np.zeros((4, 4))), tmp_path / "a.zarr", chunks=(2, 2), format="zarr2")
    assert sorted(os.listdir(tmp_path / "a.zarr")) == [".zarray", ".zattrs", "0.0", "0.1", "1.0", "1.1"]
    assert '"fill_value": null' in (tmp_path / "a.zarr" / ".zarray").read_text()


def test_zarr_v2_has_one_nan(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    values = np.array([0x7FC00001, 0x7FC00000, 0x3F800000], "u4").view("f4")
    zarr.create_array(str(tmp_path / "a.zarr"), data=values, chunks=(1,))
    told = (tmp_path / "a.zarr" / "zarr.json").read_text()
    (tmp_path / "a.zarr" / "zarr.json").write_text(told.replace('"fill_value": 0.0', '"fill_value": "0x7fc00001"'))
    for form in ("zarr2", "zarr3"):
        faro.relayout(tmp_path / "a.zarr", tmp_path / form, format=form)
        assert zarr.open_array(str(tmp_path / form), mode="r")[...].view("u4").tolist() == values.view("u4").tolist()


@pytest.mark.parametrize("form", [2, 3])
def test_zarr_attributes_that_are_no_json(tmp_path, form):
    zarr = pytest.importorskip("zarr", "3.0")
    attributes = {"missing_value": math.nan, "valid": [-math.inf, {"most": math.inf}], 'NaN" \\': 'NaN, "NaN", \\"Infinity'}
    zarr.create_array(str(tmp_path / "a.zarr"), data=A, zarr_format=form, attributes=attributes)
    told = faro.open(tmp_path / "a.zarr")[""].attributes
    assert told == {**attributes, "missing_value": "NaN", "valid": ["-Infinity", {"most": "Infinity"}]}
    faro.relayout(tmp_path / "a.zarr", tmp_path / "b.zarr", format=f"zarr{5 - form}")
    assert str(dict(zarr.open_array(str(tmp_path / "b.zarr")).attrs)) == str(attributes)


def test_times_without_a_unit(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    for number, dtype in enumerate(("M8", "m8", "M8[25s]", "m8[D]")):
        values = np.arange(5).view(dtype)
        path = saved(tmp_path, values)
        for form in ("zarr2", "zarr3"):
            faro.relayout(path, tmp_path / f"{number}.{form}", format=form)
            if form == "zarr2" or "[" in dtype:  # zarr-python reads no fill value of others
                assert zarr.open_array(str(tmp_path / f"{number}.{form}"), mode="r")[...].tobytes() == values.tobytes()
            turned(tmp_path / f"{number}.{form}", values, tmp_path)


def test_zarr_groups(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    path = saved(tmp_path)
    faro.relayout(path, tmp_path / "a.zarr" / "t", chunks=(4, 4, 4))
    zarr.consolidate_metadata(str(tmp_path / "a.zarr"))
    faro.relayout(path, tmp_path / "a.zarr" / "u", axes=(2, 0, 1), dtype="float64")
    assert list(faro.open(tmp_path / "a.zarr")) == ["t", "u"]
    group = zarr.open_consolidated(str(tmp_path / "a.zarr"))
    np.testing.assert_array_equal(group["u"][...], np.transpose(A, (2, 0, 1)).astype("f8"))
    np.testing.assert_array_equal(group["t"][...], A)
    faro.relayout(path, tmp_path / "a.zarr" / "new" / "group" / "v")
    np.testing.assert_array_equal(zarr.open_group(str(tmp_path / "a.zarr"), use_consolidated=False)["new/group/v"][...], A)
    shutil.rmtree(tmp_path / "a.zarr" / "new")
    with pytest.raises(faro.FaroValueError, match="2 arrays: t, u"):
        faro.relayout(tmp_path / "a.zarr", tmp_path / "o.npy")
    with pytest.raises(faro.FaroFileError, match="already"):
        faro.relayout(path, tmp_path / "a.zarr" / "t")


@pytest.mark.parametrize("location", ["start", "end"])
def test_zarr_shards_within_shards(tmp_path, location):
    tensorstore = pytest.importorskip("tensorstore")
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    inner = {"chunk_shape": [2, 1, 4], "codecs": [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, little,
                                                  {"name": "zstd", "configuration": {"level": 1}}],
             "index_codecs": [little, {"name": "crc32c"}]}
    outer = {"chunk_shape": [4, 8, 4], "index_location": location, "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
             "codecs": [{"name": "sharding_indexed", "configuration": inner}]}
    metadata = {"shape": list(A.shape), "data_type": "float32", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [8, 8, 8]}},
                "codecs": [{"name": "sharding_indexed", "configuration": outer}]}
    made = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/a.zarr"}, "metadata": metadata}, create=True).result()
    made[:5] = A[:5]
    want = A.copy()
    want[5:] = 0
    turned(tmp_path / "a.zarr", want, tmp_path)
    assert faro.open(tmp_path / "a.zarr")[""].chunks == (2, 1, 4) and faro.open(tmp_path / "a.zarr")[""].shards == (8, 8, 8)


@pytest.mark.parametrize("seed", range(12))
def test_tensorstore_reads_what_is_written(tmp_path, seed):
    tensorstore = pytest.importorskip("tensorstore")
    draw = random.Random(seed)
    chunks = [draw.randint(1, 9) for _ in range(3)]
    axes = tuple(draw.sample(range(3), 3))
    options = {"codec": draw.choice(["none", "zstd:3", "gzip:1", "blosc:lz4:5:shuffle", "zstd:1+crc32c"]), "order": draw.choice("CF")}
    if draw.random() < 0.5:
        levels = [chunks]
        for _ in range(draw.randint(1, 3)):
            levels.insert(0, [extent * draw.randint(1, 3) for extent in levels[0]])
        options["shards"] = levels[0] if len(levels) == 2 else levels[:-1]
    faro.relayout(saved(tmp_path), tmp_path / "a.zarr", axes=axes, chunks=chunks, memory=10**6, **options)
    read = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/a.zarr"}}).result()
    np.testing.assert_array_equal(read.read().result(), np.transpose(A, axes))


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata_is_kept(tmp_path, version):
    zarr = pytest.importorskip("zarr", "3.0")
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w", zarr_format=version, attributes={"a": 1})
    group.create_array("x", data=A, chunks=(4, 4, 4))
    group.create_group("g", attributes={"b": 2}).create_array("y", data=A[0])
    faro.relayout(tmp_path / "a.zarr", tmp_path / "plain.zarr")
    with pytest.raises(ValueError):
        zarr.open_consolidated(str(tmp_path / "plain.zarr"))
    zarr.consolidate_metadata(str(tmp_path / "a.zarr"))
    for form in ("zarr2", "zarr3"):
        faro.relayout(tmp_path / "a.zarr", tmp_path / form, format=form)
        found = zarr.open_consolidated(str(tmp_path / form))
        assert dict(found.attrs) == {"a": 1} and dict(found["g"].attrs) == {"b": 2}
        np.testing.assert_array_equal(found["x"][...], A)
        np.testing.assert_array_equal(found["g/y"][...], A[0])
