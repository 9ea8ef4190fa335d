"""Dense arrays of every order and direction, and rows of every width, permuted where they are."""

import itertools

import numpy as np
import pytest

import faro
from faro import maps


def layouts(x):
    """Arrays equal to ``x``, dense in every order of its axes and in both directions of each, and the memory of each."""
    for order in itertools.permutations(range(x.ndim)):
        for signs in itertools.product((1, -1), repeat=x.ndim):
            memory = np.empty([x.shape[a] for a in order], x.dtype)
            given = memory.transpose(np.argsort(order).astype(int))[(..., *(slice(None, None, sign) for sign in signs))]
            given[...] = x
            yield given, memory


def filled(shape, dtype):
    count, width = int(np.prod(shape)), np.dtype(dtype).itemsize
    return np.random.default_rng(7).integers(0, 256, count * width, np.uint8).view(dtype).reshape(shape)


def check(x, call, wanted, may_refuse=False):
    """The result is NumPy's, on the same memory, and the array itself where its shape stays."""
    done = 0
    for given, memory in layouts(x):
        before = memory.tobytes()
        try:
            got = call(given)
        except faro.FaroUnsupportedError:
            assert may_refuse and memory.tobytes() == before
            continue
        assert got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), given.strides
        assert not x.size or np.shares_memory(got, memory)
        assert got is given or got.shape != given.shape
        done += 1
    assert done or may_refuse


SHAPES = [(), (1,), (0,), (5,), (8,), (4, 4), (3, 5), (1, 5), (5, 1), (0, 3), (1, 1, 1), (4, 4, 4), (3, 3, 3), (2, 3, 4),
          (2, 4, 8), (5, 1, 5)]


