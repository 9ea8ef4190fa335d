"""Every function of arrays beside NumPy's own, or an obvious loop: shapes, strides, element types."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import faro

DTYPES = [
    "u1", "i2", ">i2", "f2", "f4", ">f8", "f8", "c8", "c16", "?", "M8[s]", "m8[ns]", "S3", "U2", "V5", "V7",
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4, [("a", "u1"), ("b", "f8")], [("p", "i4", (3,))],
]


def filled(shape, dtype) -> np.ndarray:
    """An array whose bytes are all kinds of bytes."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    data = (np.arange(count, dtype=np.uint64) * 2654435761 >> 7).astype(np.uint8)
    if dtype == np.dtype("U2"):
        data = data % 1 + np.resize(np.array([65, 0, 0, 0], np.uint8), count) + np.repeat(np.arange(count // 4 + 1), 4)[:count] % 9
        data = np.where(np.arange(count) % 4 == 0, data, 0).astype(np.uint8)
    if dtype == np.dtype("?"):
        data = data & 1
    return data.view(dtype).reshape(shape) if count else np.zeros(shape, dtype)


def same(a: np.ndarray, b: np.ndarray) -> None:
    assert type(a) is np.ndarray and a.shape == b.shape and a.dtype == b.dtype
    assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@st.composite
def views(draw, max_dims=5, max_side=7):
    """Arrays with steps, negative strides, broadcast axes and axes in any order."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=max_dims, min_side=0, max_side=max_side))
    dtype = draw(st.sampled_from(DTYPES))
    x = filled(shape, dtype)
    if shape:
        slices = tuple(
            slice(None, None, draw(st.sampled_from([1, 1, 2, -1, -3]))) for _ in shape
        )
        x = x[slices].transpose(draw(st.permutations(range(len(shape)))))
        if draw(st.booleans()):
            x = np.broadcast_to(x, (draw(st.integers(1, 3)), *x.shape))
    if draw(st.booleans()):
        x = x.view()
        x.flags.writeable = False
    return x


@given(views(), st.data())
def test_permute_dims(x, data):
    axes = data.draw(st.permutations(range(x.ndim)))
    negative = [a - x.ndim if data.draw(st.booleans()) else a for a in axes]
    same(faro.permute_dims(x, negative), np.transpose(x, axes))
    same(faro.transpose(x), np.transpose(x))
    out = np.empty(np.transpose(x, axes).shape, x.dtype)
    assert faro.permute_dims(x, tuple(axes), out=out) is out
    same(out, np.transpose(x, axes))


@given(views(), st.data())
def test_flip(x, data):
    axis = data.draw(st.none() | st.sets(st.integers(0, max(x.ndim - 1, 0))).map(tuple) if x.ndim else st.none())
    if axis is not None and x.ndim and len(axis) == 1:
        axis = axis[0]
    same(faro.flip(x, axis), np.asarray(np.flip(x, axis), x.dtype))


@given(views(max_dims=4), st.data())
def test_roll(x, data):
    if x.ndim == 0 or data.draw(st.booleans()):
        shift = data.draw(st.integers(-50, 50) | st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
        total = shift if isinstance(shift, int) else sum(shift)
        same(faro.roll(x, shift), np.roll(x, total))
        return
    axes = data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=3).map(tuple))
    shifts = data.draw(st.tuples(*[st.integers(-20, 20)] * len(axes)))
    same(faro.roll(x, shifts, axes), np.roll(x, shifts, axes))
    same(faro.roll(x, shifts[0], axes[0]), np.roll(x, shifts[0], axes[0]))


@given(views())
def test_ascontiguousarray(x):
    y = faro.ascontiguousarray(x)
    same(y, np.ascontiguousarray(x).reshape(x.shape))
    assert y.flags.c_contiguous and (y is x) == x.flags.c_contiguous


def scattered(x: np.ndarray, m) -> np.ndarray:
    """out[m(i)] = in[i], by a loop."""
    flat = x.reshape(-1)
    out = np.empty_like(flat)
    for i in range(flat.size):
        out[m(i)] = flat[i]
    return out.reshape(x.shape)


def test_shapes_follow_through_compositions():
    x = filled((3, 5, 2), "u4")
    m = x[:, :, 0].copy()
    same(faro.permute(x, "compose(axes(1 0 2), axes(0 2 1))"), np.ascontiguousarray(x.transpose(2, 0, 1)))
    same(faro.permute(m, "compose(transpose, transpose)"), m)
    same(faro.permute(m, "compose(flip, transpose)"), np.ascontiguousarray(m.T).ravel()[::-1].reshape(5, 3))
    same(faro.permute(faro.permute(m, "compose(flip, transpose)"), "compose(flip, transpose)", inverse=True), m)
    same(faro.permute(x, "inverse(axes(1 2 0))"), np.ascontiguousarray(x.transpose(2, 0, 1)))
    same(faro.permute(m, "axes(3 5; 0 1; 0 1)"), np.roll(m, 1, axis=1))
    wide = filled((3, 10), "u4")[:, ::2]
    same(faro.permute(wide, "axes(3 5; 0 1; 0 1)"), np.roll(wide, 1, axis=1))
    with pytest.raises(faro.FaroValueError, match="shape 3x5"):
        faro.permute(m, "transpose(5, 3)")


MAPS = ["bit_reversal", "gray", "reverse", "xor(9)", "rotate_bits(2)", "random_bmmc(6, 3)", "compose(gray, shuffle)",
        "roll(7)", "flip", "random(64, 5)", "multiply(64, 5)"]


@pytest.mark.parametrize("dtype", ["u1", "f4", "c16", "V3", "V12", "V24"])
@pytest.mark.parametrize("text", MAPS)
def test_permute_by_text_and_map(text, dtype):
    x = filled((4, 16), dtype)
    m = faro.maps.parse(text, (4, 16))
    wanted = scattered(x, m)
    same(faro.permute(x, text), wanted)
    same(faro.permute(x, m), wanted)
    same(faro.permute(wanted, text, inverse=True), x)
    same(faro.permute(wanted, m, inverse=True), x)
    wide = filled((8, 16), dtype)[::2]  # with strides
    same(faro.permute(wide, text), scattered(np.ascontiguousarray(wide), m))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("text", ["bit_reversal", "roll(3)", "random(8, 1)"])
def test_permute_along_an_axis(text, axis):
    x = filled((8, 8, 8), "f8")
    m = faro.maps.parse(text, (8,))
    wanted = np.take(x, np.asarray((~m).indices, int), axis)
    same(faro.permute(x, text, axis=axis), wanted)
    same(faro.permute(x[::-1], text, axis=axis), np.take(x[::-1], np.asarray((~m).indices, int), axis))
    out = np.empty_like(x)
    assert faro.permute(x, m, axis=axis, out=out) is out
    same(out, wanted)


def test_permute_along_an_axis_of_long_rows():
    x = filled((16, 700), "f8")  # 5600 bytes a row: longer than an element may be
    m = faro.maps.gray(4)
    same(faro.permute(x, m, axis=0), x[np.asarray((~m).indices, int)])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_bit_reverse(n):
    x = filled((3, 1 << n), "f4")
    wanted = x[:, [int(f"{i:0{n}b}"[::-1], 2) if n else 0 for i in range(1 << n)]]
    same(faro.bit_reverse(x, axis=1), wanted)
    same(faro.bit_reverse(x[0]), wanted[0])


@given(st.permutations(range(5)), st.booleans())
def test_permute_qubits(order, grouped):
    n = 5
    x = filled((3, *([2] * n)), "c16")
    wanted = np.transpose(x, [0] + [1 + q for q in order])
    got = faro.permute_qubits(x if grouped else x.reshape(3, -1), order)
    same(got.reshape(wanted.shape), wanted)
    # Little-endian by the definition: bit k of the new index is bit order[k] of the old one.
    flat = x.reshape(3, -1)[0]
    little = np.empty_like(flat)
    for old in range(1 << n):
        little[sum((old >> order[k] & 1) << k for k in range(n))] = flat[old]
    same(faro.permute_qubits(flat, order, little_endian=True), little)


@pytest.mark.parametrize(
    "pattern, lengths, wanted",
    [
        ("b s h d -> b h s d", {}, lambda x: x.transpose(0, 2, 1, 3)),
        ("b (g s) h d -> g b (h s d)", {"g": 2}, lambda x: x.reshape(2, 2, 2, 3, 5).transpose(1, 0, 3, 2, 4).reshape(2, 2, 30)),
        ("... d -> d ...", {}, lambda x: np.moveaxis(x, -1, 0)),
        ("a b c d -> (a b c d)", {}, lambda x: x.reshape(-1)),
    ],
)
def test_rearrange(pattern, lengths, wanted):
    x = filled((2, 4, 3, 5), "f4")
    same(faro.rearrange(x, pattern, **lengths), np.ascontiguousarray(wanted(x)))
    number = np.array(3.0)
    for of_none, shape in (("->", ()), ("-> 1 1", (1, 1)), ("... -> ...", ()), ("... -> ... 1", (1,))):
        assert faro.rearrange(number, of_none).shape == shape
    strided = filled((2, 8, 3, 10), "f4")[:, ::2, ::-1, ::2]
    same(faro.rearrange(strided, pattern, **lengths), np.ascontiguousarray(wanted(np.ascontiguousarray(strided))))


def test_structures():
    x = filled((1000, 5), "f4")
    same(faro.aos_to_soa(x), np.ascontiguousarray(x.T))
    same(faro.soa_to_aos(faro.aos_to_soa(x)), x)
    points = np.zeros(7, [("x", "f4"), ("y", "f4")])
    points["x"], points["y"] = np.arange(7), -np.arange(7)
    same(faro.aos_to_soa(points), np.stack([points["x"], points["y"]]))
    same(faro.aos_to_soa(points[::-2]), np.stack([points["x"][::-2], points["y"][::-2]]))
    with pytest.raises(faro.FaroValueError, match="fields of numbers of one type"):
        faro.aos_to_soa(np.zeros(3, [("x", "f4"), ("y", "f8")]))


@pytest.mark.parametrize("text, shape", [
    ("bit_reversal", (64,)), ("gray", (8, 8)), ("transpose", (30, 7)), ("transpose", (16, 4)), ("axes(2 0 1)", (2, 4, 8))])
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_in_place(text, shape, dtype):
    x = filled(shape, dtype)
    wanted = faro.permute(x, text)
    kept = x
    got = faro.permute(x, text, in_place=True)
    same(got, wanted)
    assert np.shares_memory(got, kept)


def test_in_place_of_axes():
    x = filled((40, 3), "f8")
    wanted = np.ascontiguousarray(x.T)
    same(faro.permute_dims(x, (1, 0), in_place=True), wanted)
    with pytest.raises(faro.FaroUnsupportedError):
        faro.permute_dims(filled((3, 5, 7), "f8"), (2, 1, 0), in_place=True)
    with pytest.raises(faro.FaroValueError, match="fills its memory"):
        faro.permute(filled((8, 8), "f8")[::2], "reverse", in_place=True)
    frozen = filled((8,), "f8")
    frozen.flags.writeable = False
    with pytest.raises(faro.FaroValueError, match="read-only"):
        faro.permute(frozen, "reverse", in_place=True)


@pytest.mark.parametrize("bytes_wide", [4096, 4100, 6000, 8209])
def test_wide_elements(bytes_wide):
    x = filled((3, 4), f"V{bytes_wide}")
    same(faro.permute_dims(x, (1, 0)), np.transpose(x))
    same(faro.flip(x), np.flip(x))
    same(faro.roll(x, 5), np.roll(x, 5))
    same(faro.roll(x, 5, 0), np.roll(x, 5, 0))


def test_fields_of_structures_have_odd_strides():
    x = np.zeros(24, [("a", "u1"), ("b", "f8")]).reshape(2, 12)
    x["b"] = np.arange(24).reshape(2, 12)
    same(faro.permute_dims(x["b"], (1, 0)), np.ascontiguousarray(x["b"].T))
    same(faro.ascontiguousarray(x["b"]), np.ascontiguousarray(x["b"]))
    same(faro.flip(x["b"], 1), np.flip(x["b"], 1))
    same(faro.roll(x["b"], 3), np.roll(x["b"], 3))


@pytest.mark.parametrize("dtype", ["V3", "V5", "V12", "c16"])
def test_flips_of_one_axis_of_two(dtype):
    """Affine maps that are neither rolls nor flips nor permutations of axes of the whole."""
    x = filled((2, 2, 4), dtype)
    for axis in (0, 1, 2, (0, 1), (0, 2), (1, 2)):
        same(faro.flip(x, axis), np.flip(x, axis))
        same(faro.roll(x[:, ::-1], 1, 0), np.roll(x[:, ::-1], 1, 0))


def test_large():
    x = np.arange(1 << 22, dtype=np.int32).reshape(1 << 10, 1 << 12)
    same(faro.permute_dims(x, (1, 0)), np.ascontiguousarray(x.T))
    same(faro.permute(faro.permute(x, "gray"), "gray", inverse=True), x)


def test_subclasses_and_lists():
    assert faro.flip([1, 2, 3]).tolist() == [3, 2, 1]
    matrix = np.matrix([[1, 2], [3, 4]])
    assert faro.permute_dims(matrix, (1, 0)).tolist() == [[1, 3], [2, 4]]
