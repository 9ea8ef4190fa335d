"""Stores beside the libraries that own their formats: what they write is read, and what faro writes they read."""

import math
import os
import random
import shutil

import numpy as np
import pytest

import faro

A = (np.random.default_rng(0).random((7, 11, 13)) * 100).astype("f4")


def turned(path, want, tmp_path, axes=None, **options):
    """What is read is what is wanted, turned, by way of .npy."""
    out = tmp_path / "out.npy"
    axes = axes or tuple(random.Random(str(path)).sample(range(want.ndim), want.ndim))
    done = faro.relayout(path, out, axes=axes, memory=20000, verify=True, **options)
    assert done.finished and done.verified and done.memory_bytes <= 20000
    np.testing.assert_array_equal(np.load(out), np.transpose(want, axes))


def saved(tmp_path, array=A):
    np.save(tmp_path / "in.npy", array)
    return tmp_path / "in.npy"


def test_npy_and_npz(tmp_path):
    turned(saved(tmp_path), A, tmp_path)
    turned(saved(tmp_path, np.asfortranarray(A.astype(">f8"))), A.astype("f8"), tmp_path)
    turned(saved(tmp_path, np.float32(3)), np.float32(3), tmp_path)
    turned(saved(tmp_path, np.zeros((3, 0, 2))), np.zeros((3, 0, 2)), tmp_path)
    np.savez(tmp_path / "a.npz", x=A, y=A.astype("i2"))
    turned(f"{tmp_path}/a.npz:y", A.astype("i2"), tmp_path)
    assert list(faro.open(tmp_path / "a.npz")) == ["x", "y"]
    np.savez_compressed(tmp_path / "c.npz", x=A)
    with pytest.raises(faro.FaroUnsupportedError, match="savez instead"):
        faro.relayout(tmp_path / "c.npz", tmp_path / "o.npy")


def test_options_are_checked(tmp_path):
    path = saved(tmp_path)
    for options in ({"axes": (0, 0, 1)}, {"chunks": (1, 2)}, {"order": "K"}, {"codec": "zip"}, {"axes": (0, 1, 2), "map": "flip"},
                    {"memory": 0}):
        with pytest.raises(faro.FaroError):
            faro.relayout(path, tmp_path / "o.zarr", **options)
    assert os.listdir(tmp_path) == ["in.npy"]


def test_byte_orders_that_are_asked_for(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    path = saved(tmp_path)
    for number, dtype in enumerate((">f4", ">f8", np.dtype(">i2"), "<f4", "f4")):
        wanted = np.dtype(dtype)
        faro.relayout(path, tmp_path / f"{number}.npy", dtype=dtype)
        got = np.load(tmp_path / f"{number}.npy")
        assert got.dtype.str == wanted.str and np.array_equal(got, A.astype(wanted))
        faro.relayout(path, tmp_path / f"{number}.zarr", dtype=dtype)
        np.testing.assert_array_equal(zarr.open_array(str(tmp_path / f"{number}.zarr"), mode="r")[...], A.astype(wanted))


def test_progress_and_what_it_raises(tmp_path):
    path = saved(tmp_path, np.ones((64, 64, 64)))
    seen = []
    faro.relayout(path, tmp_path / "a.zarr", chunks=(8, 8, 8), progress=lambda done, total: seen.append((done, total)))
    assert seen and all(0 < done <= total for done, total in seen)

    def fails(done, total):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        faro.relayout(path, tmp_path / "b.zarr", chunks=(8, 8, 8), progress=fails)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "in.npy"]


def test_resume(tmp_path):
    path = saved(tmp_path, np.ones((64, 64, 64)))

    def ends(done, total):
        if done > total / 2:
            raise KeyError("enough")

    options = {"axes": (2, 0, 1), "chunks": (8, 8, 8), "memory": 200000, "resume": True, "threads": 1}
    with pytest.raises(KeyError):
        faro.relayout(path, tmp_path / "a.zarr", progress=ends, **options)
    assert not (tmp_path / "a.zarr").exists()
    assert faro.relayout(path, tmp_path / "a.zarr", verify=True, **options).resumed_regions >= 0
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "in.npy"]


