"""Checkpoints changed by rules, beside safetensors, NumPy and ml_dtypes, and the definitions of llama.cpp and Transformers."""

import json
import os
import random

import numpy as np
import pytest

import faro

safetensors = pytest.importorskip("safetensors")
st = pytest.importorskip("safetensors.numpy")
ml_dtypes = pytest.importorskip("ml_dtypes")

TYPES = {
    "float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "int32": np.int32,
    "uint8": np.uint8, "int8": np.int8, "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
}


def drawn(rng, shape, dtype):
    return np.asarray(rng.standard_normal(shape) * 20).astype(TYPES[dtype])


NAMES = {
    "F32": "float32", "F64": "float64", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U8": "uint8", "I8": "int8",
    "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}


def read_file(path):
    """By safetensors' own library; its arrays of NumPy have no 8-bit floats."""
    with open(path, "rb") as file:
        tensors = safetensors.deserialize(file.read())
    return {name: np.frombuffer(each["data"], TYPES[NAMES[each["dtype"]]]).reshape(each["shape"]) for name, each in tensors}


def loaded(path):
    """All tensors of a file or a folder."""
    path = os.fspath(path)
    if os.path.isfile(path):
        return read_file(path)
    index = os.path.join(path, "model.safetensors.index.json")
    if not os.path.exists(index):
        return read_file(os.path.join(path, "model.safetensors"))
    with open(index) as file:
        weights = json.load(file)["weight_map"]
    files = {name: read_file(os.path.join(path, name)) for name in set(weights.values())}
    assert sorted(weights) == sorted(name for each in files.values() for name in each)
    return {name: files[file][name] for name, file in weights.items()}


def same(got, want):
    assert sorted(got) == sorted(want)
    for name, array in want.items():
        assert got[name].dtype == array.dtype and got[name].shape == array.shape, name
        assert got[name].tobytes() == np.ascontiguousarray(array).tobytes(), name


def saved(folder, tensors, files=1):
    """In one file, or in several with their index."""
    if files == 1:
        st.save_file(tensors, folder / "in.safetensors", {"format": "pt"})
        return folder / "in.safetensors"
    os.mkdir(folder / "in")
    weights = {}
    for number in range(files):
        name = f"model-{number + 1:05}-of-{files:05}.safetensors"
        part = {key: tensors[key] for key in list(tensors)[number::files]}
        st.save_file(part, folder / "in" / name, {"format": "pt"})
        weights |= {key: name for key in part}
    index = {"metadata": {"total_size": 0, "of": "mine"}, "weight_map": weights}
    (folder / "in" / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder / "in"


@pytest.mark.parametrize("seed", range(12))
def test_drawn_rules_are_what_numpy_does(tmp_path, seed):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    tensors, want, rules = {}, {}, []
    for i in range(draw.randint(1, 8)):
        rank = draw.randint(0, 4)
        source, target = draw.choice(list(TYPES)), draw.choice(list(TYPES))
        array = tensors[f"h.{i}.w"] = drawn(rng, [draw.randint(0 if draw.random() < 0.1 else 1, 12) for _ in range(rank)], source)
        rule = {"match": f"h.{i}.w"}
        if rank > 1 and array.size and draw.random() < 0.7:
            axes = draw.sample(range(rank), rank)
            rule["map"] = f"axes({' '.join(map(str, axes))})"
            array = array.transpose(axes)
        both_float = not any(np.issubdtype(TYPES[each], np.integer) for each in (source, target))
        if both_float and draw.random() < 0.7:
            # Exact: scaled by a power of two in float32 or float64, then rounded once.
            rule |= {"dtype": target, "scale": 0.5, "saturate": False}
            wide = np.float64 if "float64" in (source, target) else np.float32
            array = (array.astype(wide) * wide(0.5)).astype(TYPES[target])
        name = f"h.{i}.w"
        if draw.random() < 0.5:
            name = rule["name"] = f"new.{i}"
        if len(rule) > 1:
            rules.append(rule)
        want[name] = array
    source = saved(tmp_path, tensors, draw.choice([1, 2, 3]))
    options = {"shard_size": draw.choice([None, 3000])}
    done = faro.checkpoint(rules, source, tmp_path / "out", memory=draw.choice([900, 5000, 1 << 20]), verify=True, **options)
    assert done.finished and done.verified and set(done.tensors) == set(want)
    same(loaded(tmp_path / "out"), want)
    index = tmp_path / "out" / "model.safetensors.index.json"
    if index.exists() and source.name == "in":
        metadata = json.loads(index.read_text())["metadata"]
        assert metadata == {"total_size": sum(each.nbytes for each in want.values()), "of": "mine"}


def test_values_along_an_axis_and_saturation(tmp_path):
    rng = np.random.default_rng(1)
    w = drawn(rng, (6, 5), "float32") * 100
    scale = [1.0, 2.0, 0.5, 4.0, -1.0]
    rules = [{"match": "w", "map": "transpose", "dtype": "float8_e4m3fn", "scale": scale, "along": 0, "saturate": True}]
    faro.checkpoint(rules, saved(tmp_path, {"w": w}), tmp_path / "out.safetensors", memory=200, verify=True)
    scaled = w.T * np.array(scale, "f4")[:, None]
    want = np.clip(scaled, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    same(loaded(tmp_path / "out.safetensors"), {"w": want})


def test_fused_projections_apart_and_together(tmp_path):
    rng = np.random.default_rng(2)
    heads, head, hidden = 4, 6, 10
    fused = drawn(rng, (heads * 3 * head, hidden), "bfloat16")
    part = {"shape": [heads * head, hidden]}
    rules = [{"match": "{p*}.qkv", "reshape": [heads, 3, head, -1], "split": {"axis": 1, "into": [
        {"name": "{p}.q", **part}, {"name": "{p}.k", **part}, {"name": "{p}.v", **part, "map": "axes(0 1 2 3)"}]}}]
    faro.checkpoint(rules, saved(tmp_path, {"a.b.qkv": fused}), tmp_path / "apart", memory=500, verify=True)
    q, k, v = (fused.reshape(heads, 3, head, hidden)[:, i].reshape(-1, hidden) for i in range(3))
    same(loaded(tmp_path / "apart"), {"a.b.q": q, "a.b.k": k, "a.b.v": v})
    # llama.cpp and vLLM have them one behind the other.
    rules = [{"join": ["{p*}.q", "{p*}.k", "{p*}.v"], "axis": 0, "name": "{p}.qkv"}]
    faro.checkpoint(rules, tmp_path / "apart", tmp_path / "one.safetensors", memory=500, verify=True)
    same(loaded(tmp_path / "one.safetensors"), {"a.b.qkv": np.concatenate([q, k, v])})


def permute(weights, n_head, n_head_kv):
    """LlamaModel.permute of llama.cpp's convert_hf_to_gguf.py."""
    if n_head_kv is not None and n_head != n_head_kv:
        n_head = n_head_kv
    return weights.reshape(n_head, 2, weights.shape[0] // n_head // 2, *weights.shape[1:]).swapaxes(1, 2).reshape(weights.shape)


def test_rotary_heads_as_llama_cpp_and_transformers_define_them(tmp_path):
    rng = np.random.default_rng(3)
    tensors = {"q": drawn(rng, (48, 20), "float16"), "k": drawn(rng, (24, 20), "float16"), "q.bias": drawn(rng, (48,), "float32")}
    rules = [{"match": ["q", "q.bias"], "rotary": {"heads": 6, "to": "interleaved"}},
             {"match": "k", "rotary": {"heads": 3, "to": "interleaved"}}]
    faro.checkpoint(rules, saved(tmp_path, tensors), tmp_path / "gguf", memory=600, verify=True)
    want = {"q": permute(tensors["q"], 6, 6), "k": permute(tensors["k"], 6, 3), "q.bias": permute(tensors["q.bias"], 6, None)}
    same(loaded(tmp_path / "gguf"), want)
    for rule in rules:
        rule["rotary"]["to"] = "halves"
    faro.checkpoint(rules, tmp_path / "gguf", tmp_path / "back", memory=600, verify=True)
    same(loaded(tmp_path / "back"), tensors)
    gguf = pytest.importorskip("transformers.modeling_gguf_pytorch_utils")
    back = gguf.LlamaTensorProcessor(config={})._reverse_permute_weights(want["k"], 6, 3)
    same({"k": back}, {"k": tensors["k"]})


def test_what_is_refused_leaves_nothing(tmp_path):
    source = saved(tmp_path, {"a": np.ones((6, 4), "f4"), "b": np.ones((6, 4), "f4")})
    for rules, match in (
        ([{"match": "c"}], "rule 1 of the checkpoint: got `c`, which match no tensor"),
        ([{"match": "{x}", "name": "same"}], "`same` for what becomes of `a` and of `b`"),
        ([{"match": "a", "nmae": "c"}], "did you mean `name`"),
        ([{"match": "a", "map": "axes(0 1 2)"}], "change `a`"),
        ([{"match": "a", "dtype": "float31"}], "float31"),
        ([{"match": "a", "rotary": {"heads": 4, "to": "halves"}}], "4 heads"),
        ([{"join": ["a", "c"], "name": "d"}], "no tensor `c` for `d`"),
        ([{"match": "a", "split": {"into": [{"name": "c", "size": 7}]}}], "parts of 7 along an axis of 6"),
    ):
        with pytest.raises(faro.FaroError, match=match):
            faro.checkpoint(rules, source, tmp_path / "out")
    with pytest.raises(faro.FaroValueError, match="no JSON"):
        faro.checkpoint([{"match": "a", "scale": float("nan")}], source, tmp_path / "out")
    assert os.listdir(tmp_path) == ["in.safetensors"]


def test_progress_explain_and_resume(tmp_path):
    rng = np.random.default_rng(4)
    tensors = {f"t{i}": drawn(rng, (50, 60), "float32") for i in range(8)}
    source = saved(tmp_path, tensors)
    rules = {"rules": [{"match": "{t}", "map": "transpose"}], "metadata": {"by": "faro", "format": None}}
    told = faro.checkpoint(rules, source, tmp_path / "out", memory=9000, explain=True)
    assert not told.finished and told.matched == (8,) and told.tensors["t3"].changes == "transpose" and told.memory_bytes <= 9000 + 3 * 4096
    (tmp_path / "rules.json").write_text(json.dumps(rules))
    seen = []
    faro.checkpoint(tmp_path / "rules.json", source, tmp_path / "out", memory=9000, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == told.read_bytes + told.written_bytes
    same(loaded(tmp_path / "out"), {name: each.T for name, each in tensors.items()})

    def stop(done, total):
        if done > total // 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        faro.checkpoint(rules, source, tmp_path / "again", memory=9000, progress=stop)
    assert not (tmp_path / "again").exists()
    done = faro.checkpoint(rules, source, tmp_path / "again", memory=9000, resume=True, verify=True)
    assert done.finished and done.resumed_tiles > 0
    same(loaded(tmp_path / "again"), {name: each.T for name, each in tensors.items()})
    assert sorted(os.listdir(tmp_path)) == ["again", "in.safetensors", "out", "rules.json"]
