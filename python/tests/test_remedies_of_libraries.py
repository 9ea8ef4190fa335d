"""Remedies for arrays, modes and circuits of other libraries; test_remedies.py runs them, each where its library is.
Those of JAX are in test_remedies_of_jax.py."""

import contextlib
import operator
import pathlib
import tempfile

import numpy as np
import pytest

import faro
from faro import maps
from remedies import Told, same, torch_on_gpu, trial

ROWS = np.arange(12, dtype="f4").reshape(4, 3)


# --- tables and units


@trial("_kinds.py", "x.fill_null(value)")
def _(told):
    pyarrow = pytest.importorskip("pyarrow")
    for x in (pyarrow.array([3, None, 1]), pyarrow.chunked_array([[3, None], [1]])):
        told(faro.flip, x)
        same(faro.flip(x.fill_null(0)), np.array([1, 0, 3]))
    polars = pytest.importorskip("polars")
    for x in (polars.Series([3, None, 1]), polars.DataFrame({"a": [3, None, 1]})):
        told(faro.flip, x, 0)
        same(np.ravel(faro.flip(x.fill_null(0), 0)), np.array([1, 0, 3]))


@trial("_kinds.py", "fill_null(value) of its columns, each moved by itself")
def _(told):
    pyarrow = pytest.importorskip("pyarrow")
    x = pyarrow.table({"a": [3, None, 1], "b": [4, 5, 6]})
    told(faro.flip, x, 0)
    same(np.stack([faro.flip(column.fill_null(0)) for column in x.columns]), np.array([[1, 0, 3], [6, 5, 4]]))


@trial("_kinds.py", "x.fillna(value)")
def _(told):
    pandas = pytest.importorskip("pandas")
    for x in (pandas.Series([3, None, 1], dtype="Int64"), pandas.DataFrame({"a": pandas.array([3, None, 1], dtype="Int64")})):
        told(faro.flip, x, 0)
        same(np.ravel(faro.flip(x.fillna(0), 0)).astype(int), np.array([1, 0, 3]))


@trial("_kinds.py", "x.magnitude is moved with its mask")
def _(told):
    pint = pytest.importorskip("pint")
    x = pint.UnitRegistry().Quantity(np.ma.array([3.0, 1.0], mask=[0, 1]), "m")
    told(faro.flip, x)
    moved = faro.flip(x.magnitude)
    assert moved.mask.tolist() == [True, False] and moved[1] == 3.0


@trial("_kinds.py", "numpy.ma.array(x.unmasked, mask=x.mask) is moved with its mask")
def _(told):
    Masked = pytest.importorskip("astropy.utils.masked").Masked
    x = Masked([3.0, 1.0], mask=[False, True])
    told(faro.flip, x)
    moved = faro.flip(np.ma.array(x.unmasked, mask=x.mask))
    assert moved.mask.tolist() == [True, False] and moved[1] == 3.0


@trial("_kinds.py", "out.view(numpy.ndarray) is its memory")
def _(told):
    units = pytest.importorskip("astropy.units")
    out = np.zeros(2) * units.m
    told(faro.flip, np.array([1.0, 2.0]), out=out)
    faro.flip(np.array([1.0, 2.0]), out=out.view(np.ndarray))
    same(out.value, np.array([2.0, 1.0]))


@trial("_kinds.py", "out.{name} is its memory")
def _(told):
    pint, xarray = pytest.importorskip("pint"), pytest.importorskip("xarray")
    for out in (pint.UnitRegistry().Quantity(np.zeros(2), "m"), xarray.DataArray(np.zeros(2), attrs={"units": "m"})):
        name = told(faro.flip, np.array([1.0, 2.0]), out=out).partition(" ")[0].removeprefix("out.")
        memory = operator.attrgetter(name)(out)
        faro.flip(np.array([1.0, 2.0]), out=memory)
        same(getattr(out, name), np.array([2.0, 1.0]))


# --- circuits


