"""One call, or several, of each public function with tensors: what test_torch_modes.py and test_torch_writes.py try."""

import faro
import faro.torch as ft
import pytest

torch = pytest.importorskip("torch")

ROWS = torch.tensor([2, 0, 3, 1])
SOME = torch.tensor([1, -1, 3, 1])
KEYS = [[0, 1], [1, 0], [1, 1], [0, 0]]
ROUTING = faro.route(KEYS, 2)
WEIGHTS = torch.arange(8, dtype=torch.float32)
TABLE = torch.tensor([[1, 0], [3, 2]])
PLAN = faro.plan("transpose", shape=(4, 8), itemsize=4)
PLAN_IN_PLACE = faro.plan("gray(5)", shape=(4, 8), itemsize=4, in_place=True)
ROW_PLANS = {verb: faro.plan_rows(verb, [2, 0, 3, 1], 4) for verb in ("take", "put", "add")}
SHARDED = faro.shards.plan("transpose", None, shape=(4, 8), itemsize=4)
MAP = faro.maps.gray(5)


def zeros(x, *shape):
    return torch.zeros(shape or x.shape, dtype=x.dtype)


def keys_of(x):
    return (x[:, 0].abs() > 3).to(torch.int64)


_CACHES = {"src_layout": "layer kv block token head width", "dst_layout": "layer kv block head token width"}

# Of x, four by eight of float32. Those that have an operator: they work under every mode.
MOVES = {
    "permute_dims": [lambda x: faro.permute_dims(x, (1, 0)), lambda x: faro.permute_dims(x, (1, 0), scale=2, add=x.T, beta=3)],
    "astype": [lambda x: faro.astype(x, "float32", (1, 0), scale=2), lambda x: faro.astype(x, "float64").float()],
    "channels_first": [lambda x: faro.channels_first(x.reshape(2, 2, 8), mean=0.5, std=0.25)],
    "torch.astype": [lambda x: ft.astype(x, torch.float32, (1, 0), op="neg"), lambda x: ft.astype(x, "float64", add=x).float()],
    "torch.channels_first": [lambda x: ft.channels_first(x.reshape(2, 2, 8), std=[0.5, 2] * 4)],
    "transpose": [lambda x: faro.transpose(x), lambda x: faro.transpose(x, (1, 0), inverse=True)],
    "flip": [lambda x: faro.flip(x), lambda x: faro.flip(x, -1)],
    "roll": [lambda x: faro.roll(x, 3), lambda x: faro.roll(x, 1, (0, 1), inverse=True)],
    "permute": [lambda x: faro.permute(x, "bit_reversal"), lambda x: faro.permute(x, MAP, inverse=True),
                lambda x: faro.permute(x, "reverse", axis=1)],
    "bit_reverse": [lambda x: faro.bit_reverse(x), lambda x: faro.bit_reverse(x, 1)],
    "permute_qubits": [lambda x: faro.permute_qubits(x, (2, 0, 1))],
    "rearrange": [lambda x: faro.rearrange(x, "a (b c) -> c a b", b=2)],
    "aos_to_soa": [lambda x: faro.aos_to_soa(x)],
    "soa_to_aos": [lambda x: faro.soa_to_aos(x)],
    "ascontiguousarray": [lambda x: faro.ascontiguousarray(x.T)],
    "torch.permute_dims": [lambda x: ft.permute_dims(x, (1, 0)), lambda x: ft.permute_dims(x)],
    "torch.transpose": [lambda x: ft.transpose(x)],
    "torch.flip": [lambda x: ft.flip(x, 1), lambda x: ft.flip(x)],
    "torch.roll": [lambda x: ft.roll(x, 3), lambda x: ft.roll(x, (1, 2), (0, 1))],
    "torch.permute": [lambda x: ft.permute(x, "gray")],
    "torch.bit_reverse": [lambda x: ft.bit_reverse(x)],
    "torch.permute_qubits": [lambda x: ft.permute_qubits(x, (2, 0, 1))],
    "torch.rearrange": [lambda x: ft.rearrange(x, "a (b c) -> c a b", b=2)],
    "torch.take": [lambda x: ft.take(x, ROWS), lambda x: ft.take(x, TABLE, 1)],
    "torch.add_rows": [lambda x: ft.add_rows(x, ROWS, 5)],
    "take": [lambda x: faro.take(x, ROWS, 0), lambda x: faro.take(x, ROWS), lambda x: faro.take(x, SOME, 0, fill=0),
             lambda x: faro.take(x, ROWS, 0, inverse=True)],
    "take_segments": [lambda x: faro.take_segments(x, [0, 1, 4], [1, 0])[0]],
    "dispatch": [lambda x: faro.dispatch(x, ROUTING)],
    "combine": [lambda x: faro.combine(faro.take(x, torch.tensor(ROUTING.rows), 0), ROUTING, WEIGHTS)],
    "take_columns": [lambda x: faro.take_columns([x, x * 2], ROWS)[1], lambda x: faro.take_columns({"a": x}, SOME, fill=1)["a"]],
    "take_blocks": [lambda x: faro.take_blocks([x], TABLE)[0]],
    "network": [lambda x: faro.network(x, "wht"), lambda x: faro.network(x, "wht", 0)],
    "walsh_hadamard": [lambda x: faro.walsh_hadamard(x, inverse=True)],
    "fft": [lambda x: torch.view_as_real(faro.fft(torch.complex(x, x)))],
    "permute_negacyclic": [lambda x: faro.permute_negacyclic(x, 3)],
    "permute_evaluations": [lambda x: faro.permute_evaluations(x, 3)],
    "torch.aos_to_soa": [lambda x: ft.aos_to_soa(x)],
    "torch.soa_to_aos": [lambda x: ft.soa_to_aos(x)],
    "torch.take_segments": [lambda x: ft.take_segments(x, [0, 1, 4], [1, 0])[0]],
    "torch.put": [lambda x: ft.put(zeros(x, 6, 8), ROWS, x), lambda x: ft.put(x, ROWS[:2], zeros(x, 2, 8))],
    "torch.add_at": [lambda x: ft.add_at(zeros(x, 6, 8), ROWS, x), lambda x: ft.add_at(x, ROWS, x)],
    "torch.dispatch": [lambda x: ft.dispatch(x, ROUTING)],
    "torch.combine": [lambda x: ft.combine(ft.dispatch(x, ROUTING), ROUTING, WEIGHTS)],
    "torch.take_columns": [lambda x: ft.take_columns([x, x * 2], ROWS)[1]],
    "torch.put_columns": [lambda x: ft.put_columns([zeros(x, 6, 8)], ROWS, [x])[0]],
    "torch.add_columns": [lambda x: ft.add_columns({"a": x}, ROWS, {"a": x})["a"]],
    "torch.take_blocks": [lambda x: ft.take_blocks([x], TABLE)[0]],
    "torch.put_blocks": [lambda x: ft.put_blocks([zeros(x)], TABLE, [x.reshape(2, 16)])[0]],
    "torch.network": [lambda x: ft.network(x, "wht", 0)],
    "torch.walsh_hadamard": [lambda x: ft.walsh_hadamard(x)],
    "torch.fft": [lambda x: torch.view_as_real(ft.fft(torch.complex(x, x)))],
    "torch.permute_negacyclic": [lambda x: ft.permute_negacyclic(x, -3)],
    "torch.permute_evaluations": [lambda x: ft.permute_evaluations(x, 3)],
}

