// Rules applied to a checkpoint: the tensors of the result, and the sweeps that each is made by.
//
//     tensors of the input      wq        wk        wv            norm
//     pieces, a sweep each      |         |         |             |
//     tensors of the result     [ wqkv: parts along axis 0 ]      norm
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faro/file.hpp"
#include "store/checkpoint_files.hpp"
#include "store/checkpoint_rules.hpp"

namespace faro::store {

/// A sweep from a tensor of the input into one of the result.
struct CheckpointPiece {
  std::size_t source = 0;  // of CheckpointFiles::tensors
  file::Sweep sweep;
  std::uint64_t in_offset = 0;  // bytes, from where the source begins
  std::uint64_t out_offset = 0;
};

/// A tensor of the result.
struct CheckpointResult {
  std::string name;
  Shape shape = {};
  ElementType type = {};
  std::vector<std::string> sources = {};
  std::string changes = {};  // empty: it is a copy
  std::vector<CheckpointPiece> pieces = {};

  std::uint64_t bytes() const { return volume(shape) * type.bytes; }
};

struct CheckpointPlan {
  std::vector<CheckpointResult> tensors = {};  // in the order of the input
  std::vector<std::string> dropped = {};
  std::vector<std::uint64_t> matched = {};  // tensors, by rule
};

/// Errors: ErrorCode::value for rules that match nothing, or do not fit a tensor, and for two results of one
/// name; those of Sweep.
CheckpointPlan plan_checkpoint(const CheckpointFiles& files, const Rules& rules,
                               const file::Options& options);

}  // namespace faro::store
