"""Layouts of fragments, and conflicts, beside tensor-layouts' own; skipped where it is not installed."""

import importlib
import json
import pathlib
import random
import re

import pytest

import faro

tl = pytest.importorskip("tensor_layouts")
atoms = pytest.importorskip("tensor_layouts.atoms_nv")
analysis = pytest.importorskip("tensor_layouts.analysis")
try:
    from triton.experimental.gluon import language as gl
except ImportError:
    gl = None

MMA = [  # the atom, the names of its operands here, the bits of A and B, and of C
    ("SM75_16x8x8_F32F16F16F32_TN", "m16n8k8", 16, 32),
    ("SM75_8x8x16_S32S8S8S32_TN", "m8n8k16", 8, 32),
    ("SM80_16x8x4_F32TF32TF32F32_TN", "m16n8k4", 32, 32),
    ("SM80_16x8x8_F32TF32TF32F32_TN", "m16n8k8", 32, 32),
    ("SM80_16x8x16_F16F16F16F16_TN", "m16n8k16", 16, 16),
    ("SM80_16x8x16_S32S8S8S32_TN", "m16n8k16", 8, 32),
    ("SM80_16x8x32_S32S8S8S32_TN", "m16n8k32", 8, 32),
    ("SM89_16x8x32_F32E4M3E4M3F32_TN", "m16n8k32", 8, 32),
    ("SM80_8x8x4_F64F64F64F64_TN", "m8n8k4", 64, 64),
    ("SM90_16x8x4_F64F64F64F64_TN", "m16n8k4", 64, 64),
    ("SM90_16x8x8_F64F64F64F64_TN", "m16n8k8", 64, 64),
    ("SM90_16x8x16_F64F64F64F64_TN", "m16n8k16", 64, 64),
]


def offsets(name, element):
    """By value and thread: the number of the element, whose first coordinate is the fastest."""
    told = faro.layout_convert(name, name, element=element).facts["from"]["linear"]
    bases = {part: [list(map(int, one.split(","))) for one in re.findall(r"\[([\d, ]+)\]", text)]
             for part, text in re.findall(r"(register|lane) = \[((?:\[[^\]]*\](?:, )?)*)\]", told)}
    rows = 1 << max((max(b[0] for b in bases[p]) if bases[p] else 0) for p in bases).bit_length()

    def at(bits, number):
        here = [0, 0]
        for j, basis in enumerate(bits):
            if number >> j & 1:
                here = [here[0] ^ basis[0], here[1] ^ basis[1]]
        return here

    table = []
    for value in range(1 << len(bases["register"])):
        for lane in range(1 << len(bases["lane"])):
            (r0, c0), (r1, c1) = at(bases["register"], value), at(bases["lane"], lane)
            table.append((r0 ^ r1) + (c0 ^ c1) * rows)
    return table


