"""The Python package beside NumPy on the CPU: make bench-python.

    bench.py [--quick] [--only overhead|ttc|take]

Every row is verified, then timed in turns with NumPy's; the median of the samples is told. A row that loses stays.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time

import numpy as np

import faro

# The transposition suite of TTC (Springer, Su, Bientinesi): first extent fastest, output axis i is input axis perm[i].
TTC = """
1,0 7248x7248 43408x1216 1216x43408
0,2,1 368x384x384 2144x64x384 368x64x2307
1,0,2 384x384x355 2320x384x59 384x2320x59
2,1,0 384x355x384 2320x59x384 384x59x2320
0,3,2,1 80x96x75x96 464x16x75x96 80x16x75x582
2,1,3,0 96x75x96x75 608x12x96x75 96x12x608x75
2,0,3,1 96x75x96x75 608x12x96x75 96x12x608x75
1,0,3,2 96x96x75x75 608x96x12x75 96x608x12x75
3,2,1,0 96x75x75x96 608x12x75x96 96x12x75x608
0,4,2,1,3 32x48x28x28x48 176x8x28x28x48 32x8x28x28x298
3,2,1,4,0 48x28x28x48x28 352x4x28x48x28 48x4x28x352x28
2,0,4,1,3 48x28x48x28x28 352x4x48x28x28 48x4x352x28x28
1,3,0,4,2 48x48x28x28x28 352x48x4x28x28 48x352x4x28x28
4,3,2,1,0 48x28x28x28x48 352x4x28x28x48 48x4x28x28x352
0,3,2,5,4,1 16x32x15x32x15x15 48x10x15x32x15x15 16x10x15x103x15x15
3,2,0,5,1,4 32x15x15x32x15x15 112x5x15x32x15x15 32x5x15x112x15x15
2,0,4,1,5,3 32x15x32x15x15x15 112x5x32x15x15x15 32x5x112x15x15x15
3,2,5,1,0,4 32x15x15x32x15x15 112x5x15x32x15x15 32x5x15x112x15x15
5,4,3,2,1,0 32x15x15x15x15x32 112x5x15x15x15x32 32x5x15x15x15x112
"""


def in_turns(contestants, budget_s: float) -> list[float]:
    """Median seconds of a call of each, called in turns."""
    for call in contestants:
        call()
    samples: list[list[float]] = [[] for _ in contestants]
    end = time.perf_counter() + budget_s
    while len(samples[0]) < 3 or (time.perf_counter() < end and len(samples[0]) < 101):
        for k, call in enumerate(contestants):
            begin = time.perf_counter()
            made = call()
            samples[k].append(time.perf_counter() - begin)
            del made  # another's memory is not taken back in this one's time
    return [statistics.median(s) for s in samples]


def per_call(call, calls: int, rounds: int = 15) -> float:
    """Least mean seconds of a call in a loop: other programs only ever add time."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best


def overhead() -> None:
    print("\n## Overhead of a call, small arrays, cached plans: microseconds, the least of 15 means\n")
    print("| call | faro | NumPy | |")
    print("|---|---|---|---|")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    out = np.empty((4, 2, 3), np.float32)
    bits = np.arange(16, dtype=np.float32)
    index = np.array([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15])
    plan = faro.plan("axes(2 0 1)", x)
    rows = [
        ("permute_dims(x, (2, 0, 1)), x of 2 x 3 x 4", lambda: faro.permute_dims(x, (2, 0, 1)),
         "x.transpose(2, 0, 1).copy()", lambda: x.transpose(2, 0, 1).copy()),
        ("the same, out=", lambda: faro.permute_dims(x, (2, 0, 1), out=out),
         "numpy.copyto(out, x.transpose(2, 0, 1))", lambda: np.copyto(out, x.transpose(2, 0, 1))),
        ("flip(x)", lambda: faro.flip(x), "numpy.flip(x).copy()", lambda: np.flip(x).copy()),
        ("roll(x, 1, 0)", lambda: faro.roll(x, 1, 0), "numpy.roll(x, 1, 0)", lambda: np.roll(x, 1, 0)),
        ('permute(b, "bit_reversal"), 16 elements', lambda: faro.permute(bits, "bit_reversal"),
         "b[index]", lambda: bits[index]),
        ("plan(x)", lambda: plan(x), "x.transpose(2, 0, 1).copy()", lambda: x.transpose(2, 0, 1).copy()),
        ("take(b, index)", lambda: faro.take(bits, index), "numpy.take(b, index)", lambda: np.take(bits, index)),
    ]
    for name, ours, other, theirs in rows:
        print(f"| {name} | {per_call(ours, 5000) * 1e6:.2f} | {per_call(theirs, 5000) * 1e6:.2f} | {other} |")


