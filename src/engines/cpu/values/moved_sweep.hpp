// Runs any permutation whose numbers are changed while they are moved, as plan/moved_values.hpp decided.
#pragma once

#include <cstddef>
#include <memory>

#include "engines/cpu/values/value_side.hpp"
#include "plan/moved_values.hpp"

namespace faro::cpu {

/// Made ready to run. May be run from many threads at once.
class MovedSweep {
 public:
  /// `one_thread`: this machine with one thread, for the plans of boxes.
  MovedSweep(const detail::MovedValues& plan, const Target& one_thread);
  MovedSweep(MovedSweep&&) noexcept;
  MovedSweep& operator=(MovedSweep&&) noexcept;
  ~MovedSweep();

  /// Requires: arrays of plan.numbers() that do not overlap, but an addend that is the output; in place `in`
  /// is `out` (unchecked).   Cost: allocates some hundred KiB a thread, and what the passes need.
  void run(const ValueArrays& arrays) const;

  class Way;

 private:
  std::unique_ptr<const Way> way_;
};

}  // namespace faro::cpu
