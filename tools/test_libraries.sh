#!/usr/bin/env bash
# tools/test_libraries.sh BUILD newest|oldest [ARGUMENT…]   runs the Python tests beside the libraries that they meet, with the wheel that
# tools/test_wheel.sh made: the newest torch and jax, by the newest Python that is here, or the oldest that pyproject.toml promises, by the
# oldest Python. Arguments are pytest's. BUILD/python-NAME.txt says what was run. Ends with 77, for ctest a skipped test, where PyPI
# cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD
build=$(realpath "$1") which=$2
shift 2
environment=$build/python-$which
said=$build/python-$which.txt
wheel=("$build"/wheel/faro_permute-*.whl)
[[ -f ${wheel[0]} ]] || { echo "no wheel in $build/wheel: tools/test_wheel.sh $build makes one" >&2; exit 1; }

# Interpreters that can make an environment, Debian's and pyenv's, from the newest to the oldest.
mapfile -t pythons < <(
  for python in python3.{11..19} /usr/bin/python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    "$python" -c 'import ensurepip, sys; v = sys.version_info; v >= (3, 11) and v.releaselevel == "final" and print(v.minor, sys.executable)' 2>/dev/null
  done | sort -rnu -k1,1 | cut -d" " -f2
)
[[ ${#pythons[@]} -gt 0 ]] || { echo "no Python from 3.11 on has ensurepip: tools/install_dependencies.sh python" >&2; exit 1; }
case $which in
  newest)
    python=${pythons[0]}
    wanted=(torch jax numpy)
    ;;
  oldest)
    python=${pythons[-1]}
    mapfile -t wanted < <(sed -nE 's/^(torch|jax) = \["(torch|jax)>=([0-9.]+)".*/\2==\3/p' pyproject.toml)
    [[ ${#wanted[@]} -eq 2 ]] || { echo "pyproject.toml does not say the oldest torch and jax" >&2; exit 1; }
    ;;
  *)
    echo "usage: tools/test_libraries.sh BUILD newest|oldest" >&2
    exit 2
    ;;
esac

echo "$which: not run, for PyPI cannot be reached" >"$said"
rm -rf "$environment"
"$python" -m venv "$environment"
pip=("$environment/bin/pip" --disable-pip-version-check --quiet)
# A proxy or an index of one's own is pip's configuration.
"${pip[@]}" download --no-deps --dest "$environment/reached" pytest || exit 77
echo "$which: $("$environment/bin/python" --version) has no ${wanted[*]}" >"$said"
"${pip[@]}" install "${wheel[0]}" pytest hypothesis ml_dtypes "${wanted[@]}"

# The other libraries whose tests would be skipped, each where it can be had; cupy and numba.cuda need a GPU.
declare -A packages=([cirq]=cirq-core [braket]=amazon-braket-sdk [skimage]=scikit-image [astropy]=astropy)
lacking=()
if [[ $which == newest ]]; then
  modules=$(grep -rhoE 'importorskip\("[A-Za-z0-9_]+' python/tests | sed 's/.*"//' | sort -u)
  for module in $modules; do
    [[ $module == cupy || $module == numba ]] && continue
    "${pip[@]}" install "${packages[$module]:-$module}" || lacking+=("$module")
  done
fi

versions=$("$environment/bin/python" - <<'EOF'
import platform
from importlib.metadata import version
print("Python", platform.python_version(), *(f", {name} {version(name)}" for name in ("torch", "jax", "numpy")), sep=" ", end="")
EOF
)
versions=${versions// ,/,}
echo "$which: failed with $versions" >"$said"
if [ -x "$build/faro" ]; then export FARO=$build/faro; fi
cd "$source_dir/python/tests"
PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" -m pytest -q -p no:cacheprovider -c "$source_dir/pyproject.toml" \
  --rootdir "$source_dir/python/tests" "$source_dir/python/tests" "$@"
echo "$which: ran with $versions${lacking:+; PyPI has no ${lacking[*]} for it}" | tee "$said"
