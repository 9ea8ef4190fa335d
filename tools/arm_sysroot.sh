#!/usr/bin/env bash
# tools/arm_sysroot.sh [cuda]   makes build-arm64/sysroot, the libraries of Debian that faro needs, for 64-bit ARM, from the package sources
# that this machine has. With `cuda` also build-arm64/cuda-toolkit, this machine's nvcc beside CUDA's runtime for ARM, which is a package
# of PyPI. Nothing of it is installed on the machine. Ends with 77, for ctest a skipped test, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
sysroot=build-arm64/sysroot
# What the library is built with (tools/install_dependencies.sh), the compiler's and the tests' libraries, and Python.
packages=libc6-dev,libstdc++-12-dev,libgomp1,libgtest-dev,libgmock-dev,libpython3.11-dev,python3.11,$(tools/install_dependencies.sh libraries)

make_sysroot() {
  local release sources
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  mapfile -t sources < <(grep -lsE "\b$release\b" /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources})
  [[ -n $release && ${#sources[@]} -gt 0 ]] || { echo "no package sources of Debian on this machine" >&2; exit 77; }
  log=$(mktemp)
  trap 'rm -rf "$log" "$sysroot.new"' EXIT
  rm -rf "$sysroot" "$sysroot.new"
  mkdir -p build-arm64
  # Versions are for the list of what is in a wheel.
  if ! mmdebstrap --mode=root --variant=extract --architectures=arm64 --include="$packages" \
    --extract-hook='for each in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --show "$each"; done >"$1/versions"' \
    "$release" "$sysroot.new" "${sources[@]}" >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    exit 77
  fi
  rm -rf "$sysroot.new"/{dev,tmp,var}  # qemu takes what a sysroot has before what the machine has
  echo "$packages" >"$sysroot.new/of"
  mv "$sysroot.new" "$sysroot"
}

make_toolkit() {
  local nvcc root version toolkit=build-arm64/cuda-toolkit
  nvcc=$(tools/find_nvcc.sh) || { echo "no nvcc: tools/install_dependencies.sh wheel" >&2; exit 77; }
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  [[ -f $toolkit/of && $(<"$toolkit/of") == "$nvcc $version" ]] && return
  root=$(realpath "$(dirname "$(realpath "$nvcc")")/..")
  rm -rf "$toolkit"
  mkdir -p "$toolkit/bin" "$toolkit/targets/sbsa-linux"
  if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --no-compile --only-binary=:all: \
    --platform manylinux2014_aarch64 --target "$toolkit/runtime" "nvidia-cuda-runtime==$version.*"; then
    echo "PyPI has no CUDA $version runtime for 64-bit ARM" >&2
    exit 77
  fi
  (cd "$toolkit"/runtime/nvidia/cu*/lib && ln -s libcudart.so.* libcudart.so)
  # nvcc looks for everything from its own place.
  cp "$root/bin/nvcc" "$root/bin/nvcc.profile" "$toolkit/bin"
  ln -s "$root"/bin/* "$toolkit/bin" 2>/dev/null || true
  ln -s "$root/nvvm" "$root/include" "$toolkit"
  ln -s "$root/include" "$(realpath "$toolkit"/runtime/nvidia/cu*/lib)" "$toolkit/targets/sbsa-linux"
  ln -s sbsa-linux "$toolkit/targets/aarch64-linux"  # as CMake 3.25 calls it
  echo "$nvcc $version" >"$toolkit/of"
}

tools/install_dependencies.sh arm || exit 77
[[ -f $sysroot/of && $(<"$sysroot/of") == "$packages" ]] || make_sysroot
if [[ ${1:-} == cuda ]]; then make_toolkit; fi
