"""Distributions by text, and as other libraries say them."""

import faro
import numpy as np
import pytest
from faro.distributions import Cut, Distribution, from_cudecomp, from_dtensor, from_safetensors, from_scalapack


def test_texts_read_back():
    for text in ("mesh 2x3; axis 0 over 0; axis 1 over 1", "mesh 2x3 at 4; axis 2 over 0 1 in blocks of 64", "mesh 7",
                 "mesh data=2,model=3; axis 0 over model data in 1 2 3 4 5 0", "mesh 3; rank 0 holds 0:4 0:2; rank 2 holds 0:4 2:6"):
        assert str(Distribution(text)) == text
    for text in ("grid 2x3", "mesh 2x", "mesh 2; axis 0", "mesh 2; axis 0 over model", "mesh 2; rank 0 holds 1-2"):
        with pytest.raises(faro.FaroValueError):
            Distribution(text)


@pytest.mark.parametrize("text", ["mesh 2x3 at 1; axis 1 over 1 0 in blocks of 2; axis 0 over", "mesh 3x2; axis 0 over 1 in 5 2; axis 1 over 0",
                                  "mesh 2x2; axis 1 over 1", "mesh 3; rank 0 holds 0:7 0:2; rank 2 holds 0:7 2:9"])
def test_parts_are_those_of_the_planner(text):
    text = text.replace("; axis 0 over;", ";").removesuffix("; axis 0 over")
    for rank in range(8):
        plan = faro.shards.ShardPlan("axes(7 9; 1 0)", itemsize=4, ranks=8, rank=rank, cut_in=text, cut_out="axis(0)")
        assert plan.in_bytes == 4 * np.prod(Distribution(text).part_shape((7, 9), rank))


class Shard:
    def __init__(self, dim):
        self.dim = dim


class Replicate:
    pass


def test_placements_cut_as_torch_does():
    made = from_dtensor([Shard(0), Replicate(), Shard(-2)], (2, 5, 2), (5, 8))
    assert made == Distribution(mesh=(2, 5, 2), cuts=[Cut(0, (0, 2))])
    uneven = from_dtensor([Shard(0)], (8,), (9,))
    assert uneven == Distribution(mesh=(8,), cuts=[Cut(0, (0,), extents=(2, 2, 2, 2, 1, 0, 0, 0))])
    with pytest.raises(faro.FaroValueError, match="2 placements"):
        from_dtensor([Shard(0), Replicate()], (2,), (4,))
    for kind in ("Partial", "_StridedShard"):
        with pytest.raises(faro.FaroUnsupportedError, match=f"{kind} over axis 0"):
            from_dtensor([type(kind, (), {})()], (2,), (4,))


def numroc(n, block, place, places):
    """ScaLAPACK's own count of a process's rows."""
    whole = n // block
    rows = whole // places * block
    extra = whole % places
    return rows + (block if place < extra else n % block if place == extra else 0)


def test_scalapack_counts_the_same():
    for order in "RC":
        made = from_scalapack([1, 0, 50, 37, 4, 3, 0, 0, 50], (2, 3), order=order)
        for row in range(2):
            for column in range(3):
                rank = row * 3 + column if order == "R" else column * 2 + row
                assert made.part_shape((37, 50), rank) == (numroc(37, 3, column, 3), numroc(50, 4, row, 2))
    with pytest.raises(faro.FaroUnsupportedError, match="first block"):
        from_scalapack([1, 0, 50, 37, 4, 3, 1, 0, 50], (2, 3))


def test_pencils():
    assert from_cudecomp(0, (2, 3)).part_shape((12, 10, 8), 4) == (4, 5, 8)  # z over columns, y over rows
    assert from_cudecomp(1, (2, 3)).part_shape((12, 10, 8), 4) == (4, 10, 4)
    assert from_cudecomp(2, (2, 3)).part_shape((12, 10, 8), 4) == (12, 3, 4)


def test_redistribution_by_one_rank():
    x = np.arange(24).reshape(4, 6)
    out = faro.shards.redistribute(x, to="mesh 1; axis 0 over 0", axes=(1, 0), source="mesh 1", shape=(4, 6))
    assert np.array_equal(out, x.T)
    with pytest.raises(faro.FaroValueError, match="source="):
        faro.shards.redistribute(x, to="mesh 1")


def test_files_of_a_tensor_parallel_checkpoint(tmp_path):
    rng = np.random.default_rng(47)
    whole = {"h.0.q.weight": rng.random((10, 6), "f4"), "h.0.o.weight": rng.random((6, 10), "f4"), "norm": rng.random(6, "f4")}
    axes = {"*.q.weight": 0, "*.o.weight": 1, "*": 9}
    cuts = {"h.0.q.weight": "mesh 3; axis 0 over 0", "h.0.o.weight": "mesh 3; axis 1 over 0 in 5 0 5", "norm": "mesh 3"}
    files = [str(tmp_path / f"rank-{k}.safetensors") for k in range(3)]
    parts = [{name: np.ascontiguousarray(x[np.ix_(*Distribution(cuts[name]).places(x.shape, k))]) for name, x in whole.items()} for k in range(3)]

    def write(k, tensors):
        np.savez(tmp_path / "rank.npz", **tensors)
        faro.relayout(tmp_path / "rank.npz", files[k])

    for k in range(3):
        write(k, parts[k])
    with pytest.raises(faro.FaroValueError, match="axis 9 of `norm`, which has 1"):
        from_safetensors(files, axes)
    del axes["*"]
    read = from_safetensors(files, axes)
    assert {name: (held.shape, held.dtype, str(held.distribution)) for name, held in read.items()} == {
        name: (x.shape, "F32", cuts[name]) for name, x in whole.items()}
    for name, held in read.items():  # what the files have is what the planner takes for a rank's part
        for k in range(3):
            plan = faro.shards.ShardPlan(f"axes({' '.join(map(str, held.shape))}; {' '.join(map(str, range(len(held.shape))))})", itemsize=4,
                                         ranks=3, rank=k, cut_in=str(held.distribution), cut_out="mesh 3")
            assert plan.in_bytes == parts[k][name].nbytes
    for changed, match in (({**parts[1], "norm": np.zeros(7, "f4")}, "norm.*rank-1.*as the first file has"),
                           ({**parts[1], "h.0.q.weight": np.zeros((3, 6), "f8")}, "F64"), ({"norm": parts[1]["norm"]}, "no such tensor"),
                           ({**parts[1], "more": parts[1]["norm"]}, "`more` in .*rank-1")):
        write(1, changed)
        with pytest.raises(faro.FaroValueError, match=match):
            from_safetensors(files, axes)
    (tmp_path / "none").write_bytes(b"\xff" * 20)
    for file, match in ((tmp_path / "none", "without a header"), (tmp_path / "nowhere", "No such file")):
        with pytest.raises(faro.FaroFileError, match=match):
            from_safetensors([file], {})
    with pytest.raises(faro.FaroValueError, match="no files"):
        from_safetensors([], {})
