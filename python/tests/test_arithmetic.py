"""Numbers changed while they are moved, against what NumPy, ml_dtypes and PyTorch make of them."""

import itertools
import math
import sys

import numpy as np
import pytest

import faro
from faro import maps
from remedies import same

ml_dtypes = pytest.importorskip("ml_dtypes")

INTEGERS = [np.dtype(f"{kind}{width}") for kind in "iu" for width in (1, 2, 4, 8)]
SMALL = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
                               ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)]
FLOATS = [*SMALL, np.dtype(np.float32), np.dtype(np.float64)]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
TYPES = [*INTEGERS, *FLOATS, *COMPLEX, np.dtype(bool)]


def bits(array):
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.itemsize in (1, 2, 4, 8) else array.view(np.uint8)


def special_values(dtype):
    """Every value of 8 and 16 bits; of wider types limits, halves, powers of two and their neighbours, and bits at random."""
    rng = np.random.default_rng(7)
    if dtype.itemsize <= 2 and dtype.kind != "b":
        return np.arange(2 ** (8 * dtype.itemsize), dtype=np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        powers = [s * (2**k + d) for k in range(64) for d in (-1, 0, 1) for s in (1, -1)]
        fitting = [p for p in (*powers, info.min, info.max) if info.min <= p <= info.max]
        return np.concatenate([np.array(fitting, dtype), rng.integers(info.min, info.max, 4000, dtype, endpoint=True)])
    if dtype.kind == "c":
        parts = special_values(np.dtype(f"f{dtype.itemsize // 2}"))
        return (parts + 1j * rng.permutation(parts)).astype(dtype)
    with np.errstate(all="ignore"):
        near = np.array([m * 2.0**e for e in range(-150, 130) for m in (1, 1.5, 1 + 2**-9, 1 + 2**-11, 1 + 2**-12, 2 - 2**-12)])
        near = np.concatenate([near, np.nextafter(near, 0), np.arange(-600, 600) / 2, [np.inf, np.nan, 0, 65519.9, 65520, 448, 464, 480]])
        random = rng.integers(0, 2**63, 6000, np.uint64).view(np.float64) if dtype.itemsize == 8 else \
            rng.integers(0, 2**32, 6000, np.uint32).view(np.float32)
        return np.concatenate([near, -near, random, -random]).astype(dtype)


def saturated(values, dtype):
    """Of floats what the rules say: towards 0, held within the limits, and 0 for NaN. By whole numbers of Python's own."""
    info = np.iinfo(dtype)
    def one(x):
        if isinstance(x, float):
            if math.isnan(x):
                return 0
            x = info.max if x == math.inf else info.min if x == -math.inf else math.trunc(x)
        return min(max(x, info.min), info.max)
    return np.array([one(x) for x in values.tolist()], dtype)


def expected(x, dtype):
    with np.errstate(all="ignore"):
        if x.dtype.kind == "c" and dtype.kind not in "cb":
            x = x.real
        if dtype.kind in "iu":
            if x.dtype == dtype:
                return x
            wide = x if x.dtype.kind in "iub" else x.astype(np.float64)
            return saturated(wide, dtype)
        if dtype.kind == "b":
            return x.astype(np.float64) != 0 if x.dtype.kind == "V" else x != 0
        if dtype in SMALL and x.dtype.kind in "iu" and x.dtype.itemsize == 8:
            # By the odd binary64, so that it is rounded once.
            odd = [float(v) if int(float(v)) == v else float(_odd(v)) for v in x.tolist()]
            x = np.array(odd)
        if dtype in SMALL and x.dtype in (np.float64, np.int32, np.uint32):
            x = _odd_single(x.astype(np.float64))
        return x.astype(np.float32).astype(dtype) if dtype in SMALL and x.dtype.kind in "iubV" else x.astype(dtype)


def _odd(v):
    shift = max(abs(v).bit_length() - 53, 0)
    kept = abs(v) >> shift
    kept |= (kept << shift) != abs(v)
    return (kept << shift) * (1 if v >= 0 else -1)


def _odd_single(x):
    near = x.astype(np.float32)
    inexact = (near.astype(np.float64) != x) & ~np.isnan(x)
    raw = near.view(np.uint32).copy()
    raw -= (inexact & (np.abs(near.astype(np.float64)) > np.abs(x))).astype(np.uint32)
    raw |= inexact.astype(np.uint32)
    return raw.view(np.float32)


@pytest.mark.parametrize("from_type,to_type", list(itertools.product(TYPES, TYPES)), ids=lambda t: t.name)
def test_every_pair_of_types_with_all_special_values(from_type, to_type):
    x = special_values(from_type)
    got = faro.astype(x, to_type)
    wanted = expected(x, to_type)
    assert got.dtype == to_type
    if to_type.kind in "iub":
        assert np.array_equal(got, wanted)
        return
    def parts(a):
        return (a.real, a.imag) if a.dtype.kind == "c" else (a,)

    for a, b in zip(parts(got), parts(wanted)):
        nan_a, nan_b = np.isnan(a.astype(np.float64)), np.isnan(b.astype(np.float64))
        assert np.array_equal(nan_a, nan_b)
        differ = bits(np.ascontiguousarray(a))[~nan_a] != bits(np.ascontiguousarray(b))[~nan_a]
        where = np.flatnonzero(~nan_a)[differ][:3]
        assert not differ.any(), (x[where], a[where], b[where])


def test_nearest_and_saturate():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, -128.5, -129, 1e9, np.nan], np.float32)
    assert faro.astype(x, "int8", rounding="nearest").tolist() == [0, 2, 2, 0, -2, 126, 127, -128, -128, 127, 0]
    assert faro.astype(x, "uint8").tolist() == [0, 1, 2, 0, 0, 126, 127, 0, 0, 255, 0]
    y = np.array([447, 465, 1e6, -np.inf], np.float32)
    assert np.isnan(faro.astype(y, ml_dtypes.float8_e4m3fn).astype(np.float32))[2:].all()
    assert faro.astype(y, "float8_e4m3fn", saturate=True).astype(np.float32).tolist() == [448, 448, 448, -448]
    assert faro.astype(y, "float8_e5m2", saturate=True).astype(np.float32)[3] == -57344