def ttc(quick: bool) -> None:
    print("\n## TTC's 57 shapes, 4-byte elements, about 200 MiB each, the result a new array, and to out=\n")
    print("| order of the axes | shape | a new array: faro ms | NumPy ms | faster | out=: faro ms | GB/s | NumPy ms | faster |")
    print("|---|---|---|---|---|---|---|---|---|")
    speedups: list[list[float]] = [[], []]
    for line in TTC.split("\n"):
        if not line:
            continue
        perm, *shapes = line.split()
        for said in shapes[:1] if quick else shapes:
            p = [int(a) for a in perm.split(",")]
            shape = [int(e) for e in said.split("x")][::-1]
            d = len(p)
            order = tuple(d - 1 - p[d - 1 - j] for j in range(d))
            x = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
            out = np.empty([shape[a] for a in order], np.uint32)
            faro.permute_dims(x, order, out=out)
            assert (out == x.transpose(order)).all()
            made = faro.permute_dims(x, order)
            assert (made == out).all()
            del made
            fresh, copied, ours, theirs = in_turns(
                [lambda: faro.permute_dims(x, order), lambda: x.transpose(order).copy(),
                 lambda: faro.permute_dims(x, order, out=out), lambda: np.copyto(out, x.transpose(order))], 0.5 if quick else 3)
            speedups[0].append(copied / fresh)
            speedups[1].append(theirs / ours)
            print(f"| {order} | {'x'.join(map(str, shape))} | {fresh * 1e3:.1f} | {copied * 1e3:.1f} | {copied / fresh:.2f} "
                  f"| {ours * 1e3:.1f} | {2 * x.nbytes / ours / 1e9:.1f} | {theirs * 1e3:.1f} | {theirs / ours:.2f} |", flush=True)
    for what, of in zip(("new arrays", "out="), speedups):
        of.sort()
        print(f"\nFaster than NumPy, {what}: median {statistics.median(of):.2f}, worst {of[0]:.2f}, best {of[-1]:.2f} of {len(of)} shapes; "
              f"{sum(s < 1 for s in of)} losses.")


def take(quick: bool) -> None:
    count = 1 << (22 if quick else 26)
    print(f"\n## take of 2^{count.bit_length() - 1} random elements\n")
    print("| elements | index | faro ms | NumPy ms | faster |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for width in ("u4", "u8"):
        for kind in ("random repeats", "a permutation"):
            x = np.arange(count, dtype=width)
            index = rng.integers(0, count, count) if kind == "random repeats" else rng.permutation(count)
            index = index.astype(np.int64)
            out = np.empty(count, width)
            faro.take(x, index, out=out)
            assert (out == index.astype(width)).all()
            # NumPy as it is called; and in mode clip, in which it writes to out= without a buffer and checks no index.
            for said, mine, other in (
                ("a new array", lambda: faro.take(x, index), lambda: np.take(x, index)),
                ("out=", lambda: faro.take(x, index, out=out), lambda: np.take(x, index, out=out)),
                ("out=, NumPy in mode clip", lambda: faro.take(x, index, out=out), lambda: np.take(x, index, out=out, mode="clip")),
            ):
                ours, theirs = in_turns([mine, other], 1 if quick else 6)
                print(f"| {width} | {kind}, int64, {said} | {ours * 1e3:.0f} | {theirs * 1e3:.0f} | {theirs / ours:.2f} |", flush=True)
            if kind == "a permutation":
                begin = time.perf_counter()
                plan = faro.plan(faro.maps.from_indices(index, gather=True), x)
                made = time.perf_counter() - begin
                assert (plan(x, out=out) == index.astype(width)).all()
                ours, theirs = in_turns([lambda: plan(x, out=out), lambda: np.take(x, index, out=out)], 1 if quick else 6)
                print(f"| {width} | {kind}, its plan made in {made * 1e3:.0f} ms | {ours * 1e3:.0f} | {theirs * 1e3:.0f} "
                      f"| {theirs / ours:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["overhead", "ttc", "take"])
    options = parser.parse_args()
    with open("/proc/cpuinfo") as file:
        processor = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")
    print(f"# The Python package beside NumPy\n\n{processor}, {os.cpu_count()} processors; Python {platform.python_version()}, NumPy "
          f"{np.__version__}, faro {faro.__version__}, commit {os.environ.get('FARO_COMMIT', 'unknown')}. "
          f"`make bench-python ARGS='{' '.join(sys.argv[1:])}'`. Load when it began: {os.getloadavg()[0]:.1f}.")
    if options.only in (None, "overhead"):
        overhead()
    if options.only in (None, "ttc"):
        ttc(options.quick)
    if options.only in (None, "take"):
        take(options.quick)


if __name__ == "__main__":
    main()
