"""Every public function under every mode of PyTorch: the result is the eager call's, of fresh data, or a FaroError with the function's name."""

import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
import torch.autograd.forward_ad as forward_ad  # noqa: E402
from torch_calls import MOVES, OTHERS, PLAN, TRIED_WITH, WITHOUT_TENSORS, WRITES, public_names, zeros  # noqa: E402

func = torch.func


def first():
    return torch.arange(32.0).reshape(4, 8) - 7


def fresh():
    return (torch.arange(32.0).reshape(4, 8) * 5 + 3) % 32


def tangent():
    return torch.arange(32.0).reshape(4, 8) % 7 - 2


def cubes(f):
    return lambda x: (f(x) ** 3).sum()


# --- modes: each runs f, a traced one with other data than it was traced with


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, operator, types, arguments=(), named=None):
        return operator(*arguments, **(named or {}))


class Heard(TorchFunctionMode):
    def __torch_function__(self, function, types, arguments=(), named=None):
        return function(*arguments, **(named or {}))


def traced(how):
    return lambda f: make_fx(f, tracing_mode=how, _allow_non_fake_inputs=True)(first())(fresh())


def within(mode):
    def run(f):
        with mode():
            return f(fresh())

    return run


def compiled(backend):
    def run(f):
        torch._dynamo.reset()
        return torch.compile(f, backend=backend)(fresh())

    return run


def nested_modes(f):
    with Heard(), Seen(), Seen():
        return make_fx(func.functionalize(f))(first())(fresh())


def exported(f):
    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    return torch.export.export(Module(), (first(),), strict=False).module()(fresh())


def faked(f):
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        return f(mode.from_tensor(fresh()))


def faked_inside(f):
    x = fresh()
    with FakeTensorMode(allow_non_fake_inputs=True):
        return f(x)


VALUES = {
    "make_fx real": traced("real"),
    "make_fx fake": traced("fake"),
    "make_fx symbolic": traced("symbolic"),
    "jit.trace": lambda f: torch.jit.trace(f, (first(),), check_trace=False)(fresh()),
    "export": exported,
    "functionalize": lambda f: func.functionalize(f)(fresh()),
    "functionalize, removing": lambda f: func.functionalize(f, remove="mutations_and_views")(fresh()),
    "make_fx of functionalize": lambda f: make_fx(func.functionalize(f))(first())(fresh()),
    "inference_mode": within(torch.inference_mode),
    "no_grad": within(torch.no_grad),
    "a dispatch mode": within(Seen),
    "a function mode": within(Heard),
    "a device": within(lambda: torch.device("cpu")),
    "a level without tangents": within(forward_ad.dual_level),
    "nested modes": nested_modes,
    "FakeTensor": faked,
    "FakeTensorMode": faked_inside,
    "compile, eager": compiled("eager"),
    "compile, aot_eager": compiled("aot_eager"),
}
BATCHED = {
    "vmap": lambda f, xs: func.vmap(f)(xs),
    "vmap of vmap": lambda f, xs: func.vmap(func.vmap(f))(xs[None])[0],
    "functionalize of vmap": lambda f, xs: func.functionalize(func.vmap(f))(xs),
    "vmap of functionalize": lambda f, xs: func.vmap(func.functionalize(f))(xs),
    "make_fx of vmap": lambda f, xs: make_fx(func.vmap(f))(xs - 1)(xs),
    "jit.trace of vmap": lambda f, xs: torch.jit.trace(func.vmap(f), (xs - 1,), check_trace=False)(xs),
}


def dual(f):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(fresh(), tangent()))).tangent


def dual_and_recorded(f):
    """The gradient, with respect to the tangent, of a tangent: a vector of the transpose."""
    t = tangent().requires_grad_()
    with forward_ad.dual_level():
        moved = forward_ad.unpack_dual(f(forward_ad.make_dual(fresh(), t))).tangent
    return moved if not moved.requires_grad else (moved.detach(), torch.autograd.grad(moved.square().sum(), t)[0])[0]


