"""Layouts of fragments, and conflicts, beside tensor-layouts' own; skipped where it is not installed."""

import re

import pytest

import faro

tl = pytest.importorskip("tensor_layouts")
atoms = pytest.importorskip("tensor_layouts.atoms_nv")
analysis = pytest.importorskip("tensor_layouts.analysis")

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
