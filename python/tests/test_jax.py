"""faro.jax inside JAX's transformations, beside jax.numpy."""

import pytest

jax = pytest.importorskip("jax")

import numpy as np  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import faro  # noqa: E402
import faro.jax as fj  # noqa: E402


def filled(shape, dtype=jnp.float32):
    return jnp.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


CASES = {
    "permute_dims": (lambda x: fj.permute_dims(x, (2, 0, 1)), lambda x: jnp.transpose(x, (2, 0, 1))),
    "transpose": (lambda x: fj.transpose(x), lambda x: jnp.transpose(x)),
    "negative axes": (lambda x: fj.permute_dims(x, (-1, 1, 0)), lambda x: jnp.transpose(x, (2, 1, 0))),
    "flip all": (lambda x: fj.flip(x), lambda x: jnp.flip(x)),
    "flip one": (lambda x: fj.flip(x, 1), lambda x: jnp.flip(x, 1)),
    "roll flat": (lambda x: fj.roll(x, 5), lambda x: jnp.roll(x, 5)),
    "roll axes": (lambda x: fj.roll(x, (1, -2), (0, 2)), lambda x: jnp.roll(x, (1, -2), (0, 2))),
    "rearrange": (lambda x: fj.rearrange(x, "a (b c) d -> c a d b", b=2),
                  lambda x: jnp.transpose(x.reshape(2, 2, 2, 8), (2, 0, 3, 1))),
    "rearrange, axes joined": (lambda x: fj.rearrange(x, "a b c -> (c a) b"),
                               lambda x: jnp.transpose(x, (2, 0, 1)).reshape(-1, x.shape[1])),
    "rearrange, axes cut and joined": (lambda x: fj.rearrange(x, "(a b) ... (c d) -> (b d) ... (a c)", a=1, c=2),
                                       lambda x: jnp.transpose(x.reshape(1, 2, 4, 2, 4), (1, 4, 2, 0, 3)).reshape(8, 4, 2)),
    "bit_reverse": (lambda x: fj.bit_reverse(x), lambda x: jnp.asarray(faro.bit_reverse(np.asarray(x)))
                    if not isinstance(x, jax.core.Tracer) else None),
    "take": (lambda x: fj.take(x, jnp.array([1, 0, 1]), 1), lambda x: jnp.take(x, jnp.array([1, 0, 1]), 1)),
    "take of a matrix": (lambda x: fj.take(x, jnp.array([[1, 0], [1, 1]]), 0),
                         lambda x: jnp.take(x, jnp.array([[1, 0], [1, 1]]), 0)),
    "add_rows": (lambda x: fj.add_rows(x, jnp.array([1, 0, 1, 4]), 6, 1),
                 lambda x: jnp.zeros((2, 6, 8), x.dtype).at[:, jnp.array([1, 0, 1, 4])].add(x)),
}
OF_JNP = [name for name in CASES if name != "bit_reverse"]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.int8, jnp.complex64, jnp.bool_])
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    if name == "add_rows" and dtype in (jnp.complex64, jnp.bool_):
        pytest.skip("sums are of real numbers")
    ours, theirs = CASES[name]
    x = filled((2, 4, 8), dtype)
    wanted = theirs(x)
    for call in (ours, jax.jit(ours)):
        got = call(x)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        assert (got == wanted).all()


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    check_grads(CASES[name][0], (filled((2, 4, 8)),), order=2, modes=("fwd", "rev"), atol=0.1, rtol=0.1)


@pytest.mark.parametrize("in_axis", [0, 1, 3])
@pytest.mark.parametrize("name", OF_JNP)
def test_vmap(name, in_axis):
    ours, theirs = CASES[name]
    x = jnp.moveaxis(filled((3, 2, 4, 8)), 0, in_axis)
    wanted = jax.vmap(theirs, in_axes=in_axis)(x)
    for call in (jax.vmap(ours, in_axes=in_axis), jax.jit(jax.vmap(ours, in_axes=in_axis))):
        assert (call(x) == wanted).all()
    twice = jnp.stack([x, x + 1])
    assert (jax.vmap(jax.vmap(ours, in_axes=in_axis))(twice) == jnp.stack([wanted, jax.vmap(theirs, in_axes=in_axis)(x + 1)])).all()


def test_vmap_of_maps_by_text():
    x = filled((3, 16))
    got = jax.vmap(lambda row: fj.permute(row, "bit_reversal"))(x)
    assert (got == faro.permute(np.asarray(x), "bit_reversal", axis=1)).all()
    back = jax.vmap(lambda row: fj.permute(row, faro.maps.gray(4), inverse=True))(x)
    assert (back == faro.permute(np.asarray(x), "gray", inverse=True, axis=1)).all()


