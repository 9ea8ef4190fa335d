"""Remedies for arrays of JAX, traced and on several devices; test_remedies.py runs them where JAX is."""

import numpy as np
import pytest

import faro
from faro import maps
import remedies
from remedies import same

ROWS = np.arange(12, dtype="f4").reshape(4, 3)


def _jax():
    jax = pytest.importorskip("jax")
    import faro.jax  # noqa: F401

    return jax, jax.numpy


def trial(*key):
    """A trial on the host, also where JAX has a GPU: there another function may do what is asked."""

    def keep(function):
        @remedies.trial(*key)
        def _(told):
            jax, _ = _jax()
            with jax.default_device(jax.devices("cpu")[0]):
                function(told)

        return function

    return keep


class _Wide:
    def __enter__(self):
        import jax

        jax.config.update("jax_enable_x64", True)

    def __exit__(self, *_):
        import jax

        jax.config.update("jax_enable_x64", False)


def _split(x):
    """The array on two devices of the host."""
    jax, jnp = _jax()
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")[:2]), "d")
    return jax.device_put(jnp.asarray(x), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))


@trial("_arrays.py", "call it outside of jit, grad and vmap; numpy.asarray(x) gathers an array of several devices")
def _(told):
    jax, jnp = _jax()
    x, keys = ROWS[:, 0].copy(), np.array([1, 0, 1, 1])
    calls = [(faro.walsh_hadamard, x), (lambda y: faro.network(y, "wht"), x), (lambda y: faro.route(y, 2).places, keys)]
    for call, given in calls:
        told(jax.jit(call), jnp.asarray(given))
        told(call, _split(given))
        same(call(jnp.asarray(given)), call(given))
        same(call(np.asarray(_split(given))), call(given))


@trial("_arrays.py", "jax.numpy.copy(x), made before, stays when x is donated or deleted")
def _(told):
    _, jnp = _jax()
    x = jnp.arange(3.0)
    kept = jnp.copy(x)
    x.delete()
    told(faro.flip, x)
    same(faro.flip(kept), np.array([2, 1, 0], "f4"))


@trial("_arrays.py", "jax.random.key_data(x) has those of keys, jax.random.wrap_key_data() makes keys of them")
def _(told):
    jax, jnp = _jax()
    x = jax.random.split(jax.random.key(0), 3)
    told(faro.flip, x, 0)
    made = jax.random.wrap_key_data(faro.flip(jax.random.key_data(x), 0))
    assert bool((made == x[::-1]).all())


@trial("_arrays.py", "leave out= and in_place= out")
def _(told):
    _, jnp = _jax()
    x = jnp.asarray(ROWS)
    told(faro.flip, x, 0, in_place=True)
    told(faro.flip, x, 0, out=jnp.zeros_like(x))
    same(faro.flip(x, 0), ROWS[::-1])


@trial("_arrays.py", "leave {name}= out")
def _(told):
    jax, jnp = _jax()
    out = np.empty_like(ROWS)
    told(jax.jit(lambda x: faro.flip(x, 0, out=out)), jnp.asarray(ROWS))
    told(lambda x: faro.flip(x, 0, out=out), _split(ROWS))
    same(jax.jit(lambda x: faro.flip(x, 0))(jnp.asarray(ROWS)), ROWS[::-1])
    same(faro.flip(_split(ROWS), 0), ROWS[::-1])


@trial("_arrays.py", "faro.jax has the functions that do")
def _(told):
    jax, jnp = _jax()
    out = np.zeros((1, 3), "f4")
    told(jax.jit(lambda x: faro.take_columns([x], [1], out=[out])), ROWS)
    told(lambda x: faro.take_columns([x], [1], out=[out]), _split(ROWS))
    for made in (jax.jit(lambda x: faro.jax.take(x, [1], 0))(ROWS), faro.jax.take(_split(ROWS), [1], 0)):
        same(made, ROWS[[1]])


