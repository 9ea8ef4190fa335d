"""What faro.torch does beside moving: its operators by PyTorch's own checks, indices of all kinds, what is written, routed, sharded."""

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402
from faro import _network_text  # noqa: E402

NEW = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 15)
HAS_GPU = torch.cuda.is_available() and faro.cuda_status()[0]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason="no GPU"))]
each_device = pytest.mark.parametrize("device", DEVICES)


def drawn(*shape, dtype=torch.float64, device="cpu"):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape))).to(device)


def rows(*numbers):
    return torch.tensor(numbers)


PLACES, ROWS, INVERSE = rows(0, 1, 2, -1, 4, 3), rows(0, 0, 1, 2, 2), rows(0, 1, 2, 5, 4)
OPS = [
    ("take", lambda x: (x, rows(1, -1, 1), 1, 2.5)),
    ("take_back", lambda x: (x, rows(3, 1, 0, 2), 1)),
    ("put", lambda x: (x, rows(3, -1), x[:, :2], 1)),
    ("add_at", lambda x: (x, rows(3, 3), x[:, :2], 1, "usual")),
    ("take_segments", lambda x: (x, rows(0, 1, 2), rows(1, 0), None)),
    ("dispatch", lambda x: (x[:, :3].transpose(0, 1), PLACES, ROWS, 2)),
    ("combine", lambda x: (drawn(5, 2).requires_grad_(x.requires_grad), PLACES, ROWS, INVERSE, None, 2, "usual")),
    ("combine", lambda x: (drawn(5, 2).requires_grad_(x.requires_grad), PLACES, ROWS, INVERSE,
                           torch.arange(6.0).requires_grad_(x.requires_grad), 2, "fp64")),
    ("permute_along", lambda x: (x, "gray", False, 1)),
    ("network", lambda x: (x, "wht", 2)),
    ("sort", lambda x: (x, 1)),
    ("permute_negacyclic", lambda x: (x, 3, [0])),
    ("permute_evaluations", lambda x: (x, 3)),
]


@pytest.mark.parametrize("op, arguments", OPS)
def test_opcheck(op, arguments):
    call = getattr(torch.ops.faro, op).default
    how = {}
    if op == "take_segments" and not NEW:  # whose compiler loses the symbol of a length on the way back
        how["test_utils"] = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(call, arguments(drawn(2, 4, 8)), **how)
    torch.library.opcheck(call, arguments(drawn(2, 4, 8).requires_grad_()), **how)


def test_tangents_of_operators_and_in_compiled_programs():
    """torch.library's own kernels of operators drop them."""
    x = drawn(4)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x + 1)
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(torch.ops.faro.flip(dual, [0])).tangent, (x + 1).flip(0))
    weights = torch.arange(4.0, dtype=torch.float64)
    for transformed in (lambda z: torch.func.jvp(lambda q: ft.flip(q, 0), (z,), (z + 1,))[1],
                        lambda z: torch.func.grad(lambda q: (ft.flip(q, 0) ** 2 * weights).sum())(z),
                        lambda z: torch.func.grad(lambda q: torch.func.grad(lambda p: (ft.sort(p) ** 3 * weights).sum())(q).sum())(z),
                        lambda z: torch.vmap(lambda q: ft.take(q, rows(1, 0), 0))(z.reshape(2, 2))):
        torch._dynamo.reset()
        assert torch.equal(torch.compile(transformed, backend="aot_eager", fullgraph=True)(x), transformed(x))
    assert torch.equal(torch.func.jvp(lambda q: ft.flip(q, 0), (x,), (x + 1,))[1], (x + 1).flip(0))


# --- indices


INDICES = [[3, -1, 0], (3, -1, 0), np.array([3, -1, 0]), np.array([3, -1, 0], np.int8), np.array([3, -1, 0], ">i2"),
           torch.tensor([3, -1, 0], dtype=torch.int16), torch.tensor([3, -1, 0], dtype=torch.int8)]