def test_axes_scale_offset_and_addend():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 33, 7, 64)).astype(np.float32)
    scale = rng.standard_normal((33, 1, 1)).astype(np.float32)
    offset = rng.standard_normal(7).astype(np.float32)
    turned = x.transpose(3, 1, 0, 2)
    got = faro.permute_dims(x, (3, 1, 0, 2), scale=scale, offset=offset)
    assert np.array_equal(got, turned * scale + offset)
    other = rng.standard_normal(got.shape).astype(np.float32)
    got = faro.transpose(x, (3, 1, 0, 2), scale=2, add=other, beta=0.5)
    assert np.array_equal(got, turned * np.float32(2) + other * np.float32(0.5))
    total = other.copy()
    assert faro.permute_dims(x, (3, 1, 0, 2), add=total, out=total) is total
    assert np.array_equal(total, turned + other)
    assert np.array_equal(faro.flip(x, (0, 2), dtype="float64", op="neg"), -np.flip(x, (0, 2)).astype(np.float64))
    assert np.array_equal(faro.permute_dims(x, (3, 1, 0, 2), inverse=True, dtype=np.float16),
                          x.transpose(np.argsort((3, 1, 0, 2))).astype(np.float16))


def test_complex_numbers():
    rng = np.random.default_rng(4)
    x = (rng.standard_normal((96, 65)) + 1j * rng.standard_normal((96, 65))).astype(np.complex64)
    assert np.array_equal(faro.permute_dims(x, (1, 0), op="conj"), x.T.conj())
    assert np.array_equal(faro.astype(x, "float32"), x.real)
    got = faro.permute_dims(x, scale=2j)
    assert np.allclose(got, x.T * 2j)
    assert faro.astype(np.array([-1.0]), "complex128", scale=1j).tolist() == [-1j]


def test_byte_orders():
    x = np.arange(300, dtype=">f8").reshape(20, 15) / 7
    assert np.array_equal(faro.astype(x, np.float64, (1, 0)), x.T.astype(np.float64))
    swapped = faro.astype(x.astype(np.float32), ">u2")
    assert swapped.dtype == np.dtype(">u2") and np.array_equal(swapped, x.astype(np.uint16))
    pairs = (np.arange(10) + 1j).astype(">c8")
    assert np.array_equal(faro.astype(pairs, np.complex64), pairs.astype(np.complex64))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_products_are_rounded_before_they_are_added(dtype):
    rng = np.random.default_rng(9)
    x, by = ((rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype) for n in (1003, 17))
    for given, scale in ((np.repeat(x[:1], 1003), x[1]), (x, by[0]), (x[:1003 - 1003 % 17].reshape(-1, 17), by)):
        got = faro.astype(given, dtype, scale=scale)
        assert np.array_equal(got.real, given.real * scale.real - given.imag * scale.imag)
        assert np.array_equal(got.imag, given.real * scale.imag + given.imag * scale.real)


def test_zeros_of_both_signs_are_different_factors():
    x = np.array([1.0, -1.0])
    for _ in range(2):
        for zero in (0.0, -0.0):
            assert np.signbit(faro.astype(x, "float64", scale=zero)).tolist() == np.signbit(x * zero).tolist()
            assert np.signbit(faro.astype(x, "float64", scale=0.0, add=-0.0 * np.ones(2), beta=zero)).tolist() == \
                np.signbit(x * 0.0 + -0.0 * zero).tolist()
            assert np.signbit(faro.permute(x, "flip", scale=zero)).tolist() == np.signbit(x[::-1] * zero).tolist()


