"""faro.family: one plan for arrays of all shapes, beside NumPy."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import faro


def moved(x, axes, flip, roll):
    x = np.flip(x, flip) if flip else x
    for axis, shift in enumerate(roll):
        x = np.roll(x, shift, axis)
    return x.transpose(axes)


@pytest.mark.parametrize("seed", range(40))
def test_drawn_families(seed):
    draw = random.Random(seed)
    rank = draw.randrange(1, 6)
    dtype = np.dtype(draw.choice(["u1", "f2", "f4", "f8", "c16", "V12", "V3"]))
    fixed = [draw.randrange(1, 9) if draw.random() < 0.5 else None for _ in range(rank)]
    axes = draw.sample(range(rank), rank)
    flip = [a for a in range(rank) if draw.random() < 0.3]
    roll = [draw.randrange(-20, 20) if draw.random() < 0.3 else 0 for _ in range(rank)]
    move = faro.family(fixed, axes, itemsize=dtype.itemsize, flip=flip, roll=roll, threads=draw.choice([0, 1, 3]))
    assert move.shape == tuple(fixed) and move.axes == tuple(axes)
    for _ in range(6):
        shape = [draw.choice([0, 1, 2, 5, 17, 40]) if e is None else e for e in fixed]
        x = np.frombuffer(draw.randbytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
        wanted = moved(x, axes, flip, roll)
        assert move(x).tobytes() == wanted.tobytes() and move(x).shape == wanted.shape
        out = np.zeros(wanted.shape, dtype)
        assert move(x, out) is out and out.tobytes() == wanted.tobytes()
        # Strides of the input, and of the output.
        apart = np.zeros([2 * e for e in shape], dtype)[tuple(slice(None, None, -2) for _ in shape)]
        apart[...] = x
        assert move(apart).tobytes() == wanted.tobytes()
        wide = np.zeros([3 * e for e in wanted.shape], dtype)
        assert move(apart, wide[tuple(slice(1, None, 3) for _ in shape)]) is not None
        assert wide[tuple(slice(1, None, 3) for _ in shape)].tobytes() == wanted.tobytes()


def test_arrays_of_other_kinds():
    move = faro.family((None, 3), (1, 0), itemsize=8)
    x = np.arange(12.0).reshape(4, 3)
    assert (np.asarray(move(memoryview(x))) == x.T).all()
    masked = move(np.ma.MaskedArray(x, mask=x > 5))
    assert (masked.mask == (x.T > 5)).all() and (masked.data == x.T).all()
    torch = pytest.importorskip("torch")
    got = move(torch.from_numpy(x)[::2])
    assert torch.is_tensor(got) and (got.numpy() == x[::2].T).all()


def test_gradients_go_by_operators():
    torch = pytest.importorskip("torch")
    move = faro.family((None, None), (1, 0), itemsize=4, flip=(0,), roll=(0, 1))
    x = torch.randn(3, 4, requires_grad=True)
    wanted = x.flip(0).roll(1, 1).t().contiguous()
    got = move(x)
    assert torch.equal(got, wanted)
    weights = torch.randn(4, 3)
    assert torch.equal(torch.autograd.grad(got, x, weights)[0], torch.autograd.grad(wanted, x, weights)[0])
    with pytest.raises(faro.FaroValueError, match="extents="):
        move(x, extents=torch.tensor([3, 4]))


def test_called_by_many_threads():
    move = faro.family((None, None), (1, 0), itemsize=4)

    def call(first):
        for n in range(200):
            x = np.arange(first * n, dtype="i4").reshape(first, n)
            assert (move(x) == x.T).all(), (first, n)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(call, (3, 5, 40, 70)))


def test_refusals():
    x = np.zeros((4, 3))
    move = faro.family((None, 3), (1, 0), itemsize=8, most=5)
    for given in (np.zeros((4, 4)), np.zeros(3), np.zeros((4, 3), "f4")):
        with pytest.raises(faro.FaroValueError, match="None being any extent"):
            move(given)
    with pytest.raises(faro.FaroValueError, match="an extent of 6 for axis 0, wanted at most 5"):
        move(np.zeros((6, 3)))
    with pytest.raises(faro.FaroValueError, match="two disjoint arrays"):
        move(x, x.reshape(3, 4))
    with pytest.raises(faro.FaroValueError):
        move(x, np.zeros((4, 3)))
    with pytest.raises(faro.FaroValueError, match="for a family of the host"):
        move(x, np.zeros((3, 4)), extents=np.array([4]))
    with pytest.raises(faro.FaroValueError, match="order|each of the 2 axes once"):
        faro.family((None, 3), (1, 1), itemsize=8)
    with pytest.raises(faro.FaroValueError, match="2 shifts, one for each axis"):
        faro.family((None, 3), roll=(1,), itemsize=8)
    with pytest.raises(faro.FaroValueError, match="most= of 2 extents"):
        faro.family((None, 3), most=(4, 5), itemsize=8)
    with pytest.raises(faro.FaroValueError, match="axis 2"):
        faro.family((None, 3), flip=(2,), itemsize=8)
    with pytest.raises(faro.FaroUnsupportedError, match="2\\^40"):
        faro.family((2**30, 2**30), itemsize=8)
    with pytest.raises(faro.FaroValueError, match="explain"):
        move.explain()
    assert "boxes" in move.explain(4) or "runs" in move.explain(4)
