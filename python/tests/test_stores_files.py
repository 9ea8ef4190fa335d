""".npy, .npz, safetensors, GGUF and Arrow tensors beside their libraries: what they write is read, and what faro writes they read."""

import numpy as np
import pytest
from stores_calls import A, saved, turned

import faro


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


def test_safetensors(tmp_path):
    st = pytest.importorskip("safetensors.numpy")
    st.save_file({"w": A, "b": A[0].astype("f8"), "e": np.zeros((0, 3), "f4")}, tmp_path / "a.safetensors", {"format": "pt"})
    turned(f"{tmp_path}/a.safetensors:w", A, tmp_path)
    turned(f"{tmp_path}/a.safetensors:b", A[0].astype("f8"), tmp_path)
    turned(f"{tmp_path}/a.safetensors:e", np.zeros((0, 3), "f4"), tmp_path)
    faro.relayout(saved(tmp_path), f"{tmp_path}/o.safetensors:x", axes=(2, 0, 1), dtype=np.float16)
    np.testing.assert_array_equal(st.load_file(tmp_path / "o.safetensors")["x"], np.transpose(A, (2, 0, 1)).astype("f2"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "c8", "b1"])
def test_npz_is_written(tmp_path, dtype):
    faro.relayout(saved(tmp_path, A.astype(dtype)), f"{tmp_path}/o.npz:x", axes=(2, 0, 1))
    with np.load(tmp_path / "o.npz") as file:  # which checks the checksums
        assert list(file) == ["x"]
        np.testing.assert_array_equal(file["x"], np.transpose(A.astype(dtype), (2, 0, 1)))
    turned(f"{tmp_path}/o.npz:x", np.transpose(A.astype(dtype), (2, 0, 1)), tmp_path)


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
