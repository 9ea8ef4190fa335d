// A tile's memory whose input goes to shared memory by the machine's own copies, all of a block's at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/index_simple_support.cuh"

namespace faro::cuda {

struct CopyingMemory : TileMemory {
  using TileMemory::TileMemory;

  __device__ const std::byte* input_cursor(std::uint64_t offset) const { return sectors.input + offset; }
  __device__ std::byte* output_cursor(std::uint64_t offset) const { return sectors.output + offset; }
  template <int bytes>
  __device__ device::Packet<bytes> load_cursor(const std::byte* from) const {
    return load_global<bytes>(device::kInput, static_cast<std::uint64_t>(from - sectors.input));
  }
  template <int bytes>
  __device__ void store_cursor(std::byte* to, const device::Packet<bytes>& packet) const {
    store_global<bytes>(device::kOutput, static_cast<std::uint64_t>(to - sectors.output), packet);
  }
  /// Arrives before wait() returns. `bytes`: 4, 8 or 16.
  template <int bytes>
  __device__ void copy_to_shared(const std::byte* from, std::uint32_t address) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(sectors.shared + address));
    if constexpr (bytes == 16) {
      asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                   "l"(sectors.load_policy)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
    }
  }
  /// For the calling thread's own copies; a barrier must follow.
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

}  // namespace faro::cuda
