#!/usr/bin/env bash
# packaging/try.sh [WHEEL]   what a new user of the Python package does first, on any Linux: a fresh environment of $PYTHON (python3 where that is
# not set), WHEEL or the index's faro-permute and NumPy into it, a permutation beside NumPy's by conda/smoke.py. Says what system it was and
# the seconds of both.
set -euo pipefail
smoke=$(cd "$(dirname "$0")" && pwd)/conda/smoke.py
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
python=$environment/bin/python
"${PYTHON:-python3}" -m venv "$environment"
since=$EPOCHREALTIME
"$python" -m pip install --quiet --disable-pip-version-check numpy "${1:-faro-permute}"
installed=$EPOCHREALTIME
cd "$environment"
"$python" "$smoke"
"$python" -c 'import platform, sys; print(platform.machine(), *platform.libc_ver(), platform.python_implementation(), platform.python_version(), *sys.argv[1:])' \
  "$(awk -v a="$since" -v b="$installed" -v c="$EPOCHREALTIME" 'BEGIN { printf "installed in %.1f s, first result in %.2f s", b - a, c - b }')"
