"""Arguments as callers of NumPy give them, and wrong ones of every kind: taken as NumPy takes them, or refused by faro's own
errors, in one line, with nothing written."""

import array
import json
import pickle

import numpy as np
import pytest

import faro
from faro import maps

X = np.arange(24).reshape(2, 3, 4)


def strided(shape, dtype=int):
    """Every other element of a larger array along every axis, and that array."""
    whole = np.full(tuple(2 * extent + 1 for extent in shape), -7, dtype)
    return whole[tuple(slice(1, None, 2) for _ in shape)], whole


@pytest.mark.parametrize("call, wanted", [
    (lambda: faro.permute_dims(X, np.array([2, 0, 1])), X.transpose(2, 0, 1)),
    (lambda: faro.permute_dims(X, (a for a in (2, 0, 1))), X.transpose(2, 0, 1)),
    (lambda: faro.permute_dims(X, np.array([2, 0, 1]), inverse=True), X.transpose(1, 2, 0)),
    (lambda: faro.flip(X, np.array([0, -1])), np.flip(X, (0, -1))),
    (lambda: faro.flip(X, {1}), np.flip(X, 1)),
    (lambda: faro.flip(X.copy(), np.array([0, 2]), in_place=True), np.flip(X, (0, 2))),
    (lambda: faro.roll(X, np.array([1, 2]), (0, 1)), np.roll(X, (1, 2), (0, 1))),
    (lambda: faro.roll(X, np.array([1, 2])), np.roll(X, 3)),
    (lambda: faro.roll(X, np.array([1, 2]), [0, 1], inverse=True), np.roll(X, (-1, -2), (0, 1))),
    (lambda: faro.roll(X, np.uint8(1), 1, inverse=True), np.roll(X, -1, 1)),
    (lambda: faro.roll(X.copy(), np.array([1, 2]), [0, 2], in_place=True), np.roll(X, (1, 2), (0, 2))),
    (lambda: faro.aos_to_soa([[1, 2], [3, 4]]), np.array([[1, 3], [2, 4]])),
    (lambda: faro.ascontiguousarray([1, 2, 3]), np.array([1, 2, 3])),
    (lambda: faro.sort(np.array([[3, 1, 2], [9, 8, 7]]), None), np.array([1, 2, 3, 7, 8, 9])),
    (lambda: faro.sort(np.array([3, 1, 2], ">i4")), np.array([1, 2, 3], ">i4")),
    (lambda: faro.put(np.zeros(4), [1, 2], [5, 6]), np.array([0, 5.0, 6, 0])),
    (lambda: faro.add_at(np.zeros(3), [1, 1], [1, 2]), np.array([0, 3.0, 0])),
    (lambda: faro.permute_qubits(np.arange(8), np.array([2, 0, 1])), np.array([0, 2, 4, 6, 1, 3, 5, 7])),
])
def test_arguments_of_numpy(call, wanted):
    got = call()
    assert isinstance(got, np.ndarray) and got.dtype == wanted.dtype and (got == wanted).all() and got.shape == wanted.shape


@pytest.mark.parametrize("call, shape, dtype, wanted", [
    (lambda out: faro.take(X, [1, 0, 1], 1, out=out), (2, 3, 4), int, np.take(X, [1, 0, 1], 1)),
    (lambda out: faro.take(X, [1, 0, 1], out=out), (3,), int, np.array([1, 0, 1])),
    (lambda out: faro.permute(X, "flip", axis=1, out=out), (2, 3, 4), int, X[:, ::-1]),
    (lambda out: faro.plan("axes(2 0 1)", X)(X, out=out), (4, 2, 3), int, X.transpose(2, 0, 1)),
    (lambda out: faro.sort(X[:, ::-1, ::-1], 1, out=out), (2, 3, 4), int, X[:, :, ::-1]),
    (lambda out: faro.fft(np.ones((3, 4), "c8"), out=out), (3, 4), "c8", np.array([[4, 0, 0, 0]] * 3, "c8")),
    (lambda out: faro.combine(np.ones((4, 2)), faro.route([[0, 1], [1, 0]], 2), [[1, 2], [3, 4]], out=out), (2, 2), float,
     np.array([[3.0, 3], [7, 7]])),
])
def test_outputs_with_strides(call, shape, dtype, wanted):
    out, whole = strided(shape, dtype)
    assert call(out) is out and (out == wanted).all()
    out[...] = -7
    assert (whole == -7).all()


