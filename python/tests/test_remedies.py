"""Every remedy that an error names exists and works for what was asked: each is tried. Those for arrays of other libraries are in
test_remedies_of_libraries.py."""

import array
import types

import numpy as np
import pytest

import faro
import remedies
import test_remedies_of_jax  # noqa: F401
import test_remedies_of_libraries  # noqa: F401
from faro import maps
from remedies import Told, same, torch_on_gpu, trial

ROWS = np.arange(12.0).reshape(4, 3)


def test_each_remedy_has_a_trial():
    found = remedies.collect() - remedies.FORWARDED
    assert sorted(found - set(remedies.TRIALS)) == [], "remedies without a trial"
    assert sorted(set(remedies.TRIALS) - found) == [], "trials whose remedy is gone"
    assert remedies.FORWARDED <= remedies.collect()


def test_remedies_of_the_extension_are_found():
    text = """void refuse(const char* a, b c, d e, f g) {
      refuse("read", std::to_string(f(1, 2)) + ", of", "some"); refuse("read", "a (", "b", "x.copy(), made");
      refuse("read", "\\", ", "b, c", "x.copy(1, 2) " "is one"); session.refuse("a", "b", "c", "d");"""
    assert list(remedies.of_extension(text)) == ["x.copy(), made", "x.copy(1, 2)  is one"]


@pytest.mark.parametrize("key", remedies.TRIALS, ids=lambda key: f"{key[0]}: {key[1][:60]}")
def test_remedies_work(key):
    told = Told(key[1])
    remedies.TRIALS[key](told)
    assert told.count, "the trial asks for no error"


# --- elements of bits


@trial("_bits.py", "faro.ascontiguousarray(x) makes one")
def _(told):
    x = np.arange(64, dtype="u1").reshape(8, 8)[:, ::2]
    told(faro.permute_dims, x, bits=4)
    assert faro.permute_dims(faro.ascontiguousarray(x), bits=4).shape == (8, 4)


@trial("_bits.py", "shape=(rows, columns) says it")
def _(told):
    x = np.zeros(3, "u1")
    told(faro.permute_dims, x, bits=3)
    assert faro.permute_dims(x, bits=3, shape=(2, 4)).size == 3


@trial("_functions.py", "permute_bits(in_place=True) takes maps of 2^n elements")
def _(told):
    x = np.arange(8, dtype="u1")
    told(faro.permute_dims, x, bits=4, in_place=True)
    assert faro.permute_bits(x, "reverse(4)", 4, in_place=True) is x


# --- numbers that are changed


@trial("_changes.py", "an array of the result's shape is given as add=")
def _(told):
    told(faro.permute_dims, ROWS, offset=ROWS.T)
    same(faro.permute_dims(ROWS, add=ROWS.T.copy()), 2 * ROWS.T)


@trial("_blocks.py", "astype() makes them")
def _(told):
    x = np.arange(64.0)
    told(faro.quantize_blocks, x, "mxfp4")
    same(faro.quantize_blocks(faro.astype(x, "float32"), "mxfp4")[0], faro.quantize_blocks(x.astype("f4"), "mxfp4")[0])


@trial("_arithmetic.py", "leave in_place= out")
def _(told):
    told(faro.permute_dims, ROWS.copy(), dtype="float32", in_place=True)
    same(faro.permute_dims(ROWS, dtype="float32"), ROWS.T.astype("float32"))


@trial("_arithmetic.py", "x.filled(value) has none")
def _(told):
    x = np.ma.array([3.0, 1.0], mask=[0, 1])
    told(faro.astype, x, "int8")
    same(faro.astype(x.filled(0), "int8"), np.array([3, 0], "int8"))


@trial("_changes.py", "x.astype('{wide}') has such numbers")
def _(told):
    import ml_dtypes

    for dtype in (ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.float8_e4m3, ml_dtypes.float4_e2m1fn, np.longdouble):
        x = np.arange(3).astype(dtype)
        wide = told(faro.astype, x, "float32").split("'")[1]
        same(faro.astype(x.astype(wide), "float32"), np.arange(3, dtype="f4"))


