"""Memory of large results, which stays for the next ones."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import faro

LARGE = (1 << 10, 1 << 10)  # 8 MiB of float64


@pytest.fixture(autouse=True)
def as_at_first():
    faro.keep_memory(0)
    faro.keep_memory(512 << 20)
    yield
    faro.keep_memory(512 << 20)


def test_freed_memory_is_taken_again():
    x = np.random.default_rng(1).random(LARGE)
    y = faro.permute_dims(x, (1, 0))
    address = y.ctypes.data
    assert (y == x.T).all() and address % 64 == 0 and faro.kept_memory() == 0
    del y
    assert faro.kept_memory() == 8 << 20
    z = faro.flip(x)
    assert z.ctypes.data == address and faro.kept_memory() == 0 and (z == x[::-1, ::-1]).all()
    smaller = faro.flip(x[: 1 << 9])  # while z lives it has memory of its own
    assert smaller.ctypes.data != address and (z == x[::-1, ::-1]).all()


def test_results_are_arrays_like_any():
    x = np.arange(1 << 20, dtype=np.float64).reshape(LARGE)
    y = faro.permute_dims(x, (1, 0))
    assert y.flags.owndata and y.base is None and y.flags.writeable and y.flags.c_contiguous
    view = y[1:, ::2]
    kept = y.copy()
    del y
    assert faro.kept_memory() == 0 and (view == kept[1:, ::2]).all()  # a view keeps it
    del view
    assert faro.kept_memory() == 8 << 20
    z = faro.flip(x)
    z.resize((1 << 11, 1 << 10), refcheck=False)
    assert (z[: 1 << 10] == x[::-1, ::-1]).all() and not z[1 << 10 :].any()
    z.resize((10,), refcheck=False)
    assert (z == x[-1, ::-1][:10]).all()
    wide = np.zeros(LARGE)  # NumPy's own arrays are NumPy's own
    before = faro.kept_memory()
    del wide
    assert faro.kept_memory() == before


def test_no_more_is_kept_than_asked():
    x = np.zeros(LARGE)
    faro.keep_memory(20 << 20)
    results = [faro.flip(x) for _ in range(5)]
    del results
    assert 0 < faro.kept_memory() <= 20 << 20
    faro.keep_memory(0)
    assert faro.kept_memory() == 0
    faro.flip(x)
    assert faro.kept_memory() == 0
    for wrong in (-1, 1.5, None, 1 << 70):
        with pytest.raises(faro.FaroError):
            faro.keep_memory(wrong)


def test_take_and_what_is_written_with_strides():
    x = np.arange(1 << 20)
    index = np.random.default_rng(2).integers(0, 1 << 20, 1 << 20)
    for _ in range(3):
        assert (faro.take(x, index) == index).all()
        out = np.zeros((1 << 20, 2), int)
        assert (faro.flip(x, out=out[:, 0]) == x[::-1]).all() and not out[:, 1].any()
    assert faro.kept_memory() > 0


def test_threads():
    x = np.arange(1 << 19).reshape(1 << 9, 1 << 10)

    def work(seed):
        for _ in range(20):
            y = faro.roll(x, seed, 1)
            z = faro.permute_dims(y, (1, 0))
            assert (y == np.roll(x, seed, 1)).all() and (z == y.T).all()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))


@pytest.mark.parametrize("said, kept", [("0", "0"), ("16777216", "8388608")])
def test_the_environment_says_how_much(said, kept):
    program = "import faro, numpy as np; faro.flip(np.zeros(1 << 20)); print(faro.kept_memory())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "FARO_KEEP_MEMORY": said})
    assert done.stdout.strip() == kept, done.stderr


def test_an_environment_that_says_nothing_known():
    done = subprocess.run([sys.executable, "-c", "import faro"], capture_output=True, text=True,
                          env={**os.environ, "FARO_KEEP_MEMORY": "much"})
    assert "FARO_KEEP_MEMORY" in done.stderr and done.returncode != 0


def test_import_takes_only_what_most_programs_call():
    program = """
import sys, faro
later = {f"faro.{name}" for name in (*faro._LATER, *faro._MODULES)}
assert not later & set(sys.modules), later & set(sys.modules)
assert faro.simulate.__module__ == "faro._authors" and "faro.shards" not in sys.modules
assert faro.shards.__name__ == "faro.shards" and not hasattr(faro, "nonsense")
faro.clear_plans()
from faro import *
assert take_columns is faro.take_columns and set(faro.__all__) <= set(dir(faro)) and len(faro.__all__) == len(set(faro.__all__))
"""
    subprocess.run([sys.executable, "-c", program], check=True)
