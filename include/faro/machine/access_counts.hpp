// Counts of the accesses that a kernel made to each memory, as a profiler would report them.
//
// Global memory is counted in *requests* (one instruction of one warp), and in the distinct 32-byte sectors
// and 128-byte lines of each. Shared memory is counted in requests, the hardware *phases* they are split into
// (MemoryGeometry), and *wavefronts*: a phase takes as many as its congestion, the largest number of distinct
// words that fall in one bank.
//
//     32 lanes read consecutive 4-byte words      1 request   4 sectors   1 line
//     32 lanes read words 32 apart, shared        1 request   1 phase     32 wavefronts, congestion 32
//     32 lanes read the same word, shared         1 request   1 phase     1 wavefront, congestion 1
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "faro/device/memory_geometry.hpp"

namespace faro::machine {

using device::MemoryGeometry;

/// log2 of a power of two (unchecked).
constexpr int log2_exact(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

struct GlobalCounts {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;  // asked for by the lanes
  std::uint64_t sectors = 0;
  std::uint64_t lines = 0;

  GlobalCounts& operator+=(const GlobalCounts& other);
  GlobalCounts& operator*=(std::uint64_t times);
  friend bool operator==(const GlobalCounts&, const GlobalCounts&) = default;
};

struct SharedCounts {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t phases = 0;
  std::uint64_t wavefronts = 0;
  std::vector<std::uint64_t> phases_by_congestion;  // [c] phases had congestion c; [0] is unused

  int max_congestion() const {
    return phases_by_congestion.empty() ? 0 : static_cast<int>(phases_by_congestion.size()) - 1;
  }
  void add_phase(int congestion);

  SharedCounts& operator+=(const SharedCounts& other);
  SharedCounts& operator*=(std::uint64_t times);
  friend bool operator==(const SharedCounts&, const SharedCounts&) = default;
};

struct AccessCounts {
  GlobalCounts global_loads;
  GlobalCounts global_stores;
  SharedCounts shared_loads;
  SharedCounts shared_stores;

  AccessCounts& operator+=(const AccessCounts& other);
  /// As if everything had been done so many times.
  AccessCounts& operator*=(std::uint64_t times);
  friend bool operator==(const AccessCounts&, const AccessCounts&) = default;
};

}  // namespace faro::machine
