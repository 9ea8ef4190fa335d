#include <utility>

#include "engines/cpu/transpose_program.hpp"
#include "engines/cpu_transpose.hpp"
#include "faro/error.hpp"

namespace faro::cpu {

struct TransposeExecutor::State {
  TransposeProgram program;
};

TransposeExecutor::TransposeExecutor(const TransposePlan& plan) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  TransposeProgram program(plan.rectangle(),
                           faro::detail::cpu_transpose_workers(plan.rectangle(), plan.target().threads));
  FARO_CHECK(program.workspace_bytes() == plan.workspace_bytes());
  state_ = std::make_unique<State>(State{std::move(program)});
}

TransposeExecutor::TransposeExecutor(TransposeExecutor&&) noexcept = default;
TransposeExecutor& TransposeExecutor::operator=(TransposeExecutor&&) noexcept = default;
TransposeExecutor::~TransposeExecutor() = default;

void TransposeExecutor::run(void* data, void* workspace) const {
  state_->program.run(static_cast<std::byte*>(data), static_cast<std::byte*>(workspace));
}

}  // namespace faro::cpu
