"""Files that the command `faro permute` writes, beside what NumPy makes of the same array."""

import os
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

_FARO = os.environ.get("FARO", "")

pytestmark = pytest.mark.skipif(not os.path.exists(_FARO), reason="FARO names no command")

DTYPES = ["u1", ">i2", "<f4", "f8", "c16", "S3", ">U2", "V5", "?", "M8[ns]", [("a", "<i4"), ("b", ">f8")], "S33"]


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    rank = draw(st.integers(1, 5))
    shape = draw(st.lists(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, [0, 200, 30, 9, 6, 5][rank]),
                          min_size=rank, max_size=rank))
    count = int(np.prod(shape))
    raw = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(0, 256, count * dtype.itemsize, dtype="u1")
    if dtype.kind == "U":  # code points
        raw = (np.arange(count * dtype.itemsize // 4) % 5000 + 33).astype(">u4").view("u1")
    elif dtype.kind == "b":
        raw &= 1
    array = raw.view(dtype).reshape(shape)
    return np.asfortranarray(array) if draw(st.booleans()) else array


@st.composite
def permuted(draw):
    """An array, what `faro permute` is told, and what NumPy makes of it."""
    x = draw(arrays())
    rank = x.ndim
    kind = draw(st.sampled_from(["axes", "flip", "roll", "roll all", "flip all", "pattern", "inverse"]))
    axis = draw(st.integers(-rank, rank - 1))
    if kind in ("axes", "inverse"):
        order = draw(st.permutations(range(rank)))
        words = ["axes(" + " ".join(map(str, order)) + ")"]
        if kind == "axes":
            return x, words, x.transpose(order)
        return x, words + ["--inverse"], x.transpose(np.argsort(order))
    if kind == "flip":
        return x, [f"flip({axis})"], np.flip(x, axis)
    if kind == "flip all":
        return x, ["flip"], np.flip(x)
    shift = draw(st.integers(-9, 300))
    if kind == "roll":
        return x, [f"roll({shift})", "--axis", str(axis)], np.roll(x, shift, axis)
    if kind == "roll all":
        return x, [f"roll({shift})"], np.roll(x, shift)
    # Some axes are taken apart, and all are joined anew.
    names, lengths, left = [], [], []
    for length in x.shape:
        factor = draw(st.sampled_from([f for f in (1, 2, 3, 5, 7) if length > 0 and length % f == 0] or [0]))
        parts = [factor, length // factor] if factor > 1 else [length]
        own = [f"n{len(names) + i}" for i in range(len(parts))]
        left.append(own[0] if len(own) == 1 else "(" + " ".join(own) + ")")
        names += own
        lengths += parts
    order = draw(st.permutations(range(len(names))))
    right, shape, begin = [], [], 0
    while begin < len(order):
        end = begin + draw(st.integers(1, 3))
        group = order[begin:end]
        right.append(names[group[0]] if len(group) == 1 else "(" + " ".join(names[i] for i in group) + ")")
        shape.append(int(np.prod([lengths[i] for i in group])))
        begin = end
    given_lengths = [f"{n}={v}" for n, v in zip(names, lengths) if v > 0]
    text = " ".join(left) + " -> " + " ".join(right)
    return x, [", ".join([text] + given_lengths)], x.reshape(lengths).transpose(order).reshape(shape)


def run(folder, words):
    done = subprocess.run([_FARO, "permute", *words], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.stderr.count("\n") <= 1, done.stderr
    return done


def is_same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(permuted(), st.sampled_from("CF"), st.sampled_from([[], ["--memory", "16KiB", "--no-sync"], ["--verify"]]))
def test_files_as_numpy_has_them(tmp_path, what, order, how):
    x, words, wanted = what
    np.save(tmp_path / "in.npy", x)
    done = run(tmp_path, [words[0], "in.npy", "out.npy", *words[1:], "--order", order, *how])
    assert done.returncode == 0, (words, done.stderr)
    out = np.load(tmp_path / "out.npy")
    assert is_same(out, wanted), (words, x.shape, x.dtype)
    if min(out.shape) > 1 and out.ndim > 1:
        assert out.flags.f_contiguous == (order == "F")
    os.remove(tmp_path / "out.npy")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays(), st.data())
def test_views_as_numpy_has_them(tmp_path, x, data):
    """Slices, flips, broadcasts and sliding windows of the items in C order."""
    items = np.ascontiguousarray(x).reshape(x.shape)
    places = np.arange(items.size).reshape(items.shape)
    if items.size:
        steps = [data.draw(st.sampled_from([1, 1, -1, 2, -2, 3])) for _ in items.shape]
        places = places[tuple(slice(None, None, step) for step in steps)]
    repeats = data.draw(st.integers(1, 3))
    places = np.broadcast_to(places, (repeats, *places.shape))
    if places.shape[-1] > 2:
        places = np.lib.stride_tricks.sliding_window_view(places, 2, -1)
    places = places.transpose(data.draw(st.permutations(range(places.ndim))))
    order = data.draw(st.sampled_from("CF"))
    dense = np.empty(places.shape, places.dtype)
    lists = [places.shape, [s // 8 for s in places.strides], [s // 8 for s in dense.strides]]
    first = int(places.flat[0]) if places.size else 0
    text = "; ".join(" ".join(map(str, each)) for each in lists)
    np.save(tmp_path / "in.npy", x)
    done = run(tmp_path, [f"strided({text}; {first} 0)", "in.npy", "out.npy", "--order", order])
    assert done.returncode == 0, (text, done.stderr)
    out = np.load(tmp_path / "out.npy")
    assert is_same(out, items.reshape(-1)[places]), (text, x.shape, x.dtype)
    os.remove(tmp_path / "out.npy")