@pytest.mark.parametrize("change", [{"scale": 10**400}, {"offset": -(10**400)}, {"add": np.zeros(3), "beta": 10**400},
                                    {"add": np.zeros(3), "beta": "two"}], ids=lambda change: next(reversed(change)))
def test_factors_that_are_no_numbers_of_binary64(change):
    with pytest.raises(faro.FaroValueError, match="a number that binary64 holds"):
        faro.astype(np.ones(3), "float64", **change)


def test_strides_of_both_sides():
    rng = np.random.default_rng(5)
    base = rng.integers(0, 255, (40, 60, 4), np.uint8)
    x = base[::-2, 5:, 1:4]
    assert np.array_equal(faro.astype(x, "float32", (2, 0, 1)), x.transpose(2, 0, 1).astype(np.float32))
    room = np.zeros((3, 20, 80), np.float32)
    faro.permute_dims(x, (2, 0, 1), dtype="float32", out=room[:, :, 3:58])
    assert np.array_equal(room[:, :, 3:58], x.transpose(2, 0, 1)) and not room[:, :, 58:].any() and not room[:, :, :3].any()
    packed = np.zeros(50, [("a", "u1"), ("b", "<f4")])
    packed["b"] = rng.standard_normal(50)
    assert np.array_equal(faro.astype(packed["b"], "float64"), packed["b"].astype(np.float64))
    assert faro.astype(np.broadcast_to(np.float32(3), (4, 5)), "int8").tolist() == [[3] * 5] * 4


