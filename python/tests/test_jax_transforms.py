"""Every public function of faro and faro.jax inside JAX's transformations: what NumPy's arrays give, or a FaroError.

Each function is affine in what is traced, so that its derivatives are known from its values: the oracle is NumPy's side alone.
"""

import inspect
from dataclasses import dataclass
from typing import Any, Callable

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
INDEXED = faro.maps.from_indices(np.random.default_rng(1).permutation(40))
CUT = faro.maps.from_indices(np.random.default_rng(2).permutation(400))  # whose text does not say all


@dataclass
class Case:
    """A function of one array of floats, which is traced, and what it gives for an array of NumPy; None: it is refused."""

    function: Callable[[Any], Any]
    oracle: Callable[[Any], Any] | None
    shape: tuple[int, ...] = (3, 4)
    says: str = ""  # what a refusal names
    in_trace: bool = False  # refused where nothing of it is known; a derivative of whole numbers is taken where they are

    @property
    def x(self):
        return np.array(np.arange(np.prod(self.shape)).reshape(self.shape) % 37 + 1, np.float32)


def same(function, shape=(3, 4)):
    """faro's own function, which takes either."""
    return Case(function, function, shape)


def refused(function, says, shape=(3, 4)):
    return Case(function, None, shape, says)


def untraced(function, says, shape=()):
    """What needs whole numbers."""
    return Case(lambda x: function(x.astype(int)), None, shape, says, True)


def twice(call, name, shape=(3, 4)):
    """``call(function, x)`` with faro's function and with faro.jax's."""
    ours, theirs = getattr(faro, name), getattr(fj, name)
    return [same(lambda x: call(ours, x), shape), Case(lambda x: call(theirs, x), lambda x: call(ours, x), shape)]


def put_of_numpy(x, index, values, axis=0):
    return faro.put(np.array(x), index, np.asarray(values, np.float32), axis)


def added(x, index, values, axis=0):
    return faro.add_at(np.array(x), index, np.asarray(values, np.float32), axis)


ONES = np.ones((2, 4), np.float32)
BASE = np.full((3, 4), 5, np.float32)

