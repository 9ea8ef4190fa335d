"""Several arrays by one index array, beside NumPy: tables' columns and caches' blocks."""

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import faro

KINDS = ["u1", "<i4", ">i4", "f2", "f8", "c16", "M8[s]", "S3", [("a", "i2"), ("b", "f8")]]


def column(data, rows, axis, like):
    """An array of `rows` rows along an axis, perhaps a view, of any elements."""
    rank = data.draw(st.integers((axis if axis >= 0 else -axis - 1) + 1, 4))
    shape = list(data.draw(hnp.array_shapes(min_dims=rank, max_dims=rank, min_side=0 if like == "any" else 1, max_side=4)))
    shape[axis] = rows
    dtype = np.dtype(data.draw(st.sampled_from(KINDS)))
    raw = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 100, (int(np.prod(shape)), dtype.itemsize), np.uint8)
    x = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    return np.asfortranarray(x)[::1] if data.draw(st.booleans()) else x


def same(got, wanted):
    assert got.shape == wanted.shape and got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


@given(st.data())
def test_take_columns(data):
    axis = data.draw(st.integers(-2, 1))
    rows = data.draw(st.integers(1, 6))
    columns = [column(data, rows, axis, "any") for _ in range(data.draw(st.integers(0, 5)))]
    indices = data.draw(hnp.arrays(st.sampled_from(["i1", "u2", "<i4", ">i8", "u8"]), hnp.array_shapes(max_dims=2, min_side=0, max_side=5),
                                   elements=st.integers(0, rows - 1)))
    got = faro.take_columns(columns, indices, axis)
    assert isinstance(got, list) and len(got) == len(columns)
    for x, y in zip(columns, got):
        same(y, np.take(x, indices, axis))
    outs = {f"c{k}": np.zeros(y.shape[:-1] + (2 * y.shape[-1],), y.dtype)[..., ::2] if y.ndim else np.zeros((), y.dtype) for k, y in enumerate(got)}
    named = {f"c{k}": x for k, x in enumerate(columns)}
    filled = faro.take_columns(named, indices, axis, out=outs)
    assert list(filled) == list(named)
    for name, y in zip(named, got):
        assert filled[name] is outs[name] and (outs[name].tobytes() == y.tobytes())


@given(st.data())
def test_put_and_add_columns(data):
    axis = data.draw(st.integers(-2, 1))
    rows = data.draw(st.integers(1, 6))
    to = data.draw(st.lists(st.integers(0, rows - 1), unique=True))
    indices = np.array(to, data.draw(st.sampled_from(["i2", "i8"])))
    outs = [column(data, rows, axis, "any") for _ in range(data.draw(st.integers(0, 4)))]
    values = tuple(np.take(x, [data.draw(st.integers(0, rows - 1)) for _ in to] if to else np.zeros(0, int), axis) for x in outs)
    wanted = [x.copy() for x in outs]
    for x, v in zip(wanted, values):
        x[(slice(None),) * (axis % x.ndim) + (indices,)] = v
    given_outs = tuple(x.copy() for x in outs)
    assert faro.put_columns(given_outs, indices, values, axis) is given_outs
    for x, w in zip(given_outs, wanted):
        same(x, w)
    kinds = ["i1", "u4", "f4", "f8", "i8"]
    sums = {k: np.ones((rows, 2) if k in "i1 f8" else rows, k) for k in kinds}
    repeated = np.array(data.draw(st.lists(st.integers(-1, rows - 1), max_size=9)), np.int64)
    added = {k: np.random.default_rng(4).integers(0, 9, (len(repeated),) + sums[k].shape[1:]).astype(k) for k in reversed(kinds)}
    expected = {k: x.copy() for k, x in sums.items()}
    for k in kinds:
        np.add.at(expected[k], repeated[repeated >= 0], added[k][repeated >= 0])
    assert faro.add_columns(sums, repeated, added) is sums
    for k in kinds:
        same(sums[k], expected[k])


