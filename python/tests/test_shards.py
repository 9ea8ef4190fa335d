"""Shards: plans of all ranks, carried out in one process; and between processes, where the libraries are installed."""

import math
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import faro
import numpy as np
import pytest
import shards_ranks
from faro import _faro, _sockets

_SCRIPT = os.path.join(os.path.dirname(__file__), "shards_ranks.py")


def exchanged(plans, packed):
    """What each rank receives, message by message."""
    received = [np.zeros(plan.out_bytes, np.uint8) for plan in plans]
    for plan in plans:
        queues = {peer: [(o, n) for to, o, n in plans[peer].sends if to == plan.rank] for peer in range(plan.ranks)}
        for peer, offset, count in plan.receives:
            at, sent = queues[peer].pop(0)
            assert sent == count
            received[plan.rank][offset : offset + count] = packed[peer][at : at + count]
        assert not any(queues.values())
    return received


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 7, 8, 16])
def test_plans_of_all_ranks(ranks):
    for text, shape, cut_in, cut_out in shards_ranks.problems(ranks):
        whole = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
        plans = [
            faro.shards.ShardPlan(text, shape=shape, itemsize=4, ranks=ranks, rank=rank, cut_in=cut_in, cut_out=cut_out)
            for rank in range(ranks)
        ]

        def moved(plan, unpack, source, size):
            handle = plan._handle.make_pass(unpack, 1, 1, 0)
            if handle is None:
                return source
            out = np.zeros(size, np.uint8)
            handle.run(source.ctypes.data, out.ctypes.data, 0)
            return out

        parts = [part.reshape(-1).view(np.uint8) for part in shards_ranks.parts_of(whole, cut_in, ranks)]
        packed = [moved(plan, False, part, plan.in_bytes) for plan, part in zip(plans, parts)]
        received = exchanged(plans, packed)
        wanted = shards_ranks.parts_of(shards_ranks.permuted(whole, text), cut_out, ranks)
        for plan, each, part in zip(plans, received, wanted):
            assert np.array_equal(moved(plan, True, each, plan.out_bytes), part.reshape(-1).view(np.uint8)), plan.explain()
            leaving = sum(n for peer, _, n in plan.sends if peer != plan.rank)
            assert leaving == plan.sent_bytes


def test_one_rank_needs_nobody():
    plan = faro.shards.plan("transpose", shape=(4, 6), itemsize=8)
    x = np.arange(24.0).reshape(4, 6)
    assert np.array_equal(plan(x), x.T)
    assert "messages by nobody" in plan.backend_reason and "rank 0 of 1" in plan.explain()
    assert np.array_equal(faro.shards.permute(np.arange(8), "bit_reversal(3)"), [0, 4, 2, 6, 1, 5, 3, 7])


def test_numbers_are_changed_on_the_side_of_the_narrower_type(monkeypatch):
    sent = []
    plan = faro.shards.plan
    monkeypatch.setattr(faro.shards, "plan", lambda *given, itemsize, **named: sent.append(itemsize) or plan(*given, itemsize=itemsize, **named))
    x = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    narrow = faro.shards.permute(x, "transpose", shape=(4, 6), dtype="float16", scale=0.5)
    assert narrow.dtype == np.float16 and np.array_equal(narrow.reshape(6, 4), (x.T * 0.5).astype(np.float16))
    wide = faro.shards.permute(x.astype(np.uint8), "transpose", shape=(4, 6), dtype="float64", offset=1)
    assert wide.dtype == np.float64 and np.array_equal(wide.reshape(6, 4), x.T + 1)
    added = faro.shards.permute(x, "transpose", shape=(4, 6), dtype="float16", add=wide)
    assert np.array_equal(added.reshape(6, 4), (2 * x.T + 1).astype(np.float16))
    assert faro.shards.redistribute(x, to="axis(0)", axes=(1, 0), source="axis(0)", shape=(4, 6), dtype="int32").dtype == np.int32
    assert sent == [2, 1, 4, 4]
    with pytest.raises(faro.FaroValueError, match="op="):
        faro.shards.permute(x, "transpose", shape=(4, 6), op="square")


def test_what_is_wrong_is_refused():
    with pytest.raises(faro.FaroValueError, match="bits 0 70|bits.0 70"):
        faro.shards.ShardPlan("gray(10)", itemsize=4, ranks=4, rank=0, cut_in="bits(0 70)")
    with pytest.raises(faro.FaroValueError, match="rank 4"):
        faro.shards.ShardPlan("gray(10)", itemsize=4, ranks=4, rank=4)
    with pytest.raises(faro.FaroTypeError, match="communicator of type int"):
        faro.shards.plan("gray(10)", 5, itemsize=4)
    plan = faro.shards.plan("gray(10)", itemsize=4)
    with pytest.raises(faro.FaroValueError, match="a part of 3 elements"):
        plan(np.zeros(3, np.int32))
    with pytest.raises(faro.FaroValueError, match="strides"):
        plan(np.zeros(2048, np.int32)[::2])


def test_outputs():
    plan = faro.shards.plan("roll(3)", None, shape=(8,), itemsize=8)
    memory = np.arange(11)
    for out in (memory[:8], memory[3:], memory[7:11].view("i4")):
        with pytest.raises(faro.FaroValueError):
            plan(memory[:8], out=out)
        assert (memory == np.arange(11)).all()
    for out in (np.zeros(8), np.zeros(8, "u8"), np.zeros(8, ">i8"), np.zeros(8, "M8[s]"), np.zeros(8, "V8")):
        with pytest.raises(faro.FaroValueError, match="elements"):
            plan(memory[:8], out=out)
    wide = np.zeros(16, int)
    assert plan(memory[:8], out=wide[1::2]).tolist() == [5, 6, 7, 0, 1, 2, 3, 4] and not wide[::2].any()


