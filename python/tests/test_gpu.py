"""Arrays on a GPU, of PyTorch, CuPy, JAX and Numba, beside PyTorch's own operations. Skipped without a GPU."""

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

import faro  # noqa: E402
import faro.torch as ft  # noqa: E402

pytestmark = pytest.mark.skipif(not (torch.cuda.is_available() and faro.cuda_status()[0]), reason="no GPU")

DTYPES = [torch.int8, torch.bfloat16, torch.float32, torch.int64, torch.complex128]


def filled(shape, dtype=torch.float32):
    count = int(np.prod(shape))
    return (torch.arange(count, device="cuda") % 251).to(dtype).reshape(shape)


def moved(call, *arguments, **how):
    """What the engine does not take (yet) is skipped, with its words."""
    try:
        return call(*arguments, **how)
    except faro.FaroUnsupportedError as refused:
        pytest.skip(str(refused))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, order", [
    ((300, 500), (1, 0)), ((17, 33, 65), (2, 0, 1)), ((17, 33, 65), (1, 0, 2)), ((8, 7, 6, 5), (3, 1, 2, 0)),
    ((2, 3, 4, 5, 6, 7), (5, 3, 1, 0, 2, 4)), ((64, 64, 64), (2, 1, 0)), ((1, 5, 1), (2, 1, 0))])
def test_axes(shape, order, dtype):
    x = filled(shape, dtype)
    wanted = x.permute(order).contiguous()
    assert torch.equal(moved(faro.permute_dims, x, order), wanted)
    out = torch.empty_like(wanted)
    assert faro.permute_dims(x, order, out=out) is out and torch.equal(out, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2)])
def test_flips(axes, dtype):
    x = filled((6, 50, 70), dtype)
    dims = (0, 1, 2) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    assert torch.equal(moved(faro.flip, x, axes), torch.flip(x, dims))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shift, axis", [(12345, None), (-3, 0), (7, 1), (1, 2), ((1, 2), (0, 1))])
def test_rolls(shift, axis, dtype):
    x = filled((6, 50, 70), dtype)
    assert torch.equal(moved(faro.roll, x, shift, axis), torch.roll(x, shift, axis))


def test_views():
    x = filled((40, 60, 80))
    assert torch.equal(moved(faro.permute_dims, x[::2, :, ::3], (2, 0, 1)), x[::2, :, ::3].permute(2, 0, 1))


@pytest.mark.parametrize("text", ["bit_reversal", "gray", "random(4096, 7)", "transpose(64, 64)", "multiply(4096, 5)"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_maps(text, dtype):
    x = filled((4096,), dtype)
    host = x.cpu().view(torch.uint8).numpy().reshape(4096, -1).view(f"V{x.element_size()}").reshape(4096)
    wanted = faro.permute(host, text)
    got = moved(faro.permute, x, text)
    assert got.cpu().contiguous().view(torch.uint8).numpy().tobytes() == wanted.tobytes()
    assert torch.equal(moved(faro.permute, got, text, inverse=True).reshape(-1), x)
    batch = filled((3, 4096), dtype)
    along = moved(faro.permute, batch, text.replace("transpose(64, 64)", "gray"), axis=1)
    assert torch.equal(along[1], faro.permute(batch[1], text.replace("transpose(64, 64)", "gray")).reshape(-1))


def test_in_place():
    x = filled((1 << 12,))
    wanted = faro.permute(x, "bit_reversal")
    assert faro.permute(x, "bit_reversal", in_place=True).data_ptr() == x.data_ptr() and torch.equal(x, wanted)


@pytest.mark.parametrize("shape", [(1001,), (30, 7, 30), (3, 70001), (5, 64, 3)])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.float32, torch.complex128])
def test_rolls_flips_and_equal_axes_in_place(shape, dtype):
    x = filled(shape, dtype)
    for axis in range(len(shape)):
        own = x.clone()
        assert faro.flip(own, axis, in_place=True).data_ptr() == own.data_ptr() and torch.equal(own, torch.flip(x, (axis,)))
        own = x.clone()
        assert faro.roll(own, 3, axis, in_place=True).data_ptr() == own.data_ptr() and torch.equal(own, torch.roll(x, 3, axis))
    if shape[0] == shape[-1] and len(shape) == 3:
        own = x.clone()
        assert torch.equal(faro.permute_dims(own, (2, 1, 0), in_place=True), x.permute(2, 1, 0))


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 20, 64, 100, 512, 4096])
@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
def test_rows(width, kind):
    rows = 1000
    x = torch.randint(0, 255, (rows, width), dtype=torch.uint8, device="cuda")
    index = torch.randint(0, rows, (3000,), dtype=kind, device="cuda")
    assert torch.equal(faro.take(x, index, 0), torch.index_select(x, 0, index))
    again = torch.randint(0, rows, (3000,), dtype=kind, device="cuda")  # the same plan, entries elsewhere
    assert torch.equal(faro.take(x, again, 0, check=True), torch.index_select(x, 0, again))
    order = torch.randperm(rows, device="cuda").to(kind)
    out = torch.zeros_like(x)
    faro.put(out, order, x, check=True)
    assert torch.equal(out, torch.zeros_like(x).index_copy(0, order.long(), x))
    outer = torch.randint(0, 255, (5, 70, width), dtype=torch.uint8, device="cuda")
    some = torch.randint(0, 70, (90,), dtype=kind, device="cuda")
    assert torch.equal(faro.take(outer, some, 1), torch.index_select(outer, 1, some))


