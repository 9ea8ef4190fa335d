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


@given(st.data())
def test_residues(data):
    """Each below a modulus of its own, wherever their axis is."""
    shape = tuple(data.draw(st.lists(st.integers(1, 4), max_size=3)))
    n = data.draw(st.integers(1, 20))
    k = data.draw(st.integers(-99, 99).filter(lambda k: math.gcd(k, 2 * n) == 1))
    dtype = np.dtype(data.draw(st.sampled_from(["u1", "u2", "u4", "u8"])))
    of = tuple(extent if data.draw(st.booleans()) else 1 for extent in shape[data.draw(st.integers(0, len(shape))):])
    random = np.random.default_rng(n)
    moduli = random.integers(2, 2 ** (8 * dtype.itemsize), of, np.uint64, endpoint=dtype.itemsize < 8) if math.prod(of) else np.ones(of)
    most = np.broadcast_to(moduli, shape)[..., None]
    x = (random.integers(0, 2**64, shape + (n,), np.uint64) % most).astype(dtype)
    wanted = np.zeros_like(x)
    for i in range(n):
        turned = (most[..., 0] - x[..., i]) % most[..., 0]
        wanted[..., k * i % n] = x[..., i] if k * i % (2 * n) < n else turned.astype(dtype)
    given = moduli if data.draw(st.booleans()) else moduli.tolist()
    assert (faro.permute_negacyclic(x, k, modulus=given) == wanted).all()


def test_transforms_of_residues():
    """Transformed and permuted is permuted and transformed, of each residue modulo its prime."""
    n, k = 8, 5
    primes, roots = [97, 193, 257], []
    for q in primes:
        roots.append(next(r for r in range(2, q) if pow(r, n, q) == q - 1))  # of order 2 n
    x = np.random.default_rng(1).integers(0, 97, (2, 3, n), np.uint64)
    order = [2 * int(format(p, "03b")[::-1], 2) + 1 for p in range(n)]

    def transformed(y):
        return np.array([[[sum(int(c) * pow(r, e * i, q) for i, c in enumerate(one)) % q for e in order]
                          for one, q, r in zip(part, primes, roots)] for part in y], np.uint64)

    assert (transformed(faro.permute_negacyclic(x, k, modulus=primes)) == faro.permute_evaluations(transformed(x), k)).all()


def test_what_is_wrong():
    x = np.arange(12)
    residues = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    for moduli in ([5, 7], [[5, 7, 11]] * 3, [5.0, 7, 11], "97", [5, 7, -1], [], [5, 7, 2**33], np.ones((2, 3, 4), int), [[5], [7, 11]], None):
        with pytest.raises(faro.FaroError):
            faro.permute_negacyclic(residues, 3, modulus=moduli)
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
