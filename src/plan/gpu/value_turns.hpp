// Views with arithmetic whose fastest axis is another on the other side, as tiles that threads turn in
// registers (kernels/value_turned.hpp): which tile a thread has.
//
// A thread's number is written in digits, the first of which are neighbours in memory: some vectors of the
// input's run, a run of the output, the rest of the input's run; then whatever else there is, in the order of
// one of the sides. So a warp reads and writes whole sectors, and a block what is left of them. Of such
// orders the one is taken whose blocks share fewest lines and granules (plan/gpu/value_turn_price.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/gpu/value_box_shape.hpp"

namespace faro::detail {

struct ValueTurns {
  std::uint64_t in_vector = 1;  // numbers
  std::uint64_t out_vector = 1;
  double price = 1;  // what blocks touch of memory, over what they move
  kernels::ValueBoxParams params;
  std::vector<std::uint64_t> box;  // the tile of a thread
  std::uint64_t blocks = 0;
};

/// None where vectors of 8 bytes do not divide both fastest axes, factors differ along one of them, numbers
/// become wider, or what blocks touch of memory is more than what they move: boxes do better there.
std::optional<ValueTurns> make_value_turns(const ValuePlan& plan, const ValueBoxSides& sides,
                                           const ValueAlignment& alignment);

/// The same of elements that stay as they are: of at most so many side by side, powers of two, and at any
/// price up to this one. Requires: arrays that are aligned to 16 bytes, axes read forwards or backwards.
std::optional<ValueTurns> make_element_turns(const ValueBoxSides& sides, std::uint64_t most_in,
                                             std::uint64_t most_out, double most_price);

}  // namespace faro::detail