# Those that may refuse, with their name: what is not linear, plans, and what reads a tensor's values.
OTHERS = {
    "take": [lambda x: faro.take(x, keys_of(x), 0)],
    "route": [lambda x: torch.as_tensor(faro.route(keys_of(x), 2).places) + 0 * x[0, 0]],
    "plan": [lambda x: faro.plan("transpose", x)(x)],
    "Plan": [lambda x: PLAN(x), lambda x: PLAN.inverse(PLAN(x))],
    "RowPlan": [lambda x: ROW_PLANS["take"](x), lambda x: ROW_PLANS["take"]([x])[0]],
    "plan_rows": [lambda x: faro.plan_rows("take", keys_of(x), 4)(x)],
    "sort": [lambda x: faro.sort(x), lambda x: faro.sort(x, None), lambda x: faro.sort(x[:, :5]), lambda x: faro.sort(x.to(torch.bfloat16))],
    "torch.sort": [lambda x: ft.sort(x), lambda x: ft.sort(x, None)],
    "shards.plan": [lambda x: faro.shards.plan("transpose", None, shape=(4, 8), itemsize=4)(x)],
    "shards.permute": [lambda x: faro.shards.permute(x, "transpose", None, shape=(4, 8))],
    "shards.ShardedPlan": [lambda x: SHARDED(x)],
    "shards.redistribute": [lambda x: faro.shards.redistribute(x, to="axis(0)", axes=(1, 0), source="axis(0)", shape=(4, 8))],
    "shards.run_all": [lambda x: faro.shards.run_all([SHARDED], [x])[0]],
    "route_rows": [lambda x: faro.route_rows(x, KEYS, 2)[0]],
    "permute_bits": [lambda x: faro.permute_bits(x, "roll(256, 8)", 4)],  # nibbles, by one number
    "family": [lambda x: faro.family((None, 8), (1, 0), itemsize=4)(x)],
    "quantize_blocks": [lambda x: faro.dequantize_blocks(*faro.quantize_blocks(x.reshape(1, 32), "mxfp8_e4m3"), "mxfp8_e4m3")],
}