TANGENTS = {
    "forward_ad": dual,
    "forward_ad, recorded": dual_and_recorded,
    "jvp": lambda f: func.jvp(f, (fresh(),), (tangent(),))[1],
    "make_fx of jvp": lambda f: make_fx(lambda x, t: func.jvp(f, (x,), (t,))[1])(first(), first())(fresh(), tangent()),
    "jvp of vmap": lambda f: func.jvp(func.vmap(f), (fresh()[None],), (tangent()[None],))[1][0],
    "vmap of jvp": lambda f: func.vmap(lambda t: func.jvp(f, (fresh(),), (t,))[1])(tangent()[None])[0],
    "jvp of jvp": lambda f: func.jvp(lambda x: func.jvp(lambda y: f(y) * 1.0, (x * x,), (x,))[1], (fresh(),), (tangent(),))[1],
    "linearize": lambda f: func.linearize(f, fresh())[1](tangent()),
}


def backward(f):
    x = fresh().requires_grad_()
    return torch.autograd.grad(cubes(f)(x), x)[0]


GRADIENTS = {
    "backward": backward,
    "grad": lambda f: func.grad(cubes(f))(fresh()),
    "vjp": lambda f: func.vjp(cubes(f), fresh())[1](torch.tensor(1.0))[0],
    "vmap of grad": lambda f: func.vmap(func.grad(cubes(f)))(fresh()[None])[0],
    "grad of vmap": lambda f: func.grad(lambda xs: cubes(func.vmap(f))(xs))(fresh()[None])[0],
    "make_fx of grad": lambda f: make_fx(func.grad(cubes(f)))(first())(fresh()),
    "jit.trace of grad": lambda f: torch.jit.trace(func.grad(cubes(f)), (first(),), check_trace=False)(fresh()),
    "grad of functionalize": lambda f: func.grad(func.functionalize(cubes(f)))(fresh()),
    "functionalize of grad": lambda f: func.functionalize(func.grad(cubes(f)))(fresh()),
}
HESSIANS = {
    "hessian": lambda f: func.hessian(cubes(f))(fresh()),
    "jacfwd of jacfwd": lambda f: func.jacfwd(func.jacfwd(cubes(f)))(fresh()),
}

# --- what is right


def jacobian(f):
    """Of a function that is linear but for a constant, by its values, in double the precision where it takes that."""
    at_zero = f(torch.zeros(4, 8))
    columns = [f(basis.reshape(4, 8)) - at_zero for basis in torch.eye(32)]
    return torch.stack([c.reshape(-1) for c in columns], 1), at_zero.shape


def wanted_tangent(f, t):
    matrix, shape = jacobian(f)
    return (matrix @ t.reshape(-1)).reshape(shape)


def wanted_gradient(f):
    matrix, _ = jacobian(f)
    return (matrix.T @ (3 * f(fresh()).reshape(-1) ** 2)).reshape(4, 8)


def wanted_hessian(f):
    matrix, _ = jacobian(f)
    return (matrix.T @ torch.diag(6 * f(fresh()).reshape(-1)) @ matrix).reshape(4, 8, 4, 8)


# --- trying

MAY_REFUSE = {"grad of functionalize", "functionalize of grad", "jit.trace of grad"}  # for PyTorch has no way there
PYTORCHS_OWN = ("Unsupported value kind: Tensor", "Tensor that doesn't have storage")  # of x.shape under jit.trace of a transform
NAMES = {name.rpartition(".")[2] for name in public_names()}


def cases(table):
    return [pytest.param(name, f, id=f"{name}-{i}") for name, calls in table.items() for i, f in enumerate(calls)]


def writes(shape, call):
    def f(x):
        call(x, out := x.clone() if shape == (4, 8) else zeros(x, *shape))
        return out

    return f