@pytest.mark.parametrize("to", ["f2", "i2", "u1", "f8"])
def test_converted_numbers_are_verified(tmp_path, to):
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e30, -7.5, 3.5, 200.0, 70000.0] * 20, "f4").reshape(9, 20)
    done = faro.relayout(saved(tmp_path, values), tmp_path / "o.zarr", axes=(1, 0), dtype=to, chunks=(3, 4), memory=3000, verify=True)
    assert done.verified


def test_maps_of_all_elements(tmp_path):
    path = saved(tmp_path)
    faro.relayout(path, tmp_path / "a.zarr", chunks=(3, 4, 5), map="roll(5)", memory=30000)
    faro.relayout(tmp_path / "a.zarr", tmp_path / "o.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), np.roll(A.ravel(), 5).reshape(A.shape))


@pytest.mark.parametrize("shape,map", [((), "flip(0)"), ((0, 5), "flip(1)")])
def test_maps_of_other_counts(tmp_path, shape, map):
    with pytest.raises(faro.FaroValueError, match="a map of"):
        faro.relayout(saved(tmp_path, np.zeros(shape)), tmp_path / "o.npy", map=map, dtype="f4")


def test_explain_writes_nothing(tmp_path):
    told = faro.relayout(saved(tmp_path), tmp_path / "a.zarr", chunks=(3, 4, 5), explain=True)
    assert not told.finished and told.result.chunks == (3, 4, 5) and os.listdir(tmp_path) == ["in.npy"]


def test_safetensors(tmp_path):
    st = pytest.importorskip("safetensors.numpy")
    st.save_file({"w": A, "b": A[0].astype("f8"), "e": np.zeros((0, 3), "f4")}, tmp_path / "a.safetensors", {"format": "pt"})
    turned(f"{tmp_path}/a.safetensors:w", A, tmp_path)
    turned(f"{tmp_path}/a.safetensors:b", A[0].astype("f8"), tmp_path)
    turned(f"{tmp_path}/a.safetensors:e", np.zeros((0, 3), "f4"), tmp_path)
    faro.relayout(saved(tmp_path), f"{tmp_path}/o.safetensors:x", axes=(2, 0, 1), dtype=np.float16)
    np.testing.assert_array_equal(st.load_file(tmp_path / "o.safetensors")["x"], np.transpose(A, (2, 0, 1)).astype("f2"))


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


def test_hdf5_texts_that_fill(tmp_path):
    zarr = pytest.importorskip("zarr", "3.0")
    with h5_file(tmp_path) as file:
        file.create_dataset("s", (8,), "S3", chunks=(2,), fillvalue=b"abc")[:2] = [b"x", b"yz"]
    for form in ("zarr2", "zarr3"):
        faro.relayout(f"{tmp_path}/a.h5:s", tmp_path / form, format=form)
        assert zarr.open_array(str(tmp_path / form), mode="r")[...].tolist() == [b"x", b"yz"] + [b"abc"] * 6


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "i4", "u2"])
def test_tiff(tmp_path, dtype):
    tifffile = pytest.importorskip("tifffile")
    path = tmp_path / "a.tif"
    stack = A.astype(dtype)
    plane = stack.reshape(77, 13)
    for options in ({}, {"bigtiff": True}, {"byteorder": ">"}, {"contiguous": False}):
        tifffile.imwrite(path, stack, **options)
        turned(path, stack, tmp_path)
    for options in ({"rowsperstrip": 8}, {"tile": (16, 32)}):
        tifffile.imwrite(path, plane, **options)
        turned(path, plane, tmp_path)
    with tifffile.TiffWriter(path) as pages:
        for page in stack:
            pages.write(page, contiguous=False, metadata=None, rowsperstrip=4)
    turned(path, stack, tmp_path)
    tifffile.imwrite(path, plane, compression="zlib")
    with pytest.raises(faro.FaroUnsupportedError, match="compression"):
        faro.relayout(path, tmp_path / "o.npy")