@pytest.mark.parametrize("index", INDICES, ids=lambda index: f"{type(index).__name__} {getattr(index, 'dtype', '')}")
@pytest.mark.parametrize("transform", ["gradient", "vmap", "compiled"])
def test_indices_of_all_kinds(index, transform):
    x = drawn(5, 4)
    wanted = torch.stack([x[:, 3], torch.full((5,), 7.0, dtype=x.dtype), x[:, 0]], 1)
    if transform == "vmap":
        assert torch.equal(torch.vmap(lambda row: ft.take(row, index, 0, fill=7))(x), wanted)
        assert torch.equal(torch.vmap(lambda row: faro.take(row, index, 0, fill=7))(x), wanted)
        return
    if transform == "compiled":
        if not torch.is_tensor(index) and getattr(index, "dtype", np.dtype(int)).byteorder == ">":
            pytest.skip("PyTorch has no such numbers")
        torch._dynamo.reset()
        assert torch.equal(torch.compile(lambda y: ft.take(y, index, 1, fill=7), backend="aot_eager", fullgraph=True)(x), wanted)
        return
    for take in (faro.take, ft.take):
        y = x.clone().requires_grad_()
        got = take(y, index, 1, fill=7)
        assert torch.equal(got, wanted)
        back, = torch.autograd.grad(got.sum(), y)
        assert torch.equal(back, torch.tensor([1.0, 0, 0, 1]).to(x.dtype).expand(5, 4))
    with pytest.raises(faro.FaroValueError, match="-1"):
        faro.take(y, index, 1)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.uint64])
def test_narrow_indices_of_a_batch(dtype):
    """Whose rows, all together, are more than their type counts."""
    x, index = drawn(4, 100), torch.tensor([[99, 0], [1, 50], [2, 3], [98, 97]]).to(dtype)
    wanted = x.gather(1, index.to(torch.int64))
    assert torch.equal(torch.vmap(lambda a, i: ft.take(a, i, 0))(x, index), wanted)
    with pytest.raises(faro.FaroValueError):
        torch.vmap(lambda a, i: ft.take(a, i, 0))(x[:, :99], index)


def test_what_is_no_index():
    x = drawn(4).requires_grad_()
    for index, match in (([0.5], "float64"), ([True], "bool"), (torch.tensor([0.5]), "float32"), (torch.tensor([True]), "bool")):
        with pytest.raises(faro.FaroTypeError, match=match):
            faro.take(x, index, 0)
    assert faro.take(x, [], 0).shape == (0,)
    with pytest.raises(faro.FaroValueError, match="position 1"):
        faro.take(x, [0, 4], 0)
    with pytest.raises(faro.FaroValueError):
        faro.take(x, [0, 0, 1, 2], 0, inverse=True)


def test_fills():
    x = drawn(3, 2, dtype=torch.float32).requires_grad_()
    for fill in (2, 2.5, np.float32(2.5), torch.tensor(2.5), float("nan"), b"\0\0\0\x80", bytes(range(8))):
        got, wanted = faro.take(x, rows(0, -1), 0, fill=fill), faro.take(x.detach(), rows(0, -1), 0, fill=float(fill) if not isinstance(fill, bytes) else fill)
        assert torch.equal(got.detach().view(torch.int32), wanted.view(torch.int32))
        back, = torch.autograd.grad(got[:1].sum(), x)
        assert back.tolist() == [[1, 1], [0, 0], [0, 0]]
    for fill, kind in ((b"123", ValueError), ("keep", ValueError)):
        with pytest.raises(kind):
            faro.take(x, rows(0, -1), 0, fill=fill)


# --- what is written


@each_device
def test_writes_that_pytorch_records(device):
    """To the tensor itself, as PyTorch's own: its counter rises, and what needs the old value is refused."""
    index = torch.tensor([2, 0], device=device)
    for write, theirs in ((faro.put, lambda o, v: o.index_copy(0, index, v)), (faro.add_at, lambda o, v: o.index_add(0, index, v))):
        out, values = drawn(4, 3, device=device), drawn(2, 3, device=device).requires_grad_()
        wanted, version = theirs(out, values), out._version
        got = write(out, index, values)
        assert got is out and torch.equal(out, wanted) and out._version > version
        assert torch.equal(torch.autograd.grad(out.square().sum(), values)[0], torch.autograd.grad(wanted.square().sum(), values)[0])
        source = drawn(4, 3, device=device).requires_grad_()
        saved = source * 1
        squares = saved.square()
        write(saved, index, values)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            squares.sum().backward()
    table = {"a": torch.zeros(4, device=device), "b": torch.zeros(4, 2, device=device)}
    values = {"b": drawn(2, 2, device=device).float().requires_grad_(), "a": torch.ones(2, device=device)}
    assert faro.put_columns(table, index, values) is table and table["b"].requires_grad and not table["a"].requires_grad
    assert table["a"].tolist() == [1, 0, 1, 0] and torch.equal(table["b"][index], values["b"])