MOVED = cases(MOVES)
OTHER = cases(OTHERS) + cases({name: [writes(*each) for each in calls] for name, calls in WRITES.items()})
LINEAR = MOVED + [case for case in OTHER if case.values[0] not in ("sort", "torch.sort", "route", "take", "plan_rows", "quantize_blocks")]


def refused(name, work):
    """What comes out; None where it was refused, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work()
        except Exception as error:
            known = error
            while known is not None and not isinstance(known, faro.FaroError):
                known = known.__cause__
            of_values = type(error).__name__ == "DynamicOutputShapeException"  # the length of ragged rows
            if known is None and (of_values or any(said in str(error) for said in PYTORCHS_OWN)):
                pytest.skip("PyTorch cannot tell the shape there")
            if known is None:
                raise
    if "recorded" in str(known):
        assert known.operation.partition(".")[0] in NAMES and known.remedy, str(known)
    return None


def same(got, wanted):
    if isinstance(got, tuple):
        got = got[0]
    if type(got).__name__ == "FakeTensor":
        return got.shape == wanted.shape and got.dtype == wanted.dtype
    return torch.allclose(got, wanted, rtol=1e-4, atol=1e-3)


def tried(name, f, mode, work, wanted, has_operator):
    got = refused(name, work)
    assert got is not None or not has_operator or mode in MAY_REFUSE, f"{name} is refused under {mode}"
    assert got is None or same(got, wanted), f"{name} under {mode}: got {got}, wanted {wanted}"


def test_every_public_function_is_tried():
    tried_ones = {*MOVES, *OTHERS, *WRITES}
    for name in public_names():
        assert TRIED_WITH.get(name, name) in tried_ones or name in WITHOUT_TENSORS, f"{name} is public: give torch_calls.py a call of it"


def each(cases, modes):
    return [pytest.param(*case.values, mode, case in MOVED, id=f"{mode}-{case.id}") for mode in modes for case in cases
            if case in MOVED or mode != "compile, aot_eager"]  # in whose graphs there are operators alone


@pytest.mark.parametrize("name, f, mode, has_operator", each(MOVED + OTHER, VALUES))
def test_values(name, f, mode, has_operator):
    tried(name, f, mode, lambda: VALUES[mode](f), f(fresh()), has_operator)


@pytest.mark.parametrize("name, f, mode, has_operator", each(MOVED + OTHER, BATCHED))
def test_batches(name, f, mode, has_operator):
    xs = torch.stack([fresh(), first(), fresh() + 1])
    tried(name, f, mode, lambda: BATCHED[mode](f, xs), torch.stack([f(x) for x in xs]), has_operator)


@pytest.mark.parametrize("name, f, mode, has_operator", each(LINEAR, TANGENTS))
def test_tangents(name, f, mode, has_operator):
    wanted = wanted_tangent(f, tangent())
    if mode == "jvp of jvp":  # of M(x * x) in the direction x, once more: M(2 x t) and M(x^2) once more
        wanted = wanted_tangent(f, tangent())
    tried(name, f, mode, lambda: TANGENTS[mode](f), wanted, has_operator)


@pytest.mark.parametrize("name, f, mode, has_operator", each(LINEAR, GRADIENTS))
def test_gradients(name, f, mode, has_operator):
    tried(name, f, mode, lambda: GRADIENTS[mode](f), wanted_gradient(f), has_operator)


@pytest.mark.parametrize("name, f, mode, has_operator", each(LINEAR, HESSIANS))
def test_hessians(name, f, mode, has_operator):
    tried(name, f, mode, lambda: HESSIANS[mode](f), wanted_hessian(f), has_operator)


# --- what else is said of modes


@pytest.mark.parametrize("name, f", [case for case in MOVED if case.values[0] != "ascontiguousarray"])
def test_modes_and_tracers_see_the_operator(name, f):
    seen = []

    class Sees(TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, arguments=(), named=None):
            seen.append(str(operator))
            return operator(*arguments, **(named or {}))

    class Hears(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            seen.append(str(function))
            return function(*arguments, **(named or {}))

    for mode in (Sees, Hears):
        with mode():
            f(fresh())
        assert any("faro" in each for each in seen), seen
        seen.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "faro::" in str(torch.jit.trace(f, (first(),), check_trace=False).inlined_graph)
    assert "faro" in make_fx(f)(first()).code


def test_a_device_by_default_changes_nothing():
    """torch.set_default_device() is a mode of functions, under which everything works as without."""
    with torch.device("cpu"):
        for calls in (MOVES, OTHERS):
            for f in (f for each in calls.values() for f in each):
                f(fresh())


@pytest.fixture
def mesh():
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_distributed_tensors(mesh):
    from torch.distributed.tensor import Shard, distribute_tensor

    x = distribute_tensor(fresh(), mesh, [Shard(0)])
    for case in MOVED + OTHER:
        name, f = case.values
        try:
            got = refused(name, lambda: f(x))
        except NotImplementedError as error:  # of PyTorch's own operators in the call
            assert "faro" not in str(error)
            continue
        assert got is None or same(got.full_tensor() if hasattr(got, "full_tensor") else got, f(fresh()))
        if case in MOVED:
            with pytest.raises(faro.FaroUnsupportedError, match="DTensor.*to_local"):
                f(x)
            f(x.to_local())
    sharded = faro.torch.permute_dims_sharded(x, (1, 0))
    assert torch.equal(sharded.full_tensor(), fresh().T)


def test_symbolic_tracing_is_refused_by_name():
    for f in (lambda x: faro.flip(x), lambda x: faro.sort(x), lambda x: faro.torch.flip(x), lambda x: faro.put(torch.zeros(3), [0], x)):
        with pytest.raises(faro.FaroTypeError, match="Proxy.*make_fx"):
            torch.fx.symbolic_trace(f)


class Labelled(torch.Tensor):
    pass


def test_subclasses():
    x = fresh().as_subclass(Labelled)
    assert torch.equal(faro.flip(x).as_subclass(torch.Tensor), fresh().flip(0, 1))
    assert torch.equal(faro.sort(x).as_subclass(torch.Tensor), fresh().sort()[0])
    with pytest.raises(faro.FaroUnsupportedError, match="got a Labelled"):
        PLAN(x)


def test_first_use_under_a_mode():
    """faro.torch may be imported by the call that needs it."""
    script = """
