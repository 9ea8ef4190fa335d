"""Elements smaller than a byte, against NumPy's own bits."""

import numpy as np
import pytest

import faro


def unpacked(x, bits, order="low"):
    """The elements of an array of bytes, one a byte."""
    each = np.unpackbits(x.view("u1").ravel(), bitorder="little").reshape(-1, 8 // bits, bits)
    values = (each << np.arange(bits, dtype="u1")).sum(axis=2, dtype="u1")
    return (values if order == "low" else values[:, ::-1]).ravel()


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("order", ["low", "high"])
def test_axes_of_any_extents(bits, order):
    rng = np.random.default_rng(bits)
    for shape in [(8, 16), (3, 5), (2, 3, 40), (64, 7, 24), (1, 1), (100, 300)]:
        axes = tuple(int(a) for a in rng.permutation(len(shape)))
        count = int(np.prod(shape))
        x = rng.integers(0, 256, -(-count * bits // 8), dtype="u1")
        y = faro.permute_dims(x, axes, bits=bits, shape=shape, bit_order=order)
        want = unpacked(x, bits, order)[:count].reshape(shape).transpose(axes)
        got = unpacked(y, bits, order)
        assert (got[:count] == want.ravel()).all() and not got[count:].any()
        if want.shape[-1] * bits % 8 == 0:
            assert y.shape == (*want.shape[:-1], want.shape[-1] * bits // 8)


def test_the_shape_follows_the_items():
    x = np.arange(64, dtype="u4").reshape(8, 8)
    y = faro.permute_dims(x, bits=4)
    assert y.shape == (64, 1) and y.dtype == x.dtype
    assert (unpacked(y, 4).reshape(64, 8) == unpacked(x, 4).reshape(8, 64).T).all()
    out = np.empty((64, 1), "u4")
    assert faro.permute_dims(x, (1, 0), bits=4, out=out) is out and (out == y).all()
    assert (faro.permute_dims(y, bits=4) == x).all()


def test_maps_and_in_place():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 256, 4096, dtype="u1")
    for bits, n in ((1, 15), (2, 14), (4, 13)):
        m = faro.maps.random_bmmc(n, bits)
        y = faro.permute_bits(x, m, bits)
        want = np.empty_like(unpacked(x, bits))
        want[[m(i) for i in range(m.count)]] = unpacked(x, bits)
        assert (unpacked(y, bits) == want).all()
        z = x.copy()
        assert faro.permute_bits(z, m, bits, in_place=True) is z and (z == y).all()


def test_numpy_packbits():
    rng = np.random.default_rng(6)
    a = rng.integers(0, 2, (24, 56), dtype="u1")
    assert (faro.permute_dims(np.packbits(a, axis=1), bits=1, bit_order="high") == np.packbits(a.T, axis=1)).all()


def test_torch_keeps_its_kind():
    torch = pytest.importorskip("torch")
    x = torch.arange(128, dtype=torch.uint8).reshape(16, 8)
    y = faro.permute_dims(x, bits=4)
    assert isinstance(y, torch.Tensor) and tuple(y.shape) == (16, 8)
    assert (y.numpy() == faro.permute_dims(x.numpy(), bits=4)).all()


def test_bed_reader_reads_what_was_turned(tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(7)
    for samples, variants in ((5, 7), (101, 1027)):
        values = rng.integers(0, 4, (samples, variants)).astype("i1")
        values[values == 3] = -127
        bed_reader.to_bed(tmp_path / "a.bed", values)
        faro.transpose_bed(tmp_path / "a.bed", tmp_path / "b.bed", verify=True, memory=4096)
        for name in ("fam", "bim"):
            (tmp_path / f"b.{name}").write_bytes((tmp_path / f"a.{name}").read_bytes())
        with bed_reader.open_bed(tmp_path / "b.bed") as read:
            assert read.major == "individual"
            assert (read.read(dtype="int8") == values).all()


def test_refusals():
    x = np.zeros((4, 4), "u1")
    for call in (
        lambda: faro.permute_dims(x, shape=(4, 8)),
        lambda: faro.permute_dims(x, bits=4, shape=(4, 9)),
        lambda: faro.permute_dims(x, bits=0, shape=(4, 8)),
        lambda: faro.permute_dims(x[:, ::2], bits=4),
        lambda: faro.permute_dims(x, bits=3),
        lambda: faro.permute_dims(x, bits=4, bit_order="middle"),
        lambda: faro.permute_dims(x, (0, 0), bits=4),
        lambda: faro.permute_bits(x, "gray(6)", 4),
        lambda: faro.permute_bits(x, 5, 4),
        lambda: faro.permute_bits(x, "multiply(32, 3)", 4, in_place=True),
        lambda: faro.transpose_bed(1, 2),
        lambda: faro.transpose_bed("none.bed", "out.bed"),
    ):
        with pytest.raises(faro.FaroError):
            call()
    assert not x.any()
