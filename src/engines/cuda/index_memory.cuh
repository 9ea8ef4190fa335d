// The memory of a GPU as the kernels of index arrays see it: an input, an output and up to three tables.
//
//     input      read once: streamed, the caches drop it first. Of a gather: kept, since sectors are shared
//     tables     places are read once; starts and offsets go to shared memory behind the thread's back
//     output     in order: streamed. Runs and scattered elements: kept until their sectors are whole
//
// A sector that is written in part and evicted costs a read and a second write, hence the difference.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engines/cuda/device_memory.cuh"
#include "faro/kernels/partition.hpp"

namespace faro::cuda {

struct IndexTables {
  const std::byte* places = nullptr;
  const std::byte* starts = nullptr;
  const std::byte* offsets = nullptr;
};

/// A stream is read or written once, in order and in whole sectors.
template <bool stream_input, bool stream_places, bool stream_output>
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
    bool stream = stream_input;
    if (buffer == kernels::kPlaces) stream = stream_places;
    const auto* address = reinterpret_cast<const Word*>(base + offset);
    return std::bit_cast<device::Packet<bytes>>(stream ? __ldcs(address) : *address);
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
  /// Arrives before wait() returns.
  template <int bytes>
  __device__ void copy_to_shared(int buffer, std::uint64_t offset, std::uint32_t address) const {
    static_assert(bytes == 4);
    const std::byte* const from = (buffer == kernels::kStarts ? tables.starts : tables.offsets) + offset;
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared + address));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
  }
  /// For the calling thread's own copies; a barrier must follow.
  static __device__ void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
};

using ToRuns = StreamingMemory<true, true, false>;        // spread, scatter
using InOrder = StreamingMemory<true, true, true>;        // place, pick, collect
using FromAnywhere = StreamingMemory<false, true, true>;  // gather
using Cached = StreamingMemory<false, false, false>;      // columns, and what does not fit shared memory

}  // namespace faro::cuda
