"""faro.synth, on examples and on sketches that are written in Python."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import faro
from faro import sketch


def ring(divisor=3):
    """The guide's sketch: the mean of an element and the two after it, around a ring of 8."""
    spec = sketch.Specification()
    source, target = spec.input("I", 8), spec.output("O", 8)
    for i in range(8):
        target[i] = sketch.total([source[(i + k) % 8] for k in range(3)], divisor=3)
    p = sketch.Program(spec, warp=8, name="ring")
    t = sketch.lane
    asked = p.xform("lane", n=8, m=8, asked=3)
    own, x, mean = p.registers("own", 1), p.registers("x", 1), p.accumulator("mean", divisor=divisor)
    p.load(own[0], source, t)
    with p.loop("i", 3) as i:
        p.shuffle(x[0], own[0], asked(t, i))
        p.accumulate(mean, x[0])
    p.store(target, t, mean)
    return p


def test_examples():
    found = faro.synth("aos-crc", struct=3, warp=8, all=True)
    assert found.outcome == "found" and found.solutions == len(found.all) > 0 and found.best is not None
    none = faro.synth("aos-crc", struct=6, warp=8, space="easy")
    assert none.outcome == "none" and none.solutions == 0 and none.best is None and none.text is None


def test_a_sketch_of_ones_own():
    found = faro.synth(ring(), all=True, emit="ring_mean", element="float")
    assert found.outcome == "found" and found.solutions > 0
    assert "ring_mean(" in found.text and "__shfl" in found.text
    assert "shfl(own[0], lane(t, i))" in found.sketch
    wrong = faro.synth(ring(divisor=2))  # a mean of two is no mean of three
    assert wrong.outcome == "none"


def test_structs_to_lanes_as_the_example_has_them():
    """Words of a warp's structs, loaded coalesced, to the lane of their struct: column, row, column."""
    lanes, words = 8, 3
    spec = sketch.Specification()
    source, target = spec.input("I", lanes * words), spec.output("O", lanes * words)
    for element in range(lanes * words):
        lane, word = divmod(element, words)
        target[word * lanes + lane] = source[element]
    p = sketch.Program(spec, warp=lanes)
    t = sketch.lane
    first = p.xform("first", n=words, m=lanes, one_to_one=True, of_registers=True)
    row = p.xform("row", n=lanes, m=words)
    last = p.xform("last", n=words, m=lanes, one_to_one=True, of_registers=True)
    a, b, c, d = (p.registers(name, words) for name in "abcd")
    p.global_to_registers(a, source, rounds=words)
    p.permute(b, a, lambda i: first(i, t))
    with p.loop("k", words) as k:
        p.shuffle(c[k], b[k], row(t, k))
    p.permute(d, c, lambda i: last(i, t))
    p.registers_to_global(target, d, rounds=words)
    found = faro.synth(p)
    assert found.outcome == "found"
    assert found.solutions == faro.synth("aos-crc", struct=words, warp=lanes).solutions


def test_expressions_are_pythons():
    spec = sketch.Specification()
    source, target = spec.input("I", 8), spec.output("O", 8)
    for i in range(8):
        target[i] = source[7 - i if i >= 4 else i ^ 1]
    p = sketch.Program(spec, warp=8)
    t = sketch.lane
    x = p.registers("x", 1)
    swapped = sketch.select(t % 2 == 0, t + 1, t - 1)
    p.load(x[0], source, sketch.select((t >= 4) & ~(t < 4) | (t != t), 7 - t, swapped + 0 * (t // 3)))
    p.store(target, t, x[0], when=t <= 7)
    assert faro.synth(p).outcome == "found"
    with pytest.raises(faro.FaroTypeError, match="select"):
        if t == 0:
            pass


def test_refusals():
    with pytest.raises(faro.FaroValueError, match="aos-crc"):
        faro.synth("aos-crk")
    with pytest.raises(faro.FaroValueError, match="easy"):
        faro.synth("aos-crc", space="ful")
    with pytest.raises(faro.FaroTypeError, match="index"):
        ring().accumulate(sketch.Program(sketch.Specification()).accumulator("sum"), when="t")
    spec = sketch.Specification()
    source = spec.input("I", 4)
    with pytest.raises(faro.FaroValueError, match="output"):
        source[0] = source[1]
    p = sketch.Program(spec, warp=4)
    p.registers("x", 0)
    with pytest.raises(faro.FaroValueError):
        faro.synth(p)
    with pytest.raises(faro.FaroValueError, match="identifier|name"):
        faro.synth(ring(), emit="not a name")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_search():
    program = textwrap.dedent("""
        import faro, sys
        print("searching", flush=True)
        try:
            faro.synth("poly-64", warp=32, space="extra")
        except KeyboardInterrupt:
            print("ended", flush=True)
            sys.exit(3)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "searching\n"
    try:
        child.wait(2)
    except subprocess.TimeoutExpired:
        pass
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 3 and child.stdout.read() == "ended\n"


def test_places_in_shared_memory_and_sums_in_trees():
    spec = sketch.Specification()
    source, target, sums = spec.input("I", 16), spec.output("O", 16), spec.output("S", 4)
    for k in range(16):
        target[k] = source[k % 4 * 4 + k // 4]
    for t in range(4):
        sums[t] = sketch.total([source[k] for k in range(4)])
    p = sketch.Program(spec, warp=4, banks=2)
    t = sketch.lane
    column = p.bits("column", 4, {"column": 4, "row": 4}, easy=True)
    asked = p.bits("lane", 4, {"t": 4, "step": 2}, easy=True)
    tile, x, total = p.shared("tile", 16), p.registers("x", 2), p.accumulator("total")
    with p.loop("i", 4) as i:
        p.load(x[0], source, 4 * i + t)
        p.store(tile, 4 * i + column(t, i), x[0])
    p.barrier()
    with p.loop("j", 4) as j:
        p.load(x[0], tile, 4 * t + column(j, t))
        p.store(target, 4 * j + t, x[0])
    p.load(x[0], source, t)
    with p.loop("step", 2) as step:
        p.shuffle(x[1], x[0], asked(t, step))
        p.start(total, x[0])
        p.accumulate(total, x[1])
        p.evaluate(x[0], total)
    p.store(sums, t, x[0])
    found = faro.synth(p, all=True)
    assert found.outcome == "found"
    assert found.best["cost"]["conflicts"] == 8  # four words in two banks, in each of eight accesses: one turn more
    assert {s["cost"]["conflicts"] for s in found.all} != {8}
    assert "start(total, {x[0]})" in found.sketch