import sys, warnings, torch, faro
from torch.fx.experimental.proxy_tensor import make_fx
warnings.simplefilter("ignore")
x, y = torch.arange(3.0), torch.arange(3.0) + 5
how = sys.argv[1]
f = lambda z: faro.flip(z)
made = make_fx(f)(x) if how == "make_fx" else torch.jit.trace(f, (x,), check_trace=False) if how == "trace" else (
    torch.compile(lambda z: faro.put(torch.zeros(3), torch.tensor([2, 1, 0]), z), backend="eager") if how == "compile" else torch.func.vmap(f))
assert made(y[None] if how == "vmap" else y).flatten().tolist() == [7.0, 6.0, 5.0] if how != "vmap" else made(y.expand(2, 3)).shape == (2, 3)
"""
    for how in ("make_fx", "trace", "compile", "vmap"):
        subprocess.run([sys.executable, "-c", "import faro\n" + script, how], check=True, timeout=300)


def test_the_short_way_asks_pytorchs_own_library():
    """A wheel of PyTorch has what tells in nanoseconds; where it is not found, Python's functions are asked."""
    from faro import _torch_modes

    keys, questions, *_ = _torch_modes.meet()
    assert keys and not questions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_torch_modes, "_keys", list)
        keys, questions, *_ = _torch_modes.meet()
    assert not keys and not any(question() for question in questions)
    for mode in (Seen, Heard):
        with mode():
            assert any(question() for question in questions)