def test_tiff_samples(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    pixels = (np.random.default_rng(1).random((50, 70, 3)) * 200).astype("u1")
    for options in ({}, {"tile": (16, 16)}, {"rowsperstrip": 7}):
        tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb", **options)
        turned(tmp_path / "a.tif", pixels, tmp_path)
    planes = np.moveaxis(pixels, 2, 0).copy()
    tifffile.imwrite(tmp_path / "a.tif", planes, photometric="rgb", planarconfig="separate", tile=(16, 16))
    turned(tmp_path / "a.tif", planes, tmp_path)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "i4", "u2", "c8"])
def test_nifti(tmp_path, dtype):
    nibabel = pytest.importorskip("nibabel")
    for image in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        nibabel.save(image(A.astype(dtype), np.eye(4)), tmp_path / "a.nii")
        turned(tmp_path / "a.nii", A.astype(dtype), tmp_path)
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(dtype)
    nibabel.save(nibabel.Nifti1Image(A.astype(dtype), np.eye(4), header), tmp_path / "a.nii")
    turned(tmp_path / "a.nii", A.astype(dtype), tmp_path)


def test_nifti_keeps_its_scale(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image):
        image = kind(A.astype("i2"), np.eye(4))
        image.header.set_slope_inter(0.5, -3)
        nibabel.save(image, tmp_path / "a.nii")
        assert {"scl_slope": 0.5, "scl_inter": -3}.items() <= faro.open(tmp_path / "a.nii")[""].attributes.items()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("form", ["s", "q"])
def test_nifti_keeps_where_voxels_are(tmp_path, version, form):
    nibabel = pytest.importorskip("nibabel")
    affine = np.array([[2, 0.1, 0.2, -9], [0.3, 3, 0.1, 5], [-0.1, 0.2, 4, 7], [0, 0, 0, 1]])
    if form == "q":
        affine = np.array([[0, -2.0, 0, 1], [3, 0, 0, 2], [0, 0, -4, 3], [0, 0, 0, 1]])
    data = np.stack([A, A + 1], axis=3)
    image = (nibabel.Nifti1Image, nibabel.Nifti2Image)[version - 1](data, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["pixdim"][4] = 2.5
    image.header["descrip"] = b"told"
    if form == "q":
        image.set_sform(None, 0)
        image.set_qform(affine, 1)
    nibabel.save(image, tmp_path / "a.nii")
    place = nibabel.load(tmp_path / "a.nii").affine @ [3, 4, 5, 1]

    def same(path, index):
        found = nibabel.load(path)
        np.testing.assert_allclose(found.affine @ [*index, 1], place, atol=1e-4)
        assert found.header.get_xyzt_units() == ("mm", "sec") and found.header["descrip"] == b"told"
        assert found.header.get_zooms()[3] == 2.5

    assert faro.relayout(tmp_path / "a.nii", tmp_path / "b.nii", axes=(2, 0, 1, 3)).left_out == ()
    same(tmp_path / "b.nii", (5, 3, 4))
    faro.relayout(tmp_path / "b.nii", tmp_path / "c.zarr", axes=(1, 0, 2, 3))  # by way of others that have attributes
    faro.relayout(tmp_path / "c.zarr", tmp_path / "c.h5")
    faro.relayout(tmp_path / "c.h5", tmp_path / "c.nii")
    same(tmp_path / "c.nii", (3, 5, 4))
    faro.relayout(tmp_path / "a.nii", tmp_path / "d.nii", map=f"flip({data.size})")
    found = nibabel.load(tmp_path / "d.nii")
    np.testing.assert_allclose(found.affine @ [7 - 1 - 3, 11 - 1 - 4, 13 - 1 - 5, 1], place, atol=1e-4)
    np.testing.assert_array_equal(np.asanyarray(found.dataobj), data[::-1, ::-1, ::-1, ::-1])
    for out, axes in (("e.nii", (3, 0, 1, 2)), ("e.npy", None), ("e.tif", None), ("e.safetensors", None)):
        assert any("nifti_affine" in each for each in faro.relayout(tmp_path / "a.nii", tmp_path / out, axes=axes).left_out)
    assert nibabel.load(tmp_path / "e.nii").header["sform_code"] == 0


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1", "c8", "i8"])
def test_nifti_is_written(tmp_path, dtype):
    nibabel = pytest.importorskip("nibabel")
    path = saved(tmp_path, A.astype(dtype))
    faro.relayout(path, tmp_path / "o.nii", axes=(2, 0, 1), verify=True)
    image = nibabel.load(tmp_path / "o.nii")
    assert isinstance(image, nibabel.Nifti1Image) and image.get_data_dtype() == np.dtype(dtype)
    np.testing.assert_array_equal(np.asanyarray(image.dataobj), np.transpose(A.astype(dtype), (2, 0, 1)))
    long = np.arange(2 * 40000).reshape(2, 40000).astype(dtype)
    np.save(tmp_path / "long.npy", long)
    faro.relayout(tmp_path / "long.npy", tmp_path / "l.nii", axes=(1, 0))
    image = nibabel.load(tmp_path / "l.nii")
    assert isinstance(image, nibabel.Nifti2Image)
    np.testing.assert_array_equal(np.asanyarray(image.dataobj), long.T)
    turned(tmp_path / "l.nii", long.T, tmp_path)


def test_nifti_is_written_with_its_scale(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(A.astype("i2"), np.eye(4))
    image.header.set_slope_inter(0.5, 3)
    nibabel.save(image, tmp_path / "a.nii")
    want = nibabel.load(tmp_path / "a.nii").get_fdata()
    faro.relayout(tmp_path / "a.nii", tmp_path / "o.nii", axes=(1, 2, 0))
    np.testing.assert_array_equal(nibabel.load(tmp_path / "o.nii").get_fdata(), np.transpose(want, (1, 2, 0)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "c8", "b1"])
def test_npz_is_written(tmp_path, dtype):
    faro.relayout(saved(tmp_path, A.astype(dtype)), f"{tmp_path}/o.npz:x", axes=(2, 0, 1))
    with np.load(tmp_path / "o.npz") as file:  # which checks the checksums
        assert list(file) == ["x"]
        np.testing.assert_array_equal(file["x"], np.transpose(A.astype(dtype), (2, 0, 1)))
    turned(f"{tmp_path}/o.npz:x", np.transpose(A.astype(dtype), (2, 0, 1)), tmp_path)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "i4", "u2", "f2", "c8"])
