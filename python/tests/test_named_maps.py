"""Maps that have names in their fields, against the libraries of those: sequency, Hilbert's curve, HEALPix."""

import pickle

import numpy as np
import pytest

import faro
from faro import maps


def cube(d, b):
    """The coordinates of every element of a row-major cube."""
    return np.stack(np.meshgrid(*[np.arange(2**b)] * d, indexing="ij"), -1).reshape(-1, d)


@pytest.mark.parametrize("n", range(1, 9))
def test_sequency_counts_sign_changes(n):
    rows = np.arange(2**n)
    signs = np.array([[bin(x & t).count("1") % 2 for t in rows] for x in rows])
    changes = (np.diff(signs) != 0).sum(1)
    assert (maps.sequency(n).indices == changes).all()
    assert (maps.sequency(n, "dyadic") @ maps.bit_reversal(n)) == maps.sequency(n, "natural")
    x = np.random.default_rng(n).standard_normal(2**n)
    ordered = faro.permute(faro.walsh_hadamard(x), "sequency")
    assert np.allclose(ordered[changes], (1 - 2 * signs) @ x)
    assert maps.parse("sequency", (2**n,)) == maps.sequency(n)
    assert maps.parse(maps.sequency(n).text) == maps.sequency(n)


def test_sequency_orders_hadamard_of_scipy():
    linalg = pytest.importorskip("scipy.linalg")
    matrix = linalg.hadamard(64)
    ordered = faro.permute(matrix, maps.sequency(6), axis=0)
    assert ((np.diff(ordered) != 0).sum(1) == np.arange(64)).all()
    with pytest.raises(faro.FaroError, match="hadamard.*dyadic"):
        maps.sequency(3, "walsh")


@pytest.mark.parametrize("d, b", [(2, 1), (2, 2), (2, 5), (3, 1), (3, 3), (4, 2), (5, 2), (6, 2)])
def test_hilbert_is_that_of_packages(d, b):
    hilbertcurve = pytest.importorskip("hilbertcurve.hilbertcurve")
    curve = hilbertcurve.HilbertCurve(b, d)
    numbers = curve.distances_from_points(cube(d, b).tolist())
    assert (maps.hilbert(d, b).indices == np.asarray(numbers)).all()


@pytest.mark.parametrize("d, b", [(2, 1), (2, 4), (2, 7), (3, 4), (4, 3), (7, 2)])
def test_hilbert_is_that_of_numpy_hilbert_curve(d, b):
    hilbert = pytest.importorskip("hilbert")
    if not hasattr(hilbert, "encode"):
        pytest.skip("another package of that name")
    assert (maps.hilbert(d, b).indices == hilbert.encode(cube(d, b), d, b).astype(np.int64)).all()


@pytest.mark.parametrize("b", range(1, 7))
def test_hilbert_of_hilbertsfc_by_composition(b):
    sfc = pytest.importorskip("hilbertsfc")
    x, y = cube(2, b).T
    numbers = sfc.hilbert_encode_2d(x, y, nbits=b)
    theirs = maps.hilbert(2, b) if b % 2 == 0 else maps.hilbert(2, b) @ maps.transpose(2**b, 2**b)
    assert (theirs.indices == np.asarray(numbers).astype(np.int64)).all()


def test_hilbert_neighbours_are_neighbours():
    for d, b in ((2, 5), (3, 3), (4, 2)):
        path = faro.permute(cube(d, b), maps.hilbert(d, b), axis=0)
        assert (np.abs(np.diff(path, axis=0)).sum(1) == 1).all()


@pytest.mark.parametrize("k", range(9))
def test_healpix_is_that_of_healpy(k):
    healpy = pytest.importorskip("healpy")
    pixels = np.arange(12 * 4**k)
    assert (maps.healpix(k).indices == healpy.nest2ring(2**k, pixels)).all()
    assert ((~maps.healpix(k)).indices == healpy.ring2nest(2**k, pixels)).all()


