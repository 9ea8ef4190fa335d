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
    for shape in [(8, 16), (3, 5), (2, 3, 40), (64, 7, 24), (1, 1), (100, 300), (0, 8), (3, 0, 5)]:
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


def test_marlin_is_that_of_auto_gptq():
    """AutoGPTQ's own packing, of its source: what is built there wants a GPU."""
    torch = pytest.importorskip("torch")
    spec = pytest.importorskip("importlib.util").find_spec("auto_gptq")
    if spec is None:
        pytest.skip("no AutoGPTQ")
    names = {"__name__": "qlinear_marlin"}
    with open(f"{spec.submodule_search_locations[0]}/nn_modules/qlinear/qlinear_marlin.py") as file:
        exec(compile(file.read(), "qlinear_marlin.py", "exec"), names)
    rows, columns = 128, 512
    values = np.random.default_rng(10).integers(0, 16, (rows, columns), dtype="u1")
    layer = torch.nn.Linear(rows, columns, bias=False, dtype=torch.half)
    layer.weight.data = torch.from_numpy(values.astype("f2").T - 8)
    packed = type("Packed", (), {"group_size": rows, "infeatures": rows, "outfeatures": columns, "bias": None,
                                 "B": torch.zeros((rows // 16, columns * 2), dtype=torch.int32),
                                 "s": torch.zeros((1, columns), dtype=torch.half)})()
    names["QuantLinear"].pack(packed, layer, torch.ones((columns, 1), dtype=torch.half))
    plain = (values[:, 0::2] | values[:, 1::2] << 4).reshape(-1)
    assert (faro.permute_bits(plain, f"marlin({rows}, {columns})", 4).view("i4") == packed.B.numpy().reshape(-1)).all()


def test_int4_pack_is_that_of_torch():
    torch = pytest.importorskip("torch")
    pack = getattr(torch.ops.aten, "_convert_weight_to_int4pack_for_cpu", None)
    block = {"AVX512": 64, "AVX2": 32}.get(torch.backends.cpu.get_cpu_capability())
    if pack is None or block is None:
        pytest.skip("no such packing")
    rows, columns = 192, 96
    values = np.random.default_rng(11).integers(0, 16, (rows, columns), dtype="u1")
    wanted = pack(torch.from_numpy(values.astype("i4")), 1).numpy().reshape(-1)
    plain = (values[:, 0::2] | values[:, 1::2] << 4).reshape(-1)
    assert (faro.permute_bits(plain, f"int4_pack({rows}, {columns}, {block})", 4) == wanted).all()


def test_tinygemm_is_that_of_torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    rows, columns = 64, 512
    values = np.random.default_rng(12).integers(0, 16, (rows, columns), dtype="u1")
    plain = (values[:, 0::2] | values[:, 1::2] << 4).reshape(-1)
    given = torch.from_numpy(values[:, 0::2] << 4 | values[:, 1::2]).cuda()  # torch takes the first one high
    for tiles in (2, 4, 8):
        wanted = torch.ops.aten._convert_weight_to_int4pack(given, tiles).cpu().numpy().reshape(-1)
        assert (faro.permute_bits(plain, f"tinygemm({rows}, {columns}, {tiles})", 4).view("i4") == wanted).all()


def test_bits_of_bytes_and_morton():
    rng = np.random.default_rng(13)
    x = rng.integers(0, 256, 100, dtype="u1")
    assert (faro.permute_bits(x, "byte_bits(800)", 1) == np.packbits(np.unpackbits(x, bitorder="little"))).all()
    mask = rng.integers(0, 2, (16, 16), dtype="u1")
    got = np.unpackbits(faro.permute_bits(np.packbits(mask, bitorder="little"), "morton(2, 4)", 1), bitorder="little")
    spread = [sum((v >> k & 1) << 2 * k for k in range(4)) for v in range(16)]
    assert all(got[spread[r] << 1 | spread[c]] == mask[r, c] for r in range(16) for c in range(16))


def test_on_a_gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or not faro.cuda_status()[0]:
        pytest.skip("no GPU")
    rng = np.random.default_rng(14)
    x = rng.integers(0, 256, (96, 40), dtype="u1")
    on_gpu = torch.from_numpy(x).cuda()
    for bits, shape in ((4, (96, 80)), (2, (96, 160)), (1, (96, 320)), (1, (32, 15, 64)), (4, (7, 3, 365))):
        size = (bits * int(np.prod(shape)) + 7) // 8
        wanted = faro.permute_dims(x.reshape(-1)[:size], bits=bits, shape=shape)
        got = faro.permute_dims(on_gpu.reshape(-1)[:size], bits=bits, shape=shape)
        assert got.is_cuda and (got.cpu().numpy() == wanted).all()
    y = torch.from_numpy(rng.integers(0, 256, 1 << 16, dtype="u1")).cuda()
    for bits, n in ((4, 17), (2, 18), (1, 19)):
        text = f"random_bmmc({n}, 3)"
        assert (faro.permute_bits(y, text, bits).cpu().numpy() == faro.permute_bits(y.cpu().numpy(), text, bits)).all()
    for text in ("bit_reversal(17)", "random_bmmc(17, 5)"):
        z = y.clone()
        assert faro.permute_bits(z, text, 4, in_place=True) is z
        assert (z.cpu().numpy() == faro.permute_bits(y.cpu().numpy(), text, 4)).all()
    for text in ("multiply(131072, 3)", "random(131072, 7)"):
        assert (faro.permute_bits(y, text, 4).cpu().numpy() == faro.permute_bits(y.cpu().numpy(), text, 4)).all()
    with pytest.raises(faro.FaroUnsupportedError):
        faro.permute_bits(y, "multiply(131072, 3)", 4, in_place=True)


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
