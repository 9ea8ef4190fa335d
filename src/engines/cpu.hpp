// The CPU engine: plans run on all cores, one tile of cache at a time.
//
// A tile is a few cache lines: they are read, permuted in registers, and written with stores that bypass the
// caches, while the lines of later tiles are on their way. docs/notes/cpu-experiments.md tells what that
// costs and what was measured.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "faro/plan/plan.hpp"

namespace faro::cpu {

/// The instruction set that the kernels were dispatched to: "AVX3_DL", "AVX2", "NEON", "SCALAR", ….
std::string simd_target();

/// This machine as a plan's target. `threads` 0: what OpenMP would use (OMP_NUM_THREADS respected).
Target target(int threads = 0);

/// Copies bytes with `threads` threads, bypassing the caches beyond the last-level cache's size: the fastest
/// plain copy, against which everything is measured. Any alignment. Requires: no overlap (unchecked).
void copy(const void* in, void* out, std::uint64_t bytes, int threads = 0);

/// A plan made ready to run here: its tables are made once, running allocates nothing.
class Executor {
 public:
  /// Requires: a plan whose target is this engine (checked).
  explicit Executor(const Plan& plan);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;
  ~Executor();

  /// Runs the plan once. May be called from many threads at once. Uses at most 8 KiB of each thread's stack.
  /// Requires: both arrays hold plan.array_bytes() and do not overlap (unchecked here, checked by
  /// faro::ExecutablePlan). Any alignment; an output that is not aligned to the vector width is written
  /// through the caches.
  void run(const void* in, void* out) const;

  /// The same in place, of a plan that is (checked): data[b][pi(x)] = data[b][x] as it was. Any alignment; at
  /// most 16 KiB of each thread's stack.
  void run(void* data) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cpu
