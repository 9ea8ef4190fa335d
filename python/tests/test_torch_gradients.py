"""Gradients of every function that moves, on tensors of PyTorch: eager, compiled whole, batched, forwards and backwards, of symbolic sizes."""

import functools
import inspect

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402

HAS_GPU = torch.cuda.is_available() and faro.cuda_status()[0]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason="no GPU"))]


def drawn(*shape, dtype=torch.float64, device="cpu"):
    made = torch.Generator().manual_seed(sum(shape) + len(shape))
    return torch.randn(*shape, dtype=dtype, generator=made).to(device)


def listed(numbers, like):
    return torch.tensor(numbers, device=like.device)


def along(module, k):
    return {"dim" if module is ft else "axis": k}


@functools.lru_cache
def routed_on(device, multiple, capacity):
    """Four tokens, two keys of each, one of them absent."""
    keys = torch.tensor([[0, 1], [1, -1], [2, 0], [1, 1]], device=device)
    return faro.route(keys, 3, multiple=multiple, capacity=capacity)


for on in ["cpu"] + ["cuda"] * HAS_GPU:  # outside of all that is recorded
    routed_on(torch.device(on), 3, None), routed_on(torch.device(on), 1, 1)


def routed(x, multiple=1, capacity=None):
    return routed_on(x.device, multiple, capacity)


def sent(x, r):
    rows = torch.as_tensor(r.rows, device=x.device)
    return torch.where((rows < 0)[:, None], torch.zeros((), dtype=x.dtype, device=x.device), x[rows.clamp(min=0)])


def brought(x, r, weights=None):
    places = torch.as_tensor(r.places, device=x.device)
    items = torch.where((places < 0)[:, None], torch.zeros((), dtype=x.dtype, device=x.device), x[places.clamp(min=0)])
    if weights is not None:
        items = items * weights.reshape(-1, 1)
    return items.reshape(-1, r.keys_per_row, x.shape[1]).sum(1)


def evaluated(x, k):
    """As faro moves numbers of places, on the host."""
    places = torch.as_tensor(faro.permute_evaluations(np.arange(x.shape[-1]), k), device=x.device)
    return x[..., places]


def negacyclic(x, k):
    n = x.shape[-1]
    at = torch.arange(n, device=x.device) * k
    sign = torch.where(at % (2 * n) >= n, -1.0, 1.0).to(x.dtype)
    return torch.zeros_like(x).index_copy(-1, at % n, x * sign)


def segments(x, index):
    cuts = [0, 1, 4, 4, 6]
    return torch.cat([x[cuts[s] : cuts[s + 1]] for s in index])


OFFSETS = [0, 1, 4, 4, 6]
BITS = [0, 4, 2, 6, 1, 5, 3, 7]


def hadamard(x):
    h = torch.ones(1, 1, dtype=x.dtype, device=x.device)
    while h.shape[0] < x.shape[-1]:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
    return x @ h


class Case:
    """A function as faro and faro.torch have it, what PyTorch gives, and the inputs, which all get gradients."""

    def __init__(self, ours, theirs, *shapes, dtype=torch.float64, name=None):
        self.ours, self.theirs, self.shapes, self.dtype = ours, theirs, shapes, dtype
        self.name = name or ours.__code__.co_names[0]

    def inputs(self, device="cpu"):
        return tuple(drawn(*shape, dtype=self.dtype, device=device) for shape in self.shapes)


