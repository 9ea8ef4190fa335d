"""Headers of .npy files against numpy.load: every text of a dtype that numpy.dtype() takes, and every way to write a header."""

import itertools
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

COMMAND = os.environ.get("FARO")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="$FARO is not the command")

LETTERS = "?bBhHiIlLqQpPefdgFDGcmMnN"
NAMES = (
    "bool bool_ byte ubyte short ushort intc uintc int uint int_ intp uintp long ulong longlong ulonglong half single double float "
    "longdouble csingle cdouble complex clongdouble int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "float128 complex64 complex128 complex256 datetime64 timedelta64 datetime64[ns] timedelta64[25s] datetime64[D] M8[us] m8[Y] "
    "m8[D/3] M8[generic] m8[2W]"
).split()
CODES = [order + kind + width for order in ("", "<", ">", "=", "|")
         for kind, widths in {"b": "1", "i": "1248", "u": "1248", "f": "248", "S": "15", "U": "3", "V": "27", "M": "8", "m": "8"}.items()
         for width in widths] + [">f16", "c8", ">c16", "c32", "<M8[ns]", ">m8[ms]", "|M8[h]"]
LISTS = ["f4,i2", "f4, >f8", "f4,", "(2,3)f4", "(2, 3)f4", "3f4", "2 f4", "1?", "(1,)f4", "()f4", "2f4,i8", "f4,(2,)i2", ">i4,<i2", "S5,U3", "V8,M8[ns]"]
STRUCTURED = [
    [("a", "<f4")], [("a", "f4"), ("b", "u1")], [("a", "<f4", (3,)), ("b", "|u1", (2, 5))], [("a", "f4", 2)], [("a", "float32", [2, 3])],
    [("a", ("<f4", (2,)))], [("a", [("x", "<i2"), ("y", "double")], (2,)), ("", "|V4")], [(("a title", "a"), "<i4"), ("b", "?")],
    ("<f4", (2, 3)), ("<f4", 3), ("<f4", ()), ("S", 5), ("U", 2), ("V", 4), ("f8", 1), ("<i4", "<u4"), (("f4", (2,)), (3,)),
]  # fmt: skip
REFUSED = ["f3", "i16", "c5", "x4", "U", "S", "V0", "str", "O", "|O8", "object", "f4,O", "Float32", ">float32", "float32[ns]", "M4", "M8[]",
           "M8[xs]", "4", "", ",f4", "f4,,i4", " f4", "f4 ", "f8[ns]", "(1)f4", "<f9", "np.float32"]