def test_kept_plans_are_told_apart():
    """Arrays of one shape and width, by everything else that a plan is kept by, twice each: of other values the second time."""
    rng = np.random.default_rng(5)
    layouts = [lambda x: x, np.asfortranarray, lambda x: x[::-1, ::-1], lambda x: np.repeat(x, 2, axis=1)[:, ::2]]
    for shape in ((3, 5), (150, 130), (1, 7)):
        for dtype, to, axes, scale, offset, layout in itertools.product(("<i4", ">i4", "<u4", "<f4", ">f4"), ("f8", ">f4", "i8"), (None, (0, 1), (1, 0), [1, 0]),
                                                                        (None, 2, 0.5, -2.0), (None, 4, True), layouts):
            for _ in range(2):
                x = layout((4 * rng.integers(0, 100, shape)).astype(dtype))
                y = x if axes is None else x.transpose(axes)
                wanted = (y.astype("f8") * (1 if scale is None else scale) + (offset or 0)).astype(to)
                change = {name: value for name, value in (("scale", scale), ("offset", offset)) if value is not None}
                got = [faro.astype(x, to, axes, **change)]
                if axes is not None:
                    got.append(faro.permute_dims(x, axes, dtype=np.dtype(to), **change))
                for each in got:
                    assert each.dtype == wanted.dtype and each.flags.c_contiguous and each.base is None, (dtype, to, axes, change)
                    assert (each == wanted).all(), (shape, dtype, to, axes, change)
    x = np.zeros((2, 3), "f4")
    assert faro.astype(x, "f8", (1, 0)).shape == (3, 2)
    for axes in ((1.0, 0), (True, 0.0), (1, 1), (1, 0, 2)):
        with pytest.raises(faro.FaroError):
            faro.astype(x, "f8", axes)
    with pytest.raises(TypeError, match="scales"):
        faro.astype(x, "f8", (1, 0), scales=2)
    assert faro.permute_dims(x, None, dtype="f8").shape == (3, 2) and faro.astype(x, "f8", None).shape == (2, 3)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_kept_plans_tell_numbers_along_an_axis_apart(library):
    """By what they are when a call is made, whatever holds them."""
    torch = pytest.importorskip("torch") if library == "torch" else None
    of = torch.from_numpy if torch else np.asarray
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    holders = [np.ones(3), np.ones(3, ">f8"), np.ones(3, "i4"), np.ones((3, 1), "f4"), np.ones(6)[::2], [1.0, 1.0, 1.0], [1, 1, 1]]
    if torch:
        holders += [torch.ones(3), torch.ones(3, 1, dtype=torch.float64), torch.ones(6)[::2]]
    for scale in holders:
        along = 2 if np.ndim(scale) == 2 else 1
        for value in (5, -2, 0):
            scale[1] = value
            wanted = x.transpose(0, 2, 1) * np.array([1, value, 1], "f4") if along == 1 else x.transpose(2, 1, 0) * np.array([[1], [value], [1]], "f4")
            got = faro.permute_dims(of(x), (0, 2, 1) if along == 1 else (2, 1, 0), scale=scale)
            assert np.array_equal(np.asarray(got), wanted), (type(scale), value)
    signs = np.asarray(faro.permute_dims(of(x), (0, 2, 1), scale=[0.0, -0.0, 1.0]))
    assert (np.signbit(signs) == [False, True, False]).all()
    beyond = [2**63, 1, 2]
    assert np.array_equal(np.asarray(faro.permute_dims(of(x), (0, 2, 1), scale=beyond)), x.transpose(0, 2, 1) * np.array(beyond, "f4"))
    many = np.arange(2000.0)
    for _ in range(2):
        many[7] += 1
        y = np.ones((2000, 2), "f4")
        assert np.array_equal(np.asarray(faro.permute_dims(of(y), (1, 0), scale=many)), y.T * many.astype("f4"))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_kept_plans_with_addends_and_outputs(library):
    """The same calls with what is added, and with outputs, of every type and order, by turns: each twice, of other values the second time."""
    rng = np.random.default_rng(6)
    given = (lambda x: x) if library == "numpy" else pytest.importorskip("torch").from_numpy
    layouts = [np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 3, axis=0)[::3]]
    moves = {
        "permute_dims": (lambda x, **how: faro.permute_dims(x, (1, 0), **how), np.transpose),
        "astype": (lambda x, out, **how: faro.astype(x, (x if out is None else out).dtype, out=out, **how), lambda x: x),
        "flip": (lambda x, **how: faro.flip(x, 1, **how), lambda x: np.flip(x, 1)),
        "flip of all": (lambda x, **how: faro.flip(x, **how), np.flip),
        "roll": (lambda x, **how: faro.roll(x, (1, -2), (0, 1), **how), lambda x: np.roll(x, (1, -2), (0, 1))),
        "roll of all": (lambda x, **how: faro.roll(x, 3, **how), lambda x: np.roll(x, 3)),
        "permute": (lambda x, **how: faro.permute(x, "flip", **how), lambda x: x.reshape(-1)[::-1].reshape(x.shape)),
        "inverse": (lambda x, **how: faro.permute(x, "roll(28, 5)", inverse=True, **how), lambda x: np.roll(x, -5)),
        "dense": (lambda x, **how: faro.ascontiguousarray(x, **how), lambda x: x),
        "rearrange": (lambda x, **how: faro.rearrange(x, "(a b) c -> b (c a)", a=2, **how), lambda x: x.reshape(2, 2, 7).transpose(1, 2, 0).reshape(2, 14)),
    }
    for (name, (move, wanted_of)), layout, add_type, beta, out_type in itertools.product(
            moves.items(), layouts, (None, "f4", "f8"), (None, 3.0), (None, "f4", "f8")):
        if beta is not None and add_type is None:
            continue
        for to in layouts[:2] * 2 if out_type else (None, None):
            x = layout(rng.integers(-9, 9, (4, 7)).astype("f4"))
            wanted = wanted_of(x).astype("f8") * 2
            change = {"scale": 2.0}
            if add_type is not None:
                added = layout(rng.integers(-9, 9, wanted.shape).astype(add_type))
                change["add"] = given(added)
                wanted = wanted + added * (beta or 1)
                if beta is not None:
                    change["beta"] = beta
            out = None if to is None else given(to(np.zeros(wanted.shape, out_type)))
            got = move(given(x), out=out, **change)
            assert out is None or got is out
            assert (np.asarray(got) == wanted).all(), (name, add_type, beta, out_type)
    x, shape = given(np.ones((4, 7), "f4")), (4, 7)
    for _ in range(2):
        with pytest.raises(faro.FaroValueError, match=r"add= of shape \(4, 7\)"):
            faro.permute_dims(x, (1, 0), add=x)
        with pytest.raises(faro.FaroValueError, match=r"out= of shape \(4, 7\)"):
            faro.permute_dims(x, (1, 0), scale=2.0, out=x)
        total = given(np.full((7, 4), 5, "f4"))  # what is added may be the output
        assert faro.permute_dims(x, (1, 0), add=total, beta=2.0, out=total) is total and (np.asarray(total) == 11).all()
    if library == "numpy":
        fixed = np.zeros((7, 4), "f4")
        faro.permute_dims(x, (1, 0), scale=2.0, out=fixed)
        fixed.flags.writeable = False
        with pytest.raises(faro.FaroError):
            faro.permute_dims(x, (1, 0), scale=2.0, out=fixed)


def test_what_is_added_is_not_kept():
    class Told(np.ndarray):
        pass

    x = np.ones((2, 3), "f4")
    added = np.ones((3, 2), "f4")
    before = sys.getrefcount(added)
    faro.permute_dims(x, (1, 0), add=added)
    assert sys.getrefcount(added) == before
    assert (faro.permute_dims(x, (1, 0), add=added.view(Told)) == 2).all()  # a subclass goes the long way