CASES: dict[str, list[Case]] = {
    "permute_dims": twice(lambda f, x: f(x, (2, 0, 1)), "permute_dims", (2, 3, 4))
    + twice(lambda f, x: f(x, (1, 2, 0), inverse=True), "permute_dims", (2, 3, 4)),
    "transpose": twice(lambda f, x: f(x), "transpose"),
    "astype": twice(lambda f, x: f(x, "float32", (1, 0), scale=[[2], [3], [5], [7]], offset=1, op="neg"), "astype")
    + twice(lambda f, x: f(x, "float32", add=x, beta=3), "astype"),
    "channels_first": twice(lambda f, x: f(x, mean=(0.5, 1, 2), std=(2, 4, 8)), "channels_first", (2, 4, 3)),
    "ascontiguousarray": [
        same(lambda x: faro.ascontiguousarray(x)),
        refused(lambda x: faro.ascontiguousarray(x, out=np.zeros((3, 4), "f4")), "out="),
    ],
    "flip": twice(lambda f, x: f(x), "flip") + twice(lambda f, x: f(x, 0), "flip") + twice(lambda f, x: f(x, [0, 1]), "flip"),
    "roll": twice(lambda f, x: f(x, 5), "roll")
    + twice(lambda f, x: f(x, (1, -2), (0, 1)), "roll")
    + twice(lambda f, x: f(x, np.int64(3), 1, inverse=True), "roll"),
    "permute": twice(lambda f, x: f(x, "gray"), "permute", (2, 8))
    + twice(lambda f, x: f(x, "transpose"), "permute")
    + twice(lambda f, x: f(x, "bit_reversal", axis=1), "permute")
    + twice(lambda f, x: f(x, "gray", axis=-2, inverse=True), "permute", (2, 4, 3))
    + twice(lambda f, x: f(x, "flip", axis=0), "permute")
    + twice(lambda f, x: f(x, INDEXED, axis=1), "permute", (2, 40))
    + twice(lambda f, x: f(x, CUT), "permute", (4, 100))
    + twice(lambda f, x: f(x, CUT, axis=0, inverse=True), "permute", (400, 1))
    + twice(lambda f, x: f(x, INDEXED, inverse=True), "permute", (5, 8))
    + twice(lambda f, x: f(x, faro.maps.gray(2), axis=0), "permute", (4, 3)),
    "bit_reverse": twice(lambda f, x: f(x), "bit_reverse", (4, 4))
    + twice(lambda f, x: f(x, 1), "bit_reverse")
    + twice(lambda f, x: f(x, 0), "bit_reverse", (4, 3)),
    "permute_qubits": twice(lambda f, x: f(x, (2, 0, 1)), "permute_qubits", (2, 8))
    + twice(lambda f, x: f(x, [1, 2, 0], little_endian=True, inverse=True), "permute_qubits", (2, 2, 2)),
    "rearrange": twice(lambda f, x: f(x, "a (b c) -> c a b", c=2), "rearrange")
    + twice(lambda f, x: f(x, "a b -> (b a)"), "rearrange"),
    "aos_to_soa": twice(lambda f, x: f(x), "aos_to_soa") + twice(lambda f, x: f(x, inverse=True), "aos_to_soa"),
    "soa_to_aos": twice(lambda f, x: f(x), "soa_to_aos") + twice(lambda f, x: f(x, inverse=True), "soa_to_aos"),
    "permute_negacyclic": twice(lambda f, x: f(x, 3), "permute_negacyclic")
    + twice(lambda f, x: f(x, -5), "permute_negacyclic", (2, 8))
    + [
        refused(lambda x: faro.permute_negacyclic(x, 2), "factor 2"),
        refused(lambda x: fj.permute_negacyclic(x, 3, modulus=17), "unsigned integers"),
    ],
    "permute_evaluations": twice(lambda f, x: f(x, 3), "permute_evaluations")
    + [refused(lambda x: faro.permute_evaluations(x, 3), "power of two", (2, 3))],
    "take": twice(lambda f, x: f(x, INDEX, 0), "take")
    + twice(lambda f, x: f(x, [[1, 0], [3, 3]], 1), "take")
    + twice(lambda f, x: f(x, [2, -1, 0], 0, fill=0), "take")
    + twice(lambda f, x: f(x, [1, -1], -1, fill=2.5), "take")
    + twice(lambda f, x: f(x, np.uint8([2, 0, 1]), 0, inverse=True), "take")
    + twice(lambda f, x: f(x, [1, -1], 1, fill=b"\0\0\x80\x3f"), "take")
    + [
        same(lambda x: faro.take(x, [11, 0])),
        same(lambda x: faro.take(x, [0, -1], fill=7)),
        same(lambda x: faro.take(x, 1, 0)),
        same(lambda x: faro.take(x, [], 0)),
        same(lambda x: faro.take(x, ORDER.repeat(1), inverse=True), (3,)),
        Case(lambda fill: fj.take(BASE, [1, -1], 0, fill=fill), lambda fill: faro.take(BASE, [1, -1], 0, fill=float(fill)), ()),
        Case(lambda fill: faro.take(BASE, [1, -1], 0, fill=fill), lambda fill: faro.take(BASE, [1, -1], 0, fill=float(fill)), ()),
        refused(lambda x: faro.take(x, INDEX, 0, fill="keep"), "take"),
        refused(lambda x: faro.take(x, INDEX, 0, out=np.zeros((3, 4), "f4")), "out="),
        refused(lambda x: faro.take(x, [0, 1], 0, inverse=True), "take"),
        refused(lambda x: faro.take(x, ORDER, 0, inverse=True, fill=0), "take"),
    ],
    "add_rows": [
        Case(lambda x: fj.add_rows(x, INDEX, 4), lambda x: added(np.zeros((4, 4)).astype("f4"), INDEX, x)),
        Case(
            lambda x: fj.add_rows(x, [1, -1, 0, 1], 2, axis=1),
            lambda x: added(np.zeros((3, 2)).astype("f4"), [1, -1, 0, 1], x, 1),
        ),
    ],
    "put": [
        Case(lambda x: fj.put(x, [2, 0], ONES), lambda x: put_of_numpy(x, [2, 0], ONES)),
        Case(lambda v: fj.put(BASE, [2, -1], v), lambda v: put_of_numpy(BASE, [2, -1], v), (2, 4)),
        Case(lambda x: fj.put(x, 3, [[1], [2], [3]], axis=1), lambda x: put_of_numpy(x, 3, [[1], [2], [3]], 1)),
        Case(lambda x: fj.put(x, [1, 0], 2 * x[:2]), lambda x: put_of_numpy(x, [1, 0], 2 * x[:2])),
        refused(lambda x: faro.put(x, [0], ONES[:1]), r"faro.jax.put\(\)"),
        refused(lambda v: faro.put(BASE.copy(), [0, 1], v), r"faro.jax.put\(\)", (2, 4)),
        refused(lambda x: fj.put(x, [0], ONES), "put"),
        refused(lambda x: fj.put(x, [0], ONES[:1].astype("i4")), "put"),
    ],
    "add_at": [
        Case(lambda x: fj.add_at(x, [2, 2], ONES), lambda x: added(x, [2, 2], ONES)),
        Case(lambda v: fj.add_at(BASE, [2, 2, -1], v, sums="compensated"), lambda v: added(BASE, [2, 2, -1], v)),
        refused(lambda x: faro.add_at(x, [0], ONES[:1]), r"faro.jax.add_at\(\)"),
        refused(lambda x: fj.add_at(x, [0], ONES[:1], sums="no"), "add_at"),
    ],
    "take_segments": twice(lambda f, x: f(x, [0, 1, 3], [1, 0, 1])[0], "take_segments")
    + [
        untraced(lambda i: faro.take_segments(BASE, [0, 1, 3], i)[0], "take_segments", (2,)),
        refused(lambda x: faro.take_segments(x, [0, 3], [0], room=9)[0], "room="),
    ],
    "route": [untraced(lambda keys: faro.route(keys, 4).places, "route", (3,))],
    "permute_bits": [Case(lambda x: faro.permute_bits(x.astype("uint8"), "bit_reversal(8)", 4), None, (128,), "that is traced", True)],
    "quantize_blocks": [refused(lambda x: faro.quantize_blocks(x, "mxfp8_e4m3")[0], "quantize_blocks: .* recorded", (2, 64))],
    "dequantize_blocks": [refused(lambda x: faro.dequantize_blocks(x, np.ones((2, 2), np.uint8), "mxfp8_e4m3"), "dequantize_blocks: .* recorded", (2, 64))],
    "family": [refused(lambda x: faro.family((None, 4), (1, 0), itemsize=4)(x), "run a family: .* traced")],
    "group": [refused(lambda x: faro.group([(x, (1, 0), np.empty((4, 3), np.float32))]).run(), "that is traced")],
    "route_rows": [same(lambda x: faro.route_rows(x, [0, 1, 0], 2)[0], (3, 2))],
    "dispatch": twice(lambda f, x: f(x, ROUTING), "dispatch")
    + [refused(lambda x: faro.dispatch(x, ROUTING), "dispatch", (4, 2))],
    "combine": twice(lambda f, x: f(x, ROUTING), "combine", (PLACES, 2))
    + twice(lambda f, x: f(x, ROUTING, WEIGHTS, sums="fp32"), "combine", (PLACES, 2))
    + [
        same(lambda w: faro.combine(np.ones((PLACES, 2), "f4"), ROUTING, w), (6,)),
        refused(lambda x: faro.combine(x, ROUTING, sums="compensated"), "combine", (PLACES, 2)),
        refused(lambda x: faro.combine(x, ROUTING, [1.0]), "combine", (PLACES, 2)),
    ],
    "take_columns": [
        same(lambda x: faro.take_columns({"a": x, "b": BASE}, INDEX)["a"]),
        same(lambda x: faro.take_columns([x, x], [1, -1], 1, fill=[3, 4])[1]),
    ],
    "put_columns": [
        refused(lambda x: faro.put_columns([x], [0], [ONES[:1]])[0], r"faro.jax.put\(\)"),
        refused(lambda v: faro.put_columns([BASE.copy()], [0, 1], [v])[0], r"faro.jax.put\(\)", (2, 4)),
    ],
    "add_columns": [refused(lambda x: faro.add_columns([x], [0], [ONES[:1]])[0], r"faro.jax.add_at\(\)")],
    "take_blocks": [
        same(lambda x: faro.take_blocks([x], [[2, -1], [0, 0]])[0]),
        same(lambda x: faro.take_blocks([x], [1, 0], axis=1, fill=3)[0], (2, 3, 2, 2)),
    ],
    "put_blocks": [refused(lambda x: faro.put_blocks([x], [0], [ONES[0]])[0], r"faro.jax.put\(cache")],
    "plan": [
        refused(lambda x: faro.plan("flip", x).explain(), "plan"),
        refused(lambda x: faro.plan("flip", shape=(12,), itemsize=4)(x), r"faro.jax.permute\(\)", (12,)),
    ],
    "plan_rows": [
        refused(lambda x: faro.plan_rows("take", [0], 3)(x), r"faro.jax.take\(\)"),
        refused(lambda x: faro.plan_rows("put", [0], 3)(ONES[:1], out=x), r"faro.jax.put\(\)"),
        untraced(lambda i: faro.plan_rows("add", i, 3), r"faro.jax.add_at\(\)", (2,)),
    ],
    "sort": [refused(lambda x: faro.sort(x), r"jax.numpy.sort\(\)")],
    "network": [refused(lambda x: faro.network(x, "wht"), "network: .* outside of jit")],
    "walsh_hadamard": [refused(lambda x: faro.walsh_hadamard(x), "walsh_hadamard: .* outside of jit")],
    "fft": [refused(lambda x: faro.fft(x.astype(np.complex64)), r"jax.numpy.fft.fft\(\)")],
    # No arrays but numbers, which are not traced.
    "layout": [untraced(lambda n: faro.layout(n, 32, 4, ["row"]), "layout")],
    "layout_convert": [untraced(lambda n: faro.layout_convert("strided(4)", "contiguous(4)", element=n), "layout convert")],
    "layout_check": [untraced(lambda n: faro.layout_check("strided(4)", "lane", element=n), "layout check")],
    "simulate": [untraced(lambda n: faro.simulate("transpose-diagonal", width=n), "simulate")],
    "synth": [untraced(lambda n: faro.synth("aos-crc", struct=n, warp=8), "synth")],
    "explain_network": [untraced(lambda n: faro.explain_network("sort", n), "explain")],
    "emit": [untraced(lambda n: faro.emit("gray(10)", n_tile=n), "emit")],
    "keep_memory": [untraced(lambda n: faro.keep_memory(n), "keep memory")],
    "load_plan": [untraced(lambda n: faro.load_plan(n), "path")],
    "import_wisdom": [untraced(lambda n: faro.import_wisdom(n), "the text that export_wisdom gave")],
}
WITHOUT_ARGUMENTS = {"clear_plans", "cuda_status", "kept_memory", "export_wisdom", "forget_wisdom"}
# Files, and caches of an inference engine, whose tests have their own arrays.
WITHOUT_ARGUMENTS |= {"cache_layouts", "checkpoint", "move_cache", "open", "plan_cache_move", "relayout", "transpose_bed"}
OVER_A_MESH = {"permute_dims_sharded", "permute_sharded"}  # test_shards.py has them, and those below
RUN = [pytest.param(case, id=f"{name}-{i}") for name, cases in CASES.items() for i, case in enumerate(cases)]
MOVED = [param for param in RUN if param.values[0].oracle is not None]


