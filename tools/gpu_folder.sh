#!/usr/bin/env bash
# tools/gpu_folder.sh NAME BUILD_DIR
#
# Makes BUILD_DIR/gpu-NAME: a folder with the program of that name (gpu_NAME, gpu_NAME_bench or gpu_NAME_model) that runs, by its
# script `run`, on any x86-64 machine that has an NVIDIA GPU with its driver and a C library no older than this one. Runs it
# with the options in $ARGS if this machine has a GPU. The script is tools/gpu_NAME_run.sh, or tools/gpu_bench_run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
most_mib=64

if (($# != 2)); then
  echo "usage: tools/gpu_folder.sh NAME BUILD_DIR" >&2
  exit 2
fi
name=$1 build=$2
program=
for each in "$build"/{tests/gpu,bench}/gpu_"$name" "$build"/bench/gpu_"$name"_{bench,model}; do
  if [[ -f $each ]]; then program=$each; fi
done
if [[ ! -x $program ]]; then
  echo "no program gpu_$name, gpu_${name}_bench or gpu_${name}_model in $build/tests/gpu or $build/bench; build it first" >&2
  exit 2
fi
run=tools/gpu_${name}_run.sh
[[ -e $run ]] || run=tools/gpu_bench_run.sh
folder=$build/gpu-$name
rm -rf "$folder"
mkdir -p "$folder"
cp "$program" "$folder/"
cp "$run" "$folder/run"

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

    scp -r $folder MACHINE:gpu-$name
    ssh MACHINE gpu-$name/run
END