def test_elements_of_any_kind_in_one_process():
    shards_ranks.all_types(None, 1, 0)
    assert faro.shards.plan("transpose", None, shape=(0, 3), itemsize=4)(np.zeros((0, 3), "f4")).shape == (3, 0)


def test_cuts_count_the_axes_of_texts():
    for text, shape, after in [("a b c -> c a b, a=4, b=5, c=6", (4, 5, 6), (6, 4, 5)), ("axes(4 5 6; 2 0 1; 1 0 0)", (4, 5, 6), (6, 4, 5)),
                               ("a (b c) -> (b a) c, a=4, b=5, c=6", (4, 30), (20, 6))]:
        for given in ((), shape, (120,)):
            if given == (120,) and "->" in text:
                continue  # a pattern is one of the array at hand
            plans = [faro.shards.ShardPlan(text, shape=given, itemsize=8, ranks=3, rank=0, cut_in=f"axis({a})", cut_out="axis(1)")
                     for a in range(len(shape))]
            for a, plan in enumerate(plans):
                assert plan.in_bytes == 8 * math.prod(shape) // shape[a] * -(-shape[a] // 3), (text, given)
                assert plan.out_bytes == 8 * math.prod(shape) // after[1] * -(-after[1] // 3), (text, given)
            alone = faro.shards.plan(text, shape=given, itemsize=8)
            assert (alone.in_shape, alone.out_shape) == (shape, after)
    with pytest.raises(faro.FaroValueError, match="axis 2.*4x30"):
        faro.shards.ShardPlan("a (b c) -> (b a) c, a=4, b=5, c=6", itemsize=8, ranks=3, rank=0, cut_in="axis(2)")


def test_maps_of_another_size_have_a_remedy_that_works():
    x = np.arange(35).reshape(7, 5)
    with pytest.raises(faro.FaroValueError) as caught:
        faro.shards.plan("flip(1)", shape=(7, 5), itemsize=8)
    text = caught.value.remedy.split("`")[1]
    assert np.array_equal(faro.shards.plan(text, shape=(7, 5), itemsize=8)(x), x[:, ::-1])
    assert np.array_equal(faro.shards.plan(text.replace("0 0", "0 2"), shape=(7, 5), itemsize=8)(x), np.roll(x[:, ::-1], 2, 1))
    indices = np.array([3, 0, 4, 1, 2])
    with pytest.raises(faro.FaroValueError) as caught:
        faro.shards.plan(m := faro.maps.from_indices(indices, gather=True), shape=(7, 5), itemsize=8)
    made = eval(caught.value.remedy.split(" is map m")[0], {"faro": faro, "numpy": np, "m": m})
    assert np.array_equal(faro.shards.plan(made, shape=(7, 5), itemsize=8)(x), x[:, indices])
    for by, shape in (("flip(3)", (8,)), (faro.maps.flip(3), (8,)), ("transpose(4, 6)", (3, 8)), ("flip(3)", (2, 2, 2))):
        with pytest.raises(faro.FaroValueError) as caught:
            faro.shards.plan(by, shape=shape, itemsize=8)
        assert "axis=" not in str(caught.value)


def run_ranks(command):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", JAX_PLATFORMS="cpu")
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_processes_of_mpi4py(ranks):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    run_ranks(["mpirun", "-n", str(ranks), sys.executable, _SCRIPT, "mpi"])


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_processes_of_torch(ranks):
    pytest.importorskip("torch")
    run_ranks([sys.executable, _SCRIPT, "torch", str(ranks)])


@pytest.mark.parametrize("ranks", [2, 4])
def test_devices_of_jax(ranks):
    pytest.importorskip("jax")
    run_ranks([sys.executable, _SCRIPT, "jax", str(ranks)])


def test_words_by_sockets():
    """Ranks as threads: what all said, what is too long for once, and a rank that is gone."""
    ranks, meet, posted = 3, threading.Barrier(3), [b""] * 3
    seen = [[] for _ in range(ranks)]

    def work(rank):
        def gather(word):
            posted[rank] = word
            meet.wait(60)
            words = list(posted)
            meet.wait(60)
            return words

        words = _sockets.between(ranks, rank, gather)
        seen[rank].append(words.gather(bytes([rank]) * rank))
        seen[rank].append(words.gather(b"x" * (100000 if rank == 1 else 5)))
        seen[rank].append(words.gather(b"again"))
        meet.wait(60)
        if rank == 2:
            for peer in words._peers.values():
                peer.close()
            return
        with pytest.raises(faro.FaroDeviceError, match="no word from rank [012]"):
            words.gather(b"lost")

    with ThreadPoolExecutor(ranks) as threads:
        list(threads.map(work, range(ranks)))
    assert all(each == [[b"", b"\1", b"\2\2"], None, [b"again"] * 3] for each in seen)
    assert _sockets.between(65, 0, lambda word: []) is False
    # Where one finds no folder there are none.
    assert _sockets.between(2, 1, lambda word: [bytes(16) + b"/nowhere", word] if len(word) > 1 else [b"y", word]) is False


def test_what_words_raise_is_raised_by_ranks_of_gpus():
    def lost(word):
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        _faro.nccl_ranks(1, 0, 0, lost)
    with pytest.raises(faro.FaroDeviceError):  # of too few ranks
        _faro.nccl_ranks(2, 0, 0, lambda word: [word])
    with pytest.raises(faro.FaroValueError, match="rank 3 of 2"):
        _faro.nccl_ranks(2, 3, 0, lambda word: [word])
