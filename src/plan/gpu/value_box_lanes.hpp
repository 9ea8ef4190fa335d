// How the threads of a block are shared out over a side of a box (value_boxes.hpp): lanes of a warp along
// vectors of a run and over rows, so that few of them meet in a bank of shared memory, and few are idle.
#pragma once

#include <cstdint>
#include <vector>

namespace faro::detail {

/// Numbers of a side, as they are accessed: where those of a run, and rows, lie in shared memory.
struct SideOfBox {
  const std::vector<std::uint64_t>& run;
  const std::vector<std::uint64_t>& rows;
  std::uint64_t vector = 1;      // numbers
  std::uint64_t bytes = 1;       // of a number in the array
  std::uint64_t held_bytes = 1;  // and in shared memory
  bool whole = true;             // whether runs begin at sectors; others have one in part on either side
};

struct LaneSpread {
  std::uint32_t lanes_log2 = 0;
  double wavefronts = 0;
  double cost = 0;
};

/// By wavefronts, and sectors that a warp's access has in part.
LaneSpread best_spread(const SideOfBox& side);

/// Warps along a run of so many vectors, as a power of two.
std::uint32_t warps_along(std::uint64_t slots, std::uint32_t lanes_log2);

/// Lanes along a run that is copied, vectors of so many bytes.
std::uint32_t copied_lanes(std::uint64_t slots, std::uint64_t rows, std::uint64_t vector_bytes);

}  // namespace faro::detail
