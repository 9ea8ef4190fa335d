"""Shards between processes: run by test_shards.py, or by hand.

    mpirun -n 3 python shards_ranks.py mpi
    python shards_ranks.py torch 2 [gloo|nccl]      dtensors, too
    python shards_ranks.py jax 4                    devices of the host

Each rank's output is compared with the whole; ends with "passed", or an exception.
"""

import math
import os
import sys

import faro
import numpy as np


def parts_of(whole, cut, ranks):
    """What each rank holds of an array, by the definition."""
    if cut.startswith("bits("):
        bits = [int(word) for word in cut[5:-1].split()]
        index = np.arange(whole.size)
        owner = sum(((index >> bit) & 1) << i for i, bit in enumerate(bits))
        return [whole.reshape(-1)[owner == rank] for rank in range(ranks)]
    if cut.startswith("mesh"):
        places = [faro.distributions.Distribution(cut).places(whole.shape, rank) for rank in range(ranks)]
        return [whole[np.ix_(*(np.array(list(held), int) for held in each))] for each in places]
    axis = int(cut[5:-1].split(";")[0])
    if ";" in cut:
        extents = [int(word) for word in cut[cut.index(";") + 1 : -1].split()]
    else:
        extents = [whole.shape[axis] // ranks + (rank < whole.shape[axis] % ranks) for rank in range(ranks)]
    ends = np.cumsum(extents)
    return [np.ascontiguousarray(np.take(whole, range(end - n, end), axis)) for end, n in zip(ends, extents)]


def permuted(whole, text):
    """By one process."""
    return np.asarray(faro.permute(whole, text))


def uneven(extent, ranks):
    cut = [extent // (2 * ranks)] * (ranks - 1)
    return " ".join(map(str, cut + [extent - sum(cut)]))


def problems(ranks):
    yield "axes(12 7 10; 2 0 1)", (12, 7, 10), "axis(0)", "axis(0)"
    yield "axes(12 7 10; 1 2 0)", (12, 7, 10), f"axis(2; {uneven(10, ranks)})", "axis(1)"
    yield "transpose(30, 50)", (30, 50), "axis(1)", f"axis(0; {uneven(50, ranks)})"
    rows = max(r for r in range(1, ranks + 1) if ranks % r == 0 and r * r <= ranks)
    mesh = f"mesh {rows}x{ranks // rows}"
    yield "axes(12 7 10; 2 0 1)", (12, 7, 10), f"{mesh}; axis 0 over 0; axis 1 over 1", f"{mesh}; axis 1 over 0 in blocks of 2; axis 2 over 1"
    yield "axes(12 7 10; 1 2 0)", (12, 7, 10), f"{mesh}; axis 2 over 1", f"{mesh}; axis 0 over 0"
    yield "axes(12 7; 1 0)", (12, 7), f"mesh {ranks}; axis 1 over 0", f"mesh {ranks}"
    half = max(1, ranks // 2)
    yield "axes(12 7; 0 1)", (12, 7), f"mesh {half}; axis 0 over 0", f"mesh {half} at {ranks - half}; axis 1 over 0 in blocks of 3"
    yield "roll(1000, 77)", (1000,), "axis(0)", "axis(0)"
    yield "a b c -> c a b", (12, 7, 10), "axis(1)", "axis(2)"
    yield "a (b c) -> (b a) c, b=3", (8, 18), "axis(1)", "axis(0)"
    yield "(a b) c -> b (c a), a=4", (12, 5), "axis(0)", "axis(1)"
    yield "axes(4 5 6; 2 0 1; 1 0 0)", (4, 5, 6), "axis(1)", "axis(0)"
    yield "axes(4 5 6; 2 0 1; 1 2 3; 0 2)", (4, 5, 6), "axis(2)", "axis(1)"
    yield "flip(999)", (999,), "axis(0)", "axis(0)"
    if ranks & (ranks - 1) == 0:
        g = ranks.bit_length() - 1
        yield "bit_reversal(12)", (1 << 12,), "axis(0)", "axis(0)"
        yield "random_bmmc(12, 5)", (1 << 12,), f"bits({' '.join(str(3 * i) for i in range(g))})", "axis(0)"


def each_refusal(gather, comm, rank):
    """One line on all ranks, whatever is wrong on one."""
    def refused(work):
        try:
            work()
            line = "nothing was refused"
        except faro.FaroValueError as error:
            line = str(error)
        lines = gather(line)
        assert len(set(lines)) == 1 and "\n" not in line, lines
        return line

    plan = faro.shards.plan("roll(100, 3)", comm, itemsize=8)
    part = np.arange(float(plan.in_shape[0]))
    for out in (part, part.copy().view("i8"), part.copy().astype(">f8")):
        line = refused(lambda out=out: plan(part, out=out if rank == 0 else np.zeros(plan.out_shape)))
        assert "rank 0: run shards" in line and (part == np.arange(len(part))).all()
    short = np.zeros(3 if rank == 0 else plan.in_shape[0])
    assert "rank 0: run shards: got a part of 3 elements" in refused(lambda: plan(short))
    other = "roll(100, 3)" if rank == 0 else "roll(100, 4)"
    assert "rank 1 with roll(100, 4)" in refused(lambda: faro.shards.plan(other, comm, itemsize=8))
    assert "axis 5" in refused(lambda: faro.shards.plan("roll(100, 3)", comm, itemsize=8, cut_in="axis(5)"))
    assert "memory" in refused(lambda: faro.shards.plan("roll(100, 3)", comm, itemsize=8, memory=-1))
    assert "rank 1 with roll(100, 3)" in refused(lambda: faro.shards.plan("roll(100, 3)", comm, itemsize=8, memory=rank + 8))
    whole = np.arange(84.0).reshape(12, 7)
    bounded = [faro.shards.plan("transpose", comm, shape=(12, 7), itemsize=8, memory=bytes_beside) for bytes_beside in (8, 2000)]
    turned = parts_of(whole, "axis(0)", bounded[0].plan.ranks)[rank]
    assert "bytes that rank 0 needs beside its parts" in refused(lambda: bounded[0](turned))
    assert np.array_equal(bounded[1](turned), parts_of(whole.T.copy(), "axis(0)", bounded[0].plan.ranks)[rank])
    once = faro.shards.permute(part, "roll(100, 3)", comm)  # whose plan is kept
    assert "rank 1 with roll(100, 4)" in refused(lambda: faro.shards.permute(part, other, comm))
    for shift in (4, 5, 6, 7, 3):  # more than are kept
        again = faro.shards.permute(part, f"roll(100, {shift})", comm)
    assert np.array_equal(once, again)


def all_problems(comm, ranks, rank, as_array=lambda x: x, back=lambda x: x):
    for dtype in (np.float64, np.int16):
        for text, shape, cut_in, cut_out in problems(ranks):
            whole = np.arange(math.prod(shape), dtype=np.int64).astype(dtype).reshape(shape)
            plan = faro.shards.plan(text, comm, shape=shape, itemsize=whole.itemsize, cut_in=cut_in, cut_out=cut_out)
            part = as_array(parts_of(whole, cut_in, ranks)[rank])
            wanted = parts_of(permuted(whole, text), cut_out, ranks)[rank]
            for _ in range(2):
                out = back(plan(part))
                assert out.dtype == dtype and np.array_equal(out.reshape(-1), wanted.reshape(-1)), plan.explain()
            assert out.shape == wanted.shape, (out.shape, wanted.shape)


def all_types(comm, ranks, rank):
    """Elements of every kind are bytes on the way."""
    types = ["?", "i1", "u2", ">i2", "f2", "u4", ">f4", "i8", "<f8", ">f8", "g", "c8", "c16", "c32", "M8[s]", "m8[ns]", "S3", "U3", "V5",
             [("a", "u1"), ("b", "<f4")], [("a", ">i2"), ("b", "S3", (2,))]]
    for dtype in map(np.dtype, types):
        whole = np.frombuffer(np.random.default_rng(39).bytes(12 * 7 * dtype.itemsize), np.uint8) & 1  # whatever it is, it is one
        whole = whole.view(dtype).reshape(12, 7)
        plan = faro.shards.plan("transpose", comm, shape=(12, 7), itemsize=dtype.itemsize)
        part = parts_of(whole, "axis(0)", ranks)[rank]
        wanted = parts_of(whole.T.copy(), "axis(0)", ranks)[rank]
        for out in (None, np.zeros(wanted.shape, dtype), np.zeros((2 * wanted.shape[0], wanted.shape[1]), dtype)[::2]):
            got = plan(part, out)
            assert got.dtype == dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes(), dtype
            assert out is None or got is out
    part = bytearray(parts_of(np.arange(84, dtype=np.uint8).reshape(12, 7), "axis(0)", ranks)[rank].tobytes())
    got = faro.shards.plan("transpose", comm, shape=(12, 7), itemsize=1)(part)
    assert bytes(got) == parts_of(np.arange(84, dtype=np.uint8).reshape(12, 7).T.copy(), "axis(0)", ranks)[rank].tobytes()


def all_tensor_types(ranks, rank, device):
    import torch

    names = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "bfloat16", "float32", "float64",
             "complex32", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"]
    for dtype in (getattr(torch, name) for name in names if hasattr(torch, name)):
        raw = torch.from_numpy(np.random.default_rng(39).integers(0, 2, (12, 7 * dtype.itemsize), np.uint8)).to(device)
        part = raw.tensor_split(ranks)[rank].contiguous().view(dtype)
        whole = raw.view(12, 7, dtype.itemsize).transpose(0, 1).contiguous()
        got = faro.shards.plan("transpose", None, shape=(12, 7), itemsize=dtype.itemsize)(part)
        assert got.dtype == dtype and got.device == part.device
        assert torch.equal(got.view(torch.uint8).reshape(-1), whole.tensor_split(ranks)[rank].reshape(-1)), dtype
    if ranks > 1:
        turned = torch.complex(torch.arange(84.0), torch.ones(84)).reshape(12, 7).to(device)
        part = turned.tensor_split(ranks)[rank].contiguous().conj()  # conjugated when it is read
        got = faro.shards.plan("transpose", None, shape=(12, 7), itemsize=8)(part)
        assert torch.equal(got, turned.conj().T.tensor_split(ranks)[rank])


def all_redistributions(comm, ranks, rank):
    """faro.shards.redistribute of parts; of DTensors, against PyTorch's own."""
    shape, axes = (9, 10, 4), (2, 0, 1)
    whole = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    source, to = f"mesh {ranks}; axis 1 over 0 in blocks of 3", f"mesh {ranks}; axis 2 over 0"
    out = faro.shards.redistribute(parts_of(whole, source, ranks)[rank], to=to, axes=axes, source=source, shape=shape, comm=comm)
    assert np.array_equal(out, parts_of(whole.transpose(axes), to, ranks)[rank])
    # Lists, as the weights of a model: in one call, twice, of plans that are kept.
    wholes = [np.arange(rows * columns, dtype=dtype).reshape(rows, columns)
              for rows, columns, dtype in ((12, 7, np.float32), (5, 9, np.int64), (1, 30, np.uint8), (12, 7, np.float32))]
    sources = [f"mesh {ranks}; axis {k % 2} over 0" for k in range(4)]
    targets = [f"mesh {ranks}", f"mesh {ranks}; axis 0 over 0", f"mesh 1 at {ranks - 1}; axis 0 over 0", f"mesh {ranks}; axis 1 over 0 in blocks of 2"]
    orders = [None, (1, 0), None, (1, 0)]
    parts = [parts_of(each, lies, ranks)[rank] for each, lies in zip(wholes, sources)]
    wanted = [parts_of(each if order is None else each.T.copy(), lies, ranks)[rank] for each, order, lies in zip(wholes, orders, targets)]
    for _ in range(2):
        outs = faro.shards.redistribute(parts, to=targets, axes=orders, source=sources, shape=[each.shape for each in wholes], comm=comm)
        assert all(np.array_equal(got, part) and got.dtype == part.dtype for got, part in zip(outs, wanted))
    plans = [faro.shards.plan(f"axes({each.shape[0]} {each.shape[1]}; 0 1)", comm, itemsize=each.itemsize, cut_in=lies) for each, lies in
             zip(wholes, sources)]
    outs = [np.zeros(each.out_shape, whole.dtype) for each, whole in zip(plans, wholes)]
    made = faro.shards.run_all(plans, parts, outs)
    assert all(got is out and np.array_equal(got, parts_of(whole, "axis(0)", ranks)[rank]) for got, out, whole in zip(made, outs, wholes))
    assert faro.shards.run_all([], []) == []
    for few in (parts[:3] if rank == 0 else parts, [parts[0][:0], *parts[1:]]):
        try:
            faro.shards.run_all(plans, few)
            raise AssertionError("nothing was refused")
        except faro.FaroValueError as error:
            assert ("3 parts" in str(error) or "a part of 0" in str(error)) and "\n" not in str(error), error


def all_dtensors(ranks, device):
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

    rows = max(r for r in range(1, ranks + 1) if ranks % r == 0 and r * r <= ranks)
    mesh = init_device_mesh(device, (rows, ranks // rows), mesh_dim_names=("data", "model"))
    choices = [Replicate(), Shard(0), Shard(1), Shard(2)]
    for shape in ((6, 5, 7), (1, 4, 9)):
        whole = torch.arange(math.prod(shape), dtype=torch.float32, device=device).reshape(shape)
        for before in ((a, b) for a in choices for b in choices):
            spread = distribute_tensor(whole, mesh, before)
            for after in ((Shard(1), Shard(0)), (Shard(2), Shard(2)), (Replicate(), Shard(1)), (Replicate(), Replicate())):
                for axes in (None, (2, 0, 1)):
                    wanted = distribute_tensor(whole if axes is None else whole.permute(axes).contiguous(), mesh, after)
                    out = faro.shards.redistribute(spread, to=after, axes=axes)
                    assert out.placements == wanted.placements and out.shape == wanted.shape
                    assert torch.equal(out.to_local(), wanted.to_local()), (shape, before, after, axes)
                    made = faro.distributions.from_dtensor(after, mesh, out.shape)
                    assert faro.distributions.to_placements(made, out.shape) == list(after)
    whole = torch.arange(60.0, device=device).reshape(12, 5)
    spread = [distribute_tensor(whole * k, mesh, (Shard(k % 2), Replicate())) for k in range(5)]
    after = [(Replicate(), Replicate()), (Shard(0), Shard(1)), (Replicate(), Shard(0)), (Shard(1), Replicate()), (Replicate(), Replicate())]
    for _ in range(2):
        for k, made in enumerate(faro.shards.redistribute(spread, to=after)):
            assert made.placements == after[k] and torch.equal(made.full_tensor(), whole * k), k
    try:
        faro.distributions.from_dtensor([Partial(), Shard(0)], mesh, (4, 4))
        raise AssertionError("Partial was not refused")
    except faro.FaroUnsupportedError as error:
        assert "Partial over axis 0" in str(error)


def mpi():
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    all_problems(comm, comm.size, comm.rank)
    all_redistributions(comm, comm.size, comm.rank)
    each_refusal(comm.allgather, comm, comm.rank)
    all_types(comm, comm.size, comm.rank)
    comm.Barrier()
    if comm.rank == 0:
        print(f"{comm.size} ranks of MPI passed", flush=True)


def torch_rank(rank, ranks, backend, port):
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard, distribute_tensor

    import faro.torch

    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["LOCAL_RANK"] = str(rank), str(ranks), str(rank)
    on_gpu = backend == "nccl"
    if on_gpu:
        torch.cuda.set_device(rank)
    device = "cuda" if on_gpu else "cpu"
    dist.init_process_group(backend, rank=rank, world_size=ranks)
    all_problems(None, ranks, rank, lambda x: torch.from_numpy(x).to(device), lambda x: x.cpu().numpy())

    def gather(word):
        words = [None] * ranks
        dist.all_gather_object(words, word)
        return words

    all_tensor_types(ranks, rank, device)
    if on_gpu:
        whole = torch.arange(96 * 200 * 8, device=device).reshape(96, 200, 8)
        source, to = f"mesh {ranks}; axis 0 over 0", f"mesh {ranks}; axis 1 over 0"
        for memory in (0, 1 << 16):  # by messages, it needs rounds
            part = whole.tensor_split(ranks)[rank].contiguous()
            out = faro.shards.redistribute(part, to=to, axes=(2, 1, 0), source=source, shape=whole.shape, memory=memory)
            assert torch.equal(out, whole.permute(2, 1, 0).tensor_split(ranks, 1)[rank])
    else:
        if ranks > 1:
            each_refusal(gather, dist.group.WORLD, rank)
        all_types(dist.group.WORLD, ranks, rank)
        all_redistributions(None, ranks, rank)
    all_dtensors(ranks, device)
    mesh = init_device_mesh(device, (ranks,))
    for shape in ((12, 7, 10), (5, 9, 4), (1, 3, 8)):
        whole = torch.arange(math.prod(shape), dtype=torch.float32, device=device).reshape(shape)
        for cut in range(3):
            spread = distribute_tensor(whole, mesh, [Shard(cut)])
            for dims in ((2, 0, 1), (1, 0, 2)):
                for dim in (None, 0, 2):
                    out = faro.torch.permute_dims_sharded(spread, dims, dim)
                    assert isinstance(out, DTensor) and out.shape == whole.permute(dims).shape
                    assert out.placements[0].dim == (dims.index(cut) if dim is None else dim)
                    assert torch.equal(out.full_tensor(), whole.permute(dims)), (shape, cut, dims, dim)
                    leaf = spread.detach().requires_grad_()
                    # Not leaf.grad: there PyTorch puts a copy of the gradient, of 2.11 replicated where parts are uneven.
                    (grad,) = torch.autograd.grad(faro.torch.permute_dims_sharded(leaf, dims, dim), leaf, out)
                    assert torch.equal(grad.full_tensor(), whole), (shape, cut, dims, dim)
                    assert grad.placements == spread.placements, (shape, cut, dims, dim, grad.placements)
    dist.barrier()
    if rank == 0:
        print(f"{ranks} ranks of {backend} passed", flush=True)
    dist.destroy_process_group()


def with_torch(ranks, backend):
    import torch.multiprocessing as multiprocessing

    multiprocessing.spawn(torch_rank, args=(ranks, backend, 29541 + os.getpid() % 1000), nprocs=ranks)


def with_jax(ranks):
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={ranks}"
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    import faro.jax

    mesh = Mesh(np.array(jax.devices()[:ranks]), ("ranks",))
    for shape in ((8, 4, 12),):
        x = jnp.arange(math.prod(shape), dtype=jnp.float32).reshape(shape)
        for axes in ((2, 0, 1), (1, 0, 2)):
            for before in range(3):
                for after in (0, 2):
                    spec = PartitionSpec(*("ranks" if a == before else None for a in range(3)))
                    spread = jax.device_put(x, NamedSharding(mesh, spec))
                    call = jax.jit(lambda v, b=before, a=after, o=axes: faro.jax.permute_dims_sharded(
                        v, o, mesh, "ranks", in_axis=b, out_axis=a))
                    assert jnp.array_equal(call(spread), x.transpose(axes)), (shape, axes, before, after)
    grid = Mesh(np.array(jax.devices()[:ranks]).reshape(1, ranks), ("data", "model"))
    for spec in (PartitionSpec("model"), PartitionSpec(None, ("data", "model")), PartitionSpec("data", None, "model"), PartitionSpec()):
        sharding = NamedSharding(grid, spec)
        made = faro.distributions.from_named_sharding(sharding, (8, 4, 12))
        spread = jax.device_put(jnp.arange(384).reshape(8, 4, 12), sharding)
        for rank, shard in enumerate(sorted(spread.addressable_shards, key=lambda shard: shard.device.id)):
            assert np.array_equal(shard.data, parts_of(np.arange(384).reshape(8, 4, 12), str(made), ranks)[rank]), spec
        assert faro.distributions.to_named_sharding(made, grid).is_equivalent_to(sharding, 3)
    flat = jnp.arange(1 << 12, dtype=jnp.int32)
    spread = jax.device_put(flat, NamedSharding(mesh, PartitionSpec("ranks")))
    for text in ("bit_reversal(12)", "random_bmmc(12, 3)", "random_bmmc(12, 4)", "transpose(64, 64)", "gray(12)",
                 "swap_bits(12, 3, 11)", "xor(12, 0xc05)"):
        out = jax.jit(lambda v, t=text: faro.jax.permute_sharded(v, t, mesh, "ranks"))(spread)
        assert jnp.array_equal(out, permuted(np.asarray(flat), text).reshape(-1)), text
    gradient = jax.grad(lambda v: (faro.jax.permute_dims_sharded(v, (1, 0), mesh, "ranks") ** 2).sum())
    square = jnp.arange(64.0).reshape(8, 8)
    assert jnp.allclose(gradient(square), 2 * square)
    print(f"{ranks} devices of JAX passed", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "mpi":
        mpi()
    elif sys.argv[1] == "torch":
        with_torch(int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "gloo")
    else:
        with_jax(int(sys.argv[2]))
