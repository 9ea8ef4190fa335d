"""Every output of every function: what overlaps, cannot be written to, or is of another type or shape is refused, and nothing is written then.

The functions are found by looking for them: one that takes an output and has no case here fails the first test.
"""

import dataclasses
import importlib
import importlib.util
import inspect
from typing import Any, Callable

import faro
import numpy as np
import pytest

# --- where arrays lie: all of a trial in one piece of memory


class Arena:
    """Arrays of NumPy at places of one buffer, whose bytes are compared."""

    def __init__(self):
        self.memory = np.random.default_rng(39).integers(0, 256, 1 << 16, np.uint8)

    def placed(self, like, at, strides=None):
        """``like`` at byte ``at``; strides in elements."""
        strides = None if strides is None else tuple(s * like.itemsize for s in strides)
        view = np.ndarray(like.shape, like.dtype, self.memory, at, strides)
        view[...] = like
        return view

    def bytes(self):
        return self.memory.tobytes()

    def host(self, array):
        return np.array(array)


class TorchArena(Arena):
    """The same of tensors."""

    device = "cpu"

    def __init__(self):
        import torch

        super().__init__()
        self.tensor = torch.from_numpy(self.memory).to(self.device)

    def placed(self, like, at, strides=None):
        import torch

        given = torch.from_numpy(np.ascontiguousarray(like)).to(self.device)
        view = torch.as_strided(self.tensor.view(given.dtype), given.shape, strides or given.stride(), at // like.itemsize)
        for index in np.ndindex(*given.shape):
            view[index] = given[index]
        return view

    def bytes(self):
        return self.tensor.cpu().numpy().tobytes()

    def host(self, array):
        return array.cpu().numpy().copy()


def dense(shape):
    return tuple(int(np.prod(shape[a + 1 :])) for a in range(len(shape)))


# --- the functions


@dataclasses.dataclass
class Case:
    call: Callable[..., Any]  # of the output, and of what is read by name
    read: dict[str, Any]
    out: Any  # an output of the right shape and type, with what is there before
    reads_strides: bool = True


def _x(*shape, dtype="i4"):
    return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)


_ROUTING = faro.route(np.array([[0, 1], [0, 1], [2, 2]]), 3)
_WEIGHTS = np.linspace(0.5, 2, 6, dtype="f4")
_INDICES = np.array([2, 0, 1])


def _routing(**lists):
    return faro.Routing(**{**vars(_ROUTING), **lists})


def _moved(name, *arguments, shape=(4, 6), after=None, dtype="i4", **named):
    function = getattr(faro, name)
    out = np.full(shape if after is None else after, 7, dtype)
    return Case(lambda out, x: function(x, *arguments, out=out, **named), {"x": _x(*shape, dtype=dtype)}, out)


_ROWS = {"indices": _INDICES, "values": _x(3, 4)}
_SHARDS = {"x": _x(4, 6)}

