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

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace faro::machine {

// The sizes of a memory that decide what a warp's access costs.
//
//     shared memory   bank   0    1    2   ...  31      a *bank row* is one word of every bank: 128 bytes
//                     byte   0..3 4..7 8..11    124..127
//
// A warp reads or writes at most one bank row at a time: accesses of at most a word are served for all lanes
// together, wider ones in *phases* of half a warp (8 bytes) or a quarter of a warp (16 bytes). Within a
// phase, lanes that touch the same word share it, and lanes that touch different words of one bank wait for
// each other.
//
// Every size is a power of two. The defaults are NVIDIA's since 2012; tests also use a machine of four banks,
// on which even a tile of 16 elements has bank conflicts to avoid.

struct MemoryGeometry {
  int warp_size = 32;
  int banks = 32;
  int bank_bytes = 4;
  int sector_bytes = 32;  // the unit that device memory delivers
  int line_bytes = 128;   // the unit that the caches name

  constexpr int bank_row_bytes() const { return banks * bank_bytes; }

  /// How many lanes of a warp a shared-memory access of `access_bytes` a lane serves in one phase.
  constexpr int lanes_per_phase(int access_bytes) const {
    return std::min({warp_size, banks, std::max(1, bank_row_bytes() / access_bytes)});
  }

  friend constexpr bool operator==(const MemoryGeometry&, const MemoryGeometry&) = default;
};

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
