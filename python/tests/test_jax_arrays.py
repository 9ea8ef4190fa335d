"""Arrays of JAX as users bring them: of less than a byte, random keys, deleted ones, on several devices, with traced numbers."""

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

import faro  # noqa: E402
import faro.jax as fj  # noqa: E402

INDEX = np.array([2, 0, 2])
ORDER = np.array([2, 0, 1])
ROUTING = faro.route([[0, 1], [1, -1], [1, 0]], 2, multiple=4)
PLACES = len(ROUTING.rows)
WEIGHTS = np.arange(1, 7, dtype=np.float32)
NARROW = [
    name
    for name in (
        "int2",
        "uint2",
        "int4",
        "uint4",
        "float4_e2m1fn",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e3m4",
        "bfloat16",
        "bool",
        "complex64",
        "int8",
    )
    if hasattr(jnp, name)
]


@pytest.fixture(autouse=True)
def _on_the_host():
    """Where JAX has a GPU, too: what is told here of traced and of other arrays is told of the host's."""
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.mark.parametrize("name", NARROW)
def test_types_of_elements(name):
    """As NumPy's, which has a byte for each number of less; where it has no such numbers either side says so."""
    x = (jnp.arange(24) % 2).reshape(3, 8).astype(getattr(jnp, name))
    calls = [
        faro.transpose,
        lambda x: faro.flip(x, 0),
        lambda x: faro.roll(x, 3),
        lambda x: faro.permute(x, "bit_reversal", axis=1),
        lambda x: faro.permute(x, "flip", axis=0),
        lambda x: faro.take(x, [1, -1], 1, fill=0),
        lambda x: faro.take(x, [1, -1], 1, fill=True),
        lambda x: faro.take(x, ORDER, 0, inverse=True),
        lambda x: faro.rearrange(x, "a b -> (b a)"),
        lambda x: faro.permute_evaluations(x, 3),
        lambda x: faro.permute_negacyclic(x, 3),
        lambda x: faro.dispatch(x, ROUTING),
        lambda x: faro.combine(faro.dispatch(x, ROUTING), ROUTING),
        lambda x: faro.take_columns([x], [0])[0],
        lambda x: faro.take_blocks([x], [[0, -1]])[0],
        faro.ascontiguousarray,
        faro.sort,
    ]
    for call in calls:
        try:
            wanted = call(np.asarray(x))
        except faro.FaroError:
            for way in (call, jax.jit(call)):
                with pytest.raises(faro.FaroError) as error:
                    way(x)
                if name.startswith(("int2", "uint", "int4", "float4")):
                    assert name in str(error.value) and ("astype" in str(error.value) or "jax.numpy.sort" in str(error.value))
            continue
        for way in (call, jax.jit(call)):
            try:
                got = way(x)
            except faro.FaroUnsupportedError:
                assert call is faro.sort and way is not call
                continue
            assert isinstance(got, jax.Array) and got.dtype == x.dtype and np.asarray(got).tobytes() == wanted.tobytes()
    if name != "bool":
        assert np.array_equal(np.asarray(fj.add_rows(x, ORDER, 3)).astype(complex), np.asarray(x)[[1, 2, 0]].astype(complex))
    assert np.array_equal(
        np.asarray(jax.jit(lambda x: fj.put(x, [2], x[:1]))(x)).astype(complex)[2], np.asarray(x)[0].astype(complex)
    )


@pytest.mark.parametrize("name", [n for n in NARROW if n.startswith("float")])
def test_gradients_of_narrow_floats(name):
    x = jnp.ones((3, 2), getattr(jnp, name))
    gradient = jax.grad(lambda x: faro.take(faro.transpose(x), [1, 1, 0], 0, fill=0).astype(jnp.float32).sum())(x)
    assert gradient.dtype == x.dtype and np.array_equal(np.asarray(gradient).astype(float), [[1, 2]] * 3)


def test_whole_numbers_have_no_gradient():
    x = jnp.arange(12).reshape(3, 4)
    for call in (
        faro.transpose,
        lambda x: faro.take(x, [0, -1], 0, fill=3),
        lambda x: fj.add_at(x, [0], x[:1]),
        lambda x: fj.put(x, [0], x[1:2]),
        lambda x: faro.take(x, ORDER, 0, inverse=True),
        lambda x: faro.permute_negacyclic(x, 3),
    ):
        nothing = np.zeros(x.shape, jax.dtypes.float0)
        assert jax.jvp(call, (x,), (nothing,))[1].dtype == jax.dtypes.float0
        assert jax.vjp(call, x)[1](np.zeros(call(x).shape, jax.dtypes.float0))[0].dtype == jax.dtypes.float0


