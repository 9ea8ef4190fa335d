"""Writes to tensors raise their version counters, as PyTorch's own do."""

import inspect

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402
from torch_calls import WITHOUT_TENSORS, WRITES, public_names, zeros  # noqa: E402

CASES = [pytest.param(shape, call, id=f"{name}-{i}") for name, calls in WRITES.items() for i, (shape, call) in enumerate(calls)]
_WRITTEN = {"out", "outs", "in_place", "caches"}  # arguments that are written to, or say so


def x_of():
    return torch.arange(32.0).reshape(4, 8)


def callables():
    for name in public_names():
        thing = faro
        for part in name.split("."):
            thing = getattr(thing, part)
        if isinstance(thing, type) and "__call__" in vars(thing):
            yield name, thing.__call__
        elif callable(thing) and not isinstance(thing, type):
            yield name, thing


def test_every_function_that_writes_is_tried():
    for name, call in callables():
        written = _WRITTEN & set(inspect.signature(call).parameters) - ({"in_place", "caches"} if name in ("plan", "take_blocks") else set())
        if written and name not in WITHOUT_TENSORS and not name.startswith("torch."):  # whose functions return new tensors
            assert len(WRITES.get(name, ())) >= len(written), f"{name} writes to a tensor: give torch_calls.py a call of it"


@pytest.mark.parametrize("shape, call", CASES)
def test_backward_refuses_what_was_overwritten(shape, call):
    x, leaf = x_of(), torch.ones(shape, requires_grad=True)
    saved = leaf * 1
    loss = (saved * saved).sum()
    before = saved._version
    with torch.no_grad():
        call(x, saved.detach())
    assert saved._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("shape, call", CASES)
def test_tensors_of_inference_mode_have_no_counter(shape, call):
    wanted = zeros(x_of(), *shape)
    call(x_of(), wanted)
    with torch.inference_mode():
        made = zeros(x_of(), *shape)
        call(x_of(), made)
        assert torch.equal(made, wanted)
    plain = zeros(x_of(), *shape)
    with torch.inference_mode():
        call(x_of(), plain)
    assert torch.equal(plain, wanted) and plain._version > 0


# What they write to a tensor that is recorded goes by PyTorch's copy_().
_BY_PYTORCH = ("put", "add_at", "put_columns", "add_columns", "put_blocks", "RowPlan-1", "RowPlan-2")


def is_by_pytorch(case):
    return case.id.startswith(_BY_PYTORCH)


@pytest.mark.parametrize("shape, call", [case for case in CASES if is_by_pytorch(case)])
def test_recorded_tensors_are_written_by_pytorch(shape, call):
    wanted, leaf = zeros(x_of(), *shape), zeros(x_of(), *shape).requires_grad_()
    call(x_of(), wanted)
    with pytest.raises(faro.FaroError, match="leaf"):
        call(x_of(), leaf)
    assert not leaf._version and not leaf.detach().any()
    given = leaf * 1
    call(x_of(), given)
    assert torch.equal(given.detach(), wanted) and given._version and given.grad_fn is not None
    with torch.no_grad():
        call(x_of(), leaf)
    assert torch.equal(leaf.detach(), wanted)


@pytest.mark.parametrize("shape, call", [case for case in CASES if not is_by_pytorch(case)])
def test_recorded_tensors_are_not_written(shape, call):
    """As torch refuses a leaf; the remedy that is named works."""
    out = zeros(x_of(), *shape).requires_grad_()
    for given in (out, out * 1):
        before = given.detach().clone(), given._version
        with pytest.raises(faro.FaroError, match=r"recorded.*x\.detach\(\)"):
            call(x_of(), given)
        assert torch.equal(given.detach(), before[0]) and given._version == before[1]
        call(x_of(), given.detach())
        assert given._version > before[1]
    with torch.no_grad():
        call(x_of(), out)  # as torch's own


def test_a_refused_call_on_the_short_way_leaves_the_counter():
    out = torch.zeros(3, 5)
    with pytest.raises(faro.FaroValueError):
        faro.flip(x_of(), out=torch.zeros(4, 8).t())
    faro.flip(torch.zeros(3, 5), out=out)
    assert out._version == 1


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.bfloat16, torch.float32, torch.complex64])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_rows_are_taken_put_and_added_as_pytorch_does(dtype, axis):
    x = torch.arange(60).reshape(3, 4, 5).to(dtype)
    n = x.shape[axis]
    for places in (torch.randperm(n), torch.randperm(n).to(torch.int32), torch.arange(n)[:2]):
        values = x.index_select(axis, places) + 1
        out = torch.zeros_like(values)
        assert faro.take(x, places, axis, out=out) is out and torch.equal(out, x.index_select(axis, places))
        for given in (values, values.flip(0), values.transpose(0, 1).contiguous().transpose(0, 1)):
            put, wanted = x.clone(), x.clone()
            assert faro.put(put, places, given, axis) is put and torch.equal(put, wanted.index_copy_(axis, places.long(), given))
            if dtype != torch.complex64:
                added, wanted = x.clone(), x.clone()
                assert faro.add_at(added, places, given, axis) is added
                assert torch.equal(added, wanted.index_add_(axis, places.long(), given))


def test_rows_that_share_memory_or_name_none_are_refused_before_anything_is_written():
    x, i = torch.arange(12.0).reshape(4, 3), torch.arange(4)
    for call in (lambda: faro.take(x, i, 0, out=x), lambda: faro.put(x, i, x), lambda: faro.add_at(x, i, x),
                 lambda: faro.take(x[:3], i[:3], 0, out=x[1:])):
        with pytest.raises(faro.FaroValueError, match="disjoint|one array|overlap"):
            call()
    y, z = torch.zeros(4, 3), torch.zeros(4, 3)
    for call in (lambda: faro.take(x, i + 1, 0, out=y), lambda: faro.put(y, i + 1, x), lambda: faro.put(y, i // 2, x),
                 lambda: faro.add_at(y, i + 1, x), lambda: faro.take(x, i, 0, out=y[:3]), lambda: faro.put(y, i, x[:3])):
        with pytest.raises(faro.FaroValueError):
            call()
    assert torch.equal(y, z) and torch.equal(x, torch.arange(12.0).reshape(4, 3))