# --- arrays, masks, strides


@trial("_arrays.py", "numpy.ma.stack() makes one")
def _(told):
    rows = [np.ma.array([1, 2], mask=[0, 1]), np.ma.array([3, 4], mask=[1, 0])]
    told(faro.flip, rows, 0)
    moved = faro.flip(np.ma.stack(rows), 0)
    same(moved.mask, [[1, 0], [0, 1]] == np.ones((2, 2)))
    same(moved.data, [[3, 4], [1, 2]])


@trial("_arrays.py", "x.ravel()[places] moves them, for the places that the same call makes of "
       "numpy.arange(x.size).reshape(x.shape)")
def _(told):
    x = np.array([["a", 1], [None, "b"]], object)
    told(faro.take, x, [1, 0], 0)
    places = faro.take(np.arange(x.size).reshape(x.shape), [1, 0], 0)
    assert x.ravel()[places].tolist() == x[[1, 0]].tolist()


@trial("_arrays.py", "a.data and a.mask are written by a call each")
def _(told):
    x = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    told(faro.put, x, [1], [[7, 8]])
    faro.put(x.data, [1], [[7, 8]])
    faro.put(x.mask, [1], [[True, False]])
    same(x.data, [[1, 2], [7, 8]])
    assert x.mask.tolist() == [[False, True], [True, False]]


@trial("_arrays.py", "x.filled(value) has none")
def _(told):
    x = np.ma.array([3.0, 1.0], mask=[0, 1])
    told(faro.fft, x)
    same(faro.fft(x.filled(0).astype("c16")), np.fft.fft([3.0, 0.0]))


@trial("_kinds.py", "x.filled(value) has no mask")
def _(told):
    x, out = np.ma.array([3, 1], mask=[0, 1]), np.empty(2, int)
    told(faro.flip, x, out=out)
    same(faro.flip(x.filled(9), out=out), [9, 3])


@trial("_arrays.py", "x.astype('{'float32' if name[0] == 'f' else 'int8'}') has whole bytes")
def _(told):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    narrow = np.array([3, -2, 1], ml_dtypes.int4)
    assert "int8" in told(faro.sort, narrow)
    same(faro.sort(narrow.astype("int8")), np.array([-2, 1, 3], "i1"))
    told(faro.add_at, narrow, [0], narrow[:1])
    same(faro.add_at(narrow.astype("int8"), [0], narrow[:1].astype("int8")), np.array([6, -2, 1], "i1"))
    halves = np.array([1.5, 0.5], ml_dtypes.float4_e2m1fn) if hasattr(ml_dtypes, "float4_e2m1fn") else None
    if halves is not None:
        assert "float32" in told(faro.sort, halves)
        same(faro.sort(halves.astype("float32")), np.array([0.5, 1.5], "f4"))


@trial("_indices.py", "indices.filled(-1), and fill= for what they take")
def _(told):
    indices = np.ma.array([2, 0, 1], mask=[0, 1, 0])
    told(faro.take, ROWS, indices)
    same(faro.take(ROWS, indices.filled(-1), 0, fill=5), np.array([ROWS[2], [5] * 3, ROWS[1]]))


@trial("_in_place.py", "leave in_place= out: the result is a new array")
def _(told):
    x = np.arange(24).reshape(4, 6)[:, ::2]
    told(faro.flip, x, 0, in_place=True)
    same(faro.flip(x, 0), np.flip(x, 0))


@trial("_functions.py", "leave in_place= out")
def _(told):
    x = np.zeros(6, [("a", "f4"), ("b", "f4")])
    x["a"], x["b"] = range(6), range(6, 12)
    told(faro.aos_to_soa, x[::2], in_place=True)
    same(faro.aos_to_soa(x[::2]), np.array([x["a"][::2], x["b"][::2]]))