def _circuit(n, *gates):
    qiskit = pytest.importorskip("qiskit")
    made = qiskit.QuantumCircuit(n)
    for name, *arguments in gates:
        getattr(made, name)(*arguments)
    return made


@trial("_circuits.py", "cut the circuit there and read its parts by themselves")
def _(told):
    before, behind = (("x", 0), ("cx", 0, 1)), (("swap", 0, 1),)
    for between in (("h", 0), ("ry", 0.3, 1)):
        told(maps.from_qiskit, _circuit(2, *before, between, *behind))
    for part in (before, behind):
        assert maps.from_qiskit(_circuit(2, *part)) == maps.circuit(2, part)


@trial("_circuits.py", "circuit.global_phase -= {self.phase} takes it out")
def _(told):
    for gates in ((("x", 0),), (("x", 0), ("u", np.pi, 0.4, 0.4 - np.pi, 0))):
        circuit = _circuit(1, *gates)
        circuit.global_phase += 0.7
        exec(told(maps.from_qiskit, circuit).removesuffix(" takes it out"), {"circuit": circuit})
        assert maps.from_qiskit(circuit)(0) == len(gates) % 2


@trial("_circuits.py", "take the measurement out: a map has none")
def _(told):
    qiskit = pytest.importorskip("qiskit")
    circuit = qiskit.QuantumCircuit(2, 1)
    circuit.x(0)
    circuit.measure(0, 0)
    circuit.cx(0, 1)
    told(maps.from_qiskit, circuit)
    circuit.data = [each for each in circuit.data if each.operation.name != "measure"]
    assert maps.from_qiskit(circuit) == maps.circuit(2, [("x", 0), ("cx", 0, 1)])


@trial("_circuits.py", "bind the parameters: assign_parameters() does")
def _(told):
    angle = pytest.importorskip("qiskit.circuit").Parameter("a")
    circuit = _circuit(1, ("u", angle, 0, np.pi, 0))
    told(maps.from_qiskit, circuit)
    assert maps.from_qiskit(circuit.assign_parameters({angle: np.pi}))(0) == 1


@trial("_circuits.py", "ignore_layout=True takes the gates as they stand, on all qubits")
def _(told):
    qiskit = pytest.importorskip("qiskit")
    on_device = {"coupling_map": [[0, 1], [1, 2]], "initial_layout": [0, 1], "optimization_level": 0}
    circuit = qiskit.transpile(_circuit(2, ("cx", 0, 1)), **on_device)
    circuit.x(2)
    told(maps.from_qiskit, circuit)
    assert maps.from_qiskit(circuit, ignore_layout=True) == maps.circuit(3, [("cx", 0, 1), ("x", 2)])


# --- PyTorch


def _torch():
    torch = pytest.importorskip("torch")
    import faro.torch  # noqa: F401

    return torch


@trial("_arrays.py", "x.resolve_conj().resolve_neg()")
def _(told):
    torch = _torch()
    out = torch.zeros(2, dtype=torch.complex64).conj()
    told(faro.put, out, [1], torch.ones(1, dtype=torch.complex64))
    same(faro.put(out.resolve_conj().resolve_neg(), [1], torch.ones(1, dtype=torch.complex64)), np.array([0, 1], "c8"))


@trial("_changes.py", "x.to(torch.{wide}) has such numbers")
def _(told):
    torch = pytest.importorskip("torch")
    for name in ("complex32", "float8_e8m0fnu"):
        if hasattr(torch, name):
            x = torch.tensor([2.0, 4.0]).to(getattr(torch, name))
            wide = told(faro.astype, x, "float32").partition(")")[0].removeprefix("x.to(torch.")
            assert faro.astype(x.to(getattr(torch, wide)), "float32").tolist() == [2.0, 4.0]
            told(lambda y: torch.vmap(lambda z: faro.torch.astype(z, "float32"))(y[None]), x)


