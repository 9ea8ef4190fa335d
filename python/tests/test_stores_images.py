"""TIFF, NIfTI and FITS beside tifffile, nibabel and astropy: what they write is read, and what faro writes they read."""

import numpy as np
import pytest
from stores_calls import A, saved, turned

import faro


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


@pytest.mark.parametrize("shape", [(3, 4, 20, 33), (2, 1, 5, 13), (1, 3, 5), (20, 20, 1), (3, 3, 13, 2), (2, 2, 1, 1, 40), (3, 1, 1)])
def test_tiff_keeps_the_shape_of_tifffile(tmp_path, shape):
    tifffile = pytest.importorskip("tifffile")
    array = (np.random.default_rng(5).random(shape) * 200).astype("u2")
    for options in ({}, {"tile": (16, 32)}, {"rowsperstrip": 1}, {"rowsperstrip": 3}):
        tifffile.imwrite(tmp_path / "a.tif", array, photometric="minisblack", **options)
        assert faro.open(tmp_path / "a.tif")[""].shape == shape
        turned(tmp_path / "a.tif", array, tmp_path)
    # Planes and pixels of three samples, on pages of two axes.
    tifffile.imwrite(tmp_path / "a.tif", np.stack([array] * 3, -1), photometric="rgb", planarconfig="contig", tile=(16, 32))
    turned(tmp_path / "a.tif", np.stack([array] * 3, -1), tmp_path)


def test_tiff_pages_that_stand_for_stacks(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    path, stack = tmp_path / "a.tif", (np.random.default_rng(6).random((2, 5, 20, 33)) * 200).astype("u2")
    tifffile.imwrite(path, stack, photometric="minisblack", truncate=True)
    assert faro.open(path)[""].shape == stack.shape
    turned(path, stack, tmp_path)
    tifffile.imwrite(path, stack, imagej=True, truncate=True)
    turned(path, stack.reshape(10, 20, 33), tmp_path)
    # What is not in the file is no image of it.
    path.write_bytes(path.read_bytes()[: -stack[0].nbytes])
    assert faro.open(path)[""].shape == (20, 33)
    tifffile.imwrite(path, stack, photometric="minisblack", volumetric=True, tile=(5, 16, 16))
    with pytest.raises(faro.FaroUnsupportedError, match="pages that are deep"):
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
    turned(tmp_path / "t.tif", array, tmp_path)
    for wrong in ((1,) * (array.ndim - 2) + (32, 10), (32,) * (array.ndim - 1)):
        with pytest.raises(faro.FaroValueError):
            faro.relayout(path, tmp_path / "w.tif", chunks=wrong)


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


def test_fits_keeps_undefined_pixels(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    whole = A.astype("i2")
    image = fits.PrimaryHDU(whole)
    image.header.update({"BLANK": int(whole[0, 0, 0]), "BZERO": 0.5})
    image.writeto(tmp_path / "a.fits")
    # A sign, which FITS allows and JSON does not.
    (tmp_path / "a.fits").write_bytes((tmp_path / "a.fits").read_bytes().replace(b" 0.5", b"+0.5"))
    assert faro.open(tmp_path / "a.fits")["0"].attributes == {"BLANK": whole[0, 0, 0], "BZERO": 0.5}
    faro.relayout(tmp_path / "a.fits", tmp_path / "o.fits", axes=(2, 1, 0))
    np.testing.assert_array_equal(fits.getdata(tmp_path / "o.fits"), np.where(whole == whole[0, 0, 0], np.nan, whole + 0.5).T)
    faro.relayout(tmp_path / "a.fits", tmp_path / "f.fits", dtype="float32")
    assert "BLANK" not in fits.getheader(tmp_path / "f.fits")


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