@pytest.mark.parametrize("dtype", ["f8", "u1", "V3"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_dense_arrays_of_any_order(shape, dtype):
    x = filled(shape, dtype)
    rank = len(shape)
    for axis in (None, *range(rank)):
        check(x, lambda v, axis=axis: faro.flip(v, axis, in_place=True), np.flip(x, axis))
        for shift in (1, -2):
            check(x, lambda v, axis=axis, shift=shift: faro.roll(v, shift, axis, in_place=True), np.roll(x, shift, axis),
                  axis is None)
    for order in itertools.permutations(range(rank)):
        check(x, lambda v, order=order: faro.permute_dims(v, order, in_place=True), x.transpose(order).copy(), True)
    check(x, lambda v: faro.permute(v, "transpose", in_place=True), x.T.copy(), True)
    if x.size and x.size & (x.size - 1) == 0:
        check(x, lambda v: faro.bit_reverse(v, in_place=True),
              faro.bit_reverse(x) if dtype != "V3" else permuted(x, "bit_reversal"), dtype == "V3")
    for axis in range(rank):
        for text in ("flip", "roll(1)", "gray", "bit_reversal"):
            extent = shape[axis]
            if text in ("flip", "roll(1)") or extent and extent & (extent - 1) == 0:
                if extent:
                    wanted = np.take(x, (~maps.parse(text, (extent,))).indices.astype(int), axis)
                    check(x, lambda v, text=text, axis=axis: faro.permute(v, text, axis=axis, in_place=True), wanted)


def permuted(x, text):
    return x.reshape(-1)[(~maps.parse(text, (x.size,))).indices.astype(int)].reshape(x.shape)


@pytest.mark.parametrize("pattern", ["a b c -> c (b a)", "a b c -> (a b) c", "a b c -> c b a", "(a d) b c -> b (a c) d, d=2"])
def test_patterns(pattern):
    for shape in ((2, 4, 8), (4, 4, 4), (2, 1, 1)):
        x = filled(shape, "f4")
        check(x, lambda v: faro.rearrange(v, pattern, in_place=True), faro.rearrange(x, pattern), True)


def test_two_axes_need_no_move_where_the_order_is_theirs():
    x = np.asfortranarray(np.arange(15.0).reshape(3, 5))
    got = faro.permute_dims(x, (1, 0), in_place=True)
    assert got.shape == (5, 3) and got.flags.c_contiguous and got.base is not None and (got == x.T).all()


def test_one_element_gets_its_new_shape():
    x = np.zeros((1, 1, 1))
    assert faro.rearrange(x, "a b c -> (a b) c", in_place=True).shape == (1, 1)
    assert faro.permute_dims(np.zeros((1, 5)), (1, 0), in_place=True).shape == (5, 1)
    assert faro.permute_dims(np.zeros((0, 5, 2)), (1, 2, 0), in_place=True).shape == (5, 2, 0)
    assert faro.permute(np.zeros((1, 1, 0)), "axes(2 0 1)", in_place=True).shape == (0, 1, 1)
    assert faro.permute(np.zeros((1, 0)), "transpose", in_place=True).shape == (0, 1)
    assert faro.aos_to_soa(np.zeros((1, 1)), in_place=True).shape == (1, 1)


def test_states_of_qubits():
    for shape in ((3, 16), (16,), (2, 2, 2, 2)):
        x = filled(shape, "c8")
        check(x, lambda v: faro.permute_qubits(v, (2, 0, 3, 1), in_place=True), faro.permute_qubits(x, (2, 0, 3, 1)), True)


# Rows of powers of two of bytes, of odd multiples of them, and of neither; a few of other widths below a unit.
WIDTHS = [(4, 1024, "f8"), (8, 1025, "f8"), (16, 5003, "f8"), (7, 5003, "u1"), (32, 4099, "u1"), (12, 3000, "f4"),
          (8, 2, "V5000"), (6, 65536, "u1"),
          (16, 3, "f4"), (16, 5, "u1")]


@pytest.mark.parametrize("rows, columns, dtype", WIDTHS)
@pytest.mark.parametrize("outer", [1, 3])
def test_rows_of_any_width_along_an_axis(rows, columns, dtype, outer):
    x = filled((outer, rows, columns), dtype)
    texts = ["flip", "roll(3)"]
    if rows & (rows - 1) == 0:
        texts += ["bit_reversal", "gray", "reverse", "circuit(x 0; cx 0 1)"]
    if columns * x.itemsize > 4096:
        texts += ["random(3)", "multiply(5)"]
    for text in texts:
        y, by = x.copy(), maps.parse(text, (rows,))
        wanted = x[:, (~by).indices.astype(int)]
        assert faro.permute(y, text, axis=1, in_place=True) is y and y.tobytes() == wanted.tobytes(), text
        assert faro.permute(y, by, axis=1, inverse=True, in_place=True).tobytes() == x.tobytes(), text
        assert faro.permute(x, text, axis=1).tobytes() == wanted.tobytes() if columns * x.itemsize > 4096 else True


@pytest.mark.parametrize("text", ["bit_reversal(14)", "compose(gray(14), xor(14, 0x1235))", "random_bmmc(14, 3)"])
@pytest.mark.parametrize("width", [1, 3, 5, 6, 7, 12, 24, 100])
def test_many_rows_of_odd_widths_by_affine_maps(text, width):
    """More rows than are listed at once, and fewer in several arrays."""
    x = filled((1 << 14, width), "u1")
    sources = np.asarray((~maps.parse(text)).indices)
    same = x[sources]
    assert (faro.permute(x.copy(), text, axis=0, in_place=True) == same).all()
    few = maps.parse(text.replace("14", "8").replace("0x1235", "0x35"))
    y = filled((3, 1 << 8, width), "u1")
    assert (faro.permute(y.copy(), few, axis=1, in_place=True) == y[:, np.asarray((~few).indices)]).all()


def test_wide_rows_by_threads():
    x = filled((64, 1 << 17), "u1")
    by = maps.random(64, 5)
    wanted = x[(~by).indices.astype(int)]
    assert (faro.permute(x.copy(), by, axis=0, in_place=True) == wanted).all()


def test_what_does_not_fill_its_memory_is_refused():
    x = np.arange(32.0).reshape(4, 8)
    for given in (x[:, ::2], x[:3, :4], np.lib.stride_tricks.as_strided(x, (3, 3), (8, 8))):
        before = x.copy()
        for call in (faro.flip, faro.permute_dims, lambda v, in_place: faro.roll(v, 1, 0, in_place=in_place),
                     lambda v, in_place: faro.permute(v, "flip", axis=0, in_place=in_place)):
            with pytest.raises(faro.FaroValueError, match="fills its memory") as refused:
                call(given, in_place=True)
            assert "in_place=" in refused.value.remedy and (x == before).all()


def test_channels_last():
    torch = pytest.importorskip("torch")
    x = torch.arange(256.0).reshape(2, 8, 4, 4)
    calls = [lambda v, **how: faro.flip(v, (2, 3), **how), lambda v, **how: faro.roll(v, 1, 2, **how),
             lambda v, **how: faro.bit_reverse(v, 1, **how),
             lambda v, **how: faro.permute_dims(v, (0, 1, 3, 2), **how),
             lambda v, **how: faro.permute_dims(v, (0, 2, 3, 1), **how)]
    for call in calls:
        given = x.clone().contiguous(memory_format=torch.channels_last)
        address, wanted = given.data_ptr(), call(x)
        got = call(given, in_place=True)
        assert got.shape == wanted.shape and torch.equal(got, wanted) and got.data_ptr() == address
        assert got.shape != given.shape or (got is given and got.is_contiguous(memory_format=torch.channels_last))
