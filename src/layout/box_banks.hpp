// Where the digits of a box lie in shared memory: a step each, with pads against bank conflicts.
//
//     box 4 x 4, 4 banks, no pad       bank  0 1 2 3      a column of it is one bank: 4 turns
//                                            0 1 2 3
//     rows 5 apart                           0 1 2 3
//                                            1 2 3 0      a column is all banks: 1 turn
//
// Digits are laid one outside the other in the order in which the input is read, and between any two there
// may be a pad, of whole vectors so that these stay aligned. The pads are found by descent, joint after
// joint, each trial counted: for a few warps of each side, the turns that their lanes take.
#pragma once

#include "layout/strided_box.hpp"

namespace faro::layout::detail {

/// Fills in the places of all parts, chunk_step, shared_words and congestion. False where the box then is
/// larger than `most_words`.
bool lay_out(StridedBox& box, std::uint32_t most_words);

}  // namespace faro::layout::detail