def test_sums():
    x = torch.randint(-9, 9, (5000, 12), device="cuda").float()
    index = torch.randint(0, 100, (5000,), device="cuda")
    out = torch.ones(100, 12, device="cuda")
    faro.add_at(out, index, x, check=True)
    assert torch.equal(out, torch.ones(100, 12, device="cuda").index_add(0, index, x))
    on_host = faro.add_at(np.zeros((100, 12), np.float32), index.cpu().numpy(), torch.rand_like(x).cpu().numpy() * 0)
    assert (on_host == 0).all()
    noise = torch.randn(5000, 12, device="cuda")
    got = faro.add_at(torch.zeros(100, 12, device="cuda"), index, noise)
    same = faro.add_at(np.zeros((100, 12), np.float32), index.cpu().numpy(), noise.cpu().numpy())
    assert got.cpu().numpy().tobytes() == same.tobytes()  # the host's sums, bit for bit


@pytest.mark.parametrize("keys_per_row", [1, 2])
def test_routing(keys_per_row):
    tokens, buckets = 500, 7
    keys = torch.randint(0, buckets, (tokens, keys_per_row), device="cuda")
    x = torch.randn(tokens, 16, device="cuda")
    weights = torch.rand(tokens, keys_per_row, device="cuda")
    there = faro.route(keys, buckets, multiple=4, check=True)
    host = faro.route(keys.cpu().numpy(), buckets, multiple=4)
    assert torch.equal(there.places.cpu(), torch.from_numpy(host.places))
    assert torch.equal(there.offsets.cpu(), torch.from_numpy(host.offsets))
    assert torch.equal(there.counts.cpu(), torch.from_numpy(host.counts))
    used = len(host.rows)
    assert torch.equal(there.rows.cpu()[:used], torch.from_numpy(host.rows)) and (there.rows[used:] == -1).all()
    sent = faro.take(x, there.rows, 0, fill=0)
    assert torch.equal(faro.dispatch(x, there, check=True), sent)
    back = faro.combine(sent, there, weights, check=True)
    same = faro.combine(faro.take(x.cpu().numpy(), host.rows, 0, fill=0), host, weights.cpu().numpy())
    assert back.cpu().numpy().tobytes() == same.tobytes()
    with pytest.raises(faro.FaroValueError, match="position"):
        faro.route(keys + buckets, buckets, check=True)


