"""Stores laid out anew: what is asked for, told, resumed and refused, whatever the format."""

import os
import shutil

import numpy as np
import pytest
from stores_calls import A, saved

import faro


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


@pytest.mark.parametrize("out", ["o.zarr", "o.h5", "o.npz"])
def test_whole_stores_are_resumed(tmp_path, out):
    np.savez(tmp_path / "in.npz", **{f"a{k}": np.full((64, 64, 64), k, "f8") for k in range(6)})
    for end in (0.3, 0.6, 2):

        def ends(done, total):
            if done > end * total:
                raise KeyError("enough")

        try:
            faro.relayout(tmp_path / "in.npz", tmp_path / out, memory=16 << 20, progress=ends, resume=True)
        except KeyError:
            assert not (tmp_path / out).exists()
        except faro.FaroUnsupportedError as refused:
            assert out == "o.h5" and "HDF5" in str(refused)
            pytest.skip(str(refused))
    arrays = faro.open(tmp_path / out)
    assert len(arrays) == 6 and sorted(os.listdir(tmp_path))[0] == "in.npz"
    for name in arrays:
        faro.relayout(f"{tmp_path}/{out}:{name}", tmp_path / "x.npy")
        assert (np.load(tmp_path / "x.npy") == int(name[-1])).all()


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