def test_rows_written_to_arrays_with_strides():
    """Beside NumPy's assignment and numpy.add.at; a refused call leaves everything as it was."""
    for view in (lambda a: a[:, ::2], lambda a: a[::-1, ::-3], lambda a: a.T):
        got, wanted = np.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(4, 6)
        values = -np.arange(2.0 * view(got).shape[1]).reshape(2, -1)
        assert faro.put(view_got := view(got), [3, 0], values) is view_got
        view(wanted)[[3, 0]] = values
        assert (got == wanted).all()
        faro.add_at(view(got), [1, 1], values)
        np.add.at(view(wanted), [1, 1], values)
        assert (got == wanted).all()
        for refused in (lambda: faro.put(view(got), [9, 0], values), lambda: faro.put(view(got), [1, 1], values),
                        lambda: faro.add_at(view(got), [0, 9], values)):
            with pytest.raises(faro.FaroValueError):
                refused()
        assert (got == wanted).all()
    twice = np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8))
    for refused in (lambda: faro.put(twice, [1], np.ones((1, 3))), lambda: faro.take(np.ones((5, 3)), [1, 2], 0, out=twice)):
        with pytest.raises(faro.FaroValueError):
            refused()
    assert (twice == 0).all()


WRONG = [
    lambda: faro.put(np.zeros(4, int), [1], [1.5]),
    lambda: faro.put(np.zeros(4, "i1"), [1], [300]),
    lambda: faro.put(np.zeros(4), [1], np.array([5])),
    lambda: faro.put(np.zeros(4), [1], array.array("q", [5])),
    lambda: faro.add_at([0.0, 0.0], [1], [1.0]),
    lambda: faro.add_at(np.zeros(3), [1], [1.0], sums=[]),
    lambda: faro.flip([1, 2, 3], out=np.zeros(3)),
    lambda: faro.permute_qubits(np.arange(8), None),
    lambda: faro.permute_qubits(np.arange(8), 3),
    lambda: faro.roll(X, None, inverse=True),
    lambda: faro.roll(X, 1j),
    lambda: faro.permute_dims(X, ([0], 1, 2)),
    lambda: faro.rearrange(X, None),
    lambda: faro.rearrange(X, "a b (c d) -> d a b c", d=2.5),
    lambda: faro.rearrange(X, "a b (c d) -> d a b c", d="2"),
    lambda: faro.bit_reverse(np.zeros(0)),
    lambda: faro.bit_reverse(np.zeros(6)),
    lambda: faro.aos_to_soa([1, 2]),
    lambda: faro.network(np.arange(4.0), None),
    lambda: faro.explain_network(None, 3),
    lambda: faro.combine(np.ones((4, 1)), 5),
    lambda: faro.plan(5, X),
    lambda: faro.plan("gray", shape="8", itemsize=4),
    lambda: faro.plan("gray", shape=(-8,), itemsize=4),
    lambda: faro.plan("gray", shape=(8,), itemsize=4.5),
    lambda: faro.plan("gray", shape=(8,), itemsize=4, repeats=-1),
    lambda: faro.plan("gray", shape=(8,), itemsize=4, device="a"),
    lambda: faro.plan("gray(3)", itemsize=4).save(None),
    lambda: faro.load_plan(5),
    lambda: maps.parse(None),
    lambda: maps.parse("transpose", shape="ab"),
    lambda: maps.parse("transpose", shape=(-1, 3)),
    lambda: maps.from_matrix(None),
    lambda: maps.from_matrix([1, 0]),
    lambda: maps.from_matrix([[0.5]]),
    lambda: maps.from_indices([[0, 1]]),
    lambda: maps.bits([0.5, 1]),
    lambda: maps.axes((2.5, 3), (1, 0)),
    lambda: maps.axes("ab", (1, 0)),
    lambda: maps.roll("a", 1),
    lambda: maps.circuit(2, None),
    lambda: maps.circuit(2, [5]),
    lambda: maps.from_qasm(None),
    lambda: maps.from_qasm("OPENQASM 2.0;\nqreg q[1];\nh q[0];\n"),
    lambda: maps.from_qiskit(None),
    lambda: faro.layout(1.5, 3, 4, "row"),
    lambda: faro.layout(-1, 3, 4, "row"),
    lambda: faro.layout(4, 4, 4, None),
    lambda: faro.layout(4, 4, 4, [1]),
    lambda: faro.layout(4, 4, 4, "row", seed="a"),
    lambda: faro.layout_convert("mma.m16n8.C", 5),
    lambda: faro.layout_convert("mma.m16n8.C", "mma.m16n8.C", element=12),
    lambda: faro.layout_convert("mma.m16n8.C", "mma.m16n8.C", element="a"),
    lambda: faro.layout_convert("mma.m16n8.C", "mma.m16n8.C", emit="1"),
    lambda: faro.layout_convert("mma.m16n8.C", "mma.m16n8.C", way="air"),
    lambda: faro.layout_convert("mma.m16n8.C", "mma.m16n8.K"),
    lambda: faro.layout_check("mma.m16n8.C", 5),
    lambda: faro.layout_check("mma.m16n8.C", "lane +"),
    lambda: faro.layout_check("mma.m16n8.C"),
    lambda: faro.emit("gray(10)", n_tile=object()),
    lambda: faro.simulate("copy", threads=object()),
    lambda: faro.synth("aos-rcr", struct=0),
    lambda: faro.synth("aos-rcr", struct="a"),
    lambda: faro.synth("aos-rcr", time_limit=-1),
    lambda: faro.synth("aos-rcr", time_limit="a"),
]