BOX = (2, 4, 8)
C128 = torch.complex128
CASES = [
    Case(lambda m, x: m.permute_dims(x, (2, 0, 1)), lambda x: x.permute(2, 0, 1), BOX),
    Case(lambda m, x: m.permute_dims(x, (2, 0, 1)), lambda x: x.permute(2, 0, 1), BOX, dtype=C128),
    Case(lambda m, x: m.transpose(x), lambda x: x.permute(2, 1, 0), BOX),
    Case(lambda m, x: m.flip(x, (0, 2)), lambda x: x.flip((0, 2)), BOX),
    Case(lambda m, x: m.roll(x, 5), lambda x: x.roll(5), BOX),
    Case(lambda m, x: m.roll(x, (1, -2), (0, 2)), lambda x: x.roll((1, -2), (0, 2)), BOX),
    Case(lambda m, x: m.permute(x, "bit_reversal"), lambda x: x[BITS], (8,)),
    Case(lambda m, x: m.permute(x, "gray"), lambda x: torch.zeros_like(x).index_copy(0, listed([0, 1, 3, 2], x), x), (4,)),
    Case(lambda m, x: m.permute(x, "gray", inverse=True, **along(m, 1)), lambda x: x[:, [0, 1, 3, 2]], BOX),
    Case(lambda m, x: m.permute(x, faro.maps.from_indices([2, 0, 1, 3]), **along(m, 1)), lambda x: x[:, [1, 2, 0, 3]], BOX),
    Case(lambda m, x: m.permute(x, faro.maps.from_indices(np.random.default_rng(7).permutation(600)).inverse),
         lambda x: x[np.random.default_rng(7).permutation(600)], (600,), name="permute"),
    Case(lambda m, x: m.permute(x, "transpose"), lambda x: x.permute(2, 1, 0), BOX),
    Case(lambda m, x: m.permute(x, "axes(2 0 1)", inverse=True), lambda x: x.permute(1, 2, 0), BOX),
    Case(lambda m, x: m.permute(x, "compose(transpose, roll(3))"), lambda x: x.roll(3).permute(2, 1, 0), BOX),
    Case(lambda m, x: m.bit_reverse(x), lambda x: x[BITS], (8,)),
    Case(lambda m, x: m.bit_reverse(x, -1), lambda x: x[..., BITS], BOX),
    Case(lambda m, x: m.permute_qubits(x, (2, 0, 1)), lambda x: x.reshape(3, 2, 2, 2).permute(0, 3, 1, 2).reshape(3, 8), (3, 8), dtype=C128),
    Case(lambda m, x: m.rearrange(x, "a (b c) d -> c a d b", b=2), lambda x: x.reshape(2, 2, 2, 8).permute(2, 0, 3, 1), BOX),
    Case(lambda m, x: m.rearrange(x, "(a b) ... (c d) -> (b d) ... 1 (a c)", a=1, c=2),
         lambda x: x.reshape(1, 2, 4, 2, 4).permute(1, 4, 2, 0, 3).reshape(8, 4, 1, 2), BOX),
    Case(lambda m, x: m.rearrange(x, "c a d b -> a (b c) d", inverse=True, b=2), lambda x: x.reshape(2, 2, 2, 8).permute(2, 0, 3, 1), BOX),
    Case(lambda m, x: m.aos_to_soa(x), lambda x: x.T, (5, 3)),
    Case(lambda m, x: m.soa_to_aos(x), lambda x: x.T, (5, 3)),
    Case(lambda m, x: faro.ascontiguousarray(x.transpose(0, 2)), lambda x: x.transpose(0, 2).contiguous(), BOX, name="ascontiguousarray"),
    Case(lambda m, x: m.take(x, listed([1, 0, 1], x), 1), lambda x: x.index_select(1, listed([1, 0, 1], x)), BOX),
    Case(lambda m, x: m.take(x, listed([[1, 0], [3, 3]], x), 1), lambda x: x[:, listed([[1, 0], [3, 3]], x)], BOX),
    Case(lambda m, x: m.take(x, listed([1, -1, 1], x), 1, fill=0), lambda x: x[:, [1, 0, 1]] * listed([1.0, 0, 1], x)[:, None], BOX),
    Case(lambda m, x: m.take(x, listed([1, -1, 1], x), 0, fill=2.5),
         lambda x: torch.stack([x[1], torch.full_like(x[1], 2.5), x[1]]), BOX),
    Case(lambda m, x: m.take(x, listed([3, 0, 1, 2], x), 1, inverse=True), lambda x: x[:, [1, 2, 3, 0]], BOX),
    Case(lambda m, x, y: m.put(x.clone(), listed([3, -1, 0], x), y, 1), lambda x, y: x.index_copy(1, listed([3, 0], x), y[:, [0, 2]]),
         BOX, (2, 3, 8)),
    Case(lambda m, x, y: m.add_at(x.clone(), listed([3, -1, 3], x), y, 1), lambda x, y: x.index_add(1, listed([3, 3], x), y[:, [0, 2]]),
         BOX, (2, 3, 8)),
    Case(lambda m, x: m.take_segments(x, listed(OFFSETS, x), listed([3, 1, 2, 1], x))[0], lambda x: segments(x, [3, 1, 2, 1]), (6, 3)),
    Case(lambda m, x: m.dispatch(x, routed(x, multiple=3)), lambda x: sent(x, routed(x, multiple=3)), (4, 3)),
    Case(lambda m, x: m.dispatch(x, routed(x, capacity=1)), lambda x: sent(x, routed(x, capacity=1)), (4, 3), dtype=C128),
    Case(lambda m, x: m.combine(x, routed(x, multiple=3)), lambda x: brought(x, routed(x, multiple=3)), (12, 3)),
    Case(lambda m, x: m.combine(x, routed(x, capacity=1)), lambda x: brought(x, routed(x, capacity=1)), (5, 3), dtype=C128),
    Case(lambda m, x, y: torch.cat([c.reshape(-1) for c in m.take_columns([x, y], listed([2, -1, 2], x), fill=0)]),
         lambda x, y: torch.cat([x[2], 0 * x[0], x[2], y[[2, 0, 2]] * listed([1.0, 0, 1], y)]), (4, 3), (4,), name="take_columns"),
    Case(lambda m, x, y: m.put_columns([x.clone()], listed([3, 1], x), [y])[0], lambda x, y: x.index_copy(0, listed([3, 1], x), y),
         (4, 3), (2, 3)),
    Case(lambda m, x, y: m.add_columns([x.clone()], listed([3, 3], x), [y])[0], lambda x, y: x.index_add(0, listed([3, 3], x), y),
         (4, 3), (2, 3)),
    Case(lambda m, x: m.take_blocks([x], listed([[3, 0], [1, -1]], x))[0],
         lambda x: torch.cat([x[3], x[0], x[1], 0 * x[1]]).reshape(2, 4, 3), (4, 2, 3)),
    Case(lambda m, x, y: m.put_blocks([x.clone()], listed([[3, 0], [1, -1]], x), [y])[0],
         lambda x, y: x.index_copy(0, listed([3, 0, 1], x), y.reshape(4, 2, 3)[:3]), (4, 2, 3), (2, 4, 3)),
    Case(lambda m, x: m.walsh_hadamard(x), hadamard, (3, 8)),
    Case(lambda m, x: m.walsh_hadamard(x, 0, inverse=True), lambda x: hadamard(x.T).T / 8, (8, 3)),
    Case(lambda m, x: m.fft(x), torch.fft.fft, (3, 8), dtype=C128),
    Case(lambda m, x: m.fft(x, 1, inverse=True), lambda x: torch.fft.ifft(x, dim=1), (3, 8, 2), dtype=C128),
    Case(lambda m, x: m.network(x, "fft_reversed"), lambda x: torch.fft.fft(x)[:, BITS], (3, 8), dtype=C128),
    Case(lambda m, x: m.network(x, "two(pairs(hadamard)) . bmmc(bit_reversal) . each(multiply 3) . each(add 1)"),
         lambda x: hadamard((3 * (x + 1))[:, BITS].reshape(-1, 2)).reshape(x.shape), (3, 8)),
    Case(lambda m, x: m.sort(x), lambda x: torch.sort(x).values, (3, 8)),
    Case(lambda m, x: m.sort(x, 0), lambda x: torch.sort(x, 0).values, (5, 3)),
    Case(lambda m, x: m.sort(x, None), lambda x: torch.sort(x.reshape(-1)).values, (5, 3)),
    Case(lambda m, x: m.permute_negacyclic(x, 3), lambda x: negacyclic(x, 3), (3, 8)),
    Case(lambda m, x: m.permute_evaluations(x, 5), lambda x: evaluated(x, 5), (3, 8)),
]
IDS = [f"{k}-{case.name}" for k, case in enumerate(CASES)]
each_case = pytest.mark.parametrize("case", CASES, ids=IDS)

