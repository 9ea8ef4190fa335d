"""What the tests of stores share: an array, and a store that is read and turned."""

import random

import numpy as np

import faro

A = (np.random.default_rng(0).random((7, 11, 13)) * 100).astype("f4")


def turned(path, want, tmp_path, axes=None, **options):
    """What is read is what is wanted, turned, by way of .npy."""
    out = tmp_path / "out.npy"
    axes = axes or tuple(random.Random(str(path)).sample(range(want.ndim), want.ndim))
    done = faro.relayout(path, out, axes=axes, memory=20000, verify=True, **options)
    assert done.finished and done.verified and done.memory_bytes <= 20000
    np.testing.assert_array_equal(np.load(out), np.transpose(want, axes))


def saved(tmp_path, array=A):
    np.save(tmp_path / "in.npy", array)
    return tmp_path / "in.npy"
