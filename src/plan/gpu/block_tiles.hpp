// Numbers with scales in blocks as tiles that threads have in registers (kernels/quantize_tile.hpp).
//
// A thread has some blocks, neighbours along the axis that is the fastest of the side whose numbers lie
// together elsewhere than along blocks. Its number in digits: four along that axis, a line of the data along
// blocks, more of the former; then whatever there is, in the order of the output. Where both sides have
// blocks together its blocks are far apart instead, so that those of a warp are neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/block_plan.hpp"
#include "plan/gpu/value_box_shape.hpp"

namespace faro::detail {

struct BlockTiles {
  int part = 1;    // numbers of a block, all where they are quantised
  int vector = 1;  // blocks
  bool wide_along = false;
  bool data_along = false;
  kernels::ValueBoxParams params;
  std::uint64_t blocks = 0;  // of threads

  std::string explain() const;
};

/// `back`: to wide numbers. None where blocks and the other fastest axis are not what both sides begin with,
/// or do not divide into vectors; then there are boxes (value_boxes.hpp). Alignments in numbers' bytes, two
/// numbers of 4 bits being two.
std::optional<BlockTiles> make_block_tiles(const BlockPlan& plan, bool back, const ValueAlignment& alignment);

}  // namespace faro::detail
