"""Numbers changed while arrays of JAX are moved: beside JAX's own steps, compiled, differentiated and batched."""

import itertools

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import faro  # noqa: E402
import faro.jax as fj  # noqa: E402
from faro import _changes  # noqa: E402
from function_cases import CASES  # noqa: E402

TYPES = [np.dtype(getattr(ml_dtypes, name, name) if name != "bool" else bool) for name in _changes.NUMBERS]
REAL_ONLY = ("relu", "gelu")
OPS = {
    "identity": lambda x: x, "conjugate": jnp.conj, "negate": jnp.negative, "absolute": jnp.abs, "reciprocal": lambda x: 1 / x,
    "square_root": jnp.sqrt, "exp": jnp.exp, "log": jnp.log, "tanh": jnp.tanh, "sigmoid": lambda x: 1 / (1 + jnp.exp(-x)),
    "relu": lambda x: jnp.maximum(x, 0), "gelu": lambda x: jax.nn.gelu(x, approximate=False),
}


@pytest.fixture(autouse=True)
def wide():
    """Of 64 bits, so that derivatives can be told from differences."""
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def drawn(*shape, dtype=np.float64, positive=False):
    rng = np.random.default_rng(sum(shape))
    made = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        return (made + 1j * rng.standard_normal(shape)).astype(dtype)
    return (np.abs(made) + 0.25 if positive else made).astype(dtype)


def given_to(op, dtype, *shape):
    x = drawn(*shape, dtype=dtype, positive=op in ("square_root", "log"))
    if op in ("absolute", "relu", "reciprocal") and x.dtype.kind != "c":
        x = np.sign(x) * (np.abs(x) + 0.25)
    return jnp.asarray(x + 2 if op == "reciprocal" and x.dtype.kind == "c" else x)


def same(got, wanted):
    got, wanted = np.array(got, order="C"), np.array(wanted, order="C")
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))


def near(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)


def plainly(x, axes, op="identity", scale=None, offset=None, add=None, beta=1, dtype=None):
    y = jnp.transpose(OPS[op](x), axes)
    y = y if scale is None else y * scale
    y = y if offset is None else y + offset
    y = y if add is None else y + beta * add
    dtype = dtype or x.dtype
    return (y.real if y.dtype.kind == "c" and np.dtype(dtype).kind != "c" else y).astype(dtype)


# --- types


@pytest.mark.parametrize("from_type", TYPES, ids=str)
def test_every_pair_of_types(from_type):
    """As faro's own function of NumPy's arrays, which test_arithmetic.py holds to what is said of it; compiled and not."""
    numbers = (np.arange(35).reshape(5, 7) % 9 - 3).astype(np.float32)
    x = np.ascontiguousarray((numbers != 0) if from_type == bool else np.abs(numbers).astype(from_type))
    how = {"axes": (1, 0), "scale": 3, "offset": 0.5}
    compiled = jax.jit(lambda y: [fj.astype(y, to_type, **how) for to_type in TYPES])(jnp.asarray(x))
    for to_type, got in zip(TYPES, compiled):
        wanted = faro.astype(x, to_type, **how)
        same(got, wanted)
        eager = faro.astype(jnp.asarray(x), to_type.name, **how)
        assert isinstance(eager, jax.Array)
        same(eager, wanted)
    same(fj.astype(jnp.asarray(x), "float32", **how), faro.astype(x, "float32", **how))


def test_without_64_bits():
    jax.config.update("jax_enable_x64", False)
    x = jnp.arange(6, dtype=jnp.int32).reshape(2, 3)
    assert fj.astype(x, "float64", scale=0.5).dtype == jnp.float32
    same(jax.jit(lambda x, s: fj.astype(x, "float32", (1, 0), scale=s))(x, 0.5), np.arange(6, dtype=np.float32).reshape(2, 3).T / 2)


def test_narrower_than_a_byte():
    x = jnp.arange(6, dtype=jnp.int4).reshape(2, 3)
    same(fj.astype(x, "float32", (1, 0)), np.arange(6, dtype=np.float32).reshape(2, 3).T)
    with pytest.raises(faro.FaroTypeError, match="int4"):
        fj.astype(x, jnp.int4)


