"""Every function over every kind of element that NumPy has, beside NumPy; and one process with many threads at once."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import faro

ml_dtypes = pytest.importorskip("ml_dtypes")

DTYPES = ["i1", "u2", "f4", "f8", "c8", "c16", "?", "S5", "U3", "M8[ns]", "m8[s]", "V7", ">i4", ">f8", "f2", ml_dtypes.bfloat16,
          ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, [("a", "i4"), ("b", "f8")], [("a", "u1"), ("b", "(2,3)i2")]]
SHAPES = [(), (1,), (0,), (2, 3, 4), (0, 3, 2), (5, 1, 7), (2, 2, 2, 2, 2), (40, 33)]


def filled(shape, dtype):
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    if dtype.kind == "U":
        return np.random.default_rng(1).integers(97, 110, (size, 3), np.uint32).view(dtype).reshape(shape)
    values = np.random.default_rng(1).integers(0, 2 if dtype.kind == "b" else 250, (size, dtype.itemsize), np.uint8)
    return np.ascontiguousarray(values).view(dtype).reshape(shape)


def assert_same(got, wanted):
    """Bit by bit: NaNs are equal to themselves."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    assert got.tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_beside_numpy(dtype, shape):
    x = filled(shape, dtype)
    rank = len(shape)
    for order in itertools.islice(itertools.permutations(range(rank)), 8):
        assert_same(faro.permute_dims(x, order), x.transpose(order))
        assert_same(faro.permute_dims(x, tuple(a - rank for a in order)), x.transpose(order))
    assert_same(faro.transpose(x), x.T)
    assert_same(faro.flip(x), np.flip(x) if rank else x)
    assert_same(faro.ascontiguousarray(x), x)
    for shift in (0, 1, -3, 2**40 + 1):
        assert_same(faro.roll(x, shift), np.roll(x, shift))
    for axis in range(-rank, rank):
        assert_same(faro.flip(x, axis), np.flip(x, axis))
        for shift in (0, 5, -7):
            assert_same(faro.roll(x, shift, axis), np.roll(x, shift, axis))
        index = [[0], [shape[axis] - 1]] if x.size else np.zeros((2, 0), int)
        assert_same(faro.take(x, index, axis), np.take(x, index, axis))
    if rank:
        back = faro.put(np.zeros_like(x), np.arange(shape[0])[::-1].copy(), x)
        assert_same(back, x[::-1])
    if rank > 1:
        for view in (x[:, ::-1], x[::-1, 1:], x[..., ::2], np.broadcast_to(x, (3, *shape)), x.T[1:]):
            assert_same(faro.ascontiguousarray(view), view)
            assert_same(faro.permute_dims(view), view.T)


@pytest.mark.parametrize("call", [
    lambda x, out: faro.permute_dims(x, (2, 0, 1), out=out), lambda x, out: faro.flip(x, out=out),
    lambda x, out: faro.roll(x, 1, out=out), lambda x, out: faro.ascontiguousarray(x, out=out),
    lambda x, out: faro.permute(x, "flip", out=out), lambda x, out: faro.take(x, [0], 0, out=out),
    lambda x, out: faro.rearrange(x, "a b c -> c a b", out=out),
])
def test_wrong_outputs_stay_as_they_were(call):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    frozen = np.zeros((4, 2, 3), "f4")
    frozen.flags.writeable = False
    for out in (np.zeros(7), np.zeros((4, 2, 3), "i8"), np.zeros((4, 2, 3), "f8"), x, frozen, np.zeros((2, 3, 4), ">f8"), [1, 2], "abc", 5):
        before = np.array(out, copy=True)
        with pytest.raises(faro.FaroError) as refused:
            call(x, out)
        assert "\n" not in str(refused.value)
        assert (np.asarray(out) == before).all()


def test_many_threads_at_once():
    """Plans, caches, maps, rows and errors from many threads: what a build without the interpreter's lock needs, too."""
    x = np.arange(6 * 7 * 8, dtype="i4").reshape(6, 7, 8)
    index = np.random.default_rng(5).integers(0, 6, 50)
    start = threading.Barrier(8)

    def work(k):
        start.wait()
        for i in range(60):
            n = 2 + (i * 7 + k) % 40
            y = np.arange(n * 9, dtype="u2").reshape(n, 9)
            total = np.zeros(6)
            faro.add_at(total, index, np.ones(50))
            assert (faro.permute_dims(x, (2, 0, 1)) == x.transpose(2, 0, 1)).all()
            assert (faro.permute_dims(y, (1, 0)) == y.T).all()
            assert (faro.roll(y, i, 0) == np.roll(y, i, 0)).all()
            assert (faro.take(x, index, 0) == x[index]).all()
            assert (total == np.bincount(index, minlength=6)).all()
            assert (faro.permute(np.arange(32), faro.maps.gray(5), inverse=True) == faro.permute(np.arange(32), "gray(5)", inverse=True)).all()
            assert (faro.flip(y.copy(), 0, in_place=True) == y[::-1]).all()
            with pytest.raises(faro.FaroValueError, match=f"row {6 + k} "):  # each thread's own
                faro.take(x, [6 + k], 0)
            if i % 20 == 0:
                faro.clear_plans()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