@pytest.mark.parametrize("call", WRONG, ids=map(str, range(len(WRONG))))
def test_wrong_arguments_are_refused_by_faro(call):
    with pytest.raises(faro.FaroError) as caught:
        call()
    assert "\n" not in str(caught.value) and caught.value.got and caught.value.wanted
    assert "/tmp" not in str(caught.value)


@pytest.mark.parametrize("threads", [-1, "a", 1.5, None, 4097])
def test_numbers_of_threads(threads):
    for call in (lambda: faro.take(X, [0], 0, threads=threads), lambda: faro.take(X, np.array([0]), 0, threads=threads),
                 lambda: faro.sort(np.arange(8), threads=threads),
                 lambda: faro.plan("gray", shape=(8,), itemsize=4, threads=threads), lambda: faro.route([0], 1, threads=threads),
                 lambda: faro.put(np.zeros(3), [0], np.ones(1), threads=threads)):
        with pytest.raises(faro.FaroError, match="threads"):
            call()


def test_numbers_of_numpy_for_authors():
    assert faro.simulate("transpose-diagonal", width=np.int64(4), latency=5, threads=np.int32(16), n=16).time == 16
    assert faro.synth("aos-rcr", struct=np.int64(4), warp=np.int32(8)).outcome == "found"
    assert faro.layout(np.int64(32), 32, 4, ["row", "column"]).worst == 1
    emitted = faro.emit("gray(10)")
    assert pickle.loads(pickle.dumps(emitted)) == emitted and json.dumps(emitted.kernels)


def test_maps_of_axes_as_numpy_orders_them():
    assert maps.axes((2, 3), (-1, 0)) == maps.axes((2, 3), (1, 0))
    assert faro.plan("gray", shape=8, itemsize=4).shape == (8,)
    with pytest.raises(faro.FaroUnsupportedError, match="line 3"):
        maps.from_qasm("OPENQASM 2.0;\nqreg q[1];\nh q[0];\n")