# Those that move no array of floats that could have a gradient, or make what moves.
NO_ARRAYS = {
    "clear_plans", "cuda_status", "keep_memory", "kept_memory", "maps", "shards", "sketch", "layout", "emit", "simulate", "synth",
    "Layout", "LayoutCandidate", "Emitted", "Simulation", "Synthesis", "route", "Routing", "plan", "load_plan", "plan_rows",
    "explain_network", "export_wisdom", "import_wisdom", "forget_wisdom",
}
BY_PLANS = {"Plan", "RowPlan"}  # test_plans
WITH_NUMBERS_CHANGED = {"astype", "channels_first"}  # test_torch_arithmetic
# Files and stores, numbers and bits that are packed, and plans of many arrays; test_torch_modes tries those that take tensors.
WITHOUT_GRADIENTS = {
    "CacheMove", "Checkpoint", "CheckpointTensor", "Conversion", "Family", "Group", "IndexCheck", "Relayout", "Store", "StoredArray",
    "cache_layouts", "checkpoint", "dequantize_blocks", "distributions", "family", "group", "layout_check", "layout_convert", "move_cache",
    "open", "permute_bits", "plan_cache_move", "quantize_blocks", "relayout", "route_rows", "transpose_bed",
}


def test_every_function_that_moves_is_here():
    errors = {name for name, member in vars(faro).items() if inspect.isclass(member) and issubclass(member, faro.FaroError)}
    others = NO_ARRAYS | BY_PLANS | WITH_NUMBERS_CHANGED | WITHOUT_GRADIENTS
    assert set(faro.__all__) - errors - others == {case.name for case in CASES}
    assert set(ft.__all__) - {"add_rows", "permute_dims_sharded"} - WITH_NUMBERS_CHANGED == {case.name for case in CASES} - {"ascontiguousarray"}


