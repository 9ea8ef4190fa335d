"""Numbers changed while tensors are moved: every type, derivatives of all that is given, compiled, batched, on a GPU."""

import itertools

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402
from faro import _changes  # noqa: E402
from function_cases import CASES  # noqa: E402

HAS_GPU = torch.cuda.is_available() and faro.cuda_status()[0]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not HAS_GPU, reason="no GPU"))]
each_device = pytest.mark.parametrize("device", DEVICES)
C128 = torch.complex128
ALL_TYPES = sorted((t for t in vars(torch).values() if isinstance(t, torch.dtype)), key=str)
KNOWN = [t for t in ALL_TYPES if _changes.name_of(t) in _changes.NUMBERS]
REAL_ONLY = ("relu", "gelu")

OPS = {
    "identity": lambda x: x, "conjugate": torch.conj, "negate": torch.neg, "absolute": torch.abs, "reciprocal": torch.reciprocal,
    "square_root": torch.sqrt, "exp": torch.exp, "log": torch.log, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
}


def drawn(*shape, dtype=torch.float64, device="cpu", positive=False):
    made = torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape) + len(shape))).to(device)
    return made.abs() + 0.25 if positive and not dtype.is_complex else made


def of_type(dtype, *shape, device="cpu"):
    """Small whole numbers, which every type holds."""
    numbers = torch.arange(max(1, torch.Size(shape).numel())).reshape(shape) % 5
    return numbers.to(torch.float32).to(dtype).to(device)


def same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.device == wanted.device
    wide = torch.complex128 if got.is_complex() else torch.float64
    assert torch.equal(got.to(wide), wanted.to(wide))


def plainly(x, dims=None, flipped=(), op="identity", scale=None, offset=None, add=None, beta=1, dtype=None):
    """What PyTorch makes of it, in several steps."""
    y = OPS[op](x).permute(dims if dims is not None else tuple(reversed(range(x.dim())))).flip(flipped)
    y = y if scale is None else y * scale
    y = y if offset is None else y + offset
    y = y if add is None else y + beta * add
    dtype = dtype or x.dtype
    return (y.real if y.is_complex() and not dtype.is_complex else y).to(dtype)


# --- types


@each_device
@pytest.mark.parametrize("dtype", ALL_TYPES, ids=str)
def test_every_type_of_pytorch(dtype, device):
    """What is no type of numbers here is refused by its name."""
    if dtype not in KNOWN:
        x = torch.empty(2, 3, dtype=dtype) if not str(dtype).startswith("torch.q") else torch.empty(2, 3)
        with pytest.raises((faro.FaroTypeError, TypeError)) as told:
            faro.astype(x, dtype, (1, 0), scale=2)
        assert _changes.name_of(dtype) in str(told.value)
        return
    x = of_type(dtype, 5, 3, device=device)
    same(faro.astype(x, dtype, (1, 0)), x.t().contiguous())
    for other in KNOWN:
        for given, to in ((x, other), (of_type(other, 5, 3, device=device), dtype)):
            wanted = given.t().real if given.is_complex() and not to.is_complex else given.t()
            same(faro.astype(given, to, (1, 0)), wanted.to(to) if to != torch.bool else given.t() != 0)
    for named in (_changes.name_of(dtype), dtype):
        assert faro.astype(x, named).dtype == dtype


def test_tensors_that_are_conjugated_negated_and_strided():
    x = drawn(6, 4, 5, dtype=C128)
    same(faro.permute_dims(x.conj(), (2, 0, 1), scale=2), plainly(x.conj(), (2, 0, 1), scale=2))
    same(faro.permute_dims(x.conj().imag, (2, 0, 1), scale=2), plainly(x.conj().imag, (2, 0, 1), scale=2))
    same(faro.permute_dims(x[::2, :, 1:], (2, 0, 1), dtype=torch.complex64), x[::2, :, 1:].permute(2, 0, 1).to(torch.complex64))
    out = torch.zeros(5, 6, 8)[:, :, ::2]
    assert faro.permute_dims(x.real, (2, 0, 1), dtype=torch.float32, out=out) is out
    assert torch.equal(out, x.real.permute(2, 0, 1).float())


# --- derivatives


def given_to(op, dtype, shape=(2, 3, 4)):
    x = drawn(*shape, dtype=dtype, positive=op in ("square_root", "log"))
    if op in ("absolute", "relu", "reciprocal") and not dtype.is_complex:
        x = x.sign() * (x.abs() + 0.25)
    return x