@pytest.mark.parametrize("name", ["put", "add_at", "put_columns", "add_columns", "put_blocks"])
def test_leaves_are_not_written(name):
    wrapped = (lambda x: x) if name in ("put", "add_at") else (lambda x: [x])
    values = torch.ones(1, 2) if name != "put_blocks" else torch.ones(1, 2)
    leaf, index = torch.zeros(3, 2, requires_grad=True), rows(1) if name != "put_blocks" else torch.tensor([[1]])
    with pytest.raises(faro.FaroValueError, match="leaf") as raised:
        getattr(faro, name)(wrapped(leaf), index, wrapped(values))
    assert not leaf.detach().any()
    remedy = raised.value.remedy.split("(")[0]
    assert remedy == f"faro.torch.{name}"
    made = getattr(ft, name)(wrapped(leaf), index, wrapped(values))
    made = made if torch.is_tensor(made) else made[0]
    assert made.requires_grad and made[1].tolist() == [1, 1] and not leaf.detach().any()
    with pytest.raises(faro.FaroValueError, match="transformed"):
        torch.vmap(lambda v: getattr(faro, name)(wrapped(torch.zeros(3, 2)), index, wrapped(v)))(torch.ones(4, *values.shape))


def test_values_that_do_not_fit():
    x = drawn(3, 2).requires_grad_()
    for call in (faro.put, ft.put, faro.add_at, ft.add_at):
        with pytest.raises(faro.FaroTypeError, match="float32"):
            call(x * 1, rows(1), torch.ones(1, 2))
        with pytest.raises(faro.FaroValueError, match="shape"):
            call(x * 1, rows(1), drawn(2, 2))
        with pytest.raises(faro.FaroValueError, match="axes"):
            call(x * 1, torch.tensor([[1]]), drawn(1, 2))
    with pytest.raises(faro.FaroValueError, match="position"):
        faro.put(x * 1, rows(1, 1), drawn(2, 2))
    assert faro.put(x * 1, [1], [[2.0, 3.0]])[1].tolist() == [2.0, 3.0]


def test_outputs_and_streams_are_refused_by_name():
    x = drawn(4, 4).requires_grad_()
    r = faro.route([0, 1, 0, 1], 2)
    for call in (lambda **how: faro.take(x, rows(0, 1, 2, 3), 0, **how), lambda **how: faro.dispatch(x, r, **how),
                 lambda **how: faro.combine(x, r, **how), lambda **how: faro.flip(x, **how), lambda **how: faro.sort(x, **how),
                 lambda **how: faro.permute(x, "gray", axis=0, **how), lambda **how: faro.network(x, "wht", **how),
                 lambda **how: faro.take(x, rows(0, 1, 2, 3), 0, inverse=True, **how), lambda **how: faro.permute_negacyclic(x, 3, **how)):
        with pytest.raises(faro.FaroValueError, match="recorded"):
            call(out=torch.empty(4, 4, dtype=torch.float64))
        assert call().requires_grad


# --- routing


@each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.complex128])
@pytest.mark.parametrize("how", [{}, {"multiple": 4}, {"capacity": 2}])
def test_weights_have_gradients(device, dtype, how):
    keys = torch.tensor([[0, 1], [1, -1], [2, 0], [1, 1]], device=device)
    r = faro.route(keys, 3, **how)
    places = torch.as_tensor(r.places, device=device)
    x = drawn(len(r.rows), 3, dtype=torch.complex128 if dtype.is_complex else torch.float64, device=device).to(dtype).requires_grad_()
    weights = drawn(4, 2, device=device).float().requires_grad_()

    def plain(x, weights):
        items = x[places.clamp(min=0)] * (weights.reshape(-1) * (places >= 0))[:, None]
        return items.reshape(4, 2, 3).sum(1).to(dtype)

    got, wanted = faro.combine(x, r, weights), plain(x, weights)
    near = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(got, wanted, **near)
    back = torch.randn_like(wanted)
    ours, theirs = (torch.autograd.grad(y, (x, weights), back) for y in (got, wanted))
    for a, b in zip(ours, theirs):
        assert a.dtype == b.dtype and a.shape == b.shape
        torch.testing.assert_close(a, b, **near)
    if dtype == torch.float64:
        assert torch.autograd.gradgradcheck(lambda y: faro.combine(y, r, weights), (x,))
        tangents = torch.func.jvp(lambda y, w: ft.combine(y, r, w), (x.detach(), weights.detach()), (x.detach() + 1, weights.detach() + 1))
        torch.testing.assert_close(tangents[1], torch.func.jvp(plain, (x.detach(), weights.detach()),
                                                               (x.detach() + 1, weights.detach() + 1))[1], **near)
        batch = torch.stack([weights, weights + 1]).detach()
        torch.testing.assert_close(torch.vmap(lambda w: ft.combine(x.detach(), r, w))(batch),
                                   torch.vmap(lambda w: plain(x.detach(), w))(batch), **near)