@pytest.mark.parametrize("shape", [(7, 50, 70), (50, 70), (3, 2, 50, 70), (70,), ()])
def test_tiff_is_written(tmp_path, dtype, shape):
    tifffile = pytest.importorskip("tifffile")
    array = (np.random.default_rng(3).random(shape) * 100).astype(dtype)
    path = saved(tmp_path, array)
    faro.relayout(path, tmp_path / "o.tif", axes=tuple(range(array.ndim))[::-1], verify=True)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "o.tif").reshape(array.T.shape), array.T)
    if array.ndim < 2:
        return
    tile = (1,) * (array.ndim - 2) + (32, 16)
    faro.relayout(path, tmp_path / "t.tif", chunks=tile, verify=True, memory=30000)
    with tifffile.TiffFile(tmp_path / "t.tif") as file:
        assert file.pages[0].is_tiled and file.pages[0].tile == (32, 16)
        np.testing.assert_array_equal(file.asarray(), array)
    if array.ndim < 4:
        turned(tmp_path / "t.tif", array, tmp_path)
    for wrong in ((1,) * (array.ndim - 2) + (32, 10), (32,) * (array.ndim - 1)):
        with pytest.raises(faro.FaroValueError):
            faro.relayout(path, tmp_path / "w.tif", chunks=wrong)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i2", "u1", "i4", "u8"])
