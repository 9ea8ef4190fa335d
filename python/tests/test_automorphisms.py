"""X -> X^k of polynomials modulo X^n + 1, beside sums of their terms."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import faro


@given(st.data())
def test_coefficients(data):
    n = data.draw(st.integers(1, 40))
    k = data.draw(st.integers(-(2**62), 2**62).filter(lambda k: math.gcd(k, 2 * n) == 1))
    dtype = np.dtype(data.draw(st.sampled_from(["i1", "i4", "u8", "f4", "f8", "f2"])))
    x = np.random.default_rng(n).integers(0, 100, (data.draw(st.integers(0, 3)), n)).astype(dtype)
    wanted = np.zeros_like(x)
    for i in range(n):
        wanted[:, k * i % n] = x[:, i] if k * i % (2 * n) < n else -x[:, i]
    got = faro.permute_negacyclic(x, k)
    assert got.dtype == dtype and (got == wanted).all()
    assert (faro.permute_negacyclic(got, pow(k, -1, 2 * n)) == x).all()
    out = np.zeros((len(x), 2 * n), dtype)[:, ::2]
    assert faro.permute_negacyclic(x[::-1], k, out=out) is out and (out == wanted[::-1]).all()
    if dtype.kind == "u":
        assert (faro.permute_negacyclic(x, k, modulus=101) == np.where(wanted > 100, wanted + np.uint64(101), wanted)).all()


@given(st.integers(0, 6), st.integers(-99, 99).map(lambda k: 2 * k + 1), st.sampled_from(["u1", "f8", "c16", "V24"]))
def test_values(bits, k, dtype):
    n = 1 << bits
    at = [2 * int(format(p, "b").zfill(bits)[::-1], 2) + 1 if bits else 1 for p in range(n)]
    x = np.random.default_rng(bits).integers(0, 100, (3, n, np.dtype(dtype).itemsize), np.uint8).view(dtype).reshape(3, n)
    wanted = x[:, [at.index(k * e % (2 * n)) for e in at]]
    assert faro.permute_evaluations(x, k).tobytes() == wanted.tobytes()


def test_what_is_wrong():
    x = np.arange(12)
    for call in (lambda: faro.permute_negacyclic(x, 3), lambda: faro.permute_negacyclic(x, 2), lambda: faro.permute_negacyclic(x, 7.5),
                 lambda: faro.permute_negacyclic(x, 7, modulus=5), lambda: faro.permute_negacyclic(x, 7, modulus=-1),
                 lambda: faro.permute_negacyclic(x.astype("c16"), 7), lambda: faro.permute_negacyclic(np.int64(3), 1),
                 lambda: faro.permute_negacyclic(x, 7, out=x), lambda: faro.permute_negacyclic(x, 7, out=np.zeros(11, int)),
                 lambda: faro.permute_negacyclic(x, 7, stream=1), lambda: faro.permute_evaluations(x, 5),
                 lambda: faro.permute_evaluations(x[:8], 4), lambda: faro.permute_evaluations(None, 5)):
        with pytest.raises(faro.FaroError):
            call()
    assert (x == np.arange(12)).all()
    assert faro.permute_negacyclic(np.zeros((0, 4)), 3).shape == (0, 4)
