"""What is wrong is refused with what was got, what was wanted and the remedy, and nothing is written."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import faro
from faro import _arrays, maps


def test_errors_have_parts():
    with pytest.raises(faro.FaroValueError) as caught:
        faro.permute(np.zeros(8), "bit_reversl")
    error = caught.value
    assert isinstance(error, (ValueError, faro.FaroError))
    assert error.got and error.wanted and "bit_reversal" in error.remedy
    assert str(error).startswith(error.operation) and "\n" not in str(error)


@pytest.mark.parametrize("call", [
    lambda x: faro.permute_dims(x, (0, 0)),
    lambda x: faro.permute_dims(x, (0,)),
    lambda x: faro.permute_dims(x, (0, 2)),
    lambda x: faro.flip(x, 2),
    lambda x: faro.flip(x, (0, 0)),
    lambda x: faro.roll(x, (1, 2, 3), (0, 1)),
    lambda x: faro.roll(x, 1, 5),
    lambda x: faro.permute(x, "gray(4)"),
    lambda x: faro.permute(x, maps.gray(4)),
    lambda x: faro.permute(x, "gray", axis=3),
    lambda x: faro.permute(x, "gray(9)", axis=0),
    lambda x: faro.permute_qubits(x, (0, 1, 2, 3)),
    lambda x: faro.permute_qubits(x, (0, 0, 1)),
    lambda x: faro.rearrange(x, "a b c -> c b a"),
    lambda x: faro.rearrange(x, "a b -> a"),
    lambda x: faro.rearrange(x, "(a c) b -> a b c", a=3),
    lambda x: faro.bit_reverse(x[:, :6], axis=1),
    lambda x: faro.plan("gray", shape=(6,), itemsize=4),
    lambda x: faro.plan("gray", shape=(8,), itemsize=0),
    lambda x: faro.plan("gray"),
    lambda x: faro.plan("gray", x, engine="tpu"),
    lambda x: faro.plan("gray", x)(x[0]),
    lambda x: faro.plan("gray", x)(x.astype("f4")),
    lambda x: faro.permute_dims(x, (1, 0), stream=5),
])
def test_wrong_arguments(call):
    x = np.zeros((4, 8))
    with pytest.raises(faro.FaroError) as caught:
        call(x)
    assert isinstance(caught.value, ValueError)
    assert caught.value.got and caught.value.wanted


@pytest.mark.parametrize("call", [
    lambda x: faro.permute_dims(x, 5),
    lambda x: faro.permute_dims(x, (0, "a")),
    lambda x: faro.roll(x, 1.5),
    lambda x: faro.roll(x, 1.5, 0),
    lambda x: faro.permute(x, 5),
    lambda x: faro.route([0], 1.5),
    lambda x: maps.gray(3)("a"),
    lambda x: maps.gray(3) ** 0.5,
])
def test_wrong_types(call):
    with pytest.raises(faro.FaroTypeError) as caught:
        call(np.zeros((4, 8)))
    assert caught.value.got and caught.value.wanted


def test_numbers_past_64_bits():
    x = np.arange(6)
    assert (faro.roll(x, 2**70 + 1) == np.roll(x, (2**70 + 1) % 6)).all()
    for call in (lambda: faro.flip(x, 2**70), lambda: maps.gray(3)(2**70), lambda: maps.gray(3) ** 2**70,
                 lambda: faro.route([0], 2**70), lambda: maps.from_matrix([[1]], 2**70)):
        with pytest.raises(faro.FaroValueError):
            call()
    whole = maps.gray(64)
    assert whole(2**63) == 2**63 ^ 2**62 and hash(whole) == hash(maps.gray(64))


def test_views_that_leave_their_arrays():
    x = np.arange(6, dtype="i4")
    assert (faro.permute(x, "strided(2 3; -3 1; 3 1; 3 0)") == x.reshape(2, 3)[::-1]).all()
    for text in ("strided(7; 1; 1)", "strided(2 3; 4 1; 3 1)", "strided(3; 1; 1; 4 0)"):
        with pytest.raises(faro.FaroValueError, match="6 elements.*at least"):
            faro.permute(x, text)
    with pytest.raises(faro.FaroValueError, match="0 elements"):
        faro.permute(x[:0], "strided(1; 1; 1)")
    out = np.full(6, 7, "i4")
    assert (faro.permute(x, "strided(2 3; 3 1; -3 1; 0 3)") == [3, 4, 5, 0, 1, 2]).all()
    for text in ("strided(2 3; 3 1; 5 1)", "strided(2 3; 3 1; 3 1; 0 1)"):
        for given in (None, out):
            with pytest.raises(faro.FaroValueError, match="holes|out="):
                faro.permute(x, text, out=given)
    assert (out == 7).all()


def test_wrong_outputs():
    x = np.arange(12.0).reshape(3, 4)
    for wrong, wanted in [
        (np.empty((3, 4)), "shape"),
        (np.empty((4, 3), "f4"), "elements"),
        (np.empty((4, 3), "i8"), "elements"),
        (np.empty(12), "shape"),
    ]:
        wrong[...] = 7
        with pytest.raises(faro.FaroValueError, match=wanted):
            faro.permute_dims(x, (1, 0), out=wrong)
        assert (wrong == 7).all()
    frozen = np.empty((4, 3))
    frozen.flags.writeable = False
    with pytest.raises(faro.FaroValueError, match="read-only"):
        faro.permute_dims(x, (1, 0), out=frozen)
    square = np.arange(16.0).reshape(4, 4)
    with pytest.raises(faro.FaroValueError, match="overlap|input and output"):
        faro.permute_dims(square, (1, 0), out=square)
    assert (square == np.arange(16.0).reshape(4, 4)).all()
    with pytest.raises((faro.FaroTypeError, faro.FaroValueError)):
        faro.permute_dims(x, (1, 0), out="abc")


def test_outputs_with_strides():
    x = np.arange(12.0).reshape(3, 4)
    wide = np.full((8, 6), -1.0)
    out = wide[::2, ::-2]
    assert faro.permute_dims(x, (1, 0), out=out) is out
    assert (out == x.T).all() and (wide[1::2] == -1).all() and (wide[:, ::2] == -1).all()


def test_arrays_that_are_none():
    for wrong in [object(), None, "text", np.array([object()]), np.array([{}]), {1: 2}]:
        with pytest.raises(faro.FaroError) as caught:
            faro.flip(wrong)
        assert isinstance(caught.value, (TypeError, ValueError))
    with pytest.raises(faro.FaroValueError, match="references"):
        faro.permute_dims(np.empty((2, 2), object), (1, 0))
    with pytest.raises(faro.FaroValueError, match="references"):
        faro.permute_dims(np.empty((2, 2), [("a", "f4"), ("b", "O")]), (1, 0))


def test_results_on_a_gpu_are_made_by_libraries_that_are_known():
    class OnlyCudaInterface:  # which says no dtype
        pass

    with pytest.raises(faro.FaroTypeError, match="out="):
        _arrays.new_on_device(OnlyCudaInterface(), (2, 3))

    class OfTheStandard(OnlyCudaInterface):
        dtype, device = np.float16, "gpu"

        @staticmethod
        def empty(shape, dtype, device):
            return shape, dtype, device

        def __array_namespace__(self):
            return type(self)

    assert _arrays.new_on_device(OfTheStandard(), (2,)) == ((2,), np.float16, "gpu")
    assert _arrays.new_on_device(OfTheStandard(), (2,), np.int8) == ((2,), np.int8, "gpu")


def test_devices_that_are_not_here():
    available, reason = faro.cuda_status()
    assert reason
    if available:
        pytest.skip("there is a GPU")
    with pytest.raises(faro.FaroDeviceError):
        faro.plan("gray", shape=(8,), itemsize=4, engine="cuda")

    class Elsewhere:
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}

    with pytest.raises((faro.FaroDeviceError, faro.FaroTypeError)):
        faro.flip(Elsewhere(), out=Elsewhere())


def test_arrays_of_devices_that_faro_does_not_know():
    """A tensor of DLPack that says that it lies on a ROCm device."""
    import ctypes

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    x = np.arange(4.0)

    class Elsewhere:
        def __dlpack__(self, **how):
            capsule = x.__dlpack__()
            self.device = ctypes.c_int32.from_address(pointer_of(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p))
            assert self.device.value == 1
            self.device.value = 10
            return capsule

        def __dlpack_device__(self):
            return 10, 0

    elsewhere = Elsewhere()
    for call in (lambda: faro.flip(elsewhere), lambda: faro.take(elsewhere, [0]), lambda: faro.sort(elsewhere),
                 lambda: faro.flip(x, out=elsewhere), lambda: faro.put(elsewhere, [0], x[:1])):
        with pytest.raises(faro.FaroError, match="device") as caught:
            call()
        elsewhere.device.value = 1  # so that NumPy may free what is NumPy's
        assert isinstance(caught.value, (ValueError, TypeError))
    with pytest.raises(faro.FaroValueError, match="device"):
        faro.take(x, elsewhere)


def test_files(tmp_path):
    with pytest.raises(faro.FaroFileError) as caught:
        faro.load_plan(tmp_path / "nowhere")
    assert isinstance(caught.value, OSError) and "nowhere" in str(caught.value)
    (tmp_path / "wrong").write_bytes(b"no plan")
    with pytest.raises(faro.FaroFileError):
        faro.load_plan(tmp_path / "wrong")
    with pytest.raises(faro.FaroFileError):
        faro.plan("gray(3)", itemsize=4).save(tmp_path / "no folder" / "plan")
    good = faro.plan("gray(3)", itemsize=4).to_bytes()
    for at in range(len(good)):
        broken = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
        with pytest.raises(faro.FaroError):
            faro.load_plan(broken)


def test_threads_share_plans():
    x = np.arange(1 << 16).reshape(256, 256)
    wanted = np.ascontiguousarray(x.T)
    plan = faro.plan("transpose", x)

    def work(k):
        for i in range(30):
            small = x[: 8 + (k + i) % 9, : 3 + k]
            assert (faro.permute_dims(small, (1, 0)) == small.T).all() and (plan(x) == wanted).all(), (k, i)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))


def test_the_lock_is_released():
    """Another thread counts while a large array moves."""
    x = np.zeros((1 << 13, 1 << 12), np.float32)
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(None)

    thread = threading.Thread(target=count)
    thread.start()
    plan = faro.plan("transpose", x)
    out = np.empty((1 << 12, 1 << 13), np.float32)
    handle = plan._handle
    address = x.__array_interface__["data"][0], out.__array_interface__["data"][0]
    before = len(counted)
    handle.run(*address, 0)  # one call into the extension: without a release nobody counts within it
    after = len(counted)
    done.set()
    thread.join()
    assert after > before


def test_many_plans_are_forgotten():
    from faro import _faro

    faro.clear_plans()  # those of other tests, whose arithmetic has plans of its own
    x = np.zeros((4, 3000), np.uint8)
    for k in range(1, 1500):
        faro.flip(x[:, :k], 0)
    assert _faro.cached_plans() <= 1024
    faro.clear_plans()
    assert _faro.cached_plans() == 0


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="no signals")
def test_control_c():
    code = (
        "import faro, numpy as np, os, signal, threading\n"
        "x = np.zeros((1024, 1024))\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    while True: faro.permute_dims(x, (1, 0))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert done.stdout.strip() == "interrupted", done.stderr


NUMBERS = [[1, 2, 3], (1, 2, 3), 5, 2.5]


@pytest.mark.parametrize("given", NUMBERS, ids=repr)
def test_what_has_no_memory_is_not_written(given):
    """NumPy reads these, into an array that nobody would see again."""
    for call in (lambda: faro.flip(np.arange(3), out=given), lambda: faro.flip(given, in_place=True),
                 lambda: faro.put(given, [0], [1]), lambda: faro.add_at(given, [0], [1]),
                 lambda: faro.take(np.arange(3), [0, 1, 2], out=given)):
        with pytest.raises(faro.FaroTypeError):
            call()


class Offered:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3)


def test_arrays_by_request_are_read_and_not_written():
    kept = np.arange(3)

    class Described:
        __array_interface__ = kept.__array_interface__

    assert faro.flip(Offered()).tolist() == [2, 1, 0]
    assert faro.flip(Described()).tolist() == [2, 1, 0]
    with pytest.raises(faro.FaroTypeError):
        faro.flip(np.arange(3), out=Offered())


def test_masked_indices():
    masked = np.ma.masked_array([2, 1, 0], mask=[False, True, False])
    for call in (lambda: faro.take(np.arange(3), masked), lambda: maps.from_indices(masked), lambda: faro.route(masked, 3)):
        with pytest.raises(faro.FaroValueError, match="mask"):
            call()


def test_interfaces_that_cannot_be_read():
    class Broken:
        __cuda_array_interface__ = {"shape": (2,)}

    with pytest.raises(faro.FaroTypeError, match="typestr"):
        faro.flip(Broken())
    with pytest.raises(faro.FaroValueError):
        faro.flip([[1, 2], [3]])
    with pytest.raises(faro.FaroValueError):
        faro.take(np.arange(3), [[1, 2], [3]])


def test_texts_with_zero_bytes():
    for call in (lambda: maps.parse("gray(4)\0junk"), lambda: faro.permute(np.arange(8), "bit_reversal\0junk"),
                 lambda: faro.network(np.zeros(8, "f4"), "wht\0junk"), lambda: faro.explain_network("wht\0", 4),
                 lambda: faro.plan("gray(4)\0", itemsize=4)):
        with pytest.raises(faro.FaroValueError, match="zero byte"):
            call()
    assert faro.flip(np.arange(2)).tolist() == [1, 0]


def test_fills():
    x = np.arange(3, dtype=np.uint8)
    assert faro.take(x, [-1, 1], fill=9).tolist() == [9, 1]
    for fill, kind in ((b"", ValueError), (300, ValueError), (-1, ValueError), (1.5, TypeError), ("q", ValueError),
                       (np.int64(300), ValueError), (float("nan"), TypeError)):
        with pytest.raises(kind) as caught:
            faro.take(x, [-1, 1], fill=fill)
        assert isinstance(caught.value, faro.FaroError), fill
    pairs = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
    assert faro.take(pairs, [-1, 0], fill=(7, 8.0)).tolist() == [(7, 8.0), (1, 2.0)]


def test_values_of_pythons_own():
    assert faro.put(np.zeros(3, np.uint8), [1], [200]).tolist() == [0, 200, 0]
    assert faro.add_at(np.zeros(3, np.float32), [1, 1], [2, 3]).tolist() == [0.0, 5.0, 0.0]
    for values in ([300], [1.5], ["q"], [1j]):
        with pytest.raises(faro.FaroError):
            faro.put(np.zeros(3, np.uint8), [1], values)


MANY = np.zeros((40, 40))


@pytest.mark.parametrize("call", [
    lambda x: faro.flip(x, MANY),  # an array is written in many lines
    lambda x: faro.keep_memory(MANY),
    lambda x: faro.simulate("transpose-diagonal", width=MANY),
    lambda x: faro.keep_memory("x" * 5000),
    lambda x: faro.take(x, [0], 2**63),
    lambda x: faro.take(x, [0], -(2**70)),
    lambda x: faro.astype(x, "1/2"),  # which NumPy reads as fields
    lambda x: faro.astype(x, "("),
    lambda x: faro.astype(x, (0, 1)),
    lambda x: faro.astype(x, "finfo"),
    lambda x: faro.flip(x, in_place=True, scale=[[1], [0, 1]]),
    lambda x: faro.quantize_blocks(x, []),
    lambda x: faro.quantize_blocks(np.zeros((2, 32), "f4"), "nvfp4", global_scale="much"),
    lambda x: faro.family(5, itemsize=4),
    lambda x: faro.family((None, 5), roll=1, itemsize=4),
    lambda x: faro.family((None, 5), itemsize=4).explain(2**64),
    lambda x: faro.group(5),
    lambda x: faro.group([]).run(5, 5),
    lambda x: faro.checkpoint(5, "a", "b"),
    lambda x: faro.checkpoint("/nowhere/rules", "a", "b"),
    lambda x: faro.checkpoint(sys.executable, "a", "b"),
    lambda x: faro.load_plan("\0"),
    lambda x: faro.plan("gray(3)", itemsize=4).save("\0"),
    lambda x: faro.shards.redistribute(x, to="mesh 1", source="mesh 1", shape=1.5),
])
def test_one_line_says_what_is_wrong(call):
    with pytest.raises(faro.FaroError) as caught:
        call(np.zeros((4, 8)))
    assert type(caught.value) is not faro.FaroInternalError
    assert caught.value.got and caught.value.wanted and "\n" not in str(caught.value) and len(str(caught.value)) < 800


def test_arguments_may_be_numbers():
    assert faro.shards.plan("roll(1)", shape=5, itemsize=8)(np.arange(5)).tolist() == [4, 0, 1, 2, 3]
    assert faro.plan("gray(3)", itemsize=4, in_place=1).in_place


@pytest.mark.parametrize("pattern", ["bit_reversal", "b s", "gray(3)", ""])
def test_patterns_are_patterns(pattern):
    with pytest.raises(faro.FaroValueError, match="pattern"):
        faro.rearrange(np.arange(8), pattern)


def test_structures_whose_fields_are_not_one_after_another():
    def of(names, offsets, itemsize=8, form="i4"):
        return np.zeros(3, np.dtype({"names": names, "formats": [form, form], "offsets": offsets, "itemsize": itemsize}))

    assert faro.aos_to_soa(of(["a", "b"], [0, 4])).shape == (2, 3)
    assert faro.aos_to_soa(np.array([(1, 2)], [(("x", "a"), "i4"), (("y", "b"), "i4")])).tolist() == [[1], [2]]
    for x in (of(["b", "a"], [4, 0]), of(["a", "b"], [0, 0]), of(["a", "b"], [0, 4], 12), np.zeros(2, [("a", "i4", (2,))])):
        with pytest.raises(faro.FaroValueError, match="fields"):
            faro.aos_to_soa(x)


def test_a_child_of_fork_uses_faro():
    """Its parent's threads are not there; multiprocessing and PyTorch's loaders fork."""
    program = """
        import faro, numpy as np, os, signal
        x = np.arange(1 << 20).reshape(1 << 10, -1)
        assert (faro.permute_dims(x, (1, 0)) == x.T).all()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os._exit(0 if (faro.permute_dims(x, (1, 0)) == x.T).all() and (faro.take(x, [1, 0], 0) == x[[1, 0]]).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert (faro.permute_dims(x, (1, 0)) == x.T).all()
        print("both")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_NUM_THREADS": "4"})
    assert done.stdout.strip() == "both", done.stderr
