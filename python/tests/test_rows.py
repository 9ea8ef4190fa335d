"""Rows and networks beside NumPy."""

import weakref

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import faro


@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6), st.data())
def test_take(shape, data):
    x = np.arange(np.prod(shape), dtype=data.draw(st.sampled_from(["u1", "i4", "f8", "c16"]))).reshape(shape)
    if data.draw(st.booleans()):
        x = x[::-1]
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    extent = x.size if axis is None else x.shape[axis]
    indices = data.draw(hnp.arrays(st.sampled_from(["i4", "i8", "u4", "u8", "u1"]), hnp.array_shapes(max_dims=2, min_side=0, max_side=5),
                                   elements=st.integers(0, min(extent - 1, 255))))
    got = faro.take(x, indices, axis)
    wanted = np.take(x, indices, axis)
    assert got.dtype == x.dtype and got.shape == wanted.shape and (got == wanted).all()


def test_a_fill_has_the_byte_order_of_the_elements():
    x = np.array([2, 4], np.float32).astype(pytest.importorskip("ml_dtypes").bfloat16)
    swapped = x.astype(x.dtype.newbyteorder())
    assert faro.take(swapped, [1, -1], fill=1).tobytes() == faro.take(x, [1, -1], fill=1).byteswap().tobytes()


def test_take_fills_and_refuses():
    x = np.arange(6.0).reshape(3, 2)
    assert faro.take(x, [1, -1], 0, fill=0).tolist() == [[2, 3], [0, 0]]
    assert faro.take(x, [1, -1], 0, fill=2.5).tolist() == [[2, 3], [2.5, 2.5]]
    for wrong in ([3], [-2], [-1], [0.5], ["a"]):
        with pytest.raises(faro.FaroError):
            faro.take(x, wrong, 0)
    out = np.empty((2, 2))
    assert faro.take(x, [2, 0], 0, out=out) is out and out.tolist() == [[4, 5], [0, 1]]
    with pytest.raises(faro.FaroValueError):
        faro.take(x, [2, 0], 0, out=np.empty((3, 2)))
    with pytest.raises(faro.FaroValueError):
        faro.take(np.zeros((3, 0)), [5], 0)
    assert faro.take(np.zeros((3, 0)), [2, 2], 0).shape == (2, 0)


@pytest.mark.parametrize("shape, axis, wanted", [((3, 0), 0, (2, 0)), ((0, 3), 1, (0, 2)), ((2, 3, 0), 1, (2, 2, 0))])
def test_fills_of_no_elements(shape, axis, wanted):
    x = np.zeros(shape)
    assert faro.take(x, [1, -1], axis, fill=5).shape == wanted
    assert faro.take_columns([x, x], [1, -1], axis, fill=5)[1].shape == wanted
    assert faro.take_blocks([np.zeros((3, 4, 0))], [1, -1], fill=5)[0].shape == (8, 0)
    out = np.zeros(wanted)
    assert faro.take(x, [1, -1], axis, fill="keep", out=out) is out
    for fill in (None, 5):
        with pytest.raises(faro.FaroValueError):
            faro.take(x, [1, -1 if fill is None else 3], axis, fill=fill)


@given(st.data())
def test_put(data):
    rows, width = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    indices = data.draw(st.lists(st.integers(0, rows - 1), unique=True))
    out = -np.ones((2, rows, width))
    values = np.arange(2.0 * len(indices) * width).reshape(2, len(indices), width)
    wanted = out.copy()
    wanted[:, indices] = values
    assert faro.put(out, np.array(indices, np.int64), values, axis=1) is out
    assert (out == wanted).all()


def test_what_makes_no_indices():
    x = np.arange(12.0).reshape(4, 3)
    for call in (lambda: faro.take(x, [[1], [1, 2]], 0), lambda: faro.put(x, [1], [[1], [2, 3]]), lambda: faro.route([[0], [0, 1]], 2),
                 lambda: faro.take([[1], [2, 3]], [0]), lambda: faro.combine(x[:2], faro.route([0, 0], 1), [[1], [2, 3]]),
                 lambda: faro.take(x, [0, 1, 2, -1], 0, inverse=True), lambda: faro.take(x, [0, 1, 2, 4], 0, inverse=True)):
        with pytest.raises(faro.FaroError):
            call()
    with pytest.raises(faro.FaroValueError, match="row -1 at position 3"):
        faro.take(x, [0, 1, 2, -1], 0, inverse=True)
    assert (faro.take(x, [3, 1, 0, 2], 0, inverse=True) == x[[2, 1, 3, 0]]).all()
    assert faro.combine(np.zeros((2, 0)), faro.route([0, 0], 1)).shape == (2, 0)