def test_fills():
    table = {"id": np.array([7, 8, 9]), "x": np.array([0.5, 1.5, 2.5], "f4"), "name": np.array(["ab", "cd", "ef"])}
    got = faro.take_columns(table, [2, -1], fill=0)
    assert got["id"].tolist() == [9, 0] and got["x"].tolist() == [2.5, 0] and got["name"].tolist() == ["ef", ""]
    got = faro.take_columns(table, [2, -1], fill={"id": -1, "x": np.nan, "name": "??"})
    assert got["id"].tolist() == [9, -1] and np.isnan(got["x"][1]) and got["name"].tolist() == ["ef", "??"]
    got = faro.take_columns(list(table.values()), [-1, 1], fill=[5, 0.25, b"\1\0\0\0"])
    assert got[0].tolist() == [5, 8] and got[1].tolist() == [0.25, 1.5] and got[2][0] == "\1\1"
    outs = {"id": np.array([1, 2]), "x": np.zeros((2, 2), "f4")[:, 0], "name": np.array(["yy", "zz"])}
    outs["x"][:] = 4
    faro.take_columns(table, [-1, 0], fill="keep", out=outs)
    assert outs["id"].tolist() == [1, 7] and outs["x"].tolist() == [4, 0.5] and outs["name"].tolist() == ["yy", "ab"]
    x = np.array([[1, 2], [3, 4]])
    kept = np.full((3, 2), 9)
    assert faro.take(x, [1, -1, 0], 0, fill="keep", out=kept).tolist() == [[3, 4], [9, 9], [1, 2]]
    for fill in (np.nan, 2.5, 2**70, "a", None, b"", "keep", object(), {"id": 0}, {"other": 0}, [1, 2]):
        with pytest.raises(faro.FaroError):
            faro.take_columns(table, [2, -1], fill=fill)
    for fill in (np.nan, 2.5, 300, -1):
        with pytest.raises(faro.FaroError, match="uint8"):
            faro.take(np.zeros(3, "u1"), [-1], fill=fill)


def test_collections():
    pair = namedtuple("pair", "keys values")
    got = faro.take_columns(pair(np.arange(4), np.arange(8.0).reshape(4, 2)), [3, 1])
    assert isinstance(got, pair) and got.keys.tolist() == [3, 1] and got.values.tolist() == [[6, 7], [2, 3]]
    assert faro.take_columns([], [5]) == [] and faro.take_columns({}, [5]) == {} and faro.put_columns((), [5], []) == ()
    assert [c.tolist() for c in faro.take_columns([[1, 2, 3], [0.5, 1.5, 2.5]], [2, 2])] == [[3, 3], [2.5, 2.5]]
    x = np.arange(3)
    first, second = faro.take_columns([x, x], [2, 0])  # one array twice
    assert first.tolist() == second.tolist() == [2, 0] and first is not second


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
    got = faro.take_columns(frame, [2, 0])
    assert got["a"].tolist() == [3, 1] and got["b"].tolist() == [2.5, 0.5]


def test_wrong_columns():
    a, b = np.arange(4), np.arange(8.0).reshape(4, 2)
    for columns, indices, how, words in [
        (a, [0], {}, "list, tuple or dict"),
        (7, [0], {}, "list, tuple or dict"),
        ([a, b[:3]], [0], {}, "column 1 of 3 rows"),
        ({"a": a, "b": b.T}, [0], {}, "column 'b' of 2 rows"),
        ([a, np.float64(1)], [0], {}, "column 1, a single number"),
        ([a, b], [4], {}, "position 0"),
        ([a, b], [0, -1], {}, "-1"),
        ([a, b], [0.5], {}, "whole numbers"),
        ([a, b], [0], {"axis": 1}, "axis 1"),
        ([a, b], [0], {"axis": "x"}, "axis"),
        ([a, b], [0], {"stream": 3}, "stream"),
        ([a, b], [0], {"threads": -1}, "threads"),
        ([a, b], np.array([0]), {"threads": None}, "threads"),
        ([a, b], [0], {"out": [np.zeros(1, int)]}, "out="),
        ([a, b], [0], {"out": [np.zeros(1, int), np.zeros((2, 2))]}, "shape"),
        ([a, b], [0], {"out": [np.zeros(1), np.zeros((1, 2))]}, "elements"),
        ({"a": a, "b": b}, [0], {"out": {"a": np.zeros(1, int), "c": np.zeros((1, 2))}}, "'b'"),
        ([a, np.array([object()] * 4)], [0], {}, "objects"),
        ([np.zeros((4, 0)), np.zeros((4, 0))], [4], {}, "position 0"),
    ]:
        with pytest.raises(faro.FaroError, match=words):
            faro.take_columns(columns, indices, **how)
    # Nothing is written where a later column is refused, or the outputs overlap.
    memory = np.zeros(8, "i8")
    for outs in ([memory[:1], np.zeros((2, 2))], [memory[:1], memory[:2].view("f8").reshape(1, 2)],
                 [b.reshape(-1).view("i8")[4:5], np.zeros((1, 2))]):
        before = [o.copy() for o in outs]
        with pytest.raises(faro.FaroValueError):
            faro.take_columns([a, b], [3], out=outs)
        assert all((o == w).all() for o, w in zip(outs, before))
    with pytest.raises(faro.FaroValueError, match="overlap"):  # of two plans
        faro.take_columns([a, b], [3, -1], fill=[1, 2.5], out=[memory[:2], memory[1:5].view("f8").reshape(2, 2)])
    outs = [np.zeros(4, int), np.zeros((4, 2))]
    for values, indices in [([np.ones(2, int), np.ones((2, 2))], [1, 1]), ([np.ones(2, int), np.ones((3, 2))], [1, 2]),
                            ([np.ones(2, int), np.ones((2, 2), "f4")], [1, 2]), ([np.ones(2, int)], [1, 2]),
                            ([np.ones(2, int), np.ones((2, 2))], [[1, 2]]), ([np.ones(2, int), np.ones((2, 2))], [1, 4])]:
        with pytest.raises(faro.FaroError):
            faro.put_columns(outs, indices, values)
        assert not any(o.any() for o in outs)
    with pytest.raises(faro.FaroTypeError):
        faro.add_columns([np.zeros(2), np.zeros(2, "?")], [0], [np.ones(1), np.ones(1, "?")])
    sums = [np.zeros(2), np.zeros(2, "c16")]
    faro.add_columns(sums, [1, 1], [np.ones(2), np.array([1j, 2])])
    assert sums[0].tolist() == [0, 2] and sums[1].tolist() == [0, 2 + 1j]
    with pytest.raises(faro.FaroValueError):
        faro.add_columns(outs, [0], [np.ones(1, int), np.ones((1, 2))], sums="exact")
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    with pytest.raises(faro.FaroValueError, match="read-only"):
        faro.put_columns([outs[0], frozen], [0], [np.ones(1, int), np.ones(1)])


