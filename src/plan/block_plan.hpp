// Scales of blocks while numbers are moved (faro/block_scales.hpp), as boxes of a view.
//
// The axis of blocks is two, of the blocks and of a block's numbers; so is the last of an array of pairs. A
// box has all of the inner ones (ValueAxis::whole), so that what has a scale of its own, and what shares a
// byte, is never cut. From then on it is a view whose input is the wide array and whose output the data, with
// a scale's place for each number: 0 along a block. Undoing it goes the same way backwards.
#pragma once

#include <cstdint>
#include <string>

#include "faro/block_scales.hpp"
#include "kernels/block_scales.hpp"
#include "plan/value_plan.hpp"

namespace faro::detail {

struct BlockPlan {
  BlockScaling scaling;
  ValuePlan values = {};            // strides in: the wide array's; out: the data's; both in numbers
  std::size_t block_axis = 0;       // of values.axes
  kernels::TiledScales tiles = {};  // of ScaleLayout::tiled
  std::uint64_t wide_count = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t scale_bytes = 0;
  bool scales_padded = false;  // some are of no block

  std::uint64_t wide_bytes() const { return values.count * bytes_of(scaling.wide); }
  std::uint64_t blocks() const { return values.count / block_of(scaling.format); }
  /// The other way as a view of its own: its input is the data, its output the wide array.
  ValuePlan undone(const Target& target = {}) const;
  std::string told_blocks() const;  // whatever moves them
  std::string explain() const;      // with a CPU's boxes
};

/// Errors: those of plan_blocks().
BlockPlan make_block_plan(const BlockScaling& scaling, const Target& target);

}  // namespace faro::detail