def test_a_layer_of_experts_compiled():
    r = faro.route(torch.tensor([[0, 1], [1, 0], [1, 1]]), 2, multiple=4)

    def layer(x, weights, r):
        return ft.combine(torch.tanh(ft.dispatch(x, r)), r, weights)

    torch._dynamo.reset()
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    for routing in (r, faro.route(torch.tensor([[1, 1], [1, 0], [0, 0]]), 2, multiple=4)):
        x, weights = drawn(3, 2).requires_grad_(), torch.rand(3, 2).requires_grad_()
        got, wanted = compiled(x, weights, routing), layer(x, weights, routing)
        assert torch.equal(got, wanted)
        for a, b in zip(torch.autograd.grad(got.sum(), (x, weights)), torch.autograd.grad(wanted.sum(), (x, weights))):
            torch.testing.assert_close(a, b)


def test_maps_in_compiled_programs():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x, m: ft.permute(x, m), backend="aot_eager", fullgraph=NEW)  # which takes an object as a constant
    for m in (faro.maps.gray(3), faro.maps.bit_reversal(3), faro.maps.from_indices([3, 1, 0, 2, 5, 4, 7, 6])):
        x = drawn(8).requires_grad_()
        assert torch.equal(compiled(x, m), faro.permute(x.detach(), m))
    for seed in range(2):
        m, x = faro.maps.from_indices(np.random.default_rng(seed).permutation(600)), drawn(600).requires_grad_()
        assert torch.equal(compiled(x, m), faro.permute(x.detach(), m))


# --- networks


LINEAR = ["wht", "fft", "inverse_fft", "fft_reversed", "inverse_fft_reversed", "id", "pairs(hadamard)", "pairs(fourier)",
          "pairs(inverse_fourier)", "two(pairs(fourier))", "parm(3; fft)", "bmmc(gray)", "bmmc(rotate_bits(n, 1)) . fft", "(fft . bmmc(reverse))",
          "compose(fft, bmmc(gray), wht)", "each(multiply -0.5) . wht", "each(negate) . each(conjugate) . fft",
          "f 1 = pairs(fourier); f n = two(f (n-1)) . bmmc(gray(n)); f", "wht 0 = id; wht n = parm(1; wht (n-1)) . pairs(hadamard); wht",
          "two(inverse_fft_reversed) . fft_reversed", "each(add 2) . fft . each(add 1)"]


@pytest.mark.parametrize("program", LINEAR)
def test_linear_programs_have_their_adjoints(program):
    x = drawn(8, dtype=torch.complex128).requires_grad_()
    assert torch.autograd.gradcheck(lambda y: faro.network(y, program), (x,))
    unit = torch.eye(8, dtype=torch.complex128)
    matrix = ft.network(unit, program) - ft.network(torch.zeros_like(unit), program)
    if "conjugate" not in program:
        assert torch.allclose(ft.network(unit, _network_text.adjoint(program)), matrix.conj().T, atol=1e-12)
    if "add" in program:
        assert torch.allclose(torch.func.jvp(lambda y: ft.network(y, program), (x.detach(),), (x.detach(),))[1], x.detach() @ matrix)


@pytest.mark.parametrize("program, part", [("sort", "sort"), ("wht . merge 3", "merge 3"), ("pairs(min_max)", "pairs(min_max)"),
                                           ("each(absolute)", "each(absolute)"), ("two(each(max 1.5)) . wht", "each(max 1.5)"),
                                           ('pairs(mean "a = (a + b) / 2;")', "mean"), ("wht n = pairs(max_min); wht", "max_min")])
