"""What gpu_shards_bench is measured against: torch's all_to_all_single with contiguous() on both sides.

    python3 torch_shards.py [--maps transpose,exchange20,...] [--log-bytes 33] [--rounds 7] [--ranks 2]
    python3 torch_shards.py --scaling both      with 1, 2, 4, ... GPUs, as many as there are

A process a GPU, by NCCL. Each map's result is checked against its formula, then the whole is timed, and the
all-to-all alone, by turns: medians in milliseconds, from the moment when all ranks begin. Maps that are no
permutation of axes are gathered by index tensors, which are made beforehand.
"""

import argparse
import os
import random
import statistics

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

from turns import in_turns


def hashed(x):
    """A word that tells an element from others."""
    return ((x * 2654435761 + 12345) & 0x7FFFFFFF).to(torch.int32)


def swap_of_bits(bit, count, m, rank, ranks):
    """The rank's lowest `count` bits, on top of m local ones, and local bits from `bit` on change places."""
    width, low = 1 << count, 1 << bit
    high = 1 << (m - count - bit)
    send = lambda x: x.view(high, width, low).permute(1, 0, 2).contiguous()
    receive = lambda x: x.view(width, high, low).permute(1, 0, 2).contiguous().view(-1)
    parts = [1 << (m - count) if peer >> count == rank >> count else 0 for peer in range(ranks)]

    def source(y):
        b, r = (y >> bit) & (width - 1), (y >> m) & (width - 1)
        return y ^ ((b ^ r) << bit) ^ ((b ^ r) << m)

    return send, receive, source, 1 << m, parts, parts


def transposed(rows, columns, rank, ranks):
    part, cut = rows // ranks, columns // ranks
    send = lambda x: x.view(part, ranks, cut).permute(1, 0, 2).contiguous()
    receive = lambda x: x.view(ranks, part, cut).permute(2, 0, 1).contiguous().view(-1)
    source = lambda y: (y % rows) * columns + y // rows
    return send, receive, source, part * columns


def by_indices(places, back, m, rank, ranks, device):
    """Any map: `places(x)` and its inverse, of ranks with 2^m elements each."""
    mine = torch.arange(1 << m, device=device, dtype=torch.int64) | (rank << m)
    to = places(mine) >> m
    order = torch.cat([torch.nonzero(to == peer).view(-1) for peer in range(ranks)])
    counts = [int((to == peer).sum()) for peer in range(ranks)]
    del mine, to
    # What arrives, in the order of each sender: where it belongs.
    arrived, received = [], []
    for peer in range(ranks):
        theirs = torch.arange(1 << m, device=device, dtype=torch.int64) | (peer << m)
        y = places(theirs)
        y = y[(y >> m) == rank] & ((1 << m) - 1)
        arrived.append(y)
        received.append(y.numel())
        del theirs
    where = torch.empty(1 << m, device=device, dtype=torch.int64)
    where[torch.cat(arrived)] = torch.arange(1 << m, device=device, dtype=torch.int64)
    del arrived
    send = lambda x: torch.index_select(x, 0, order)
    receive = lambda x: torch.index_select(x, 0, where)
    return send, receive, back, 1 << m, counts, received


def affine(columns, x):
    y = torch.zeros_like(x)
    for j, column in enumerate(columns):
        y ^= -((x >> j) & 1) & column
    return y


def random_matrix(n, seed):
    """Columns of an invertible matrix and of its inverse: random additions of rows, and their undoing."""
    choose = random.Random(seed)
    rows, back = [1 << i for i in range(n)], [1 << i for i in range(n)]
    steps = [tuple(choose.sample(range(n), 2)) for _ in range(8 * n)]
    for i, j in steps:
        rows[i] ^= rows[j]
    for i, j in reversed(steps):
        back[i] ^= back[j]
    transpose = lambda matrix: [sum(((row >> j) & 1) << i for i, row in enumerate(matrix)) for j in range(n)]
    return transpose(rows), transpose(back)