@trial("_arithmetic.py", "leave it out: astype() changes numbers before or after")
def _(told):
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    told(faro.take, x, [1, -1], 0, fill=0, dtype="float64")
    same(faro.astype(faro.take(x, [1, -1], 0, fill=0), "float64").detach(), np.array([[3.0, 4, 5], [0, 0, 0]]))
    out = torch.zeros(2, 3, dtype=torch.float64)
    with torch.no_grad():
        same(faro.put(out, [1], faro.astype(x[:1], "float64")), np.array([[0.0, 0, 0], [0, 1, 2]]))


@trial("_torch_modes.py", "each of x.unbind() by itself")
def _(told):
    torch = _torch()
    x = torch.nested.nested_tensor([torch.arange(2.0), torch.arange(3.0)], layout=torch.strided)
    told(faro.flip, x, 0)
    assert [faro.flip(each, 0).tolist() for each in x.unbind()] == [[1, 0], [2, 1, 0]]


@trial("_torch_modes.py", "x.to_dense() is one")
def _(told):
    torch = _torch()
    x = torch.eye(3).to_sparse()
    for recorded in (False, True):
        told(faro.flip, x.requires_grad_(recorded), 0)
        same(faro.flip(x.to_dense(), 0).detach(), np.eye(3, dtype="f4")[::-1])


@trial("_torch_operators.py", "torch.as_tensor(x) is one")
def _(told):
    torch = _torch()
    x, values = np.zeros(3, "f4"), torch.ones(1, requires_grad=True)
    for put, more in ((faro.put, 0), (faro.torch.put, 0), (faro.add_at, 0), (faro.torch.add_at, 0)):
        told(put, x, [1], values, more)
        made = put(torch.as_tensor(x.copy()), [1], values, more)
        same(made.detach(), np.array([0, 1, 0], "f4"))
        values.grad = None
        made.sum().backward()
        same(values.grad, np.ones(1, "f4"))


@trial("_torch_modes.py", "x.dequantize() has its values, x.int_repr() its bytes")
def _(told):
    torch = _torch()
    x = torch.quantize_per_tensor(torch.arange(3.0), 0.5, 1, torch.quint8)
    told(faro.flip, x, 0)
    same(faro.flip(x.dequantize(), 0), np.array([2, 1, 0], "f4"))
    same(faro.flip(x.int_repr(), 0), np.array([5, 3, 1], "u1"))


@trial("_columns.py", "a call for each library's columns")
def _(told):
    torch = _torch()
    values = torch.ones(1, requires_grad=True)
    told(faro.put_columns, [torch.zeros(2), np.zeros(2, "f4")], [1], [values, np.ones(1, "f4")])
    made, other = torch.zeros(2), np.zeros(2, "f4")
    faro.put_columns([made], [1], [values])
    faro.put_columns([other], [1], [np.ones(1, "f4")])
    same(made.detach(), np.array([0, 1], "f4"))
    same(other, np.array([0, 1], "f4"))
    made.sum().backward()
    same(values.grad, np.ones(1, "f4"))


@trial("_run.py", "the same call of x.detach() checks the indices")
def _(told):
    torch = torch_on_gpu()
    x, index = torch.arange(3.0, requires_grad=True, device="cuda"), torch.tensor([2, 0]).cuda()
    told(faro.take, x, index, check=True)
    same(faro.take(x.detach(), index, check=True).cpu(), np.array([2, 0], "f4"))


@trial("_torch_row_functions.py", "index.to(x.device) is there", "values.to(out.device) is there")
def _(told):
    torch = torch_on_gpu()
    x, index, values = torch.zeros(3, requires_grad=True, device="cuda"), torch.tensor([2]), torch.ones(1)
    if "index" in told.pattern:
        told(faro.torch.take, x, index)
        same(faro.torch.take(x, index.to(x.device)).detach().cpu(), np.zeros(1, "f4"))
    else:
        told(faro.torch.put, x, index.cuda(), values)
        same(faro.torch.put(x, index.cuda(), values.to(x.device)).detach().cpu(), np.array([0, 0, 1], "f4"))


