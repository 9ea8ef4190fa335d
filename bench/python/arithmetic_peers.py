"""PyTorch, eager and compiled, at the works of gpu_arithmetic_bench, and that program's own table beside them, in one run.

With a program TTC's shapes follow its table's, compiled alone; `--only TEXT` takes its rows that have the text, `--seconds` ends after so long.

    python3 bench/python/arithmetic_peers.py build-gpu/bench/gpu_arithmetic_bench --out page.md

Shares are of the floor: all bytes read and written at the rate of a copy on the device in the same rounds. Medians of nine rounds; what is
compiled is held against what is eager before it is timed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time

import torch

f16, f32, bf16, u8, f8 = torch.float16, torch.float32, torch.bfloat16, torch.uint8, torch.float8_e4m3fn
SIDE = 16384


def channels(axis: int, rank: int) -> torch.Tensor:
    return torch.tensor([0.125, 0.25, 0.5], device="cuda").reshape([3 if a == axis else 1 for a in range(rank)])


def to_planes(dtype):
    factors = channels(1, 4)
    return lambda x: (x.permute(0, 3, 1, 2) * factors + factors).to(dtype).contiguous()


def to_pixels(x):
    return (x.permute(0, 2, 3, 1) * channels(3, 4) + channels(3, 4)).to(u8).contiguous()


def turned(dtype, *order):
    return lambda x: x.to(dtype).permute(order).contiguous() if dtype.itemsize < x.dtype.itemsize else x.permute(order).contiguous().to(dtype)


def works():
    """By the bench's own names: what is done, of which inputs."""
    square, heads, reversed_ = (SIDE, SIDE), (16, 4096, 32, 128), (56, 56, 56, 32, 40)
    new = lambda shape, dtype: torch.rand(shape, device="cuda").add_(1).to(dtype)
    pixels = lambda: torch.randint(0, 256, (128, 1024, 1024, 3), dtype=u8, device="cuda")
    return [
        ("128 x 1024 x 1024 x 3 to channels first, scaled, offset", "u8 to f32", to_planes(f32), lambda: [pixels()]),
        ("the same", "u8 to f16", to_planes(f16), lambda: [pixels()]),
        ("back to channels last", "f32 to u8", to_pixels, lambda: [new((128, 3, 1024, 1024), f32)]),
        ("16384 x 16384 transposed", "f32 to bf16", turned(bf16, 1, 0), lambda: [new(square, f32)]),
        ("the same", "f32 to f16", turned(f16, 1, 0), lambda: [new(square, f32)]),
        ("the same", "f16 to f32", turned(f32, 1, 0), lambda: [new(square, f16)]),
        ("the same, scaled", "bf16 to f8_e4m3fn", lambda x: (x.t() * 0.5).to(f8).contiguous(), lambda: [new(square, bf16)]),
        ("2 A^T + 0.5 C, 16384 x 16384", "f32 to f32", lambda a, c: (2 * a.t() + 0.5 * c).contiguous(), lambda: [new(square, f32), new(square, f32)]),
        ("8192 x 16384 conjugate transposed", "c64 to c64", lambda x: x.t().conj().resolve_conj().contiguous(),
         lambda: [torch.complex(new((8192, SIDE), f32), new((8192, SIDE), f32))]),
        ("56 x 56 x 56 x 32 x 40 reversed", "f32 to f16", turned(f16, 4, 3, 2, 1, 0), lambda: [new(reversed_, f32)]),
        ("the same", "f16 to f32", turned(f32, 4, 3, 2, 1, 0), lambda: [new(reversed_, f16)]),
        ("16 x 4096 x 32 x 128, (0 2 1 3)", "f32 to bf16", turned(bf16, 0, 2, 1, 3), lambda: [new(heads, f32)]),
        ("16 x 4096 x 32 x 128, (0 2 3 1)", "f32 to bf16", turned(bf16, 0, 2, 3, 1), lambda: [new(heads, f32)]),
    ]


