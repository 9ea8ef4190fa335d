// A plan together with the engine that runs it, one of five.
#pragma once

#include <string>
#include <variant>

#include "engines/cpu.hpp"
#include "engines/cpu_index.hpp"
#include "engines/cpu_transpose.hpp"
#include "engines/cuda_emitted.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"

namespace faro {

struct ExecutablePlan::State {
  Plan plan;
  std::variant<cpu::Executor, cuda::Executor, cuda::MappedExecutor, cpu::IndexExecutor,
               cpu::TransposeExecutor>
      executor;
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
