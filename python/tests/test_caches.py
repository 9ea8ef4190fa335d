"""Paged caches between drawn layouts, beside one loop over tokens in NumPy; and named layouts as their engines index them."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import faro

ml_dtypes = pytest.importorskip("ml_dtypes")


def cache_of(words, sizes, dtype, rng):
    """An array of the axes that words name, perhaps a view of a larger one, with numbers of its type."""
    shape = tuple(sizes[w] for w in words.split())
    wide = tuple(e + int(rng.integers(0, 2)) for e in shape)
    made = (rng.standard_normal(wide) * 3).astype(dtype)
    return made[tuple(slice(0, e) for e in shape)]


def place(cache, words, where):
    """The index of a head of a token of one layer's keys or values."""
    return tuple(where.get(w, slice(None)) for w in words.split())


LAYOUTS = ["layer kv block token head width", "kv layer block head token width", "layer block kv token head width", "block token layer kv head width",
           "block head width token kv layer"]


@given(st.data())
@settings(max_examples=60)
def test_drawn_layouts(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    layers, kinds, heads, width = (data.draw(st.integers(1, 3)) for _ in range(4))
    width *= data.draw(st.sampled_from([1, 4, 16]))
    tokens_of = [data.draw(st.integers(1, 9)) for _ in range(2)]
    sequences, most = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 20))
    tokens = [data.draw(st.integers(0, most)) for _ in range(sequences)]
    words = [data.draw(st.sampled_from(LAYOUTS)) for _ in range(2)]
    types = [data.draw(st.sampled_from(["f2", "f4", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])) for _ in range(2)]
    scales = data.draw(st.sampled_from([(1, 1), (0.5, 3.0)]))
    columns = [max(-(-most // t), 1) for t in tokens_of]
    blocks = [data.draw(st.integers(1, 9)), columns[1] * sequences + data.draw(st.integers(0, 3))]
    sizes = [dict(layer=layers, kv=kinds, block=b, token=t, head=heads, width=width) for b, t in zip(blocks, tokens_of)]
    src, dst = (cache_of(w, s, t, rng) for w, s, t in zip(words, sizes, types))
    tables = [rng.integers(0, blocks[0], (sequences, columns[0]), "i4"),
              rng.permutation(blocks[1])[: sequences * columns[1]].reshape(sequences, columns[1])]
    wanted = dst.copy()
    for s in range(sequences):
        for token in range(tokens[s]):
            for layer in range(layers):
                for kv in range(kinds):
                    at = [dict(layer=layer, kv=kv, block=table[s, token // t], token=token % t) for table, t in zip(tables, tokens_of)]
                    x = src[place(src, words[0], at[0])]
                    y = wanted[place(wanted, words[1], at[1])]
                    x, y = (v.T if w.split().index("head") > w.split().index("width") else v for v, w in zip((x, y), words))
                    if src.dtype != dst.dtype or scales[0] != scales[1]:
                        x = x.astype("f4") * np.float32(scales[0]) / np.float32(scales[1])
                        if dst.dtype.itemsize == 1:
                            most_of = float(ml_dtypes.finfo(dst.dtype).max)
                            x = np.clip(x, -most_of, most_of)
                    with np.errstate(over="ignore"):
                        y[...] = x.astype(dst.dtype)
    got = faro.move_cache(src, dst, tables[0], tables[1], tokens=tokens, src_layout=words[0], dst_layout=words[1],
                          src_scale=scales[0], dst_scale=scales[1], threads=data.draw(st.integers(0, 2)))
    assert got is dst
    assert np.array_equal(dst.astype("f4"), wanted.astype("f4"), equal_nan=True)


def test_blocks_of_16_and_64_and_back():
    rng = np.random.default_rng(1)
    src = rng.standard_normal((2, 3, 40, 16, 4, 32)).astype(ml_dtypes.bfloat16)  # layers, keys and values
    far = np.zeros((2, 3, 12, 4, 64, 32), src.dtype)
    back = np.zeros_like(src)
    near, there = rng.permutation(40)[:13], rng.permutation(12)[:4]
    words = "layer kv block token head width", "layer kv block head token width"
    faro.move_cache(src, far, near, there, tokens=200, src_layout=words[0], dst_layout=words[1])
    faro.move_cache(far, back, there, near, tokens=200, src_layout=words[1], dst_layout=words[0])
    for i, block in enumerate(near):
        upto = min(16, 200 - 16 * i)
        assert (back[:, :, block, :upto] == src[:, :, block, :upto]).all() and not back[:, :, block, upto:].any()
    assert not back[:, :, [b for b in range(40) if b not in near]].any()


def test_vllm_to_sglang_and_back():
    """vLLM's FlashAttention: (2, blocks, 16, heads, width) a layer; SGLang: a list of (slots, heads, width) of keys and one of values,
    whose slots its table names token by token."""
    rng = np.random.default_rng(2)
    vllm = [rng.standard_normal((2, 9, 16, 2, 8)).astype("f2") for _ in range(3)]
    keys, values = ([np.zeros((100, 2, 8), "f2") for _ in range(3)] for _ in range(2))
    table, slots = [4, 0, 7], rng.permutation(100)[:40]
    assert faro.move_cache(vllm, [keys, values], table, slots, src_layout="vllm-flash-attention", dst_layout="sglang-mha")[0] is keys
    for layer in range(3):
        for which, buffers in enumerate((keys, values)):
            assert (buffers[layer][slots] == vllm[layer][which][table].reshape(48, 2, 8)[:40]).all()  # k_buffer[layer][loc]
    back = [np.zeros_like(x) for x in vllm]
    faro.move_cache((keys, values), back, slots, table, src_layout="sglang-mha", dst_layout="vllm-flash-attention")
    assert all((b[:, table].reshape(2, 48, 2, 8)[:, :40] == x[:, table].reshape(2, 48, 2, 8)[:, :40]).all() for b, x in zip(back, vllm))
    # Pages of 4 slots.
    pages = rng.permutation(25)[:10]
    faro.move_cache(vllm, [keys, values], table, pages, tokens=39, src_layout="vllm-flash-attention", dst_layout="sglang-mha", dst_block_tokens=4)
    assert (values[1].reshape(25, 4, 2, 8)[pages].reshape(40, 2, 8)[:39] == vllm[1][1][table].reshape(48, 2, 8)[:39]).all()


def test_flashinfer_with_strides_of_hnd():
    """vLLM's tensors have the axes of NHD whatever lies in memory."""
    raw = np.arange(5 * 2 * 3 * 4 * 8, dtype="f4").reshape(5, 2, 3, 4, 8)  # blocks, kv, heads, tokens, width
    dst = np.zeros((1, 2, 5, 4, 3, 8), "f4")
    faro.move_cache([raw.transpose(0, 1, 3, 2, 4)], dst, [1, 4], [0, 2], src_layout="vllm-flashinfer", dst_layout="layer kv block token head width")
    assert (dst[0, 1, 2] == raw[4, 1].transpose(1, 0, 2)).all() and not dst[0, :, 1].any()


def test_paged_attention_cuts_heads():
    """vLLM's paged attention: keys (blocks, heads, width / x, tokens, x), values (blocks, heads, width, tokens)."""
    x = np.arange(4 * 16 * 2 * 32).reshape(4, 16, 2, 32).astype("f2")
    keys, values = np.zeros((6, 2, 4, 16, 8), "f2"), np.zeros((6, 2, 32, 16), "f2")
    faro.move_cache(x, keys, [3, 1], [0, 5], dst_layout="block head part token width")
    faro.move_cache(x, [values], [3, 1], [0, 5], tokens=20, dst_layout="vllm-paged-values")
    assert (keys[5] == x[1].reshape(16, 2, 4, 8).transpose(1, 2, 0, 3)).all()
    assert (values[0] == x[3].transpose(1, 2, 0)).all() and (values[5][:, :, :4] == x[1].transpose(1, 2, 0)[:, :, :4]).all()
    assert not values[5][:, :, 4:].any()


def test_lmcache_chunks():
    """LMCache's KV_2LTD: (2, layers, tokens, heads x width), a chunk of tokens without a table."""
    vllm = [np.random.default_rng(i).standard_normal((2, 5, 16, 2, 8)).astype("f4") for i in range(3)]
    chunk = np.zeros((2, 3, 40, 16), "f4")
    faro.move_cache(vllm, chunk, [4, 1, 2], [0], tokens=40, src_layout="vllm-flash-attention", dst_layout="lmcache-kv-2ltd")
    assert all((chunk[:, i] == x[:, [4, 1, 2]].reshape(2, 48, 16)[:, :40]).all() for i, x in enumerate(vllm))
    rows = [np.zeros((40, 2, 16), "f4") for _ in vllm]
    faro.move_cache(chunk, rows, [0], [0], src_layout="lmcache-kv-2ltd", dst_layout="lmcache-kv-t2d")
    assert all((r == chunk[:, i].transpose(1, 0, 2)).all() for i, r in enumerate(rows))


def test_mla_has_one_head():
    x = [np.random.default_rng(i).standard_normal((4, 16, 576)).astype(ml_dtypes.bfloat16) for i in range(2)]
    out = [np.zeros((64, 1, 576), ml_dtypes.bfloat16) for _ in x]
    faro.move_cache(x, out, [[2], [0]], [[0], [3]], tokens=[16, 5], src_layout="vllm-mla", dst_layout="sglang-mla", dst_block_tokens=16)
    assert (out[1][:16, 0] == x[1][2]).all() and (out[0][48:53, 0] == x[0][0][:5]).all() and not out[0][53:].any()


def test_bytes_that_stand_for_floats_and_scales_of_layers():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 2, 3, 4, 1, 8)).astype("f4")
    out = np.zeros((2, 2, 3, 4, 1, 8), "u1")
    scales = np.array([[0.5, 2.0], [0.01, 1.0]], "f4")
    words = "layer kv block token head width"
    faro.move_cache(x, out, [0, 1, 2], [2, 1, 0], src_layout=words, dst_dtype="float8_e4m3fn", dst_scale=scales)
    wanted = np.clip(x / scales[:, :, None, None, None, None], -448, 448).astype(ml_dtypes.float8_e4m3fn)
    assert (out[:, :, ::-1].view(ml_dtypes.float8_e4m3fn) == wanted).all()
    back = np.zeros_like(x)
    faro.move_cache(out, back, [2, 1, 0], [0, 1, 2], src_layout=words, src_dtype=ml_dtypes.float8_e4m3fn, src_scale=scales.tolist())
    assert (back == wanted.astype("f4") * scales[:, :, None, None, None, None]).all()
    per_kind = np.zeros_like(out)
    faro.move_cache(x, per_kind, [0], [0], src_layout=words, dst_dtype="float8_e4m3fn", dst_scale=[0.5, 2.0])
    assert (per_kind[0, :, 0] == out[0, :, 2]).all()


def test_a_kept_move_runs_with_many_tables():
    x, out = np.arange(6 * 2 * 1 * 2).reshape(6, 2, 1, 2), np.zeros((6, 2, 1, 2), int)
    move = faro.plan_cache_move(x, out)
    for block in range(6):
        assert move.run([block], [5 - block]) is out
    assert (out == x[::-1]).all() and "6 blocks of 2 tokens, NHD, i64" in move.explain()
    move.run([0], [1], 0)
    assert (out == x[::-1]).all()


def test_numbers_that_repeat():
    for axis in range(6):
        shape = [2, 2, 3, 4, 2, 5]
        shape[axis] = 1
        source = np.broadcast_to(np.arange(np.prod(shape), dtype="f4").reshape(shape) + 1, (2, 2, 3, 4, 2, 5))
        made = np.zeros((2, 2, 3, 2, 4, 5), "f4")

        def move():
            faro.move_cache(source, made, [[0, 1, 2]], [[1, 2, 0]], tokens=[12], src_layout="layer kv block token head width",
                            dst_layout="layer kv block head token width")

        if axis < 5:
            move()
            assert (made[:, :, [1, 2, 0]] == source.transpose(0, 1, 2, 4, 3, 5)).all()
            continue
        with pytest.raises(faro.FaroValueError, match="repeat along a head"):
            move()
        assert not made.any()


def test_refusals():
    x, out = np.zeros((4, 2, 1, 8), "f4"), np.ones((5, 4, 1, 8), "f4")
    kept = out.copy()

    def refused(part, *args, kind=faro.FaroValueError, **options):
        given = args or (x, out, [0, 1], [2])
        with pytest.raises(kind) as why:
            faro.move_cache(*given, **options)
        assert part in str(why.value) and "\n" not in str(why.value), str(why.value)
        assert (out == kept).all()

    refused("block 4 at position 1 of the source's table", x, out, [0, 4], [2])
    refused("block -1 at position 0 of the target's table", x, out, [0, 1], [-1])
    refused("block 2 twice in the target's table", x, out, [[0, 1], [2, 3]], [[2], [2]])
    refused("2 blocks of a sequence in the source's table", tokens=5)
    refused("3 numbers of tokens", tokens=[1, 2, 3])
    refused("9 tokens of sequence 0", tokens=[9])
    refused("rows for 1 sequences", x, out, [0], [[1], [2]])
    refused("layout with 'tokens'", src_layout="block tokens head width")
    refused("each axis once", src_layout="block block head width")
    refused("an axis of tokens", src_layout="block head width layer")
    refused("3 axes", x[0], out, [0], [1])
    refused("1 heads of 8 to 1 heads of 4", x, out[..., :4], [0], [1])
    refused("1 layers of 1 to 2 layers of 1", [x], [out, out.copy()], [0], [1], src_layout="layer block token head width")
    refused("f32 to i64", x, np.zeros((5, 4, 1, 8), int), [0], [1], kind=faro.FaroUnsupportedError)
    refused("a finite scale above 0", dst_scale=0)
    refused("dst_scale='a'", dst_scale="a")
    refused("indices of dtype float64", x, out, [0.5], [1], kind=faro.FaroTypeError)
    refused("one array as source and target", x, x, [0], [1])
    refused("layer or kv for each list", [x], [out], [0], [1], kind=faro.FaroTypeError)
    out.flags.writeable = False
    refused("read-only")