def test_other_programs_say_so(program, part):
    x = drawn(8).requires_grad_()
    with torch.no_grad():
        faro.network(x, program)
    got = faro.network(x, program)
    with pytest.raises(faro.FaroUnsupportedError) as raised:
        got.sum().backward()
    assert part in raised.value.got


def test_sorting_by_total_order():
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([0.0, -0.0, inf, -nan, nan, -inf, 1.0, -0.0, 0.0, -1.0]).requires_grad_()
    for dtype in (torch.float32, torch.float64, torch.float16):
        y = x.detach().to(dtype).nan_to_num(2.0, inf, -inf) if dtype == torch.float16 else x.detach().to(dtype)  # it is widened
        y.requires_grad_()
        got = faro.sort(y)
        order = torch.ops.faro.sort_order(y.detach(), 0)
        width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
        assert torch.equal(y.detach()[order].view(width), got.detach().view(width))
        back, = torch.autograd.grad(got, y, torch.arange(10).to(dtype))
        assert sorted(back.tolist()) == list(range(10))


# --- plans, shards


def test_plans():
    x = drawn(4, 8).requires_grad_()
    plan = faro.plan("transpose", shape=(4, 8), itemsize=8)
    assert torch.autograd.gradcheck(plan, (x,)) and torch.autograd.gradgradcheck(plan, (x,))
    assert torch.equal(torch.func.jvp(plan, (x.detach(),), (x.detach() + 1,))[1], (x.detach() + 1).T)
    assert torch.equal(torch.vmap(plan)(drawn(3, 4, 8)), drawn(3, 4, 8).transpose(1, 2))
    assert torch.equal(torch.compile(lambda y: plan(y * 2) + 1, backend="eager")(x), 2 * x.T + 1)
    for verb, theirs in (("take", lambda: torch.stack([x[1], torch.zeros_like(x[0]), x[1]])),
                         ("put", lambda: torch.zeros(4, 8).double().index_copy(0, rows(1, 3), x[[0, 2]])),
                         ("add", lambda: torch.zeros(4, 8).double().index_add(0, rows(1, 1), x[[0, 2]]))):
        index = {"take": [1, -1, 1], "put": [1, -1, 3], "add": [1, -1, 1]}[verb]
        plan = faro.plan_rows(verb, index, 4, fill=0 if verb == "take" else None)
        for many in (False, True):
            out = None if verb == "take" else torch.zeros(4, 8, dtype=torch.float64)
            given = x if verb == "take" else x[:3]
            got = plan([given], None if out is None else [out])[0] if many else plan(given, out)
            assert torch.equal(got, theirs()) and got.requires_grad
            assert torch.equal(torch.autograd.grad(got.square().sum(), x)[0], torch.autograd.grad(theirs().square().sum(), x)[0])
        if verb == "take":
            with pytest.raises(faro.FaroValueError, match="4 rows"):
                plan(drawn(5, 8).requires_grad_())


def test_sharded(tmp_path):
    """One rank; shards_ranks.py has several."""
    if not torch.distributed.is_available() or torch.distributed.is_initialized():
        pytest.skip("no process group of its own")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cpu", (1,))
        whole, factors = drawn(6, 4), drawn(4, 6)
        for dim in (None, 0, 1):
            spread = distribute_tensor(whole, mesh, [Shard(0)]).requires_grad_()
            got = ft.permute_dims_sharded(spread, (1, 0), dim)
            assert torch.equal(got.full_tensor(), whole.T)
            (got * distribute_tensor(factors, mesh, got.placements)).sum().backward()
            assert torch.equal(spread.grad.full_tensor(), factors.T)
            assert spread.grad.placements == spread.placements
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("dims", [(0, 0), (0, 7), (0,), (-3, 1)])
def test_the_inverse_of_what_is_no_order_is_refused(dims):
    x = torch.arange(6.0).reshape(2, 3)
    for given in (x, x.clone().requires_grad_()):
        with pytest.raises(faro.FaroValueError):
            faro.torch.permute_dims(given, dims, inverse=True)
    assert torch.equal(faro.torch.permute_dims(x, (-1, 0), inverse=True), x.T)
    with pytest.raises(faro.FaroValueError):
        faro.torch.permute_qubits(torch.arange(4), (0, 0), inverse=True)