@trial("_columns.py", "faro.jax.{'add_at' if move.verb == 'add' else 'put'}() gives a new one")
def _(told):
    jax, jnp = _jax()
    values = np.ones((1, 3), "f4")
    for columns, single in ((faro.put_columns, faro.jax.put), (faro.add_columns, faro.jax.add_at)):
        told(columns, [jnp.asarray(ROWS)], [1], [values])
        told(jax.jit(lambda v: columns([ROWS.copy()], [1], [v])), values)
        wanted = ROWS.copy()
        wanted[1] = 1 if single is faro.jax.put else wanted[1] + 1
        same(single(jnp.asarray(ROWS), [1], values), wanted)
        same(jax.jit(lambda v: single(ROWS, [1], v))(values), wanted)


@trial("_columns.py", "faro.jax.put(cache, table.reshape(-1), values.reshape(cache.shape[:axis] + (-1,) + "
       "cache.shape[axis + 1:]), axis) gives a new one")
def _(told):
    jax, jnp = _jax()
    cache, table = np.zeros((2, 4, 3, 2), "f4"), np.array([[3, 0], [1, -1]])
    values = np.arange(2 * 2 * 6 * 2, dtype="f4").reshape(2, 2, 6, 2)
    for axis in (1, -3):
        known = {"faro": faro, "cache": jnp.asarray(cache), "table": table, "axis": axis}
        said = told(faro.put_blocks, [known["cache"]], table, [values], axis).removesuffix(" gives a new one")
        told(jax.jit(lambda v: faro.put_blocks([cache.copy()], table, [v], axis)), values)
        wanted = faro.put_blocks([cache.copy()], table, [values], axis)[0]
        same(eval(said, {**known, "values": values}), wanted)
        same(jax.jit(lambda v: eval(said, {**known, "values": v}))(values), wanted)


@trial("_rows.py", "faro.jax.put() gives a new one", "faro.jax.put() gives a new array", "faro.jax.add_at() gives a new one",
       "faro.jax.add_at() gives a new array")
def _(told):
    jax, jnp = _jax()
    adds, values = "add_at" in told.pattern, np.ones((1, 3), "f4")
    ours, theirs = (faro.add_at, faro.jax.add_at) if adds else (faro.put, faro.jax.put)
    wanted = ROWS.copy()
    wanted[1] = wanted[1] + 1 if adds else 1
    if "one" in told.pattern:
        told(ours, jnp.asarray(ROWS), [1], values)
        same(theirs(jnp.asarray(ROWS), [1], values), wanted)
    else:
        told(jax.jit(lambda v: ours(ROWS.copy(), [1], v)), values)
        same(jax.jit(lambda v: theirs(ROWS, [1], v))(values), wanted)


@trial("_rows.py", "arrays of NumPy tell the length of the result when a function is traced")
def _(told):
    jax, jnp = _jax()
    x, cuts, taken = np.arange(6, dtype="f4"), np.array([0, 1, 4, 6]), np.array([2, 0])
    told(jax.jit(faro.take_segments), x, cuts, taken)
    same(jax.jit(lambda y: faro.take_segments(y, cuts, taken)[0])(x), np.array([4, 5, 0], "f4"))


@trial("_indices.py", "take(), put() and add_at() of faro.jax read such indices when they are run")
def _(told):
    jax, jnp = _jax()
    indices = jnp.array([1, 2, 0, 3])
    told(jax.jit(lambda x, i: faro.permute(x, maps.from_indices(i), axis=0)), ROWS, indices)
    made = jax.jit(lambda x, i: faro.jax.take(x, i, 0, inverse=True))(ROWS, indices)
    same(made, faro.permute(ROWS, maps.from_indices(indices), axis=0))


