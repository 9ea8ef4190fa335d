#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <variant>

#include "engines/cpu/index_program.hpp"
#include "engines/cpu_index.hpp"
#include "faro/error.hpp"
#include "io/buffer.hpp"
#include "plan/index_workspace.hpp"

namespace faro::cpu {
namespace {

using schedule::IndexSchedule;
using SharedSchedule = std::shared_ptr<const IndexSchedule>;

constexpr std::uint64_t kPage = faro::detail::kPageBytes;
constexpr std::uint64_t kLargeBytes = std::uint64_t{8} << 20;  // worth pages of their own

IndexJob job_of(const IndexPlan& plan) {
  return {.count = plan.count(),
          .element_bytes = plan.problem().element_bytes,
          .batch = plan.problem().batch,
          .threads = std::max(1, plan.target().threads),
          .streaming_bytes = plan.target().streaming_bytes};
}

const Indexed& indexed_of(const IndexPlan& plan) {
  const auto* const indexed = std::get_if<Indexed>(&plan.problem().permutation);
  FARO_CHECK(indexed != nullptr);
  return *indexed;
}

// What moves less than a window, and a little: the schedule's own number is not in the plan.
std::uint32_t window_of(const IndexPlan& plan) {
  FARO_CHECK(plan.recognition().displacement.has_value());
  return static_cast<std::uint32_t>(*plan.recognition().displacement);
}

SharedSchedule make_schedule(const IndexPlan& plan) {
  const Indexed& indexed = indexed_of(plan);
  const IndexCandidate& chosen = plan.chosen();
  const int threads = plan.target().threads;
  switch (chosen.method) {
    case IndexMethod::direct:
      return std::make_shared<const IndexSchedule>(schedule::direct_schedule(indexed));
    case IndexMethod::window:
      return std::make_shared<const IndexSchedule>(
          schedule::window_schedule(indexed, window_of(plan), threads));
    case IndexMethod::runs:
      return std::make_shared<const IndexSchedule>(schedule::runs_schedule(indexed));
    case IndexMethod::partition:
      FARO_CHECK(chosen.shape.has_value());
      return std::make_shared<const IndexSchedule>(
          schedule::partition_index_schedule(indexed, *chosen.shape, threads));
    case IndexMethod::row_column:
    case IndexMethod::row_column_5:
      return std::make_shared<const IndexSchedule>(schedule::row_column_schedule(indexed));
    case IndexMethod::cyclic:
    case IndexMethod::axes:
      break;
  }
  return nullptr;
}

// The array whose gather a schedule is: what it does to 0 .. N - 1.
Indexed gather_of(const IndexSchedule& schedule) {
  const auto run = [&](auto index) {
    std::vector<decltype(index)> from(schedule.count);
    std::vector<decltype(index)> to(schedule.count);
    std::iota(from.begin(), from.end(), decltype(index){0});
    schedule::run_by_definition(schedule, reinterpret_cast<const std::byte*>(from.data()),
                                reinterpret_cast<std::byte*>(to.data()), sizeof(index));
    return Indexed(std::move(to), Direction::gather);
  };
  if (schedule.count <= std::uint64_t{1} << 32) return run(std::uint32_t{0});
  return run(std::uint64_t{0});
}

struct MakeProgram {
  const IndexJob& job;
  const SharedSchedule& shared;
  IndexMethod method;

  // Whether a thread can hold what its passes put together.
  bool fits_caches(std::uint64_t elements) const {
    return faro::detail::fits_caches(elements, job.element_bytes);
  }
  Program element_by_element() const { return direct_program(job, gather_of(*shared)); }

  Program operator()(const schedule::DirectSchedule& direct) const {
    const bool as_it_is = direct.indexed.direction() == shared->applied;
    return direct_program(job, as_it_is ? direct.indexed : direct.indexed.inverse());
  }
  Program operator()(const schedule::WindowSchedule&) const { return window_program(job, shared); }
  Program operator()(const schedule::RunsSchedule&) const { return runs_program(job, shared); }
  Program operator()(const schedule::PartitionSchedule& partition) const {
    if (!fits_caches(std::min(partition.shape.chunk_elements(), job.count))) return element_by_element();
    return partition_program(job, shared);
  }
  Program operator()(const schedule::RowColumnSchedule& matrix) const {
    const std::uint64_t strip =
        faro::detail::row_column_workspace(matrix.rows, matrix.columns, job.element_bytes).strip;
    if (!fits_caches(matrix.columns) || !fits_caches(matrix.rows * strip)) return element_by_element();
    return row_column_program(
        job, shared, method == IndexMethod::row_column_5 ? RowColumnPasses::five : RowColumnPasses::three);
  }
};

std::byte* aligned(std::byte* memory) {
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(memory) % kPage;
  return past == 0 ? memory : memory + (kPage - past);
}

}  // namespace

struct IndexExecutor::State {
  SharedSchedule schedule;
  Program program;  // null where there is nothing to move
};

IndexExecutor::IndexExecutor(const IndexPlan& plan) : state_(std::make_unique<State>()) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  const IndexJob job = job_of(plan);
  const Permutation& permutation = plan.problem().permutation;
  if (const auto* const axes = std::get_if<Axes>(&permutation)) {
    if (job.total_bytes() != 0) state_->program = axes_program(job, *axes);
    return;
  }
  if (const auto* const cyclic = std::get_if<Cyclic>(&permutation)) {
    if (job.total_bytes() != 0) state_->program = cyclic_program(job, *cyclic);
    return;
  }
  *this = IndexExecutor(plan, make_schedule(plan));
}

IndexExecutor::IndexExecutor(const IndexPlan& plan, SharedSchedule schedule)
    : state_(std::make_unique<State>()) {
  FARO_CHECK(plan.target().engine == Engine::cpu);
  FARO_CHECK(schedule != nullptr);
  const IndexJob job = job_of(plan);
  if (schedule->count != job.count) {
    fail(ErrorCode::value, "run a schedule", "one of " + std::to_string(schedule->count) + " elements",
         std::to_string(job.count) + ", the plan's count",
         "plan for the array that the schedule was made for");
  }
  state_->schedule = std::move(schedule);
  if (job.total_bytes() == 0) return;
  state_->program =
      std::visit(MakeProgram{job, state_->schedule, plan.chosen().method}, state_->schedule->what);
}

IndexExecutor::IndexExecutor(IndexExecutor&&) noexcept = default;
IndexExecutor& IndexExecutor::operator=(IndexExecutor&&) noexcept = default;
IndexExecutor::~IndexExecutor() = default;

std::uint64_t IndexExecutor::workspace_bytes() const {
  const std::uint64_t bytes = state_->program ? state_->program->workspace_bytes() : 0;
  return faro::detail::from_any_address(bytes);
}

std::shared_ptr<const IndexSchedule> IndexExecutor::schedule() const { return state_->schedule; }

void IndexExecutor::run(const void* in, void* out, void* workspace) const {
  if (!state_->program) return;
  const auto* const from = static_cast<const std::byte*>(in);
  auto* const to = static_cast<std::byte*>(out);
  const std::uint64_t bytes = workspace_bytes();
  if (workspace != nullptr || bytes == 0) {
    state_->program->run(from, to, bytes == 0 ? nullptr : aligned(static_cast<std::byte*>(workspace)));
    return;
  }
  if (bytes >= kLargeBytes) {
    const io::Buffer own(bytes);
    state_->program->run(from, to, aligned(own.data()));
  } else {
    const auto own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    state_->program->run(from, to, aligned(own.get()));
  }
}

}  // namespace faro::cpu
