#!/usr/bin/env bash
# tools/gpu_folder.sh test|bench|verify|network|index|transpose|aos|swizzle BUILD_DIR
#
# Makes BUILD_DIR/gpu-test, gpu-bench, gpu-verify, gpu-network, gpu-index, gpu-transpose, gpu-aos or gpu-swizzle: a folder that runs, by its script `run`, on any x86-64 machine that has
# an NVIDIA GPU with its driver and a C library no older than this one. Runs it if this machine has a GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
most_mib=64

case "${1:-}" in
  test) program=$2/tests/gpu/gpu_test ;;
  bench) program=$2/bench/gpu_bench ;;
  verify) program=$2/bench/gpu_verify_model ;;
  network) program=$2/bench/gpu_network_bench ;;
  index) program=$2/bench/gpu_index_bench ;;
  transpose) program=$2/bench/gpu_transpose_bench ;;
  aos) program=$2/bench/gpu_aos_bench ;;
  swizzle) program=$2/bench/gpu_swizzle_bench ;;
  *)
    echo "usage: tools/gpu_folder.sh test|bench|verify|network|index|transpose|aos|swizzle BUILD_DIR" >&2
    exit 2
    ;;
esac
folder=$2/gpu-$1
rm -rf "$folder"
mkdir -p "$folder"
cp "$program" "$folder/"
cp "tools/gpu_$1_run.sh" "$folder/run"

# All libraries that it needs but the C library's own and the driver's, which belong to the machine.
system='^(ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libresolv|libcuda|libnvidia.*)\.so'
libraries=$(ldd "$program")
if grep -q 'not found' <<<"$libraries"; then
  grep 'not found' <<<"$libraries" >&2
  exit 1
fi
awk '$2 == "=>" {print $1, $3}' <<<"$libraries" | while read -r name path; do
  [[ $name =~ $system ]] || cp -L "$path" "$folder/$name"
done
strip --strip-unneeded "$folder"/*.so* "$folder/$(basename "$program")"
size_mib=$(du -sm "$folder" | cut -f1)
if ((size_mib > most_mib)); then
  echo "$folder has $size_mib MiB; wanted at most $most_mib" >&2
  exit 1
fi

if [[ -e /dev/nvidiactl ]] || nvidia-smi -L >/dev/null 2>&1; then
  exec "$folder/run" ${ARGS:-}
fi
libc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
cat <<END
$folder, $size_mib MiB, is complete, and this machine has no GPU to run it on. On one that has (x86-64, glibc $libc or
later, an NVIDIA driver for CUDA 13; compute-sanitizer on its PATH for the rest of the tests):

    scp -r $folder MACHINE:gpu-$1
    ssh MACHINE gpu-$1/run
END
