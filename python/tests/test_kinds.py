"""Arrays of every kind by every function: what the result is an array of, masks, missing values, units, and values that are
filled in."""

import array
import ctypes
import warnings

import numpy as np
import pytest

import faro
from faro import maps

ROUTING = faro.route([[1, 0], [0, 1], [2, 0], [0, 2]], 3, multiple=4)
PLAN = faro.plan("gray", shape=(4, 4), itemsize=8)
ROWS = faro.plan_rows("take", [2, 0, 2], 4)
FAMILY = faro.family((None, 4), (1, 0), itemsize=8)

# Every function that moves an array of shape (4, 4) of 8 bytes to a new one.
MOVES = {
    "permute_dims": lambda x: faro.permute_dims(x, (1, 0)),
    "transpose": lambda x: faro.transpose(x),
    "ascontiguousarray": lambda x: faro.ascontiguousarray(x),
    "flip": lambda x: faro.flip(x, 1),
    "roll": lambda x: faro.roll(x, 3),
    "roll of axes": lambda x: faro.roll(x, (1, 2), (0, 1)),
    "permute by text": lambda x: faro.permute(x, "bit_reversal"),
    "permute by map": lambda x: faro.permute(x, maps.gray(4)),
    "permute an axis": lambda x: faro.permute(x, "flip", axis=1),
    "bit_reverse": lambda x: faro.bit_reverse(x, 0),
    "permute_qubits": lambda x: faro.permute_qubits(x, (1, 0)),
    "rearrange": lambda x: faro.rearrange(x, "(a b) c -> b (c a)", a=2),
    "aos_to_soa": lambda x: faro.aos_to_soa(x),
    "soa_to_aos": lambda x: faro.soa_to_aos(x),
    "take": lambda x: faro.take(x, [2, 0, 2], 1),
    "take of all": lambda x: faro.take(x, [15, 3]),
    "take back": lambda x: faro.take(x, [2, 0, 3, 1], 0, inverse=True),
    "take with a fill": lambda x: faro.take(x, [2, -1], 0, fill=7),
    "take_columns": lambda x: faro.take_columns({"a": x, "b": np.arange(4)}, [3, 1])["a"],
    "take_blocks": lambda x: faro.take_blocks([x], [[3, -1]])[0],
    "take_segments": lambda x: faro.take_segments(x, [0, 3, 4], [1, 0])[0],
    "plan_rows": lambda x: ROWS(x),
    "dispatch": lambda x: faro.dispatch(x, ROUTING),
    "permute_evaluations": lambda x: faro.permute_evaluations(x, 3),
    "plan": lambda x: PLAN(x),
    "family": lambda x: FAMILY(x),
}
# Functions that take no masks: they do arithmetic with the elements.
SUMS = {
    "sort": lambda x: faro.sort(x),
    "sort of all": lambda x: faro.sort(x, None),
    "network": lambda x: faro.network(x, "wht"),
    "astype": lambda x: faro.astype(x, "float32", (1, 0)),
    "walsh_hadamard": lambda x: faro.walsh_hadamard(x),
    "fft": lambda x: faro.fft(x),
    "combine": lambda x: faro.combine(faro.take(x, ROUTING.rows % 4, 0), ROUTING),
    "permute_negacyclic": lambda x: faro.permute_negacyclic(x, 3),
    # A rank may have a mask where another has none.
    "shards": lambda x: faro.shards.permute(faro.ascontiguousarray(x), "flip", shape=(4, 4)),
}


def numbers():
    return np.arange(16.0).reshape(4, 4)


