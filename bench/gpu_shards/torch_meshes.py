"""DTensor's redistribute beside faro.shards.redistribute of the same DTensors, by turns in one run, a process a GPU.

    python3 torch_meshes.py [--cases square,cube,...] [--rounds 7] [--ranks 2] [--out FILE] [--without-faro]

Each result is compared element by element with DTensor's, or with the formula where that has none, before anything is
timed: medians in milliseconds of a few calls that are queued together, from the moment when all ranks begin. GB/s: what a
rank sends to others.
"""

import argparse
import math
import os
import statistics

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

from turns import in_turns

# A layer's matrices of a model with 8 G parameters, four times.
WEIGHTS = [(4096, 4096), (1024, 4096), (1024, 4096), (4096, 4096), (14336, 4096), (14336, 4096), (4096, 14336)] * 4

# shape, or those of a list that goes in one call, dtype, placements before and after, order of the axes
CASES = {
    "square": ((32768, 32768), torch.float32, [Shard(0)], [Shard(1)], None),
    "cube": ((1024, 1024, 1024), torch.complex64, [Shard(0)], [Shard(1)], None),
    "uneven": ((10007, 10009), torch.float32, [Shard(0)], [Shard(1)], None),
    "gathered": ((32768, 32768), torch.float32, [Shard(0)], [Replicate()], None),
    "gathered1": ((32768, 32768), torch.float32, [Shard(1)], [Replicate()], None),
    "scattered": ((32768, 32768), torch.float32, [Replicate()], [Shard(1)], None),
    "transposed": ((32768, 32768), torch.float32, [Shard(0)], [Shard(0)], (1, 0)),
    "pencils": ((1024, 1024, 1024), torch.complex64, [Shard(0)], [Shard(1)], (1, 2, 0)),
    "weights": (WEIGHTS, torch.float32, [Shard(0)], [Replicate()], None),
}


def filled(shape, dtype, placements, mesh, rank, ranks):
    """A DTensor whose elements tell their places, made on each rank alone."""
    local = [range(extent) for extent in shape]
    for placement in placements:
        if isinstance(placement, Shard):
            extent, chunk = shape[placement.dim], -(-shape[placement.dim] // ranks)
            local[placement.dim] = range(min(extent, rank * chunk), min(extent, (rank + 1) * chunk))
    places = torch.zeros([len(each) for each in local], dtype=torch.int64, device="cuda")
    for axis, each in enumerate(local):
        weight = math.prod(shape[axis + 1 :])
        view = [1] * len(shape)
        view[axis] = -1
        places += (torch.arange(each.start, each.stop, device="cuda", dtype=torch.int64) * weight).view(view)
    places = (places * 2654435761 + 12345) & 0x3FFFFFFF
    part = (places.to(torch.float32) if dtype == torch.float32 else torch.complex(places.to(torch.float32), -places.to(torch.float32)))
    stride = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return DTensor.from_local(part, mesh, placements, run_check=False, shape=torch.Size(shape), stride=stride)


def by_dtensor(x, after, order):
    turned = x if order is None else x.permute(*order)
    made = turned.redistribute(placements=after)
    return made if made.to_local().is_contiguous() else DTensor.from_local(
        made.to_local().contiguous(), made.device_mesh, after, run_check=False, shape=made.shape, stride=made.stride())


def sent_share(before, after, order, ranks):
    """Of the whole array, what a rank sends to others."""
    if isinstance(before[0], Replicate):
        return 0.0
    if isinstance(after[0], Replicate):
        return (ranks - 1) / ranks
    axis = after[0].dim if order is None else order[after[0].dim]
    return 0.0 if axis == before[0].dim else (ranks - 1) / ranks**2


def work(rank, ranks, options):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ["MASTER_PORT"] = str(options.port)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    mesh = init_device_mesh("cuda", (ranks,))
    faro = None
    if not options.without_faro:
        import faro
    lines = []
    for name in options.cases.split(","):
        shape, dtype, before, after, order = CASES[name]
        shapes = shape if isinstance(shape, list) else [shape]
        xs = [filled(each, dtype, before, mesh, rank, ranks) for each in shapes]
        count = len(xs)
        ways = {"torch, DTensor.redistribute": lambda: [by_dtensor(x, after, order) for x in xs]}
        if faro is not None:
            ways["faro.shards.redistribute"] = (lambda: [faro.shards.redistribute(xs[0], to=after, axes=order)]) if count == 1 else (
                lambda: faro.shards.redistribute(xs, to=[after] * count, axes=[order] * count))
        wanted = ways["torch, DTensor.redistribute"]()
        for way, run in ways.items():
            for made, right in zip(run(), wanted, strict=True):
                assert made.shape == right.shape, f"{name}, {way}: shape {made.shape}"
                assert torch.equal(made.to_local(), right.to_local()), f"{name}, {way}: wrong elements"
            del made, right
        del wanted
        torch.cuda.empty_cache()
        times = in_turns(ways, options.rounds)
        all_bytes = sum(map(math.prod, shapes)) * torch.empty((), dtype=dtype).element_size()
        sent = all_bytes * sent_share(before, after, order, ranks)
        for way, each in times.items():
            middle = statistics.median(each)
            lines.append(f"| {name} | {ranks} | {way} | {middle:.3f} | {min(each):.3f} to {max(each):.3f} | {sent / middle / 1e6:.0f} | "
                         f"{statistics.median(times['torch, DTensor.redistribute']) / middle:.2f} |")
        if rank == 0:
            print("\n".join(lines[-len(times) :]), flush=True)
            if faro is not None and options.explain:
                for kept in list(faro._shard_ranks.of_groups.values()):
                    for plan in list(kept.plans.values())[-1:]:
                        print(f"  {plan.backend_reason} {kept.why}", flush=True)
        del xs
        torch.cuda.empty_cache()
        dist.barrier()
    if rank == 0 and options.out:
        with open(options.out, "w") as file:
            file.write(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}\n\n")
            file.write("| case | GPUs | by | ms | min to max | GB/s out of a GPU | of DTensor's time |\n|---|---|---|---|---|---|---|\n")
            file.write("\n".join(lines) + "\n")
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--port", type=int, default=29541)
    parser.add_argument("--ranks", type=int, default=0, help="GPUs; the default is all of the machine")
    parser.add_argument("--without-faro", action="store_true")
    parser.add_argument("--explain", action="store_true", help="how faro carries each out")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    ranks = options.ranks or torch.cuda.device_count()
    multiprocessing.spawn(work, args=(ranks, options), nprocs=ranks)


if __name__ == "__main__":
    main()
