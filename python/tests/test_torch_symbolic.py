"""faro.torch on shapes with symbols: exported for any batch, and compiled once for all."""

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402


def rows(*numbers):
    return torch.tensor(numbers)


# Each with a shape and the axis of it that is a symbol.
CASES = {
    "permute_dims": (lambda x: ft.permute_dims(x, (1, 0)), (3, 4), 0),
    "flip": (lambda x: ft.flip(x), (3, 4), 0),
    "roll, flat": (lambda x: ft.roll(x, 1), (3, 4), 0),
    "roll": (lambda x: ft.roll(x, (1, 2), (0, 1)), (3, 4), 0),
    "rearrange": (lambda x: ft.rearrange(x, "b s (h d) -> b h s d", h=2), (2, 3, 4), 0),
    "rearrange, dots": (lambda x: ft.rearrange(x, "b ... (h d) -> (b h) ... d", h=2), (3, 5, 4), 0),
    "rearrange, joined": (lambda x: ft.rearrange(x, "b s d -> (b s) d"), (2, 3, 4), 1),
    "rearrange, back": (lambda x: ft.rearrange(x, "b h s d -> b s (h d)", inverse=True, h=2), (2, 3, 4), 1),
    "a pattern": (lambda x: ft.permute(x, "b s d -> s b d", inverse=True), (2, 3, 4), 0),
    "transpose": (lambda x: ft.permute(x, "transpose"), (2, 3, 4), 0),
    "axes": (lambda x: ft.permute(x, "axes(2 0 1)", inverse=True), (2, 3, 4), 0),
    "a map": (lambda x: ft.permute(x, "roll(3)"), (3, 8), 0),
    "a map along an axis": (lambda x: ft.permute(x, "gray", dim=1), (3, 8), 0),
    "bit_reverse": (lambda x: ft.bit_reverse(x, -1), (3, 8), 0),
    "permute_qubits": (lambda x: ft.permute_qubits(x, (2, 0, 1)), (3, 8), 0),
    "permute_qubits, axes": (lambda x: ft.permute_qubits(x, (1, 0)), (3, 2, 2), 0),
    "aos_to_soa": (lambda x: ft.aos_to_soa(x), (3, 4), 0),
    "take": (lambda x: ft.take(x, rows(1, -1), 1, fill=0), (3, 4), 0),
    "take of a symbol": (lambda x: ft.take(x, rows(1, 0), 0), (3, 4), 0),
    "take, back": (lambda x: ft.take(x, rows(1, 0, 2, 3), 1, inverse=True), (3, 4), 0),
    "put": (lambda x: ft.put(x, rows(1), x[:, :1], 1), (3, 4), 0),
    "add_at": (lambda x: ft.add_at(x, rows(1), x[:, :1], 1), (3, 4), 0),
    "add_rows": (lambda x: ft.add_rows(x, rows(1, 0, 1, 2), 5, 1), (3, 4), 0),
    "take_columns": (lambda x: ft.take_columns({"a": x}, rows(1, 0))["a"], (3, 4), 0),
    "take_blocks": (lambda x: ft.take_blocks([x], torch.tensor([[2, 0]]))[0], (3, 4, 2), 1),
    "put_blocks": (lambda x: ft.put_blocks([x], torch.tensor([[1, 0]]), [x[:2].reshape(1, -1, 2)])[0], (3, 4, 2), 1),
    "walsh_hadamard": (lambda x: ft.walsh_hadamard(x, inverse=True), (3, 4), 0),
    "sort": (lambda x: ft.sort(x, 0), (3, 5), 0),
    "permute_negacyclic": (lambda x: ft.permute_negacyclic(x, 3), (3, 4), 0),
    "permute_evaluations": (lambda x: ft.permute_evaluations(x, 3), (3, 4), 0),
}
each_case = pytest.mark.parametrize("name", CASES)


def longer(shape, axis, more):
    return tuple(extent + more if a == axis else extent for a, extent in enumerate(shape))


