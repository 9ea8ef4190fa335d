"""HDF5 and netCDF-4 beside h5py and netCDF4: what they write is read, and what faro writes they read."""

import random

import numpy as np
import pytest
from stores_calls import A, saved, turned

import faro


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    gaps = np.full((9, 9), 7, "i4")
    gaps[:4, :4] = 1
    wanted = {"t": A, "g/x": A.astype(">f8"), "b": A > 50, "c": A.astype("c8"), "h": A.astype("f2"), "scalar": np.float64(3.5),
              "s": np.array([b"abc", b"de"]), "chunked": A, "gzip": A, "gaps": gaps}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, array in wanted.items():
            if name not in ("chunked", "gzip", "gaps"):
                file[name] = array
        file.create_dataset("chunked", data=A, chunks=(3, 4, 5))
        file.create_dataset("gzip", data=A, chunks=(3, 4, 5), compression="gzip", shuffle=True)
        file.create_dataset("gaps", (9, 9), chunks=(4, 4), dtype="i4", fillvalue=7)[:4, :4] = 1
        file.create_dataset("lzf", data=A, chunks=(3, 4, 5), compression="lzf")
    try:
        faro.open(tmp_path / "a.h5")
    except faro.FaroUnsupportedError as error:
        pytest.skip(str(error))
    for name, array in wanted.items():
        turned(f"{tmp_path}/a.h5:/{name}", array.astype(array.dtype.newbyteorder("=")), tmp_path)
    with pytest.raises(faro.FaroUnsupportedError, match="lzf"):
        faro.relayout(f"{tmp_path}/a.h5:lzf", tmp_path / "o.npy")
    faro.relayout(saved(tmp_path), f"{tmp_path}/o.h5:/g/t", axes=(2, 0, 1), dtype="float16")
    with h5py.File(tmp_path / "o.h5") as file:
        np.testing.assert_array_equal(file["g/t"][...], np.transpose(A, (2, 0, 1)).astype("f2"))


@pytest.mark.parametrize("codec", ["none", "gzip:1", "shuffle+gzip:4", "shuffle", "szip", "shuffle+szip"])
def test_hdf5_chunks_are_written(tmp_path, codec):
    h5py = pytest.importorskip("h5py")
    for number, chunks in enumerate([(3, 4, 5), (7, 11, 13), (1, 1, 13), (20, 4, 4)]):
        path = f"{tmp_path}/{number}.h5"
        try:
            done = faro.relayout(saved(tmp_path), path + ":/g/t", axes=(1, 2, 0), chunks=chunks, codec=codec, memory=40000, verify=True)
        except faro.FaroUnsupportedError as error:
            pytest.skip(str(error))
        assert done.verified
        with h5py.File(path) as file:
            found = file["g/t"]
            np.testing.assert_array_equal(found[...], np.transpose(A, (1, 2, 0)))
            assert found.chunks == tuple(min(pair) for pair in zip(chunks, found.shape))
            assert found.shuffle == ("shuffle" in codec)
            assert found.compression == ("gzip" if "gzip" in codec else "szip" if "szip" in codec else None)
        assert faro.relayout(path, tmp_path / "k.h5").result.codec == faro.open(path)["/g/t"].codec
        turned(tmp_path / "k.h5", np.transpose(A, (1, 2, 0)), tmp_path)
        (tmp_path / "k.h5").unlink()
    with pytest.raises(faro.FaroUnsupportedError, match="zstd:3"):
        faro.relayout(saved(tmp_path), tmp_path / "o.h5", codec="zstd:3")


def test_hdf5_szip_is_read(tmp_path):
    with h5_file(tmp_path) as file:
        file.create_dataset("s", data=A, chunks=(3, 4, 6), compression="szip", shuffle=True)
        file.create_dataset("e", data=(A * 10).astype("u2"), chunks=(3, 4, 8), compression="szip", compression_opts=("ec", 8))
    turned(f"{tmp_path}/a.h5:s", A, tmp_path)
    turned(f"{tmp_path}/a.h5:e", (A * 10).astype("u2"), tmp_path)