def make(name, log_bytes, rank, ranks, device):
    m = log_bytes - 2
    g = ranks.bit_length() - 1
    if ranks != 1 << g:
        raise ValueError(f"{ranks} ranks: 2^g are wanted")
    if name.startswith("exchange"):
        bit, count = {
            "exchange30": (m - 1, 1),
            "exchange20": (20, 1),
            "exchange8": (8, 1),
            "exchange20two": (20, 2),
            "exchange20all": (20, g),
        }[name]
        return swap_of_bits(bit, count, m, rank, ranks)
    if name == "transpose":
        return transposed(32768, 32768, rank, ranks)
    if name == "transpose64":
        return transposed(1 << ((m + g) // 2), 1 << (m + g - (m + g) // 2), rank, ranks)
    n = m + g
    if name == "reversal":
        columns = [1 << (n - 1 - j) for j in range(n)]
        places = lambda x: affine(columns, x)
        return by_indices(places, places, m, rank, ranks, device)
    if name == "bmmc":
        columns, back = random_matrix(n, 1)
        return by_indices(lambda x: affine(columns, x), lambda y: affine(back, y), m, rank, ranks, device)
    if name == "index":
        # A permutation without structure that needs no table: each half by turns x ^= f(the other half).
        half = n // 2
        low, high = (1 << half) - 1, (1 << (n - half)) - 1
        mix = lambda v, k: (v * (2654435761 + 2 * k) + 40503 * k) >> 9

        def there(x):
            a, b = x & low, x >> half
            for k in range(0, 4, 2):
                a = a ^ (mix(b, k) & low)
                b = b ^ (mix(a, k + 1) & high)
            return a | (b << half)

        def again(y):
            a, b = y & low, y >> half
            for k in (2, 0):
                b = b ^ (mix(a, k + 1) & high)
                a = a ^ (mix(b, k) & low)
            return a | (b << half)

        return by_indices(there, again, m, rank, ranks, device)
    raise ValueError(f"no map {name}")


def work(rank, ranks, options):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ["MASTER_PORT"] = str(options.port)
    torch.cuda.set_device(rank)
    device = torch.device("cuda", rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=device)
    for name in options.maps.split(","):
        made = make(name, options.log_bytes, rank, ranks, device)
        send, receive, source, count = made[:4]
        splits = made[4:] if len(made) > 4 else (None, None)
        first = rank * count
        x = hashed(torch.arange(first, first + count, device=device, dtype=torch.int64))

        def permuted():
            sent = send(x).view(-1)
            received = torch.empty(count, device=device, dtype=x.dtype)
            dist.all_to_all_single(received, sent, splits[1] and list(splits[1]), splits[0] and list(splits[0]))
            return receive(received)

        out = permuted()
        step = 1 << 26
        for begin in range(0, count, step):
            y = torch.arange(first + begin, first + min(begin + step, count), device=device, dtype=torch.int64)
            assert torch.equal(out[begin : begin + step], hashed(source(y))), f"{name}: wrong elements"
        del out
        sent = x.clone()
        received = torch.empty_like(x)

        def alone():
            dist.all_to_all_single(received, sent, splits[1] and list(splits[1]), splits[0] and list(splits[0]))

        times = in_turns({"whole": permuted, "all-to-all alone": alone}, options.rounds)
        if rank == 0:
            for what, each in times.items():
                print(
                    f"torch {name}, {ranks} GPUs, {count * 4 / 2**30:g} GiB a GPU, {what}: {statistics.median(each):.3f} ms "
                    f"({min(each):.3f} to {max(each):.3f})",
                    flush=True,
                )
        del x, sent, received, made, send, receive
        torch.cuda.empty_cache()
        dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maps", default="transpose,exchange30,exchange20,exchange8,exchange20all,transpose64")
    parser.add_argument("--log-bytes", type=int, default=33)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--port", type=int, default=29531)
    parser.add_argument("--ranks", type=int, default=0, help="GPUs; the default is all of the machine")
    parser.add_argument("--scaling", choices=["weak", "strong", "both"], help="with 1, 2, 4, ... of the GPUs")
    options = parser.parse_args()
    ranks = options.ranks or torch.cuda.device_count()
    if options.scaling is None:
        multiprocessing.spawn(work, args=(ranks, options), nprocs=ranks)
        return
    for scaling in ("weak", "strong"):
        if options.scaling not in (scaling, "both"):
            continue
        for g in range(ranks.bit_length()):
            each = argparse.Namespace(**vars(options))
            each.port += g + (16 if scaling == "strong" else 0)
            if scaling == "strong":
                each.log_bytes -= g
            if g == 0:  # one rank has no bit to exchange with
                each.maps = ",".join(name for name in options.maps.split(",") if not name.startswith("exchange"))
            print(f"{scaling} scaling, {1 << g} GPUs:", flush=True)
            multiprocessing.spawn(work, args=(1 << g, each), nprocs=1 << g)


if __name__ == "__main__":
    main()
