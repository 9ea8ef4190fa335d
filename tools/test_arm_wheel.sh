#!/usr/bin/env bash
# tools/test_arm_wheel.sh [ARGUMENT…]   runs the tests of the Python package with the wheel of build-arm64/wheel (`make wheel-aarch64`): first
# without NumPy, then with it, by Debian's Python for 64-bit ARM and qemu, half an hour of a processor. Arguments are pytest's. FARO_EXAMPLES=3
# draws fewer examples of each property; FARO_WITHOUT_EXTRAS=1 skips what asks for `extras/`, for a wheel that was made without. Ends with 77
# where what it needs cannot be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build-arm64
packages=$build/python-test
wheel=("$build"/wheel/faro_permute-*_aarch64.whl)
[[ -f ${wheel[0]} ]] || { echo "no wheel in $build/wheel: make wheel-aarch64 makes one" >&2; exit 1; }
tools/arm_sysroot.sh

# install FOLDER PACKAGE…: what pip of an ARM machine would take.
install() {
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --only-binary=:all: --implementation cp \
    --python-version 3.11 --abi cp311 --abi abi3 --abi none --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
    --target "$1" "${@:2}" || exit 77
}
rm -rf "$packages"
install "$packages/package" "${wheel[0]}"
install "$packages/tests" pytest hypothesis numpy ml_dtypes

# Python as one program that this machine starts, so that the tests' own processes find it as sys.executable.
cat >"$packages/python" <<EOF
#!/usr/bin/env bash
exec $PWD/tools/arm_run.sh usr/bin/python3.11 "\$@"
EOF
chmod +x "$packages/python"
echo "import sys; sys.executable = '$packages/python'" >"$packages/package/sitecustomize.py"

export PYTHONDONTWRITEBYTECODE=1
export FARO_TEST_SECONDS=600  # of a call that is interrupted: an emulated processor ends its part of the work later
PYTHONPATH=$packages/package "$packages/python" python/tests/without_numpy.py
cd python/tests
PYTHONPATH=$packages/package:$packages/tests "$packages/python" -m pytest -q -p no:cacheprovider -c ../../pyproject.toml \
  --rootdir . . "$@"