# --- derivatives and batches


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("op", OPS)
def test_derivatives_of_every_function(op, dtype):
    if op in REAL_ONLY and dtype == np.complex128:
        return
    x, add = given_to(op, dtype, 2, 3, 4), jnp.asarray(drawn(4, 2, 3, dtype=dtype))
    scale, offset = drawn(2, 1, dtype=dtype), drawn(3, dtype=dtype)

    def ours(x, add, scale=scale, offset=offset):
        return fj.permute_dims(x, (2, 0, 1), op=op, scale=scale, offset=offset, add=add, beta=0.75)

    def theirs(x, add, scale=scale, offset=offset):
        return plainly(x, (2, 0, 1), op, scale, offset, add, 0.75)

    near(ours(x, add), theirs(x, add))
    for a, b in zip(jax.jvp(ours, (x, add), (x + 1, add * 2)), jax.jvp(theirs, (x, add), (x + 1, add * 2))):
        near(a, b)
    back = jnp.asarray(drawn(4, 2, 3, dtype=dtype))
    for f in (lambda *given: jax.vjp(ours, *given)[1](back), jax.jit(lambda *given: jax.vjp(ours, *given)[1](back))):
        for a, b in zip(f(x, add), jax.vjp(theirs, x, add)[1](back)):
            near(a, b)
    if op not in ("absolute", "relu"):
        check_grads(ours, (x, add), 2)
    # Traced scales and offsets are XLA's.
    given = x, add, jnp.asarray(scale), jnp.asarray(offset)
    near(jax.jit(ours)(*given), theirs(*given))
    for a, b in zip(jax.vjp(ours, *given)[1](back), jax.vjp(theirs, *given)[1](back)):
        near(a, b)


@pytest.mark.parametrize("from_type,to_type", [*itertools.product([np.float64, np.complex128], repeat=2)])
@pytest.mark.parametrize("op", ["identity", "conj", "neg", "abs", "exp"])
def test_derivatives_between_types(from_type, to_type, op):
    """Scaled by complex numbers, along a flipped axis."""
    x, scale = given_to(op, from_type, 3, 4), drawn(3, 1, dtype=np.complex128)
    full = _changes.how_of({"op": op}, "test").op
    ours = lambda x: fj.flip(x, 0, op=op, scale=scale, offset=1j, dtype=to_type)  # noqa: E731
    theirs = lambda x: plainly(x[::-1], (0, 1), full, scale, 1j, dtype=to_type)  # noqa: E731
    for a, b in zip(jax.jvp(ours, (x,), (x + 1,)), jax.jvp(theirs, (x,), (x + 1,))):
        near(a, b)
    back = jnp.asarray(drawn(3, 4, dtype=to_type))
    near(jax.vjp(ours, x)[1](back)[0], jax.vjp(theirs, x)[1](back)[0])


def test_derivatives_of_narrow_floats_and_whole_numbers():
    x = jnp.arange(12, dtype=jnp.bfloat16).reshape(3, 4)
    same(jax.grad(lambda x: fj.astype(x, "float32", (1, 0), scale=3).sum())(x), np.full((3, 4), 3, ml_dtypes.bfloat16))
    assert not jax.grad(lambda x: fj.astype(x, "int32").astype("float32").sum() + 0 * x.sum())(x).any()
    images = jnp.arange(12, dtype=jnp.uint8).reshape(2, 2, 3)
    assert jax.grad(lambda s: fj.astype(images, "float32", scale=s).sum())(2.0) == 66


@pytest.mark.parametrize("op", OPS)
def test_batches(op):
    x, add = given_to(op, np.float64, 2, 3, 4), jnp.asarray(drawn(4, 2, 3))
    scale, offset = jnp.asarray(drawn(2, 1)), drawn(3)
    ours = lambda x, add, s: fj.permute_dims(x, (2, 0, 1), op=op, scale=s, offset=offset, add=add)  # noqa: E731
    theirs = lambda x, add, s: plainly(x, (2, 0, 1), op, s, offset, add)  # noqa: E731
    given = x, add, scale
    batch = tuple(jnp.stack([each, each + 1, each * 2], 1) for each in given)
    for which in itertools.product([1, None], repeat=3):
        if which == (None,) * 3:
            continue
        arguments = tuple(b if axis == 1 else one for b, one, axis in zip(batch, given, which))
        near(jax.vmap(ours, which)(*arguments), jax.vmap(theirs, which)(*arguments))
    constant = lambda x: fj.flip(x, 1, op=op, scale=drawn(3, 1), offset=drawn(4))  # noqa: E731
    stacked = jnp.stack([x, x * 2])
    near(jax.jit(jax.vmap(jax.vmap(constant)))(stacked[None])[0], jnp.stack([constant(each) for each in stacked]))
    near(jax.vmap(jax.grad(lambda x: (constant(x) ** 2).sum()))(stacked),
         jnp.stack([jax.grad(lambda x: (constant(x) ** 2).sum())(each) for each in stacked]))