@trial("_jax_primitives.py", "jax.config.update('jax_enable_x64', True) has 64")
def _(told):
    jax, jnp = _jax()
    x = jax.ShapeDtypeStruct((2**12, 2**20), "int8")

    def ask(kind):
        return jax.eval_shape(jax.vmap(faro.jax.take), x, jax.ShapeDtypeStruct((2**12, 3), kind)).shape

    told(ask, "int32")
    with _Wide():
        assert ask("int32") == (2**12, 3)


@trial("_jax_primitives.py", "jax.config.update('jax_enable_x64', True) has those of 64")
def _(told):
    _, jnp = _jax()
    told(faro.jax.take, jnp.zeros((2**31 + 8, 0), "f4"), np.array([2**31 + 1]), 0)
    with _Wide():
        assert faro.jax.take(jnp.zeros((2**31 + 8, 0), "f4"), np.array([2**31 + 1]), 0).shape == (1, 0)


@trial("_jax_rows.py", "jax.config.update('jax_enable_x64', True) has them")
def _(told):
    jax, jnp = _jax()
    routing = faro.route(np.array([1, 0, 1, 1]), 2)
    call = jax.jit(lambda x: faro.combine(faro.dispatch(x, routing), routing, sums="fp64"))
    told(call, ROWS)
    with _Wide():
        same(call(ROWS), ROWS)


@trial("_jax_rows.py", "x.astype('float32') makes them")
def _(told):
    jax, jnp = _jax()
    x = jnp.array([True, True, True, False])
    told(faro.jax.add_rows, x, [0, 1, 0, 1], 2)
    same(faro.jax.add_rows(x.astype("float32"), [0, 1, 0, 1], 2), np.array([2, 1], "f4"))
    routing = faro.route(np.array([1, 0, 1, 1]), 2)
    told(jax.jit(lambda y: faro.combine(y, routing)), jnp.ones(4, "int32"))
    same(jax.jit(lambda y: faro.combine(y.astype("float32"), routing))(jnp.ones(4, "int32")), np.ones(4, "f4"))


@trial("_jax_rows.py", "values.astype('{x.dtype}') makes them")
def _(told):
    _, jnp = _jax()
    values = np.ones((1, 3), "i4")
    for kind in ("float32", "bfloat16"):
        x = jnp.asarray(ROWS).astype(kind)
        assert kind in told(faro.jax.put, x, [1], values)
        same(faro.jax.put(x, [1], jnp.asarray(values).astype(kind)), x.at[1].set(1))


@trial("_jax_rows.py", "put() gives an array whose other rows are as they were")
def _(told):
    _, jnp = _jax()
    told(faro.jax.take, jnp.asarray(ROWS), [2, -1], 0, fill="keep")
    before = jnp.full((2, 3), 7, "f4")
    same(faro.jax.put(before, [0], faro.jax.take(jnp.asarray(ROWS), [2], 0)), np.array([ROWS[2], [7] * 3], "f4"))


@trial("_jax_rows.py", "put() writes some rows")
def _(told):
    _, jnp = _jax()
    told(faro.jax.take, jnp.asarray(ROWS[:2]), [3, 0, 1], 0, inverse=True)
    same(faro.jax.put(jnp.zeros((4, 3)), [3, 0], ROWS[:2]), np.array([ROWS[1], [0] * 3, [0] * 3, ROWS[0]], "f4"))


def _mesh():
    jax, _ = _jax()
    return jax.sharding.Mesh(np.array(jax.devices("cpu")[:2]), "d")


@trial("_jax_sharded.py", "x.reshape(-1) has one")
def _(told):
    _, jnp = _jax()
    x = jnp.arange(16.0).reshape(4, 4)
    told(faro.jax.permute_sharded, x, "bit_reversal(4)", _mesh(), "d")
    made = faro.jax.permute_sharded(x.reshape(-1), "bit_reversal(4)", _mesh(), "d")
    same(made, faro.permute(np.arange(16, dtype="f4"), "bit_reversal"))