@given(st.data())
def test_blocks(data):
    blocks, tokens = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    table = data.draw(hnp.arrays(st.sampled_from(["i4", "i8"]), hnp.array_shapes(max_dims=3, min_side=0, max_side=3),
                                 elements=st.integers(-1, blocks - 1)))
    axis = data.draw(st.integers(0, 1))
    from_behind = data.draw(st.booleans())
    layers = data.draw(st.integers(0, 4))
    rng = np.random.default_rng(1)
    ranks = [3] * layers if from_behind else [data.draw(st.integers(2, 4)) for _ in range(layers)]
    shapes = [((2,) if axis else ()) + (blocks, tokens, 2, 3)[:rank] for rank in ranks]
    along = -3 if from_behind else axis
    caches = [rng.integers(0, 99, shape).astype(data.draw(st.sampled_from(["f2", "f4", "u1"]))) for shape in shapes]
    got = faro.take_blocks(caches, table, along)
    for cache, sequence in zip(caches, got):
        wanted = np.take(cache, np.maximum(table, 0), axis)
        absent = np.nonzero(table.reshape(-1) < 0)[0]
        flat = wanted.reshape(cache.shape[:axis] + (table.size,) + cache.shape[axis + 1:])
        flat[(slice(None),) * axis + (absent,)] = 0
        same(sequence, flat.reshape(cache.shape[:axis] + table.shape[:-1] + (table.shape[-1] * tokens,) + cache.shape[axis + 2:]))
    present = table[table >= 0]
    if len(set(present.tolist())) == present.size:  # each block once: there and back
        emptied = [np.where(np.isin(np.arange(blocks), present).reshape((1,) * axis + (-1,) + (1,) * (c.ndim - axis - 1)), 0, c).astype(c.dtype)
                   for c in caches]
        assert faro.put_blocks(emptied, table, got, along) is emptied
        for cache, back in zip(caches, emptied):
            same(back, cache)