@pytest.mark.parametrize("kind", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_columns(kind):
    rows, taken = 100, 3000
    dtypes = [torch.int8, torch.bfloat16, torch.float32, torch.float64]
    table = {f"{d} {w}": torch.randint(0, 99, (rows, w), device="cuda").to(d) for d in dtypes for w in (1, 3, 16, 500)}
    index = torch.randint(0, rows, (taken,), device="cuda").to(kind)
    got = faro.take_columns(table, index, check=True)
    outs = {name: torch.empty_like(x) for name, x in got.items()}
    assert faro.take_columns(table, index, out=outs)[f"{torch.int8} 1"] is outs[f"{torch.int8} 1"]
    for name, x in table.items():
        wanted = torch.index_select(x, 0, index.long())
        assert torch.equal(got[name], wanted) and torch.equal(outs[name], wanted)
    index[:] = -1 if kind.is_signed else 0
    index[5] = 7
    filled_in = faro.take_columns(table, index, fill=3)
    for name, x in table.items():
        assert torch.equal(filled_in[name][5], x[7]) and (not kind.is_signed or (filled_in[name][:5] == 3).all())
    order = torch.randperm(rows, device="cuda").to(kind)
    put = faro.put_columns({n: torch.zeros_like(x) for n, x in table.items()}, order, table, check=True)
    sums = faro.add_columns({n: x.clone() for n, x in table.items()}, order, table, check=True)
    for name, x in table.items():
        there = torch.zeros_like(x).index_copy(0, order.long(), x)
        assert torch.equal(put[name], there) and torch.equal(sums[name], x + there)


@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.int64])
@pytest.mark.parametrize("shape, axis", [((300, 64), 0), ((20, 300, 7), 1), ((2100, 300), 1), ((300,), 0)])
def test_rows_that_change_their_type(shape, axis, kind):
    x = filled(shape) / 3
    index = torch.randint(0, 300, (500,), device="cuda").to(kind)
    for _ in range(2):  # planned, and found again
        got = faro.take(x, index, axis, dtype=torch.bfloat16)
        assert torch.equal(got, x.index_select(axis, index.long()).bfloat16())
    scaled = faro.take(x, index, axis, dtype=torch.float64, scale=2, offset=0.5, op="neg", check=True)
    assert torch.equal(scaled, -2 * x.index_select(axis, index.long()).double() + 0.5)
    out = torch.zeros_like(got)
    index[3] = -1
    assert faro.take(x, index, axis, fill="keep", dtype=torch.bfloat16, out=out) is out
    assert (out.select(axis, 3) == 0).all() and torch.equal(out.select(axis, 4), x.select(axis, int(index[4])).bfloat16())
    assert (faro.take(x, index, axis, fill=7, dtype=torch.float16).select(axis, 3) == 7).all()
    order = torch.randperm(300, device="cuda").to(kind)
    put = faro.put(torch.zeros_like(x, dtype=torch.bfloat16), order, x, axis, scale=2, check=True)
    assert torch.equal(put, torch.zeros_like(put).index_copy(axis, order.long(), (2 * x).bfloat16()))
    sums = faro.add_at(torch.ones_like(x, dtype=torch.float64), order, x, axis, scale=2, check=True)
    assert torch.equal(sums, torch.ones_like(sums).index_copy(axis, order.long(), 2 * x.double() + 1))
    index[3] = 300
    with pytest.raises(faro.FaroValueError, match="position 3"):
        faro.take(x, index, axis, fill=0, dtype=torch.bfloat16, check=True)


def test_wrong_columns():
    a, b = filled((10, 4)), filled((10,), torch.int64)
    with pytest.raises(faro.FaroValueError, match="position 1"):
        faro.take_columns([a, b], torch.tensor([0, 10], device="cuda"), check=True)
    with pytest.raises(faro.FaroValueError, match="twice"):
        faro.put_columns([a.clone(), b.clone()], torch.tensor([1, 1], device="cuda"), [a[:2], b[:2]], check=True)
    for columns, index in (([a, b.cpu()], torch.tensor([0], device="cuda")), ([a, b], torch.tensor([0])), ([a, b[:9]], torch.tensor([0], device="cuda"))):
        with pytest.raises(faro.FaroValueError):
            faro.take_columns(columns, index)
    with pytest.raises(faro.FaroValueError, match="disjoint"):
        faro.put_columns([a, a], torch.tensor([1], device="cuda"), [a[:1].clone(), a[:1].clone()])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.uint8])
def test_blocks_of_a_cache(dtype):
    layers, blocks, tokens = 70, 64, 16  # 140 tensors: two launches
    caches = [torch.randint(0, 99, (blocks, tokens, 2, 8), device="cuda").to(dtype) for _ in range(2 * layers)]
    table = torch.randperm(blocks, device="cuda")[:40].reshape(5, 8).int()
    table[2, 5:] = -1
    got = faro.take_blocks(caches, table, check=True)
    for cache, sequence in zip(caches, got):
        wanted = cache[table.clamp(min=0).long()]
        wanted[2, 5:] = 0
        assert torch.equal(sequence, wanted.reshape(5, 8 * tokens, 2, 8))
    back = [torch.zeros_like(c) for c in caches]
    faro.put_blocks(back, table, got, check=True)
    used = table[table >= 0].long()
    for cache, other in zip(caches, back):
        assert torch.equal(other[used], cache[used]) and other.float().sum() == cache[used].float().sum()
    graph = torch.cuda.CUDAGraph()
    outs = [torch.empty_like(g) for g in got]
    with torch.cuda.graph(graph):
        faro.take_blocks(caches, table, out=outs)
    table.copy_(torch.randint(0, blocks, (5, 8), device="cuda"))
    graph.replay()
    torch.cuda.synchronize()
    assert all(torch.equal(o, c[table.long()].reshape(o.shape)) for o, c in zip(outs, caches))