def suite(rows):
    """TTC's shapes among a table's rows: f32 to f16, or 2 x + 0.5 other."""
    for name, types in rows:
        found = re.fullmatch(r"TTC, (2 x \+ 0\.5 other, )?axes\(([\d ]+); ([\d ]+)\) of 4", name)
        if not found:
            continue
        shape, order = ([int(word) for word in found[i].split()] for i in (2, 3))
        yield (name, types, *of_suite(shape, order, adds=found[1] is not None))


def of_suite(shape, order, adds):
    new = lambda extents: torch.rand(extents, device="cuda").add_(1)
    if adds:
        return lambda a, c: (2 * a.permute(order) + 0.5 * c).contiguous(), lambda: [new(shape), new([shape[i] for i in order])]
    return turned(f16, *order), lambda: [new(shape)]


def milliseconds(work, calls: int) -> float:
    """Of one of as many calls, which follow as many that are not counted: a stream that is never idle."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(calls):
        work()
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def share(work, inputs: list[torch.Tensor], rounds: int) -> tuple[str, torch.Tensor | None]:
    """Of the floor in per cent, and the result; what PyTorch says where it cannot."""
    try:
        result = work(*inputs)
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 whatever a compiler says is a row of the table
        return type(error).__name__, None
    if not result.is_contiguous():
        return f"strides {result.stride()}", None
    half = sum(t.nbytes for t in (*inputs, result)) // 2
    source, target = (torch.empty(half, dtype=u8, device="cuda") for _ in range(2))
    calls = max(1, min(20, (1 << 30) // half))
    copies, times = [], []
    for _ in range(rounds):
        copies.append(milliseconds(lambda: target.copy_(source), calls))
        times.append(milliseconds(lambda: work(*inputs), calls))
    return f"{100 * median(copies) / median(times):.0f}", result


def own_shares(program: str, rounds: int, only: str) -> dict[tuple[str, str], str]:
    """The program's rows: work and types, and the share."""
    with tempfile.NamedTemporaryFile() as page:
        subprocess.run([program, "--rounds", str(rounds), "--only", only, "--out", page.name], check=True, stdout=subprocess.DEVNULL)
        rows = [line.split("|")[1:-1] for line in open(page.name, encoding="utf-8") if line.startswith("| ")]
    found, last = {}, ""
    for cells in ([cell.strip() for cell in row] for row in rows):
        if len(cells) == 5 and cells[4].endswith("%"):
            last = cells[0] if not cells[0].startswith("the same") else last
            found[last if cells[0] == "the same" else cells[0], cells[1]] = cells[4][:-1]
    return found


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("program", nargs="?", help="gpu_arithmetic_bench; without it PyTorch alone")
    words.add_argument("--out", default="")
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--only", default="", help="the program's rows that have this text, and theirs")
    words.add_argument("--seconds", type=float, default=1e9)
    given = words.parse_args()
    began = time.monotonic()
    own = own_shares(given.program, given.rounds, given.only) if given.program else {}
    lines = [f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}; `{' '.join(sys.argv)}`.", "",
             "| work | types | eager | compiled | faro |", "|---|---|---|---|---|"]
    last = ""
    for name, types, work, make in [*works(), *suite(own)]:
        last = name if not name.startswith("the same") else last
        if given.only not in f"{name} {types}" or time.monotonic() - began > given.seconds:
            continue
        torch._dynamo.reset()
        torch.manual_seed(1)
        inputs = make()
        eager, wanted = share(work, inputs, given.rounds) if not name.startswith("TTC") else ("-", work(*inputs))
        compiled, got = share(torch.compile(work, dynamic=False), inputs, given.rounds)
        if wanted is not None and got is not None and not torch.allclose(wanted.cfloat().abs(), got.cfloat().abs(), rtol=0.1):
            compiled += ", other numbers"
        lines.append(f"| {name} | {types} | {eager} | {compiled} | {own.get((last if name == 'the same' else name, types), '-')} |")
        print(lines[-1], flush=True)
        if given.out:
            with open(given.out, "w", encoding="utf-8") as page:
                page.write("\n".join(lines) + "\n")
        del inputs, wanted, got
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
