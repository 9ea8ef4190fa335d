"""permute_dims of small arrays on the CPU beside NumPy and PyTorch: small.py --help

Shapes are drawn: two to five axes, 4 KiB to 8 MiB, elements of 1 to 16 bytes, every kind of order. Every result is verified, then all
are called in turns, with a thread's processor time, so that the figures of a busy machine mean something. The result is a new array.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import faro

TYPES = {1: np.int8, 2: np.int16, 4: np.float32, 8: np.float64, 16: np.complex128}
LEAST_BYTES, MOST_BYTES = 4 << 10, 8 << 20


def draw(random_: random.Random, width: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape of LEAST_BYTES to MOST_BYTES and an order that moves something."""
    while True:
        rank = random_.randint(2, 5)
        count = LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** random_.random() / width
        parts = [0.1 + random_.random() for _ in range(rank)]
        step = random_.choice([1, 2, 8])
        shape = []
        for part in parts:
            extent = count ** (part / sum(parts))
            shape.append(max(2, round(extent) if extent < 2 * step else round(extent / step) * step))
        order = list(range(rank))
        random_.shuffle(order)
        if order != sorted(order) and LEAST_BYTES <= math.prod(shape) * width <= MOST_BYTES:
            return tuple(shape), tuple(order)


def in_turns(calls: list[Callable[[], Any]], budget_s: float) -> list[float]:
    """The median of each call's processor seconds, in turns; a sample is as many calls as take 100 us."""
    begin = time.perf_counter()
    for call in calls:
        call()
        call()
    loops = []
    for call in calls:
        at = time.thread_time_ns()
        call()
        loops.append(max(1, round(100_000 / max(1, time.thread_time_ns() - at))))
    samples: list[list[float]] = [[] for _ in calls]
    while len(samples[0]) < 5 or time.perf_counter() - begin < budget_s:
        for call, loop, sample in zip(calls, loops, samples):
            at = time.thread_time_ns()
            for _ in range(loop):
                call()
            sample.append((time.thread_time_ns() - at) / loop / 1e9)
    return [statistics.median(sample) for sample in samples]


def torch_call(x: np.ndarray, order: tuple[int, ...]) -> Callable[[], Any] | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    tensor = torch.from_numpy(x)
    return lambda: tensor.permute(order).contiguous()


def size_class(nbytes: int) -> str:
    return next(name for most, name in ((32 << 10, "to 32 KiB"), (1 << 20, "to 1 MiB"), (MOST_BYTES, "to 8 MiB")) if nbytes <= most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=200, help="of shapes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--widths", default="1,2,4,8,16", help="of elements, in bytes")
    parser.add_argument("--budget-ms", type=float, default=60, help="of a shape")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--worst", type=int, default=20, help="so many shapes are told, the worst first")
    options = parser.parse_args()
    widths = [int(width) for width in options.widths.split(",")]
    random_ = random.Random(options.seed)
    numpy_rows: dict[tuple[str, str], list[float]] = {}
    rows = []
    for number in range(options.number):
        width = widths[number % len(widths)]
        shape, order = draw(random_, width)
        x = (np.arange(math.prod(shape)) % 127).astype(TYPES[width]).reshape(shape)
        assert np.array_equal(faro.permute_dims(x, order), x.transpose(order)), (shape, order, width)
        calls: list[Callable[[], Any]] = [lambda: faro.permute_dims(x, order), lambda: np.ascontiguousarray(x.transpose(order))]
        torch_ = None if options.no_torch else torch_call(x, order)
        ours, *theirs = in_turns(calls + ([torch_] if torch_ else []), options.budget_ms / 1e3)
        rows.append((min(theirs) / ours, shape, order, width, ours, theirs))
        for key in ((f"{width} bytes", "all"), (f"{width} bytes", size_class(x.nbytes)), ("all", size_class(x.nbytes))):
            numpy_rows.setdefault(key, []).append(theirs[0] / ours)
    print("| elements | sizes | shapes | times NumPy: median | least |\n|---|---|---|---|---|")
    for (what, sizes), speedups in sorted(numpy_rows.items()):
        print(f"| {what} | {sizes} | {len(speedups)} | {statistics.median(speedups):.2f} | {min(speedups):.2f} |")
    slower = sum(row[0] < 1 for row in rows)
    print(f"\n{slower} of {len(rows)} shapes are slower than the faster of the others. The worst:\n")
    print("| times the faster | shape | order | bytes | KiB | faro us | NumPy us | PyTorch us |\n|---|---|---|---|---|---|---|---|")
    for ratio, shape, order, width, ours, theirs in sorted(rows)[:options.worst]:
        others = " | ".join(f"{each * 1e6:.1f}" for each in theirs) + (" | -" if len(theirs) == 1 else "")
        print(f"| {ratio:.2f} | {'x'.join(map(str, shape))} | {' '.join(map(str, order))} | {width} | {math.prod(shape) * width >> 10} "
              f"| {ours * 1e6:.1f} | {others} |")


if __name__ == "__main__":
    main()