@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("kind", [torch.int16, torch.int32, torch.int64])
def test_segments(kind, width):
    lengths = torch.randint(0, 40, (300,))
    cuts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    x = filled((int(cuts[-1]), width), torch.float32)
    taken = torch.randint(0, 300, (1000,))
    wanted, begins = faro.take_segments(x.cpu().numpy(), cuts.numpy(), taken.numpy())
    offsets, indices = cuts.to(kind).cuda(), taken.to(kind).cuda()
    total = len(wanted)
    for how in ({}, {"room": total}, {"room": total + 100, "check": True}, {"out": torch.full((total + 5, width), -1.0, device="cuda"), "check": True}):
        values, told = faro.take_segments(x, offsets, indices, **how)
        assert values.shape[0] >= total and torch.equal(values[:total].cpu(), torch.from_numpy(wanted))
        assert told.dtype == torch.int64 and told.cpu().tolist() == begins.tolist()
        if "out" in how:
            assert values is how["out"] and (values[total:] == -1).all()
    with pytest.raises(faro.FaroValueError, match="fit"):
        faro.take_segments(x, offsets, indices, room=total - 1, check=True)
    indices[4] = 300
    with pytest.raises(faro.FaroValueError, match="position 4"):
        faro.take_segments(x, offsets, indices)
    with pytest.raises(faro.FaroValueError, match="position 4"):
        faro.take_segments(x, offsets, indices, room=total + 40, check=True)
    values, told = faro.take_segments(x, offsets, indices[:0])
    assert values.shape == (0, width) and told.tolist() == [0]
    for wrong in (lambda: faro.take_segments(x, cuts, indices), lambda: faro.take_segments(x, offsets, taken),
                  lambda: faro.take_segments(x, offsets[None], indices), lambda: faro.take_segments(x, offsets.float(), indices),
                  lambda: faro.take_segments(x, offsets, indices, room=-1), lambda: faro.take_segments(x, offsets, indices, room=1, out=x),
                  lambda: faro.take_segments(x, offsets, indices, out=x.cpu()), lambda: faro.take_segments(x, offsets[:0], indices)):
        with pytest.raises(faro.FaroError):
            wrong()


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.float32, torch.float64])
def test_automorphisms(dtype):
    for n, k in ((1 << 12, 5), (1 << 12, 2 * 4095 + 1), (999, 5)):
        x = torch.randint(0, 99, (7, n), device="cuda").to(dtype)
        assert torch.equal(moved(faro.permute_negacyclic, x, k).cpu(), torch.from_numpy(faro.permute_negacyclic(x.cpu().numpy(), k)))
        if n == 1 << 12:
            assert torch.equal(moved(faro.permute_evaluations, x, k).cpu(), torch.from_numpy(faro.permute_evaluations(x.cpu().numpy(), k)))
            assert torch.equal(faro.permute_negacyclic(faro.permute_negacyclic(x, k), pow(k, -1, 2 * n)), x)
    with pytest.raises(faro.FaroValueError):
        faro.permute_negacyclic(x, 3)


def test_plans_of_rows():
    count = 1 << 24  # past the caches: by a schedule
    index = torch.randint(0, count, (count,), device="cuda")
    plan = faro.plan_rows("take", index, count)
    for dtype in (torch.float32, torch.int64, torch.float32):
        x = torch.randint(0, 1 << 20, (count,), device="cuda").to(dtype)
        assert torch.equal(plan(x, check=True), x[index])
        out = torch.empty_like(x)
        assert plan(x, out) is out and torch.equal(out, x[index])
    x = torch.randint(0, 1 << 20, (count,), device="cuda").float()
    assert "reused" in plan.explain(x)
    both = plan({"a": x, "b": x.short()})
    assert torch.equal(both["a"], x[index]) and torch.equal(both["b"], x.short()[index])
    few = torch.randint(0, 9, (count,), device="cuda").float()
    add = faro.plan_rows("add", index, count)
    once = faro.add_at(torch.zeros(count, device="cuda"), index, few)
    assert torch.equal(add(few, torch.zeros(count, device="cuda")), once) and torch.equal(once, torch.zeros_like(few).index_add(0, index, few))
    order = torch.randperm(count, device="cuda")
    assert torch.equal(faro.plan_rows("put", order, count)(x, torch.zeros_like(x)), torch.zeros_like(x).index_copy(0, order, x))
    small = faro.plan_rows("take", index[:1000] % 50, 50, axis=1)
    y = filled((3, 50, 7))
    assert torch.equal(small(y), y[:, index[:1000] % 50])
    with pytest.raises(faro.FaroValueError, match="device"):
        small(y.cpu())
    with pytest.raises(faro.FaroValueError, match="position 2"):
        faro.plan_rows("take", torch.tensor([0, 1, 50], device="cuda"), 50)(y[0], check=True)