@trial("_torch_row_functions.py", "leave room= out")
def _(told):
    torch = _torch()
    x = torch.arange(6.0, requires_grad=True)
    told(faro.torch.take_segments, x, [0, 1, 4, 6], [2, 0], room=7)
    same(faro.torch.take_segments(x, [0, 1, 4, 6], [2, 0])[0].detach(), np.array([4, 5, 0], "f4"))


@trial("_torch_row_functions.py", "put() leaves rows as they were")
def _(told):
    torch = _torch()
    x, before = torch.tensor(ROWS, requires_grad=True), torch.full((2, 3), 7.0)
    told(faro.torch.take, x, [2, -1], 0, fill="keep")
    same(faro.torch.put(before, [0], faro.torch.take(x, [2], 0), 0).detach(), np.array([ROWS[2], [7] * 3], "f4"))


@trial("_torch_row_functions.py", "put() writes some rows")
def _(told):
    torch = _torch()
    x = torch.tensor(ROWS[:2], requires_grad=True)
    told(faro.torch.take, x, [3, 0, 1], 0, inverse=True)
    same(faro.torch.put(torch.zeros(4, 3), [3, 0], x, 0).detach(), np.array([ROWS[1], [0] * 3, [0] * 3, ROWS[0]], "f4"))


@trial("_torch_row_functions.py", "faro.torch.{operation}() returns a new tensor")
def _(told):
    torch = _torch()
    out = torch.zeros(3, requires_grad=True)
    for name in ("put", "add_at"):
        assert name in told(getattr(faro, name), out, [1], torch.ones(1))
        made = getattr(faro.torch, name)(out, [1], torch.ones(1))
        same(made.detach(), np.array([0, 1, 0], "f4"))
        batch = torch.ones(2, 1)
        told(torch.vmap(lambda v: getattr(faro, name)(torch.zeros(3), [1], v)), batch)
        same(torch.vmap(lambda v: getattr(faro.torch, name)(torch.zeros(3), [1], v))(batch), np.array([[0, 1, 0]] * 2, "f4"))


@trial("_torch_sharded.py", "permute_dims() takes tensors")
def _(told):
    torch = _torch()
    if not torch.distributed.is_available():
        pytest.skip("PyTorch without torch.distributed")
    told(faro.torch.permute_dims_sharded, torch.tensor(ROWS), (1, 0))
    same(faro.torch.permute_dims(torch.tensor(ROWS), (1, 0)), ROWS.T)


@trial("_network_text.py", "bmmc(affine(n; COLUMNS; C)) is the same map")
def _(told):
    torch = _torch()
    x = torch.arange(4.0, requires_grad=True)
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    told(lambda: (faro.torch.network(x, "bmmc(A = 3 2, c = 1)") * weights).sum().backward())
    made = faro.torch.network(x, "bmmc(affine(2; 3 2; 1))")
    same(made.detach(), faro.torch.network(x.detach(), "bmmc(A = 3 2, c = 1)"))
    (made * weights).sum().backward()
    same(x.grad, faro.permute(weights.numpy(), "affine(2; 3 2; 1)", inverse=True))


@trial("_network_text.py", "functions of PyTorch between linear networks have a gradient, and so has faro.torch.sort()")
def _(told):
    torch = _torch()
    x = torch.tensor([3.0, 1.0], requires_grad=True)
    told(lambda: faro.torch.network(x, "pairs(min_max)")[0].backward())
    faro.torch.sort(x)[0].backward()
    same(x.grad, np.array([0, 1], "f4"))
    x.grad = None
    program = 'each(square "a = a * a;")'
    told(lambda: faro.torch.network(x, f"wht . {program} . wht")[0].backward())
    faro.torch.network(faro.torch.network(x, "wht") ** 2, "wht")[0].backward()
    same(x.grad, np.array([12, 4], "f4"))


