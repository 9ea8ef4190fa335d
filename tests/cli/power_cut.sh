#!/usr/bin/env bash
# What a power cut leaves: the command works on a file system of its own, in a file on this one; at the cut that file
# is copied as it is, and the copy is mounted, which recovers as after a cut. Needs root, loop devices and mkfs.ext4,
# and says so where one is missing. FARO_FAULTS is the library that kills the command at a call (tests/faults).
set -euo pipefail
FARO=$(realpath "${FARO:?the command}")
skip() {
  echo "skipped: $1"
  exit 0
}
((EUID == 0)) || skip "needs root"
command -v mkfs.ext4 losetup >/dev/null || skip "needs mkfs.ext4 and losetup"

work=$PWD
mkdir disk after
# Nothing is brought to the disk but what is asked for: the journal is written every five minutes, not seconds.
truncate -s 64M image
mkfs.ext4 -q -F image
mount -o loop,commit=300 image disk 2>/dev/null || skip "no loop device can be mounted"
cleanup() {
  mountpoint -q "$work/after" && umount "$work/after"
  mountpoint -q "$work/disk" && umount "$work/disk"
}
trap cleanup EXIT

# recovered: what the disk holds if the power fails now, in after/
recovered() {
  mountpoint -q after && umount after
  cp --sparse=always image cut
  mount -o loop cut after
}

failures=0
expect() { # NAME FILE SUM...: the file has one of the sums
  local name=$1 file=$2 sum
  shift 2
  sum=$(sha256sum <"$file" 2>/dev/null || echo missing)
  for wanted in "$@"; do [[ $sum == "$wanted" ]] && return; done
  echo "$name: $file is neither the old nor the new one"
  failures=$((failures + 1))
}

"$FARO" new 1024x256 u4 old.npy
"$FARO" permute 'transpose(1024, 256)' old.npy new.npy --quiet
old=$(sha256sum <old.npy) new=$(sha256sum <new.npy)

# Told to be done, it is on the disk.
for how in "" --no-backup; do
  cp old.npy disk/a.npy
  sync
  "$FARO" permute --in-place 'transpose(1024, 256)' disk/a.npy --quiet $how
  recovered
  expect "in place $how, told to be done" after/a.npy "$new"
done
rm -f disk/out.npy
"$FARO" permute 'transpose(1024, 256)' old.npy disk/out.npy --quiet
recovered
expect "permute, told to be done" after/out.npy "$new"
"$FARO" emit 'bit_reversal(10)' --out disk/kernel.cu
"$FARO" emit 'bit_reversal(10)' --out kernel.cu
recovered
expect "emit, told to be done" after/kernel.cu "$(sha256sum <kernel.cu)"

# Cut at each call that changes the file system: the old file or the new one.
if [[ -n ${FARO_FAULTS:-} ]]; then
  for named in 0 1; do
    for kind in reserve write sync rename; do
      for at in 1 2 3 4; do
        cp old.npy disk/a.npy
        sync
        FARO_NO_TMPFILE=$named FARO_FAULT=$kind FARO_FAULT_AT=$at FARO_FAULT_KILL=1 LD_PRELOAD=$FARO_FAULTS \
          "$FARO" permute --in-place 'transpose(1024, 256)' disk/a.npy --quiet 2>/dev/null || true
        recovered
        expect "cut at $kind $at, named $named" after/a.npy "$old" "$new"
      done
    done
  done
fi
((failures == 0)) && echo "power cuts: the old file or the new one, every time"
exit $((failures > 0))