# --- every function


@pytest.mark.parametrize("name,arguments,named", CASES)
@pytest.mark.parametrize("module", [faro, fj], ids=["faro", "faro.jax"])
def test_every_function_takes_the_keywords(module, name, arguments, named):
    x = jnp.asarray(drawn(2, 4, 8, dtype=np.float32))
    function = getattr(module, name)
    moved = function(x, *arguments, **named)
    add, values = drawn(*moved.shape, dtype=np.float32), np.arange(float(moved.shape[0])).reshape((-1,) + (1,) * (moved.ndim - 1))
    call = lambda x: function(x, *arguments, **named, dtype="float64", op="neg", scale=values, offset=2, add=add, beta=0.5)  # noqa: E731
    wanted = plainly(moved, range(moved.ndim), "negate", values, 2, add.astype(np.float64), 0.5, np.float64)
    near(call(x), wanted)
    near(jax.jit(call)(x), wanted)
    ours = jax.grad(lambda x: (call(x) ** 2).sum())(x)
    theirs = jax.grad(lambda x: ((getattr(fj, name)(x, *arguments, **named).astype("float64") * -values + 2 + 0.5 * add) ** 2).sum())(x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_structures():
    x = jnp.asarray(drawn(5, 3))
    same(fj.aos_to_soa(x, scale=2), x.T * 2)
    same(jax.jit(lambda x: faro.soa_to_aos(x, dtype="float32"))(x), x.T.astype("float32"))


def test_channels_first():
    images = np.random.default_rng(2).integers(0, 256, (3, 8, 9, 3), np.uint8)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    wanted = ((images / 255.0 - mean) / std).transpose(0, 3, 1, 2)
    for call in (fj.channels_first, faro.channels_first):
        for run in (call, jax.jit(lambda x, call=call: call(x, mean=mean, std=std))):
            got = run(jnp.asarray(images), mean=mean, std=std) if run is call else run(jnp.asarray(images))
            assert got.dtype == jnp.float32
            np.testing.assert_allclose(got, wanted, rtol=0, atol=3e-6)


def test_extents_of_0_and_1():
    assert fj.astype(jnp.zeros((3, 0, 2)), "uint8", (2, 1, 0), add=np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert fj.astype(jnp.array(2.7), "int32").tolist() == 2
    assert jax.jit(lambda x: fj.flip(x, op="neg", scale=[[3.0]]))(jnp.ones((1, 1))).tolist() == [[-3]]


@pytest.mark.parametrize("call,said", [
    (lambda x: fj.permute_dims(x, scale=np.ones((2, 2))), "along one axis at most"),
    (lambda x: fj.permute_dims(x, dtype="float31"), "float31"),
    (lambda x: fj.permute_dims(x, op="cube"), "op='cube'"),
    (lambda x: fj.permute_dims(x, beta=2), "beta= without add="),
    (lambda x: fj.permute_dims(x, add=x, beta=np.ones(3)), "a number"),
    (lambda x: fj.permute_dims(x, add=x), "shape (3, 2)"),
    (lambda x: faro.permute_dims(x, scale=2, out=np.zeros((3, 2))), "out="),
    (lambda x: fj.channels_first(x), "2 axes"),
])
def test_refusals(call, said):
    x = jnp.asarray(drawn(2, 3))
    for run in (call, jax.jit(call)):
        if "out=" in said and run is call:
            continue
        with pytest.raises(faro.FaroError) as told:
            run(x)
        assert said in str(told.value) and "\n" not in str(told.value)
    with pytest.raises(TypeError, match="scael"):
        fj.permute_dims(x, scael=2)


def test_zeros_of_both_signs_are_different_factors():
    x = np.array([1.0, -1.0], np.float32)
    for zero in (0.0, -0.0, 0.0):
        got = np.asarray(fj.astype(jnp.asarray(x), "float32", scale=zero))
        assert np.signbit(got).tolist() == np.signbit(x * zero).tolist()