@each_case
def test_exported(name):
    call, shape, axis = CASES[name]

    class Moves(torch.nn.Module):
        def forward(self, x):
            return call(x)

    sizes = ({axis: torch.export.Dim("n", min=2, max=1000)},)
    program = torch.export.export(Moves(), (torch.randn(shape),), dynamic_shapes=sizes).module()
    for more in (0, 4):
        x = torch.randn(longer(shape, axis, more))
        assert torch.equal(program(x), call(x))


@each_case
def test_compiled_once(name):
    from torch._dynamo.testing import CompileCounterWithBackend

    call, shape, axis = CASES[name]
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(call, backend=counter, fullgraph=True)
    for more in (20, 21, 23, 26):  # extents that no other axis has
        x = torch.randn(longer(shape, axis, more)).requires_grad_()
        torch._dynamo.mark_dynamic(x, axis)
        got, wanted = compiled(x), call(x)
        assert torch.equal(got, wanted)
        weights = torch.randn_like(wanted)
        torch.testing.assert_close(torch.autograd.grad(got, x, weights), torch.autograd.grad(wanted, x, weights))
    assert counter.frame_count == 1


def test_a_batch_by_a_map_of_all_its_elements():
    """Its size is known when it runs."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: ft.bit_reverse(x), backend="aot_eager", fullgraph=True, dynamic=True)
    for batch in (4, 8, 16):
        x = torch.randn(batch, 8)
        assert torch.equal(compiled(x), ft.bit_reverse(x))
    with pytest.raises(ValueError, match="bit_reversal"):
        compiled(torch.randn(3, 8))


def test_the_length_of_segments_is_a_symbol():
    torch._dynamo.reset()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(lambda x, o, i: ft.take_segments(x, o, i)[0] * 2, backend="aot_eager", fullgraph=True, dynamic=True)
        for offsets, index in (([0, 1, 4], [1, 0, 1]), ([0, 4, 4], [0])):
            x = torch.randn(4, 3, requires_grad=True)
            given = x, torch.tensor(offsets), torch.tensor(index)
            wanted = ft.take_segments(*given)[0] * 2
            assert torch.equal(compiled(*given), wanted)
            assert torch.equal(torch.autograd.grad(compiled(*given).sum(), x)[0], torch.autograd.grad(wanted.sum(), x)[0])


# Batch and sequence at once, as a serving loop has them: 5 heads of 16.
BOTH = {
    "permute_dims": lambda x: ft.permute_dims(x.unflatten(2, (5, 16)), (0, 2, 1, 3)),
    "rearrange": lambda x: ft.rearrange(x, "b s (h d) -> (b h) s d", h=5),
    "flip and roll": lambda x: ft.roll(ft.flip(x, 1), (1, 2), (0, 1)),
    "converted on the way": lambda x: ft.permute_dims(x, (1, 0, 2), dtype="float64", scale=2.0),
}
SIZES = [(2, 7), (3, 9), (5, 33), (8, 129)]


@pytest.mark.parametrize("name", BOTH)
def test_one_graph_for_every_batch_and_length(name):
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(BOTH[name], backend=counter, fullgraph=True, dynamic=True)
    for batch, length in SIZES:
        x = torch.randn(batch, length, 80)
        assert torch.equal(compiled(x), BOTH[name](x))
    assert counter.frame_count == 1

    class Moves(torch.nn.Module):
        def forward(self, x):
            return BOTH[name](x)

    sizes = ({0: torch.export.Dim("b", min=2, max=64), 1: torch.export.Dim("s", min=2, max=4096)},)
    program = torch.export.export(Moves(), (torch.randn(4, 6, 80),), dynamic_shapes=sizes).module()
    for batch, length in SIZES:
        x = torch.randn(batch, length, 80)
        assert torch.equal(program(x), BOTH[name](x))


def test_a_family_between_graphs():
    torch._dynamo.reset()
    move = faro.family((None, None, 80), (1, 0, 2), itemsize=4)
    compiled = torch.compile(lambda x: move(x * 2) + 1, backend="aot_eager", dynamic=True)
    for batch, length in SIZES:
        x = torch.randn(batch, length, 80)
        assert torch.equal(compiled(x), (x * 2).transpose(0, 1).contiguous() + 1)