# Those that write to a tensor of the caller's, here ``out``, and say its shape.
WRITES = {
    "permute_dims": [((8, 4), lambda x, out: faro.permute_dims(x, (1, 0), out=out)),
                     ((4, 8), lambda x, out: faro.permute_dims(out, (1, 0), in_place=True))],
    "transpose": [((8, 4), lambda x, out: faro.transpose(x, out=out)), ((4, 8), lambda x, out: faro.transpose(out, in_place=True))],
    "ascontiguousarray": [((8, 4), lambda x, out: faro.ascontiguousarray(x.T, out=out))],
    "astype": [((8, 4), lambda x, out: faro.astype(x, "float32", (1, 0), out=out))],
    "channels_first": [((8, 2, 2), lambda x, out: faro.channels_first(x.reshape(2, 2, 8), out=out))],
    "flip": [((4, 8), lambda x, out: faro.flip(x, 0, out=out)), ((4, 8), lambda x, out: faro.flip(x, 0, scale=2, out=out)), ((4, 8), lambda x, out: faro.flip(out, in_place=True)),
             ((8, 4), lambda x, out: faro.flip(x.T, 0, out=out)), ((4, 8), lambda x, out: faro.flip(x, 0, out=out[:, ::1])),
             ((4, 16), lambda x, out: faro.flip(x, 0, out=out[:, ::2]))],
    "roll": [((4, 8), lambda x, out: faro.roll(x, 1, out=out)), ((4, 8), lambda x, out: faro.roll(out, 1, in_place=True))],
    "permute": [((4, 8), lambda x, out: faro.permute(x, "gray", out=out)), ((4, 8), lambda x, out: faro.permute(x, MAP, out=out)),
                ((4, 8), lambda x, out: faro.permute(x, "reverse", axis=1, out=out)),
                ((4, 8), lambda x, out: faro.permute(out, "gray", in_place=True)),
                ((4, 8), lambda x, out: faro.permute(out, "reverse", axis=0, in_place=True))],
    "bit_reverse": [((4, 8), lambda x, out: faro.bit_reverse(x, out=out)), ((4, 8), lambda x, out: faro.bit_reverse(out, 1, in_place=True))],
    "permute_qubits": [((4, 8), lambda x, out: faro.permute_qubits(x, (2, 0, 1), out=out)),
                       ((4, 8), lambda x, out: faro.permute_qubits(out, (2, 0, 1), in_place=True))],
    "rearrange": [((8, 4), lambda x, out: faro.rearrange(x, "a b -> b a", out=out)),
                  ((4, 8), lambda x, out: faro.rearrange(out, "a b -> b a", in_place=True))],
    "aos_to_soa": [((8, 4), lambda x, out: faro.aos_to_soa(x, out=out)), ((4, 8), lambda x, out: faro.aos_to_soa(out, in_place=True))],
    "soa_to_aos": [((8, 4), lambda x, out: faro.soa_to_aos(x, out=out)), ((4, 8), lambda x, out: faro.soa_to_aos(out, in_place=True))],
    "take": [((4, 8), lambda x, out: faro.take(x, ROWS, 0, out=out)), ((4, 8), lambda x, out: faro.take(x, SOME, 0, fill="keep", out=out)),
             ((4, 8), lambda x, out: faro.take(x, ROWS, 0, inverse=True, out=out))],
    "take_segments": [((4, 8), lambda x, out: faro.take_segments(x, [0, 1, 4], [1, 0], out=out))],
    "put": [((4, 8), lambda x, out: faro.put(out, ROWS, x)), ((4, 16), lambda x, out: faro.put(out[:, ::2], ROWS, x))],
    "add_at": [((4, 8), lambda x, out: faro.add_at(out, ROWS, x)), ((4, 16), lambda x, out: faro.add_at(out[:, ::2], ROWS, x))],
    "dispatch": [((8, 8), lambda x, out: faro.dispatch(x, ROUTING, out=out))],
    "combine": [((4, 8), lambda x, out: faro.combine(faro.dispatch(x, ROUTING), ROUTING, out=out))],
    "take_columns": [((4, 8), lambda x, out: faro.take_columns([x], ROWS, out=[out]))],
    "put_columns": [((4, 8), lambda x, out: faro.put_columns({"a": out}, ROWS, {"a": x}))],
    "add_columns": [((4, 8), lambda x, out: faro.add_columns([out], ROWS, [x]))],
    "take_blocks": [((2, 16), lambda x, out: faro.take_blocks([x], TABLE, out=[out]))],
    "put_blocks": [((4, 8), lambda x, out: faro.put_blocks([out], TABLE, [x.reshape(2, 16)]))],
    "Plan": [((8, 4), lambda x, out: PLAN(x, out)), ((4, 8), lambda x, out: PLAN_IN_PLACE(out))],
    "RowPlan": [((4, 8), lambda x, out: ROW_PLANS["take"](x, out)), ((4, 8), lambda x, out: ROW_PLANS["put"](x, out)),
                ((4, 8), lambda x, out: ROW_PLANS["add"]([x], [out]))],
    "network": [((4, 8), lambda x, out: faro.network(x, "wht", out=out)), ((4, 8), lambda x, out: faro.network(x, "wht", 0, out=out))],
    "sort": [((4, 8), lambda x, out: faro.sort(x, out=out)), ((4, 5), lambda x, out: faro.sort(x[:, :5], out=out))],
    "walsh_hadamard": [((4, 8), lambda x, out: faro.walsh_hadamard(x, out=out))],
    "fft": [((4, 8, 2), lambda x, out: faro.fft(torch.complex(x, x), out=torch.view_as_complex(out)))],
    "permute_negacyclic": [((4, 8), lambda x, out: faro.permute_negacyclic(x, 3, out=out))],
    "permute_evaluations": [((4, 8), lambda x, out: faro.permute_evaluations(x, 3, out=out))],
    "shards.ShardedPlan": [((8, 4), lambda x, out: SHARDED(x, out))],
    "shards.run_all": [((8, 4), lambda x, out: faro.shards.run_all([SHARDED], [x], [out]))],
    "route_rows": [((8, 8), lambda x, out: faro.route_rows(x, KEYS, 2, out=out))],
    "permute_bits": [((32,), lambda x, out: faro.permute_bits(x, "roll(256, 8)", 4, out=out)),
                     ((4, 8), lambda x, out: faro.permute_bits(out, "gray(8)", 4, in_place=True))],
    "Family": [((8, 4), lambda x, out: faro.family((None, 8), (1, 0), itemsize=4)(x, out))],
    "group": [((8, 4), lambda x, out: faro.group([(x, (1, 0), out)]).run())],
    "move_cache": [((1, 2, 4, 1, 1, 4), lambda x, out: faro.move_cache(x.reshape(1, 2, 2, 2, 1, 4), out, [0, 1], [1, 0], **_CACHES))],
    "CacheMove": [((1, 2, 4, 1, 1, 4), lambda x, out: faro.plan_cache_move(x.reshape(1, 2, 2, 2, 1, 4), out, **_CACHES).run([[0, 1]], [[1, 0, 2, 3]]))],
}
TRIED_WITH = {"Group": "group", "plan_cache_move": "CacheMove", "dequantize_blocks": "quantize_blocks"}  # by whose calls

# Those that are given no tensor, or a DTensor alone.
WITHOUT_TENSORS = {
    "torch.permute_dims_sharded", "layout", "emit", "simulate", "synth", "Layout", "LayoutCandidate", "Emitted", "Simulation", "Synthesis",
    "clear_plans", "cuda_status", "keep_memory", "kept_memory", "maps", "shards", "sketch", "explain_network", "load_plan", "Routing",
    "shards.ShardPlan", "export_wisdom", "import_wisdom", "forget_wisdom", "distributions", "layout_convert", "layout_check", "Conversion",
    "IndexCheck", "transpose_bed", "cache_layouts", "checkpoint", "Checkpoint", "CheckpointTensor", "open", "relayout", "Store", "StoredArray",
    "Relayout",
}


def public_names():
    """What is exported, but exceptions, that may meet a tensor."""
    for module, before in ((faro, ""), (faro.shards, "shards."), (ft, "torch.")):
        for name in module.__all__:
            thing = getattr(module, name)
            if not (isinstance(thing, type) and issubclass(thing, BaseException)):
                yield before + name
