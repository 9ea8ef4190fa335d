"""faro.torch, and faro's own functions, on tensors of PyTorch: eager, compiled, differentiated, batched."""

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402

HAS_GPU = torch.cuda.is_available() and faro.cuda_status()[0]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason="no GPU"))]


def filled(shape, dtype=torch.float32, device="cpu"):
    return torch.arange(int(np.prod(shape))).reshape(shape).to(dtype).to(device)


def at(x):
    return torch.tensor([1, 0, 1], device=x.device)


def four(x):
    return torch.tensor([1, 0, 1, 4], device=x.device)


def added(x):
    zeros = torch.zeros(*x.shape[:1], 6, *x.shape[2:], dtype=x.dtype, device=x.device)
    return zeros.index_add(1, four(x), x)


CASES = {
    "permute_dims": (lambda x: ft.permute_dims(x, (2, 0, 1)), lambda x: x.permute(2, 0, 1)),
    "negative axes": (lambda x: ft.permute_dims(x, (-1, 1, 0)), lambda x: x.permute(2, 1, 0)),
    "reversed axes": (lambda x: ft.transpose(x), lambda x: x.permute(2, 1, 0)),
    "flip all": (lambda x: ft.flip(x), lambda x: torch.flip(x, (0, 1, 2))),
    "flip one": (lambda x: ft.flip(x, 1), lambda x: torch.flip(x, (1,))),
    "roll flat": (lambda x: ft.roll(x, 5), lambda x: torch.roll(x, 5)),
    "roll axes": (lambda x: ft.roll(x, (1, -2), (0, 2)), lambda x: torch.roll(x, (1, -2), (0, 2))),
    "rearrange": (lambda x: ft.rearrange(x, "a (b c) d -> c a d b", b=2),
                  lambda x: x.reshape(2, 2, 2, 8).permute(2, 0, 3, 1)),
    "rearrange, axes joined": (lambda x: ft.rearrange(x, "a b c -> (c a) b"), lambda x: x.permute(2, 0, 1).reshape(16, 4)),
    "rearrange, axes cut and joined": (lambda x: ft.rearrange(x, "(a b) ... (c d) -> (b d) ... (a c)", a=1, c=2),
                                       lambda x: x.reshape(1, 2, 4, 2, 4).permute(1, 4, 2, 0, 3).reshape(8, 4, 2)),
    "take": (lambda x: ft.take(x, at(x), 1), lambda x: torch.index_select(x, 1, at(x))),
    "add_rows": (lambda x: ft.add_rows(x, four(x), 6, 1), added),
}
# The GPU engine takes permutations of whole dense arrays, and boxes of others as it learns them.
MAYBE = (faro.FaroUnsupportedError,)


