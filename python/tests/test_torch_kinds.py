"""What faro.torch, and faro's functions of tensors, take: every type of PyTorch's, arrays of other libraries, tensors that are negated when
they are read, and layouts that have no strides."""

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402

ROWS = np.arange(16.0).reshape(4, 4)
ROUTING = faro.route(np.array([[0, 1], [1, 0]]), 2)
TYPES = sorted({str(t).rpartition(".")[2] for t in vars(torch).values() if isinstance(t, torch.dtype)} - {
    "qint8", "quint8", "qint32", "quint4x2", "quint2x4"})  # of quantized tensors, which are refused

MOVES = {
    "flip": lambda x: faro.flip(x),
    "flip of views": lambda x: faro.flip(x[::2]),
    "roll": lambda x: faro.roll(x, 1),
    "transpose": lambda x: faro.transpose(x.reshape(2, 2)),
    "rearrange": lambda x: faro.rearrange(x, "(a b) -> (b a)", a=2),
    "permute": lambda x: faro.permute(x, "reverse"),
    "permute along": lambda x: faro.permute(x.reshape(2, 2), "reverse", axis=1),
    "ascontiguousarray": lambda x: faro.ascontiguousarray(x[::2]),
    "out=": lambda x: faro.flip(x, out=x.view(torch.uint8).clone().view(x.dtype)),
    "plan": lambda x: faro.plan("reverse", x)(x),
    "take": lambda x: faro.take(x, torch.tensor([1, 0])),
    "take list": lambda x: faro.take(x, [1, 0]),
    "columns": lambda x: faro.take_columns([x], torch.tensor([1, 0]))[0],
    "torch.flip": lambda x: ft.flip(x),
    "torch.take": lambda x: ft.take(x, torch.tensor([1, 0])),
    "torch.put": lambda x: ft.put(x, [0, 1], x[:2]),
    "torch.put_blocks": lambda x: ft.put_blocks([x.reshape(2, 2)], [[0]], [x[None, :2]])[0],
    "operator of put": lambda x: torch.ops.faro.put(x, torch.tensor([0, 1]), x[:2], 0),
}


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("dtype", TYPES)
def test_results_have_the_type_of_what_is_moved(dtype, name):
    dtype = getattr(torch, dtype)
    width = torch.empty(0, dtype=dtype).element_size()
    raw = torch.arange(4 * width, dtype=torch.uint8).reshape(4, width)
    x = raw.reshape(-1).view(dtype)
    got = MOVES[name](x)
    assert got.dtype == dtype
    if name in ("flip", "out=", "plan", "permute", "torch.flip"):
        assert torch.equal(got.view(torch.uint8).reshape(4, width), raw.flip(0))


def test_an_output_of_another_type_of_the_same_width():
    if not hasattr(torch, "int4"):
        pytest.skip("PyTorch without int4")
    x = torch.arange(4, dtype=torch.uint8).view(torch.int4)
    for other in (torch.int8, torch.uint8):
        with pytest.raises(faro.FaroValueError, match="out= of elements"):
            faro.flip(x, out=torch.empty(4, dtype=other))
        with pytest.raises(faro.FaroValueError, match="out= of elements"):
            faro.flip(x.view(other), out=x.view(torch.uint8).clone().view(torch.int4))


# --- arrays of other libraries


CALLS = {
    "permute_dims": ((1, 0),), "transpose": (), "flip": (0,), "roll": (1, 0), "permute": ("reverse",), "bit_reverse": (), "aos_to_soa": (),
    "permute_qubits": ((1, 0),), "rearrange": ("a b -> b a",), "soa_to_aos": (), "take": ([1, 0],), "take_segments": ([0, 1, 4], [1, 0]),
    "put": ([2], ROWS[:1]), "add_at": ([2, 2], ROWS[:2]), "add_rows": ([0, 1, 1, 3], 5), "dispatch": (ROUTING,), "combine": (ROUTING,),
    "network": ("wht",), "sort": (), "walsh_hadamard": (), "fft": (), "permute_negacyclic": (3,), "permute_evaluations": (3,),
    "take_columns": ([1, 0],), "take_blocks": ([[1, 0]],), "put_columns": ([2], [ROWS[:1]]), "add_columns": ([2], [ROWS[:1]]),
    "put_blocks": ([[2]], [ROWS[:1]]), "astype": ("float64", (1, 0)), "channels_first": (),
}


def test_every_function_of_arrays_is_here():
    assert set(CALLS) == set(ft.__all__) - {"permute_dims_sharded"}


def given(name):
    if name == "fft":
        return ROWS.astype("c16")
    if name == "permute_negacyclic":
        return ROWS.astype("i8")
    if name == "channels_first":
        return ROWS.reshape(2, 2, -1)
    return ROWS[:2] if name == "dispatch" else ROWS


def as_tensors(each):
    if isinstance(each, np.ndarray):
        return torch.tensor(each)
    return [torch.tensor(x) for x in each] if isinstance(each, list) and isinstance(each[0], np.ndarray) else each


