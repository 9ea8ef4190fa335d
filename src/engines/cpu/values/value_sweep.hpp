// Runs value plans: box by box, each thread with a cache's worth of memory of its own.
#pragma once

#include <cstddef>
#include <memory>

#include "plan/value_plan.hpp"

namespace faro::cpu {

/// A value plan made ready to run. May be run from many threads at once.
class ValueSweep {
 public:
  /// `one_thread`: this machine with one thread, for the plans of boxes.
  ValueSweep(const detail::ValuePlan& plan, const Target& one_thread);
  ValueSweep(ValueSweep&&) noexcept;
  ValueSweep& operator=(ValueSweep&&) noexcept;
  ~ValueSweep();

  /// Requires: arrays that hold the view and do not overlap, but an addend that is the output, number by
  /// number (unchecked).   Cost: allocates some hundred KiB a thread.
  void run(const std::byte* in, const std::byte* addend, std::byte* out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cpu