def on(device, call, *arguments):
    try:
        return call(*arguments)
    except MAYBE as refused:
        if device == "cpu":
            raise
        pytest.skip(str(refused))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.complex64, torch.bool])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_values(name, device, dtype):
    if name == "add_rows" and dtype in (torch.complex64, torch.bool):
        pytest.skip("sums are of real numbers")
    ours, theirs = CASES[name]
    x = filled((2, 4, 8), dtype, device)
    got, wanted = on(device, ours, x), theirs(x)
    assert got.shape == wanted.shape and got.dtype == dtype and got.device == wanted.device
    assert got.is_contiguous() and torch.equal(got, wanted)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    ours, theirs = CASES[name]
    x = filled((2, 4, 8), torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(ours, (x,))
    assert torch.autograd.gradgradcheck(lambda y: ours(y) * ours(y), (x[:, :, :4].detach().requires_grad_(),)
                                        if name != "rearrange" else (x,))
    weights = torch.rand_like(theirs(x.detach()))
    ours_back, = torch.autograd.grad((ours(x) * weights).sum(), x)
    theirs_back, = torch.autograd.grad((theirs(x) * weights).sum(), x)
    assert torch.equal(ours_back, theirs_back)


def test_gradients_of_faros_own_functions():
    x = filled((4, 8)).requires_grad_()
    for call in (lambda y: faro.permute_dims(y, (1, 0)), lambda y: faro.flip(y, 0), lambda y: faro.roll(y, 3),
                 lambda y: faro.roll(y, 1, (0, 1)), lambda y: faro.permute(y, "bit_reversal"),
                 lambda y: faro.permute(y, faro.maps.gray(5)), lambda y: faro.rearrange(y, "a (b c) -> c a b", b=2),
                 lambda y: faro.permute_qubits(y.reshape(-1), (2, 0, 4, 1, 3)), lambda y: faro.take(y, torch.tensor([1, 1]), 0)):
        y = call(x)
        assert y.requires_grad
        with torch.no_grad():
            assert not call(x).requires_grad and torch.equal(call(x), y)
        weights = torch.rand_like(y)
        back, = torch.autograd.grad((y * weights).sum(), x)
        assert torch.isclose((back * x).sum(), (y * weights).sum())  # the transpose, by its definition
    with pytest.raises(faro.FaroValueError, match="recorded"):
        faro.flip(x, out=torch.empty(4, 8))


OPS = [
    ("permute_dims", lambda x: (x, [2, 0, 1])),
    ("flip", lambda x: (x, [0, 2])),
    ("roll", lambda x: (x, [1, -2], [0, 2])),
    ("roll", lambda x: (x, [5], [])),
    ("permute", lambda x: (x, "bit_reversal", False, 0)),
    ("permute", lambda x: (x, "a b c -> c a b", True, 0)),
    ("permute", lambda x: (x, "gray", False, 1)),
    ("take", lambda x: (x, torch.tensor([1, 0, 1]), 1)),
    ("add_rows", lambda x: (x, torch.tensor([1, 0, 1, 4]), 1, 6)),
]


@pytest.mark.parametrize("op, arguments", OPS)
def test_opcheck(op, arguments):
    call = getattr(torch.ops.faro, op).default
    torch.library.opcheck(call, arguments(filled((2, 4, 8), torch.float64)))
    torch.library.opcheck(call, arguments(filled((2, 4, 8), torch.float64).requires_grad_()))


@pytest.mark.parametrize("name", CASES)
def test_compiled_whole(name):
    torch._dynamo.reset()
    ours, theirs = CASES[name]
    compiled = torch.compile(lambda x: ours(x * 2) + 1, fullgraph=True, backend="aot_eager")
    x = filled((2, 4, 8)).requires_grad_()
    got = compiled(x)
    assert torch.equal(got, theirs(x * 2) + 1)
    back, = torch.autograd.grad(got.sum(), x)
    assert torch.equal(back, torch.autograd.grad((theirs(x * 2) + 1).sum(), x)[0])


def test_exported():
    class Moves(torch.nn.Module):
        def forward(self, x):
            return ft.permute(ft.roll(ft.permute_dims(x, (1, 0)), 3), "bit_reversal")

    x = filled((4, 8))
    program = torch.export.export(Moves(), (x,))
    assert "faro.permute_dims" in str(program.graph)
    assert torch.equal(program.module()(x), Moves()(x))


@pytest.mark.parametrize("in_dim", [0, 1, 3])
@pytest.mark.parametrize("name", CASES)
def test_vmap(name, in_dim):
    ours, theirs = CASES[name]
    x = filled((3, 2, 4, 8)).movedim(0, in_dim)
    assert torch.equal(torch.vmap(ours, in_dims=in_dim)(x), torch.vmap(theirs, in_dims=in_dim)(x))


def test_vmap_of_maps_by_text():
    x = filled((3, 16))
    got = torch.vmap(lambda row: ft.permute(row, "bit_reversal"))(x)
    assert torch.equal(got, faro.permute(x, "bit_reversal", axis=1))
    twice = torch.vmap(torch.vmap(lambda row: ft.permute(row, "gray", inverse=True)))(x.reshape(3, 2, 8))
    assert torch.equal(twice, faro.permute(x.reshape(3, 2, 8), "gray", inverse=True, axis=2))


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 0), (1, 1)])
def test_vmap_of_indices(in_dims):
    index = torch.tensor([[0, 3, 3], [1, 0, 2], [2, 2, 2]])
    x = filled((3, 4, 3)).movedim(0, in_dims[0]) if in_dims[0] is not None else filled((4, 3))
    index = index if in_dims[1] is not None else index[0]
    got = torch.vmap(lambda a, i: ft.take(a, i, 0), in_dims=in_dims)(x, index)
    assert torch.equal(got, torch.vmap(lambda a, i: torch.index_select(a, 0, i), in_dims=in_dims)(x, index))
    grads = torch.vmap(torch.func.grad(lambda a, i: (ft.take(a, i, 0) ** 2).sum()), in_dims=in_dims)(x, index)
    theirs = torch.vmap(torch.func.grad(lambda a, i: (a[i] ** 2).sum()), in_dims=in_dims)(x, index)
    assert torch.equal(grads, theirs)
    if in_dims == (0, 0):
        wrong = index.clone()
        wrong[1, 2] = 4  # no row of its own array, though there is one behind it
        with pytest.raises(faro.FaroValueError, match="position 5"):
            torch.vmap(lambda a, i: ft.take(a, i, 0))(x, wrong)