def test_every_function_is_here():
    """A new function that takes an array and gives one has to be tried with every kind, too."""
    apart = {"Plan", "plan", "load_plan", "RowPlan", "Routing", "route", "route_rows", "put", "add_at", "put_columns", "add_columns",
             "put_blocks", "open", "relayout", "checkpoint", "transpose_bed", "permute_bits", "quantize_blocks", "dequantize_blocks",
             "cache_layouts", "group", "move_cache", "plan_cache_move", "channels_first",
             "export_wisdom", "import_wisdom", "forget_wisdom",
             "explain_network", "emit", "layout", "layout_convert", "layout_check", "simulate", "synth", "cuda_status", "clear_plans", "keep_memory", "kept_memory"}
    tried = {name.split(" ")[0] for name in (*MOVES, *SUMS)}
    listed = {name for name in faro.__all__ if callable(getattr(faro, name)) and name[0].islower()}
    assert listed - apart - tried == set()


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("masked", [None, False, True])
def test_masks_are_moved(name, hard, masked):
    move, x = MOVES[name], numbers()
    mask = np.ma.nomask if masked is None else np.arange(16).reshape(4, 4) % 5 == 1 if masked else np.zeros((4, 4), bool)
    given = np.ma.MaskedArray(x, mask=mask, fill_value=-5, hard_mask=hard)
    before = given.copy()
    got = move(given)
    assert type(got) is np.ma.MaskedArray and got.fill_value == -5 and got.hardmask == hard
    assert (got.data == move(x)).all()
    assert (np.ma.getmask(got) is np.ma.nomask) == (masked is None)
    numbered = (np.ma.getmaskarray(given) * 1.0) @ np.eye(4)  # a mask moves as numbers do; what is filled in is not masked
    wanted = np.where(move(x) == 7, 0, move(numbered)) if "fill" in name else move(numbered)
    assert (np.ma.getmaskarray(got) == wanted.astype(bool)).all()
    assert (given.data == before.data).all() and (np.ma.getmaskarray(given) == np.ma.getmaskarray(before)).all()


def test_masks_of_views_of_structures_and_of_single_numbers():
    x = np.ma.MaskedArray(np.arange(24.0), mask=np.arange(24) % 3 == 0).reshape(4, 6)[::-1, ::2]
    assert repr(faro.permute_dims(x, (1, 0))) == repr(x.transpose(1, 0).copy())
    assert repr(faro.take(x, [2, 0], 1)) == repr(x[:, [2, 0]].copy())
    one = faro.flip(np.ma.MaskedArray(3.0, mask=True))
    assert one.shape == () and one.mask.all()
    one = faro.flip(np.ma.array([1, 2], mask=[0, 1])[1])  # numpy.ma.masked
    assert one.shape == () and one.mask.all()
    records = np.ma.array([(1, 2), (3, 4)], mask=[(0, 1), (0, 0)], dtype=[("a", "i4"), ("b", "i4")])
    assert faro.flip(records).mask.tolist() == [(False, False), (False, True)]
    assert faro.aos_to_soa(records).mask.tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize("name", SUMS)
def test_masked_arrays_are_no_terms_of_sums(name):
    for mask in (np.ma.nomask, np.eye(4, dtype=bool)):
        x = np.ma.MaskedArray(numbers().astype(complex if name == "fft" else float), mask=mask)
        with pytest.raises(faro.FaroValueError, match="a masked array") as refused:
            SUMS[name](x)
        assert "filled" in refused.value.remedy
        SUMS[name](x.filled(0))


def test_masked_outputs_are_refused():
    x, out = numbers(), np.ma.MaskedArray(np.zeros((4, 4)))
    calls = [
        lambda a, b: faro.flip(b, out=a), lambda a, b: faro.take(b, [0, 1, 2, 3], 0, out=a), lambda a, b: faro.put(a, [1], b[:1]),
        lambda a, b: faro.add_at(a, [1], b[:1]), lambda a, b: faro.put_columns([a], [1], [b[:1]]),
        lambda a, b: faro.sort(b, out=a), lambda a, b: faro.add_columns([a], [1], [b[:1]]),
        lambda a, b: faro.take_columns([b], [0, 1, 2, 3], out=[a]), lambda a, b: PLAN(b, out=a),
        lambda a, b: faro.permute(b, "flip", axis=0, out=a),
    ]
    for call in calls:
        with pytest.raises(faro.FaroValueError, match="masked") as refused:
            call(out, x)
        assert "a.data" in refused.value.remedy and not out.data.any()
        call(np.zeros((4, 4)), x)
        with pytest.raises(faro.FaroValueError, match="masked") as refused:  # the mask would be lost
            call(np.zeros((4, 4)), np.ma.MaskedArray(x, mask=np.eye(4, dtype=bool)))
        assert "x.filled" in refused.value.remedy
    for call in (faro.flip, faro.bit_reverse, faro.permute_dims, lambda a, in_place: faro.roll(a, 1, in_place=in_place)):
        with pytest.raises(faro.FaroValueError, match="masked"):
            call(np.ma.MaskedArray(x), in_place=True)


