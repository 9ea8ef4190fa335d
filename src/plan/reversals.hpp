// Rolls and flips in place: pieces of an axis change places end for end, one axis after another.
//
//     flip of 5        0 1 2 3 4     one piece      4 3 2 1 0
//     roll of 5 by 2   0 1 2 3 4     one piece      4 3 2 1 0
//                                    two pieces     3 4 0 1 2
//
// x -> s - x modulo n turns the pieces 0 .. s and s + 1 .. n - 1 end for end, and a roll by k is the one with
// s = n - 1, then the one with s = k - 1. Nothing is borrowed; each sweep reads and writes the array once.
#pragma once

#include <cstdint>
#include <vector>

#include "faro/problem/problem.hpp"

namespace faro::detail {

/// A roll or a flip of `arrays` arrays, whose elements are all that lies behind the axis.
struct AxisMove {
  Cyclic move;
  std::uint64_t arrays = 1;
  std::uint64_t element_bytes = 1;
};

/// Whether a problem in place is rolls and flips of axes that keep their places.
bool reverses_in_place(const Problem& problem);

/// The axes that move, slowest first. Requires: reverses_in_place(problem).
std::vector<AxisMove> axis_moves(const Problem& problem);

/// The flips that a move is: itself, or two of a roll.
std::vector<Cyclic> reversals_of(const Cyclic& move);

}  // namespace faro::detail