@trial("_run.py", "faro.ascontiguousarray() first")
def _(told):
    fields = np.zeros(4, [("a", "i2"), ("b", "i4")])
    fields["b"] = range(4)
    x = np.arange(16)[::2]
    for strided, by in ((fields["b"], "strided(4; -1; 1; 3 0)"), (x, "strided(8; -1; 1; 7 0)"), (fields["b"], "reverse")):
        told(faro.permute, strided, by)
        same(faro.permute(faro.ascontiguousarray(strided), by), strided[::-1])


@trial("_run.py", "out[...] = faro.ascontiguousarray(x[...]) leaves the others as they are")
def _(told):
    x, out = np.arange(6), np.full(8, 7)
    told(faro.permute, x, "strided(2 3; 3 1; 5 1)")
    out.reshape(2, 4)[:, :3] = faro.ascontiguousarray(x.reshape(2, 3)[:, :])
    same(out, [0, 1, 2, 7, 3, 4, 5, 7])


# --- maps of one axis, patterns, plans


@trial("_run.py", "faro.permute(x, by, axis={axis}) permutes along axis {axis}")
def _(told):
    x = np.arange(32).reshape(4, 8)
    for by in ("gray(3)", maps.gray(3)):
        for named in ({}, {"in_place": True}):
            assert "axis=1" in told(faro.permute, x, by, **named)
            same(faro.permute(x.copy(), by, axis=1, **named), x[:, (~maps.gray(3)).indices])
        assert "axis=0" in told(faro.permute, x, maps.gray(2))
    with pytest.raises(faro.FaroError) as caught:
        faro.permute(x, maps.gray(4))
    assert "axis=" not in caught.value.remedy  # none has sixteen places


@trial("_run.py", "faro.maps.from_indices({places}.take((~m).indices, {axis}).ravel(), gather=True) is map m along axis {axis}")
def _(told):
    x, m = np.arange(32).reshape(4, 8), maps.gray(3)
    for ask in (lambda by: faro.plan(by, shape=x.shape, itemsize=8), lambda by: faro.plan(by, x),
                lambda by: faro.shards.ShardPlan(by, shape=x.shape, itemsize=8, ranks=2, rank=0)):
        made = eval(told(ask, m).partition(" is map m")[0], {"faro": faro, "numpy": np, "m": m})
        ask(made)
        same(faro.permute(x, made), x[:, (~m).indices])
    same(faro.plan(made, x)(x), x[:, (~m).indices])


@trial("_functions.py", "permute() takes the names of maps")
def _(told):
    told(faro.rearrange, ROWS, "transpose")
    same(faro.permute(ROWS, "transpose"), ROWS.T)


@trial("_automorphisms.py", "numpy.reshape(modulus, (-1, 1)) has one for each place of the axis before the last two")
def _(told):
    x, modulus = np.arange(24, dtype="u4").reshape(2, 3, 4), [97, 193]
    told(faro.permute_negacyclic, x, 3, modulus=modulus)
    wanted = np.stack([faro.permute_negacyclic(x[k], 3, modulus=modulus[k]) for k in range(2)])
    same(faro.permute_negacyclic(x, 3, modulus=np.reshape(modulus, (-1, 1))), wanted)


@trial("_networks.py", "numpy.asarray(x) has them as an array of NumPy")
def _(told):
    x = memoryview(array.array("h", [3, -1, 2]))
    told(faro.sort, x)
    same(faro.sort(np.asarray(x)), np.array([-1, 2, 3], "i2"))


@trial("sketch.py", "select(), or & | ~")
def _(told):
    sketch = faro.sketch
    spec = sketch.Specification()
    given, wanted = spec.input("I", 8), spec.output("O", 8)
    for i in range(8):
        wanted[i] = given[0 if i < 4 else i]
    program = sketch.Program(spec, warp=8)
    told(lambda: 0 if sketch.lane < 4 else sketch.lane)
    own = program.registers("own", 1)
    program.load(own[0], given, sketch.select(sketch.lane < 4, 0, sketch.lane))
    program.store(wanted, sketch.lane, own[0])
    assert faro.synth(program).outcome == "found"


