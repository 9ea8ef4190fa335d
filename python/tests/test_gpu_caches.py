"""Paged caches, groups and rows that are routed at once on a GPU, beside PyTorch's own operations. Skipped without a GPU."""

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402

pytestmark = pytest.mark.skipif(not (torch.cuda.is_available() and faro.cuda_status()[0]), reason="no GPU")

VLLM, HND = "layer kv block token head width", "layer kv block head token width"


@pytest.mark.parametrize("to_tokens", [1, 16, 64])
@pytest.mark.parametrize("dtype, scale", [(torch.bfloat16, 1.0), (torch.float8_e4m3fn, 0.25), (torch.float32, 1.0)])
def test_caches_of_all_layers(to_tokens, dtype, scale):
    tokens, layers = 200, 5
    src = [torch.randn(2, 40, 16, 4, 64, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]
    blocks = -(-tokens // to_tokens)
    dst = torch.zeros(layers, 2, blocks + 3, 4, to_tokens, 64, device="cuda", dtype=dtype)
    near, far = torch.randperm(40, device="cuda")[:13].int(), torch.randperm(blocks + 3, device="cuda")[:blocks]
    assert faro.move_cache(src, dst, near, far, tokens=tokens, src_layout=VLLM, dst_layout=HND, dst_scale=scale, check=True) is dst
    for layer in range(layers):
        rows = src[layer][:, near.long()].reshape(2, -1, 4, 64)[:, :tokens].float() / torch.tensor(scale, device="cuda")
        got = dst[layer][:, far].transpose(2, 3).reshape(2, -1, 4, 64)
        assert torch.equal(got[:, :tokens].float(), rows.to(dtype).float()) and not got[:, tokens:].float().any()


def test_caches_in_a_graph_with_other_tables():
    src = [torch.randn(2, 20, 16, 2, 32, device="cuda", dtype=torch.float16) for _ in range(3)]
    pools = [[torch.zeros(320, 2, 32, device="cuda", dtype=torch.float16) for _ in range(3)] for _ in "kv"]
    move = faro.plan_cache_move(src, pools, src_layout="vllm-flash-attention", dst_layout="sglang-mha")
    table, slots = torch.zeros(2, 4, dtype=torch.int32, device="cuda"), torch.arange(128, device="cuda").reshape(2, 64)
    lengths = torch.tensor([64, 5], device="cuda", dtype=torch.int32)
    move.run(table, slots, lengths)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        move.run(table, slots, lengths)
    for _ in range(4):
        table.copy_(torch.randint(0, 20, (2, 4)))
        slots.copy_(torch.randperm(320)[:128].reshape(2, 64))
        lengths.copy_(torch.randint(0, 65, (2,)))
        wanted = [[x.clone() for x in pool] for pool in pools]
        for s, length in enumerate(lengths.tolist()):
            for layer in range(3):
                for kv in range(2):
                    wanted[kv][layer][slots[s, :length]] = src[layer][kv][table[s].long()].reshape(64, 2, 32)[:length]
        graph.replay()
        assert all(torch.equal(x, y) for pool, other in zip(pools, wanted) for x, y in zip(pool, other))


def test_wrong_blocks_are_left_out_and_told():
    src, dst = torch.ones(4, 2, 1, 8, device="cuda"), torch.zeros(4, 2, 1, 8, device="cuda")
    with pytest.raises(faro.FaroValueError, match="source's table that is no block, at position 1"):
        faro.move_cache(src, dst, torch.tensor([1, 4], device="cuda"), torch.tensor([0, 2], device="cuda"), check=True)
    assert dst[0].all() and not dst[1:].any()
    with pytest.raises(faro.FaroValueError, match="target's table that is no block, at position 0"):
        faro.move_cache(src, dst, torch.tensor([1], device="cuda"), torch.tensor([-1], device="cuda"), check=True)
    with pytest.raises(faro.FaroError):
        faro.move_cache(src, dst, [1], [2])


def test_groups():
    torch.manual_seed(1)
    members, wanted = [], []
    for i in range(200):
        shape = torch.randint(0 if i % 9 == 0 else 1, 40, (3,)).tolist()
        order = torch.randperm(3).tolist()
        x = torch.randint(0, 200, shape, device="cuda").to([torch.uint8, torch.bfloat16, torch.float32, torch.complex64][i % 4])
        members.append((x, order, torch.empty([shape[a] for a in order], dtype=x.dtype, device="cuda")))
        wanted.append(x.permute(order))
    for bits in range(9):
        x = torch.arange(1 << bits, device="cuda")
        members.append((x, f"bit_reversal({bits})", torch.empty_like(x)))
        wanted.append(faro.permute(x, f"bit_reversal({bits})"))
    group = faro.group(members)
    assert all(torch.equal(y, w) for y, w in zip(group.run(), wanted))
    assert group.launches < len(members) // 4, group.explain()
    ins, outs = [x + 1 for x, _, _ in members], [torch.empty_like(y) for _, _, y in members]
    group.run(ins, outs)
    again = faro.group([(x, how, torch.empty_like(y)) for x, (_, how, y) in zip(ins, members)]).run()
    assert all(torch.equal(y, w) for y, w in zip(outs, again))


def test_groups_of_other_arrays():
    xs = [torch.randn(30, 20 + i, device="cuda") for i in range(20)]
    outs = [torch.empty(20 + i, 30, device="cuda") for i in range(20)]
    group = faro.group([(x, (1, 0), out) for x, out in zip(xs, outs)])
    others, written = [x + 1 for x in xs], [torch.empty_like(out) for out in outs]
    versions = [out._version for out in written]
    assert group.run(others, written) == written and [out._version for out in written] == [v + 1 for v in versions]
    assert all(torch.equal(out, x.T) for x, out in zip(others, written))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert all(torch.equal(out, x.T) for x, out in zip(xs, group.run()))
    with pytest.raises(faro.FaroValueError, match="member 3"):
        group.run([*others[:3], others[3].T.contiguous().T, *others[4:]], written)
    with pytest.raises(faro.FaroError, match="member 0"):
        group.run([others[0].requires_grad_(), *others[1:]], written)


def test_families_into_given_outputs():
    move = faro.family((None, 8, 16), (1, 0, 2), itemsize=2, engine="cuda")
    for tokens in (0, 1, 5, 300):
        x, out = torch.randn(tokens, 8, 16, device="cuda").half(), torch.empty(8, tokens, 16, device="cuda").half()
        version = out._version
        assert move(x, out) is out and torch.equal(out, x.permute(1, 0, 2)) and out._version == version + 1
    strided = torch.randn(8, 5, 16, device="cuda").half().transpose(0, 1)
    assert torch.equal(move(strided, torch.empty(8, 5, 16, device="cuda").half()), strided.permute(1, 0, 2))
    memory = torch.zeros(2 * 5 * 128, device="cuda").half()
    for x, out in ((memory[:640].view(5, 8, 16), memory[100:740].view(8, 5, 16)),
                   (torch.zeros(5, 8, 16, device="cuda"), memory[:640].view(8, 5, 16)),
                   (torch.zeros(5, 8, 16, device="cuda").half(), memory[:640].view(5, 8, 16)),
                   (torch.zeros(5, 8, 17, device="cuda").half(), memory[:640].view(8, 5, 16))):
        with pytest.raises(faro.FaroError):
            move(x, out)


@pytest.mark.parametrize("tokens", [0, 1, 32, 128, 512, 700])
@pytest.mark.parametrize("multiple, width", [(1, 7168), (16, 512), (4, 3)])
def test_routed_and_sent_at_once(tokens, multiple, width):
    x = torch.randn(tokens, width, device="cuda", dtype=torch.bfloat16)
    keys = torch.rand(tokens, 256, device="cuda").topk(8, dim=1).indices
    sent, r = faro.route_rows(x, keys, 256, multiple=multiple, check=True)
    other = faro.route(keys, 256, multiple=multiple)
    host = faro.route(keys.cpu().numpy(), 256, multiple=multiple)
    assert torch.equal(r.places, other.places) and r.places.tolist() == host.places.tolist() and r.offsets.tolist() == host.offsets.tolist()
    assert r.rows[: len(host.rows)].tolist() == host.rows.tolist() and (r.rows[len(host.rows) :] == -1).all()
    assert torch.equal(sent, faro.take(x, r.rows, 0, fill=0))
    out = torch.empty_like(sent)
    assert faro.route_rows(x, keys, 256, multiple=multiple, out=out)[0] is out and torch.equal(out, sent)
    with pytest.raises(faro.FaroValueError, match="position"):
        faro.route_rows(torch.ones(1, 4, device="cuda"), torch.tensor([[256]], device="cuda"), 256, check=True)