@pytest.mark.parametrize("atom, shape, inputs, sums", MMA)
def test_fragments_are_those_of_its_atoms(atom, shape, inputs, sums):
    theirs = getattr(atoms, atom, None)
    if theirs is None:
        pytest.skip("this version has no such atom")
    for layout, name, element in ((theirs.a_layout, f"mma.{shape}.A", inputs), (theirs.b_layout, f"trans(mma.{shape}.B)", inputs),
                                  (theirs.c_layout, f"mma.{shape}.C", sums)):
        ours = offsets(name, element)
        assert ours == [layout(lane, value) for value in range(len(ours) // 32) for lane in range(32)], name


@pytest.mark.parametrize("swizzle", [None, (1, 3, 3), (2, 3, 3), (3, 3, 3)])
def test_conflicts_are_those_that_it_counts(swizzle):
    """A word of each of 32 rows of 64 halves."""
    plain = tl.Layout(32, 64)
    theirs = plain if swizzle is None else tl.compose(tl.Swizzle(*swizzle), plain)
    text = "(32,64):(64,1)" if swizzle is None else "Swizzle<{},{},{}> o (32,64):(64,1)".format(*swizzle)
    load = faro.layout_convert(f"shared({text})", "blocked(1x2, 32x1, 1x1)[32x64]", element=16, capability=70).facts["shared"]["load"]
    assert load["wavefronts"] / load["instructions"] == analysis.bank_conflicts(theirs, element_bytes=2)["max_ways"]


@pytest.mark.parametrize("seed", range(24))
def test_conflicts_of_drawn_tiles(seed):
    """Words: as it counts them. Wide accesses are served in phases, which it does not tell apart: never fewer than it counts."""
    draw = random.Random(seed)
    element = draw.choice([8, 16, 32])
    size = element // 8
    values = draw.choice([v for v in (1, 2, 4, 8, 16) if 4 <= v * size <= 16])
    down = draw.choice([1, 2, 4, 8, 16, 32])
    rows, columns = down * draw.choice([1, 2]), 32 // down * values * draw.choice([1, 2, 4, 8])
    b, m, s = draw.choice([0, 1, 2, 3]), values.bit_length() - 1, draw.choice([3, 4, 5])
    b = 0 if m + s + b > (rows * columns).bit_length() - 1 else b
    text = f"({rows},{columns}):({columns},1)"
    text = f"Swizzle<{b},{m},{s}> o {text}" if b else text
    load = faro.layout_convert(f"shared({text})", f"blocked(1x{values}, {down}x{32 // down}, 1x1)[{rows}x{columns}]", element=element,
                               capability=70).facts["shared"]["load"]
    plain = tl.Layout(((32 // down, down), values), ((values, columns), 1))
    theirs = analysis.bank_conflicts(tl.compose(tl.Swizzle(b, m, s), plain) if b else plain, element_bytes=size)["max_ways"]
    ours = load["wavefronts"] / load["instructions"]
    assert ours == theirs if values * size == 4 else ours >= theirs, text


@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("element", [8, 16, 32])
def test_conflicts_are_those_that_triton_counts(element, width, capfd, monkeypatch):
    """Of tiles that TMA swizzles, by Gluon's bank_conflicts(), which needs no GPU: turns beyond those of no conflict, a wavefront."""
    compiler = pytest.importorskip("triton.compiler")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")  # what is in its cache prints nothing
    gluon = pytest.importorskip("triton.experimental.gluon")
    targets, runtime, core = (importlib.import_module(f"triton.{name}") for name in (
        "backends.compiler", "experimental.gluon._runtime", "experimental.gluon.language._core"))
    gl, size = gluon.language, element // 8
    for rows, values, down in ((16, 16 // size, 16), (32, 8 // size, 8), (64, 16 // size, 32), (8, max(4 // size, 1), 4)):
        columns = max(width // size, values * 32 // down)
        told = faro.layout_convert(f"tma.{width}B({rows}x{columns})", f"blocked(1x{values}, {down}x{32 // down}, 1x1)[{rows}x{columns}]",
                                   element=element, capability=70).facts
        bases = {part: json.loads(text) for part, text in re.findall(r"(register|lane) = (\[(?:\[[^\]]*\](?:, )?)*\])", told["to"]["linear"])}
        kind = getattr(gl, f"int{element}")
        held = core.distributed_type(kind, [rows, columns], gl.DistributedLinearLayout(bases["register"], bases["lane"], [], [], [rows, columns]))
        tile = core.shared_memory_descriptor_type(kind, [rows, columns], gl.NVMMASharedLayout(width, element, 2), [rows, columns])
        source = runtime.GluonASTSource(gluon.jit(_told_by_triton), {"D": "constexpr", "S": "constexpr"}, {(0,): held, (1,): tile})
        compiler.compile(source, target=targets.GPUTarget("cuda", 90, 32), options={"num_warps": 1})
        theirs = int(re.search(r"conflicts\D*(\d+)", capfd.readouterr().out)[1])
        load = told["shared"]["load"]
        assert load["wavefronts"] / load["without_conflicts"] - 1 == theirs, (rows, columns, values, down)


def _told_by_triton(D: "gl.constexpr", S: "gl.constexpr"):
    gl.static_print("conflicts", gl.bank_conflicts(D, S))


def test_tensor_memory_is_as_cute_reads_it():
    """Copy_Traits of CUTLASS's headers, which the wheel `nvidia-cutlass` has: where each bit of a lane's registers comes from."""
    package = pytest.importorskip("cutlass_library")
    header = pathlib.Path(package.__file__).parent / "source/include/cute/atom/copy_traits_sm100.hpp"
    compared = 0
    for lanes, bits, times, body in re.findall(r"struct Copy_Traits<SM100_TMEM_LOAD_(\d+)dp(\d+)b(\d+)x>\s*{(.*?)};", header.read_text(), re.S):
        if (lanes, bits) == ("16", "32") or int(times) * int(bits) // 32 * int(lanes) // 32 > 64:
            continue
        told = re.search(r"DstLayout = Layout<(.*?)>;\s", body, re.S)[1]
        told = re.sub(r"Shape\s*<|Stride\s*<", "(", re.sub(r"_(\d+)", r"\1,", re.sub(r"\s", "", told))).replace(">", "),").replace(",,", ",")
        (thread, value), (thread_stride, value_stride) = eval(told)  # noqa: S307

        def at(shape, stride, number):
            total = 0
            for n, s in zip(flat(shape), flat(stride)):
                total, number = total + number % n * s, number // n
            return total

        pitch = int(bits) * int(times)
        ours = offsets(f"tcgen05.{lanes}x{bits}b.x{times}", 32)
        wanted = []
        for word in range(len(ours) // 32):
            for lane in range(32):
                bit = at(thread, thread_stride, lane) + at(value, value_stride, 32 * word)
                wanted.append(bit // pitch + bit % pitch // 32 * int(lanes))
        assert ours == wanted, (lanes, bits, times)
        compared += 1
    assert compared > 20


def flat(shape):
    return [n for part in shape for n in flat(part)] if isinstance(shape, tuple) else [shape]
