#!/usr/bin/env python3
"""Conversions of register layouts beside Triton's and CUTLASS's own, in one run.

    layout_peers.py write FOLDER --faro build/faro                             # the kernels' sources
    layout_peers.py compile FOLDER --cutlass INCLUDE [--nvcc nvcc] [--jobs 2]  # no GPU is needed
    layout_peers.py run FOLDER [--page bench/results/NAME.md]                  # a GPU, triton, torch, cupy

Each pair of layouts is converted there and back, 512 times by each of 16 warps of a block, each warp by itself, and every
way is checked before it counts: the registers in the end are those of the second layout. Ways are

    faro registers, shared       what `faro layout convert --emit` writes, both directions; --cheapest chooses one of them
    padded rows                  rows of the tile with 16 bytes between them, the widest access that each side's rows allow
    CuTe                         copies of a fragment to a tile of shared memory and back: Swizzle<B, 4, 3> of bytes,
                                 B = 0 .. 3, the widest vectors, stmatrix and ldmatrix, with .trans too, where they fit;
                                 the quickest of them counts
    Triton                       convert_layout of Gluon, whose compiler chooses

Cycles are those of a multiprocessor for the conversion of one warp, half of there and back, the median of 7 runs.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
WARPS = 16
TURNS = 512

PAIRS = [
    ("mma.m16n8.C", "mma.m16n8k8.A", 32),
    ("mma.m16n8.C[16x16]", "mma.m16n8k8.A[16x16]", 32),
    ("mma.m16n8.C[16x16]", "mma.m16n8k16.A", 16),
    ("mma.m16n8.C[16x32]", "mma.m16n8k32.A", 8),
    ("mma.m16n8.C", "mma.m16n8k16.B", 16),
    ("mma.m16n8k16.A", "trans(mma.m16n8k16.A)", 16),
    ("ldmatrix.x2", "ldmatrix.x2.trans", 16),
    ("ldmatrix.x4", "ldmatrix.x4.trans", 16),
    ("mma.m16n8.C[16x16]", "trans(mma.m16n8.C)[16x16]", 16),
    ("mma.m16n8.C[16x16]", "blocked(1x4, 8x4, 1x1)[16x16]", 32),
    ("mma.m16n8.C[16x32]", "blocked(1x8, 8x4, 1x1)[16x32]", 16),
    ("mma.m16n8k16.A", "contiguous(8)", 16),
    ("mma.m16n8k32.A", "contiguous(16)", 8),
    ("strided(4)", "contiguous(4)", 32),
    ("strided(8)", "contiguous(8)", 32),
    ("strided(8)", "contiguous(8)", 16),
    ("strided(16)", "contiguous(16)", 8),
    ("strided(4)", "contiguous(4)", 64),
    ("blocked(1x4, 8x4, 1x1)", "blocked(4x1, 2x16, 1x1)", 16),
    ("tcgen05.16x256b.x1", "tcgen05.16x128b.x2", 32),
]


class Layout:
    """Bases of registers and lanes in an array of two axes, whose further axes are joined to the first."""

    def __init__(self, text):
        found = re.findall(r"(register|lane) = (\[(?:\[[^\]]*\](?:, )?)*\])", text)
        names = {name: json.loads(bases) for name, bases in found}
        bases = names["register"] + names["lane"]
        axes = len(bases[0])
        most = [max(b[a] for b in bases) * 2 for a in range(axes)]
        self.count = 1
        for m in most:
            self.count *= max(m, 1)
        numbers = {}
        for name, all_of in names.items():
            numbers[name] = []
            for basis in all_of:
                number = 0
                for size, x in zip(most, basis):
                    number = number * max(size, 1) + x
                numbers[name].append(number)
        self.registers, self.lanes = numbers["register"], numbers["lane"]  # elements, row-major
        self.columns = max(most[-1], 1) if axes > 1 else 0

    def element(self, register, lane):
        e = 0
        for bit, basis in enumerate(self.registers):
            e ^= basis if register >> bit & 1 else 0
        for bit, basis in enumerate(self.lanes):
            e ^= basis if lane >> bit & 1 else 0
        return e


class Pair:
    def __init__(self, texts, facts):
        self.source, self.target, self.bits = texts
        self.facts = facts  # of both directions, as `faro layout convert --json` tells them
        self.layouts = [Layout(self.facts[0][side]["linear"]) for side in ("from", "to")]
        self.columns = max(max(l.columns for l in self.layouts), 0) or self.layouts[0].count
        self.rows = self.layouts[0].count // self.columns
        self.words = self.facts[0]["registers"][0]
        self.bytes = self.bits // 8

    # --- padded rows

    def padded(self, name, a, b):
        run, wide = [], []
        for layout in (a, b):
            n = 0
            while self.bytes << n < 16 and n < len(layout.registers) and 1 << n < self.columns and layout.registers[n] == 1 << n:
                n += 1
            run.append(n)
        text = f"__device__ __forceinline__ void {name}(const uint32_t (&in)[{self.words}], uint32_t (&out)[{self.words}], uint32_t lane, char* shared) {{\n"
        for layout, n, is_store in ((a, run[0], True), (b, run[1], False)):
            at = "to" if is_store else "from"
            if not is_store:
                text += "  __syncwarp();\n#pragma unroll\n  for (uint32_t& word : out) word = 0;\n"
            sums = "".join(f" + (lane >> {j} & 1u) * {self.address(e)}u" for j, e in enumerate(layout.lanes))
            text += f"  char* const {at} = shared{sums};\n"
            for r in range(0, 1 << len(layout.registers), 1 << n):
                text += self.access(f"{at} + {self.address(layout.element(r, 0))}", r * self.bytes, self.bytes << n, is_store)
        return text + "  __syncwarp();\n}\n"

    def pitch(self):
        return self.columns * self.bytes + 16

    def address(self, element):
        return element // self.columns * self.pitch() + element % self.columns * self.bytes

    @staticmethod
    def access(where, byte, wide, is_store):
        word, shift = f"[{byte // 4}]", 8 * (byte % 4)
        if wide < 4:
            kind = "uint8_t" if wide == 1 else "uint16_t"
            memory = f"*reinterpret_cast<{kind}*>({where})"
            if is_store:
                return f"  {memory} = static_cast<{kind}>(in{word} >> {shift});\n"
            return f"  out{word} |= static_cast<uint32_t>({memory}) << {shift};\n"
        kind = f"uint{wide // 4}"
        places = [f"[{byte // 4 + i}]" for i in range(wide // 4)]
        if is_store:
            return f"  *reinterpret_cast<{kind}*>({where}) = make_{kind}({', '.join('in' + p for p in places)});\n"
        return f"  {{ const {kind} v = *reinterpret_cast<{kind}*>({where});" + "".join(f" out{p} = v.{'xyzw'[i]};" for i, p in enumerate(places)) + " }\n"

    # --- CuTe

    def cute_layout(self, layout):
        def number(e):  # the first axis fastest
            return e // self.columns + self.rows * (e % self.columns)

        def mode(elements):
            twos = ", ".join(["_2"] * len(elements))
            return f"Shape<{twos}>", f"Stride<{', '.join(f'Int<{number(e)}>' for e in elements)}>"

        lanes, values = mode(layout.lanes), mode(layout.registers)
        return f"Layout<Shape<{lanes[0]}, {values[0]}>, Stride<{lanes[1]}, {values[1]}>>"

    def matrices(self, layout):
        """Of ldmatrix and stmatrix: [(suffix, log2 of the number)] that may fit the layout; the compiler decides."""
        pairs = {1: 2, 2: 1, 4: 0, 8: -1}[self.bytes]
        most = len(layout.registers) - pairs
        if pairs < 0 or most < 0:
            return []
        count = min(most, 2)
        row = [self.columns << i for i in range(3)]
        column = [1 << i for i in range(pairs + 2)]
        ways = []
        if self.columns * self.bytes >= 16 and layout.registers[:pairs] == column[:pairs] and layout.lanes[:2] == column[pairs:]:
            ways.append(("N", count))
        if self.bytes == 2 and self.rows >= 8 and layout.registers[:1] == row[:1] and layout.lanes[:2] == row[1:]:
            ways.append(("T", count))
        return ways

    def cute_ways(self):
        """(name, store atom, load atom, B)"""
        stores, loads = [("vectors", "Vectors")], [("vectors", "Vectors")]
        for kind, log in self.matrices(self.layouts[0]):
            stores.append((f"stmatrix.x{1 << log}" + (".trans" if kind == "T" else ""),
                           {"N": ["SM90_U32x1_STSM_N", "SM90_U32x2_STSM_N", "SM90_U32x4_STSM_N"],
                            "T": ["SM90_U16x2_STSM_T", "SM90_U16x4_STSM_T", "SM90_U16x8_STSM_T"]}[kind][log]))
        for kind, log in self.matrices(self.layouts[1]):
            loads.append((f"ldmatrix.x{1 << log}" + (".trans" if kind == "T" else ""),
                          {"N": ["SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N"],
                           "T": ["SM75_U16x2_LDSM_T", "SM75_U16x4_LDSM_T", "SM75_U16x8_LDSM_T"]}[kind][log]))
        return [(s, l, b) for s in stores for l in loads for b in range(4)]

    def cute_source(self, ways):
        kind = f"uint{self.bits}_t"
        text = '#include "cute_ways.cuh"\nusing namespace cute;\n'
        for i, (store, load, b) in enumerate(ways):
            name = f"cute{i}"
            for way, (a, z), (s, l) in ((f"{name}_there", self.layouts, (store, load)),
                                        (f"{name}_back", self.layouts[::-1], (self.back(load, True), self.back(store, False)))):
                text += (f"__device__ __forceinline__ void {way}(const uint32_t (&in)[{self.words}], uint32_t (&out)[{self.words}], uint32_t lane, char* shared) {{\n"
                         f"  ways::convert<{kind}, {self.rows}, {self.columns}, {b}, {self.cute_layout(a)}, {self.atom(s)}, {self.cute_layout(z)}, {self.atom(l)}>(in, out, lane, shared);\n}}\n")
            text += timed(name, self.words, self.layouts[0].count * self.bytes)
        return text

    @staticmethod
    def atom(way):
        return "ways::Vectors" if way[1] == "Vectors" else way[1]

    @staticmethod
    def back(way, is_store):
        """A load's way for the store of the way back, and the other way round: the same matrices."""
        if way[1] == "Vectors":
            return way
        atom = way[1].replace("SM75", "SM90").replace("LDSM", "STSM") if is_store else way[1].replace("SM90", "SM75").replace("STSM", "LDSM")
        return way[0], atom