def same(got, wanted):
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("module", [faro, ft], ids=["faro", "torch"])
@pytest.mark.parametrize("device", DEVICES)
@each_case
def test_backwards(case, device, module):
    given = [x.requires_grad_() for x in case.inputs(device)]
    wanted = case.theirs(*given)
    try:
        got = case.ours(module, *given)
    except faro.FaroUnsupportedError as refused:
        if device == "cpu":
            raise
        pytest.skip(str(refused))
    same(got, wanted)
    weights = drawn(*wanted.shape, dtype=wanted.dtype, device=device)
    for ours, theirs in zip(torch.autograd.grad(got, given, weights), torch.autograd.grad(wanted, given, weights)):
        same(ours, theirs)
    with torch.no_grad():
        same(case.ours(module, *given), wanted)


@each_case
def test_by_differences(case):
    given = [x.requires_grad_() for x in case.inputs()]
    assert torch.autograd.gradcheck(lambda *x: case.ours(ft, *x), given, fast_mode=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(lambda *x: case.ours(ft, *x).abs().square(), given, fast_mode=True)


def fixed(case):
    """The function, with what is no tensor made once: a compiled program is given it."""
    return lambda *x: case.ours(ft, *x)


@each_case
def test_compiled_whole(case):
    if "routed" in case.ours.__code__.co_names or case.name == "ascontiguousarray" or "from_indices" in case.ours.__code__.co_names:
        pytest.skip("makes something of faro's: see the tests of each")
    torch._dynamo.reset()
    given = [x.requires_grad_() for x in case.inputs()]
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):  # take_segments
        got = torch.compile(fixed(case), fullgraph=True, backend="aot_eager")(*given)
    wanted = case.theirs(*given)
    same(got, wanted)
    weights = drawn(*wanted.shape, dtype=wanted.dtype)
    for ours, theirs in zip(torch.autograd.grad(got, given, weights), torch.autograd.grad(wanted, given, weights)):
        same(ours, theirs)


@pytest.mark.parametrize("in_dim", [0, -1])
@each_case
def test_vmap(case, in_dim):
    given = [torch.stack([x, 2 * x, x - 1]).movedim(0, in_dim) for x in case.inputs()]
    same(torch.vmap(fixed(case), in_dims=in_dim)(*given), torch.vmap(case.theirs, in_dims=in_dim)(*given))

    def of(function):
        back = torch.func.grad(lambda x, *more: (function(x, *more).abs() ** 2).sum() if x.dtype != C128 else
                               torch.view_as_real(function(x, *more)).square().sum())
        return torch.vmap(back, in_dims=in_dim)(*given)

    same(of(fixed(case)), of(case.theirs))


@each_case
def test_forwards(case):
    given = case.inputs()
    tangents = tuple(x + 1 for x in given)
    for ours, theirs in zip(torch.func.jvp(fixed(case), given, tangents), torch.func.jvp(case.theirs, given, tangents)):
        same(ours, theirs)
    if case.name == "ascontiguousarray":
        return  # faro's own
    with torch.autograd.forward_ad.dual_level():
        duals = [torch.autograd.forward_ad.make_dual(x, t) for x, t in zip(given, tangents)]
        ours, theirs = (torch.autograd.forward_ad.unpack_dual(f(*duals)).tangent for f in (fixed(case), case.theirs))
        same(ours, theirs)


