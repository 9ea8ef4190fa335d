"""faro.jax on shapes with symbols: exported once, called with arrays of any extents."""

import pytest

jax = pytest.importorskip("jax")
export = pytest.importorskip("jax.export")

import numpy as np  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import faro  # noqa: E402
import faro.jax as fj  # noqa: E402

CHECKS = [export.DisabledSafetyCheck.custom_call("faro_move")]


def filled(shape, dtype=np.float32):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# Each with a shape of symbols and numbers; what it gives eagerly is what it has to give when exported.
CASES = {
    "permute_dims": (lambda x: fj.permute_dims(x, (1, 2, 0)), "b, 3, s"),
    "permute_dims, inverse": (lambda x: fj.permute_dims(x, (1, 2, 0), inverse=True), "b, s, d"),
    "transpose": (lambda x: fj.transpose(x), "b, s"),
    "flip": (lambda x: fj.flip(x), "b, s"),
    "flip one": (lambda x: fj.flip(x, 0), "b, 4"),
    "roll, flat": (lambda x: fj.roll(x, 5), "b, 3"),
    "roll": (lambda x: fj.roll(x, (1, -2), (0, 1)), "b, s"),
    "roll, back": (lambda x: fj.roll(x, 3, 0, inverse=True), "b, 2"),
    "rearrange": (lambda x: fj.rearrange(x, "b s (h d) -> b h s d", h=2), "b, s, 4"),
    "rearrange, joined": (lambda x: fj.rearrange(x, "b s d -> (s b) d"), "b, s, 4"),
    "rearrange, back": (lambda x: fj.rearrange(x, "b h s d -> b s (h d)", inverse=True, h=2), "b, s, 6"),
    "a pattern": (lambda x: fj.permute(x, "b s d -> s b d", inverse=True), "b, s, 3"),
    "transpose by its name": (lambda x: fj.permute(x, "transpose"), "b, s"),
    "axes by their text": (lambda x: fj.permute(x, "axes(2 0 1)", inverse=True), "b, s, 3"),
    "a map along an axis": (lambda x: fj.permute(x, "gray", axis=1), "b, 8"),
    "a map along an axis, rows": (lambda x: fj.permute(x, "bit_reversal", axis=0), "8, s"),
    "bit_reverse": (lambda x: fj.bit_reverse(x, -1), "b, 8"),
    "permute_qubits": (lambda x: fj.permute_qubits(x, (2, 0, 1)), "b, 8"),
    "aos_to_soa": (lambda x: fj.aos_to_soa(x), "b, 3"),
    "take": (lambda x: fj.take(x, jnp.array([1, 0, 1]), 1), "b, 3, s"),
    "take with a fill": (lambda x: fj.take(x, jnp.array([1, -1]), 0, fill=7), "3, s"),
    "take, back": (lambda x: fj.take(x, jnp.array([1, 2, 0]), 0, inverse=True), "3, s"),
    "put": (lambda x: fj.put(x, jnp.array([1]), x[:1] * 2, 0), "4, s"),
    "add_at": (lambda x: fj.add_at(x, jnp.array([1]), x[:1] * 2, 0), "4, s"),
    "add_rows": (lambda x: fj.add_rows(x, jnp.array([1, 0, 1]), 5, 1), "b, 3"),
    "permute_negacyclic": (lambda x: fj.permute_negacyclic(x, 3), "b, 4"),
    "permute_evaluations": (lambda x: fj.permute_evaluations(x, 3), "b, 4"),
}
SIZES = [{"b": 2, "s": 5, "d": 4}, {"b": 7, "s": 1, "d": 6}, {"b": 30, "s": 64, "d": 3}]


def exported(call, said, dtype=jnp.float32):
    shape = export.symbolic_shape(said)
    return export.export(jax.jit(call), disabled_checks=CHECKS)(jax.ShapeDtypeStruct(shape, dtype))


def shapes_of(said):
    return [tuple(sizes[word] if word in sizes else int(word) for word in said.split(", ")) for sizes in SIZES]


@pytest.mark.parametrize("name", CASES)
def test_one_program_for_all_shapes(name):
    call, said = CASES[name]
    program = exported(call, said)
    for shape in shapes_of(said):
        x = filled(shape)
        got, wanted = program.call(x), call(jnp.asarray(x))
        assert got.shape == wanted.shape and (got == wanted).all()


@pytest.mark.parametrize("name", ["permute_dims", "flip", "roll", "rearrange", "take"])
def test_gradients_and_batches(name):
    call, said = CASES[name]

    def back(x):
        return jax.grad(lambda y: (call(y) * jnp.arange(call(y).size, dtype=y.dtype).reshape(call(y).shape)).sum())(x)

    program = exported(back, said)
    batched = exported(jax.vmap(call), "n, " + said)
    for shape in shapes_of(said):
        x = filled(shape)
        assert np.allclose(program.call(x), back(jnp.asarray(x)))
        many = np.stack([x, 2 * x, x + 1])
        assert (batched.call(many) == jax.vmap(call)(jnp.asarray(many))).all()


def test_a_flip_behind_a_roll_goes_back():
    from faro import _jax_moves

    def there(x):
        return _jax_moves._by_family(x, (1, 0), (0,), (2, 1))

    x = filled((5, 4))
    wanted = np.roll(np.flip(x, 0), (2, 1), (0, 1)).T
    assert (there(jnp.asarray(x)) == wanted).all()
    weights = filled((4, 5))
    got = jax.grad(lambda y: (there(y) * weights).sum())(jnp.asarray(x))
    assert (got == np.flip(np.roll(weights.T, (-2, -1), (0, 1)), 0)).all()


REFUSED = {
    "a map of all elements": (lambda x: fj.permute(x, "bit_reversal"), "b, 8", "axis="),
    "a map along a symbol": (lambda x: fj.permute(x, "gray", axis=0), "b, 8", "flip and roll"),
    "bit_reverse of all": (lambda x: fj.bit_reverse(x), "b", "axis="),
    "polynomials of any length": (lambda x: fj.permute_evaluations(x, 3), "2, n", "their length"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_of_so_many_elements_is_refused(name):
    call, said, remedy = REFUSED[name]
    with pytest.raises(faro.FaroUnsupportedError, match="symbols") as refused:
        exported(call, said)
    assert remedy in refused.value.remedy