def test_arrow_tensors(tmp_path, dtype):
    pyarrow = pytest.importorskip("pyarrow")
    array = A.astype(dtype)
    for given in (array, np.asfortranarray(array), array[0, 0, :1]):
        with pyarrow.OSFile(f"{tmp_path}/a.arrow", "wb") as file:
            pyarrow.ipc.write_tensor(pyarrow.Tensor.from_numpy(given, [f"d{axis}" for axis in range(given.ndim)]), file)
        turned(tmp_path / "a.arrow", given, tmp_path)
    assert faro.open(tmp_path / "a.arrow")[""].dimensions == ("d0",)
    for order in "CF":
        faro.relayout(saved(tmp_path, array), tmp_path / "o.arrow", axes=(2, 0, 1), order=order, verify=True)
        with pyarrow.OSFile(f"{tmp_path}/o.arrow", "rb") as file:
            tensor = pyarrow.ipc.read_tensor(file)
        np.testing.assert_array_equal(tensor.to_numpy(), np.transpose(array, (2, 0, 1)))
        assert tensor.strides[-1 if order == "C" else 0] == array.itemsize
    faro.relayout(tmp_path / "a.arrow", tmp_path / "n.arrow")
    with pyarrow.OSFile(f"{tmp_path}/n.arrow", "rb") as file:
        assert pyarrow.ipc.read_tensor(file).dim_names == ["d0"]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "i4", "i8"])
def test_fits(tmp_path, dtype):
    fits = pytest.importorskip("astropy.io.fits")
    science = fits.ImageHDU(A.astype(dtype), name="SCI")
    fits.HDUList([fits.PrimaryHDU(), science, fits.ImageHDU(A[0], name="ERR")]).writeto(tmp_path / "a.fits")
    turned(f"{tmp_path}/a.fits:SCI", A.astype(dtype), tmp_path)
    turned(f"{tmp_path}/a.fits:ERR", A[0], tmp_path)
    faro.relayout(saved(tmp_path, A.astype(dtype)), tmp_path / "o.fits", axes=(1, 2, 0))
    with fits.open(tmp_path / "o.fits") as file:
        file.verify("exception")
        np.testing.assert_array_equal(file[0].data, np.transpose(A.astype(dtype), (1, 2, 0)))