def parts(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_numpy(name):
    call, x = getattr(ft, name), given(name)
    of_columns = name.endswith(("columns", "blocks"))
    before = x.copy()
    got = parts(call([x] if of_columns else x, *CALLS[name]))
    tensor = torch.tensor(x)
    wanted = parts(call([tensor] if of_columns else tensor, *map(as_tensors, CALLS[name])))
    for array, of_torch in zip(got, wanted, strict=True):
        assert type(array) is np.ndarray and torch.is_tensor(of_torch)
        assert array.dtype == of_torch.numpy().dtype and np.array_equal(array, of_torch)
    assert np.array_equal(x, before) and torch.equal(tensor, torch.tensor(before))
    listed = parts(call([x.tolist()] if of_columns else x.tolist(), *CALLS[name]))
    assert all(np.array_equal(one, other) for one, other in zip(listed, got))


@pytest.mark.parametrize("module", [faro, ft], ids=lambda module: module.__name__)
def test_arrays_of_numpy_beside_tensors_that_record(module):
    x, row = ROWS.astype("f4"), torch.ones(1, 4, requires_grad=True)
    weights = torch.ones(4, requires_grad=True)
    before = x.copy()
    calls = {"combine": (x, ROUTING, weights), "put": (x, [0], row), "add_at": (x, [0], row)}
    for name, arguments in calls.items():
        with pytest.raises(faro.FaroTypeError, match=f"^{name}: got a ndarray beside tensors.*torch.as_tensor"):
            getattr(module, name)(*arguments)
        assert np.array_equal(x, before)
        made = getattr(module, name)(torch.as_tensor(x.copy()), *arguments[1:])
        assert made.requires_grad
    with pytest.raises(faro.FaroError, match="^put_columns"):
        module.put_columns([x], [0], [row])
    with pytest.raises(faro.FaroError, match="^put_blocks"):
        module.put_blocks([x], [[0]], [row])
    assert np.array_equal(x, before)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("module", [faro, ft], ids=lambda module: module.__name__)
def test_shifts_are_whole_numbers(module, inverse):
    for shift in ("a", 1.5, [1, None]):
        with pytest.raises(faro.FaroTypeError, match="^roll"):
            module.roll(torch.arange(4), shift, inverse=inverse)
        with pytest.raises(faro.FaroTypeError, match="^roll"):
            module.roll(torch.arange(4.0, requires_grad=True), shift, inverse=inverse)


def test_indices_of_less_than_a_byte_are_refused():
    with pytest.raises(faro.FaroTypeError, match="whole numbers of 8 to 64 bits"):
        faro.take(torch.arange(4.0), torch.tensor([1, 0], dtype=torch.uint8).view(torch.uint4), axis=0)


# --- what a tensor means and its memory does not say


def negated(values, dtype=torch.int64):
    """A tensor of these values, whose memory has them with the other sign."""
    x = (-torch.tensor(values, dtype=dtype))._neg_view()
    assert x.is_neg()
    return x


def test_negated_indices_and_values():
    index, x = negated([2, 0, 1]), torch.arange(3) * 10
    for array in (x, x.numpy()):
        assert faro.take(array, index).tolist() == [20, 0, 10]
        assert faro.take(array, index, inverse=True).tolist() == [10, 20, 0]
        assert faro.take_columns([array], index)[0].tolist() == [20, 0, 10]
        assert faro.plan_rows("take", index, 3)(array).tolist() == [20, 0, 10]
    assert ft.take(x, index).tolist() == [20, 0, 10]
    for zeros in (torch.zeros(3), np.zeros(3, "f4")):
        values = negated([1.0, 2.0, 3.0], torch.float32)
        assert faro.put(zeros, index, values).tolist() == [2, 3, 1]
        assert faro.add_at(zeros, index, values).tolist() == [4, 6, 2]
    assert faro.maps.from_indices(index).indices.tolist() == [2, 0, 1]
    assert faro.route(index, 3).places.tolist() == [2, 0, 1]
    segments, begins = faro.take_segments(np.arange(6), negated([0, 1, 4, 6]), negated([2, 0]))
    assert segments.tolist() == [4, 5, 0] and begins.tolist() == [0, 2, 3]


def test_negated_and_conjugated_weights_and_fills():
    rows = torch.arange(8.0).reshape(4, 2)
    weights = torch.tensor([1 - 1j, 1 - 2j, 1 - 3j, 1 - 4j]).conj().imag
    assert weights.is_neg()
    wanted = faro.combine(rows, ROUTING, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert torch.equal(faro.combine(rows, ROUTING, weights), wanted)
    assert np.array_equal(faro.combine(rows.numpy(), ROUTING, weights), wanted)
    assert faro.take(torch.arange(2.0), [-1], fill=negated(-3.0, torch.float32)).tolist() == [-3]
    conjugated = torch.tensor([1 + 2j, 3 + 4j]).conj()
    assert torch.equal(faro.put(torch.zeros(2, dtype=conjugated.dtype), [1, 0], conjugated), conjugated.flip(0))


LAYOUTS = {
    "sparse": (lambda: torch.eye(3).to_sparse(), "layout torch.sparse_coo.*to_dense"),
    "sparse_csr": (lambda: torch.eye(3).to_sparse_csr(), "layout torch.sparse_csr.*to_dense"),
    "jagged": (lambda: torch.nested.nested_tensor([torch.arange(2.0), torch.arange(3.0)], layout=torch.jagged), "nested.*unbind"),
    "nested": (lambda: torch.nested.nested_tensor([torch.arange(2.0), torch.arange(3.0)]), "nested.*unbind"),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_layouts_without_strides_are_refused_by_name(layout, recorded):
    make, said = LAYOUTS[layout]
    for module in (faro, ft):
        for name in ("permute_dims", "flip", "sort", "take", "permute", "network", "permute_negacyclic"):
            more = {"take": ([0],), "permute": ("reverse",), "network": ("wht",), "permute_negacyclic": (3,)}.get(name, ())
            with pytest.raises(faro.FaroError, match=said):
                getattr(module, name)(make().requires_grad_(recorded), *more)
    if layout in ("sparse", "jagged"):  # the others torch.func refuses itself
        with pytest.raises(faro.FaroError, match=said):
            torch.func.grad(lambda x: ft.flip(x).sum())(make())
