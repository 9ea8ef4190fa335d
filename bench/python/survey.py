"""Drawn calls of every function that moves, beside NumPy or PyTorch: survey.py --help

Tables of chosen shapes do not show whole kinds of calls in which another library is ahead; this does. Each call is verified, and both
libraries are timed by turns: the least of a few batches on a CPU, the median of a few between events on a GPU. `OMP_NUM_THREADS=1` for one thread.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import faro

Call = Callable[[], Any]
Shape = list[int]


class NumPy:
    """Arrays of the host, and its calls."""

    def __init__(self) -> None:
        import numpy as np

        self.np, self.sync = np, lambda: None
        self.types = [np.dtype(t) for t in ("u1", "?", "i2", "f2", "i4", "f4", "i8", "f8", "c8", "c16")]
        self.floats = [np.dtype(t) for t in ("f4", "f8")]
        self.narrow = np.dtype("f2")

    def array(self, shape: Shape, type_: Any) -> Any:
        return self.np.random.randint(0, 100, shape).astype(type_)

    def index(self, below: int, count: int, repeats: bool) -> Any:
        return self.np.random.randint(0, below, count) if repeats else self.np.random.permutation(below)[:count]

    def dense(self, x: Any) -> Any:
        return self.np.ascontiguousarray(x)

    def order(self, x: Any, axes: Shape) -> Any:
        return x.transpose(axes)

    def repeated(self, x: Any, axis: int, count: int) -> Any:
        shape = x.shape[:axis] + (count,) + x.shape[axis:]
        return self.np.broadcast_to(self.np.expand_dims(x, axis), shape)

    def flip(self, x: Any, axes: Any) -> Any:
        return self.dense(self.np.flip(x, axes))

    def roll(self, x: Any, shifts: Any, axes: Any) -> Any:
        return self.np.roll(x, shifts, axes)

    def take(self, x: Any, index: Any, axis: int) -> Any:
        return self.np.take(x, index, axis)

    def put(self, x: Any, index: Any, values: Any, axis: int) -> Any:
        x[(slice(None),) * axis + (index,)] = values
        return x

    def add_at(self, x: Any, index: Any, values: Any) -> Any:
        self.np.add.at(x, index, values)
        return x

    def astype(self, x: Any, type_: Any) -> Any:
        return x.astype(type_, order="C")

    def is_dense(self, x: Any) -> bool:
        return bool(x.flags.c_contiguous)

    def same(self, a: Any, b: Any) -> bool:
        return a.dtype == b.dtype and self.np.array_equal(a, b)

    def microseconds(self, calls: list[Call]) -> list[float]:
        loops = []
        for call in calls:
            call()
            begin = time.perf_counter()
            call()
            loops.append(max(1, min(200, int(2e-3 / max(time.perf_counter() - begin, 1e-7)))))
        least = [math.inf] * len(calls)
        for _ in range(5):
            for k, (call, loop) in enumerate(zip(calls, loops)):
                begin = time.perf_counter()
                for _ in range(loop):
                    call()
                least[k] = min(least[k], (time.perf_counter() - begin) / loop * 1e6)
        return least


class PyTorch:
    """Tensors of a device, and their calls."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, device
        self.types = [torch.uint8, torch.bool, torch.bfloat16, torch.float16, torch.int32, torch.float32, torch.int64, torch.float64, torch.complex64,
                      torch.complex128]
        self.floats = [torch.float32, torch.float64]
        self.narrow = torch.bfloat16

    def array(self, shape: Shape, type_: Any) -> Any:
        return self.torch.randint(0, 2 if type_ == self.torch.bool else 100, shape, device=self.device).to(type_)

    def index(self, below: int, count: int, repeats: bool) -> Any:
        if repeats:
            return self.torch.randint(0, below, (count,), device=self.device)
        return self.torch.randperm(below, device=self.device)[:count]

    def dense(self, x: Any) -> Any:
        return x.contiguous()

    def order(self, x: Any, axes: Shape) -> Any:
        return x.permute(axes)

    def repeated(self, x: Any, axis: int, count: int) -> Any:
        return x.unsqueeze(axis).expand(*x.shape[:axis], count, *x.shape[axis:])

    def flip(self, x: Any, axes: Any) -> Any:
        return self.torch.flip(x, axes)

    def roll(self, x: Any, shifts: Any, axes: Any) -> Any:
        return self.torch.roll(x, shifts, axes)

    def take(self, x: Any, index: Any, axis: int) -> Any:
        return self.torch.index_select(x, axis, index)

    def put(self, x: Any, index: Any, values: Any, axis: int) -> Any:
        return x.index_copy_(axis, index, values)

    def add_at(self, x: Any, index: Any, values: Any) -> Any:
        return x.index_add_(0, index, values)

    def astype(self, x: Any, type_: Any) -> Any:
        return x.to(type_, memory_format=self.torch.contiguous_format)

    def is_dense(self, x: Any) -> bool:
        return x.is_contiguous()

    def same(self, a: Any, b: Any) -> bool:
        return a.dtype == b.dtype and self.torch.equal(a, b)

    def microseconds(self, calls: list[Call]) -> list[float]:
        if self.device == "cpu":
            return NumPy.microseconds(self, calls)  # type: ignore[arg-type]
        samples: list[list[float]] = [[] for _ in calls]
        loops = 6
        for turn in range(5):
            for call, sample in zip(calls, samples):
                begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                for _ in range(loops):
                    call()
                end.record()
                end.synchronize()
                if turn > 1:
                    sample.append(begin.elapsed_time(end) / loops * 1e3)
        return [statistics.median(sample) for sample in samples]