def test_fills_of_tensors():
    for dtype, fill in ((torch.float32, 2.5), (torch.bfloat16, -1), (torch.int64, -7), (torch.uint8, 255), (torch.bool, True), (torch.complex64, 1j)):
        got = faro.take(torch.zeros(4, 3, dtype=dtype, device="cuda"), torch.tensor([1, -1], device="cuda"), 0, fill=fill)
        assert torch.equal(got[1], torch.full((3,), fill, dtype=dtype, device="cuda"))
    for dtype, fill in ((torch.int32, 2.5), (torch.uint8, 256), (torch.int8, float("nan")), (torch.float32, "a")):
        with pytest.raises(faro.FaroTypeError):
            faro.take(torch.zeros(4, 3, dtype=dtype, device="cuda"), torch.tensor([1, -1], device="cuda"), 0, fill=fill)
    out = torch.full((2, 3), 9.0, device="cuda")
    faro.take(torch.zeros(4, 3, device="cuda"), torch.tensor([1, -1], device="cuda"), 0, fill="keep", out=out)
    assert out.tolist() == [[0, 0, 0], [9, 9, 9]]


def test_a_hundred_sums_have_the_same_bits():
    index, noise = torch.randint(0, 1 << 12, (1 << 20,), device="cuda"), torch.randn(1 << 20, device="cuda")
    plan = faro.plan_rows("add", index, 1 << 12)
    first = faro.add_at(torch.zeros(1 << 12, device="cuda"), index, noise)
    for run in range(100):
        out = torch.zeros(1 << 12, device="cuda")
        (plan(noise, out) if run % 2 else faro.add_at(out, index, noise))
        assert torch.equal(out.view(torch.int32), first.view(torch.int32)), run


@pytest.mark.parametrize("buckets", [1, 2, 100, 5000])
@pytest.mark.parametrize("keys_per_row", [1, 3, 8])
def test_routing_of_every_kind(buckets, keys_per_row):
    tokens = 333
    for kind in (torch.int8, torch.int16, torch.int32, torch.int64):
        most = min(buckets, torch.iinfo(kind).max)
        for keys in (torch.randint(-1, most, (tokens, keys_per_row)), torch.full((tokens, keys_per_row), most - 1),
                     torch.full((tokens, keys_per_row), -1), torch.zeros(0, keys_per_row)):
            keys = keys.to(kind)
            for multiple, capacity in ((1, None), (128, None), (16, 5), (3, 0)):
                there = faro.route(keys.cuda(), buckets, multiple=multiple, capacity=capacity, check=True)
                host = faro.route(keys.numpy(), buckets, multiple=multiple, capacity=capacity)
                used = len(host.rows)
                for name in ("places", "offsets", "counts"):
                    assert getattr(there, name).cpu().tolist() == getattr(host, name).tolist(), (kind, multiple, capacity, name)
                for name in ("rows", "inverse"):
                    got = getattr(there, name).cpu()
                    assert got[:used].tolist() == getattr(host, name).tolist() and (got[used:] == -1).all()
        x = torch.randn(len(keys), 5, device="cuda")
        sent = faro.dispatch(x, there, check=True)
        assert torch.equal(sent, faro.take(x, there.rows, 0, fill=0)) if len(keys) else not sent.any()
        assert faro.combine(sent, there, check=True).shape == x.shape


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.float64])
def test_everything_to_one_row(dtype):
    count = 1 << 17
    x = torch.randint(0, 9, (count,), device="cuda").to(dtype) / (3 if dtype.is_floating_point else 1)
    x = x.to(dtype)
    for index in (torch.full((count,), 3, device="cuda"), torch.full((count,), -1, device="cuda"), torch.arange(count, device="cuda") % 2):
        for rows in (4, 1 << 16):
            for sums in ("usual", "fp64", "compensated") if dtype.is_floating_point else ("usual",):
                got = faro.add_at(torch.ones(rows, dtype=dtype, device="cuda"), index, x, sums=sums, check=True)
                same = faro.add_at(np.ones(rows, x.cpu().numpy().dtype), index.cpu().numpy(), x.cpu().numpy(), sums=sums)
                assert got.cpu().numpy().tobytes() == same.tobytes(), (rows, sums)
    again = torch.full((count,), 77, device="cuda")
    assert (faro.take(x, again) == x[77]).all() and (faro.take(x[:0], torch.full((9,), -1, device="cuda"), fill=2) == 2).all()