def test_functions():
    x = np.linspace(-6, 6, 999).astype(np.float64)
    positive = np.abs(x) + 0.1
    erfc = np.vectorize(math.erfc)
    for op, wanted in {"exp": np.exp(x), "tanh": np.tanh(x), "sigmoid": 1 / (1 + np.exp(-x)), "relu": np.maximum(x, 0), "abs": np.abs(x),
                       "gelu": x * erfc(-x / math.sqrt(2)) / 2}.items():
        assert np.allclose(faro.astype(x, "float64", op=op), wanted, rtol=1e-14, atol=0)
    for op, wanted in {"log": np.log(positive), "sqrt": np.sqrt(positive), "reciprocal": 1 / positive}.items():
        assert np.allclose(faro.astype(positive, "float64", op=op), wanted, rtol=1e-14, atol=0)
    assert faro.astype(np.array([-128, -5, 7], np.int8), "int8", op="abs").tolist() == [127, 5, 7]


def test_channels_first():
    rng = np.random.default_rng(6)
    images = rng.integers(0, 256, (3, 37, 53, 3), np.uint8)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    wanted = ((images / 255.0 - mean) / std).transpose(0, 3, 1, 2)
    assert np.allclose(faro.channels_first(images, mean=mean, std=std), wanted, rtol=0, atol=3e-6)
    assert np.allclose(faro.channels_first(images[0], "float16", mean=mean, std=std), wanted[0], rtol=0, atol=3e-3)
    assert faro.channels_first(images.astype(np.float32)).dtype == np.float32


def changed(moved, dtype="float16", **change):
    """By two steps: ``scale`` and ``offset`` in float32."""
    return (moved * np.asarray(change.get("scale", 1), np.float32) + np.asarray(change.get("offset", 0), np.float32)).astype(dtype)


ALONG = np.arange(10, dtype=np.float32) / 4


@pytest.mark.parametrize("change", [{"dtype": "float16"}, {"dtype": "float32", "scale": 2, "offset": -0.5}, {"dtype": "float16", "scale": ALONG}],
                         ids=["type", "numbers", "axis"])
@pytest.mark.parametrize("move", [
    lambda x, **change: faro.roll(x, 3, **change),
    lambda x, **change: faro.roll(x, (1, -2), (0, 1), **change),
    lambda x, **change: faro.roll(x, 2, 1, inverse=True, **change),
    lambda x, **change: faro.permute(x, maps.random(60, 5), **change),
    lambda x, **change: faro.permute(x, maps.random(60, 5), inverse=True, **change),
    lambda x, **change: faro.permute(x, "flip", axis=0, **change),
    lambda x, **change: faro.permute(x, maps.random(10, 1), axis=1, inverse=True, **change),
    lambda x, **change: faro.permute(x, "affine_mod(60, 7, 3)", **change),
    lambda x, **change: faro.take(x, [5, 0, 0, 3], 0, **change),
    lambda x, **change: faro.take(x, [3, 1, 0, 2, 5, 4], 0, inverse=True, **change),
    lambda x, **change: faro.flip(x, 0, **change),
])
def test_every_function_that_moves(move, change):
    x = np.random.default_rng(7).standard_normal((6, 10)).astype(np.float32)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2], x[::-1]):
        wanted = changed(move(given), **change)
        got = move(given, **change)
        assert got.dtype == wanted.dtype and np.array_equal(got, wanted)
        room = np.full((*wanted.shape[:-1], 3 * wanted.shape[-1]), 7, wanted.dtype)
        move(given, **change, out=room[..., ::3])
        assert np.array_equal(room[..., ::3], wanted) and (room[..., 1::3] == 7).all()
        total = room[..., ::3].copy()
        move(given, **{**change, "dtype": wanted.dtype}, add=total, out=total, beta=-1)
        exact = move(given).astype(np.float32) * np.asarray(change.get("scale", 1), np.float32) + np.float32(change.get("offset", 0))
        assert np.array_equal(total, (exact - wanted.astype(np.float32)).astype(wanted.dtype))


def test_shapes_that_texts_and_patterns_give():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((6, 10)).astype(np.float32)
    assert np.array_equal(faro.permute(x, "transpose", dtype="float16", scale=ALONG[:6]), (x.T * ALONG[:6]).astype(np.float16))
    z = rng.standard_normal((2, 6, 5)).astype(np.float32)
    pattern = "b (h d) s -> b h s d"
    for inverse, given in ((False, z), (True, faro.rearrange(z, pattern, h=3))):
        got = faro.rearrange(given, pattern, h=3, inverse=inverse, dtype="float64", scale=3)
        assert np.array_equal(got, faro.rearrange(given, pattern, h=3, inverse=inverse).astype(np.float64) * 3)
    named = faro.rearrange(z, "b scale s -> s scale b", scale=6)  # an axis of the pattern's
    assert named.shape == (5, 6, 2)
    state = (rng.standard_normal((3, 8)) + 1j).astype(np.complex64)
    for little in (False, True):
        got = faro.permute_qubits(state, (2, 0, 1), little_endian=little, op="conj")
        assert np.array_equal(got, faro.permute_qubits(state, (2, 0, 1), little_endian=little).conj())
    assert np.array_equal(faro.aos_to_soa(x, dtype="int8"), x.T.astype(np.int8))
    assert np.array_equal(faro.bit_reverse(x[:, :8], 1, dtype="float64"), faro.bit_reverse(x[:, :8], 1).astype(np.float64))
    assert faro.permute(np.float32(2.5), "identity", dtype="int8").tolist() == 2
    part = "strided(2 3; 6 1; 3 1)"  # no permutation
    assert np.array_equal(faro.permute(x[:3].reshape(-1)[:12], part, dtype="int8"), faro.permute(x[:3].reshape(-1)[:12], part).astype("int8"))
    assert faro.roll(np.zeros((0, 3), np.float32), 1, dtype="float16").shape == (0, 3)