CASES: dict[str, list[Case]] = {
    "faro.permute_dims": [_moved("permute_dims", (1, 0), after=(6, 4))],
    "faro.transpose": [_moved("transpose", after=(6, 4))],
    "faro.ascontiguousarray": [_moved("ascontiguousarray")],
    "faro.flip": [_moved("flip", 1)],
    "faro.roll": [_moved("roll", 1, 1), _moved("roll", 5), _moved("roll", (1, 2), (0, 1))],
    "faro.permute": [_moved("permute", "bit_reversal", shape=(4, 8)), _moved("permute", "transpose", after=(6, 4)),
                     _moved("permute", faro.maps.flip(24)), _moved("permute", "gray", axis=0, shape=(4, 6)),
                     _moved("permute", "reverse", axis=1, shape=(6, 4)), _moved("permute", "gray", axis=0, shape=(4, 1100), dtype="u1")],
    "faro.bit_reverse": [_moved("bit_reverse", shape=(4, 8)), _moved("bit_reverse", 1, shape=(4, 8))],
    "faro.permute_qubits": [_moved("permute_qubits", (1, 0, 2), shape=(3, 8))],
    "faro.rearrange": [_moved("rearrange", "a (b c) -> (b a) c", b=2, after=(8, 3))],
    "faro.aos_to_soa": [_moved("aos_to_soa", after=(6, 4))],
    "faro.soa_to_aos": [_moved("soa_to_aos", after=(6, 4))],
    "faro.network": [_moved("network", "sort", shape=(4, 8)), _moved("network", "sort", 0, shape=(4, 6))],
    "faro.astype": [_moved("astype", "float32", dtype="f4"), _moved("astype", "int32", (1, 0), after=(6, 4))],
    "faro.channels_first": [_moved("channels_first", shape=(2, 3, 4), after=(4, 2, 3), dtype="f4")],
    "faro.sort": [_moved("sort", shape=(4, 8)), _moved("sort", 0), _moved("sort", None, after=(24,)), _moved("sort", dtype="i2")],
    "faro.walsh_hadamard": [_moved("walsh_hadamard", shape=(4, 8), dtype="f4")],
    "faro.fft": [_moved("fft", shape=(4, 8), dtype="c8"), _moved("fft", inverse=True, shape=(4, 8), dtype="c8")],
    "faro.permute_negacyclic": [_moved("permute_negacyclic", 3, shape=(3, 8))],
    "faro.permute_evaluations": [_moved("permute_evaluations", 3, shape=(3, 8))],
    "faro.take": [
        Case(lambda out, x, indices: faro.take(x, indices, 0, out=out), {"x": _x(4, 6), "indices": _INDICES}, _x(3, 6)),
        Case(lambda out, x, indices: faro.take(x, indices, out=out), {"x": _x(4, 6), "indices": _INDICES}, _x(3)),
        Case(lambda out, x, indices: faro.take(x, indices, 1, inverse=True, out=out), {"x": _x(4, 3), "indices": _INDICES}, _x(4, 3)),
        Case(lambda out, x, indices: faro.take(x, indices, 0, fill="keep", out=out),
             {"x": _x(4, 6), "indices": np.array([2, -1, 1])}, _x(3, 6)),
        Case(lambda out, x, indices: faro.take(x, indices, 0, out=out), {"x": _x(4, 6), "indices": _INDICES.astype("i2")}, _x(3, 6)),
    ],
    "faro.take_segments": [Case(lambda out, x, offsets, indices: faro.take_segments(x, offsets, indices, out=out)[0],
                                {"x": _x(6, 2), "offsets": np.array([0, 1, 4, 6]), "indices": np.array([2, 0, 2])}, _x(5, 2))],
    "faro.put": [Case(lambda out, indices, values: faro.put(out, indices, values), _ROWS, _x(5, 4)),
                 Case(lambda out, indices, values: faro.put(out, indices, values, 1), {"indices": _INDICES, "values": _x(4, 3)}, _x(4, 5))],
    "faro.add_at": [Case(lambda out, indices, values: faro.add_at(out, indices, values), _ROWS, _x(5, 4))],
    "faro.dispatch": [Case(lambda out, x, places, rows: faro.dispatch(x, _routing(places=places, rows=rows), out=out),
                           {"x": _x(3, 4), "places": _ROUTING.places, "rows": _ROUTING.rows}, _x(6, 4))],
    "faro.route_rows": [Case(lambda out, x, keys: faro.route_rows(x, keys, 3, out=out)[0],
                             {"x": _x(3, 4), "keys": np.array([[0, 1], [0, 1], [2, 2]])}, _x(6, 4))],
    "faro.combine": [Case(lambda out, x, places, weights: faro.combine(x, _routing(places=places), weights, out=out),
                          {"x": _x(6, 4, dtype="f4"), "places": _ROUTING.places, "weights": _WEIGHTS}, _x(3, 4, dtype="f4"))],
    "faro.take_columns": [
        Case(lambda out, x, indices: faro.take_columns([x], indices, out=[out])[0], {"x": _x(4, 6), "indices": _INDICES}, _x(3, 6))],
    "faro.put_columns": [Case(lambda out, indices, values: faro.put_columns([out], indices, [values])[0], _ROWS, _x(5, 4))],
    "faro.add_columns": [Case(lambda out, indices, values: faro.add_columns([out], indices, [values])[0], _ROWS, _x(5, 4))],
    "faro.take_blocks": [Case(lambda out, x, table: faro.take_blocks([x], table, out=[out])[0],
                              {"x": _x(4, 2, 3), "table": np.array([[3, 0], [1, 2]])}, _x(2, 4, 3))],
    "faro.put_blocks": [Case(lambda out, table, values: faro.put_blocks([out], table, [values])[0],
                             {"table": np.array([[3, 0], [1, 2]]), "values": _x(2, 4, 3)}, _x(4, 2, 3))],
    "faro.Family.__call__": [Case(lambda out, x: faro.family((None, 6), (1, 0), itemsize=x.itemsize)(x, out), {"x": _x(4, 6)}, _x(6, 4))],
    "faro.Group.run": [Case(lambda out, x: faro.group([(x, (1, 0), out)]).run()[0], {"x": _x(4, 6)}, _x(6, 4))],
    "faro.Plan.__call__": [Case(lambda out, x: faro.plan("transpose", shape=(4, 6), itemsize=4, engine=_engine(x))(x, out=out),
                                {"x": _x(4, 6)}, _x(6, 4))],
    "faro.RowPlan.__call__": [
        Case(lambda out, x: faro.plan_rows("take", _on(x, _INDICES), 4)(x, out=out), {"x": _x(4, 6)}, _x(3, 6)),
        Case(lambda out, values: faro.plan_rows("put", _on(values, _INDICES), 5)(values, out=out), {"values": _x(3, 4)}, _x(5, 4)),
        Case(lambda out, values: faro.plan_rows("add", _on(values, _INDICES), 5)([values], out=[out])[0], {"values": _x(3, 4)}, _x(5, 4)),
    ],
    "faro.permute_bits": [Case(lambda out, x: faro.permute_bits(x, "roll(192, 5)", 4, out=out), {"x": _x(24)}, _x(24), False)],
    "faro.shards.run_all": [
        Case(lambda out, x: faro.shards.run_all([faro.shards.plan("transpose", shape=(4, 6), itemsize=4)], [x], [out])[0], _SHARDS, _x(6, 4), False)],
    "faro.shards.ShardedPlan.__call__": [
        Case(lambda out, x: faro.shards.plan("transpose", shape=(4, 6), itemsize=4)(x, out=out), _SHARDS, _x(6, 4), False),
        Case(lambda out, x: faro.shards.plan("roll(3)", shape=(24,), itemsize=4)(x, out=out), {"x": _x(24)}, _x(24), False),
    ],
}