@pytest.mark.parametrize("wrong", [2**62, -(2**63), -2, 10, 2**32])
def test_rows_that_are_far_off(wrong):
    x = filled((10, 4))
    index = torch.tensor([1, wrong, 3], device="cuda")
    out = torch.full((3, 4), -5.0, device="cuda")
    for call in (lambda: faro.take(x, index, 0, out=out, check=True), lambda: faro.add_at(x.clone(), index, x[:3], check=True),
                 lambda: faro.put(x.clone(), index, x[:3], check=True), lambda: faro.route(index, 10, check=True),
                 lambda: faro.take_columns([x, x], index, check=True), lambda: faro.take_segments(x, torch.arange(11, device="cuda"), index)):
        with pytest.raises(faro.FaroValueError, match="position 1"):
            call()
    assert torch.equal(out[::2], x[1:4:2]) and (out[1] == -5).all()


def test_wrong_rows():
    x = filled((10, 4))
    with pytest.raises(faro.FaroValueError, match="position 2"):
        faro.take(x, torch.tensor([0, 1, 10], device="cuda"), 0, check=True)
    filled_in = faro.take(x, torch.tensor([3, -1], device="cuda"), 0, fill=0)
    assert torch.equal(filled_in[0], x[3]) and (filled_in[1] == 0).all()
    with pytest.raises(faro.FaroValueError, match="memory|device"):
        faro.take(x, torch.tensor([0, 1]), 0)
    with pytest.raises(faro.FaroValueError, match="twice"):
        faro.put(torch.zeros(4, 4, device="cuda"), torch.tensor([1, 1], device="cuda"), x[:2], check=True)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32, torch.float64, torch.int16, torch.bfloat16])
@pytest.mark.parametrize("shape, axis", [((5, 1024), 1), ((64, 9), 0), ((3, 1000), -1), ((100,), 0)])
def test_sort(shape, axis, dtype):
    x = torch.randint(-100, 100, shape, device="cuda").to(dtype)
    got = moved(faro.sort, x, axis)
    assert got.dtype == dtype and got.is_cuda and torch.equal(got, torch.sort(x, dim=axis).values)
    assert torch.equal(faro.sort(x, axis), got)  # by the kept kernel


def test_transforms():
    x = torch.randn(7, 512, device="cuda", dtype=torch.complex64)
    assert torch.allclose(moved(faro.fft, x), torch.fft.fft(x), atol=1e-3)
    assert torch.allclose(faro.fft(faro.fft(x), inverse=True), x, atol=1e-4)
    real = torch.randn(512, 7, device="cuda")
    there = faro.walsh_hadamard(real, 0)
    assert torch.allclose(there.cpu(), torch.from_numpy(faro.walsh_hadamard(real.cpu().numpy(), 0)), atol=1e-3)
    out = torch.empty_like(real)
    assert faro.walsh_hadamard(there, 0, inverse=True, out=out) is out and torch.allclose(out, real, atol=1e-4)


def test_inverses_and_in_place():
    x = filled((16, 8, 32))
    for there in (lambda y, **how: faro.permute_dims(y, (2, 0, 1), **how), lambda y, **how: faro.flip(y, 1, **how),
                  lambda y, **how: faro.rearrange(y, "a b c -> c a b", **how),
                  lambda y, **how: faro.permute(y, "gray", axis=1, **how)):
        assert torch.equal(there(moved(there, x), inverse=True), x)
        own = x.clone()
        got = moved(there, own, in_place=True)
        assert got.data_ptr() == own.data_ptr() and torch.equal(got, there(x))
    assert torch.equal(faro.roll(moved(faro.roll, x, 5, 1), 5, 1, inverse=True), x)
    state = torch.randn(3, 256, device="cuda", dtype=torch.complex64)
    order = (3, 1, 0, 2, 7, 5, 6, 4)
    there = moved(faro.permute_qubits, state, order)
    assert torch.equal(faro.permute_qubits(there, order, inverse=True), state)
    assert torch.equal(moved(faro.permute_qubits, state.clone(), order, in_place=True), there)
    p = torch.randperm(100, device="cuda")
    rows = filled((100, 6))
    with pytest.raises(faro.FaroValueError, match="position 3"):
        absent = p.clone()
        absent[3] = -1
        faro.take(rows, absent, 0, inverse=True, check=True)
    assert torch.equal(faro.take(faro.take(rows, p, 0), p, 0, inverse=True, check=True), rows)


class OnlyDLPack:
    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class OnlyCudaInterface:
    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = x.__cuda_array_interface__