@pytest.mark.parametrize("k", [12, 18, 24, 29])
def test_healpix_of_large_maps_at_random(k):
    healpy = pytest.importorskip("healpy")
    pixels = np.random.default_rng(k).integers(0, 12 * 4**k, 500)
    m = maps.healpix(k)
    assert [m(int(p)) for p in pixels] == healpy.nest2ring(2**k, pixels).tolist()
    assert [(~m)(int(p)) for p in pixels] == healpy.ring2nest(2**k, pixels).tolist()


def test_healpix_is_that_of_astropy():
    astropy_healpix = pytest.importorskip("astropy_healpix.core")
    pixels = np.arange(12 * 4**5)
    assert (maps.healpix(5).indices == astropy_healpix.nested_to_ring(pixels, 32)).all()


def test_healpix_orders_a_map_of_healpy():
    healpy = pytest.importorskip("healpy")
    sky = np.random.default_rng(0).standard_normal(12 * 4**6)
    assert (faro.permute(sky, "healpix") == healpy.reorder(sky, n2r=True)).all()
    assert (faro.permute(sky, "inverse(healpix)") == healpy.reorder(sky, r2n=True)).all()


@pytest.mark.parametrize("text", ["hilbert(2, 5)", "hilbert(3, 3)", "hilbert(5, 2)", "healpix(4)", "inverse(hilbert(2, 5))",
                                  "inverse(healpix(4))"])
def test_everything_takes_a_computed_map(text):
    m = maps.parse(text)
    index = np.asarray(m.indices)
    assert m.text == text and maps.parse(m.text) == m and pickle.loads(pickle.dumps(m)) == m and hash(m) == hash(maps.parse(text))
    assert (np.sort(index) == np.arange(m.count)).all() and (~m @ m).is_identity and not m.is_identity
    assert [m(x) for x in range(20)] == index[:20].tolist()
    assert ((m @ maps.roll(m.count, 1)).indices == np.roll(index, -1)).all() and ((m**2).indices == index[index]).all()
    for dtype in (np.uint8, np.float32, np.complex128, "V24"):
        x = np.frombuffer(np.random.default_rng(1).bytes(3 * m.count * np.dtype(dtype).itemsize), dtype).reshape(3, -1)
        expected = np.empty_like(x)
        expected[:, index] = x
        assert faro.permute(x, m, axis=1).tobytes() == expected.tobytes()
        assert faro.permute(expected, m, axis=1, inverse=True).tobytes() == x.tobytes()
    rows = np.arange(m.count * 3).reshape(-1, 3)
    assert (faro.permute(rows, m, axis=0)[index] == rows).all()
    plan = faro.plan(m, np.zeros(m.count, np.float32), engine="cpu")
    assert text in str(plan.explain())
    with pytest.raises(faro.FaroError, match="in place"):
        faro.permute(np.arange(m.count), m, in_place=True)


def test_torch_and_jax_take_computed_maps():
    torch = pytest.importorskip("torch")
    m = maps.hilbert(2, 4)
    x = torch.arange(256.0, requires_grad=True)
    y = faro.permute(x, m)
    assert (y.detach()[torch.from_numpy(np.asarray(m.indices).astype(np.int64))] == x.detach()).all()
    y.pow(2).sum().backward()
    assert (x.grad == 2 * x.detach()).all()


@pytest.mark.parametrize("call, words", [
    (lambda: maps.hilbert(0, 3), "d of 1 or more"), (lambda: maps.hilbert(2, 32), "62"), (lambda: maps.healpix(30), "0 to 29"),
    (lambda: maps.parse("healpix", (100,)), "12 4\\^k"), (lambda: maps.parse("hilbert", (8, 4)), "axes of 2\\^b"),
    (lambda: maps.parse("hilber(2, 3)"), "hilbert")])
def test_refusals(call, words):
    with pytest.raises(faro.FaroError, match=words):
        call()