@trial("_network_text.py", "pathlib.Path({text.strip()[1:]}).read_text() is that")
def _(told):
    torch = _torch()
    x = torch.arange(4.0, requires_grad=True)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "transform.txt")
        path.write_text("wht")
        said = told(lambda: faro.torch.network(x, f"@{path}")[1].backward())
        program = eval(said.removesuffix(" is that"), {"pathlib": pathlib})
    faro.torch.network(x, program)[1].backward()
    same(x.grad, np.array([1, -1, 1, -1], "f4"))


# --- modes, gradients and tracers of PyTorch: of in_place=, which has no operator, and of out=


def _flipped_in_place(x):
    return faro.flip(x, 0, in_place=True)


@trial("_torch_modes.py", "x.detach() has the same elements")
def _(told):
    torch = _torch()
    plan = faro.plan("reverse", shape=(4,), itemsize=4, in_place=True)
    x = torch.arange(4.0, requires_grad=True)
    told(plan, x)
    same(plan(x.detach()), np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "faro.torch.{named}(), or x.detach()")
def _(told):
    torch = _torch()
    x = torch.arange(4.0, requires_grad=True)
    assert "faro.torch.flip" in told(_flipped_in_place, x)
    faro.torch.flip(x, 0)[0].backward()
    same(x.grad, np.array([0, 0, 0, 1], "f4"))
    same(_flipped_in_place(x.detach()), np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "x.detach() has the same elements, and no tangent")
def _(told):
    torch = _torch()
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(torch.arange(4.0), torch.ones(4))
        told(_flipped_in_place, x)
        moved = _flipped_in_place(x.detach())
        same(moved, np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "call it outside the transformed function")
def _(told):
    torch = _torch()
    x = torch.arange(8.0).reshape(2, 4)
    told(torch.vmap(_flipped_in_place), x)
    same(torch.vmap(lambda y: 2 * y)(faro.flip(x, 1, in_place=True)), 2 * np.arange(8, dtype="f4").reshape(2, 4)[:, ::-1])


@trial("_torch_modes.py", "call it outside the traced function")
def _(told):
    torch = _torch()
    x = torch.arange(4.0)
    told(lambda: torch.jit.trace(lambda y: 2 * _flipped_in_place(y), x.clone(), check_trace=False))
    same(torch.jit.trace(lambda y: 2 * y, x)(_flipped_in_place(x)), 2 * np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "call it outside the mode, or the traced function")
def _(told):
    torch = _torch()
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    x = torch.arange(4.0)
    with Mode():
        told(_flipped_in_place, x)
    told(make_fx(_flipped_in_place), x)
    same(make_fx(lambda y: 2 * y)(x)(_flipped_in_place(x)), 2 * np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "give it plain tensors")
def _(told):
    torch = _torch()

    class Named(torch.Tensor):
        pass

    x = torch.arange(4.0)
    told(_flipped_in_place, x.as_subclass(Named))
    same(_flipped_in_place(x.as_subclass(Named).as_subclass(torch.Tensor)), np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "leave them out; or {remedy}")
def _(told):
    torch = _torch()
    x, out = torch.arange(4.0, requires_grad=True), torch.empty(4)
    told(faro.flip, x, 0, out=out)
    faro.flip(x, 0)[0].backward()
    same(x.grad, np.array([0, 0, 0, 1], "f4"))
    same(faro.flip(x.detach(), 0, out=out), np.arange(4, dtype="f4")[::-1])


@trial("_torch_modes.py", "torch.fx.experimental.proxy_tensor.make_fx() traces the functions of faro.torch")
def _(told):
    torch = _torch()
    from torch.fx.experimental.proxy_tensor import make_fx

    told(torch.fx.symbolic_trace, lambda x: faro.flip(x, 0))
    x = torch.arange(4.0)
    same(make_fx(lambda x: faro.torch.flip(x, 0))(x)(x + 1), np.arange(1, 5, dtype="f4")[::-1])