@pytest.mark.parametrize("kind", [OnlyDLPack, OnlyCudaInterface])
def test_arrays_of_unknown_libraries(kind):
    x = filled((30, 50))
    torch.cuda.synchronize()
    out = torch.empty(50, 30, device="cuda")
    assert faro.permute_dims(kind(x), (1, 0), out=out) is out
    torch.cuda.synchronize()
    assert torch.equal(out, x.T)
    with pytest.raises(faro.FaroTypeError, match="out="):
        faro.permute_dims(kind(x), (1, 0))
    with pytest.raises(faro.FaroValueError, match="device"):
        faro.permute_dims(kind(x), (1, 0), out=np.empty((50, 30), np.float32))


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.uint16, torch.complex32])
def test_unusual_types(dtype):
    x = torch.arange(64 * 32, device="cuda").to(torch.int32)
    x = x.to(torch.uint8).view(dtype) if dtype.itemsize == 1 else x.to(torch.int16).view(dtype) if dtype.itemsize == 2 else x.view(dtype)
    x = x.reshape(-1, 32)
    raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[dtype.itemsize]
    got = moved(faro.permute_dims, x, (1, 0))
    assert got.dtype == dtype and torch.equal(got.view(raw), x.view(raw).T)


def test_other_devices_are_refused():
    with pytest.raises(faro.FaroValueError, match="device"):
        faro.permute_dims(filled((4, 8)), (1, 0), out=torch.empty(8, 4))
    plan = faro.plan("transpose", filled((4, 8)))
    assert plan.on_gpu and torch.equal(plan(filled((4, 8))), filled((4, 8)).T)
    with pytest.raises(faro.FaroValueError):
        plan(filled((4, 8)).cpu())
    with pytest.raises(faro.FaroValueError):
        faro.plan("transpose", filled((4, 8)).cpu())(filled((4, 8)))


def test_streams():
    x = filled((1 << 11, 1 << 11))
    wanted = x.T.contiguous()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        y = x + 1
        got = faro.permute_dims(y, (1, 0))  # after y, on the same stream
    stream.synchronize()
    assert torch.equal(got, wanted + 1)
    out = torch.zeros_like(wanted)
    faro.permute_dims(x, (1, 0), out=out, stream=stream)
    stream.synchronize()
    assert torch.equal(out, wanted)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_families(dtype):
    move = faro.family((None, 8, 64), (1, 0, 2), itemsize=dtype.itemsize, most=300, engine="cuda", flip=(1,))
    counts = torch.zeros(1, dtype=torch.int32, device="cuda")
    for tokens in (1, 37, 300, 0):
        x = filled((tokens, 8, 64), dtype)
        wanted = x.flip(1).permute(1, 0, 2).contiguous()
        assert torch.equal(move(x), wanted)
        assert torch.equal(move(filled((2 * tokens, 8, 64), dtype)[::2]), filled((2 * tokens, 8, 64), dtype)[::2].flip(1).permute(1, 0, 2))
        # The same with an extent that the device knows alone, in arrays with room for the most.
        room, out = torch.zeros(300 * 8 * 64, dtype=dtype, device="cuda"), torch.full((300 * 8 * 64,), 7, dtype=dtype, device="cuda")
        room[: x.numel()] = x.reshape(-1)
        counts.fill_(tokens)
        assert move(room, out, extents=counts) is out
        assert torch.equal(out[: x.numel()].reshape(wanted.shape), wanted) and (out[x.numel() :] == 7).all()
    with pytest.raises(faro.FaroValueError, match="without out="):
        move(x, extents=counts)
    with pytest.raises(faro.FaroValueError, match="int32 or int64"):
        move(room, out, extents=counts.float())
    with pytest.raises(faro.FaroValueError, match="another device"):
        move(torch.zeros(3, 8, 64, dtype=dtype))


def test_graphs():
    x, index = filled((512, 1024)), torch.randint(0, 512, (700,), device="cuda")
    steps = lambda: (faro.permute_dims(x, (1, 0)), faro.permute(x, "bit_reversal"), ft.take(x, index, 0))  # noqa: E731
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        steps()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        first, second, third = steps()
    x.copy_(torch.randn_like(x))
    index.copy_(torch.randint(0, 512, (700,), device="cuda"))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(first, x.T) and torch.equal(third, x[index])
    assert torch.equal(second, faro.permute(x, "bit_reversal"))