@pytest.mark.parametrize("verb, inner", [("put", "put"), ("add_at", "add")])
def test_indices_live_as_long_as_they_are_read(monkeypatch, verb, inner):
    """The engine has nothing but the address of what a list of indices was converted to."""
    convert, run, held, seen = faro._rows.index_entries, getattr(faro._faro, inner), [], []

    def converted(*arguments):
        entries = convert(*arguments)
        held.append(weakref.ref(entries))
        return entries

    def watched(*arguments):
        seen.append(held[0]() is not None)
        return run(*arguments)

    monkeypatch.setattr(faro._rows, "index_entries", converted)
    monkeypatch.setattr(faro._faro, inner, watched)
    assert getattr(faro, verb)(np.zeros(3), [2, 0], np.array([1.0, 2.0])).tolist() == [2, 0, 1]
    assert seen == [True]


def test_put_refuses():
    out = np.zeros(4)
    with pytest.raises(faro.FaroValueError):
        faro.put(out, [1, 1], np.ones(2))
    with pytest.raises(faro.FaroValueError):
        faro.put(out, [1, 2], np.ones(3))
    with pytest.raises(faro.FaroTypeError):
        faro.put(out, [1, 2], np.ones(2, "i8"))
    assert (out == 0).all()
    faro.put(out, [1, -1], np.array([5.0, 6.0]))  # -1 leaves a row out
    assert out.tolist() == [0, 5, 0, 0]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8"])
def test_add_at(dtype):
    rng = np.random.default_rng(3)
    out = rng.integers(0, 9, (10, 3)).astype(dtype)
    values = rng.integers(0, 9, (200, 3)).astype(dtype)
    indices = rng.integers(0, 10, 200)
    wanted = out.copy()
    np.add.at(wanted, indices, values)
    assert faro.add_at(out, indices, values) is out and (out == wanted).all()


def test_add_at_in_narrow_floats():
    for dtype in (np.float16, ml_dtypes.bfloat16):
        out = np.zeros(1, dtype)
        faro.add_at(out, np.zeros(100, np.int32), np.full(100, 0.25, dtype))
        assert float(out[0]) == 25
    with pytest.raises(faro.FaroValueError):
        faro.add_at(np.zeros(1), [0], np.zeros(1), sums="exact")


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers_are_added_by_their_parts(dtype):
    rng = np.random.default_rng(4)
    values = (rng.integers(0, 9, (50, 2)) + 1j * rng.integers(0, 9, (50, 2))).astype(dtype)
    indices = rng.integers(0, 5, 50)
    wanted = np.zeros((5, 2), dtype)
    np.add.at(wanted, indices, values)
    assert (faro.add_at(np.zeros((5, 2), dtype), indices, values) == wanted).all()
    routing = faro.route(indices, 5)
    assert (faro.combine(faro.take(values, routing.rows, axis=0), routing) == values).all()
    with pytest.raises(faro.FaroTypeError):
        faro.add_at(np.zeros(1, ">c16"), [0], np.zeros(1, ">c16"))