@pytest.mark.parametrize("inverse", [False, True])
def test_rows_beyond_the_widest_element(inverse):
    """Rows along an axis go by indices, whatever their width."""
    x = np.random.default_rng(4).normal(size=(2, 8, 1100)).astype(np.float32)
    call = jax.jit(lambda x: faro.permute(x, "gray", axis=1, inverse=inverse))
    wanted = faro.permute(x, "gray", axis=1, inverse=inverse)
    assert np.array_equal(call(x), wanted) and np.array_equal(jax.vmap(call)(x[None]), wanted[None])
    assert np.array_equal(jax.vjp(call, x)[1](wanted)[0], x)


def test_random_keys_are_refused():
    keys = jax.random.split(jax.random.key(0), 4)
    for call in (
        faro.flip,
        fj.flip,
        faro.ascontiguousarray,
        faro.sort,
        lambda k: faro.take(k, [0]),
        lambda k: faro.take(np.arange(3), k),
        lambda k: faro.permute(k, "flip", axis=0),
        lambda k: faro.plan("flip", shape=(4,), itemsize=8)(k),
        lambda k: fj.put(k, [0], k[:1]),
    ):
        for way in (call, jax.jit(call)):
            with pytest.raises(faro.FaroError, match=r"key<fry>"):
                way(keys)
    data = jax.random.key_data(keys)
    assert np.array_equal(jax.random.key_data(jax.random.wrap_key_data(faro.flip(data, 0))), np.asarray(data)[::-1])


def test_deleted_arrays_are_refused():
    x = jnp.arange(4.0)
    x.delete()
    for call in (
        faro.flip,
        fj.flip,
        faro.sort,
        faro.ascontiguousarray,
        lambda x: faro.take(x, [0]),
        lambda x: faro.take(np.arange(5), x),
        lambda x: fj.put(x, [0], [1.0]),
    ):
        with pytest.raises(faro.FaroValueError, match="deleted"):
            call(x)


def test_indices_of_64_bits():
    """JAX would cut them to 32."""
    x = jnp.arange(4.0)
    for index in ([2**32 + 1], np.array([2**31]), np.array([-(2**32)]), np.array([2**63], np.uint64)):
        for call in (
            lambda x: fj.take(x, index),
            jax.jit(lambda x: faro.take(x, index)),
            lambda x: fj.put(x, index, [1.0]),
            lambda x: fj.add_rows(x[:1], index, 4),
        ):
            with pytest.raises(faro.FaroValueError, match="32 bits.*jax_enable_x64"):
                call(x)
    assert fj.take(x, np.array([3, 0], np.uint64)).tolist() == [3, 0]


def with_64_bits(on=True):
    return jax.enable_x64(on) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(on)


def test_types_of_64_bits_stay():
    with with_64_bits():
        x = jnp.arange(4) * 2**40
        assert np.array_equal(jax.jit(lambda x: faro.take(x, np.array([3, -1]), fill=2**50))(x), [3 * 2**40, 2**50])
        with pytest.raises(Exception, match="rows from 0 to 3"):
            jax.block_until_ready(fj.take(x, np.array([2**32 + 1])))
        weighted = faro.combine(jnp.ones((PLACES, 2), jnp.float32), ROUTING, WEIGHTS, sums="fp64")
        assert np.array_equal(
            jax.jit(lambda x: faro.combine(x, ROUTING, WEIGHTS, sums="fp64"))(jnp.ones((PLACES, 2), jnp.float32)), weighted
        )
    for call in (faro.flip, fj.flip, lambda x: faro.take(x, [3, 2, 1, 0]), lambda x: faro.permute(x, "flip")):
        assert call(x).dtype == x.dtype and np.array_equal(call(x), np.asarray(x)[::-1])
    with pytest.raises(faro.FaroUnsupportedError, match="jax_enable_x64"):
        jax.jit(lambda x: faro.combine(x, ROUTING, sums="fp64"))(jnp.ones((PLACES, 2)))


