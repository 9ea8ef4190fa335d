"""Maps as values, and plans as objects."""

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import faro
from faro import maps


@given(st.integers(1, 8), st.integers(0, 2**32), st.integers(0, 2**32))
def test_composition(n, a, b):
    f, g = maps.random_bmmc(n, a), maps.random_bmmc(n, b)
    both = f @ g
    assert [both(x) for x in range(1 << n)] == [f(g(x)) for x in range(1 << n)]
    assert (~f)(f(0)) == 0 and (~f @ f).is_identity and f.inverse == ~f
    assert (f**3) == f @ f @ f and f**-1 == ~f and (f**0).is_identity
    assert maps.parse(f.text) == f and pickle.loads(pickle.dumps(f)) == f
    assert hash(maps.parse(f.text)) == hash(f)


@given(st.integers(1, 10), st.integers(0, 2**32))
def test_matrices(n, seed):
    m = maps.random_bmmc(n, seed)
    bits = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1  # a row an index
    images = (bits @ m.matrix.T % 2) @ (1 << np.arange(n)) ^ m.complement
    assert (images == m.indices).all()
    assert maps.from_matrix(m.matrix, m.complement) == m


def test_names():
    assert [maps.bit_reversal(3)(x) for x in range(8)] == [0, 4, 2, 6, 1, 5, 3, 7]
    assert [maps.reverse(2)(x) for x in range(4)] == [3, 2, 1, 0]
    assert [maps.xor(2, 1)(x) for x in range(4)] == [1, 0, 3, 2]
    assert [maps.bits([1, 2, 0])(x) for x in (1, 2, 4)] == [2, 4, 1]
    assert maps.swap_bits(3, 0, 2)(1) == 4 and maps.shuffle(3)(1) == 2 and maps.rotate_bits(3, -1)(1) == 4
    assert [maps.roll(5, -1)(x) for x in range(5)] == [4, 0, 1, 2, 3]
    assert [maps.flip(3)(x) for x in range(3)] == [2, 1, 0]
    assert [maps.multiply(7, 3)(x) for x in range(7)] == [0, 3, 6, 2, 5, 1, 4]
    assert maps.transpose(3, 5)(1) == 3 and maps.aos_to_soa(3, 5) == maps.transpose(3, 5)
    assert maps.soa_to_aos(3, 5) == ~maps.aos_to_soa(3, 5)
    x = np.arange(24).reshape(2, 3, 4)
    m = maps.axes((2, 3, 4), (2, 0, 1))
    assert (faro.permute(x, m).reshape(4, 2, 3) == x.transpose(2, 0, 1)).all()
    assert maps.morton(2, 1)(2) == 2 and maps.identity(3).is_identity
    assert sorted(maps.random(100, 7).indices.tolist()) == list(range(100)) and len(maps.random(100, 7)) == 100
    assert {"bit_reversal", "gray"} <= {entry["name"] for entry in maps.catalogue()}
    assert "x" in maps.gray(3).picture


def test_index_arrays():
    p = np.random.default_rng(1).permutation(1000)
    for dtype in ("i4", "u4", "i8", "u8", ">i8", "i2"):
        m = maps.from_indices(p.astype(dtype))
        assert (m.indices == p).all()
    x = np.arange(1000.0)
    assert (faro.permute(x, maps.from_indices(p, gather=True)) == x[p]).all()
    assert maps.from_indices(np.asarray(maps.gray(6).indices)).normal_form.text == "gray(6)"
    assert pickle.loads(pickle.dumps(maps.from_indices(p))) == maps.from_indices(p)
    for wrong in ([0, 0], [0, 2], [-1, 0], [[0.5, 1.0]]):
        with pytest.raises((faro.FaroValueError, faro.FaroTypeError)):
            maps.from_indices(wrong)


def test_circuits(tmp_path):
    m = maps.circuit(3, [("x", 2), ("cx", 2, 0), ("swap", 0, 1)])

    def by_hand(x):
        x ^= 4
        x ^= x >> 2 & 1
        return x & 4 | (x & 1) << 1 | (x >> 1 & 1)

    assert [m(x) for x in range(8)] == [by_hand(x) for x in range(8)]
    qasm = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\nx q[2];\ncx q[2], q[0];\nswap q[0], q[1];\n'
    assert maps.from_qasm(qasm) == m
    (tmp_path / "c.qasm").write_text(qasm)
    assert maps.from_qasm(tmp_path / "c.qasm") == m
    assert maps.circuit(2, []).is_identity


