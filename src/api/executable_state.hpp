// A plan together with the executor of its engine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_emitted.hpp"
#include "faro/faro.hpp"
#include "faro/plan/plan.hpp"

namespace faro {

struct ExecutablePlan::State {
  Plan plan;
  std::variant<cpu::Executor, cuda::Executor, cuda::MappedExecutor> executor;
  std::string reason;
  int threads;

  /// The engine's executor, if it is of this kind; else null.
  template <typename Executor>
  const Executor* as() const {
    return std::get_if<Executor>(&executor);
  }

  bool in_place() const { return plan.problem().placement == Placement::in_place; }
};

}  // namespace faro

namespace faro::detail {

// Arrays of the host on a device that takes them whole: up, permuted there, and down, one after the other.

/// Calls run(in, out, workspace) with arrays of the plan's device; `out` is `in` where the plan is in place,
/// and only then may the host's be one array. Errors: ErrorCode::unsupported where the device, or what
/// `options` allow of it, is too small, or for pieces; then nothing has been written.
void run_whole(const Plan& plan, std::uint64_t workspace_bytes, const void* in, void* out,
               const cuda::StagingOptions& options,
               const std::function<void(void* in, void* out, void* workspace)>& run);

}  // namespace faro::detail
