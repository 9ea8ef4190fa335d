// Runs block plans: box by box, each thread with a cache's worth of memory of its own.
//
//     quantize      wide --moved, where it lies otherwise--> box --quantised--> data, scales
//     dequantize    data, scales --made wide--> box --moved--> wide
#pragma once

#include <cstddef>
#include <memory>

#include "plan/block_plan.hpp"

namespace faro::cpu {

/// A block plan made ready to run. May be run from many threads at once.
class BlockSweep {
 public:
  /// `one_thread`: this machine with one thread, for the plans of boxes.
  BlockSweep(const detail::BlockPlan& plan, const Target& one_thread);
  BlockSweep(BlockSweep&&) noexcept;
  BlockSweep& operator=(BlockSweep&&) noexcept;
  ~BlockSweep();

  /// Requires, both: arrays of the plan's sizes that do not overlap; a wide array that is written has no two
  /// numbers in one place (unchecked).   Cost: allocates some hundred KiB a thread.
  void quantize(const std::byte* wide, std::byte* data, std::byte* scales) const;
  void dequantize(const std::byte* data, const std::byte* scales, std::byte* wide) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cpu