def test_fits_keeps_unsigned_numbers(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    fits.PrimaryHDU(A.astype("u2")).writeto(tmp_path / "a.fits")
    assert faro.open(tmp_path / "a.fits")["0"].attributes == {"BSCALE": 1, "BZERO": 32768}
    faro.relayout(tmp_path / "a.fits", tmp_path / "o.fits", axes=(2, 1, 0))
    np.testing.assert_array_equal(fits.getdata(tmp_path / "o.fits"), A.astype("u2").T)


def test_fits_cards_are_whole_or_left_out(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    zarr = pytest.importorskip("zarr", "3.0")
    first = fits.PrimaryHDU(A)
    first.header.update({"OBJECT": "O'Neil's 'A'", "BUNIT": "Jy", "BSCALE": 1e-30})
    fits.HDUList([first, *(fits.ImageHDU(A + number, name="SCI") for number in (1, 2))]).writeto(tmp_path / "a.fits")
    assert list(faro.open(tmp_path / "a.fits")) == ["0", "SCI", "2"]
    faro.relayout(f"{tmp_path}/a.fits:0", tmp_path / "b.zarr")
    assert dict(zarr.open_array(str(tmp_path / "b.zarr")).attrs) == {"OBJECT": "O'Neil's 'A'", "BUNIT": "Jy", "BSCALE": 1e-30}
    faro.relayout(tmp_path / "b.zarr", tmp_path / "c.fits")
    with fits.open(tmp_path / "c.fits") as file:
        file.verify("exception")
        assert [file[0].header[key] for key in ("OBJECT", "BUNIT", "BSCALE")] == ["O'Neil's 'A'", "Jy", 1e-30]
    zarr.open_array(str(tmp_path / "b.zarr")).attrs.put({"OBJECT": "Größe", "BUNIT": "x" * 69, "BSCALE": [1], "BZERO": None})
    faro.relayout(tmp_path / "b.zarr", tmp_path / "d.fits")
    with fits.open(tmp_path / "d.fits") as file:
        file.verify("exception")
        assert not {"OBJECT", "BUNIT", "BSCALE", "BZERO"} & set(file[0].header)
    with pytest.raises(faro.FaroUnsupportedError, match="an array without axes"):
        faro.relayout(saved(tmp_path, np.float32(3)), tmp_path / "e.fits")


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


def test_gguf(tmp_path):
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    writer.add_array("tokens", ["a", "b", "cc"])
    writer.add_tensor("w", A)
    writer.add_tensor("q", np.zeros((2, 34), "u1"), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    turned(f"{tmp_path}/a.gguf:w", A, tmp_path)
    with pytest.raises(faro.FaroUnsupportedError, match="quantised"):
        faro.relayout(f"{tmp_path}/a.gguf:q", tmp_path / "o.npy")


@pytest.mark.parametrize("alignment", [None, 64, 256])
def test_gguf_is_written(tmp_path, alignment):
    gguf = pytest.importorskip("gguf")
    tensors = {"w": A, "b": A[0].astype("f2"), "i": np.arange(5, dtype="i4"), "d": A.astype("f8")[:3], "l": np.arange(3)}
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_array("tokens", ["a", "bä", "cc"])
    for name, value in (("int8", -3), ("float32", 0.1), ("float64", 1e-300), ("bool", True), ("uint64", 2**60)):
        getattr(writer, f"add_{name}")(f"x.{name}", value)
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    def same(path):
        read = gguf.GGUFReader(path)
        assert {tensor.name for tensor in read.tensors} == set(tensors)
        for tensor in read.tensors:
            np.testing.assert_array_equal(np.asarray(tensor.data), tensors[tensor.name])
            assert list(tensor.shape) == list(tensors[tensor.name].shape)[::-1] and tensor.data_offset % read.alignment == 0
        return read

    faro.relayout(tmp_path / "a.gguf", tmp_path / "b.gguf", verify=True)
    same(tmp_path / "b.gguf")
    assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()
    # Other formats keep what they can of the keys, and give it back.
    faro.relayout(tmp_path / "a.gguf", tmp_path / "c.zarr")
    faro.relayout(tmp_path / "c.zarr", tmp_path / "c.gguf")
    fields = same(tmp_path / "c.gguf").fields
    assert [fields[f"x.{name}"].contents() for name in ("int8", "float32", "float64", "bool", "uint64")] == [
        -3, float(np.float32(0.1)), 1e-300, True, 2**60]
    assert fields["tokens"].contents() == ["a", "bä", "cc"]
    done = faro.relayout(tmp_path / "a.gguf", tmp_path / "d.safetensors")
    assert any("x.float32" in each for each in done.left_out)
    faro.relayout(tmp_path / "d.safetensors", tmp_path / "d.gguf")
    assert same(tmp_path / "d.gguf").fields["general.architecture"].contents() == "llama"
    faro.relayout(f"{tmp_path}/a.gguf:w", f"{tmp_path}/w.gguf:v", axes=(2, 0, 1), dtype="bfloat16")
    tensor = gguf.GGUFReader(tmp_path / "w.gguf").tensors[0]
    assert tensor.name == "v" and tensor.tensor_type == gguf.GGMLQuantizationType.BF16 and list(tensor.shape) == [11, 7, 13]
    for array, name in ((np.zeros((1, 2, 3, 4, 5), "f4"), "n"), (A, "n" * 64), (A.astype("u2"), "n")):
        with pytest.raises(faro.FaroUnsupportedError):
            faro.relayout(saved(tmp_path, array), f"{tmp_path}/o.gguf:{name}")


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
        options["shards"] = [extent * draw.randint(1, 3) for extent in chunks]
    faro.relayout(saved(tmp_path), tmp_path / "a.zarr", axes=axes, chunks=chunks, memory=30000, **options)
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


def test_arrays_of_other_libraries(tmp_path):
    """From their files where those are here, else by themselves."""
    zarr = pytest.importorskip("zarr", "3.0")
    h5py = pytest.importorskip("h5py")
    wanted = np.transpose(A, (2, 0, 1))

    def relaid(source, **options):
        done = faro.relayout(source, tmp_path / "o.npy", axes=(2, 0, 1), memory=20000, verify=True, **options)
        np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), wanted)
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".faro-")]
        return done

    local = zarr.create_array(str(tmp_path / "a.zarr"), data=A, chunks=(3, 4, 5))
    assert relaid(local).source.format == "Zarr v3"
    remote = zarr.create_array(zarr.storage.MemoryStore(), data=A, chunks=(3, 4, 5), attributes={"a": 1})
    done = relaid(remote)
    assert done.source.format != "Zarr v3" and done.left_out == ("attributes",)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        written = file.create_dataset("g/t", data=A, chunks=(3, 4, 5))
        assert relaid(written).source.format != "HDF5"  # which may not be on the disk yet
    with h5py.File(tmp_path / "a.h5") as file:
        try:
            assert relaid(file["g/t"]).source.format == "HDF5"
        except faro.FaroUnsupportedError as error:
            assert "HDF5" in str(error)
    relaid(A)
    tensorstore = pytest.importorskip("tensorstore")
    read = tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{tmp_path}/a.zarr"}}).result()
    relaid(read)
    relaid(tensorstore.array(A))
    told = faro.relayout(remote, tmp_path / "x.zarr", chunks=(2, 2, 2), explain=True)
    assert not told.finished and told.source.shape == A.shape
    with pytest.raises(faro.FaroValueError, match="resume"):
        faro.relayout(remote, tmp_path / "x.zarr", resume=True)
    with pytest.raises(faro.FaroTypeError):
        faro.relayout(3, tmp_path / "x.zarr")


