#!/usr/bin/env bash
# tools/bench_python.sh BUILD [ARGS…]   runs bench/python/bench.py with the wheel of BUILD/wheel, in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
/usr/bin/python3 -m venv "$build/python-bench"
"$build/python-bench/bin/pip" --quiet --disable-pip-version-check install numpy
"$build/python-bench/bin/pip" --quiet --disable-pip-version-check install --force-reinstall --no-deps nanobind-backend "$build"/wheel/faro-*.whl
FARO_COMMIT=$(git describe --always --dirty --abbrev=12) "$build/python-bench/bin/python" bench/python/bench.py "$@"
