// A view with arithmetic as boxes of a GPU (kernels/value_box.hpp): where their numbers lie in shared memory,
// and the tables that blocks read. How large they are is value_box_shape.hpp, who moves what
// value_box_lanes.hpp.
//
// Where both sides begin with the same axes and those are long, no shared memory is needed, nor where their
// fastest axes differ and blocks of tiles in registers touch whole lines (value_turns.hpp). Else boxes are
// copied to it as they lie in the input, if vectors have 4 bytes at least. Boxes of numbers that have scales
// in blocks hold whole blocks, in shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/block_scales.hpp"
#include "kernels/value_arrays.hpp"
#include "plan/gpu/value_box_shape.hpp"

namespace faro::detail {

struct ValueBoxes {
  bool direct = false;   // in registers: by MoveValueRuns, or MoveValueColumns
  bool copied = false;   // as they lie in the input, by MoveCopiedValues
  bool aligned = false;  // by vectors that are aligned, whatever the runs are
  bool turned = false;   // in registers, a tile a thread, by MoveTurnedValues
  kernels::ValueFactorsOf factors = kernels::ValueFactorsOf::all;  // of the latter
  int columns = 0;                                                 // of the latter
  kernels::Interleaved interleaved = kernels::Interleaved::input;
  int in_vector = 1;  // numbers
  int out_vector = 1;
  kernels::ValueOrder loads = kernels::ValueOrder::by_table;
  kernels::ValueOrder stores = kernels::ValueOrder::by_table;
  bool rounds_first = false;  // numbers are rounded before they come to shared memory
  kernels::ValueBoxParams params;
  std::vector<kernels::ValueRow> in_rows;
  std::vector<kernels::ValueRow> out_rows;
  std::vector<kernels::ValueRowFactors> row_factors;  // of the output's rows
  std::vector<std::uint16_t> places;
  std::vector<std::int32_t> scales_of_run;
  std::vector<std::int32_t> offsets_of_run;
  // Of numbers that have scales in blocks (kernels/quantize_box.hpp):
  std::vector<kernels::ScaledBlock> blocks;
  std::vector<std::uint16_t> row_blocks;
  std::vector<std::uint16_t> run_blocks;
  std::uint32_t block_step = 0;
  kernels::BlocksOfVector blocks_of_vector = kernels::BlocksOfVector::any;
  std::vector<std::uint64_t> box;  // extents, slowest of the output first
  std::uint64_t boxes = 0;
  double load_wavefronts = 0;  // of a warp's access to shared memory, 1 at best
  double store_wavefronts = 0;

  std::string explain() const;
};

/// Requires: a plan of at least one number. Errors: ErrorCode::unsupported for more than 32 axes that do not
/// merge.
ValueBoxes make_value_boxes(const ValuePlan& plan, const ValueAlignment& alignment = {});

}  // namespace faro::detail