def test_rows_by_a_kept_plan_are_those_of_each_call():
    x = np.arange(60, dtype=np.int32).reshape(5, 4, 3)
    for type_ in ("int32", "uint64", "int16"):
        for axis in (0, -1, None):
            for first in range(3):
                indices = np.array([[first, 2], [0, 1]], dtype=type_)
                got = faro.take(x, indices, axis, dtype="float64", scale=2)
                assert got.dtype == np.float64 and np.array_equal(got, np.take(x, indices, axis) * 2.0)
        for wrong in (5, 6):
            with pytest.raises(faro.FaroValueError, match=f"row {wrong} at position 1"):
                faro.take(x, np.array([0, wrong], dtype=type_), 0, dtype="float64")
    assert np.array_equal(faro.take(x[::2], np.array([2, 0]), 0, dtype="float32"), x[[4, 0]].astype(np.float32))
    numbers = np.array([2, 0, 1])
    for _ in range(2):
        assert faro.take(numbers, numbers, 0, dtype="int8").tolist() == [1, 2, 0]


def test_rows_that_are_filled_put_and_added():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((6, 10)).astype(np.float32)
    got = faro.take(x, [2, -1, 5], 0, fill=0, dtype="float16", offset=1)
    assert np.array_equal(got, np.stack([x[2] + 1, np.zeros(10), x[5] + 1]).astype(np.float16))
    kept = np.full((3, 10), 7, np.float16)
    faro.take(x, [2, -1, 5], 0, fill="keep", dtype="float16", out=kept)
    assert np.array_equal(kept, np.stack([x[2], np.full(10, 7), x[5]]).astype(np.float16))
    assert faro.take(x, [-1], 0, fill=2.5, dtype="float64").tolist() == [[2.5] * 10]
    for out in (np.zeros((8, 10), np.float16), np.zeros((10, 8), np.float16).T):
        wanted = out.copy()
        wanted[[3, 1]] = (x[:2] * 2 + ALONG).astype(np.float16)
        assert faro.put(out, [3, -1, 1], x[[0, 4, 1]], scale=2, offset=ALONG) is out and np.array_equal(out, wanted)
        total = out.astype(np.float64)
        wanted = total.copy()
        np.add.at(wanted, [3, 1, 3], x[:3].astype(np.float64) * 0.5)
        assert np.array_equal(faro.add_at(total, [3, 1, 3], x[:3], scale=0.5), wanted)


def test_addends_of_rows_that_are_put_and_added():
    rng = np.random.default_rng(10)
    x, other = rng.standard_normal((3, 10)).astype("float32"), rng.integers(-9, 9, (3, 10)).astype("int16")
    for out in (np.zeros((8, 10), np.float16), np.zeros((10, 8), ">f8").T):
        wanted = out.copy()
        kind = np.promote_types(out.dtype, np.float32)
        wanted[[3, 1]] = x[:2].astype(kind) * 2 + other[:2].astype(kind) / 2
        assert faro.put(out, [3, 1, -1], x, scale=2, add=other, beta=0.5) is out and np.array_equal(out, wanted)
    total = np.ones((4, 10))
    faro.add_at(total, [2, 2, 0], x, add=other)
    wanted = np.ones((4, 10))
    np.add.at(wanted, [2, 2, 0], x.astype(float) + other)
    np.testing.assert_allclose(total, wanted, atol=1e-6)
    before = total.copy()
    with pytest.raises(faro.FaroValueError):
        faro.put(total, [0, 1, 2], x, add=other[:2])
    with pytest.raises(faro.FaroValueError):
        faro.put(total, [0, 1, 9], x, add=other)
    assert np.array_equal(total, before)


