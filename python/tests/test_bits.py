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


def nibbles(words):
    """The elements of words of 32 bits, as rows of eight."""
    return (np.asarray(words).view("u4")[..., None] >> np.arange(0, 32, 4, dtype="u4") & 15).astype("u1")


def awq_packing():
    """AutoAWQ's own packing, of its source: the package itself wants a GPU's kernels."""
    torch = pytest.importorskip("torch")
    spec = pytest.importorskip("importlib.util").find_spec("awq")
    if spec is None:
        pytest.skip("no AutoAWQ")
    names = {}
    with open(f"{spec.submodule_search_locations[0]}/utils/packing_utils.py") as file:
        exec(compile(file.read(), "packing_utils.py", "exec"), names)
    return torch, names


def test_awq_and_gptq_are_those_of_autoawq():
    torch, awq = awq_packing()
    rows, columns = 64, 96
    rng = np.random.default_rng(8)
    words = rng.integers(0, 2**32, (rows, columns // 8), dtype="u4")
    zeros = torch.zeros((1, columns // 8), dtype=torch.int32)
    given = torch.from_numpy(words.view("i4"))
    plain, no_zeros = awq["unpack_awq"](given, zeros, 4)
    plain, no_zeros = awq["reverse_awq_order"](plain, no_zeros, 4)
    values = (plain & 15).numpy().astype("u1")
    back = faro.permute_bits(words, ~faro.maps.parse(f"awq({rows * columns})"), 4)
    assert (nibbles(back).reshape(rows, columns) == values).all()
    assert (faro.permute_bits(back, f"awq({rows * columns})", 4).reshape(words.shape) == words).all()
    wanted, _ = awq["pack_exllama"]((plain & 15).to(torch.int32), no_zeros, 4)
    both = faro.maps.parse(f"compose(gptq({rows}, {columns}), inverse(awq({rows * columns})))")
    assert (faro.permute_bits(words, both, 4).view("i4").reshape(tuple(wanted.shape)) == wanted.numpy()).all()


@pytest.mark.parametrize("kind, block, scales", [("Q4_0", 32, 2), ("Q4_K", 64, 16)])
def test_gguf_halves_are_those_of_gguf(kind, block, scales):
    gguf = pytest.importorskip("gguf")
    quants = pytest.importorskip("gguf.quants")
    rng = np.random.default_rng(9)
    size, bytes_of_block = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    blocks = rng.integers(0, 256, (50, bytes_of_block), dtype="u1")
    blocks[:, :scales] = 0
    if kind == "Q4_0":
        blocks[:, :2] = np.frombuffer(np.float16(1).tobytes(), "u1")
        offset = 8
    else:
        blocks[:, :2] = np.frombuffer(np.float16(1).tobytes(), "u1")  # d = 1, dmin = 0, every scale 1
        blocks[:, 4:8] = 1
        blocks[:, 12:16] = 1
        offset = 0
    values = quants.dequantize(blocks, gguf.GGMLQuantizationType[kind]).reshape(-1) + offset
    weights = np.ascontiguousarray(blocks[:, scales:])
    plain = faro.permute_bits(weights.reshape(-1), ~faro.maps.parse(f"gguf_halves({block}, {50 * size})"), 4)
    assert (unpacked(plain, 4) == values).all()
