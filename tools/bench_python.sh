#!/usr/bin/env bash
# tools/bench_python.sh BUILD [ARGS…]   runs bench/python/bench.py with the wheel of BUILD/wheel, in an environment of its own.
# tools/bench_python.sh BUILD --small [ARGS…]   the same of bench/python/small.py: small arrays.
# tools/bench_python.sh BUILD --gpu [ARGS…]   runs bench/python/gpu.py by $PYTHON (python3), which has PyTorch and a GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
export FARO_COMMIT
FARO_COMMIT=$(git describe --always --dirty --abbrev=12)
if [[ ${1:-} == --gpu ]]; then
  shift
  python=${PYTHON:-python3}
  "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
    { echo "$python has no PyTorch that sees a GPU: name one that does as PYTHON=" >&2; exit 1; }
  rm -rf "$build/python-bench-gpu"
  "$python" -m pip --quiet --disable-pip-version-check install --target "$build/python-bench-gpu" "$build"/wheel/faro_permute-*.whl
  PYTHONPATH=$build/python-bench-gpu exec "$python" bench/python/gpu.py "$@"
fi
script=bench.py
if [[ ${1:-} == --small ]]; then
  script=small.py
  shift
fi
/usr/bin/python3 -m venv "$build/python-bench"
"$build/python-bench/bin/pip" --quiet --disable-pip-version-check install numpy
"$build/python-bench/bin/pip" --quiet --disable-pip-version-check install --force-reinstall --no-deps nanobind-backend "$build"/wheel/faro_permute-*.whl
"$build/python-bench/bin/python" "bench/python/$script" "$@"