def test_segments_and_routed_rows():
    x = np.random.default_rng(4).normal(size=(50, 7)).astype("float32")
    offsets, indices = [0, 3, 3, 20, 50], [2, 0, 3, 1, 2]
    plain, begins = faro.take_segments(x, offsets, indices)
    values, where = faro.take_segments(x, offsets, indices, dtype="float16", scale=2, offset=np.arange(7.0))
    same(where, begins)
    same(values, (plain * np.float32(2) + np.arange(7, dtype="float32")).astype("float16"))
    out = np.zeros((len(plain), 7), "float64")
    assert faro.take_segments(x, offsets, indices, out=out, op="neg")[0] is out
    same(out, -plain.astype("float64"))
    same(faro.take_segments(x, [0], [], dtype="int8")[0], np.empty((0, 7), "int8"))

    keys = np.random.default_rng(5).integers(-1, 6, (50, 2))
    routing = faro.route(keys, 6, multiple=4)
    sent = faro.dispatch(x, routing)
    padding = np.asarray(routing.rows) < 0
    changed = faro.dispatch(x, routing, dtype="float64", scale=3, offset=1)
    same(changed, np.where(padding[:, None], 0, sent.astype("float64") * 3 + 1))
    weights = np.linspace(0, 1, keys.size, dtype="float32")
    same(faro.combine(sent, routing, weights, dtype="float16", scale=0.5),
         (faro.combine(sent, routing, weights) * np.float32(0.5)).astype("float16"))
    total = np.ones_like(x)
    faro.combine(sent, routing, add=total, out=total)
    same(total, faro.combine(sent, routing) + 1)
    for call in (lambda: faro.dispatch(x[:40], routing, scale=2), lambda: faro.take_segments(x, [0, 60], [0], scale=2),
                 lambda: faro.take_segments(x, [0, 5], [1], scale=2), lambda: faro.dispatch(np.float32(1), routing, scale=2)):
        with pytest.raises(faro.FaroValueError):
            call()


def test_in_place():
    x = np.random.default_rng(10).standard_normal((32, 32)).astype(np.float32)
    for move in (lambda a, **how: faro.permute(a, "bit_reversal", **how), lambda a, **how: faro.permute_dims(a, (1, 0), **how),
                 lambda a, **how: faro.flip(a, 0, **how), lambda a, **how: faro.roll(a, 5, 1, **how),
                 lambda a, **how: faro.permute(a, "gray(5)", axis=0, **how)):
        for order in "CF":
            a = np.array(x, order=order)
            if order == "F" and "permute" in str(move.__code__.co_names) and "permute_dims" not in str(move.__code__.co_names):
                continue  # maps are of dense arrays
            got = move(a, in_place=True, dtype="int32", scale=100)
            assert np.shares_memory(got, a) and got.dtype == np.int32
            assert np.array_equal(got, (move(x) * np.float32(100)).astype(np.int32))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64", "bool", "complex128"])