@trial("_torch_modes.py", "make_fx() traces derivatives, in operators only")
def _(told):
    torch = _torch()
    from torch.fx.experimental.proxy_tensor import make_fx

    gradient = torch.func.grad(lambda x: (faro.torch.flip(x, 0) ** 2).sum())
    x = torch.arange(4.0)
    told(torch.func.functionalize(gradient), x)
    same(make_fx(gradient)(x)(x + 1), 2 * np.arange(1, 5, dtype="f4"))


# --- one rank of torch.distributed


@contextlib.contextmanager
def _rank(backend="gloo"):
    torch = _torch()
    if not torch.distributed.is_available() or torch.distributed.is_initialized():
        pytest.skip("torch.distributed is not there, or in use")
    torch.distributed.init_process_group(backend, store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        yield torch
    finally:
        torch.distributed.destroy_process_group()


@trial("_torch_modes.py", "x.to_local() is this rank's part",
       "x.to_local() is this rank's part, and faro.torch.permute_dims_sharded() permutes the axes of the whole")
def _(told):
    with _rank() as torch:
        distributed = pytest.importorskip("torch.distributed.tensor")
        mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
        x = distributed.distribute_tensor(torch.tensor(ROWS), mesh, [distributed.Shard(0)])
        if "whole" in told.pattern:
            told(faro.torch.permute_dims, x, (1, 0))
            same(faro.torch.permute_dims_sharded(x, (1, 0)).full_tensor(), ROWS.T)
            same(faro.torch.permute_dims(x.to_local(), (1, 0)), ROWS.T)
        else:
            told(_flipped_in_place, x)
            same(_flipped_in_place(x.to_local()), ROWS[::-1])


@trial("shards.py", "faro.ascontiguousarray() first")
def _(told):
    with _rank() as torch:
        plan = faro.shards.plan("bit_reversal(3)", itemsize=4, comm=torch.distributed.group.WORLD)
        x = torch.arange(16.0)[::2]
        told(plan, x)
        same(plan(faro.ascontiguousarray(x)), faro.permute(x.numpy().copy(), "bit_reversal"))


@trial("_shard_ranks.py", "torch.distributed.init_process_group('cpu:gloo,cuda:nccl') carries both")
def _(told):
    torch = torch_on_gpu()
    x = torch.arange(8.0)
    with _rank("cpu:gloo"):  # gloo alone carries both in newer versions
        told(faro.shards.plan("bit_reversal(3)", itemsize=4, comm=torch.distributed.group.WORLD), x.cuda())
    with _rank("cpu:gloo,cuda:nccl"):
        plan = faro.shards.plan("bit_reversal(3)", itemsize=4, comm=torch.distributed.group.WORLD)
        for given in (x, x.cuda()):
            same(plan(given).cpu(), faro.permute(x.numpy(), "bit_reversal"))


# --- what is tried with NumPy's arrays in test_remedies.py, with those of libraries whose functions name other arguments


@pytest.mark.parametrize("library", ["torch", "torch with gradients", "jax"])
def test_the_axis_of_a_map(library):
    x, told = np.arange(32, dtype="f4").reshape(4, 8), Told("faro.permute(x, by, axis={axis}) permutes along axis {axis}")
    if library == "jax":
        jnp = pytest.importorskip("jax.numpy")
        from faro import jax as of_jax

        given, calls = jnp.asarray(x), (faro.permute, of_jax.permute)
    else:
        given, calls = _torch().tensor(x, requires_grad="gradients" in library), (faro.permute, faro.torch.permute)
    for by in ("gray(3)", maps.gray(3), maps.from_indices([2, 0, 1, 3])):
        for call in calls:
            made = eval(told(call, given, by).partition(" permutes")[0], {"faro": faro, "x": given, "by": by})
            same(made.detach() if library != "jax" else made, faro.permute(x, by, axis=0 if "indices" in str(by) else 1))
