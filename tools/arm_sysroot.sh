#!/usr/bin/env bash
# tools/arm_sysroot.sh   makes build-arm64/sysroot, the libraries of Debian that faro needs, for 64-bit ARM, from the package sources that
# this machine has. Nothing of it is installed on the machine. Ends with 77, for ctest a skipped test, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
sysroot=build-arm64/sysroot
[[ -d $sysroot ]] && exit 0
tools/install_dependencies.sh arm || exit 77
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mapfile -t sources < <(grep -lsE "\b$release\b" /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources})
[[ -n $release && ${#sources[@]} -gt 0 ]] || { echo "no package sources of Debian on this machine" >&2; exit 77; }
packages=libc6-dev,libstdc++-12-dev,libgomp1,libhwy-dev,libfmt-dev,nlohmann-json3-dev,libxxhash-dev,liburing-dev,libgtest-dev,libgmock-dev
log=$(mktemp)
trap 'rm -rf "$log" "$sysroot.new"' EXIT
rm -rf "$sysroot.new"
mkdir -p build-arm64
if ! mmdebstrap --mode=root --variant=extract --architectures=arm64 --include="$packages" "$release" "$sysroot.new" "${sources[@]}" >"$log" 2>&1; then
  tail -n 5 "$log" >&2
  exit 77
fi
mv "$sysroot.new" "$sysroot"
