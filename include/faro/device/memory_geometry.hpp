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
#pragma once

#include <algorithm>

namespace faro::device {

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

}  // namespace faro::device