def timed(name, words, shared_bytes):
    """A kernel of one block that converts there and back, and gives the second layout in the end."""
    call = "lane" if shared_bytes == 0 else "lane, mine"
    memory = ""
    if shared_bytes:
        memory = (f"  __shared__ __align__(1024) char shared[{WARPS * shared_bytes}];\n"
                  f"  char* const mine = shared + threadIdx.x / 32 * {shared_bytes};\n")
    return f"""extern "C" __global__ void __launch_bounds__({32 * WARPS}) time_{name}(const uint32_t* from, uint32_t* to, long long* cycles, int turns) {{
  const uint32_t lane = threadIdx.x % 32;
{memory}  uint32_t x[{words}], y[{words}];
#pragma unroll
  for (int i = 0; i < {words}; ++i) x[i] = from[{words} * threadIdx.x + i];
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {{
#pragma unroll
    for (int i = 0; i < {words}; ++i) asm volatile("" : "+r"(x[i]));
    {name}_there(x, y, {call});
#pragma unroll
    for (int i = 0; i < {words}; ++i) asm volatile("" : "+r"(y[i]));
    {name}_back(y, x, {call});
  }}
  __syncthreads();
  const long long end = clock64();
  {name}_there(x, y, {call});
  if (threadIdx.x == 0) *cycles = end - begin;
#pragma unroll
  for (int i = 0; i < {words}; ++i) to[{words} * threadIdx.x + i] = y[i];
}}
"""