# --- rows and columns


@trial("_fills.py", "fill='keep' leaves rows of out= as they were")
def _(told):
    out = np.full((2, 3), 7.0)
    told(faro.take, ROWS, [1, -1], 0, fill=b"", out=out)
    same(faro.take(ROWS, [1, -1], 0, fill="keep", out=out), np.array([ROWS[1], [7.0] * 3]))


@trial("_rows.py", "put() writes some rows")
def _(told):
    told(faro.take, ROWS[:2], [3, 0, 1], 0, inverse=True)
    out = faro.put(np.zeros((4, 3)), [3, 0], ROWS[:2])
    same(out, np.array([ROWS[1], [0] * 3, [0] * 3, ROWS[0]]))


@trial("_rows.py", "leave room= out")
def _(told):
    x, out = np.arange(6), np.full(3, 9)
    told(faro.take_segments, x, [0, 1, 4, 6], [2, 0], room=7)
    same(faro.take_segments(x, [0, 1, 4, 6], [2, 0])[0], [4, 5, 0])
    told(faro.take_segments, x, [0, 1, 4, 6], [2, 0], room=3, out=out)
    faro.take_segments(x, [0, 1, 4, 6], [2, 0], out=out)
    same(out[:3], [4, 5, 0])


@trial("_tables.py", "take(), put() and add_at() move a single array")
def _(told):
    told(faro.take_columns, ROWS, [2, 0])
    same(faro.take(ROWS, [2, 0], 0), ROWS[[2, 0]])
    for columns, single, wanted in ((faro.put_columns, faro.put, [0, 5]), (faro.add_columns, faro.add_at, [1, 6])):
        out = np.array([1.0, 1.0]) if single is faro.add_at else np.array([0.0, 0.0])
        told(columns, out, [1], np.array([5.0]))
        same(single(out, [1], np.array([5.0])), np.array(wanted, float))


# --- devices: a second memory is needed


@trial("_columns.py", "copy the columns to one device first")
def _(told):
    torch = torch_on_gpu()
    x = torch.arange(6.0)
    told(faro.take_columns, [x.cuda(), x], torch.tensor([2, 0]).cuda())
    same(faro.take_columns([x.cuda(), x.cuda()], torch.tensor([2, 0]).cuda())[1].cpu(), x.numpy()[[2, 0]])


@trial("_columns.py", "copy them to its device first, or plan with indices on theirs")
def _(told):
    torch = torch_on_gpu()
    x = torch.arange(6.0)
    told(faro.plan_rows("take", [2, 0], 6), x.cuda())
    same(faro.plan_rows("take", [2, 0], 6)(x.cuda().cpu()), x.numpy()[[2, 0]])
    same(faro.plan_rows("take", torch.tensor([2, 0]).cuda(), 6)(x.cuda()).cpu(), x.numpy()[[2, 0]])


@trial("_columns.py", "give it as stream=")
def _(told):
    torch, cupy = torch_on_gpu(), pytest.importorskip("cupy")
    index = torch.tensor([1, 0]).cuda()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        columns = [torch.arange(2.0).cuda(), cupy.arange(2.0)]
        torch.cuda.synchronize()
        told(faro.take_columns, columns, index)
        made = faro.take_columns(columns, index, stream=stream.ptr)
        stream.synchronize()
    same(made[0].cpu(), np.array([1, 0], "f4"))
    same(cupy.asnumpy(made[1]), np.array([1.0, 0.0]))


@trial("_caches.py", "copy one side to the other's device first")
def _(told):
    torch = torch_on_gpu()
    src, dst = torch.ones(4, 2, 1, 3), torch.zeros(4, 2, 1, 3, device="cuda")
    told(faro.plan_cache_move, src, dst)
    table = torch.tensor([1], device="cuda")
    assert faro.move_cache(src.cuda(), dst, table, table)[1].all()


