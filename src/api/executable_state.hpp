// A plan together with the executor of its engine.
#pragma once

#include <string>
#include <variant>

#include "engines/cpu.hpp"
#include "engines/cuda_emitted.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"

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