def test_a_bar_is_moved_on(tmp_path):
    tqdm = pytest.importorskip("tqdm")
    path = saved(tmp_path, np.ones((64, 64, 64)))

    class Bar(tqdm.tqdm):
        made = []

        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options, file=open(os.devnull, "w"))
            self.made.append(self)

    with Bar(total=1, unit="B") as bar:
        done = faro.relayout(path, tmp_path / "a.zarr", chunks=(8, 8, 8), progress=bar)
        assert bar.n == bar.total == done.read_bytes + done.written_bytes
    faro.relayout(path, tmp_path / "b.zarr", progress=Bar)
    assert Bar.made[-1].disable is True or Bar.made[-1].n == Bar.made[-1].total > 0


SEVERAL = {"x": A, "y": A.astype("i2")[:, :, 0], "b": A > 50, "e": np.zeros((0, 3), "f4"), "s": np.float64(3.5)}


def same(arrays):
    assert set(arrays) == set(SEVERAL)
    for name, array in SEVERAL.items():
        got = np.asarray(arrays[name])
        assert got.dtype == array.dtype and got.shape == array.shape
        np.testing.assert_array_equal(got, array)


def test_whole_stores(tmp_path):
    """Each format of several arrays from each, and back."""
    zarr = pytest.importorskip("zarr", "3.0")
    h5py = pytest.importorskip("h5py")
    st = pytest.importorskip("safetensors.numpy")
    np.savez(tmp_path / "in.npz", **SEVERAL)

    def opened(path):
        if path.suffix == ".npz":
            return dict(np.load(path))
        if path.suffix == ".safetensors":
            return st.load_file(path)
        if path.suffix == ".h5":
            with h5py.File(path) as file:
                return {name: file[name][()] for name in file}
        group = zarr.open_group(str(path), mode="r")
        return {name: group[name][...] for name in group.array_keys()}

    names = ["a.zarr", "b.h5", "c.safetensors", "d.npz"]
    for name in names:
        done = faro.relayout(tmp_path / "in.npz", tmp_path / name, verify=True, memory=40000)
        assert done.arrays == 5 and done.finished and done.verified
        same(opened(tmp_path / name))
    for first in names:
        for second in names:
            out = tmp_path / ("o-" + second)
            faro.relayout(tmp_path / first, out, resume=second < "c")
            same(opened(out))
            assert not [name for name in os.listdir(tmp_path) if name.startswith(".faro-")]
            shutil.rmtree(out) if out.is_dir() else out.unlink()
    with pytest.raises(faro.FaroValueError, match="5 arrays"):
        faro.relayout(tmp_path / "in.npz", tmp_path / "o.npy")
    with pytest.raises(faro.FaroUnsupportedError, match="within an array"):
        np.savez(tmp_path / "w.npz", **{"a": A, "a/b": A})
        faro.relayout(tmp_path / "w.npz", tmp_path / "o.zarr")
    with pytest.raises(faro.FaroUnsupportedError, match="names of their own"):
        np.savez(tmp_path / "w.npz", **{"a": A, "../b": A})
        faro.relayout(tmp_path / "w.npz", tmp_path / "o.zarr")


