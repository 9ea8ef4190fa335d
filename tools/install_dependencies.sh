#!/usr/bin/env bash
# Installs the Debian packages that faro needs and that are missing, and a CUDA compiler where there is a GPU but none.
# Asks nothing; needs the network only where something is missing.
#
#     tools/install_dependencies.sh [build|python|wheel|test|gpu|docs|page|arm|deb|libraries]
#
# (default: test, which is build, python, docs and more; gpu is test, and wheel is python, with the CUDA compiler even where
# there is no GPU; `libraries` only names those that the library is built with)
#
# The site's planner takes emscripten, a gigabyte, and its tests Chromium: `page` installs both; `docs` emscripten where it can, for without
# it the site has no planner; `test` neither, and what needs them is skipped.
#
# The compiler comes from NVIDIA's Python packages and goes to build/cuda-toolkit, where CMake looks for it. Without one
# faro is built for the CPU alone. FARO_CUDA_WHEELS=0 never fetches it, =1 even where there is an nvcc.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(g++ cmake ninja-build make libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev liburing-dev
  zlib1g-dev libzstd-dev libblosc-dev liblz4-dev libaec-dev libhdf5-dev libtomlplusplus-dev)
python_packages=(python3-dev python3-venv python3-pip)
test_packages=("${python_packages[@]}" libgtest-dev libgmock-dev clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev lld libomp-14-dev libfftw3-dev libopenmpi-dev openmpi-bin abigail-tools git)
docs_packages=(python3-venv make)
arm_packages=(mmdebstrap g++-aarch64-linux-gnu qemu-user-static cmake ninja-build)
deb_packages=(dpkg-dev debhelper dh-python fakeroot lintian git)
planner_packages=(cmake ninja-build libfmt-dev nlohmann-json3-dev libxxhash-dev emscripten)

cuda_version=13.0
cuda_least_driver=580 # of CUDA 13
cuda_wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl)
cuda_toolkit=build/cuda-toolkit

kind=${1:-test}
case "$kind" in
  build) wanted=("${build_packages[@]}") ;;
  python | wheel) wanted=("${build_packages[@]}" "${python_packages[@]}") ;;
  docs) wanted=("${docs_packages[@]}") ;;
  libraries) echo "${build_packages[*]}" | grep -oE '[^ ]+-dev' | paste -sd, && exit ;;
  deb) wanted=("${build_packages[@]}" "${python_packages[@]}" "${deb_packages[@]}") ;;
  arm) wanted=("${arm_packages[@]}") ;;
  page) wanted=("${docs_packages[@]}" "${planner_packages[@]}" chromium) ;;
  test | gpu) wanted=("${build_packages[@]}" "${test_packages[@]}" "${docs_packages[@]}") ;;
  *)
    echo "usage: tools/install_dependencies.sh [build|python|wheel|test|gpu|docs|page|arm|deb]" >&2
    exit 2
    ;;
esac

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# install PACKAGE…: those that are missing; says on standard error why it could not.
install() {
  local missing=() package status as_root=()
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $status == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} -eq 0 ]] && return 0
  if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      echo "faro needs these Debian packages; as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo -n)
  fi
  echo "installing: ${missing[*]}"
  # env passes the setting through sudo, which drops it otherwise.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "installing failed: ${missing[*]}" >&2
    return 1
  fi
}

has_gpu() { [[ -e /dev/nvidiactl ]] || nvidia-smi -L >/dev/null 2>&1; }

# Sets why_not where a toolkit cannot be had.
install_cuda() {
  local driver wheels=() wheel
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed -n 1p | cut -d. -f1 || true)
  if [[ $driver =~ ^[0-9]+$ ]] && ((driver < cuda_least_driver)); then
    why_not="the driver, $driver, is older than the $cuda_least_driver that CUDA $cuda_version needs"
    return 1
  fi
  if ! python3 -m pip --version >/dev/null 2>&1 && ! install python3-pip; then
    why_not="no pip"
    return 1
  fi
  for wheel in "${cuda_wheels[@]}"; do wheels+=("$wheel==$cuda_version.*"); done
  echo "installing: CUDA $cuda_version's compiler, to $cuda_toolkit"
  rm -rf "$cuda_toolkit.new"
  if ! timeout 600 python3 -m pip install --quiet --no-deps --only-binary=:all: --no-compile --disable-pip-version-check \
    --root-user-action=ignore --target "$cuda_toolkit.new" "${wheels[@]}" </dev/null >"$log" 2>&1; then
    why_not=$(grep -v '^ *$' "$log" | tail -n 1 | cut -c1-200)
    rm -rf "$cuda_toolkit.new"
    return 1
  fi
  local root
  root=$(dirname "$(dirname "$(find "$cuda_toolkit.new" -path '*/bin/nvcc' | sed -n 1p)")")
  if [[ ! -x $root/bin/nvcc ]]; then
    why_not="the packages hold no nvcc"
    rm -rf "$cuda_toolkit.new"
    return 1
  fi
  # What nvcc and CMake look for by these names.
  [[ -e $root/lib64 ]] || ln -s lib "$root/lib64"
  [[ -e $root/lib/libcudart.so ]] || (cd "$root/lib" && ln -s libcudart.so.* libcudart.so)
  rm -rf "$cuda_toolkit"
  mv "$root" "$cuda_toolkit"
  mv "$cuda_toolkit".new/nvidia_cuda_runtime-*.dist-info "$cuda_toolkit"  # its licence, which wheels have
  rm -rf "$cuda_toolkit.new"
  # A tree that was configured without a compiler would go on without.
  rm -f build/CMakeCache.txt
}

install "${wanted[@]}" || exit 1
[[ $kind == page || $kind == arm || $kind == deb ]] && exit 0
if [[ $kind == docs ]]; then
  install "${planner_packages[@]}" || echo "so the site has no planner"
  exit 0
fi

wheels=${FARO_CUDA_WHEELS:-}
[[ $wheels == 0 || -x $cuda_toolkit/bin/nvcc ]] && exit 0
if [[ $wheels == 1 ]] || { ! tools/find_nvcc.sh >/dev/null && { [[ $kind == gpu || $kind == wheel ]] || has_gpu; }; }; then
  why_not=""
  install_cuda || echo "no CUDA compiler, so faro is built for the CPU alone: $why_not"
fi