@pytest.mark.parametrize("batched", [(0, 0), (0, None), (None, 0), (1, 1)])
def test_vmap_of_indices(batched):
    x = jnp.moveaxis(filled((3, 4, 3)), 0, batched[0]) if batched[0] is not None else filled((4, 3))
    index = jnp.array([[0, 3, 3], [1, -0, 2], [2, 2, 2]])
    got = jax.vmap(lambda a, i: fj.take(a, i, 0), in_axes=batched)(x, index if batched[1] is not None else index[0])
    want = jax.vmap(lambda a, i: jnp.take(a, i, 0), in_axes=batched)(x, index if batched[1] is not None else index[0])
    assert (got == want).all()

    if batched == (0, 0):
        wrong = index.at[1, 2].set(4)  # no row of its own array, though there is one behind it
        with pytest.raises(Exception, match="position 5"):
            jax.block_until_ready(jax.vmap(lambda a, i: fj.take(a, i, 0))(x, wrong))

    def gradient(take):
        return jax.grad(lambda a: (jax.vmap(lambda i: take(a, i))(index) ** 2).sum())(filled((4, 5)))

    assert (gradient(lambda a, i: fj.take(a, i, 0)) == gradient(lambda a, i: a[i])).all()


def test_gradients_of_complex_numbers():
    x = jnp.arange(6.0).reshape(3, 2) * (1 + 2j)
    index = jnp.array([[0, 1], [1, 1]])
    ours = jax.grad(lambda x: (abs(fj.take(x, index, 0)) ** 2).sum())(x.astype(jnp.complex64))
    theirs = jax.grad(lambda x: (abs(jnp.take(x, index, 0)) ** 2).sum())(x.astype(jnp.complex64))
    assert np.allclose(ours, theirs)


def test_permute_qubits():
    state = filled((2, 16), jnp.complex64)
    for little_endian in (False, True):
        wanted = faro.permute_qubits(np.asarray(state), (2, 0, 3, 1), little_endian=little_endian)
        assert (fj.permute_qubits(state, (2, 0, 3, 1), little_endian=little_endian) == wanted).all()


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (1, 1)])
def test_small(shape):
    x = filled(shape)
    assert (fj.permute_dims(x) == x.T).all() and fj.permute_dims(x).shape == x.T.shape
    assert (fj.flip(x) == x).all() and (fj.roll(x, 3) == x).all()


def test_faros_own_functions_inside_transformations():
    x = filled((4, 8))
    for ours, theirs in ((lambda x: faro.permute_dims(x, (1, 0)), lambda x: x.T), (lambda x: faro.flip(x, 0), lambda x: x[::-1]),
                         (lambda x: faro.roll(x, 3, 1), lambda x: jnp.roll(x, 3, 1)), (lambda x: faro.ascontiguousarray(x), lambda x: x),
                         (lambda x: faro.take(x, jnp.array([2, 2]), 0), lambda x: x[jnp.array([2, 2])])):
        assert (jax.jit(ours)(x) == theirs(x)).all()
        assert (jax.grad(lambda x: (ours(x) ** 2).sum())(x) == 2 * jax.grad(lambda x: (theirs(x) ** 2).sum() / 2)(x)).all()


def test_refusals():
    x = filled((2, 3))
    with pytest.raises(faro.FaroValueError, match="each of the 2 axes once"):
        jax.jit(lambda x: fj.permute_dims(x, (0, 0)))(x)
    with pytest.raises(faro.FaroValueError, match="bit_reversal"):
        jax.jit(lambda x: fj.permute(x, "bit_reversl"))(x)
    with pytest.raises(Exception, match="at position 1|entry 1|7"):
        jax.block_until_ready(jax.jit(lambda x: fj.take(x, jnp.array([0, 7]), 0))(x))
    with pytest.raises(faro.FaroValueError, match="whole numbers"):
        fj.take(x, jnp.array([0.5]))


def test_the_way_back():
    x = filled((2, 4, 8))
    for there in (lambda y, **how: fj.permute_dims(y, (2, 0, -2), **how), lambda y, **how: fj.transpose(y, **how),
                  lambda y, **how: fj.roll(y, (1, -2), (0, 2), **how), lambda y, **how: fj.roll(y, 5, **how),
                  lambda y, **how: fj.rearrange(y, "a (b c) d -> c a d b", b=2, **how),
                  lambda y, **how: fj.permute(y, "gray", **how),
                  lambda y, **how: fj.permute_qubits(y.reshape(-1), (2, 0, 4, 1, 3, 5), **how).reshape(y.shape)):
        back = there(there(x), inverse=True)
        assert (back == x).all()