def test_buffers_without_a_library(dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    moved = faro.astype(memoryview(x), "float32", (1, 0))
    assert moved.dtype == np.float32 and np.array_equal(moved, x.T.real.astype(np.float32))
    assert np.array_equal(faro.permute_dims(memoryview(x), (1, 0), dtype=dtype, add=memoryview(x.T.copy())), (x.T + x.T).astype(dtype))
    out = np.zeros((4, 3), dtype)
    faro.permute_dims(memoryview(x), (1, 0), scale=1, out=memoryview(out))
    assert np.array_equal(out, x.T)
    assert np.array_equal(faro.permute(memoryview(np.ravel(x)[:8]), maps.bit_reversal(3), dtype="float64"),
                          np.ravel(x)[[0, 4, 2, 6, 1, 5, 3, 7]].real.astype(np.float64))
    assert faro.astype(bytearray(b"\x01\xff"), "int16").tolist() == [1, 255]


def test_extents_of_0_and_1():
    assert faro.astype(np.zeros((3, 0, 2), np.uint8), "float32", (2, 1, 0)).shape == (2, 0, 3)
    assert faro.astype(np.array(2.7), "int32").tolist() == 2
    assert faro.astype(np.ones((1, 1), np.float16), "bool").tolist() == [[True]]


@pytest.mark.parametrize("call,said", [
    (lambda x: faro.permute_dims(x, scale=np.ones((2, 2))), "along one axis at most"),
    (lambda x: faro.permute_dims(x, scale=np.ones(5)), "along one axis at most"),
    (lambda x: faro.permute_dims(x, dtype="float31"), "float31"),
    (lambda x: faro.permute_dims(x, dtype="U3"), "numbers of the types"),
    (lambda x: faro.permute_dims(x, op="cube"), "op='cube'"),
    (lambda x: faro.permute_dims(x, beta=2), "beta= without add="),
    (lambda x: faro.permute_dims(x, add=np.ones((2, 3))), "shape (3, 2)"),
    (lambda x: faro.permute_dims(x, dtype="float32", in_place=True), "float64 to float32 in place"),
    (lambda x: faro.permute_dims(x, scale=np.ones(2), in_place=True), "an array as scale="),
    (lambda x: faro.roll(x, 1, add=np.ones((3, 2))), "shape (2, 3)"),
    (lambda x: faro.permute(x, "flip", dtype="float32", out=np.empty((2, 3), np.int32)), "elements float32"),
    (lambda x: faro.permute(x, "flip", axis=1, scale=np.ones((2, 3))), "along one axis at most"),
    (lambda x: faro.permute(x, maps.random(5, 1), dtype="float32"), "5, as the map has"),
    (lambda x: faro.roll(x, 1, add=x, out=x), "disjoint"),
    (lambda x: faro.take(x, [2], 0, dtype="float32"), "row 2 at position 0"),
    (lambda x: faro.take(x, [0], 0, dtype="float32", fill="no"), "fill"),
    (lambda x: faro.take(x, [0, 0], 0, inverse=True, dtype="float32"), "entry 1 is 0"),
    (lambda x: faro.put(x, [1, 1], np.ones((2, 3), np.int8), dtype="float64"), "row 1"),
    (lambda x: faro.put(x, [1], np.ones((1, 3), np.int8), dtype="float32"), "elements float32"),
    (lambda x: faro.put(x, [1], np.ones((1, 3)), add=x), "add= of shape (2, 3)"),
    (lambda x: faro.add_at(x, [1], np.ones((1, 3)), scale=np.ones((2, 1))), "differs from row to row"),
    (lambda x: faro.add_at(x.view(x.dtype.newbyteorder()), [1], np.ones((1, 3)), scale=2), "this machine's byte order"),
    (lambda x: faro.put(x, [1], x[:1], scale=2), "disjoint"),
    (lambda x: faro.permute_dims(x, dtype="float32", out=np.empty((3, 2), np.float64)), "elements float32"),
    (lambda x: faro.permute_dims(x, add=x.T, out=x.T), "disjoint"),
    (lambda x: faro.astype(np.array(["a"]), "float32"), "numbers of the types"),
    (lambda x: faro.channels_first(x), "2 axes"),
    (lambda x: faro.channels_first(x[None], std=0), "std= of 0"),
    (lambda x: faro.astype(np.ma.array(x, mask=True), "float32"), "masked"),
])
def test_refusals(call, said):
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    before = x.copy()
    with pytest.raises(faro.FaroError) as told:
        call(x)
    assert said in str(told.value), str(told.value)
    assert np.array_equal(x, before)
    with pytest.raises(TypeError, match="scael"):
        faro.permute_dims(x, scael=2)


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    x = torch.randn(6, 5, 4)
    got = faro.permute_dims(x, (2, 0, 1), dtype=torch.bfloat16)
    assert got.dtype == torch.bfloat16 and torch.equal(got, x.permute(2, 0, 1).to(torch.bfloat16).contiguous())
    assert torch.equal(faro.astype(x, "float8_e4m3fn").float(), x.to(torch.float8_e4m3fn).float())
    scale = torch.rand(5, 4)[:, :1]
    assert torch.equal(faro.astype(x, torch.float32, scale=scale), x * scale)
    assert torch.equal(faro.astype(x.to(torch.complex64).conj(), torch.complex64, op="conj"), x.to(torch.complex64))
    moves = (lambda y, **how: faro.roll(y, 3, **how), lambda y, **how: faro.permute(y, maps.random(20, 5), **how),
             lambda y, **how: faro.permute(y, "flip", axis=1, **how), lambda y, **how: faro.take(y, [3, 0, 3], 0, **how),
             lambda y, **how: faro.permute_qubits(y.reshape(5, 4), (1, 0), **how))
    for move in moves:  # at once, and in two sweeps, of which PyTorch records the second
        wanted = move(x[0]).to(torch.float64) * 2.5
        recorded = move(x[0].clone().requires_grad_(), dtype=torch.float64, scale=2.5)
        assert torch.equal(move(x[0], dtype=torch.float64, scale=2.5), wanted) and torch.equal(recorded.detach(), wanted) and recorded.requires_grad
    kept = x.clone()
    got = faro.flip(kept, 0, in_place=True, dtype=torch.int32, scale=100)
    assert got.data_ptr() == kept.data_ptr() and torch.equal(got, (x.flip(0) * 100).to(torch.int32))
    assert faro.astype(x.requires_grad_(), torch.float64).requires_grad


def test_arrays_of_jax_by_maps_and_rows():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
    for move in (lambda y, **how: faro.roll(y, 3, **how), lambda y, **how: faro.permute(y, maps.random(12, 5), **how),
                 lambda y, **how: faro.permute(y, "flip", axis=1, **how), lambda y, **how: faro.take(y, jnp.array([2, 0, 2]), 0, **how)):
        got = move(x, dtype="int8", scale=2.5)
        assert got.dtype == jnp.int8 and np.array_equal(got, (np.asarray(move(x)) * np.float32(2.5)).astype(np.int8))
    with pytest.raises(faro.FaroError, match="JAX"):
        faro.flip(x, 0, in_place=True, scale=2)