@pytest.mark.parametrize("dtype", [torch.float64, C128], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_gradients_of_every_function(op, dtype):
    if op in REAL_ONLY and dtype.is_complex:
        return
    x, add = given_to(op, dtype).requires_grad_(), drawn(4, 2, 3, dtype=dtype).requires_grad_()
    scale, offset = drawn(2, 1, dtype=dtype).requires_grad_(), drawn(3, dtype=dtype).requires_grad_()
    beta = torch.tensor(0.75, dtype=dtype, requires_grad=True)

    def ours(x, scale, offset, add, beta):
        return ft.permute_dims(x, (2, 0, 1), op=op, scale=scale, offset=offset, add=add, beta=beta)

    given = x, scale, offset, add, beta
    torch.testing.assert_close(ours(*given), plainly(x, (2, 0, 1), (), op, scale, offset, add, beta))
    assert torch.autograd.gradcheck(ours, given, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(ours, given)


@pytest.mark.parametrize("from_type,to_type", list(itertools.product([torch.float64, C128], repeat=2)), ids=str)
@pytest.mark.parametrize("op", ["identity", "conj", "neg", "abs", "exp"])
def test_gradients_between_types(from_type, to_type, op):
    """Scaled by complex numbers, along a flipped axis."""
    x, scale = drawn(3, 4, dtype=from_type).requires_grad_(), drawn(3, 1, dtype=C128).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, s: ft.flip(x, 0, op=op, scale=s, dtype=to_type), (x, scale), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x, s: ft.flip(x, 0, op=op, scale=s, dtype=to_type), (x, scale))
    assert torch.autograd.gradcheck(lambda x: ft.flip(x, 0, op=op, scale=2 - 1j, offset=1j, dtype=to_type), (x,), check_forward_ad=True)


@pytest.mark.parametrize("dtype", [t for t in KNOWN if t.is_floating_point and t.itemsize < 4], ids=str)
def test_gradients_of_narrow_floats(dtype):
    x = of_type(torch.float32, 4, 3).requires_grad_()
    g = of_type(dtype, 3, 4)
    y = ft.astype(x, dtype, (1, 0), scale=2)
    back, = torch.autograd.grad(y, x, g)
    same(back, 2 * g.to(torch.float32).t())
    narrow = of_type(dtype, 4, 3).requires_grad_()
    back, = torch.autograd.grad(ft.astype(narrow, torch.float32, (1, 0), op="relu", scale=2), narrow, g.to(torch.float32))
    same(back, ((narrow.detach().float() > 0) * 2 * g.float().t()).to(dtype))


def test_what_has_no_gradient():
    x = drawn(3, 4).requires_grad_()
    assert not ft.astype(x, torch.int32).requires_grad and not faro.astype(x, torch.bool, (1, 0)).requires_grad
    scale = torch.tensor(2.0, requires_grad=True)
    y = faro.astype(torch.arange(6, dtype=torch.uint8), torch.float32, scale=scale)
    assert torch.autograd.grad(y.sum(), scale)[0] == 15


def test_what_is_kept_for_the_way_back():
    """A linear function keeps no array."""
    x, add = drawn(64, 64).requires_grad_(), drawn(64, 64).requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()), lambda _: None):
        ft.permute_dims(x, scale=2, offset=drawn(64), add=add, beta=3)
    assert sum(kept) < 64 * 64


@pytest.mark.parametrize("op", OPS)
def test_tangents_and_batches(op):
    x, add = given_to(op, torch.float64), drawn(4, 2, 3)
    scale, offset = drawn(2, 1), drawn(3)

    def ours(*given):
        return ft.permute_dims(given[0], (2, 0, 1), op=op, scale=given[1], offset=given[2], add=given[3], beta=0.5)

    def theirs(*given):
        return plainly(given[0], (2, 0, 1), (), op, given[1], given[2], given[3], 0.5)

    given = x, scale, offset, add
    for a, b in zip(torch.func.jvp(ours, given, given), torch.func.jvp(theirs, given, given)):
        torch.testing.assert_close(a, b)
    batch = tuple(torch.stack([each, each + 1, each * 2]) for each in given)
    for which in itertools.product([0, None], repeat=4):
        if which == (None,) * 4:
            continue
        arguments = tuple(b if axis == 0 else one for b, one, axis in zip(batch, given, which))
        torch.testing.assert_close(torch.vmap(ours, which)(*arguments), torch.vmap(theirs, which)(*arguments))
    single = lambda x, s: ft.flip(x, 0, op=op, scale=s)  # noqa: E731
    torch.testing.assert_close(torch.vmap(single)(batch[0], torch.arange(3.0)), torch.stack([single(b, s) for b, s in zip(batch[0], range(3))]))
    torch.testing.assert_close(torch.vmap(torch.func.grad(lambda x: ours(x, *given[1:]).square().sum()))(batch[0]),
                               torch.vmap(torch.func.grad(lambda x: theirs(x, *given[1:]).square().sum()))(batch[0]))
    torch.testing.assert_close(torch.func.hessian(lambda s: ours(x, s, *given[2:]).square().sum())(scale),
                               torch.func.hessian(lambda s: theirs(x, s, *given[2:]).square().sum())(scale))


