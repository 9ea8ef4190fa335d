#include <algorithm>
#include <memory>
#include <string>

#include "engines/cpu.hpp"
#include "engines/cpu/copy_kernel.hpp"
#include "engines/cpu/pass_program.hpp"
#include "engines/cpu/tile/affine_passes.hpp"
#include "faro/error.hpp"
#include "io/buffer.hpp"

namespace faro::cpu {
namespace {

using schedule::IndexSchedule;

constexpr std::uint64_t kLargeWorkspace = std::uint64_t{8} << 20;  // worth pages of its own

// What moves less than a window, and a little: the schedule's own number is not in the plan.
std::uint32_t window_of(const IndexPlan& plan) {
  FARO_CHECK(plan.recognition().displacement.has_value());
  return static_cast<std::uint32_t>(*plan.recognition().displacement);
}

IndexSchedule schedule_of(const IndexPlan& plan, const Indexed& indexed) {
  const IndexCandidate& chosen = plan.chosen();
  const int threads = plan.target().threads;
  switch (chosen.method) {
    case IndexMethod::window:
      return schedule::window_schedule(indexed, window_of(plan), threads);
    case IndexMethod::runs:
      return schedule::runs_schedule(indexed);
    case IndexMethod::partition:
      FARO_CHECK(chosen.shape.has_value());
      return schedule::partition_index_schedule(indexed, *chosen.shape, threads);
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return schedule::row_column_schedule(indexed);
    default:
      break;
  }
  return schedule::direct_schedule(indexed);
}

// Null for what needs none.
SharedSchedule make_schedule(const Plan& plan) {
  const auto* const indexed = std::get_if<Indexed>(&plan.problem().permutation);
  if (plan.index_plan() == nullptr || indexed == nullptr) return nullptr;
  return std::make_shared<const IndexSchedule>(schedule_of(*plan.index_plan(), *indexed));
}

}  // namespace

struct Executor::State {
  bool in_place = false;
  SharedSchedule schedule;
  PassSequence passes;

  void run(const void* in, void* out, void* workspace, const ConvertedEnds& converted = {}) const {
    const auto* const from = static_cast<const std::byte*>(in);
    auto* const to = static_cast<std::byte*>(out);
    const std::uint64_t bytes = passes.workspace_bytes();
    if (workspace != nullptr || bytes == 0) {
      passes.run(from, to, bytes == 0 ? nullptr : static_cast<std::byte*>(workspace), converted);
    } else if (bytes >= kLargeWorkspace) {
      const io::Buffer own(bytes);
      passes.run(from, to, own.data(), converted);
    } else {
      const auto own = std::make_unique_for_overwrite<std::byte[]>(bytes);
      passes.run(from, to, own.get(), converted);
    }
  }
};

Executor::Executor(const Plan& plan) : state_(std::make_unique<State>()) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  state_->in_place = plan.problem().placement == Placement::in_place;
  state_->schedule = make_schedule(plan);
  for (const Pass& pass : plan.passes()) state_->passes.add(pass, state_->schedule);
}

Executor::Executor(const Plan& plan, std::shared_ptr<const IndexSchedule> schedule)
    : state_(std::make_unique<State>()) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  FARO_CHECK(plan.index_plan() != nullptr && schedule != nullptr);
  const IndexPlan& index = *plan.index_plan();
  if (schedule->count != index.count()) {
    fail(ErrorCode::value, "run a schedule", "one of " + std::to_string(schedule->count) + " elements",
         std::to_string(index.count()) + ", the plan's count",
         "plan for the array that the schedule was made for");
  }
  state_->schedule = std::move(schedule);
  state_->passes =
      PassSequence(detail::solve(detail::cpu_work_of(index, *state_->schedule)), state_->schedule);
}

Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;

std::uint64_t Executor::workspace_bytes() const { return state_->passes.workspace_bytes(); }

std::shared_ptr<const IndexSchedule> Executor::schedule() const { return state_->schedule; }

void Executor::run(const void* in, void* out, void* workspace) const {
  FARO_CHECK(!state_->in_place);
  state_->run(in, out, workspace);
}

void Executor::run_converted(const void* in, void* out, const ConvertedEnds& converted) const {
  FARO_CHECK(!state_->in_place && (converted.read == nullptr || converted.written == nullptr));
  state_->run(in, out, nullptr, converted);
}

void Executor::run_in_place(void* data, void* workspace) const {
  FARO_CHECK(state_->in_place);
  state_->run(data, data, workspace);
}

void copy(const void* in, void* out, std::uint64_t bytes, int threads) {
  const Target machine = target(threads);
  copy_shared(static_cast<const std::byte*>(in), static_cast<std::byte*>(out), bytes,
              {.threads = detail::useful_threads(machine.threads, bytes, detail::core_caches(machine)),
               .streamed = bytes > machine.streaming_bytes});
}

}  // namespace faro::cpu