def test_compiled_with_graphs():
    step = torch.compile(lambda x: ft.permute_dims(x * 2, (1, 0)) + 1, fullgraph=True, backend="aot_eager")
    x = filled((64, 32)).requires_grad_()
    y = step(x)
    y.sum().backward()
    assert torch.equal(y, (x * 2).T + 1) and (x.grad == 2).all()


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(24 * 100, dtype=cupy.float32).reshape(24, 100)
    got = faro.permute_dims(x, (1, 0))
    assert isinstance(got, cupy.ndarray) and (got == x.T).all()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        y = x * 2
        assert (faro.permute_dims(y, (1, 0)) == y.T).all()
    index = cupy.array([3, 1, 3])
    assert (faro.take(x, index, axis=0) == x[index]).all()
    rows, more = faro.take_columns((x, y.astype(cupy.int16)), index)
    assert isinstance(rows, cupy.ndarray) and (rows == x[index]).all() and (more == y.astype(cupy.int16)[index]).all()
    values, begins = faro.take_segments(x, cupy.array([0, 1, 1, 24]), cupy.array([2, 0]))
    assert (values == cupy.concatenate([x[1:], x[:1]])).all() and begins.tolist() == [0, 23, 24]


def test_numba():
    cuda = pytest.importorskip("numba.cuda")
    host = np.arange(24 * 100, dtype=np.float32).reshape(24, 100)
    try:
        x = cuda.to_device(host)
    except Exception as broken:  # a Numba that does not know this driver
        pytest.skip(f"numba: {broken}")
    assert (faro.permute_dims(x, (1, 0)).copy_to_host() == host.T).all()


def test_jax_on_gpu():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    import faro.jax as fj

    x = jax.numpy.arange(24.0 * 100).reshape(24, 100)
    got = jax.jit(lambda x: fj.permute_dims(x * 2, (1, 0)) + 1)(x)
    assert (got == (x * 2).T + 1).all()
    assert (jax.jit(lambda x: fj.permute(x, "bit_reversal"))(x.reshape(-1)[:1024]) ==
            faro.permute(np.asarray(x).reshape(-1)[:1024], "bit_reversal")).all()
    index = jax.numpy.array([3, 1, 3])
    assert (jax.jit(lambda x: fj.take(x, index, 0))(x) == x[index]).all()
    back = jax.grad(lambda x: (fj.take(fj.permute_dims(x, (1, 0)), index, 0) ** 2).sum())(x)
    assert (back == jax.grad(lambda x: (x.T[index] ** 2).sum())(x)).all()
    assert (faro.permute_dims(x, (1, 0)) == x.T).all() and (faro.take(x, index, 0) == x[index]).all()
    columns = faro.take_columns({"a": x, "b": x.astype(jax.numpy.int32)}, index)
    assert (columns["a"] == x[index]).all() and (columns["b"] == x.astype(jax.numpy.int32)[index]).all()
    assert (faro.roll(x, 3) == jax.numpy.roll(x, 3)).all() and (faro.flip(x) == jax.numpy.flip(x)).all()
    assert (jax.vmap(lambda row: fj.roll(row, 3))(x) == jax.numpy.roll(x, 3, 1)).all()


@pytest.mark.parametrize("gather", [False, True])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("text", ["bit_reversal(12)", "roll(4096, 77)", "affine_mod(4096, 77, 5)", "axes(16 16 16; 2 0 1)"])
def test_an_index_array_of_the_gpu_with_a_map(text, dtype, gather):
    index = torch.randperm(4096, device="cuda").to(dtype)
    m, other = faro.maps.from_indices(index, gather=gather), faro.maps.parse(text)
    host = faro.maps.from_indices(index.cpu().numpy(), gather=gather)
    x = torch.randn(4096, device="cuda")
    for both, wanted in ((m @ other, host @ other), (other @ m, other @ host), (~m @ other, ~host @ other), (m @ host, host @ host)):
        expected = torch.empty_like(x)
        expected[torch.from_numpy(wanted.indices.astype(np.int64)).cuda()] = x
        assert torch.equal(faro.permute(x, both), expected)
        assert torch.equal(faro.plan(both, x)(x), expected)
    with pytest.raises(faro.FaroValueError):
        faro.maps.from_indices(torch.zeros(8, dtype=dtype, device="cuda"))
    with pytest.raises(faro.FaroValueError):
        m(3)  # its entries are not the host's
    with pytest.raises(faro.FaroTypeError):
        faro.maps.from_indices(index.float())


def test_a_plan_of_several_passes_in_memory_of_the_library():
    count = 1 << 22
    index = torch.randperm(count, device="cuda")
    x = torch.arange(count, dtype=torch.int32, device="cuda")
    plan = faro.plan(faro.maps.from_indices(index, gather=True), x)
    out = torch.empty_like(x)
    for _ in range(3):
        assert torch.equal(plan(x), x[index])
        assert plan(x, out=out) is out and torch.equal(out, x[index])
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        other = plan(x + 1)
        torch.cuda.current_stream().synchronize()
    assert torch.equal(other, (x + 1)[index])