@trial("_device_rows.py", "copy the keys to the rows' device first")
def _(told):
    torch = torch_on_gpu()
    x, keys = torch.ones(2, 3), torch.tensor([1, 0], device="cuda")
    told(faro.route_rows, x, keys, 2)
    assert faro.route_rows(x.cuda(), keys, 2)[0].shape == (2, 3)


@trial("_groups.py", "x.data and x.mask are members of their own")
def _(told):
    x = np.ma.MaskedArray(ROWS, mask=ROWS > 5)
    out = np.ma.MaskedArray(np.zeros((3, 4)), mask=np.zeros((3, 4), bool))
    told(faro.group, [(x, (1, 0), out)])
    faro.group([(x.data, (1, 0), out.data), (x.mask, (1, 0), out.mask)]).run()
    same(out.mask, x.mask.T)
    same(out.data, x.data.T)


@trial("_groups.py", "run(ins, outs)")
def _(told):
    out = np.zeros((3, 4))
    group = faro.group([(ROWS, (1, 0), np.zeros((3, 4)))])
    told(group.run_table, [])
    group.run([ROWS + 1], [out])
    same(out, ROWS.T + 1)


@trial("_device_rows.py", "copy the indices to the arrays' device first")
def _(told):
    torch = torch_on_gpu()
    x, index = torch.arange(6.0).cuda(), torch.tensor([2, 0])
    told(faro.take, x, index)
    same(faro.take(x, index.cuda()).cpu(), np.array([2, 0], "f4"))


@trial("_indices.py", "copy the indices to the host first")
def _(told):
    torch = torch_on_gpu()
    told(faro.take, ROWS, torch.tensor([2, 0]).cuda(), 0)
    same(faro.take(ROWS, torch.tensor([2, 0]).cuda().cpu(), 0), ROWS[[2, 0]])