def test_every_public_function_is_in_the_table():
    for module in (faro, fj):
        for name in module.__all__:
            member = getattr(module, name)
            if not (inspect.ismodule(member) or inspect.isclass(member)):
                assert name in CASES or name in WITHOUT_ARGUMENTS or (module is fj and name in OVER_A_MESH), name


def shard_map(function, mesh, before, after):
    if hasattr(jax, "shard_map"):
        return jax.shard_map(function, mesh=mesh, in_specs=before, out_specs=after)
    from jax.experimental.shard_map import shard_map as older

    return older(function, mesh=mesh, in_specs=before, out_specs=after)


def on_devices(function):
    """Of each of several arrays, an equal share of them on each device."""
    mesh = Mesh(np.array(jax.devices()), ("d",))
    return shard_map(jax.vmap(function), mesh, PartitionSpec("d"), PartitionSpec("d"))


def several(x):
    return np.stack([x + i for i in range(2 * len(jax.devices()))])


def each(function):
    return lambda many: np.stack([np.asarray(function(x)) for x in many])


def scanned(function):
    def step(carry, x):
        y = function(x)
        return carry + y.sum(), y

    return lambda many: jax.lax.scan(step, jnp.zeros(()), many)[1]


WAYS = {
    "jit": (lambda f: jax.jit(lambda x: jax.jit(f)(x)), False),
    "checkpoint": (jax.checkpoint, False),
    "vmap": (lambda f: jax.vmap(jax.jit(f)), True),
    "scan": (lambda f: jax.jit(scanned(f)), True),
    "shard_map": (lambda f: jax.jit(on_devices(f)), True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", MOVED)
def test_values(case, way):
    transform, is_of_several = WAYS[way]
    x = several(case.x) if is_of_several else case.x
    wanted = (each(case.oracle) if is_of_several else case.oracle)(x)
    got = transform(case.function)(jnp.asarray(x))
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    assert np.array_equal(got, wanted)


def slopes(case):
    """The matrix of an affine function, from its values: result x array."""
    x = case.x
    at = np.asarray(case.oracle(x), np.float64)
    columns = []
    for i in range(x.size):
        other = x.copy()
        other.reshape(-1)[i] += 1
        columns.append((np.asarray(case.oracle(other), np.float64) - at).reshape(-1))
    return np.stack(columns, -1)


@pytest.mark.parametrize("case", MOVED)
def test_derivatives(case):
    f, x, matrix = case.function, jnp.asarray(case.x), slopes(case)
    y = np.asarray(case.oracle(case.x))
    tangent = np.asarray(np.arange(x.size).reshape(x.shape) % 5 - 2, np.float32)
    weights = np.asarray(np.arange(y.size).reshape(y.shape) % 7 - 3, np.float32)
    forward, backward = (matrix @ tangent.reshape(-1)).reshape(y.shape), (weights.reshape(-1) @ matrix).reshape(x.shape)

    def loss(x):
        return (f(x) * weights).sum()

    made, moved = jax.jvp(f, (x,), (tangent,))
    assert np.array_equal(made, y) and np.array_equal(moved, forward)
    assert np.array_equal(jax.jit(lambda x, t: jax.linearize(f, x)[1](t))(x, tangent), forward)
    assert np.array_equal(jax.vjp(f, x)[1](jnp.asarray(weights))[0], backward)
    assert np.array_equal(jax.grad(jax.jit(jax.checkpoint(loss)))(x), backward)
    many = jnp.asarray(several(case.x))
    wanted = np.broadcast_to(backward, many.shape)
    assert np.array_equal(jax.jit(jax.vmap(jax.grad(loss)))(many), wanted)
    assert np.array_equal(jax.jit(jax.grad(lambda many: (scanned(f)(many) * weights).sum()))(many), wanted)
    if y.size:
        assert np.array_equal(jax.jit(jax.grad(lambda many: (on_devices(f)(many) * weights).sum()))(many), wanted)
    # Of the derivative: the square's second one is twice the matrix's own square.
    square = jax.jit(jax.jvp, static_argnums=0)(jax.grad(lambda x: (f(x) ** 2).sum()), (x,), (jnp.asarray(tangent),))[1]
    assert np.allclose(square.reshape(-1), 2 * matrix.T @ matrix @ tangent.reshape(-1), rtol=1e-6)


@pytest.mark.parametrize("case", [param for param in RUN if param.values[0].oracle is None])
def test_refusals(case):
    x = jnp.asarray(case.x)
    ways = [jax.jit(case.function), jax.vmap(case.function), jax.jit(jax.vmap(case.function))]
    if not case.in_trace:
        ways += [scanned(case.function), lambda x: jax.jvp(case.function, (x,), (x,)), lambda x: jax.vjp(case.function, x)]
    for i, way in enumerate(ways):
        with pytest.raises(faro.FaroError, match=case.says) as error:
            way(several(case.x) if 1 <= i <= 3 else x)
        for part in (error.value.operation, error.value.got, error.value.wanted, error.value.remedy):
            assert "\n" not in part and len(part) < 300


def test_traced_indices():
    """Alone, or with what they index; -1 names no row, and what is no row fails when it is used."""
    x = jnp.asarray(BASE + np.arange(3, dtype=np.float32)[:, None])
    for index in (jnp.array([2, 0, 1]), jnp.array([2, 0, 1], jnp.uint8), jnp.array([1, 0, 2], jnp.int16)):
        host = np.asarray(index)
        assert np.array_equal(jax.jit(lambda i: faro.take(np.asarray(x), i, 0))(index), np.asarray(x)[host])
        assert np.array_equal(jax.jit(lambda x, i: faro.take(x, i, 0, inverse=True))(x, index), np.asarray(x)[np.argsort(host)])
        assert np.array_equal(jax.jit(lambda i: faro.take_columns([np.asarray(x)], i)[0])(index), np.asarray(x)[host])
        many = jnp.stack([index, index[::-1]])
        assert np.array_equal(
            jax.vmap(lambda i: fj.take(x, i, inverse=True))(many), [np.asarray(x)[np.argsort(i)] for i in np.asarray(many)]
        )
        assert np.array_equal(
            jax.vmap(lambda i: fj.put(x, i, 2 * x))(many), [put_of_numpy(x, i, 2 * x) for i in np.asarray(many)]
        )
        assert np.array_equal(jax.vmap(lambda i: fj.add_at(x, i, x))(many), [added(x, i, x) for i in np.asarray(many)])
    with pytest.raises(Exception, match="row 3 at position 1"):
        jax.block_until_ready(jax.jit(lambda i: fj.take(x, i, fill=0))(jnp.array([0, 3])))
    for wrong in ([0, 1, -1], [0, 1, 1]):
        with pytest.raises(Exception, match="row|twice"):
            jax.block_until_ready(jax.jit(lambda i: fj.take(x, i, inverse=True))(jnp.array(wrong)))


def test_routings_are_arguments():
    x = jnp.arange(6.0).reshape(3, 2)
    there = jax.jit(faro.dispatch)(x, ROUTING)
    assert np.array_equal(there, faro.dispatch(np.asarray(x), ROUTING))
    back = jax.jit(faro.combine)(there, ROUTING, jnp.asarray(WEIGHTS))
    assert np.array_equal(back, faro.combine(np.asarray(there), ROUTING, WEIGHTS))


def test_sums_have_the_same_bits():
    rng = np.random.default_rng(3)
    routing = faro.route(rng.integers(-1, 4, (50, 3)), 4)
    for dtype in (jnp.float32, jnp.bfloat16, jnp.float16, jnp.complex64):
        x = jnp.asarray(rng.normal(size=(len(routing.rows), 5))).astype(dtype)
        weights = rng.normal(size=150).astype(np.float32)
        for how in ({}, {"sums": "fp32"}):
            got = jax.jit(lambda x, w: faro.combine(x, routing, w, **how))(x, weights)
            assert np.asarray(got).tobytes() == np.asarray(faro.combine(x, routing, weights, **how)).tobytes()
