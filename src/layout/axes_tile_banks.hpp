// Chooses where a tile of axes lies in shared memory: a stride for every axis, with pads against bank
// conflicts.
//
//     tile 4 x 4, 4 banks, no pad       bank  0 1 2 3      a column of it is one bank: 4 turns
//                                             0 1 2 3
//     rows 5 apart                            0 1 2 3
//                                             1 2 3 0      a column is all banks: 1 turn
//
// With axes of any extents and lanes that walk several at once there is no rule for the pad, so the
// candidates are counted: for a few warps of each side, the banks that their lanes meet in.
#pragma once

#include <cstdint>

#include "layout/axes_tile.hpp"

namespace faro::layout::detail {

/// Fills in the digits' strides in shared memory and the tile's size there.
void choose_shared_strides(AxesTile& tile, std::uint32_t threads);

/// Turns of the tile's accesses over the turns they would take without conflicts, of a sample of warps.
double mean_congestion(const AxesTile& tile, std::uint32_t threads);

}  // namespace faro::layout::detail