def header(descr, shape=(2, 3), version=1, text=None):
    words = (text or "{{'descr': {!r}, 'fortran_order': False, 'shape': {!r}, }}").format(descr, shape).encode("latin1" if version < 3 else "utf8")
    size = 8 + (2 if version == 1 else 4)
    words += b" " * (-(size + len(words) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(words)) + words


def run(*words, cwd, stdin=None):
    return subprocess.run([COMMAND, *words], cwd=cwd, input=stdin, capture_output=True, check=False)


def itemsize(descr):
    return np.lib.format.descr_to_dtype(descr).itemsize


def words_of(path):
    blob = Path(path).read_bytes()
    size = struct.unpack("<H", blob[8:10])[0]
    return blob[10 : 10 + size].decode("latin1"), blob[10 + size :]


def transposed(data, width):
    return np.frombuffer(data, f"V{width}").reshape(2, 3).T.tobytes()


@pytest.mark.parametrize("descr", [*LETTERS, *(o + c for o, c in itertools.product("<>=|", "?hqdG")), *NAMES, *CODES, *LISTS, *STRUCTURED], ids=repr)
def test_dtypes_that_numpy_takes(descr, tmp_path):
    width = itemsize(descr)
    data = bytes(i % 251 for i in range(6 * width))
    (tmp_path / "in.npy").write_bytes(header(descr) + data)
    done = run("permute", "transpose", "in.npy", "out.npy", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    words, moved = words_of(tmp_path / "out.npy")
    assert moved == transposed(data, width)
    assert f"'descr': {descr!r}," in words and "'shape': (3, 2)" in words


def test_dtypes_of_ml_dtypes(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in dir(ml_dtypes):
        kind = getattr(ml_dtypes, name)
        if not isinstance(kind, type) or not issubclass(kind, np.generic):
            continue
        x = np.arange(6).reshape(2, 3).astype(kind)
        np.save(tmp_path / "in.npy", x)
        (tmp_path / "named.npy").write_bytes(header(np.dtype(kind).name) + x.tobytes())
        for source in ("in.npy", "named.npy"):
            done = run("permute", "transpose", source, "out.npy", "--quiet", cwd=tmp_path)
            assert done.returncode == 0, (name, done.stderr)
            assert words_of(tmp_path / "out.npy")[1] == x.T.tobytes(), name


@pytest.mark.parametrize("descr", REFUSED)
def test_dtypes_that_numpy_refuses(descr, tmp_path):
    try:
        refused = np.lib.format.descr_to_dtype(descr)
        assert refused.itemsize == 0 or refused.hasobject
    except (TypeError, ValueError, SyntaxError):
        pass
    (tmp_path / "in.npy").write_bytes(header(descr) + bytes(6))
    done = run("permute", "transpose", "in.npy", "out.npy", cwd=tmp_path)
    assert done.returncode == 6 and done.stderr.startswith(b"faro: "), done.stderr
    assert not (tmp_path / "out.npy").exists()


TEXTS = {
    "as NumPy": None,
    "other order of keys": "{{'shape': {1!r}, 'descr': {0!r}, 'fortran_order': False}}",
    "no spaces": "{{'descr':{!r},'fortran_order':False,'shape':{!r}}}",
    "double quotes": '{{"descr": {!r}, "fortran_order": False, "shape": {!r}}}',
    "lines": "{{\n 'descr': {!r},\n\t'fortran_order': False,\n 'shape': {!r},\n}}\n\n",
    "long of Python 2": "{{'descr': {0!r}, 'fortran_order': False, 'shape': (2L, 3L), }}",
    "long, trailing comma": "{{'descr': {0!r}, 'fortran_order': False, 'shape': (2L, 3L,)}}",
    "trailing comma": "{{'descr': {0!r}, 'fortran_order': False, 'shape': (2, 3,), }}",
    "spaces in the shape": "{{ 'descr' : {0!r} , 'fortran_order' : False , 'shape' : ( 2 , 3 ) }}",
}  # fmt: skip


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_headers_in_every_way(text, version, tmp_path):
    data = np.arange(6, dtype="<f4").tobytes()
    blob = header("float32", version=version, text=text) + data
    wanted = transposed(data, 4)
    (tmp_path / "in.npy").write_bytes(blob)
    if version < 3 or "L" not in (text or ""):  # only Python 2 wrote those, which had no version 3
        assert np.load(tmp_path / "in.npy").tobytes() == data
    for words in (["permute", "transpose", "in.npy", "out.npy"], ["permute", "transpose", "in.npy", "swept.npy", "--memory", "1MiB"]):
        done = run(*words, "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert np.load(tmp_path / words[3]).dtype == np.float32
        assert words_of(tmp_path / words[3])[1] == wanted
    done = run("permute", "transpose", "-", "-", "--quiet", cwd=tmp_path, stdin=blob)
    assert done.returncode == 0 and done.stdout.endswith(wanted), done.stderr
    done = run("permute", "transpose", "in.npy", "--in-place", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = np.load(tmp_path / "in.npy") if version < 3 or "L" not in (text or "") else None
    if after is not None:
        assert after.shape == (3, 2) and after.tobytes() == wanted


def test_types_are_read_by_every_verb(tmp_path):
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    (tmp_path / "rows.npy").write_bytes(header("float32", (4, 3)) + rows.tobytes())
    (tmp_path / "index.npy").write_bytes(header("int64", (4,)) + np.array([3, 1, 0, 2]).tobytes())
    (tmp_path / "big.npy").write_bytes(header(">l", (4,)) + np.array([3, 1, 0, 2], ">i8").tobytes())
    for index in ("index.npy", "big.npy"):
        for words in (["permute", f"@{index}", "rows.npy", "out.npy", "--axis", "0", "--gather"], ["take", index, "rows.npy", "out.npy"]):
            done = run(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert (np.load(tmp_path / "out.npy") == rows[[3, 1, 0, 2]]).all()
    done = run("add", "index.npy", "rows.npy", "sums.npy", "--rows", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "sums.npy")[[3, 1, 0, 2]] == rows).all()
    done = run("permute", "flip", "-", "-", "--raw", "float32", "--shape", "12", cwd=tmp_path, stdin=rows.tobytes())
    assert done.returncode == 0 and done.stdout == rows.ravel()[::-1].tobytes(), done.stderr


def test_streams_that_are_too_long_speak_of_what_said_their_length(tmp_path):
    done = run("permute", "flip", "-", "-", "--raw", "u1", "--shape", "12", cwd=tmp_path, stdin=bytes(13))
    assert done.returncode == 6 and b"--shape 12 of u1" in done.stderr and b"header" not in done.stderr
    done = run("permute", "flip", "-", "-", cwd=tmp_path, stdin=header("u1", (12,)) + bytes(13))
    assert done.returncode == 6 and b"its header says" in done.stderr