def test_traced_numbers_are_refused():
    """Axes, shifts and the like are the program's own, of arrays of NumPy, too."""
    x = np.ones((4, 4), np.float32)
    for array in (x, jnp.asarray(x)):
        for call in (
            lambda n: faro.roll(array, n),
            lambda n: faro.roll(array, (n, 1), (0, 1)),
            lambda n: faro.flip(array, n),
            lambda n: faro.take(array, [0], n),
            lambda n: faro.permute_dims(array, (n, 0)),
            lambda n: faro.permute_dims(array, n[None].repeat(2)),
            lambda n: faro.permute_negacyclic(array, n),
            lambda n: faro.permute_negacyclic(array, 3, modulus=n),
            lambda n: faro.permute_evaluations(array, n),
            lambda n: faro.permute(array, "flip", axis=n),
            lambda n: faro.rearrange(array, "(a b) c -> b a c", a=n),
            lambda n: faro.permute_qubits(array, (n, 0)),
            lambda n: faro.sort(array, n),
            lambda n: faro.route([0], n),
            lambda n: fj.roll(array, n),
            lambda n: fj.flip(array, n),
            lambda n: fj.add_rows(array, [0, 1, 1, 0], n),
        ):
            with pytest.raises(faro.FaroTypeError, match="a traced int32 of JAX.*static_argnums"):
                jax.jit(call)(1)
            with pytest.raises(faro.FaroError):
                jax.vmap(call)(jnp.arange(2))
    assert np.array_equal(jax.jit(faro.roll, static_argnums=1)(jnp.arange(4), 1), [3, 0, 1, 2])


def test_devices():
    """A result lies where its array does; what is spread over several devices goes by JAX, or is refused."""
    devices = jax.devices("cpu")
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    for device in devices:
        there = jax.device_put(x, device)
        for call in (
            faro.transpose,
            lambda x: faro.take(x, [1], 0),
            faro.sort,
            lambda x: faro.permute(x, "flip", axis=1),
            fj.transpose,
        ):
            assert call(there).devices() == {device} and np.array_equal(call(there), call(x))
    assert faro.flip(jnp.asarray(x)).committed is False
    spread = jax.device_put(x, jax.sharding.NamedSharding(Mesh(np.array(devices), ("d",)), PartitionSpec("d")))
    for call in (
        faro.transpose,
        lambda x: faro.take(x, [1], 0),
        lambda x: faro.permute(x, "flip", axis=0),
        lambda x: faro.take(x, ORDER, 0, fill=0),
    ):
        assert np.array_equal(call(spread), call(x))
    assert np.array_equal(
        faro.take(x, jax.device_put(INDEX, jax.sharding.NamedSharding(Mesh(np.array(devices), ("d",)), PartitionSpec())), 0),
        x[INDEX],
    )
    if len(devices) > 1:
        with pytest.raises(faro.FaroUnsupportedError, match=r"2 devices.*jax.numpy.sort\(\)"):
            faro.sort(spread)


def test_sharded_functions():
    mesh = Mesh(np.array(jax.devices("cpu")), ("d",))
    x = np.arange(64, dtype=np.float32).reshape(4, 16)
    turned = lambda x: fj.permute_dims_sharded(x, (1, 0), mesh, "d")  # noqa: E731
    mapped = lambda x: fj.permute_sharded(x, "gray(6)", mesh, "d")  # noqa: E731
    for call, array, wanted in ((turned, x, x.T), (mapped, x.reshape(-1), faro.permute(x.reshape(-1), "gray"))):
        assert np.array_equal(call(jnp.asarray(array)), wanted) and np.array_equal(jax.jit(call)(array), wanted)
        weights = np.arange(64, dtype=np.float32).reshape(wanted.shape)
        back = jax.grad(lambda x: (call(x) * weights).sum())(jnp.asarray(array))
        assert np.array_equal(back, weights.T if call is turned else faro.permute(weights, "gray", inverse=True))


def test_sort_as_numpy_does():
    for name in ("bfloat16", "float16", "int8", "uint16", "float32", "int32", "bool"):
        x = jnp.array([[3, 1, 2], [0, 5, 4]]).astype(getattr(jnp, name))
        got = faro.sort(x)
        assert (
            isinstance(got, jax.Array)
            and got.dtype == x.dtype
            and np.asarray(got).tobytes() == faro.sort(np.asarray(x)).tobytes()
        )
