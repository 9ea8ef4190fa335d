"""The way back of every function, and what is done in place, beside the way there."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import faro

shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6)


def numbered(shape, dtype="i4"):
    return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)


@given(shapes, st.data())
def test_inverses(shape, data):
    x = numbered(shape)
    axes = data.draw(st.permutations(range(x.ndim)))
    signed = [a - x.ndim if data.draw(st.booleans()) else a for a in axes]
    shift, axis = data.draw(st.integers(-9, 9)), data.draw(st.none() | st.integers(0, x.ndim - 1))
    for there in (
        lambda y, **how: faro.permute_dims(y, signed, **how),
        lambda y, **how: faro.transpose(y, **how),
        lambda y, **how: faro.flip(y, axis, **how),
        lambda y, **how: faro.roll(y, shift, axis, **how),
        lambda y, **how: faro.roll(y, (shift, 2), (0, x.ndim - 1), **how),
        lambda y, **how: faro.permute(y, f"random({x.size}, 3)", **how),
        lambda y, **how: faro.permute(y, faro.maps.roll(x.size, shift), **how),
    ):
        back = there(there(x), inverse=True)
        assert back.shape == x.shape and (back == x).all()


@given(st.permutations(range(4)), st.booleans(), st.booleans())
def test_inverses_of_qubits(order, little_endian, in_place):
    x = numbered((3, 16), "c16")
    there = faro.permute_qubits(x.copy(), order, little_endian=little_endian, in_place=in_place)
    assert (there == faro.permute_qubits(x, order, little_endian=little_endian)).all()
    back = faro.permute_qubits(there, order, little_endian=little_endian, inverse=True, in_place=in_place)
    assert (back == x).all()


def test_inverses_of_patterns_and_structures():
    x = numbered((2, 6, 5))
    there = faro.rearrange(x, "b (h d) s -> b h s d", h=3)
    assert (faro.rearrange(there, "b (h d) s -> b h s d", inverse=True, h=3) == x).all()
    points = numbered((7, 3))
    assert (faro.aos_to_soa(faro.aos_to_soa(points), inverse=True) == points).all()
    assert (faro.soa_to_aos(faro.soa_to_aos(points), inverse=True) == points).all()
    b = numbered((8,))
    assert (faro.bit_reverse(faro.bit_reverse(b), inverse=True) == b).all()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("kind", ["i4", "i8", "u8"])
def test_inverse_of_take(axis, kind):
    x = numbered((5, 5))
    p = np.random.default_rng(1).permutation(25 if axis is None else 5).astype(kind)
    taken = faro.take(x, p, axis)
    back = faro.take(taken, p, axis, inverse=True)
    assert (back.reshape(5, 5) == x).all()
    out = np.empty_like(back)
    assert faro.take(taken, p, axis, inverse=True, out=out) is out and (out == back).all()
    for wrong in (p[:-1], np.zeros_like(p)):
        with pytest.raises(faro.FaroValueError):
            faro.take(taken, wrong, axis, inverse=True)
    with pytest.raises(faro.FaroValueError, match="fill"):
        faro.take(taken, p, axis, inverse=True, fill=0)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16"])
def test_in_place(dtype):
    x = numbered((4, 8, 2), dtype)
    for there in (
        lambda y, **how: faro.flip(y, **how),
        lambda y, **how: faro.flip(y, 1, **how),
        lambda y, **how: faro.flip(y, (0, -1), **how),
        lambda y, **how: faro.permute(y, "bit_reversal", axis=1, **how),
        lambda y, **how: faro.permute(y, "gray", axis=0, **how),
        lambda y, **how: faro.permute(y, faro.maps.gray(1), axis=-1, inverse=True, **how),
        lambda y, **how: faro.permute_dims(y, (2, 0, 1), **how),
        lambda y, **how: faro.permute_dims(y, (2, 0, 1), inverse=True, **how),
        lambda y, **how: faro.rearrange(y, "a (b c) d -> c a d b", b=2, **how),
        lambda y, **how: faro.aos_to_soa(y.reshape(32, 2), **how),
        lambda y, **how: faro.soa_to_aos(y.reshape(32, 2), **how),
    ):
        wanted = there(x)
        own = x.copy()
        got = there(own, in_place=True)
        assert np.shares_memory(got, own) and got.shape == wanted.shape and (got == wanted).all()
    odd = numbered((11, 3), dtype)
    wanted = faro.aos_to_soa(odd)
    got = faro.aos_to_soa(odd, in_place=True)
    assert np.shares_memory(got, odd) and (got == wanted).all()


@given(shapes, st.sampled_from(["u1", "i2", "V3", "f4", "c16", "V12"]), st.data())
def test_rolls_and_flips_in_place(shape, dtype, data):
    x = np.random.default_rng(3).integers(0, 256, shape + (np.dtype(dtype).itemsize,), np.uint8).view(dtype)[..., 0]
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1)) if shape else None
    shift = data.draw(st.integers(-9, 9))
    own = x.copy()
    assert faro.roll(own, shift, axis, in_place=True) is own
    assert own.tobytes() == np.roll(x, shift, axis).tobytes()  # bit by bit: NaNs are themselves
    assert faro.roll(own, shift, axis, inverse=True, in_place=True).tobytes() == x.tobytes()
    assert faro.flip(own, axis, in_place=True) is own
    assert own.tobytes() == np.flip(x, axis).tobytes()


def test_rolls_of_several_axes_in_place():
    x = numbered((5, 6, 7))
    wanted = np.roll(x, (2, -3, 1), (0, 2, 0))
    assert (faro.roll(x, (2, -3, 1), (0, 2, 0), in_place=True) == wanted).all()
    large = np.arange(1 << 20)[: 10**6 + 3].copy()
    wanted = np.roll(large, 12345)
    assert (faro.roll(large, 12345, in_place=True) == wanted).all()
    with pytest.raises(faro.FaroValueError, match="one of them"):
        faro.roll(x, 1, in_place=True, out=x)
    with pytest.raises(faro.FaroValueError, match="strides"):
        faro.roll(x[::2], 1, in_place=True)
    with pytest.raises(faro.FaroValueError, match="2 shifts and 3 axes"):
        faro.roll(x, (1, 2), (0, 1, 2), in_place=True)
    x.flags.writeable = False
    with pytest.raises(faro.FaroError):
        faro.roll(x, 1, in_place=True)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_transforms_there_and_back(dtype):
    x = np.random.default_rng(2).normal(size=(3, 64)).astype(dtype)
    near = 1e-3 if dtype in ("f4", "c8") else 1e-9
    assert np.allclose(faro.walsh_hadamard(faro.walsh_hadamard(x), inverse=True), x, atol=near)
    if dtype[0] == "c":
        assert np.allclose(faro.fft(x), np.fft.fft(x), atol=near)
        assert np.allclose(faro.fft(x.T, 0, inverse=True), np.fft.ifft(x.T, axis=0), atol=near)
    else:
        with pytest.raises(faro.FaroTypeError):
            faro.fft(x)
    with pytest.raises(faro.FaroTypeError):
        faro.walsh_hadamard(x.real.astype("i4"), inverse=True)