class Named(np.ndarray):
    """A subclass that carries something."""


def arrays_of_libraries(tmp_path):
    """(name, an array of ``numbers()``)."""
    x = numbers()
    yield "matrix", np.matrix(x)
    yield "subclass", x.view(Named)
    mapped = np.memmap(tmp_path / "mapped", x.dtype, "w+", shape=x.shape)
    mapped[:] = x
    yield "memmap", mapped
    yield "lists", x.tolist()
    yield "ctypes", (ctypes.c_double * 4 * 4)(*(tuple(row) for row in x))

    def of(name, make):
        try:
            found = __import__(name, fromlist=["_"])
        except ImportError:
            return None
        return name, make(found)

    def netcdf(netCDF4):
        file = netCDF4.Dataset(tmp_path / "a.nc", "w")
        file.createDimension("a", 4)
        variable = file.createVariable("x", "f8", ("a", "a"))
        variable[:] = x
        variable.set_auto_mask(False)
        return variable

    def tables(pandas):
        return pandas.DataFrame(x)

    some = [
        ("pandas", tables), ("xarray", lambda xr: xr.DataArray(x, dims=("a", "b"), attrs={"units": "m"})),
        ("astropy.units", lambda u: x * u.m), ("astropy.table", lambda table: table.Column(x)),
        ("unyt", lambda unyt: unyt.unyt_array(x, "m")), ("pint", lambda pint: pint.UnitRegistry().Quantity(x, "m")),
        ("dask.array", lambda da: da.from_array(x)), ("pyarrow", lambda pa: pa.Tensor.from_numpy(x)),
        ("h5py", lambda h5py: h5py.File(tmp_path / "a.h5", "w").create_dataset("x", data=x)),
        ("zarr", lambda zarr: zarr.array(x)), ("blosc2", lambda blosc2: blosc2.asarray(x)), ("netCDF4", netcdf),
        ("tensorstore", lambda tensorstore: tensorstore.array(x)), ("polars", lambda polars: polars.DataFrame(x)),
        ("awkward", lambda awkward: awkward.Array(x)),
    ]
    yield from filter(None, (of(*each) for each in some))


@pytest.mark.filterwarnings("ignore")
def test_whoever_has_no_kind_of_its_own_gets_an_array_of_numpy(tmp_path):
    for kind, x in arrays_of_libraries(tmp_path):
        for name, call in {**MOVES, **SUMS}.items():
            if kind in ("pandas", "polars") and name == "plan_rows":  # columns of a table
                continue
            wanted = None if name == "fft" else call(numbers())
            try:
                got = call(x)
            except faro.FaroTypeError:
                assert name == "fft"  # these numbers are not complex
                continue
            assert type(got) is np.ndarray and got.dtype == wanted.dtype and (got == wanted).all(), (kind, name)