@trial("_jax_sharded.py", "x[(~faro.maps.parse({text})).indices] is moved by JAX itself")
def _(told):
    x = _split(np.arange(12, dtype="f4"))
    text = "axes(3 4; 1 0; 0 0; )"
    said = told(faro.jax.permute_sharded, x, text, _mesh(), "d")
    made = eval(said.removesuffix(" is moved by JAX itself"), {"faro": faro, "x": x})
    same(made, faro.permute(np.arange(12, dtype="f4"), text).ravel())


@trial("_networks.py", "jax.numpy.fft.fft() transforms it")
def _(told):
    jax, jnp = _jax()
    x = ROWS[:, 1].astype("c8")
    told(jax.jit(faro.fft), x)
    told(faro.fft, _split(x))
    for made in (jax.jit(jnp.fft.fft)(x), jnp.fft.fft(_split(x))):
        np.testing.assert_allclose(made, np.fft.fft(x), rtol=1e-5)


@trial("_networks.py", "jax.numpy.sort() sorts it")
def _(told):
    jax, jnp = _jax()
    x = np.array([3, 1, 2, 0], "f4")
    told(jax.jit(faro.sort), x)
    told(faro.sort, _split(x))
    for made in (jax.jit(jnp.sort)(x), jnp.sort(_split(x))):
        same(made, np.sort(x))


@trial("_plan.py", "faro.jax.permute() makes plans that JAX runs")
def _(told):
    jax, jnp = _jax()
    x, wanted = np.arange(8, dtype="f4"), faro.permute(np.arange(8, dtype="f4"), "bit_reversal")
    plan = faro.plan("bit_reversal", x)
    told(jax.jit(plan), x)
    told(plan, _split(x))
    same(jax.jit(lambda y: faro.jax.permute(y, "bit_reversal"))(x), wanted)
    same(faro.jax.permute(_split(x), "bit_reversal"), wanted)


@trial("_plan.py", "shape=x.shape and itemsize=x.dtype.itemsize say the same")
def _(told):
    jax, jnp = _jax()
    x, plans = np.arange(8, dtype="f4"), []
    told(jax.jit(lambda y: faro.plan("bit_reversal", y)), x)
    jax.jit(lambda y: plans.append(faro.plan("bit_reversal", shape=y.shape, itemsize=y.dtype.itemsize)))(x)
    same(plans[0](x), faro.permute(x, "bit_reversal"))


@trial("_row_plans.py", "faro.jax.take() makes plans that JAX runs",
       "faro.jax.{'add_at' if verb == 'add' else verb}() makes plans that JAX runs")
def _(told):
    jax, jnp = _jax()
    if "take" in told.pattern:
        told(jax.jit(faro.plan_rows("take", [2, 0], 4)), ROWS)
        same(jax.jit(lambda x: faro.jax.take(x, [2, 0], 0))(ROWS), ROWS[[2, 0]])
        return
    wanted = {"take": ROWS[[1]], "put": ROWS * [[1], [0], [1], [1]], "add": ROWS}
    for verb, arguments in (("take", ()), ("put", (np.zeros((1, 3), "f4"),)), ("add", (np.zeros((1, 3), "f4"),))):
        said = told(jax.jit(lambda i: faro.plan_rows(verb, i, 4)), jnp.array([1]))
        call = getattr(faro.jax, said.partition("(")[0].removeprefix("faro.jax."))
        same(jax.jit(lambda i: call(ROWS, i, *arguments, axis=0))(jnp.array([1])), wanted[verb].astype("f4"))


@trial("_run.py", "jax.jit's static_argnums make it one")
def _(told):
    jax, _ = _jax()
    told(jax.jit(lambda x, k: faro.roll(x, k, 0)), ROWS, 1)
    same(jax.jit(lambda x, k: faro.roll(x, k, 0), static_argnums=1)(ROWS, 1), np.roll(ROWS, 1, 0))
