// What the one-pass kernels have in common: their memories, and how a kernel becomes an entry.
//
//     TileMemory         vectors past the first-level cache
//     NeighbourMemory    input that neighbours read again, from the first-level cache
//     TransposeMemory    the same, output kept until lines are complete
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engines/cuda/kernels/device_memory.cuh"
#include "engines/cuda/kernels/kernels.hpp"
#include "kernels/runs.hpp"
#include "unit_bytes.hpp"

namespace faro::cuda {

using faro::detail::by_unit_bytes;

// What the memories of these kernels have in common: vectors of output are streamed, narrower accesses and
// shared memory are plain.
struct SimpleMemory {
  SectorMemory sectors;

  __device__ SimpleMemory(const std::byte* in, std::byte* out, std::byte* shared)
      : sectors(in, out, shared) {}

  /// Keeps in the second-level cache what other blocks touch as well.
  static __device__ void keep(std::uint64_t& policy) {
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  }
  template <int bytes>
  static __device__ device::Packet<bytes> load_cached(const std::byte* from) {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(__ldg(reinterpret_cast<const Word*>(from)));
  }
  template <int bytes>
  __device__ void store_global(int buffer, std::uint64_t offset, const device::Packet<bytes>& packet) const {
    if constexpr (bytes == 16) {
      sectors.store_global<16>(buffer, offset, packet);
    } else {
      using Word = typename Machine<bytes>::Word;
      *reinterpret_cast<Word*>(sectors.output + offset) = std::bit_cast<Word>(packet);
    }
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_shared(std::uint32_t address) const {
    return sectors.load_shared<bytes>(address);
  }
  template <int bytes>
  __device__ void store_shared(std::uint32_t address, const device::Packet<bytes>& packet) const {
    sectors.store_shared<bytes>(address, packet);
  }
};

// Vectors of a tile of axes pass the caches by; where a run begins or ends within a sector, it stays until
// its other part has come. Narrower accesses are cached: runs that are not aligned share sectors.
struct TileMemory : SimpleMemory {
  __device__ TileMemory(const std::byte* in, std::byte* out, std::byte* shared, bool in_whole, bool out_whole)
      : SimpleMemory(in, out, shared) {
    constexpr std::uintptr_t sector_bytes = 32;
    if (!in_whole || reinterpret_cast<std::uintptr_t>(in) % sector_bytes != 0) keep(sectors.load_policy);
    if (!out_whole) keep(sectors.store_policy);
  }
  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    if constexpr (bytes == 16) {
      return sectors.load_global<16>(buffer, offset);
    } else {
      return load_cached<bytes>(sectors.input + offset);
    }
  }
};

// The buffers after the input and the output.
struct SimpleTables {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  const std::byte* third = nullptr;
};

// Input that neighbours read again, from the first-level cache; output in order, whole sectors but at its
// ends; tables likewise.
struct NeighbourMemory : SimpleMemory {
  SimpleTables tables;

  __device__ NeighbourMemory(const std::byte* in, std::byte* out, std::byte* shared,
                             const SimpleTables& of = {})
      : SimpleMemory(in, out, shared), tables(of) {}

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int buffer, std::uint64_t offset) const {
    const std::byte* base = sectors.input;
    if (buffer == kernels::kRunBegins) base = tables.first;
    if (buffer == kernels::kRunFroms) base = tables.second;
    if (buffer == kernels::kRunFirsts) base = tables.third;
    return load_cached<bytes>(base + offset);
  }
  __device__ const std::byte* input_cursor(std::uint64_t offset) const { return sectors.input + offset; }
  template <int bytes>
  __device__ device::Packet<bytes> load_cursor(const std::byte* from) const {
    return load_cached<bytes>(from);
  }
};

// The same for transposes: the second-level cache keeps lines that other blocks complete, and sectors that
// they read as well.
struct TransposeMemory : NeighbourMemory {
  __device__ TransposeMemory(const std::byte* in, std::byte* out, std::byte* shared)
      : NeighbourMemory(in, out, shared) {
    keep(sectors.store_policy);
  }
};

// Caches as usual: threads share sectors, and what follows in the stream finds a small array there. What the
// kernel before has written while this one was launched is no constant of it.
struct ElementsMemory : GlobalMemory {
  __device__ ElementsMemory(const std::byte* in, std::byte* out) : GlobalMemory{in, out, nullptr} {}

  template <int bytes>
  __device__ device::Packet<bytes> load_global(int /*buffer*/, std::uint64_t offset) const {
    using Word = typename Machine<bytes>::Word;
    return std::bit_cast<device::Packet<bytes>>(*reinterpret_cast<const Word*>(input + offset));
  }
  template <int bytes>
  __device__ void store_global(int /*buffer*/, std::uint64_t offset,
                               const device::Packet<bytes>& packet) const {
    using Word = typename Machine<bytes>::Word;
    *reinterpret_cast<Word*>(output + offset) = std::bit_cast<Word>(packet);
  }
};

template <typename Kernel>
KernelEntry entry_of(Kernel* kernel, int threads) {
  return {.function = reinterpret_cast<const void*>(kernel), .threads = threads, .shared_bytes = 0};
}

// The entry that f gives for one of the numbers below `count`; null where it gives none.
template <std::size_t count, typename F>
KernelEntry find_entry(const F& f) {
  KernelEntry found{};
  const auto take = [&](const KernelEntry& entry) {
    if (entry.function != nullptr) found = entry;
  };
  [&]<std::size_t... numbers>(std::index_sequence<numbers...> /*all*/) {
    (take(f(std::integral_constant<std::size_t, numbers>())), ...);
  }
  (std::make_index_sequence<count>());
  return found;
}

}  // namespace faro::cuda
