// The block of a GPU (device_block.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_block.hpp"
#include "engines/cuda/kernels/device_memory.cuh"

namespace faro::cuda {

class DeviceBlock {
 public:
  __device__ explicit DeviceBlock(std::byte* shared) : shared_(shared) {}

  __device__ std::uint64_t index() const { return blockIdx.x; }
  __device__ std::uint64_t blocks() const { return gridDim.x; }
  __device__ std::uint32_t thread() const { return threadIdx.x; }
  __device__ std::byte* shared() const { return shared_; }
  // f(memory), of arrays that are read and written once, 16 bytes an access.
  template <typename F>
  __device__ void streamed(const std::byte* in, std::byte* out, const F& f) const {
    SectorMemory memory(in, out, shared_);
    f(memory);
  }
  static constexpr bool is_streaming() { return true; }

  // Writes what no cache is to keep.
  template <int bytes>
  __device__ void stream(device::Packet<bytes>* to, const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    __stcs(reinterpret_cast<Word*>(to), std::bit_cast<Word>(packet));
  }

  // What launches before this one have written is there from here on, where it began before their end.
  __device__ void follow() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
  __device__ void barrier() const { __syncthreads(); }
  __device__ void warp_barrier() const { __syncwarp(); }
  __device__ std::uint32_t ballot(bool condition) const { return __ballot_sync(kAllLanes, condition); }
  // Lanes of the warp whose value has the bit as the calling lane's has it: four instructions, where the
  // compiler makes seven of the same in C++.
  __device__ std::uint32_t lanes_alike(std::uint32_t value, std::uint32_t bit) const {
    std::uint32_t lanes;
    asm volatile(
        "{ .reg .pred mine;\n"
        "  and.b32 %0, %1, %2;\n"
        "  setp.ne.u32 mine, %0, 0;\n"
        "  vote.sync.ballot.b32 %0, mine, 0xffffffff;\n"
        "  @!mine not.b32 %0, %0; }"
        : "=r"(lanes)
        : "r"(value), "r"(bit));
    return lanes;
  }
  __device__ std::uint32_t shuffle_up(std::uint32_t value, std::uint32_t lanes) const {
    return __shfl_up_sync(kAllLanes, value, lanes);
  }
  __device__ std::uint32_t shuffle(std::uint32_t value, std::uint32_t lane) const {
    return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
  }
  __device__ std::uint32_t count_ones(std::uint32_t word) const {
    return static_cast<std::uint32_t>(__popc(word));
  }

  __device__ std::uint32_t atomic_or(std::uint32_t* word, std::uint32_t bits) const {
    return atomicOr(word, bits);
  }
  __device__ void atomic_and(std::uint32_t* word, std::uint32_t bits) const { atomicAnd(word, bits); }
  __device__ std::uint32_t fetch_add(std::uint32_t* word, std::uint32_t value) const {
    return atomicAdd(word, value);
  }
  __device__ void atomic_add(std::uint32_t* word, std::uint32_t value) const { atomicAdd(word, value); }
  __device__ void atomic_add(std::uint64_t* word, std::uint64_t value) const {
    atomicAdd(wide(word), static_cast<Wide>(value));
  }
  __device__ void atomic_min(std::uint64_t* word, std::uint64_t value) const {
    atomicMin(wide(word), static_cast<Wide>(value));
  }
  __device__ void atomic_max(std::uint64_t* word, std::uint64_t value) const {
    atomicMax(wide(word), static_cast<Wide>(value));
  }
  __device__ std::uint32_t read(const std::uint32_t* word) const {
    return *static_cast<const volatile std::uint32_t*>(word);
  }
  __device__ std::uint64_t read(const std::uint64_t* word) const {
    return *static_cast<const volatile std::uint64_t*>(word);
  }
  __device__ void write(std::uint32_t* word, std::uint32_t value) const {
    *static_cast<volatile std::uint32_t*>(word) = value;
  }

 private:
  using Wide = unsigned long long;  // what CUDA's atomics take
  __device__ static Wide* wide(std::uint64_t* word) { return reinterpret_cast<Wide*>(word); }

  std::byte* shared_;
};

}  // namespace faro::cuda