def write(arguments):
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    entries = []

    def faro(source, target, bits, *options):
        command = [arguments.faro, "layout", "convert", source, target, "--element", str(bits), *options]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    for number, texts in enumerate(PAIRS):
        source, target, bits = texts
        pair = Pair(texts, [json.loads(faro(*ends, bits, "--json")) for ends in ((source, target), (target, source))])
        text = "#include <cstdint>\n"
        for way, flags in (("registers", ()), ("shared", ("--shared",))):
            for name, ends in (("there", (pair.source, pair.target)), ("back", (pair.target, pair.source))):
                header = folder / f"pair{number}_{way}_{name}.cuh"
                faro(*ends, pair.bits, "--emit", str(header), "--name", f"{way}_{name}", *flags)
                text += f'#include "{header.name}"\n'
        text += pair.padded("padded_there", *pair.layouts) + pair.padded("padded_back", *pair.layouts[::-1])
        text += timed("registers", pair.words, 0)
        text += timed("shared", pair.words, max(f["shared"]["bytes"] for f in pair.facts))
        text += timed("padded", pair.words, pair.rows * pair.pitch())
        (folder / f"pair{number}.cu").write_text(text)
        groups = {}
        for way in pair.cute_ways():
            groups.setdefault(way[:2], []).append(way)
        cute = []
        for g, group in enumerate(groups.values()):
            (folder / f"pair{number}_cute{g}.cu").write_text(pair.cute_source(group))
            cute += [(f"pair{number}_cute{g}", f"time_cute{i}", f"{s[0]}, {l[0]}, B = {b}") for i, (s, l, b) in enumerate(group)]
        entries.append({"pair": texts, "facts": pair.facts, "cute": cute})
    (folder / "pairs.json").write_text(json.dumps(entries))