@pytest.mark.parametrize("index, dim", [([[0, 1], [1, 1]], 0), ([[0, 1], [1, 1]], 1), (2, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_indices_with_axes(index, dim, dtype):
    """As PyTorch's own, of a list of indices; of complex numbers, too."""
    x = filled((3, 4, 5), dtype).requires_grad_()
    index = torch.tensor(index)
    call = lambda x: ft.take(x, index, dim)
    assert torch.equal(call(x), torch.index_select(x, dim, index.reshape(-1)).unflatten(dim, index.shape) if index.dim()
                       else torch.select(x, dim, int(index)))
    assert torch.autograd.gradcheck(call, (x,)) and torch.autograd.gradgradcheck(call, (x,))
    with pytest.raises(faro.FaroValueError, match="a value for each"):
        ft.add_rows(torch.zeros(2, 3), torch.tensor([[0], [1]]), 4)
    values = filled((2, 2, 3), torch.float64)
    assert torch.equal(ft.add_rows(values, torch.tensor([[0, 1], [1, 1]]), 2),
                       torch.stack([values[0, 0], values[0, 1] + values[1, 0] + values[1, 1]]))


@pytest.mark.parametrize("in_dims", [(0, 0), (None, 0), (1, 1)])
@pytest.mark.parametrize("dim", [0, 1])
def test_vmap_of_indices_with_axes(in_dims, dim):
    index = torch.tensor([[[0, 1], [2, 2]], [[0, 0], [1, 2]]])
    x = filled((2, 3, 4), torch.float64).movedim(0, in_dims[0]) if in_dims[0] is not None else filled((3, 4), torch.float64)

    def theirs(a, i):
        return torch.index_select(a, dim, i.reshape(-1)).unflatten(dim, i.shape)

    got = torch.vmap(lambda a, i: ft.take(a, i, dim), in_dims=in_dims)(x, index)
    assert torch.equal(got, torch.vmap(theirs, in_dims=in_dims)(x, index))
    grads = torch.vmap(torch.func.grad(lambda a, i: (ft.take(a, i, dim) ** 2).sum()), in_dims=in_dims)(x, index)
    assert torch.equal(grads, torch.vmap(torch.func.grad(lambda a, i: (theirs(a, i) ** 2).sum()), in_dims=in_dims)(x, index))


def test_negated_tensors_with_strides_are_made_dense():
    x = (filled((4, 6)) + 1j).conj().imag[:, ::2]
    got = faro.ascontiguousarray(x)
    assert got.is_contiguous() and torch.equal(got, x)


def test_tensors_that_hold_no_plain_numbers():
    quantized = torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.qint8)
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(1)])
    for tensor in (quantized, nested):
        for call in (faro.flip, ft.flip, faro.ascontiguousarray, lambda x: faro.take(x, [0])):
            with pytest.raises(faro.FaroValueError, match="plain numbers"):
                call(tensor)


@pytest.mark.parametrize("device", DEVICES)
def test_autocast_changes_nothing(device):
    x = filled((4, 8), device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        assert ft.permute_dims(x, (1, 0)).dtype == torch.float32
        assert faro.permute_dims(x.requires_grad_(), (1, 0)).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.complex32, torch.float16])
def test_unusual_types(dtype):
    raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[dtype.itemsize]
    x = torch.arange(24).to(raw).view(dtype).reshape(2, -1, 3)
    got = faro.permute_dims(x, (2, 0, 1))
    assert got.dtype == dtype and torch.equal(got.view(raw), x.view(raw).permute(2, 0, 1))
    assert torch.equal(ft.flip(x, 0).view(raw), torch.flip(x.view(raw), (0,)))


def test_views_and_lazy_bits():
    x = torch.randn(4, 6, dtype=torch.complex64)
    assert torch.equal(faro.permute_dims(x.conj(), (1, 0)), x.conj().T.resolve_conj())
    assert torch.equal(faro.flip(x.conj().imag, 0), torch.flip(x.conj().imag, (0,)))
    assert torch.equal(faro.permute_dims(x[::2, 1:], (1, 0)), x[::2, 1:].T)
    parameter = torch.nn.Parameter(filled((2, 3)))
    assert faro.permute_dims(parameter, (1, 0)).requires_grad
    out = torch.empty(6, 4, dtype=torch.complex64)
    assert faro.permute_dims(x, (1, 0), out=out) is out and torch.equal(out, x.T)
    spread = torch.zeros(6, 8, dtype=torch.complex64)[:, ::2]
    assert torch.equal(faro.permute_dims(x, (1, 0), out=spread), x.T)
    with pytest.raises(faro.FaroValueError, match="shape"):
        faro.permute_dims(x, (1, 0), out=torch.empty(4, 6, dtype=torch.complex64))
    with pytest.raises(faro.FaroValueError, match="elements"):
        faro.permute_dims(x, (1, 0), out=torch.empty(6, 4, dtype=torch.float64))


