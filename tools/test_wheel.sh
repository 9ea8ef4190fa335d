#!/usr/bin/env bash
# tools/test_wheel.sh BUILD   makes the wheel, or takes $FARO_WHEEL, installs it into a fresh environment of $FARO_PYTHON, /usr/bin/python3
# where that is not set, and runs its tests: first without NumPy, then with it. Ends with 77, for ctest a
# skipped test, where what it needs cannot be fetched from PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD
build=$(realpath "$1")
shift
environment=$build/python-test

if [[ -n ${FARO_WHEEL:-} ]]; then
  wheel=("$FARO_WHEEL")
else
  tools/make_wheel.sh "$build" "$build/wheel"
  wheel=("$build"/wheel/faro_permute-*.whl)
  "$build/python-tools/bin/abi3audit" --strict --assume-minimum-abi3 3.11 "$build"/python-unrepaired/faro_permute-*.whl
  "$build/python-tools/bin/auditwheel" show "${wheel[0]}" | grep manylinux_2_28 >/dev/null
fi
bytes=$(stat -c %s "${wheel[0]}")
((bytes <= 60 << 20)) || { echo "the wheel has $bytes bytes, more than 60 MiB" >&2; exit 1; }

rm -rf "$environment"
"${FARO_PYTHON:-/usr/bin/python3}" -m venv "$environment"
pip=("$environment/bin/pip" --disable-pip-version-check --quiet)
"${pip[@]}" install "${wheel[0]}" || exit 77
cd "$build"
"$environment/bin/python" "$source_dir/python/tests/without_numpy.py"
# FARO_PYTHON_EXTRAS: libraries whose tests are run, too, "jax torch qiskit"; the others' are skipped.
read -ra extras <<<"${FARO_PYTHON_EXTRAS:-}"
"${pip[@]}" install pytest hypothesis numpy ml_dtypes "${extras[@]}" || exit 77
# Whose files stores read and write, and whose layouts are compared; the tests of those that cannot be had are skipped.
"${pip[@]}" install zarr numcodecs safetensors h5py tifffile nibabel astropy gguf transformers tensor-layouts || echo "not all libraries of stores can be had"
"${pip[@]}" install netCDF4 tensorstore pyarrow tqdm || echo "not all libraries of stores can be had"
# Types: the package's own, those of a program of a user, and the stub is what the extension has.
"${pip[@]}" install mypy || exit 77
(
  cd "$build"
  "$environment/bin/python" -m mypy --no-error-summary --ignore-missing-imports -p faro
  "$environment/bin/python" -m mypy --no-error-summary --strict "$source_dir/python/tests/typed.py"
  "$environment/bin/python" "$source_dir/python/tests/typed.py"
  PYTHONPATH=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \
    "$build/python-tools/bin/python" -m nanobind.stubgen -q -m faro._faro -o "$environment/_faro.pyi"
  diff "$environment/_faro.pyi" <(tail -n +2 "$source_dir/python/faro/_faro.pyi")
)
if [ -x "$build/faro" ]; then export FARO=$build/faro; fi
cd "$source_dir/python/tests"
PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" -m pytest -q -p no:cacheprovider -c "$source_dir/pyproject.toml" \
  --rootdir "$source_dir/python/tests" "$source_dir/python/tests" "$@"