@pytest.mark.parametrize("dtype", [torch.float64, C128], ids=str)
@pytest.mark.parametrize("op", [op for op in OPS if op not in REAL_ONLY])
def test_opcheck(op, dtype):
    x, add = given_to(op, dtype), drawn(3, 4, 2, dtype=dtype)
    call = torch.ops.faro.arithmetic.default
    scale, beta = drawn(4, dtype=dtype), torch.tensor(2.0, dtype=torch.float64)
    for recorded in (False, True):
        arguments = (x.clone().requires_grad_(recorded), [1, 2, 0], [1], dtype, op, scale.clone().requires_grad_(recorded), 1, None, 0,
                     add.clone().requires_grad_(recorded), beta.clone().requires_grad_(recorded), False, False)
        torch.library.opcheck(call, arguments)
    torch.library.opcheck(call, (x, [0, 1, 2], [], dtype, op, None, 0, beta, 0, None, None, True, True))


# --- compiled


PROGRAMS = {
    "permute_dims": lambda x, s: ft.permute_dims(x * 2, (2, 0, 1), scale=s, offset=1.5) + 1,
    "inverse": lambda x, s: ft.permute_dims(x, (2, 0, 1), inverse=True, op="tanh"),
    "transpose": lambda x, s: ft.transpose(x, dtype="float32", scale=2),
    "flip": lambda x, s: ft.flip(x, (0, 1), dtype=torch.bfloat16),
    "astype": lambda x, s: ft.astype(x, torch.float32, (1, 0, 2), op="relu"),
    "add": lambda x, s: ft.astype(x, torch.float64, add=x * 3, beta=0.5),
    "roll": lambda x, s: ft.roll(x, 2, 1, scale=s),
    "rearrange": lambda x, s: ft.rearrange(x, "a (b c) d -> d b (a c)", b=2, scale=3),
    "joined": lambda x, s: ft.rearrange(x, "a b c -> (b a) c", scale=torch.arange(8.0)[:, None]),
    "permute": lambda x, s: ft.permute(x, "gray", dim=1, op="neg"),
    "permute_qubits": lambda x, s: ft.permute_qubits(x, (1, 0), scale=s),
    "bit_reverse": lambda x, s: ft.bit_reverse(x, 1, dtype="float32"),
    "aos_to_soa": lambda x, s: ft.aos_to_soa(x[0], scale=2) + ft.soa_to_aos(x[1], scale=3),
    "channels_first": lambda x, s: ft.channels_first(x, mean=(0.5, 0.25, 0.125, 1.0), std=2.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_without_a_break(name):
    program = PROGRAMS[name]
    x, scale = drawn(2, 4, 4).requires_grad_(), torch.tensor(1.5, requires_grad=True)
    torch._dynamo.reset()
    counted = torch._dynamo.explain(program)(x, scale)
    assert counted.graph_break_count == 0 and counted.graph_count == 1, counted.break_reasons
    torch._dynamo.reset()
    compiled = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=True)
    for x in (x, drawn(6, 4, 4).requires_grad_() if name != "joined" else x):
        got, wanted = compiled(x, scale), program(x, scale)
        same(got, wanted)
        for a, b in zip(*(torch.autograd.grad(y.double().square().sum(), (x, scale), allow_unused=True) for y in (got, wanted))):
            assert (a is None) == (b is None)
            if a is not None:
                torch.testing.assert_close(a, b)


# --- the same in one sweep and in two


@each_device
@pytest.mark.parametrize("name,arguments,named", CASES)
@pytest.mark.parametrize("module", [faro, ft], ids=["faro", "faro.torch"])
def test_every_function_takes_the_keywords(module, name, arguments, named, device):
    x = drawn(2, 4, 8, device=device).float()
    named = {"dim" if module is ft and word == "axis" else word: value for word, value in named.items()}
    function = getattr(module, name)
    moved = function(x, *arguments, **named)
    add, values = drawn(*moved.shape, device=device).float(), torch.arange(float(moved.shape[-1]), device=device)
    got = function(x, *arguments, **named, dtype="float64", op="neg", scale=values, offset=2, add=add, beta=0.5)
    same(got, plainly(moved, tuple(range(moved.dim())), (), "negate", values.double(), 2, add.double(), 0.5, torch.float64))
    y = x.clone().requires_grad_()
    theirs = torch.autograd.grad((function(y, *arguments, **named).double() * -3).square().sum(), y)
    ours = torch.autograd.grad(function(y, *arguments, **named, dtype="float64", op="neg", scale=3).square().sum(), y)
    torch.testing.assert_close(ours, theirs)


@each_device
def test_channels_first_as_torchvision(device):
    """Its ToTensor and Normalize: x / 255, then minus the mean, by the deviation."""
    images = torch.randint(0, 256, (3, 17, 23, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1)).to(device)
    mean, std = (torch.tensor(v, device=device) for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    wanted = (images.permute(0, 3, 1, 2).float() / 255 - mean[:, None, None]) / std[:, None, None]
    for call in (faro.channels_first, ft.channels_first):
        got = call(images, mean=mean.tolist(), std=std.tolist())
        assert got.is_contiguous() and got.dtype == torch.float32
        torch.testing.assert_close(got, wanted, rtol=0, atol=2e-6)
        torch.testing.assert_close(call(images[0], torch.bfloat16, mean=mean.tolist(), std=std.tolist()), wanted[0].bfloat16())


@pytest.mark.skipif(not HAS_GPU, reason="no GPU")
def test_on_a_gpu():
    """On the current stream, into an output, beside what the host makes."""
    for dtype in KNOWN:
        x, add = of_type(dtype, 33, 65, 17), of_type(torch.float32, 17, 33, 65)
        how = {"dtype": "float32", "scale": torch.arange(33.0)[:, None], "beta": 2}
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            got = faro.permute_dims(x.cuda(), (2, 0, 1), add=add.cuda(), **how)
            out = torch.empty_like(got)
            assert faro.permute_dims(x.cuda(), (2, 0, 1), add=add.cuda(), out=out, **how) is out
        stream.synchronize()
        wanted = faro.permute_dims(x, (2, 0, 1), add=add, **how)
        same(got.cpu(), wanted)
        same(out.cpu(), wanted)
    with pytest.raises(faro.FaroValueError, match="same device"):
        faro.permute_dims(x.cuda(), (2, 0, 1), add=add)


@pytest.mark.skipif(not HAS_GPU, reason="no GPU")
@pytest.mark.parametrize("call", [
    lambda x, **how: faro.permute(x, "bit_reversal", **how), lambda x, **how: faro.permute(x, "random(4096, 7)", **how),
    lambda x, **how: faro.permute(x, "multiply(4096, 5)", inverse=True, **how), lambda x, **how: faro.roll(x, (3, -5), (0, 1), **how)])
def test_maps_on_a_gpu(call):
    """What is no view: dense or not, added to, into an output of any strides, beside what the host makes."""
    x, add = of_type(torch.float32, 64, 128)[:, ::2], of_type(torch.bfloat16, 64, 64)
    for how in ({"dtype": "float16", "scale": 0.5}, {"dtype": "float64", "scale": torch.arange(64.0), "beta": 2, "add": add}):
        on_gpu = {name: given.cuda() if isinstance(given, torch.Tensor) else given for name, given in how.items()}
        wanted = call(x, **how)
        for given in (x.cuda(), x.cuda().contiguous()):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                same(call(given, **on_gpu).cpu(), wanted)
                out = torch.zeros(64, 128, dtype=wanted.dtype, device="cuda")[:, 1::2]
                assert call(given, out=out, **on_gpu) is out
            stream.synchronize()
            same(out.cpu(), wanted)


# --- refusals


@pytest.mark.parametrize("call,said", [
    (lambda x: ft.permute_dims(x, scale=torch.ones(2, 2)), "along one axis at most"),
    (lambda x: ft.permute_dims(x, dtype="float31"), "float31"),
    (lambda x: ft.permute_dims(x, dtype=torch.complex32), "complex32"),
    (lambda x: ft.permute_dims(x, op="cube"), "op='cube'"),
    (lambda x: ft.permute_dims(x, beta=2), "beta= without add="),
    (lambda x: ft.permute_dims(x, add=x, beta=torch.ones(3)), "a number"),
    (lambda x: ft.permute_dims(x, add=x), "shape (3, 2)"),
    (lambda x: ft.flip(x.to(C128), op="gelu"), "gelu"),
    (lambda x: ft.channels_first(x), "2 axes"),
    (lambda x: ft.channels_first(x[None], std=0), "std= of 0"),
    (lambda x: ft.channels_first(x[None], mean=(1, 2)), "mean=(1, 2)"),
])
@pytest.mark.parametrize("recorded", [False, True])
def test_refusals(call, said, recorded):
    x = drawn(2, 3).requires_grad_(recorded)
    with pytest.raises(faro.FaroError) as told:
        call(x)
    assert said in str(told.value) and "\n" not in str(told.value)
    with pytest.raises(TypeError, match="scael"):
        ft.permute_dims(x, scael=2)