def test_tensors_without_memory_here():
    for x in (torch.empty(3, 4, device="meta"), torch.eye(4).to_sparse()):
        for call in (lambda: faro.permute_dims(x, (1, 0)), lambda: faro.flip(x, out=torch.empty(4, 4)), lambda: faro.sort(x),
                     lambda: faro.take(x, torch.tensor([0]), 0), lambda: faro.plan("transpose", x)):
            with pytest.raises(faro.FaroError, match="tensor"):
                call()


def test_plans():
    x = filled((4, 8))
    plan = faro.plan("transpose", x)
    assert torch.equal(plan(x), x.T) and torch.equal(plan.inverse(plan(x)), x)
    with pytest.raises(faro.FaroValueError):
        plan(x.T)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3)])
@pytest.mark.parametrize("device", DEVICES)
def test_small(shape, device):
    x = filled(shape, device=device)
    got = on(device, ft.permute_dims, x)
    assert got.shape == x.shape[::-1]
    assert torch.equal(on(device, ft.flip, x), x)


def test_the_way_back():
    x = filled((2, 4, 8))
    for there in (lambda y, **how: ft.permute_dims(y, (2, 0, -2), **how), lambda y, **how: ft.transpose(y, **how),
                  lambda y, **how: ft.roll(y, (1, -2), (0, 2), **how), lambda y, **how: ft.roll(y, 5, **how),
                  lambda y, **how: ft.rearrange(y, "a (b c) d -> c a d b", b=2, **how),
                  lambda y, **how: ft.permute(y, "gray", **how),
                  lambda y, **how: ft.permute_qubits(y.reshape(-1), (2, 0, 4, 1, 3, 5), **how).reshape(y.shape)):
        back = there(there(x), inverse=True)
        assert torch.equal(back, x)


@pytest.mark.parametrize("device", DEVICES)
def test_columns_with_gradients(device):
    table = {"a": filled((5, 3), device=device).requires_grad_(), "b": filled((5,), torch.int64, device)}
    index = torch.tensor([4, 0, 4], device=device)
    got = faro.take_columns(table, index)
    assert torch.equal(got["a"], table["a"][index]) and torch.equal(got["b"], table["b"][index])
    got["a"].square().sum().backward()
    wanted = torch.zeros(5, 3, device=device).index_add(0, index, 2 * table["a"].detach()[index])
    assert torch.equal(table["a"].grad, wanted)


@pytest.mark.parametrize("name", CASES)
def test_forward_mode(name):
    ours, theirs = CASES[name]
    x, tangent = filled((2, 4, 8)), filled((2, 4, 8)) % 7
    value, moved = torch.func.jvp(ours, (x,), (tangent,))
    assert torch.equal(value, theirs(x)) and torch.equal(moved, theirs(tangent))
    assert torch.equal(torch.func.jacfwd(ours)(x[:, :, :2].repeat(1, 1, 4)), torch.func.jacrev(ours)(x))


def test_tensors_that_are_read_conjugated_are_not_written():
    x = torch.randn(3, 4, dtype=torch.complex64)
    for out in (torch.zeros(4, 3, dtype=torch.complex64).conj(), torch.zeros(4, 3, dtype=torch.complex64).conj().imag):
        given = x if out.is_complex() else x.real
        with pytest.raises(faro.FaroValueError, match="conjugated or negated"):
            faro.permute_dims(given, (1, 0), out=out)
        with pytest.raises(faro.FaroValueError, match="conjugated or negated"):
            faro.flip(out, in_place=True)
        assert not out.any()


def test_values_of_pythons_own():
    assert faro.put(torch.zeros(3), [1], [2.5]).tolist() == [0.0, 2.5, 0.0]
    assert faro.put(torch.zeros(3, dtype=torch.bfloat16), [1], [2]).tolist() == [0.0, 2.0, 0.0]
    for values in ([2.5], [1 << 40]):
        with pytest.raises(faro.FaroTypeError, match="values"):
            faro.put(torch.zeros(3, dtype=torch.int32), [1], values)
