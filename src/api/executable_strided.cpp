// A strided view's plan together with the executor of its engine.
#include <string>
#include <utility>
#include <variant>

#include "api/array_checks.hpp"
#include "api/planning.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"

namespace faro {

struct ExecutableStridedPlan::State {
  StridedPlan plan;
  std::variant<cpu::Executor, cuda::Executor> executor;
};

ExecutableStridedPlan::ExecutableStridedPlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutableStridedPlan::ExecutableStridedPlan(ExecutableStridedPlan&&) noexcept = default;
ExecutableStridedPlan& ExecutableStridedPlan::operator=(ExecutableStridedPlan&&) noexcept = default;
ExecutableStridedPlan::~ExecutableStridedPlan() = default;

const ExecutableStridedPlan::State& ExecutableStridedPlan::state() const {
  if (state_ != nullptr) return *state_;
  fail(ErrorCode::value, "use a plan", "one that was moved from", "the plan that it was moved to");
}

const StridedPlan& ExecutableStridedPlan::plan() const { return state().plan; }
std::string ExecutableStridedPlan::explain() const { return state().plan.explain(); }
Engine ExecutableStridedPlan::engine() const { return state().plan.target().engine; }

std::uint64_t ExecutableStridedPlan::workspace_bytes() const {
  const auto* const on_host = std::get_if<cpu::Executor>(&state().executor);
  if (on_host != nullptr) return on_host->workspace_bytes();
  return std::get<cuda::Executor>(state().executor).workspace_bytes();
}

void ExecutableStridedPlan::require_width_of(std::uint64_t bytes) const {
  detail::check_width(bytes, plan().element_bytes());
}

void ExecutableStridedPlan::run(const void* in, std::uint64_t in_elements, void* out,
                                std::uint64_t out_elements, Stream stream) const {
  detail::check_view(plan(), {in, in_elements}, {out, out_elements});
  detail::check_stream(engine(), stream);
  if (plan().moved_bytes() == 0) return;
  if (const auto* const on_device = std::get_if<cuda::Executor>(&state().executor))
    return on_device->run(in, out, stream, nullptr);
  detail::check_on_host(in, out, "copy it to the host, or plan for engine cuda");
  std::get<cpu::Executor>(state().executor).run(in, out, nullptr);
}

StridedPlan plan_only(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options) {
  return detail::decide_view(view, element_bytes, options);
}

ExecutableStridedPlan plan(const Strided& view, std::uint64_t element_bytes, const PlanOptions& options) {
  using State = ExecutableStridedPlan::State;
  StridedPlan made = plan_only(view, element_bytes, options);
  if (made.target().engine == Engine::cuda) {
    cuda::Executor executor(made);
    return ExecutableStridedPlan(std::make_unique<State>(State{std::move(made), std::move(executor)}));
  }
  cpu::Executor executor(made);
  return ExecutableStridedPlan(std::make_unique<State>(State{std::move(made), std::move(executor)}));
}

}  // namespace faro