@trial("_indices.py", "faro.ascontiguousarray() first")
def _(told):
    torch = torch_on_gpu()
    images, index = np.arange(1024)[::-1], (torch.arange(2048).flip(0) // 2).cuda()[::2]
    told(maps.from_indices, index)
    made = maps.from_indices(faro.ascontiguousarray(index))
    x = torch.arange(1024.0)
    same(faro.permute(x.cuda(), made).cpu(), x.numpy()[images])


@trial("_outputs.py", "give out= on the input's device, and copy that")
def _(told):
    torch = torch_on_gpu()
    x, out = torch.arange(6.0).cuda(), torch.empty(6)
    told(faro.flip, x, out=out)
    out.copy_(faro.flip(x, out=torch.empty_like(x)))
    same(out, np.arange(6, dtype="f4")[::-1])


@trial("_row_values.py", "copy it to the host first")
def _(told):
    torch = torch_on_gpu()
    told(faro.put, ROWS.copy(), [1], torch.ones(1, 3, dtype=torch.float64).cuda())
    same(faro.put(ROWS.copy(), [1], torch.ones(1, 3, dtype=torch.float64).cuda().cpu())[1], np.ones(3))


@trial("_row_values.py", "copy the values to the output's device first")
def _(told):
    torch = torch_on_gpu()
    out, index = torch.zeros(3).cuda(), torch.tensor([1]).cuda()
    told(faro.put, out, index, torch.ones(1))
    same(faro.put(out, index, torch.ones(1).cuda()).cpu(), np.array([0, 1, 0], "f4"))


@trial("_plan.py", "engine='cuda' plans for arrays on a GPU, 'cpu' for those of the host")
def _(told):
    torch = torch_on_gpu()
    x = torch.arange(1024.0)

    def plan(engine):
        return faro.plan("bit_reversal", shape=(1024,), itemsize=4, engine=engine)

    told(plan("cpu"), x.cuda())
    told(plan("cuda"), x)
    for engine, given in (("cuda", x.cuda()), ("cpu", x)):
        same(plan(engine)(given).cpu(), faro.permute(x.numpy(), "bit_reversal"))


@trial("_functions.py", "take() of the inverse map's indices on the GPU")
@trial("_in_place.py", "take() of the inverse map's indices on the GPU moves them to a new array")
def _(told):
    torch = torch_on_gpu()
    x, by = torch.arange(5 * 2000.0).reshape(5, 2000), maps.from_indices([0, 2, 1, 4, 3])
    told(faro.permute, x.cuda(), by, axis=0, in_place="in place" in told.pattern or "new" in told.pattern)
    same(faro.take(x.cuda(), torch.as_tensor((~by).indices).cuda(), 0).cpu(), x.numpy()[(~by).indices])


@trial("_arrays.py", "give the result as out=")
def _(told):
    torch = torch_on_gpu()
    x, out = torch.arange(6.0).cuda(), torch.empty(6).cuda()
    foreign = types.SimpleNamespace(__cuda_array_interface__=x.__cuda_array_interface__)
    told(faro.flip, foreign)
    faro.flip(foreign, out=out)
    same(out.cpu(), np.arange(6, dtype="f4")[::-1])


def exported(call, shape):
    """Of JAX, for all shapes that one with symbols stands for."""
    jax, export = pytest.importorskip("jax"), pytest.importorskip("jax.export")
    checks = [export.DisabledSafetyCheck.custom_call("faro_move")]
    return export.export(jax.jit(call), disabled_checks=checks)(jax.ShapeDtypeStruct(export.symbolic_shape(shape), "float32"))


@trial("_jax_moves.py", "axis= permutes along one whose extent is a number; permute_dims, flip and roll take any")
def _(told):
    jax = pytest.importorskip("jax")
    import faro.jax as fj

    told(exported, lambda x: fj.permute(x, "bit_reversal"), "n, 8")
    program = exported(lambda x: fj.permute(x, "bit_reversal", axis=1), "n, 8")
    x = jax.numpy.arange(24.0).reshape(3, 8)
    same(np.asarray(program.call(x)), faro.permute(np.asarray(x), "bit_reversal", axis=1))


@trial("_jax_moves.py", "flip and roll take axes of any extent")
def _(told):
    pytest.importorskip("jax")
    import faro.jax as fj

    told(exported, lambda x: fj.permute(x, "gray", axis=1), "3, n")
    exported(lambda x: fj.flip(x, 1), "3, n")


@trial("_jax_moves.py", "the polynomials' number may be a symbol, their length is a number")
def _(told):
    pytest.importorskip("jax")
    import faro.jax as fj

    told(exported, lambda x: fj.permute_negacyclic(x, 3), "3, n")
    exported(lambda x: fj.permute_negacyclic(x, 3), "n, 8")


@trial("_family.py", "faro.jax.permute_dims() takes any shape, symbolic ones too")
def _(told):
    jax = pytest.importorskip("jax")
    import faro.jax as fj

    family = faro.family((None, 4), (1, 0), itemsize=8)
    told(jax.jit(family), jax.numpy.ones((3, 4)))
    assert jax.jit(lambda x: fj.permute_dims(x, (1, 0)))(jax.numpy.ones((3, 4))).shape == (4, 3)


@trial("_family.py", "engine='cuda' makes families for arrays on a GPU")
def _(told):
    torch = torch_on_gpu()
    x = torch.ones(3, 4).cuda()
    told(faro.family((None, 4), (1, 0), itemsize=4), x)
    assert faro.family((None, 4), (1, 0), itemsize=4, most=9, engine="cuda")(x).shape == (4, 3)


@trial("_torch_operators.py", "x.detach() is not recorded")
def _(told):
    torch = torch_on_gpu()
    family = faro.family((None, 4), (1, 0), itemsize=4, most=9, engine="cuda")
    x, out = torch.ones(3, 4).cuda().requires_grad_(), torch.empty(4, 3).cuda()
    extents = torch.tensor([3]).cuda()
    told(lambda: family(x, extents=extents))
    family(x.detach(), out, extents=extents)