@pytest.mark.parametrize("name", {**MOVES, **SUMS})
def test_whoever_has_a_kind_keeps_it(name):
    call = {**MOVES, **SUMS}[name]
    dtype = "c8" if name == "fft" else "f8"
    wanted = call(numbers().astype(dtype))
    if name not in ("fft", "aos_to_soa", "soa_to_aos", "shards", "astype"):
        got = call(memoryview(numbers()))
        assert type(got) is memoryview and (np.asarray(got) == wanted).all()
    torch = pytest.importorskip("torch")
    got = call(torch.from_numpy(numbers().astype(dtype)))
    assert type(got) is torch.Tensor and (got.numpy() == wanted).all()
    jax = pytest.importorskip("jax")
    if name not in ("plan", "family", "shards", "combine"):  # of 8 bytes, which these are not, or with indices of NumPy
        got = call(jax.numpy.asarray(numbers().astype("c8" if name == "fft" else "f4")))
        assert isinstance(got, jax.Array) and (np.asarray(got) == wanted).all()


class Handle:
    """A file's array, that counts how often it is read."""

    shape, ndim, dtype = (4, 4), 2, np.dtype("f8")
    reads = 0

    def __array__(self, dtype=None, copy=None):
        self.reads += 1
        return numbers()


@pytest.mark.parametrize("name", MOVES)
def test_handles_are_read_once(name):
    handle = Handle()
    got = MOVES[name](handle)
    assert type(got) is np.ndarray and (got == MOVES[name](numbers())).all()
    assert handle.reads == 1