def test_whole_stores_are_resumed(tmp_path):
    np.savez(tmp_path / "in.npz", **{f"a{k}": np.full((64, 64, 64), k, "f8") for k in range(6)})
    for out in ("o.zarr", "o.h5", "o.npz"):
        seen = 0
        for end in (0.3, 0.6, 2):

            def ends(done, total):
                nonlocal seen
                seen = max(seen, done)
                if done > end * total:
                    raise KeyError("enough")

            try:
                faro.relayout(tmp_path / "in.npz", tmp_path / out, memory=16 << 20, progress=ends, resume=True)
            except KeyError:
                assert not (tmp_path / out).exists()
        arrays = faro.open(tmp_path / out)
        assert len(arrays) == 6 and sorted(os.listdir(tmp_path))[0] == "in.npz"
        for name in arrays:
            faro.relayout(f"{tmp_path}/{out}:{name}", tmp_path / "x.npy")
            assert (np.load(tmp_path / "x.npy") == int(name[-1])).all()
        (tmp_path / "x.npy").unlink()
        os.rename(tmp_path / out, tmp_path / ("z" + out))


@pytest.mark.parametrize("version", [2, 3])
def test_groups_attributes_and_dimensions(tmp_path, version):
    zarr = pytest.importorskip("zarr", "3.0")
    h5py = pytest.importorskip("h5py")
    attributes = {"text": "grün", "number": 7, "float": 0.5, "yes": True, "list": [1, 2, 3], "floats": [1.5, 2], "texts": ["a", "bc"]}
    group = zarr.open_group(str(tmp_path / "in.zarr"), mode="w", zarr_format=version, attributes={**attributes, "deep": {"a": [1]}})
    inner = group.create_group("g", attributes={"of": "g"})

    def add(to, name, array, dims):
        options = {"dimension_names": dims} if version == 3 else {}
        made = to.create_array(name, shape=array.shape, chunks=tuple(max(1, extent // 2) for extent in array.shape), dtype=array.dtype, **options)
        made[...] = array
        made.attrs.update({**attributes, **({"_ARRAY_DIMENSIONS": dims} if version == 2 else {})})

    add(group, "t", A, ["time", "lat", "lon"])
    add(group, "lat", np.arange(11.0), ["lat"])
    add(inner, "u", A[0], ["lat", "lon"])
    done = faro.relayout(tmp_path / "in.zarr", tmp_path / "o.h5")
    assert done.arrays == 3 and done.left_out == ("attribute `deep` of `/`",)
    with h5py.File(tmp_path / "o.h5") as file:
        np.testing.assert_array_equal(file["t"][...], A)
        np.testing.assert_array_equal(file["g/u"][...], A[0])
        assert file["g"].attrs["of"] == "g" and file.attrs["text"] == "grün"
        for name, value in attributes.items():
            np.testing.assert_array_equal(file["t"].attrs[name], value)
        assert [dim[0].name for dim in file["t"].dims] == ["/time", "/lat", "/lon"]
        assert file["g/u"].dims[0][0].name == "/lat"
    faro.relayout(tmp_path / "o.h5", tmp_path / "back.zarr", format=f"zarr{version}")
    back = zarr.open_group(str(tmp_path / "back.zarr"), mode="r")
    assert dict(back.attrs) == attributes and dict(back["g"].attrs) == {"of": "g"}
    np.testing.assert_array_equal(back["t"][...], A)
    np.testing.assert_array_equal(back["g/u"][...], A[0])
    assert faro.open(tmp_path / "back.zarr")["t"].dimensions == ("time", "lat", "lon")
    assert {key: value for key, value in back["t"].attrs.items() if key != "_ARRAY_DIMENSIONS"} == attributes


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