@given(st.data())
def test_route_and_combine(data):
    buckets, tokens, k = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 12)), data.draw(st.integers(1, 3))
    keys = data.draw(hnp.arrays("i4", (tokens, k), elements=st.integers(-1, buckets - 1)))
    multiple = data.draw(st.integers(1, 4))
    capacity = data.draw(st.none() | st.integers(1, 4))
    r = faro.route(keys, buckets, multiple=multiple, capacity=capacity)
    flat = keys.reshape(-1)
    # The obvious loop: items by bucket, in their order.
    places, offsets, inverse, dropped = -np.ones(flat.size, int), [0], [], 0
    for b in range(buckets):
        items = [i for i in range(flat.size) if flat[i] == b]
        kept = items if capacity is None else items[:capacity]
        dropped += len(items) - len(kept)
        for j, i in enumerate(kept):
            places[i] = offsets[-1] + j
        inverse += kept + [-1] * (-len(kept) % multiple)
        offsets.append(len(inverse))
    assert r.places.tolist() == places.tolist() and r.offsets.tolist() == offsets
    assert r.inverse.tolist() == inverse and r.dropped == dropped and r.absent == int((flat == -1).sum())
    assert r.rows.tolist() == [-1 if i < 0 else i // k for i in inverse]
    x = np.arange(tokens * 2.0).reshape(tokens, 2)
    sent = faro.take(x, r.rows, 0, fill=0) if tokens else np.zeros((0, 2))
    assert np.array_equal(faro.dispatch(x, r), sent)
    spread = np.ones((len(r.rows), 4))[:, ::2]
    assert faro.dispatch(x[::-1], r, out=spread) is spread
    assert np.array_equal(spread, faro.take(x[::-1], r.rows, 0, fill=0) if tokens else sent)
    weights = np.linspace(0.5, 2, flat.size).astype("f4")
    wanted = np.zeros((tokens, 2))
    for i, place in enumerate(places):
        if place >= 0:
            wanted[i // k] += float(weights[i]) * x[i // k]
    assert np.allclose(faro.combine(sent, r, weights), wanted)


def test_route_refuses():
    with pytest.raises(faro.FaroValueError, match="3"):
        faro.route([0, 3], 3)
    with pytest.raises(faro.FaroError):
        faro.combine(np.zeros((2, 2), "i4"), faro.route([0, 1], 2))
    for call in (lambda: faro.dispatch(np.zeros(3), faro.route([0, 1], 2)), lambda: faro.dispatch(np.zeros(2), [0, 1]),
                 lambda: faro.dispatch(np.float64(1), faro.route([0, 1], 2)), lambda: faro.dispatch(np.zeros(2), faro.route([0, 1], 2), out=np.zeros(3))):
        with pytest.raises(faro.FaroError):
            call()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sort(dtype, axis):
    x = np.random.default_rng(5).integers(0, 1000, (8, 16)).astype(dtype)
    wanted = np.sort(x, axis)
    assert (faro.sort(x, axis) == wanted).all()
    assert (faro.sort(x[:, ::-1], axis) == wanted if axis != 0 else np.sort(x[:, ::-1], 0)).all()
    out = np.empty_like(x)
    assert faro.sort(x, axis, out=out) is out and (out == wanted).all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "?", "i2", "u2", "f2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 7), (3, 1), (2, 64), (0, 5), (5, 0), (1000,)])
def test_sort_of_any_length(shape, dtype):
    info = np.iinfo(dtype) if dtype[0] in "iu" else None
    rng = np.random.default_rng(8)
    if info is not None:  # the least and the greatest, too
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        x.reshape(-1)[:2] = (info.max, info.min)[: x.size]
    else:
        x = rng.normal(size=shape).astype(dtype)
        if dtype != "?" and x.size > 3:
            x.reshape(-1)[:4] = (np.inf, np.nan, -np.inf, 0)
    for axis in range(len(shape)):
        wanted = np.sort(x, axis)
        got = faro.sort(x, axis)
        assert got.dtype == x.dtype and np.array_equal(got, wanted, equal_nan=x.dtype.kind == "f")
        out = np.zeros(shape[:-1] + (2 * shape[-1],), dtype)[..., ::2]
        assert faro.sort(x, axis, out=out) is out and np.array_equal(out, wanted, equal_nan=x.dtype.kind == "f")
        assert np.array_equal(faro.sort(x[::-1], axis), np.sort(x[::-1], axis), equal_nan=x.dtype.kind == "f")


def test_networks():
    x = np.random.default_rng(6).standard_normal((3, 64))
    z = (x + 1j * x[::-1]).astype("c16")
    assert np.allclose(faro.network(z, "fft"), np.fft.fft(z))
    assert np.allclose(faro.walsh_hadamard(faro.walsh_hadamard(x)), 64 * x)
    assert "pass" in faro.explain_network("sort", 20)
    for wrong in (lambda: faro.sort(z), lambda: faro.sort(x.astype("M8[s]")), lambda: faro.sort(np.float32(1)),
                  lambda: faro.network(x[:, :63], "sort"), lambda: faro.network(x.astype("f2"), "sort"),
                  lambda: faro.network(x, "srot"), lambda: faro.sort(x, 4), lambda: faro.fft(z[:, :63])):
        with pytest.raises(faro.FaroError):
            wrong()


@given(st.data())
def test_segments(data):
    lengths = data.draw(st.lists(st.integers(0, 9), max_size=12))
    begins = np.cumsum([0] + lengths).astype(data.draw(st.sampled_from(["i1", "u2", "<i4", ">i4", "u8"])))
    kind = data.draw(st.sampled_from(["u1", "f4", "c16"]))
    x = np.arange(sum(lengths) * 3).reshape(-1, 3).astype(kind)
    some = st.integers(0, len(lengths) - 1) if lengths else st.nothing()
    taken = np.array(data.draw(st.lists(some, max_size=20 if lengths else 0)), data.draw(st.sampled_from(["i8", "u1"])))
    values, offsets = faro.take_segments(x, begins, taken)
    parts = [x[begins[s]: begins[s + 1]] for s in taken]
    assert np.array_equal(values, np.concatenate(parts + [x[:0]])) and values.dtype == x.dtype
    assert np.array_equal(offsets, np.cumsum([0] + [len(p) for p in parts]))
    out = np.zeros_like(values)
    assert faro.take_segments(x, begins, taken, out=out)[0] is out and np.array_equal(out, values)


def test_segments_that_are_wrong():
    x = np.arange(6.0)
    for cuts, taken in (([0, 4, 2], [0]), ([0, 7], [0]), ([0, 6], [1]), ([0, 6], [-1]), ([], [0]), ([-1, 6], [0]),
                        ([[0, 6]], [0]), ([0.5, 6], [0])):
        out = np.full(6, 9.0)
        with pytest.raises(faro.FaroError):
            faro.take_segments(x, cuts, taken, out=out)
        assert (out == 9).all()
    with pytest.raises(faro.FaroError):
        faro.take_segments(np.float64(1), [0, 1], [0])
    for how in ({"out": np.zeros(5)}, {"room": 6}, {"stream": 1}, {"out": x}, {"out": np.zeros(6, "f4")}, {"threads": 1.5}):
        with pytest.raises(faro.FaroError):
            faro.take_segments(x, [0, 6], [0], **how)
    spread = np.zeros(12)[::2]
    assert faro.take_segments(x[::-1], [0, 2, 6], [1, 0], out=spread)[0] is spread and spread.tolist() == [3, 2, 1, 0, 5, 4]
