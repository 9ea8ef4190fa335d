#!/usr/bin/env bash
# tools/test_deb.sh PACKAGES [CHROOT]   installs the Debian packages of the folder PACKAGES into a clean Debian of this machine's release, made
# by mmdebstrap, and runs packaging/debian/tests there. As root. CHROOT is made, or taken where it is there; without it a scratch is.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "$1")
chroot=${2:-$(mktemp -d)/chroot}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mapfile -t sources < <(grep -lsE "\b$release\b" /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources})
[[ -e $chroot ]] || mmdebstrap --quiet --mode=root --variant=apt "$release" "$chroot" "${sources[@]}"
[[ -n ${2:-} ]] || trap 'rm -rf "$(dirname "$chroot")"' EXIT
rm -rf "$chroot/faro"
mkdir "$chroot/faro"
cp "$packages"/*.deb packaging/debian/tests/* "$chroot/faro"
in_chroot() { unshare --mount --fork bash -c 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"; exec chroot "$0" "$@"' "$chroot" "$@"; }
in_chroot sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends /faro/*.deb g++ pkg-config' >/dev/null
for test in command libraries python; do in_chroot "/faro/$test"; done
in_chroot sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends python3-numpy' >/dev/null
in_chroot /faro/python
in_chroot sh -c 'apt-get purge -q -y faro libfaro1 libfaro-dev python3-faro' >/dev/null
echo "installed, run and purged on $release"
