// The memory of the transposition in place: the array, the scratch and the copied rows, each read and
// written.
//
// Without hints: rows begin anywhere, so neighbours share sectors, and what one writes in part the other
// completes while it is in the second-level cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_memory.cuh"
#include "kernels/c2r_places.hpp"

namespace faro::cuda {

struct InPlaceMemory {
  std::byte* array;
  std::byte* scratch;
  std::byte* rows;
  std::byte* shared;

  __device__ std::byte* base(int buffer) const {
    if (buffer < kernels::kC2rScratchIn) return array;
    return buffer < kernels::kC2rRowsIn ? scratch : rows;
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word*>(base(buffer) + offset));
  }
  template <int bytes>
  __device__ void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    *reinterpret_cast<Word*>(base(buffer) + offset) = std::bit_cast<Word>(packet);
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word*>(shared + address));
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    *reinterpret_cast<Word*>(shared + address) = std::bit_cast<Word>(packet);
  }

  /// Sixteen bytes, which are there after wait().
  __device__ void copy_to_shared(int buffer, std::uint64_t offset, std::uint32_t address) const {
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared + address));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(to), "l"(base(buffer) + offset)
                 : "memory");
  }
  /// For all that this thread has copied.
  __device__ void wait() const { asm volatile("cp.async.wait_all;" : : : "memory"); }
};

inline constexpr int kSharedAlignment = 16;

}  // namespace faro::cuda
