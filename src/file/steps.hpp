// One pass of a permutation in place (in_place_steps.hpp).
#pragma once

#include <cstdint>

#include "faro/plan/plan.hpp"
#include "file/tile_work.hpp"

namespace faro::file {

/// One pass.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual std::uint64_t count() const = 0;
  /// A step, or what takes it back: the rows that are read are, as sets of bytes, those that are written.
  /// Requires: number < count() (unchecked). By one thread at a time.
  virtual TileWork step(std::uint64_t number, bool is_undone) = 0;
  /// What all steps together do to the file: out of place, of the whole batch.
  virtual const Problem& problem() const = 0;

  std::uint64_t step_bytes = 0;  // the most of one
  std::uint64_t run_bytes = 0;   // that lie together
};

}  // namespace faro::file
