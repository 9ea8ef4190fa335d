"""The Python package beside PyTorch, and CuPy where it is installed, on a GPU: make bench-python ARGS=--gpu.

    gpu.py [--bytes N] [--only axes|flips|rows|sums|overhead]

Every row is verified, then timed in turns with a plain copy of the same bytes and with the others', by events on one stream;
the median of the rounds is told, and its share of the copy. A row that loses stays.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import torch

import faro

ROUNDS = 7


def milliseconds(calls) -> list[float]:
    """Median of the rounds of each, called in turns."""
    for call in calls:
        call()
    samples: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            made = call()
            end.record()
            end.synchronize()
            del made
            samples[k].append(begin.elapsed_time(end))
    return [statistics.median(s) for s in samples]


class Table:
    def __init__(self, title: str):
        print(f"\n## {title}\n\n| | bytes an element | faro ms | of a copy | torch ms | of a copy | faster |\n|---|---|---|---|---|---|---|")
        self.faster: list[float] = []

    def row(self, name: str, x, ours, theirs, moved: int | None = None) -> None:
        try:
            got = ours()
        except faro.FaroUnsupportedError as refused:
            print(f"| {name} | {x.element_size()} | not taken: {refused.got} | | | | |", flush=True)
            return
        wanted = theirs()
        torch.cuda.synchronize()
        assert torch.equal(got, wanted), name
        del got, wanted
        source = torch.empty(moved or x.numel() * x.element_size(), dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        copy, mine, other = milliseconds([lambda: target.copy_(source), ours, theirs])
        self.faster.append(other / mine)
        print(f"| {name} | {x.element_size()} | {mine:.3f} | {copy / mine:.0%} | {other:.3f} | {copy / other:.0%} | {other / mine:.2f} |",
              flush=True)

    def end(self) -> None:
        if self.faster:
            print(f"\nFaster than PyTorch: median {statistics.median(self.faster):.2f}, worst {min(self.faster):.2f}, best "
                  f"{max(self.faster):.2f} of {len(self.faster)}; {sum(f < 0.97 for f in self.faster)} losses.")


def shapes(count: int, wanted: int) -> list[tuple[list[int], list[int]]]:
    """Shapes of 3 to 6 axes of about `count` elements, with an order of each."""
    picked = [
        ([1, 4, 3], [2, 1, 0]), ([1, 1, 1], [2, 0, 1]), ([3, 2, 1], [1, 0, 2]), ([1, 1, 1], [0, 2, 1]),
        ([2, 1, 1, 2], [3, 2, 1, 0]), ([4, 3, 2, 1], [0, 2, 1, 3]), ([1, 2, 3, 4], [2, 3, 0, 1]),
        ([1, 1, 1, 1, 1], [4, 3, 2, 1, 0]), ([3, 1, 2, 1, 2], [2, 0, 4, 1, 3]),
        ([1, 1, 1, 1, 1, 1], [5, 4, 3, 2, 1, 0]), ([2, 1, 2, 1, 2, 1], [3, 2, 0, 5, 1, 4]),
    ]
    made = []
    for ratios, order in picked[:wanted]:
        product = 1
        for r in ratios:
            product *= r
        side = (count / product) ** (1 / len(ratios))
        made.append(([max(1, round(side * r)) for r in ratios], order))
    return made


def filled(shape, dtype):
    count = 1
    for extent in shape:
        count *= extent
    x = torch.randint(0, 1 << 15, (count,), dtype=torch.int16, device="cuda")
    return x.to(dtype).reshape(shape)


def axes(size: int) -> None:
    table = Table("Permutations of axes, made contiguous")
    for width, dtype in ((2, torch.int16), (4, torch.int32)):
        for shape, order in shapes(size // width, 11):
            x = filled(shape, dtype)
            table.row(f"{'x'.join(map(str, shape))} -> {order}", x, lambda: faro.permute_dims(x, order),
                      lambda: x.permute(order).contiguous())
            del x
    table.end()


def flips(size: int) -> None:
    table = Table("Flips, rolls, bit reversal")
    for width, dtype in ((2, torch.int16), (4, torch.int32)):
        n = (size // width).bit_length() - 1
        x = filled([1 << n], dtype)
        square = x.reshape(1 << (n // 2), -1)
        table.row("flip of all", x, lambda: faro.flip(x), lambda: torch.flip(x, (0,)))
        table.row("flip of the last axis of a square", x, lambda: faro.flip(square, 1), lambda: torch.flip(square, (1,)))
        table.row("flip of the first axis of a square", x, lambda: faro.flip(square, 0), lambda: torch.flip(square, (0,)))
        table.row("roll of all by 12345", x, lambda: faro.roll(x, 12345), lambda: torch.roll(x, 12345))
        table.row("roll of the last axis by 17", x, lambda: faro.roll(square, 17, 1), lambda: torch.roll(square, 17, 1))
        places = torch.arange(1 << n, device="cuda", dtype=torch.int64)
        back = torch.zeros_like(places)
        for bit in range(n):
            back |= (places >> bit & 1) << (n - 1 - bit)
        del places
        table.row("bit reversal", x, lambda: faro.bit_reverse(x), lambda: x[back])
        del back, square
    table.end()


def rows(size: int) -> None:
    table = Table("Rows by random indices with repeats, int64")
    torch.manual_seed(1)
    for width in (16, 64, 512, 4096):
        count = size // width
        x = torch.randint(0, 1 << 30, (count, width // 4), dtype=torch.int32, device="cuda")
        index = torch.randint(0, count, (count,), device="cuda")
        table.row(f"{count} rows of {width} bytes", x, lambda: faro.take(x, index, 0), lambda: torch.index_select(x, 0, index))
        del x, index
    count = size // 4
    x = torch.randint(0, 1 << 30, (count,), dtype=torch.int32, device="cuda")
    index = torch.randperm(count, device="cuda")
    table.row(f"{count} elements of 4 bytes", x, lambda: faro.take(x, index, 0), lambda: torch.index_select(x, 0, index))
    try:
        plan = faro.plan(faro.maps.from_indices(index.cpu().numpy(), gather=True), x)
    except faro.FaroError as refused:
        print(f"| the same, a reused plan | 4 | not taken: {refused} | | | | |")
    else:
        table.row("the same, a permutation, by a reused plan", x, lambda: plan(x), lambda: torch.index_select(x, 0, index))
    table.end()


def sums(size: int) -> None:
    """Whole numbers, so that every order of additions gives the same bits and results can be compared."""
    table = Table("Numbers added by random indices, float32: in the order of the input, and by torch's index_add_ in any")
    torch.manual_seed(2)
    for count, targets in ((size // 4, size // 4), (size // 32, size // 2048)):
        values = torch.randint(0, 8, (count,), device="cuda").float()
        index = torch.randint(0, targets, (count,), device="cuda")
        mine, other = torch.zeros(targets, device="cuda"), torch.zeros(targets, device="cuda")
        table.row(f"{count} to {targets}", values, lambda: faro.add_at(mine.zero_(), index, values),
                  lambda: other.zero_().index_add_(0, index, values))
        del values, index, mine, other
    table.end()


def overhead() -> None:
    print("\n## A call, 24 elements, cached plans: microseconds, least of 15 means\n\n| call | faro | torch | |\n|---|---|---|---|")

    def of(call, calls=3000, rounds=15) -> float:
        best = float("inf")
        for _ in range(rounds):
            begin = time.perf_counter()
            for _ in range(calls):
                call()
            best = min(best, (time.perf_counter() - begin) / calls)
            torch.cuda.synchronize()
        return best * 1e6

    for device in ("cpu", "cuda"):
        x = torch.arange(24.0, device=device).reshape(2, 3, 4)
        plan = faro.plan("axes(2 0 1)", x)
        for name, ours in ((f"permute_dims(x, (2, 0, 1)), {device}", lambda: faro.permute_dims(x, (2, 0, 1))),
                           (f"plan(x), {device}", lambda: plan(x))):
            print(f"| {name} | {of(ours):.2f} | {of(lambda: x.permute(2, 0, 1).contiguous()):.2f} | x.permute(2, 0, 1).contiguous() |",
                  flush=True)
    index = torch.tensor([1, 0, 1], device="cuda")
    x = torch.arange(24.0, device="cuda").reshape(6, 4)
    print(f"| take(x, index, 0), cuda | {of(lambda: faro.take(x, index, 0)):.2f} | {of(lambda: torch.index_select(x, 0, index)):.2f} "
          "| torch.index_select |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=2 << 30)
    parser.add_argument("--only", choices=["axes", "flips", "rows", "sums", "overhead"])
    options = parser.parse_args()
    print(f"# The Python package beside PyTorch on a GPU\n\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, faro "
          f"{faro.__version__}, commit {os.environ.get('FARO_COMMIT', 'unknown')}, {options.bytes >> 20} MiB each. "
          f"`make bench-python ARGS='--gpu {' '.join(sys.argv[1:])}'`")
    for name, part in (("overhead", overhead), ("axes", lambda: axes(options.bytes)), ("flips", lambda: flips(options.bytes)),
                       ("rows", lambda: rows(options.bytes)), ("sums", lambda: sums(options.bytes))):
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    main()