class Lent:
    """An array of a library that offers DLPack and makes no arrays of it."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def test_lent_by_dlpack():
    for name, call in MOVES.items():
        got = call(Lent(numbers()))
        assert type(got) is np.ndarray and (got == call(numbers())).all(), name


def test_kinds_of_memory():
    assert type(faro.flip(b"abc")) is np.ndarray and type(faro.ascontiguousarray(b"abc")) is np.ndarray
    assert type(faro.ascontiguousarray(array.array("d", [1, 2]))) is np.ndarray
    for x in (numbers(), numbers().astype("c8"), numbers().astype("M8[s]").view("i8"), np.zeros((2, 2), "?"),
              np.zeros((2, 3), "f2")):
        got = faro.permute_dims(memoryview(x), (1, 0))
        assert type(got) is memoryview and (np.asarray(got) == x.T).all() and got.format == memoryview(x).format
    got = faro.permute(bytearray(range(15)), "transpose(3, 5)", in_place=True)
    assert got.shape == (5, 3) and got[1, 2] == 11


@pytest.mark.parametrize("one", [
    np.float32(3.5), np.float64(2), np.int8(-3), np.bool_(True), np.complex64(1 + 2j), np.datetime64("2020-01-01"),
    np.timedelta64(5, "s"), np.str_("abc"), np.bytes_(b"abc"), np.float16(0.5), np.longdouble(3),
    np.array((1, 2.5), np.dtype([("a", "u1"), ("b", "f8")], align=True))[()],
], ids=lambda one: type(one).__name__)
def test_scalars_of_numpy(one):
    for call in (faro.flip, faro.permute_dims, faro.ascontiguousarray, lambda x: faro.permute(x, "transpose"),
                 lambda x: faro.roll(x, 2)):
        got = call(one)
        assert type(got) is np.ndarray and got.shape == () and got.dtype == one.dtype and got == one
    assert faro.take(one, [0, 0]).tolist() == [one.item()] * 2
    with pytest.raises(faro.FaroTypeError):
        faro.flip(one, in_place=True)


# --- missing values


def test_netcdf_variables_come_with_their_mask(tmp_path):
    netCDF4 = pytest.importorskip("netCDF4")
    file = netCDF4.Dataset(tmp_path / "a.nc", "w")
    file.createDimension("a", 4)
    variable = file.createVariable("x", "f8", ("a", "a"), fill_value=-9.0)
    variable[:3] = numbers()[:3]
    for name, move in MOVES.items():
        got = move(variable)
        assert isinstance(got, np.ma.MaskedArray), name
        assert repr(got) == repr(move(variable[...])), name
    with pytest.raises(faro.FaroValueError, match="masked"):
        faro.sort(variable)
    whole = file.createVariable("n", "i4", ("a",), fill_value=-1)
    whole[:2] = [1, 0]
    with pytest.raises(faro.FaroValueError, match="masked"):
        faro.take(numbers(), whole, 0)


def missing():
    """Columns with missing values, and the same with the remedy."""
    try:
        import pyarrow as pa

        for x in (pa.array([1, None, 3, 4]), pa.chunked_array([[1.5, None], [3, 4]]), pa.array([True, None, False, True])):
            yield x, x.fill_null(0 if x.type != pa.bool_() else False)
        yield pa.table({"a": [1, None]}), None
    except ImportError:
        pass
    try:
        import pandas as pd

        yield pd.Series(pd.Categorical([1, 2, None])), None
        for x in (pd.Series([1, None, 3, 4], dtype="Int64"), pd.array([1.5, None, 3, 4], dtype="Float64"),
                  pd.Series([True, None, False, True], dtype="boolean"),
                  pd.DataFrame({"a": pd.array([1, None, 3, 4], dtype="Int32")})):
            yield x, x.fillna(False if "bool" in str(getattr(x, "dtype", "")) else 0)
    except ImportError:
        pass
    try:
        import polars

        x = polars.Series([1, None, 3, 4])
        yield x, x.fill_null(0)
    except ImportError:
        pass


def test_missing_values_are_refused():
    calls = [faro.flip, faro.ascontiguousarray, lambda x: faro.take(x, [0, 1], 0), lambda x: faro.roll(x, 1, 0),
             lambda x: faro.sort(x, 0),
             lambda x: faro.take_columns([x], [1, 0])[0], lambda x: faro.permute(x, "flip", axis=0),
             lambda x: faro.take_segments(x, [0, 2], [0])[0]]
    for x, remedied in missing():
        for call in calls:
            with pytest.raises(faro.FaroValueError, match="with missing values") as refused:
                call(x)
            assert "fill" in refused.value.remedy
            assert remedied is None or (call(remedied) == call(np.asarray(remedied))).all()
        with pytest.raises(faro.FaroError):
            faro.take(np.arange(5), x)


def test_arrow_without_missing_values():
    pa = pytest.importorskip("pyarrow")
    for x in (pa.array([1, 2, 3]), pa.chunked_array([[1], [2, 3]]), pa.array([True, False, True]),
              pa.array([1, 2, 3], pa.timestamp("s")),
              pa.array(np.array([1, 2, 3], "f2")), pa.array([0, 1, 2, 3])[1:]):
        for call in (faro.flip, faro.ascontiguousarray, lambda x: faro.take(x, [2, 2, 0]),
                     lambda x: faro.take_columns([x], [1])[0]):
            got = call(x)
            assert type(got) is np.ndarray and got.shape and (got == call(np.asarray(x))).all()
    assert faro.take(np.arange(5) * 2, pa.array([3, 1])).tolist() == [6, 2]
    with pytest.raises(faro.FaroError):
        faro.flip(pa.array(["a", "b"]))
    with pytest.raises(faro.FaroError):
        faro.put(pa.array([1, 2]), [0], np.array([5]))


@pytest.mark.filterwarnings("ignore")
def test_masks_of_other_classes_are_refused():
    masked = pytest.importorskip("astropy.utils.masked")
    x = masked.Masked(numbers(), mask=numbers() > 3)
    for name, call in MOVES.items():
        with pytest.raises(faro.FaroValueError, match="which has a mask"):
            call(x)
        assert isinstance(call(np.ma.array(x.unmasked, mask=x.mask)), np.ma.MaskedArray), name
    pint = pytest.importorskip("pint")
    x = pint.UnitRegistry().Quantity(np.ma.array([1.0, 2], mask=[0, 1]), "m")
    with pytest.raises(faro.FaroValueError, match="masked"):
        faro.flip(x)
    assert faro.flip(x.magnitude).mask.tolist() == [True, False]


def test_lists_of_masked_arrays_are_refused():
    with pytest.raises(faro.FaroValueError, match="masked"):
        faro.flip([np.ma.array([1, 2], mask=[0, 1]), np.ma.array([3, 4])])


@pytest.mark.filterwarnings("ignore")
def test_numbers_are_not_written_to_another_unit():
    u = pytest.importorskip("astropy.units")
    x, out = numbers() * u.km, np.zeros((4, 4)) * u.m
    calls = [
        lambda x, out: faro.flip(x, out=out), lambda x, out: faro.take(x, [0, 1, 2, 3], 0, out=out),
        lambda x, out: faro.put(out, [1], x[:1]), lambda x, out: faro.add_at(out, [1], x[:1]),
        lambda x, out: faro.permute(x, "flip", axis=0, out=out), lambda x, out: PLAN(x, out=out),
        lambda x, out: faro.take_columns([x], [0, 1, 2, 3], out=[out]), lambda x, out: faro.put_columns([out], [1], [x[:1]]),
        lambda x, out: faro.sort(x, out=out), lambda x, out: faro.permute_evaluations(x, 3, out=out),
        lambda x, out: faro.take_segments(x, [0, 4], [0], out=out), lambda x, out: faro.walsh_hadamard(x, out=out),
    ]
    for call in calls:
        with pytest.raises(faro.FaroTypeError, match="an output in m"):
            call(x, out)
        assert not out.value.any()
        call(x, out.view(np.ndarray))
        assert out.value.any()
        out.value[...] = 0
    assert faro.flip(x, in_place=True) is x and x.unit == u.km


# --- values that are filled in


def bits(x):
    return np.ascontiguousarray(x).tobytes().hex()


def filled_with(fill, dtype):
    return faro.take(np.ones(2, dtype), [-1, 0], fill=fill)[:1]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", ">f4", ">c16", "bfloat16", "float8_e5m2"])
def test_fills_keep_their_sign(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    for fill in (-0.0, np.float32(-0.0), np.float64(-0.0), np.array(-0.0), 0.0, 1.5, float("inf"), -1):
        assert bits(filled_with(fill, dtype)) == bits(np.array([fill], dtype)), fill
    for fill in (complex(-0.0, -0.0), complex(0.0, -0.0), 1 - 2j):
        if dtype.kind == "c":
            assert bits(filled_with(fill, dtype)) == bits(np.array([fill], dtype)), fill
        else:
            with pytest.raises(faro.FaroError):
                filled_with(fill, dtype)


def test_fills_keep_their_bits():
    for bits_of, dtype in ((0x7FA12345, "f4"), (0xFFC00001, "f4"), (0x7FF4000000000123, "f8"), (0xFE01, "f2")):
        raw = np.array([bits_of], "u" + dtype[1:])
        assert filled_with(raw.view(dtype)[0], dtype).view(raw.dtype)[0] == bits_of


RECORD = np.dtype([("a", "u1"), ("b", "f8")], align=True)


@pytest.mark.parametrize("dtype, fill, wanted", [
    ("?", False, False), ("?", np.False_, False), ("?", True, True), ("i4", True, 1), ("u1", 255, 255), (">i4", 7, 7),
    ("i8", 2**62, 2**62), ("M8[D]", np.datetime64("NaT", "D"), np.datetime64("NaT", "D")),
    ("M8[D]", np.datetime64("2020-01-02"), np.datetime64("2020-01-02")),
    ("M8[s]", np.datetime64("2020-01-02"), np.datetime64("2020-01-02T00:00:00")),
    ("M8[D]", "2020-03-01", np.datetime64("2020-03-01")), ("m8[s]", np.timedelta64(5, "s"), np.timedelta64(5, "s")),
    ("U3", "abc", "abc"), ("U3", "a", "a"), ("S3", b"ab", b"ab"), ("S3", np.bytes_(b"abc"), b"abc"), (RECORD, (3, 4.5), (3, 4.5)),
    (RECORD, np.array((3, 4.5), RECORD)[()], (3, 4.5)), ("V3", b"abc", b"abc"),
])
def test_fills_of_every_type(dtype, fill, wanted):
    got = filled_with(fill, dtype) if dtype != "V3" else faro.take(np.zeros(2, "V3"), [-1], fill=fill)
    assert bits(got) == bits(np.array([wanted], dtype)) or (got == np.array([wanted], dtype)).all()


@pytest.mark.parametrize("dtype, fill", [
    ("u1", 300), ("u1", np.int64(300)), ("u1", -1), ("?", 5), ("i4", 2.5), ("f4", 1j), ("f2", 1e9), ("U3", "abcd"), ("U3", 5),
    ("S3", b"abcd"), ("f4", "1"), ("M8[D]", "no date"), ("M8[D]", np.datetime64("2020-01-02T03")),
    ("m8[s]", np.timedelta64(5, "ms")), ("f4", np.ma.masked), ("u1", "q"), (RECORD, "q"),
])
def test_fills_that_are_not_held(dtype, fill):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(faro.FaroError) as refused:
            filled_with(fill, dtype)
    assert "fill" in str(refused.value)


def test_fills_of_tensors():
    torch = pytest.importorskip("torch")
    for dtype, fill in ((torch.float32, -0.0), (torch.bfloat16, -0.0), (torch.complex64, complex(-0.0, -0.0)),
                        (torch.float16, 0.1),
                        (torch.int32, -3), (torch.bool, False), (torch.float64, torch.tensor(-0.0)),
                        (torch.float32, np.float32(-0.0))):
        got = faro.take(torch.ones(2, dtype=dtype), [-1], fill=fill)
        assert got.dtype == dtype
        assert bytes(got.view(torch.uint8).tolist()) == bytes(torch.tensor([fill], dtype=dtype).view(torch.uint8).tolist())
    raw = np.array([0x7FA12345], "u4")
    got = faro.take(torch.ones(2), [-1], fill=raw.view("f4")[0])
    assert got.view(torch.int32).item() == 0x7FA12345
    for dtype, fill in ((torch.uint8, 300), (torch.int32, 2.5), (torch.float32, 1j), (torch.float16, 1e9), (torch.bool, 5)):
        with pytest.raises(faro.FaroTypeError):
            faro.take(torch.ones(2, dtype=dtype), [-1], fill=fill)


# --- sorts


NARROW = ["i1", "u1", "i2", "u2", "f2", ">i2", ">u2", ">f2", ">f4", ">f8", "f4", "f8", ">i4", "?", "bfloat16", "float8_e4m3fn",
          "float8_e5m2",
          "float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", NARROW)
def test_sort_is_a_permutation_of_the_bits(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if dtype.startswith(("float8", "bfloat")) and not hasattr(ml_dtypes, dtype):
        pytest.skip("a type of newer libraries")
    dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rng = np.random.default_rng(3)
    for shape, axis in (((300,), 0), ((64,), 0), ((5, 37), 0), ((5, 37), 1), ((4, 8), None), ((0, 3), 0)):
        raw = rng.integers(0, 2 if dtype.kind == "b" else 256, (*shape, dtype.itemsize), np.uint8)
        x = raw.view(dtype)[..., 0]
        got = faro.sort(x, axis)
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        whole = f"{'>' if dtype.byteorder == '>' else '<'}u{dtype.itemsize}"
        assert got.dtype == dtype and got.shape == x.shape
        assert (np.sort(got.view(whole), axis) == np.sort(x.view(whole), axis)).all()
        steps = np.diff(got.astype("f8"), axis=axis)
        assert not (steps < 0).any()
        out = np.empty(x.shape, dtype)
        assert faro.sort(x, axis, out=out) is out and out.tobytes() == got.tobytes()


def test_order_of_special_floats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([0x7FB1, 0x3F80, 0xFF93, 0x7F80, 0x8000, 0, 0xFF80], np.uint16)
    assert faro.sort(x.view(ml_dtypes.bfloat16)).view("u2").tolist() == [0xFF93, 0xFF80, 0x8000, 0, 0x3F80, 0x7F80, 0x7FB1]


def test_floats_without_negative_zero_have_their_nan_last():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e4m3b11fnuz):
        x = np.random.default_rng(5).permutation(256).astype(np.uint8).view(dtype)
        got = faro.sort(x)
        assert (np.sort(got.view("u1")) == np.arange(256)).all() and got.view("u1")[-1] == 0x80
        assert (np.diff(got[:-1].astype("f8")) > 0).all()


def test_sort_of_narrow_tensors():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    for dtype in (torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2, torch.int8, torch.uint8, torch.int16,
                  torch.bool):
        width = torch.empty(0, dtype=dtype).element_size()
        raw = torch.from_numpy(rng.integers(0, 2 if dtype == torch.bool else 256, (3, 100, width), np.uint8))
        x, whole = raw.view(dtype)[..., 0], torch.uint8 if width == 1 else torch.int16
        got = faro.sort(x, 1)
        assert got.dtype == dtype
        assert (got.view(whole).sort(1).values == x.contiguous().view(whole).sort(1).values).all()
        assert not (got.to(torch.float64).diff(dim=1) < 0).any()


# --- memory, and texts of what is not as the map wants it


def test_results_that_no_memory_holds():
    one = np.zeros(1, "c16")
    calls = [lambda: maps.bit_reversal(44).indices, lambda: faro.ascontiguousarray(np.broadcast_to(one, (1 << 40,))),
             lambda: faro.flip(np.broadcast_to(one, (1 << 20, 1 << 20))),
             lambda: faro.take(np.broadcast_to(one, (2, 1 << 39)), [1, 0], 0)]
    for call in calls:
        with pytest.raises(faro.FaroMemoryError) as refused:
            call()
        assert isinstance(refused.value, MemoryError) and "bytes" in refused.value.got
    torch = pytest.importorskip("torch")
    for call in (lambda: faro.ascontiguousarray(torch.zeros(1, dtype=torch.complex128).expand(1 << 40)),
                 lambda: faro.flip(torch.zeros(1, dtype=torch.complex128).expand(1 << 40))):
        with pytest.raises(faro.FaroMemoryError):
            call()


def test_segments_have_no_fill():
    for index in (-1, 7):
        with pytest.raises(faro.FaroValueError) as refused:
            faro.take_segments(np.arange(5), [0, 5], [index])
        assert "fill" not in str(refused.value) and f"segment {index}" in str(refused.value) and "0 to 0" in refused.value.wanted


@pytest.mark.parametrize("text", ["bit_reversal", "gray", "circuit(x 0)", "swap_bits(3, 20)", "inverse(gray)",
                                  "compose(flip, gray)", "identity"])
@pytest.mark.parametrize("shape", [(35,), (5, 7), (0,), (6,)])
def test_maps_of_bits_say_what_they_want(text, shape):
    count = int(np.prod(shape))
    for call in (lambda x: faro.permute(x, text), lambda x: faro.permute(x, text, in_place=True),
                 lambda x: maps.parse(text, shape)):
        with pytest.raises(faro.FaroValueError) as refused:
            call(np.arange(count).reshape(shape))
        assert refused.value.got == f"{count} elements" and "a power of two" in refused.value.wanted
    with pytest.raises(faro.FaroValueError, match=f"got {count} elements, wanted a power of two"):
        faro.bit_reverse(np.zeros(shape))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (5,), (8,)])
def test_transpose_of_fewer_than_two_axes(shape):
    x = np.arange(float(np.prod(shape))).reshape(shape)
    for how in ({}, {"in_place": True}):
        for call in (lambda x: faro.transpose(x, **how), lambda x: faro.permute_dims(x, **how),
                     lambda x: faro.permute(x, "transpose", **how),
                     lambda x: faro.permute(x, "inverse(transpose)", **how)):
            got = call(x.copy())
            assert got.shape == shape and (got == x.T).all()
    if x.size:
        assert faro.plan("transpose", x).out_shape == shape
        assert maps.parse("transpose", shape or (1,)).is_identity
