// Networks on the CPU: a pass takes one tile after another through the second cache.
//
//     memory --rows--> a buffer of the tile's size: layer after layer, in vector registers --rows--> memory
//
//     const CpuExecutor executor(plan, threads);
//     executor.run(in, out);                          // returns when the result is there
//
// The buffer is passed over once for every few layers: sixteen registers hold four directions beside those
// within a register (docs/theory/network-cpu.md). Tiles are shared out among threads; a tile smaller than the
// registers is run together with its neighbours in the batch. Every thread's order of operations is the same,
// so results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "faro/network/plan.hpp"

namespace faro::network {

/// A plan made ready to run here. Its tables are made once; its buffers, one tile a thread and the plan's
/// workspace, are made by the first run and kept for the next (each run at the same time has its own).
class CpuExecutor {
 public:
  /// `threads` 0: what OpenMP would use (OMP_NUM_THREADS respected). The plan is copied.
  /// Errors: those of host_function (operator_script.hpp) for users' operators; ErrorCode::value for
  /// threads outside 0..kMaxThreads.
  explicit CpuExecutor(const Plan& plan, int threads = 0);
  CpuExecutor(CpuExecutor&&) noexcept;
  CpuExecutor& operator=(CpuExecutor&&) noexcept;
  ~CpuExecutor();

  /// Runs the plan once. May be called from many threads at once. Arrays of any alignment.
  /// Requires: both arrays hold plan.array_bytes() and do not overlap, except that in == out is allowed where
  /// runs_in_place() (unchecked here, checked by network::Executable).
  /// Errors: what a user's host function throws; the output is then partly written.
  void run(const void* in, void* out) const;

  /// Whether `in` and `out` may be one array: a plan whose first pass is in place, has one tile an array, or
  /// writes to the workspace.
  bool runs_in_place() const;

  int threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::network
