"""Paged caches, groups of arrays and tokens to experts on a GPU, beside PyTorch: a loop, torch._foreach_copy_ and torch.compile.

    caches.py [--layers N] [--tokens N] [--only caches|groups|tokens|overhead] [--cpu]

With --cpu on the cores of a CPU, caches and small groups, beside loops of PyTorch and of NumPy.

Every way is verified against the others, then timed in turns, each as a CUDA graph of its own where it can be captured (else by events
around the call); the median of the rounds is told, and its share of one copy of the same bytes. A row that loses stays.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import torch

import faro

ROUNDS = 9
CALLS = 10


def captured(call):
    """A graph of `call`, or `call` itself where it cannot be captured."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            call()
    except Exception as why:  # noqa: BLE001  # told, and timed without
        print(f"not captured: {str(why).splitlines()[0]}", file=sys.stderr)
        torch.cuda.synchronize()
        return call, "call"
    return graph.replay, "graph"


def microseconds(calls) -> list[float]:
    """Median of the rounds of each, called in turns, of several calls one after another."""
    samples: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            call()
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            samples[k].append(begin.elapsed_time(end) * 1e3 / CALLS)
    return [statistics.median(s) for s in samples]


def table(title: str, moved: int, ways, outs, check=True) -> None:
    """Ways by name, each of which writes `outs`; bytes that are written once."""
    print(f"\n## {title}\n\n| | us | of a copy | how |\n|---|---|---|---|")
    results, runs, hows = [], [], []
    for name, call in ways:
        for out in outs:
            out.view(torch.uint8).fill_(7) if out.is_contiguous() else out.fill_(7)
        call()
        torch.cuda.synchronize()
        results.append([out.clone() for out in outs] if check else [])
        for mine, first in zip(results[-1], results[0]):
            assert torch.equal(mine.view(torch.uint8), first.view(torch.uint8)), f"{title}: {name} differs from {ways[0][0]}"
        if len(results) > 1:
            results[-1] = []
        run, how = captured(call)
        runs.append(run)
        hows.append(how)
    source = torch.zeros(moved, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    copy, how = captured(lambda: target.copy_(source))
    *times, base = microseconds([*runs, copy])
    for (name, _), us, how in zip(ways, times, hows):
        print(f"| {name} | {us:.1f} | {base / us:.0%} | {how} |", flush=True)
    print(f"| one copy of {moved / 1e6:.1f} MB | {base:.1f} | 100% | {how} |", flush=True)


def caches(layers: int, tokens: int) -> None:
    heads, width = 8, 128
    blocks = tokens // 16 * 2
    torch.manual_seed(1)
    near = torch.randperm(blocks, device="cuda")[: tokens // 16].int()
    for to_tokens, dtype in ((16, torch.bfloat16), (64, torch.bfloat16), (64, torch.float8_e4m3fn)):
        src = [torch.randn(2, blocks, 16, heads, width, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]
        far_blocks = tokens // to_tokens
        dst = [torch.zeros(2, far_blocks * 2, heads, to_tokens, width, device="cuda", dtype=dtype) for _ in range(layers)]
        far = torch.randperm(far_blocks * 2, device="cuda")[:far_blocks].int()
        scale = 0.05 if dtype == torch.float8_e4m3fn else 1.0
        divisor = torch.tensor(scale, device="cuda")  # torch multiplies by the reciprocal of a number of the host's
        move = faro.plan_cache_move(src, dst, src_layout="layer kv block token head width", dst_layout="layer kv block head token width",
                                    dst_scale=scale)

        def one(x, y):
            rows = x[:, near].reshape(2, far_blocks, to_tokens, heads, width).transpose(2, 3)
            if scale == 1:
                y[:, far] = rows
            else:
                y.view(torch.uint8)[:, far] = (rows.float() / divisor).clamp(-448, 448).to(dtype).view(torch.uint8)

        def loop():
            for x, y in zip(src, dst):
                one(x, y)

        ways = [("faro.plan_cache_move", lambda: move.run(near, far)), ("faro.move_cache", lambda: faro.move_cache(
            src, dst, near, far, src_layout="layer kv block token head width", dst_layout="layer kv block head token width",
            dst_scale=scale))]
        try:
            loop()
            ways.append(("a loop of indexing and transpose", loop))
            compiled = torch.compile(one)
            compiled(src[0], dst[0])

            def compiled_loop():
                for x, y in zip(src, dst):
                    compiled(x, y)

            ways.append(("the same, compiled", compiled_loop))
        except Exception as why:  # noqa: BLE001  # told, and the others are timed
            print(f"\ntorch: {str(why).splitlines()[0]}")
        moved = layers * 2 * tokens * heads * width * (2 + dst[0].element_size()) // 2
        table(f"{layers} layers of K and V, {tokens} tokens x {heads} x {width}, bf16 NHD in 16 to {str(dtype)[6:]} HND in {to_tokens}", moved, ways,
              dst)


def groups(layers: int, tokens: int) -> None:
    torch.manual_seed(2)

    def measured(title, xs, orders):
        ys = [torch.empty([x.shape[a] for a in order], dtype=x.dtype, device="cuda") for x, order in zip(xs, orders)]
        group = faro.group(zip(xs, orders, ys))
        views = [x.permute(order) for x, order in zip(xs, orders)]

        def loop():
            for y, view in zip(ys, views):
                y.copy_(view)

        table(title, sum(x.numel() * x.element_size() for x in xs),
              [("faro.group, kept", group.run), ("a loop of copy_", loop), ("torch._foreach_copy_", lambda: torch._foreach_copy_(ys, views))], ys)
        print(f"\n{group.launches} launches of faro's.")

    measured(f"{2 * layers} arrays of {tokens} x 8 x 128, 2 bytes, NHD to HND",
             [torch.randn(tokens, 8, 128, device="cuda", dtype=torch.float16) for _ in range(2 * layers)], [(1, 0, 2)] * (2 * layers))
    drawn = torch.Generator().manual_seed(3)

    def shape(least, most):
        size = int(least * (most / least) ** float(torch.rand((), generator=drawn))) // 2
        rows = int(torch.randint(4, 65, (), generator=drawn))
        columns = int(torch.randint(4, 65, (), generator=drawn))
        return rows, columns, max(size // (rows * columns), 1)

    xs = [torch.randn(shape(4096, 4 << 20), device="cuda", dtype=torch.float16) for _ in range(1000)]
    measured("1000 arrays of 4 KiB to 4 MiB, drawn shapes", xs, [(1, 0, 2) if i % 2 else (2, 1, 0) for i in range(1000)])
    measured("1000 arrays of 1 KiB", [torch.randn(16, 32, device="cuda", dtype=torch.float16) for _ in range(1000)], [(1, 0)] * 1000)


def tokens_to_experts() -> None:
    torch.manual_seed(4)
    for tokens in (1, 8, 32, 128, 512, 4096):
        x = torch.randn(tokens, 7168, device="cuda", dtype=torch.bfloat16)
        scores = torch.rand(tokens, 256, device="cuda")
        keys = scores.topk(8, dim=1).indices.int()
        out = torch.empty(tokens * 8, 7168, device="cuda", dtype=torch.bfloat16)

        def by_torch():
            order = keys.reshape(-1).argsort(stable=True)
            torch.index_select(x, 0, order // 8, out=out)

        def in_two():
            faro.dispatch(x, faro.route(keys, 256), out=out)

        ways = [("faro.route_rows", lambda: faro.route_rows(x, keys, 256, out=out)), ("faro.route and faro.dispatch", in_two),
                ("torch: argsort and index_select", by_torch)]
        table(f"{tokens} tokens x 8 of 256 experts, rows of 7168 bf16", out.numel() * 2, ways, [out])


def overhead() -> None:
    print("\n## A call of a kept group or move: microseconds of the host, least of 15 means\n\n| call | us |\n|---|---|")

    def of(call, calls=200, rounds=15) -> float:
        best = float("inf")
        for _ in range(rounds):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            best = min(best, (time.perf_counter() - begin) / calls)
        return best * 1e6

    xs = [torch.randn(4, 8, device="cuda") for _ in range(100)]
    ys = [torch.empty(8, 4, device="cuda") for _ in xs]
    group = faro.group(zip(xs, [(1, 0)] * 100, ys))
    print(f"| group of 100 kept arrays: run() | {of(group.run):.2f} |")
    print(f"| the same, run(ins, outs) | {of(lambda: group.run(xs, ys)):.2f} |")
    move_heads = faro.family((None, 8, 128), (1, 0, 2), itemsize=2, engine="cuda")
    tokens = [torch.empty(n, 8, 128, device="cuda", dtype=torch.float16) for n in range(1, 201)]
    heads = [torch.empty(8, n, 128, device="cuda", dtype=torch.float16) for n in range(1, 201)]

    def each_shape():
        for x, y in zip(tokens, heads):
            move_heads(x, y)

    print(f"| family of tokens x 8 x 128, a new shape each call, out= given | {of(each_shape, 1) / len(tokens):.2f} |")
    print(f"| the same, a new result | {of(lambda: [move_heads(x) for x in tokens], 1) / len(tokens):.2f} |")
    caches_of = [torch.zeros(2, 8, 16, 2, 64, device="cuda", dtype=torch.float16) for _ in range(160)]
    move = faro.plan_cache_move(caches_of[:80], caches_of[80:], src_layout="vllm-flash-attention")
    near = torch.arange(2, device="cuda", dtype=torch.int32)
    print(f"| plan_cache_move of 80 layers: run() | {of(lambda: move.run(near, near)):.2f} |")
    print(f"| move_cache of 80 layers | {of(lambda: faro.move_cache(caches_of[:80], caches_of[80:], near, near, src_layout='vllm-flash-attention'), 20):.2f} |")


def caches_on_the_cpu(layers: int, tokens: int) -> None:
    import numpy as np

    def table_of(title: str, ways, same) -> None:
        """Ways by name; all write what the first one does."""
        print(f"\n## {title}\n\n| | ms, median (least - most) | of a copy |\n|---|---|---|")
        wanted = None
        for name, call in ways[:-1]:
            call()
            made = [np.array(x, copy=True) for x in same()]
            assert wanted is None or all(np.array_equal(x, y) for x, y in zip(made, wanted)), name
            wanted = made
        samples: list[list[float]] = [[] for _ in ways]
        for _ in range(ROUNDS):
            for k, (_, call) in enumerate(ways):
                begin = time.perf_counter()
                call()
                samples[k].append((time.perf_counter() - begin) * 1e3)
        base = statistics.median(samples[-1])
        for (name, _), each in zip(ways, samples):
            print(f"| {name} | {statistics.median(each):.2f} ({min(each):.2f} - {max(each):.2f}) | {base / statistics.median(each):.0%} |", flush=True)

    heads, width = 8, 128
    torch.manual_seed(1)
    blocks, far_blocks = tokens // 16, tokens // 64
    near, far = torch.randperm(blocks), torch.randperm(far_blocks)
    src = [torch.randn(2, blocks, 16, heads, width, dtype=torch.bfloat16) for _ in range(layers)]
    for dtype in (torch.bfloat16, torch.float8_e4m3fn):
        dst = [torch.zeros(2, far_blocks, heads, 64, width, dtype=dtype) for _ in range(layers)]
        scale = 0.05 if dtype == torch.float8_e4m3fn else 1.0
        move = faro.plan_cache_move(src, dst, src_layout="layer kv block token head width", dst_layout="layer kv block head token width",
                                    dst_scale=scale)

        def loop():
            for x, y in zip(src, dst):
                rows = x[:, near].reshape(2, far_blocks, 64, heads, width).transpose(2, 3)
                if scale == 1:
                    y[:, far] = rows
                else:
                    y.view(torch.uint8)[:, far] = (rows.float() / torch.tensor(scale)).clamp(-448, 448).to(dtype).view(torch.uint8)

        flat, copied = torch.randn(layers, 2 * tokens * heads * width).bfloat16(), torch.zeros(layers, 2 * tokens * heads * width).bfloat16()
        table_of(f"{layers} layers of K and V, {tokens} tokens x {heads} x {width}, bf16 NHD in 16 to {str(dtype)[6:]} HND in 64",
                 [("faro.plan_cache_move", lambda: move.run(near, far)), ("a loop of indexing and transpose, PyTorch", loop),
                  ("one copy of as much bf16", lambda: copied.copy_(flat))], lambda: [y.view(torch.uint8).numpy() for y in dst])


def groups_on_the_cpu() -> None:
    """Groups of small arrays and calls of a family, each call timed in turns with the library's own."""
    import numpy as np

    def timed(calls, times: int, rounds: int = 25) -> list[float]:
        samples: list[list[float]] = [[] for _ in calls]
        for call in calls:
            call()
        for _ in range(rounds):
            for k, call in enumerate(calls):
                begin = time.perf_counter()
                for _ in range(times):
                    call()
                samples[k].append((time.perf_counter() - begin) / times * 1e6)
        return [statistics.median(each) for each in samples]

    random = np.random.default_rng(1)
    drawn = [(tuple(random.integers(4, 17, 3).tolist()), tuple(random.permutation(3).tolist())) for _ in range(1000)]
    print("\n## Groups: microseconds, the median of 25 rounds\n\n| arrays | kept | kept, one thread | `run(ins, outs)` | a loop of "
          "`numpy.copyto(out, x.transpose(...))` | kept: times NumPy |\n|---|---|---|---|---|---|")
    for name, members, of in (("100 of 2x8x4, 4 bytes", [((2, 8, 4), (1, 0, 2))] * 100, "f4"), ("100 of 8x16, 8 bytes", [((8, 16), (1, 0))] * 100, "f8"),
                              ("1000 of 16x16, 1 KiB", [((16, 16), (1, 0))] * 1000, "f4"), ("1000 of 32x32, 4 KiB", [((32, 32), (1, 0))] * 1000, "f4"),
                              ("1000 of 8x16x8, 4 KiB", [((8, 16, 8), (2, 0, 1))] * 1000, "f4"),
                              ("1000 of three axes of 4 to 16, drawn", drawn, "f4"), ("1000 of 64x64, 16 KiB", [((64, 64), (1, 0))] * 1000, "f4")):
        xs = [random.standard_normal(shape).astype(of) for shape, _ in members]
        ys = [np.empty(tuple(shape[a] for a in order), of) for shape, order in members]
        kept = [(x, order, y) for x, (_, order), y in zip(xs, members, ys)]
        group, by_one = faro.group(kept), faro.group(kept, threads=1)

        def numpy_loop():
            for x, order, y in kept:
                np.copyto(y, x.transpose(order))

        group.run()
        assert all(np.array_equal(y, x.transpose(order)) for x, order, y in kept), name
        us = timed((group.run, by_one.run, lambda: group.run(xs, ys), numpy_loop), 200 if len(kept) == 100 else 5)
        print(f"| {name} | {' | '.join(f'{each:.1f}' for each in us)} | {us[3] / us[0]:.2f} |", flush=True)
    print("\n## A call: microseconds, the median of 25 rounds\n\n| arrays of 2 x n x 4 numbers of 4 bytes | a family, 64 n by turns | "
          "one n | `permute_dims`, one n | the library's own |\n|---|---|---|---|---|")
    family = faro.family((2, None, 4), (1, 0, 2), itemsize=4)
    for name, xs, own in (("NumPy", [np.ones((2, n, 4), "f4") for n in range(2, 66)], lambda x: x.transpose(1, 0, 2).copy()),
                          ("PyTorch", [torch.ones(2, n, 4) for n in range(2, 66)], lambda x: x.permute(1, 0, 2).contiguous())):
        same = [xs[3]] * 64
        us = timed([lambda call=call, of=of: [call(x) for x in of] for call, of in
                    ((family, xs), (family, same), (lambda x: faro.permute_dims(x, (1, 0, 2)), same), (own, same))], 20)
        print(f"| {name} | {' | '.join(f'{each / 64:.2f}' for each in us)} |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=80)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--only", choices=["caches", "groups", "tokens", "overhead"])
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        print(f"# Many arrays at once on a CPU\n\nPyTorch {torch.__version__}, {torch.get_num_threads()} threads, faro {faro.__version__}, commit "
              f"{os.environ.get('FARO_COMMIT', 'unknown')}. `bench/python/caches.py {' '.join(sys.argv[1:])}`")
        if options.only in (None, "caches"):
            caches_on_the_cpu(options.layers, options.tokens)
        if options.only in (None, "groups"):
            groups_on_the_cpu()
        return
    print(f"# Many arrays at once on a GPU\n\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, faro {faro.__version__}, commit "
          f"{os.environ.get('FARO_COMMIT', 'unknown')}. `bench/python/caches.py {' '.join(sys.argv[1:])}`")
    for name, part in (("overhead", overhead), ("tokens", tokens_to_experts), ("groups", lambda: groups(options.layers, options.tokens)),
                       ("caches", lambda: caches(options.layers, options.tokens))):
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    main()