def _on(x, indices):
    return indices if isinstance(x, np.ndarray) or x.device.type == "cpu" else x.new_tensor(indices.tolist(), dtype=getattr(
        importlib.import_module("torch"), "int64"))


def _engine(x):
    return "cpu" if isinstance(x, np.ndarray) or x.device.type == "cpu" else "cuda"


def _takes_an_output(name, function):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    first = next(iter(parameters), "")
    return any(p in ("out", "outs") for p in parameters) or (name.startswith(("put", "add")) and first != "self")


def found():
    """Names of all public functions and methods that take an output."""
    modules = [faro, faro.maps, faro.shards, faro.sketch]
    for optional in ("torch", "jax"):
        if importlib.util.find_spec(optional) is not None:
            modules.append(importlib.import_module(f"faro.{optional}"))
    names = set()
    for module in modules:
        public = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        for name in public:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                methods = {key: method for key, method in vars(thing).items() if not key.startswith("_") or key == "__call__"}
                names |= {f"{module.__name__}.{name}.{key}" for key, method in methods.items() if _takes_an_output(key, method)}
            elif inspect.isfunction(thing) and _takes_an_output(name, thing):
                names.add(f"{module.__name__}.{name}")
    return names


def test_no_function_is_forgotten():
    new_arrays = {f"faro.{module}.{name}" for module, names in (  # those of functions without an output, whatever their name
        ("torch", ("add_rows", "add_at", "put", "put_columns", "add_columns", "put_blocks")), ("jax", ("add_rows", "add_at", "put"))) for name in names}
    assert found() - new_arrays == set(CASES)


# --- trials

_ALL = [pytest.param(case, id=f"{name}-{k}") for name, cases in CASES.items() for k, case in enumerate(cases)]
_ARENAS = [Arena]
if importlib.util.find_spec("torch") is not None:
    _ARENAS.append(TorchArena)
    if faro.cuda_status()[0]:
        _ARENAS.append(type("CudaArena", (TorchArena,), {"device": "cuda"}))

_HERE, _THERE = 32768, 49152


def laid_out(arena, case, moved=None, at=_THERE, strides=None):
    """What is read, each array in its own part of the arena, but for one that lies at ``at``."""
    read = {}
    for k, (name, array) in enumerate(case.read.items()):
        if name == moved:
            read[name] = arena.placed(array, at, strides)
        else:
            read[name] = arena.placed(array, 64 + 5000 * k)
    return read


def refused(arena, case, out, read, kind=faro.FaroError):
    before = arena.bytes()
    with pytest.raises(kind) as caught:
        case.call(out, **read)
    assert arena.bytes() == before, "something was written"
    assert caught.value.got and caught.value.wanted
    return caught.value


