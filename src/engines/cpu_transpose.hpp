// The CPU engine's transposition in place, of any rows x columns.
#pragma once

#include <cstdint>
#include <memory>

#include "faro/plan/transpose_plan.hpp"

namespace faro::cpu {

class TransposeExecutor {
 public:
  /// Requires: a plan whose target is this engine (checked).
  explicit TransposeExecutor(const TransposePlan& plan);
  TransposeExecutor(TransposeExecutor&&) noexcept;
  TransposeExecutor& operator=(TransposeExecutor&&) noexcept;
  ~TransposeExecutor();

  /// Transposes every array of the plan in its own memory. `workspace`: plan.workspace_bytes() of the host,
  /// any alignment; null where that is 0. May be called from many threads at once, on different arrays, each
  /// with its own workspace. Allocates nothing. Any alignment.
  void run(void* data, void* workspace) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cpu
