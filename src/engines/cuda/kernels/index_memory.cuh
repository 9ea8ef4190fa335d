// The memory of a GPU as the kernels of index arrays see it: an input, an output and up to three tables.
//
//     loads      plain: marked as read once (ld.cs), they cost 5 % of the time of a pass
//     tables     starts, offsets and the runs that are collected go to shared memory behind the thread's back
//     output     streamed, which the caches drop first; scattered elements and columns: kept until their
//                sectors are whole
//
// A sector that is written in part and evicted costs a read and a second write, hence the difference. Runs
// leave so many sectors in part only at their ends, and their neighbours come soon.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/device_memory.cuh"
#include "kernels/partition.hpp"

namespace faro::cuda {

struct IndexTables {
  const std::byte* places = nullptr;
  const std::byte* starts = nullptr;
  const std::byte* offsets = nullptr;
};

template <bool stream_output>
struct StreamingMemory {
  const std::byte* input;
  std::byte* output;
  std::byte* shared;
  IndexTables tables;

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    using Word = typename Machine<bytes>::Word;
    const std::byte* base = input;
    if (buffer == kernels::kPlaces) base = tables.places;
    if (buffer == kernels::kStarts) base = tables.starts;
    if (buffer == kernels::kOffsets) base = tables.offsets;
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word*>(base + offset));
  }
  template <int bytes>
  __device__ void store_global(int /*buffer*/, std::uint64_t offset,
                               const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    auto* address = reinterpret_cast<Word*>(output + offset);
    if constexpr (stream_output) {
      __stcs(address, std::bit_cast<Word>(packet));
    } else {
      *address = std::bit_cast<Word>(packet);
    }
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
  /// Arrives before wait() returns. `bytes`: 4, 8 or 16.
  template <int bytes>
  __device__ void copy_to_shared(int buffer, std::uint64_t offset, std::uint32_t address) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    const std::byte* from = input;
    if (buffer == kernels::kStarts) from = tables.starts;
    if (buffer == kernels::kOffsets) from = tables.offsets;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared + address));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from + offset), "n"(bytes)
                 : "memory");
  }
  /// For the calling thread's own copies; a barrier must follow.
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

using Streamed = StreamingMemory<true>;  // spread, collect, place, pick, gather
using Kept = StreamingMemory<false>;     // scatter, columns, and what does not fit shared memory

}  // namespace faro::cuda