class Drawn(NamedTuple):
    words: str
    ours: Call
    theirs: Call
    exact: bool = True


def shape_of(rank: int, count: float) -> Shape:
    """Extents of about so many elements: some long, some short, in two of five shapes powers of two."""
    while True:
        parts = [0.05 + random.random() ** 1.5 for _ in range(rank)]
        shape = [max(1, round(count ** (part / sum(parts)))) for part in parts]
        if random.random() < 0.4:
            shape = [2 ** round(math.log2(extent)) for extent in shape]
        if count / 3 < math.prod(shape) < count * 3 or count < 4:
            return shape


def cut(extent: int) -> slice:
    kind = random.random()
    return slice(None) if kind < 0.4 else slice(None, None, random.choice([2, 3, 4])) if kind < 0.75 else slice(extent // 4, extent - extent // 8)


def draw(kind: str, lib: Any, size: float) -> Drawn | None:
    type_ = random.choice(lib.types)
    width = lib.array([1], type_).itemsize
    rank, axes = random.randint(2, 5), [0]
    shape = shape_of(rank, size / width)
    if kind in ("take", "put", "take along the last", "put along the last", "add_at", "take converted"):
        rank, shape = 2, shape_of(2, size / width)
    if kind == "add_at" or kind.endswith("converted") or kind in ("scaled", "added to"):
        type_ = random.choice(lib.floats)
    x = lib.array(shape, type_)
    axes = random.sample(range(rank), rank)
    some = tuple(random.sample(range(rank), random.randint(1, rank)))
    said = f"{shape} of {type_}"
    if kind == "permute_dims":
        return None if axes == sorted(axes) else Drawn(f"{said}, {axes}", lambda: faro.permute_dims(x, axes), lambda: lib.dense(lib.order(x, axes)))
    if kind in ("views", "broadcasts"):
        cuts = tuple(cut(extent) for extent in shape)
        place, count = random.randint(0, rank), random.choice([2, 3, 8, 16])
        y = lib.order(x[cuts], axes if random.random() < 0.4 else sorted(axes)) if kind == "views" else lib.repeated(x, place, count)
        told = f"{[(c.start, c.stop, c.step) for c in cuts]}" if kind == "views" else f"{count} times at {place}"
        return None if lib.is_dense(y) or 0 in y.shape else Drawn(f"{said}, {told}", lambda: faro.ascontiguousarray(y), lambda: lib.dense(y))
    if kind == "flip":
        return Drawn(f"{said}, {some}", lambda: faro.flip(x, some), lambda: lib.flip(x, some))
    if kind == "roll":
        shifts = tuple(random.randint(-50, 50) for _ in some)
        return Drawn(f"{said}, {shifts} along {some}", lambda: faro.roll(x, shifts, some), lambda: lib.roll(x, shifts, some))
    if kind == "aos_to_soa":
        fields = random.choice([2, 3, 4, 5, 6, 7, 9, 12, 16, 24])
        y = lib.array([max(1, int(size / width / fields)), fields], type_)
        return Drawn(f"{list(y.shape)} of {type_}", lambda: faro.aos_to_soa(y), lambda: lib.dense(lib.order(y, [1, 0])))
    if kind in ("converted", "scaled", "added to"):
        moved = lib.order(x, axes)
        if kind == "converted":
            return Drawn(f"{said} to {lib.narrow}, {axes}", lambda: faro.astype(x, lib.narrow, axes), lambda: lib.astype(moved, lib.narrow))
        if kind == "scaled":
            return Drawn(f"{said}, {axes}", lambda: faro.permute_dims(x, axes, scale=2.0), lambda: lib.dense(moved * 2))
        other = lib.array(list(moved.shape), type_)
        return Drawn(f"{said}, {axes}", lambda: faro.permute_dims(x, axes, add=other), lambda: lib.dense(moved + other))
    axis = 1 if kind.endswith("last") else 0
    extent = shape[axis]
    count = random.choice([extent, extent // 2 + 1]) if kind.startswith("put") else random.choice([extent, extent // 2 + 1, 2 * extent])
    index = lib.index(extent, count, repeats=not kind.startswith("put"))
    said = f"{said}, {len(index)} along {axis}"
    if kind == "take converted":
        return Drawn(said, lambda: faro.take(x, index, axis, dtype=lib.narrow), lambda: lib.astype(lib.take(x, index, axis), lib.narrow))
    if kind.startswith("take"):
        return Drawn(said, lambda: faro.take(x, index, axis), lambda: lib.take(x, index, axis))
    values, theirs = lib.array([len(index) if a == axis else e for a, e in enumerate(shape)], type_), lib.array(shape, type_)
    theirs[...] = x
    if kind == "add_at":  # in another order, and each time it runs
        return Drawn(said, lambda: faro.add_at(x, index, values, 0), lambda: lib.add_at(theirs, index, values), exact=False)
    return Drawn(said, lambda: faro.put(x, index, values, axis), lambda: lib.put(theirs, index, values, axis))


KINDS = ["permute_dims", "views", "broadcasts", "flip", "roll", "aos_to_soa", "converted", "scaled", "added to", "take", "take along the last",
         "take converted", "put", "put along the last", "add_at"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["numpy", "torch"])
    parser.add_argument("--device", default="cpu", help="of torch: cpu or cuda")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=KINDS, choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--sizes", type=float, nargs="*", help="of arrays, in bytes; default 4e3 to 3e7 on the host, 3e6 to 6e7 on a GPU")
    parser.add_argument("--losses", type=int, default=40, help="calls that are listed, the slowest beside the other library first")
    given = parser.parse_args()
    random.seed(given.seed)
    lib = NumPy() if given.library == "numpy" else PyTorch(given.device)
    sizes = given.sizes or ([3e6, 2e7, 6e7, 6e7] if given.device == "cuda" else [4e3, 2e4, 1e5, 5e5, 2e6, 8e6, 3e7])
    seen: dict[str, list[tuple[float, str, float, float]]] = {kind: [] for kind in given.only}
    end = time.perf_counter() + given.seconds
    while time.perf_counter() < end:
        kind = random.choice(given.only)
        drawn = draw(kind, lib, random.choice(sizes))
        if drawn is None:
            continue
        if drawn.exact and not lib.same(drawn.ours(), drawn.theirs()):
            raise SystemExit(f"WRONG: {kind}, {drawn.words}")
        ours, theirs = lib.microseconds([drawn.ours, drawn.theirs])
        seen[kind].append((theirs / ours, drawn.words, ours, theirs))
    print(f"| calls | number | speed over {given.library}'s, median | tenth part | least | ahead |\n|---|---|---|---|---|---|")
    for kind, calls in seen.items():
        ratios = sorted(ratio for ratio, *_ in calls)
        if ratios:
            ahead = sum(ratio >= 1 for ratio in ratios) / len(ratios)
            print(f"| {kind} | {len(ratios)} | {statistics.median(ratios):.2f} | {ratios[len(ratios) // 10]:.2f} | {ratios[0]:.2f} | {ahead:.0%} |")
    print(f"\n| slowest beside {given.library} | arguments | faro, us | {given.library}, us | speed |\n|---|---|---|---|---|")
    for (ratio, words, ours, theirs), kind in sorted(((call, kind) for kind, calls in seen.items() for call in calls), key=lambda c: c[0][0])[: given.losses]:
        print(f"| {kind} | {words} | {ours:.1f} | {theirs:.1f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