def compile_all(arguments):
    folder = pathlib.Path(arguments.folder)

    def one(source):
        command = [arguments.nvcc, "-cubin", "-arch=sm_90", "-std=c++17", "-O3", "--expt-relaxed-constexpr", "-o",
                   str(source.with_suffix(".cubin")), str(source), f"-I{folder}", f"-I{HERE}", f"-I{arguments.cutlass}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode and "_cute" not in source.name:
            sys.exit(f"{source}: {done.stderr}")
        return source.name, done.returncode == 0

    with ThreadPoolExecutor(arguments.jobs) as pool:
        sources = sorted(folder.glob("pair*.cu"), key=lambda s: -s.stat().st_size)
        refused = [name for name, is_done in pool.map(one, sources) if not is_done]
    print("CuTe refuses:", *refused)


TRITON = '''
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def clock():
    return gl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=gl.int64, is_pure=False, pack=1)

@gluon.jit
def opaque(x, ASM: gl.constexpr, KIND: gl.constexpr, PACK: gl.constexpr):
    return gl.inline_asm_elementwise(ASM, KIND, [x], dtype=x.dtype, is_pure=False, pack=PACK)

@gluon.jit
def timed(source, target, cycles, turns, A: gl.constexpr, B: gl.constexpr, M: gl.constexpr, N: gl.constexpr,
          ASM: gl.constexpr, KIND: gl.constexpr, PACK: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, A))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, A))
    x = gl.load(source + rows[:, None] * N + columns[None, :])
    gl.thread_barrier()
    begin = clock()
    for turn in range(turns):
        y = gl.convert_layout(opaque(x, ASM, KIND, PACK), B)
        x = gl.convert_layout(opaque(y, ASM, KIND, PACK), A)
    gl.thread_barrier()
    end = clock()
    y = gl.convert_layout(opaque(x, ASM, KIND, PACK), B)
    rows_b = gl.arange(0, M, layout=gl.SliceLayout(1, B))
    columns_b = gl.arange(0, N, layout=gl.SliceLayout(0, B))
    gl.store(target + rows_b[:, None] * N + columns_b[None, :], y)
    gl.store(cycles, end - begin)
'''


def triton_arguments(pair, gl):
    warps = [[pair.rows << i, 0] for i in range(WARPS.bit_length() - 1)]

    def bases(elements):
        return [[e // pair.columns, e % pair.columns] for e in elements]

    layouts = [gl.DistributedLinearLayout(reg_bases=bases(l.registers), lane_bases=bases(l.lanes), warp_bases=warps, block_bases=[],
                                          shape=[WARPS * pair.rows, pair.columns]) for l in pair.layouts]
    word = 64 if pair.bits == 64 else 32
    return {"A": layouts[0], "B": layouts[1], "M": WARPS * pair.rows, "N": pair.columns, "ASM": f"mov.b{word} $0, $1;",
            "KIND": "=l,l" if word == 64 else "=r,r", "PACK": word // pair.bits}


def triton_module(folder):
    import importlib.util

    path = folder / "triton_ways.py"
    path.write_text(TRITON)
    spec = importlib.util.spec_from_file_location("triton_ways", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def held(pair, layout, elements):
    """Words of the registers of all warps: (warp, lane, word)."""
    import numpy as np

    index = np.array([[layout.element(r, lane) for r in range(1 << len(layout.registers))] for lane in range(32)])
    return np.ascontiguousarray(elements.reshape(WARPS, -1)[:, index]).view(np.uint32)


def run(arguments):
    import cupy
    import numpy as np
    import torch
    import triton

    folder = pathlib.Path(arguments.folder)
    entries = json.loads((folder / "pairs.json").read_text())
    module = triton_module(folder)
    rows, losses, ratios = [], [], []
    for number, entry in enumerate(entries):
        pair = Pair(entry["pair"], entry["facts"])
        data = np.random.default_rng(number).integers(0, 256, WARPS * pair.layouts[0].count * pair.bytes, dtype=np.uint8)
        elements = data.view(f"uint{pair.bits}")
        source, wanted = (held(pair, l, elements) for l in pair.layouts)
        there = cupy.asarray(source)

        def cycles_of(cubin, name):
            kernel = cupy.RawModule(path=str(folder / f"{cubin}.cubin")).get_function(name)
            if kernel.local_size_bytes:
                print(f"{name} of {cubin} keeps {kernel.local_size_bytes} bytes in local memory")
            got, told, counted = cupy.zeros_like(there), cupy.zeros(1, np.int64), []
            for _ in range(7):
                kernel((1,), (32 * WARPS,), (there, got, told, np.int32(TURNS)))
                counted.append(int(told[0]))
            if not (cupy.asnumpy(got) == wanted).all():
                wrong = f"{pair.source} -> {pair.target}: {name} of {cubin} is wrong"
                if "cute" not in name:
                    sys.exit(wrong)
                print(wrong)  # an atom whose values CuTe counts in another order
                return float("inf")
            return sorted(counted)[3] / (2 * TURNS * WARPS)

        times = {way: cycles_of(f"pair{number}", f"time_{way}") for way in ("registers", "shared", "padded")}
        cute = min((cycles_of(c, n), told) for c, n, told in entry["cute"] if (folder / f"{c}.cubin").exists())
        x = torch.from_numpy(elements.view(f"int{pair.bits}").copy()).cuda()
        y, told, counted = torch.zeros_like(x), torch.zeros(1, dtype=torch.int64, device="cuda"), []
        for _ in range(7):
            compiled = module.timed[(1,)](x, y, told, TURNS, num_warps=WARPS, **triton_arguments(pair, module.gl))
            counted.append(int(told[0]))
        if not torch.equal(x, y):
            sys.exit(f"{pair.source} -> {pair.target}: Triton's is wrong")
        times["triton"] = sorted(counted)[3] / (2 * TURNS * WARPS)
        loop = compiled.asm["ptx"]
        shuffles = len(re.findall(r"shfl\.sync", loop)) / 3
        chosen = "shared" if all(f["shared"]["is_cheaper"] for f in pair.facts) else "registers"
        best_peer = min(times["triton"], cute[0], times["padded"])
        ratio = 1.0 if max(best_peer, times[chosen]) < 0.1 else best_peer / max(times[chosen], 0.01)  # registers renamed by both
        ratios.append(ratio)
        losses += [pair.source] if ratio < 0.98 else []
        rows.append(f"| `{pair.source}` | `{pair.target}` | {pair.bits} | {times['registers']:.1f} | {times['shared']:.1f} | {chosen} | {times['padded']:.1f} | "
                    f"{cute[0]:.1f} | {cute[1]} | {times['triton']:.1f} | {shuffles:.0f} | {ratio:.2f} |")
        print(rows[-1], flush=True)
    head = ("| from | to | bits | faro registers | faro shared | chosen | padded rows | CuTe | its way | Triton | its shuffles | best peer / chosen |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|")
    ratios.sort()
    end = f"{sum(r >= 1.3 for r in ratios)} of {len(ratios)} at least 1.3 times faster than the best peer, {len(losses)} slower (below 0.98), median {ratios[len(ratios) // 2]:.2f}"
    if arguments.page:
        device = torch.cuda.get_device_name()
        versions = f"Triton {triton.__version__}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}"
        pathlib.Path(arguments.page).write_text(
            "# Register layouts converted, beside Triton and CUTLASS\n\n| | |\n|---|---|\n"
            f"| device | {device} |\n| beside | {versions}, CuTe of CUTLASS {arguments.cutlass_version} |\n\n{__doc__[__doc__.index('Each pair'):]}\n"
            + head + "\n" + "\n".join(rows) + f"\n\n{end}\n")
    print(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("write")
    verb.add_argument("folder")
    verb.add_argument("--faro", default="build/faro")
    verb.set_defaults(call=write)
    verb = verbs.add_parser("compile")
    verb.add_argument("folder")
    verb.add_argument("--cutlass", required=True)
    verb.add_argument("--nvcc", default="nvcc")
    verb.add_argument("--jobs", type=int, default=1)
    verb.set_defaults(call=compile_all)
    verb = verbs.add_parser("run")
    verb.add_argument("folder")
    verb.add_argument("--page")
    verb.add_argument("--cutlass-version", default="4.2.0")
    verb.set_defaults(call=run)
    arguments = parser.parse_args()
    arguments.call(arguments)


if __name__ == "__main__":
    main()
