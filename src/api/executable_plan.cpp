#include <cstdint>
#include <utility>

#include "faro/engines/cpu.hpp"
#include "faro/faro.hpp"

namespace faro {
namespace {

[[noreturn]] void refuse_run(std::string got, std::string wanted, std::string remedy = "") {
  throw Error({.code = ErrorCode::value,
               .operation = "run",
               .got = std::move(got),
               .wanted = std::move(wanted),
               .remedy = std::move(remedy)});
}

}  // namespace

struct ExecutablePlan::State {
  Plan plan;
  cpu::Executor executor;
  std::string reason;
};

ExecutablePlan::ExecutablePlan(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutablePlan::ExecutablePlan(ExecutablePlan&&) noexcept = default;
ExecutablePlan& ExecutablePlan::operator=(ExecutablePlan&&) noexcept = default;
ExecutablePlan::~ExecutablePlan() = default;

const Plan& ExecutablePlan::plan() const { return state_->plan; }
Engine ExecutablePlan::engine() const { return state_->plan.target().engine; }
const std::string& ExecutablePlan::engine_reason() const { return state_->reason; }

void ExecutablePlan::require_same_size(std::uint64_t in_bytes, std::uint64_t out_bytes) {
  if (in_bytes != out_bytes) {
    refuse_run(
        "an input of " + std::to_string(in_bytes) + " bytes and an output of " + std::to_string(out_bytes),
        "arrays of one size");
  }
}

void ExecutablePlan::run(const void* in, void* out, std::uint64_t bytes) const {
  const std::uint64_t wanted = plan().array_bytes();
  if (bytes != wanted) {
    refuse_run(std::to_string(bytes) + " bytes",
               std::to_string(wanted) + " bytes, batch x 2^n x element width");
  }
  if (bytes == 0) return;
  if (in == nullptr || out == nullptr)
    refuse_run(in == nullptr ? "a null input" : "a null output", "an array");
  const auto first = reinterpret_cast<std::uintptr_t>(in);
  const auto second = reinterpret_cast<std::uintptr_t>(out);
  if (first < second ? second - first < bytes : first - second < bytes) {
    refuse_run(first == second ? "one array as input and output" : "overlapping arrays",
               "two disjoint arrays", "in place is not yet supported");
  }
  state_->executor.run(in, out);
}

ExecutablePlan plan(const Problem& problem, const PlanOptions& options) {
  if (options.engine == Engine::cuda) {
    throw Error({.code = ErrorCode::device,
                 .operation = "plan",
                 .got = "engine cuda",
                 .wanted = "an engine of this build: cpu",
                 .remedy = "cuda: not built"});
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    throw Error({.code = ErrorCode::value,
                 .operation = "plan",
                 .got = std::to_string(options.threads) + " threads",
                 .wanted = "0 (as many as OpenMP would use) to " + std::to_string(kMaxThreads),
                 .remedy = ""});
  }
  Plan made(problem, cpu::target(options.threads));
  cpu::Executor executor(made);
  const char* const reason = options.engine == Engine::cpu ? "asked for" : "the only engine of this build";
  return ExecutablePlan(std::make_unique<ExecutablePlan::State>(
      ExecutablePlan::State{std::move(made), std::move(executor), reason}));
}

}  // namespace faro
