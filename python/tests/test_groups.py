"""Groups of arrays, each with a map of its own, beside NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import faro


def member(data, rng):
    """(an array, how, an output, what it becomes)."""
    dtype = data.draw(st.sampled_from(["u1", "i2", "f4", "c16", "S3"]))
    kind = data.draw(st.sampled_from(["axes", "strided", "map", "pattern", "plan", "rolled"]))

    def numbers(shape):
        raw = rng.integers(0, 100, (int(np.prod(shape)), np.dtype(dtype).itemsize), np.uint8)
        return raw.view(dtype).reshape(shape) if raw.size else np.zeros(shape, dtype)

    if kind in ("map", "plan"):
        bits = data.draw(st.integers(0, 9))
        x = numbers((1 << bits,))
        text = f"gray({bits})"
        how = faro.maps.parse(text) if kind == "map" else faro.plan(text, itemsize=x.itemsize)
        return x, how, np.zeros_like(x), faro.permute(x, text)
    if kind == "rolled":
        x = numbers((data.draw(st.integers(1, 40)),))
        return x, f"roll({x.size}, 1)", np.zeros_like(x), np.roll(x, 1)
    shape = tuple(data.draw(st.lists(st.integers(0 if kind == "axes" else 1, 6), min_size=3, max_size=3)))
    x = numbers(shape)
    if kind == "pattern":
        return x, "a b c -> c (a b)", np.zeros((shape[2], shape[0] * shape[1]), x.dtype), x.transpose(2, 0, 1).reshape(shape[2], -1)
    order = tuple(data.draw(st.permutations(range(3))))
    y = x.transpose(order)
    if kind == "axes":
        return x, list(order), np.zeros(y.shape, x.dtype), y
    x = np.repeat(x, 2, axis=1)[:, ::2]
    return x, order, np.zeros(y.shape[:2] + (2 * y.shape[2],), x.dtype)[..., ::2], y


@given(st.data())
@settings(max_examples=50)
def test_drawn_groups(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    members = [member(data, rng) for _ in range(data.draw(st.integers(0, 8)))]
    group = faro.group([m[:3] for m in members], threads=data.draw(st.integers(0, 2)))
    assert len(group) == len(members)
    for got, (_, _, out, wanted) in zip(group.run(), members):
        assert got is out and (got == wanted).all()
    # Kept, with other arrays of the same kind.
    dense = [m for m in members if m[0].flags.c_contiguous and m[2].flags.c_contiguous]
    again = faro.group([m[:3] for m in dense])
    ins, outs = [m[0].copy() for m in dense], [np.zeros_like(m[2]) for m in dense]
    for got, (_, _, _, wanted) in zip(again.run(ins, outs), dense):
        assert (got == wanted).all()


def test_strides_along_axes_of_one_element_are_all_alike():
    x, out = np.arange(12.0).reshape(1, 12)[:, ::2], np.zeros((6, 1))
    group = faro.group([(x, (1, 0), out)])
    other = np.lib.stride_tricks.as_strided(np.arange(12.0), (1, 6), (8, 16))
    assert group.run([other], [np.zeros((6, 1))])[0].ravel().tolist() == x.ravel().tolist()


@pytest.mark.parametrize("count", [1, 3, 300])  # with and without the interpreter's lock
def test_other_arrays_are_looked_at_before_one_is_written(count):
    xs = [np.arange(60.0).reshape(5, 12) + i for i in range(count)]
    group = faro.group([(x, (1, 0), np.zeros((12, 5))) for x in xs])
    outs = [np.full((12, 5), -1.0) for _ in xs]
    assert all(got is out for got, out in zip(group.run(xs, outs), outs))
    assert all((out == x.T).all() for x, out in zip(xs, outs))

    class Kept(np.ndarray):
        pass

    given = [x + 1 for x in xs]
    made = group.run([*given[:-1], given[-1].view(Kept)], outs)  # by Python
    assert all((out == x.T).all() for x, out in zip(given, made))
    kept = np.array(outs)
    for at, x, out in [(0, np.zeros((5, 12), "f4"), None), (count - 1, np.zeros((12, 5)), None), (count - 1, np.zeros((5, 24))[:, ::2], None),
                       (count - 1, None, np.zeros((5, 12))), (0, None, np.zeros((12, 5), "i2")), (0, xs[0], xs[0].reshape(12, 5))]:
        ins, to = list(xs), list(outs)
        ins[at] = xs[at] if x is None else x
        to[at] = outs[at] if out is None else out
        with pytest.raises(faro.FaroValueError, match=f"member {at}"):
            group.run(ins, to)
        assert (np.array(outs) == kept).all()
    locked = np.zeros((12, 5))
    locked.flags.writeable = False
    with pytest.raises(faro.FaroError, match=f"member {count - 1}"):
        group.run(xs, [*outs[:-1], locked])
    assert not locked.any()


def test_many_equal_arrays():
    xs = [np.full((3, 4), i, "i4") + np.arange(12, dtype="i4").reshape(3, 4) for i in range(500)]
    outs = np.zeros((500, 4, 3), "i4")
    group = faro.group((x, (1, 0), out) for x, out in zip(xs, outs))
    group.run()
    assert all((out == x.T).all() for x, out in zip(xs, outs))
    assert group.launches >= 1 and group.explain()


def test_refusals_name_the_member():
    x, y = np.zeros((2, 3)), np.zeros((3, 2))

    def refused(part, *members, kind=faro.FaroValueError):
        with pytest.raises(kind) as why:
            faro.group(members)
        assert part in str(why.value) and "\n" not in str(why.value), str(why.value)

    fine = (x.copy(), (1, 0), y.copy())
    refused("member 1: an output of shape (3, 2)", fine, (x, (0, 1), y))
    refused("member 1: an output of elements float32", fine, (x, (1, 0), y.astype("f4")))
    refused("member 2", fine, (np.zeros(4), "gray(2)", np.zeros(4)), (x, "gray(3)", x.copy()))
    refused("member 0: the axes", (x, (0, 0), y))
    refused("member 0, a int", 3, kind=faro.FaroTypeError)
    refused("member 0: a read-only array", (x, (1, 0), np.broadcast_to(y, (3, 2))))
    refused("the output of member 0 and the output of member 1", fine, (x, (1, 0), fine[2]))
    refused("member 1: an output with strides", fine, (np.zeros(4), "gray(2)", np.zeros(8)[::2]))
    group = faro.group([fine])
    with pytest.raises(faro.FaroValueError, match="member 0"):
        group.run([np.zeros((2, 4))], [y])
    with pytest.raises(faro.FaroValueError, match="2 ins, wanted 1"):
        group.run([x, x], [y])
    with pytest.raises(faro.FaroValueError, match="both, or none"):
        group.run([x])
