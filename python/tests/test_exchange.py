"""Arrays of other libraries, by their interfaces."""

import array
import ctypes
import doctest
import importlib
import inspect
import pathlib
import re
import sys

import numpy as np
import pytest

import faro


class OnlyDLPack:
    """An array with nothing but DLPack, versioned or not."""

    def __init__(self, x, versioned):
        self.x, self.versioned = x, versioned

    def __dlpack__(self, **how):
        if how and not self.versioned:
            raise TypeError("max_version is not known here")
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack(versioned):
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)[:, ::-1]
    got = faro.permute_dims(OnlyDLPack(x, versioned), (2, 0, 1))
    assert (np.from_dlpack(got) == x.transpose(2, 0, 1)).all()
    out = np.empty((4, 2, 3), "f4")
    assert faro.permute_dims(OnlyDLPack(x, versioned), (2, 0, 1), out=out) is out
    assert (out == x.transpose(2, 0, 1)).all()
    assert (np.from_dlpack(faro.take(OnlyDLPack(x.copy(), versioned), [1, 0, 1], 1)) == x[:, [1, 0, 1]]).all()


def test_dlpack_of_frozen_arrays():
    x = np.arange(6).reshape(2, 3)
    x.flags.writeable = False
    assert (np.from_dlpack(faro.permute_dims(OnlyDLPack(x, True), (1, 0))) == x.T).all()


def test_buffers():
    assert faro.flip(bytes([1, 2, 3])).tolist() == [3, 2, 1]
    assert faro.flip(array.array("d", [1.0, 2.0])).tolist() == [2.0, 1.0]
    out = bytearray(3)
    assert faro.flip(b"abc", out=out) is out and out == b"cba"
    view = memoryview(np.arange(6.0).reshape(2, 3))
    assert faro.permute_dims(view, (1, 0)).tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(faro.FaroValueError, match="read-only"):
        faro.flip(b"abc", out=bytes(3))


def test_arrays_of_ctypes():
    """Their buffers come without strides."""
    numbers = (ctypes.c_int32 * 3)(1, 2, 3)
    assert faro.flip(numbers).tolist() == [3, 2, 1]
    table = ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
    assert faro.permute_dims(table, (1, 0)).tolist() == [[1, 4], [2, 5], [3, 6]]
    out = (ctypes.c_int32 * 3)()
    assert faro.flip(numbers, out=out) is out and list(out) == [3, 2, 1]
    pair = type("Pair", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int32), ("b", ctypes.c_double)]})
    assert [tuple(p) for p in faro.flip((pair * 2)((1, 2.0), (3, 4.0)))] == [(3, 4.0), (1, 2.0)]


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(24.0).reshape(2, 3, 4)
    y = faro.permute_dims(x, (2, 0, 1))
    assert isinstance(y, jax.Array) and (y == x.transpose(2, 0, 1)).all()
    b = jax.numpy.arange(8, dtype=jax.numpy.bfloat16)
    z = faro.permute(b, "bit_reversal")
    assert z.dtype == jax.numpy.bfloat16 and z.tolist() == [0, 4, 2, 6, 1, 5, 3, 7]


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(24.0).reshape(2, 3, 4)
    y = faro.permute_dims(x, (2, 0, 1))
    assert isinstance(y, torch.Tensor) and torch.equal(y, x.permute(2, 0, 1))
    b = torch.arange(8, dtype=torch.bfloat16)
    assert faro.permute(b[None].expand(2, 8)[1], "bit_reversal").tolist() == [0, 4, 2, 6, 1, 5, 3, 7]
    out = torch.empty(4, 2, 3)
    assert faro.permute_dims(x, (2, 0, 1), out=out) is out and torch.equal(out, y)
    if torch.cuda.is_available() and faro.cuda_status()[0]:
        on_gpu = x.cuda()
        assert torch.equal(faro.permute_dims(on_gpu, (2, 0, 1)).cpu(), y)


OF_MAPS = ["faro._map", "faro._indices", "faro._circuits"]  # whose examples are read as faro.maps has the names
MODULES = [*OF_MAPS, "faro", "faro._errors", "faro.maps", "faro._family", "faro._functions", "faro._plan", "faro._rows", "faro._columns",
           "faro._network_text", "faro._automorphisms", "faro._row_plans", "faro._networks", "faro._authors", "faro._stores",
           "faro._bits", "faro._blocks", "faro._caches", "faro._groups", "faro.distributions", "faro.sketch"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    names = {name: getattr(faro.maps, name) for name in faro.maps.__all__} if name in OF_MAPS else {}
    found = doctest.testmod(module, extraglobs={"faro": faro, **names})
    assert found.failed == 0


@pytest.mark.parametrize("name, library", [("faro.torch", "torch"), ("faro._torch_row_functions", "torch"), ("faro.jax", "jax"),
                                             ("faro._checkpoints", "safetensors")])
def test_examples_of_libraries(name, library):
    pytest.importorskip(library)
    module = importlib.import_module(name)
    parts = {sys.modules[getattr(module, function).__module__] for function in module.__all__}
    for part in (module, *parts):
        assert doctest.testmod(part, extraglobs={"faro": faro}).failed == 0
    for function in module.__all__:
        if not function.endswith("_sharded"):  # they take several processes, or a mesh
            assert ">>>" in getattr(module, function).__doc__, function


def test_everything_public_has_an_example():
    for module in (faro, faro.maps):
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.ismodule(member) or inspect.isclass(member) and issubclass(member, Exception):
                assert member.__doc__, name
                continue
            assert ">>>" in (member.__doc__ or ""), name
    for kind in (faro.Plan, faro.maps.Map):
        for name, member in vars(kind).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert ">>>" in (member.__doc__ or ""), name


def python_blocks():
    """The Python blocks of the guide, the recipes and the READMEs, each page one program; nothing outside of a clone."""
    root = pathlib.Path(__file__).resolve().parents[2]
    guides = [root / f"docs/guide/{name}.md" for name in ("python", "rows", "arithmetic")]
    for page in [*guides, root / "README.md", root / "python/README.md", *sorted(root.glob("docs/recipes/*.md"))]:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S) if page.exists() else []
        if blocks:
            yield pytest.param("\n".join(blocks), id=page.name)


@pytest.mark.parametrize("program", list(python_blocks()))
def test_pages(program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    exec(compile(program, "<page>", "exec"), {"__name__": "__main__"})


def library_blocks():
    """Those of the guide and the recipes that need a library: each is a program."""
    root = pathlib.Path(__file__).resolve().parents[2] / "docs"
    for page in [root / "guide/python.md", root / "guide/arithmetic.md", *sorted(root.glob("recipes/*.md"))]:
        for block in re.findall(r"^```py\n(.*?)^```", page.read_text(), re.M | re.S) if page.exists() else []:
            library = re.match(r"import (\w+)", block).group(1)
            yield pytest.param(library, block, id=f"{library}-{page.stem}")


@pytest.mark.parametrize("library, program", list(library_blocks()))
def test_pages_of_libraries(library, program, tmp_path, monkeypatch):
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "<page>", "exec"), {"__name__": "__main__"})
