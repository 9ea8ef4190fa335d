#!/usr/bin/env bash
# One einsum, "ij->i" of uint8 and of bool, in nine libraries: PyTorch 2.15.0, MLX 0.32.4 and Dask 2026.8.0 add in a wider type, as sum does in all,
# and NumPy, JAX 0.10.2, opt_einsum 3.4.0, sparse 0.19.3, xarray's dot (2026.9.0) and einops 0.8.2 in the array's own, so that 200 + 100 is 44 and
# bools are not counted but joined. Within einops, reduce and einsum of one pattern differ, within NumPy trace and einsum "ii". A product "ij,kj->ik"
# wraps in PyTorch, too.
# Seen with numpy 2.4.6, on CPython 3.11:
#     numpy.sum: uint64 [300, 150], of bool [2, 1]
#     numpy.einsum: uint8 [44, 150], of bool [True, True]
#     torch.einsum: int64 [300, 150], of bool [2, 1]
#     jax.numpy.einsum: uint8 [44, 150], of bool [True, True]
#     mlx.core.einsum: uint32 [300, 150], of bool [2, 1]
#     dask.array.einsum: uint64 [300, 150], of bool [2, 1]
#     opt_einsum.contract: uint8 [44, 150], of bool [True, True]
#     sparse.einsum: uint8 [44, 150], of bool [True, True]
#     xarray.dot: uint8 [44, 150], of bool [True, True]
#     einops.einsum: uint8 [44, 150], of bool [True, True]
#     einops.reduce: uint64 [300, 150], of bool [2, 1]
#     trace 300, einsum ii 44; ij,kj->ik: torch [[80, 32], [32, 212]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check \
    torch==2.15.0 mlx[cpu]==0.32.4 dask[array]==2026.8.0 jax==0.10.2 opt_einsum==3.4.0 sparse==0.19.3 xarray==2026.9.0 einops==0.8.2
    numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import dask.array, einops, jax.numpy, mlx.core, numpy as np, opt_einsum, sparse, torch, xarray

x, b = np.array([[200, 100], [50, 100]], np.uint8), np.array([[True, True], [True, False]])
ways = {
    "numpy.sum": lambda a: a.sum(1),
    "numpy.einsum": lambda a: np.einsum("ij->i", a),
    "torch.einsum": lambda a: torch.einsum("ij->i", torch.from_numpy(a)).numpy(),
    "jax.numpy.einsum": lambda a: np.asarray(jax.numpy.einsum("ij->i", a)),
    "mlx.core.einsum": lambda a: np.array(mlx.core.einsum("ij->i", mlx.core.array(a))),
    "dask.array.einsum": lambda a: dask.array.einsum("ij->i", dask.array.from_array(a, chunks=1)).compute(),
    "opt_einsum.contract": lambda a: opt_einsum.contract("ij->i", a),
    "sparse.einsum": lambda a: sparse.einsum("ij->i", sparse.COO.from_numpy(a)).todense(),
    "xarray.dot": lambda a: xarray.dot(xarray.DataArray(a, dims=("i", "j")), dim="j").values,
    "einops.einsum": lambda a: einops.einsum(a, "i j -> i"),
    "einops.reduce": lambda a: einops.reduce(a, "i j -> i", "sum"),
}
for name, way in ways.items():
    print(f"{name}: {way(x).dtype} {way(x).tolist()}, of bool {way(b).tolist()}")
print(f"trace {np.trace(x)}, einsum ii {np.einsum('ii', x)}; ij,kj->ik: torch {torch.einsum('ij,kj->ik', *[torch.from_numpy(x)] * 2).tolist()}")
P
)
echo "$seen"
[[ $seen == "numpy.sum: uint64 [300, 150], of bool [2, 1]
numpy.einsum: uint8 [44, 150], of bool [True, True]
torch.einsum: int64 [300, 150], of bool [2, 1]
jax.numpy.einsum: uint8 [44, 150], of bool [True, True]
mlx.core.einsum: uint32 [300, 150], of bool [2, 1]
dask.array.einsum: uint64 [300, 150], of bool [2, 1]
opt_einsum.contract: uint8 [44, 150], of bool [True, True]
sparse.einsum: uint8 [44, 150], of bool [True, True]
xarray.dot: uint8 [44, 150], of bool [True, True]
einops.einsum: uint8 [44, 150], of bool [True, True]
einops.reduce: uint64 [300, 150], of bool [2, 1]
trace 300, einsum ii 44; ij,kj->ik: torch [[80, 32], [32, 212]]" ]]