@pytest.mark.parametrize("arena_of", _ARENAS)
@pytest.mark.parametrize("case", _ALL)
def test_outputs_that_overlap(case, arena_of):
    shape, width = case.out.shape, case.out.itemsize
    for name in case.read:
        other = case.read[name].itemsize
        step = max(width, other)
        size = case.read[name].nbytes
        for away in {0, step, -step, size - step, step - case.out.nbytes}:
            arena = arena_of()
            at = _HERE + away - away % width
            out = arena.placed(case.out, at)
            read = laid_out(arena, case, name, _HERE)
            error = refused(arena, case, out, read)
            assert "disjoint" in error.wanted, error
        # Every other element, of which one is in what is read; and what is read with strides that the output is in.
        arena = arena_of()
        out = arena.placed(case.out, _HERE - 2 * width * (case.out.size // 2), tuple(2 * s for s in dense(shape)))
        wanted = refused(arena, case, out, laid_out(arena, case, name, _HERE)).wanted
        assert "disjoint" in wanted or (arena_of.__name__ == "CudaArena" and wanted == "a dense array")  # which some functions ask for there
        arena = arena_of()
        out = arena.placed(case.out, _HERE + step)
        read = laid_out(arena, case, name, _HERE, tuple(2 * s for s in dense(case.read[name].shape)))
        refused(arena, case, out, read)


@pytest.mark.parametrize("arena_of", _ARENAS)
@pytest.mark.parametrize("case", _ALL)
def test_outputs_that_overlap_themselves(case, arena_of):
    shape = case.out.shape
    for strides in {(0,) * len(shape), (1,) * len(shape), dense(shape)[:-1] + (0,), (max(dense(shape)[0] - 1, 0),) + dense(shape)[1:]}:
        arena = arena_of()
        read = laid_out(arena, case)
        if strides == dense(shape):
            continue
        refused(arena, case, arena.placed(case.out, _HERE, strides), read)


@pytest.mark.parametrize("arena_of", _ARENAS[:2])
@pytest.mark.parametrize("case", _ALL)
def test_outputs_with_strides_between_what_is_read(case, arena_of):
    """Every other element is an output, those between are read: their ranges meet, and they are disjoint."""
    wanted = arena_of()
    out = wanted.placed(case.out, _HERE)
    right = wanted.host(case.call(out, **laid_out(wanted, case)))
    for name in case.read:
        if case.read[name].itemsize != case.out.itemsize or not case.reads_strides:
            continue
        arena = arena_of()
        read = laid_out(arena, case, name, _HERE, tuple(2 * s for s in dense(case.read[name].shape)))
        out = arena.placed(case.out, _HERE + case.out.itemsize, tuple(2 * s for s in dense(case.out.shape)))
        got = case.call(out, **read)
        assert np.array_equal(arena.host(got), right) and np.array_equal(arena.host(out), right)
        assert np.array_equal(arena.host(read[name]), case.read[name])
    arena = arena_of()
    read = laid_out(arena, case)
    out = arena.placed(case.out, _HERE, tuple(3 * s for s in dense(case.out.shape)))
    case.call(out, **read)
    assert np.array_equal(arena.host(out), right)


@pytest.mark.parametrize("case", _ALL)
def test_outputs_of_another_kind(case):
    dtype, shape = case.out.dtype, case.out.shape
    others = [np.dtype({"i": "f", "u": "f", "f": "i", "c": "i"}[dtype.kind] + str(dtype.itemsize)) if dtype.itemsize > 1 else np.dtype("i1")]
    others += [dtype.newbyteorder()] if dtype.itemsize > 1 else []
    others += [np.dtype(f"{dtype.kind}{2 * dtype.itemsize}") if dtype.kind in "iu" and dtype.itemsize < 8 else np.dtype("f2")]
    for other in others:
        arena = Arena()
        refused(arena, case, arena.placed(np.zeros(shape, other), _HERE), laid_out(arena, case))
    arena = Arena()
    refused(arena, case, arena.placed(np.zeros([extent + 1 for extent in shape], dtype), _HERE), laid_out(arena, case))
    arena = Arena()
    out = arena.placed(case.out, _HERE)
    out.flags.writeable = False
    assert "read-only" in refused(arena, case, out, laid_out(arena, case)).got
    for what in ("abc", 7, b"1234", case.out.tolist(), object()):
        arena = Arena()
        refused(arena, case, what, laid_out(arena, case))


# --- several outputs of one call


def _pairs(arena, shape):
    """Outputs that overlap one another, and such that do not."""
    like = np.zeros(shape, "i4")
    wide = tuple(2 * s for s in dense(shape))
    yield True, arena.placed(like, _HERE), arena.placed(like, _HERE)
    yield True, arena.placed(like, _HERE), arena.placed(like, _HERE + 4)
    yield True, arena.placed(like, _HERE, wide), arena.placed(like, _HERE, wide)
    yield True, arena.placed(like, _HERE, wide), arena.placed(like, _HERE + 8, wide)
    yield True, arena.placed(like, _HERE, wide), arena.placed(like, _HERE)
    yield False, arena.placed(like, _HERE, wide), arena.placed(like, _HERE + 4, wide)
    yield False, arena.placed(like, _HERE), arena.placed(like, _HERE + like.nbytes)


@pytest.mark.parametrize("arena_of", _ARENAS[:2])
def test_columns_that_overlap_one_another(arena_of):
    def values(arena, shape):
        return [arena.placed(np.full(shape, k, "i4"), 64 + 1000 * k) for k in (1, 2)]

    calls = [
        ((5, 4), lambda arena, outs: faro.put_columns(outs, [2, 0], values(arena, (2, 4)))),
        ((5, 4), lambda arena, outs: faro.add_columns({"a": outs[0], "b": outs[1]}, [2, 2], dict(zip("ab", values(arena, (2, 4)))))),
        ((4, 2, 3), lambda arena, outs: faro.put_blocks(outs, [[3, 0]], values(arena, (1, 4, 3)))),
        ((2, 4), lambda arena, outs: faro.take_columns(values(arena, (5, 4)), [2, -1], fill=[3, 4], out=outs)),
        ((2, 4), lambda arena, outs: faro.take_columns(values(arena, (5, 4)), [2, 1], out=outs)),
        ((1, 4, 3), lambda arena, outs: faro.take_blocks(values(arena, (4, 2, 3)), [[3, 0]], out=outs)),
        ((5, 4), lambda arena, outs: faro.plan_rows("add", [1, 1], 5)(values(arena, (2, 4)), out=list(outs))),
        ((5, 4), lambda arena, outs: faro.put_columns([outs[0]], [2, 0], [outs[1][:2]])),
    ]
    for shape, call in calls:
        for overlaps, *outs in _pairs(arena_of(), shape):
            arena = arena_of()
            for k, out in enumerate(outs):
                out[...] = 0
            if overlaps:
                before = [arena.host(out) for out in outs]
                with pytest.raises(faro.FaroValueError, match="overlap|one array"):
                    call(arena, outs)
                assert all(np.array_equal(arena.host(out), was) for out, was in zip(outs, before))
            else:
                call(arena, outs)


def test_outputs_of_other_libraries():
    """Bytes are bytes, whoever holds them."""
    memory = bytearray(64)
    view = memoryview(memory)
    x = np.frombuffer(memory, np.uint8)[:16]
    for out in (view[:16], view[8:24], view[15:31]):
        with pytest.raises(faro.FaroValueError, match="overlap|one array"):
            faro.flip(x, out=out)
    x[...] = range(16)
    assert bytes(faro.flip(x, out=view[16:32])) == bytes(range(15, -1, -1))
    with pytest.raises(faro.FaroValueError, match="overlap"):
        faro.put(view[:16], np.frombuffer(memory, np.int64)[1:2], np.zeros(1, np.uint8))
    numbers = memoryview(np.zeros(4, ">i4"))
    with pytest.raises(faro.FaroError, match="elements"):
        faro.flip(np.arange(4, dtype="<i4"), out=numbers)
    torch = pytest.importorskip("torch")
    with pytest.raises(faro.FaroError, match="elements"):
        faro.flip(torch.arange(4, dtype=torch.int32), out=np.zeros(4, ">i4"))
    shared = np.zeros(8, "i4")
    with pytest.raises(faro.FaroValueError, match="overlap"):
        faro.flip(torch.from_numpy(shared)[:5], out=shared[3:])
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(faro.FaroError, match="elements"):
        faro.flip(torch.zeros(4, dtype=torch.float16), out=np.zeros(4, ml_dtypes.bfloat16))
    assert faro.flip(torch.ones(4, dtype=torch.bfloat16), out=np.zeros(4, ml_dtypes.bfloat16)).tolist() == [1] * 4


def test_in_place_is_itself():
    x = np.arange(24).reshape(4, 6)
    assert (faro.flip(x, 1, in_place=True) == np.arange(24).reshape(4, 6)[:, ::-1]).all()
