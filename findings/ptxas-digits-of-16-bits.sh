#!/usr/bin/env bash
# ptxas of CUDA 13.0 gives up on valid code: warps that compare 10 bits of a number of 16 bits in shared memory, a vote for each bit, within a
# loop. "Register allocation failed with register count of '7'" seems to be of the predicates. The same number through a shuffle by 0, which
# changes nothing, compiles without a spill.
# Seen with nvidia-cuda-nvcc 13.0.88, for sm_90:
#     as it is: (C7600) Register allocation failed; through a shuffle: compiled
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
  nvidia-cuda-runtime==13.0.96
nvcc=$(find "$folder/env" -path '*/bin/nvcc' | head -1)
cat >"$folder/rank.cu" <<'CUDA'
__device__ unsigned lanes_with(unsigned value, unsigned lanes) {
#pragma unroll
  for (int bit = 0; bit < 10; ++bit) {
    unsigned alike;
    asm volatile(
        "{ .reg .pred mine;\n"
        "  and.b32 %0, %1, %2;\n"
        "  setp.ne.u32 mine, %0, 0;\n"
        "  vote.sync.ballot.b32 %0, mine, 0xffffffff;\n"
        "  @!mine not.b32 %0, %0; }"
        : "=r"(alike)
        : "r"(value), "r"(1u << bit));
    lanes &= alike;
  }
  return lanes;
}

__global__ void __launch_bounds__(512, 2) rank(unsigned stretch, unsigned first_own, unsigned end_own, unsigned* out) {
  extern __shared__ unsigned short digits[];
  unsigned* const next = reinterpret_cast<unsigned*>(digits + 4096) + threadIdx.x / 32 * 1024;
  const unsigned lane = threadIdx.x % 32;
  const unsigned begin = threadIdx.x / 32 * stretch;
  if (begin + stretch <= first_own) return;
  const unsigned end = begin + stretch < end_own ? begin + stretch : end_own;
  for (unsigned first = begin; first < end; first += 32) {
    unsigned digit = digits[first + lane];
#ifdef SHUFFLED
    digit = __shfl_up_sync(0xffffffff, digit, 0);
#endif
    const bool there = digit != 0xffff;
    const unsigned lanes = lanes_with(digit, __ballot_sync(0xffffffff, there));
    const unsigned before = there ? next[digit] : 0;
    __syncwarp();
    const unsigned below = (1u << lane) - 1;
    if (there && (lanes & below) == 0) next[digit] = before + __popc(lanes);
    __syncwarp();
    out[first + lane] = before + __popc(lanes & below);
  }
}
CUDA
compiled() {
  local said
  said=$("$nvcc" -arch=sm_90 "$@" -cubin "$folder/rank.cu" -o "$folder/rank.cubin" 2>&1) && echo compiled && return
  grep -o '(C7600) Register allocation failed' <<<"$said"
}
seen="as it is: $(compiled); through a shuffle: $(compiled -DSHUFFLED)"
echo "$seen"
[[ $seen == "as it is: (C7600) Register allocation failed; through a shuffle: compiled" ]]
