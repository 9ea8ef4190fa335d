"""Ways of the same work, by turns on all ranks."""

import time

import torch
import torch.distributed as dist

_RUNS = 4  # queued together


def in_turns(ways, rounds):
    """Milliseconds of a run of each way, by round, from when all ranks begin until all are done."""
    times = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            run()
            torch.cuda.synchronize()
            dist.barrier()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(_RUNS):
                run()
            torch.cuda.synchronize()
            dist.barrier()
            times[way].append((time.perf_counter() - begin) * 1000 / _RUNS)
    return times