@pytest.mark.parametrize("device", DEVICES)
def test_second_derivatives_of_combine(device):
    """It is linear in rows and in weights, each: its second derivatives are between them."""
    routing = faro.route([[0, 1], [1, 0], [1, 1], [0, 0]], 2)
    places = torch.as_tensor(routing.places, device=device)
    if device != "cpu":
        routing = faro.route(torch.tensor([[0, 1], [1, 0], [1, 1], [0, 0]], device=device), 2)
    x, weights = torch.randn(8, 3, device=device), torch.arange(8, dtype=torch.float32, device=device) / 3
    ours, plain = (lambda x, w: faro.torch.combine(x, routing, w)), (lambda x, w: (x[places] * w[:, None]).reshape(4, 2, -1).sum(1))
    for twice in (lambda f: torch.func.hessian(f, argnums=(0, 1)), lambda f: torch.func.jacfwd(torch.func.jacfwd(f, argnums=(0, 1)), argnums=(0, 1)),
                  lambda f: torch.func.jacrev(torch.func.jacrev(f, argnums=(0, 1)), argnums=(0, 1))):
        got, wanted = (twice(lambda x, w: q(x, w).square().sum())(x, weights) for q in (ours, plain))
        for a in range(2):
            for b in range(2):
                torch.testing.assert_close(got[a][b], wanted[a][b], rtol=1e-4, atol=1e-4)


# --- fills that are tensors

FILLED = {
    "take": lambda w: faro.take(torch.arange(3.0), [-1, 1, -1], fill=w),
    "take of what is recorded": lambda w: faro.take(torch.arange(3.0) * w, [-1, 1, -1], fill=w),
    "torch.take": lambda w: faro.torch.take(torch.arange(3.0) * w, torch.tensor([-1, 1, -1]), fill=w),
    "take_columns": lambda w: faro.take_columns({"a": torch.arange(3.0)}, [-1, 1, -1], fill={"a": w})["a"],
    "torch.take_columns": lambda w: faro.torch.take_columns([torch.arange(3.0)], torch.tensor([-1, 1, -1]), fill=w)[0],
    "take_blocks": lambda w: faro.take_blocks([torch.arange(3.0)[:, None]], [-1, 1, -1], fill=w)[0],
    "torch.take_blocks": lambda w: faro.torch.take_blocks([torch.arange(3.0)[:, None]], torch.tensor([-1, 1, -1]), fill=w)[0],
}


@pytest.mark.parametrize("name", FILLED)
def test_a_fill_that_is_a_tensor_has_a_gradient(name):
    f, w, other = FILLED[name], torch.tensor(2.0), torch.tensor(5.0)
    slope = torch.tensor([1.0, 1.0 if f(w)[1] == 2 else 0.0, 1.0])  # of the row that is taken: that of 1 * w, or of 1
    leaf = w.clone().requires_grad_()
    f(leaf).sum().backward()
    assert leaf.grad == slope.sum() == torch.func.grad(lambda w: f(w).sum())(w)
    assert torch.equal(torch.func.jvp(f, (w,), (torch.tensor(1.0),))[1], slope)
    assert torch.equal(torch.func.vmap(f)(torch.stack([w, other])), torch.stack([f(w), f(other)]))
    assert torch.equal(torch.jit.trace(f, (w,), check_trace=False)(other), f(other))
    assert torch.equal(torch.compile(f, backend="aot_eager", fullgraph=name.startswith("torch."))(other), f(other))


def test_fills_that_no_gradient_reaches_are_refused():
    w, x = torch.tensor(2.0, requires_grad=True), torch.arange(3.0)
    for call in (lambda: faro.take(x, [-1], fill=w, out=torch.zeros(1)), lambda: faro.plan_rows("take", [-1, 0], 3, fill=w)(x),
                 lambda: faro.take(x.numpy(), [-1], fill=w), lambda: faro.take(x.long(), [-1], fill=w), lambda: faro.take(x, [-1], fill=w.expand(2))):
        with pytest.raises(faro.FaroError):
            call()


def test_fills_that_are_conjugated_or_negated():
    x = torch.arange(3) * 1j
    assert faro.take(x, [-1], fill=x[1].conj()).tolist() == [-1j]
    assert faro.take(x.imag.contiguous(), [-1], fill=x.conj().imag[1]).tolist() == [-1]