def test_columns():
    table = {"a": filled((5, 3)), "b": filled((5,), jnp.int32)}
    index = jnp.array([4, 0, 4])
    for call in (faro.take_columns, jax.jit(faro.take_columns)):
        got = call(table, index)
        assert (got["a"] == table["a"][index]).all() and (got["b"] == table["b"][index]).all()
    with pytest.raises(faro.FaroValueError, match="column 1"):
        jax.jit(lambda a: faro.take_columns([a, a[:4]], index))(table["a"])
    back = jax.grad(lambda a: (faro.take_columns([a, table["b"]], index)[0] ** 2).sum())(table["a"])
    assert (back == jax.grad(lambda a: (a[index] ** 2).sum())(table["a"])).all()
    caches, table = (filled((4, 2)), filled((4, 2, 3))), jnp.array([[3, -1]])
    for call in (faro.take_blocks, jax.jit(faro.take_blocks)):
        keys, values = call(caches, table)
        assert keys.tolist() == [[6, 7, 0, 0]] and values.shape == (1, 4, 3) and (values[0, 2:] == 0).all()
        assert (values[0, :2] == caches[1][3]).all()
    turned = jax.jit(lambda c: faro.take_blocks([c], table, axis=1, fill=7))(filled((2, 4, 2, 3)))[0]
    assert turned.shape == (2, 1, 4, 3) and (turned[:, 0, 2:] == 7).all() and (turned[:, 0, :2] == filled((2, 4, 2, 3))[:, 3]).all()
    filled_in = jax.jit(lambda t: faro.take_columns(t, jnp.array([1, -1]), fill={"a": 2, "b": -1}))({"a": filled((5, 3)), "b": filled((5,), jnp.int32)})
    assert filled_in["a"].tolist() == [[3, 4, 5], [2, 2, 2]] and filled_in["b"].tolist() == [1, -1]


def test_arrays_never_change():
    x = filled((2, 4))
    for call in (lambda: faro.flip(x, in_place=True), lambda: faro.flip(x, out=x), lambda: faro.flip(x, out=jnp.zeros((2, 4))),
                 lambda: faro.put(x, [0], jnp.ones((1, 4))), lambda: faro.add_at(x, [0], jnp.ones((1, 4))),
                 lambda: faro.sort(x, out=x), lambda: faro.plan("reverse(3)", x.reshape(-1), in_place=True)(x.reshape(-1))):
        with pytest.raises(faro.FaroTypeError, match="never changes"):
            call()
    assert (x == filled((2, 4))).all()


def test_shard_map():
    """On one device, or as many as there are: what a function gives varies along the mesh as what it is given does."""
    from jax.sharding import Mesh, PartitionSpec

    count = len(jax.devices())
    mesh, cut = Mesh(np.array(jax.devices()), ("d",)), PartitionSpec("d")
    x, index = filled((2 * count, 4, 3)), jnp.arange(2 * count) % 2

    def each(function, specs=cut):
        if hasattr(jax, "shard_map"):
            return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=cut)
        from jax.experimental.shard_map import shard_map  # the oldest jax, which checks no calls of others

        return shard_map(function, mesh=mesh, in_specs=specs, out_specs=cut, check_rep=False)

    both = (PartitionSpec(), cut)
    for ours, theirs, specs, arrays in (
        (lambda t: fj.flip(t, 1), lambda t: jnp.flip(t, 1), cut, (x,)),
        (lambda t: fj.permute_dims(t, (0, 2, 1)), lambda t: jnp.transpose(t, (0, 2, 1)), cut, (x,)),
        (lambda t: fj.rearrange(t, "a b c -> (a b) c"), lambda t: t.reshape(-1, 3), cut, (x,)),
        (jax.vmap(lambda t: fj.roll(t, 1, 0)), jax.vmap(lambda t: jnp.roll(t, 1, 0)), cut, (x,)),
        (lambda t: fj.take(t, jnp.array([1, 0, 1]), 0), lambda t: jnp.take(t, jnp.array([1, 0, 1]), 0), cut, (x,)),
        (lambda t, i: fj.take(t, i, 0), lambda t, i: jnp.take(t, i, 0), both, (x, index)),
        (lambda t: fj.add_rows(t, jnp.array([0, 0]), 2), lambda t: jnp.zeros_like(t).at[0].add(t[0] + t[1]), cut, (x,)),
    ):
        assert (jax.jit(each(ours, specs))(*arrays) == jax.jit(each(theirs, specs))(*arrays)).all()
        back, wanted = (jax.jit(jax.grad(lambda *a: (each(f, specs)(*a) ** 2).sum()))(*arrays) for f in (ours, theirs))
        assert (back == wanted).all()