def test_hdf5_chunks_of_fill_are_left_out(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5_file(tmp_path) as file:
        file.create_dataset("s", (64, 64), "f4", chunks=(8, 8), compression="gzip", fillvalue=-1)[:8, :8] = 5
    faro.relayout(tmp_path / "a.h5", tmp_path / "o.h5", chunks=(16, 16))
    with h5py.File(tmp_path / "o.h5") as file:
        found = file["data"]
        assert found.id.get_num_chunks() == 1 and found.fillvalue == -1
        assert (found[:8, :8] == 5).all() and (found[8:] == -1).all()


def h5_file(tmp_path, **options):
    h5py = pytest.importorskip("h5py")
    if faro.open(saved_h5(tmp_path, h5py))["/x"].refusal:
        pytest.skip("a build without HDF5")
    return h5py.File(tmp_path / "a.h5", "w", **options)


def saved_h5(tmp_path, h5py):
    with h5py.File(tmp_path / "probe.h5", "w") as file:
        file["x"] = 1
    return tmp_path / "probe.h5"


@pytest.mark.parametrize("libver", [("earliest", "v110"), ("v110", "v110")])
def test_hdf5_datasets_that_may_grow(tmp_path, libver):
    draw = random.Random(str(libver))
    arrays = {}
    with h5_file(tmp_path, libver=libver) as file:
        for number in range(30):
            shape = tuple(draw.randint(1, 12) for _ in range(draw.randint(1, 3)))
            options = {"chunks": tuple(draw.randint(1, extent) for extent in shape), "compression": draw.choice([None, "gzip"]),
                       "maxshape": tuple(draw.choice([None, extent, extent + draw.randint(0, 9)]) for extent in shape)}
            arrays[f"a{number:02}"] = values = np.random.default_rng(number).integers(0, 1000, shape).astype(draw.choice(["<u2", ">i4", ">f8"]))
            file.create_dataset(f"a{number:02}", data=values, fillvalue=values.flat[0], **options)
    for name, values in arrays.items():
        turned(f"{tmp_path}/a.h5:{name}", values.astype(values.dtype.newbyteorder("=")), tmp_path)


@pytest.mark.parametrize("before", [0, 512, 2048])
def test_hdf5_behind_a_block_of_its_user(tmp_path, before):
    with h5_file(tmp_path, userblock_size=before) as file:
        file["whole"] = A
        file.create_dataset("chunked", data=A, chunks=(3, 4, 5), compression="gzip")
    for name in ("whole", "chunked"):
        turned(f"{tmp_path}/a.h5:{name}", A, tmp_path)


def test_hdf5_enumerations_pairs_and_links(tmp_path):
    h5py = pytest.importorskip("h5py")
    numbers = np.array([0, 1, 0, 1], "i1")
    with h5_file(tmp_path) as file:
        file["flags"] = numbers == 1
        file.create_dataset("switch", data=numbers, dtype=h5py.enum_dtype({"OFF": 0, "ON": 1}, "i1"))
        file.create_dataset("colour", data=numbers.astype(">i2") * 5, dtype=h5py.enum_dtype({"RED": 0, "GREEN": 5, "BLUE": 7}, ">i2"))
        file["pairs"] = np.ones(3, [("r", "f4"), ("x", "f4")])
        file["again"] = file["flags"]
        file["soft"] = h5py.SoftLink("/flags")
    assert list(faro.open(tmp_path / "a.h5")) == ["/again", "/colour", "/flags", "/pairs", "/switch"]
    for name in ("flags", "again"):
        turned(f"{tmp_path}/a.h5:{name}", numbers == 1, tmp_path)
    turned(f"{tmp_path}/a.h5:switch", numbers, tmp_path)
    turned(f"{tmp_path}/a.h5:colour", numbers.astype("i2") * 5, tmp_path)
    assert faro.open(tmp_path / "a.h5")["/pairs"].refusal


def test_hdf5_names_with_colons(tmp_path):
    h5py = pytest.importorskip("h5py")
    faro.relayout(saved(tmp_path), f"{tmp_path}/a.h5:/g:r/a:b")
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["g:r/a:b"][...], A)
    turned(f"{tmp_path}/a.h5:/g:r/a:b", A, tmp_path)


def test_hdf5_floats_whose_bits_mean_other_numbers_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    kinds = {name: h5py.h5t.IEEE_F32LE.copy() for name in ("usual", "bias", "places", "shown")}
    kinds["bias"].set_ebias(129)  # as VAX's
    kinds["places"].set_fields(0, 24, 8, 1, 23)
    kinds["shown"].set_norm(h5py.h5t.NORM_NONE)  # the bit that IEEE's hide
    numbers = np.array([1, 2, 3.5, -4])
    with h5_file(tmp_path) as file:
        for name, kind in kinds.items():
            stored = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple(numbers.shape))
            stored.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers)
    turned(f"{tmp_path}/a.h5:usual", numbers.astype("f4"), tmp_path)
    for name in ("bias", "places", "shown"):
        with pytest.raises(faro.FaroUnsupportedError, match="another type"):
            faro.relayout(f"{tmp_path}/a.h5:{name}", tmp_path / "out.npy")


def test_hdf5_texts_that_fill(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    with h5_file(tmp_path) as file:
        file.create_dataset("s", (8,), "S3", chunks=(2,), fillvalue=b"abc")[:2] = [b"x", b"yz"]
    for form in ("zarr2", "zarr3"):
        faro.relayout(f"{tmp_path}/a.h5:s", tmp_path / form, format=form)
        assert zarr.open_array(str(tmp_path / form), mode="r")[...].tolist() == [b"x", b"yz"] + [b"abc"] * 6


def test_netcdf(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    zarr = pytest.importorskip("zarr", "3.0")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.title = "a title"
        for name, extent in zip(("time", "lat", "lon"), A.shape):
            file.createDimension(name, extent)
        lat = file.createVariable("lat", "f8", ("lat",))
        lat[:] = np.arange(11)
        lat.units = "degrees"
        t = file.createVariable("t", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(3, 4, 5))
        t[:] = A
        t.valid_range = np.array([0, 100], "f4")
        file.createGroup("g").createVariable("u", "i2", ("lon",))[:] = np.arange(13)
    assert set(faro.open(tmp_path / "a.nc")) == {"/lat", "/t", "/g/u"}
    done = faro.relayout(tmp_path / "a.nc", tmp_path / "o.zarr", codec="zstd:3", verify=True)
    assert done.left_out == ()
    group = zarr.open_group(str(tmp_path / "o.zarr"), mode="r")
    assert group.attrs["title"] == "a title" and group["lat"].attrs["units"] == "degrees"
    assert group["t"].metadata.dimension_names == ("time", "lat", "lon") and group["t"].attrs["valid_range"] == [0, 100]
    np.testing.assert_array_equal(group["t"][...], A)
    faro.relayout(tmp_path / "o.zarr", tmp_path / "b.nc")
    with netcdf.Dataset(tmp_path / "b.nc") as file:
        assert file.title == "a title" and file["t"].dimensions == ("time", "lat", "lon")
        assert set(file.dimensions) == {"time", "lat", "lon"} and file["lat"].units == "degrees"
        np.testing.assert_array_equal(file["t"][:], A)
        np.testing.assert_array_equal(file["g/u"][:], np.arange(13))