def test_openqasm_is_text_or_a_path(tmp_path, monkeypatch):
    text = "OPENQASM 3.0; qubit[2] q; x q[1];"
    for same in (text, text.replace("; ", ";\n"), "qubit[2] q; x q[1];", "// one\nqubit[2] \u03c8; x \u03c8[1];"):
        assert maps.from_qasm(same) == maps.xor(2, 2)
    monkeypatch.chdir(tmp_path)
    for path in ("c.qasm", "a;b.qasm", "OPENQASM/c.qasm"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
        assert maps.from_qasm(path) == maps.from_qasm(tmp_path / path) == maps.xor(2, 2)
    with pytest.raises(faro.FaroFileError, match="`none.qasm`"):
        maps.from_qasm("none.qasm")
    with pytest.raises(faro.FaroUnsupportedError, match="read a circuit: got `h` at line 1"):
        maps.from_qasm("qubit q; h q;")
    with pytest.raises(faro.FaroValueError, match="got the end of the file at line 1"):
        maps.from_qasm("OPENQASM 3.0")
    with pytest.raises(faro.FaroTypeError, match="got a int"):
        maps.from_qasm(5)


@pytest.mark.parametrize("text, shape", [
    ("bit_reversal", (64,)), ("transpose", (5, 7)), ("b s h -> h b s", (2, 3, 4)), ("roll(3)", (10,)), ("random(10, 1)", (10,))])
def test_plans(text, shape, tmp_path):
    x = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    p = faro.plan(text, x)
    wanted = faro.permute(x, text)
    assert p.shape == shape and p.out_shape == wanted.shape and p.itemsize == 8
    for again in (p, pickle.loads(pickle.dumps(p)), faro.load_plan(p.to_bytes()), p.inverse.inverse):
        assert (again(x) == wanted).all()
    assert (p.inverse(wanted) == x).all()
    out = np.empty_like(wanted)
    assert p(x, out=out) is out and (out == wanted).all()
    wide = np.repeat(x, 2, axis=0)[::2]
    assert (p(wide) == wanted).all()
    p.save(tmp_path / "plan")
    assert (faro.load_plan(tmp_path / "plan")(x) == wanted).all()
    assert not list(tmp_path.glob("*.part"))
    told = p.explain_json()
    assert p.explain() and ("steps" in told or told["schema"] == 1)
    steps = told.get("steps", [told])
    assert p.predicted_time == pytest.approx(sum(step["predicted_ms"] for step in steps) / 1e3)
    assert p.predicted_time > 0
    assert p.workspace_bytes == 0 or "random" in text
    assert "<pre>" in p._repr_html_() and "faro.Plan" in repr(p)


def test_plans_with_pictures():
    p = faro.plan("bit_reversal", shape=(1 << 12,), itemsize=4)
    assert p.svg().lstrip().startswith("<") and "<svg" in p._repr_html_()


def test_plan_in_place():
    x = np.arange(35.0).reshape(5, 7)
    p = faro.plan("transpose", x, in_place=True)
    wanted = np.ascontiguousarray(x.T)
    y = p(x)
    assert (y == wanted).all() and np.shares_memory(x, y) and p.in_place
    with pytest.raises(faro.FaroValueError):
        p(x, out=np.empty((7, 5)))


def test_kernel_authors_side():
    advice = faro.layout(32, 32, 4, ["row", "column"])
    assert advice.worst == 1 and "shared_index" in advice.code
    assert any(c.layout == "RAW" and c.worst == 32 for c in advice.candidates)
    emitted = faro.emit(maps.bit_reversal(15), kernel="banks", name="turn", launcher=True)
    assert "__global__" in emitted.text and "turn(" in emitted.text and emitted.kernels[0]["name"] == "turn"
    assert "void" in faro.emit("gray(10)", target="cpp").text
    told = faro.simulate("transpose-diagonal", width=4, latency=5, threads=16, n=16)
    assert told.time == 16 == told.formula
    turn = faro.layout_convert("ldmatrix.x4", "ldmatrix.x4.trans", element=16, emit="turn", way="shared")
    assert turn.shuffles == 4 and turn.proven and "stmatrix" in turn.code and "no bank conflict" in turn.explanation
    assert "stmatrix" not in faro.layout_convert("ldmatrix.x4", "ldmatrix.x4.trans", element=16, emit="turn", way="shared", capability=80).code
    assert faro.layout_convert("wgmma.m64n16.C", "blocked(1x4, 8x4, 4x1)[64x16]").shuffles is None
    wrong = faro.layout_check("mma.m16n8.C", "lane / 4 + 8 * (i / 2)", "2 * (lane % 4) + i")
    assert not wrong.agrees and wrong.first_difference == {"warp": 0, "lane": 0, "i": 2, "got": [8, 2], "wanted": [8, 0]}
    for call in (lambda: faro.layout(32, 32, 4, "rwo"), lambda: faro.emit("transpose(3, 5)"), lambda: faro.emit("gray(4)", kernel="x"),
                 lambda: faro.simulate("copy", machine="x"), lambda: faro.simulate("copi")):
        with pytest.raises(faro.FaroError):
            call()