def test_wrong_blocks():
    caches = [np.zeros((4, 2, 3)), np.zeros((4, 2))]
    for call in (lambda: faro.take_blocks(caches, 3), lambda: faro.take_blocks([np.zeros(4)], [[0]]), lambda: faro.take_blocks(caches, [[4]]),
                 lambda: faro.take_blocks(caches[0], [[0]]), lambda: faro.take_blocks(caches, [[0.5]]),
                 lambda: faro.take_blocks(caches, [[-1]], fill=None), lambda: faro.take_blocks(caches, [[0]], axis=1), lambda: faro.take_blocks(caches, [[0]], axis=-1),
                 lambda: faro.take_blocks([np.zeros((4, 2)), np.zeros((5, 2))], [[0]]),
                 lambda: faro.put_blocks(caches, [[0, 0]], [np.ones((1, 4, 3)), np.ones((1, 4))]),
                 lambda: faro.put_blocks(caches, [[0, 1]], [np.ones((1, 4, 3)), np.ones((2, 2))]),
                 lambda: faro.put_blocks(caches, 0, [np.ones((2, 3)), np.ones(2)])):
        with pytest.raises(faro.FaroError):
            call()
    assert not any(c.any() for c in caches)
    out = [np.zeros((1, 4, 3)), np.zeros((1, 4))]
    got = faro.take_blocks(caches, [[1, -1]], fill=2, out=out)
    assert all(a is b for a, b in zip(got, out)) and (out[1] == [[0, 0, 2, 2]]).all()


@given(st.data())
def test_plans(data):
    rows, axis = data.draw(st.integers(1, 6)), data.draw(st.integers(-1, 1))
    columns = [column(data, rows, axis, "some") for _ in range(data.draw(st.integers(1, 4)))]
    indices = np.array(data.draw(st.lists(st.integers(0, rows - 1), min_size=1, max_size=8)), np.int64)
    plan = faro.plan_rows("take", indices, rows, axis)
    for _ in range(2):
        for x in columns:
            same(plan(x), np.take(x, indices, axis))
        for x, y in zip(columns, plan(tuple(columns))):
            same(y, np.take(x, indices, axis))
    out = np.empty_like(np.take(columns[0], indices, axis))
    assert plan(columns[0], out) is out and out.tobytes() == np.take(columns[0], indices, axis).tobytes()
    assert "take" in plan.explain(columns[0])
    add = faro.plan_rows("add", indices, rows)
    values = {"a": np.ones((len(indices), 2), "f4"), "b": np.arange(len(indices))}
    for _ in range(2):
        outs = {"b": np.ones(rows, int), "a": np.zeros((rows, 2), "f4")}
        wanted = {name: x.copy() for name, x in outs.items()}
        for name, x in wanted.items():
            np.add.at(x, indices, values[name])
        assert add(values, out=outs) is outs and all((outs[name] == wanted[name]).all() for name in outs)
    order = np.unique(indices)
    put = faro.plan_rows("put", order, rows)
    target = np.zeros(rows)
    assert put(np.ones(len(order)), target) is target and target.sum() == len(order)


def test_wrong_plans():
    x = np.zeros((3, 2))
    for call in (lambda: faro.plan_rows("get", [0], 3), lambda: faro.plan_rows("take", [3], 3), lambda: faro.plan_rows("take", [-1], 3),
                 lambda: faro.plan_rows("put", [0, 0], 3), lambda: faro.plan_rows("add", [3], 3), lambda: faro.plan_rows("take", [0.5], 3),
                 lambda: faro.plan_rows("take", [0], -1), lambda: faro.plan_rows("put", [0], 3, fill=0), lambda: faro.plan_rows("add", [0], 3, sums=1),
                 lambda: faro.plan_rows("take", [0], 3, axis=0.5), lambda: faro.plan_rows("put", [[0]], 3), lambda: faro.plan_rows("take", [0], 3, threads=-1),
                 lambda: faro.plan_rows("take", [0], 4)(x), lambda: faro.plan_rows("take", [0], 3, axis=2)(x), lambda: faro.plan_rows("put", [0], 3)(x[:1]),
                 lambda: faro.plan_rows("take", [0], 3)(x, stream=1), lambda: faro.plan_rows("take", [0], 3)([x, np.zeros(4)]),
                 lambda: faro.plan_rows("take", [0], 3).explain(np.zeros(4)), lambda: faro.plan_rows("take", [0], 3)(np.float64(1)),
                 lambda: faro.plan_rows("take", [0], 3)(x, out=x[:1])):
        with pytest.raises(faro.FaroError):
            call()
    assert faro.plan_rows("take", [0, -1], 3, fill=np.nan)(np.arange(3.0)).tolist()[0] == 0
    assert faro.plan_rows("take", [], 3)(x).shape == (0, 2) and faro.plan_rows("take", [1, 1], 3)([1, 2, 3]).tolist() == [2, 2]
    changed = np.array([0, 1])
    plan = faro.plan_rows("take", changed, 3)
    plan(x)
    changed[1] = 7  # checked again while rows are moved
    with pytest.raises(faro.FaroValueError):
        plan(x)
