#include "bench/gpu_transpose/transposition_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "gpu/transpose_oracle.hpp"
#include "plan/gpu/gpu_pass.hpp"

namespace faro::bench::gpu {
namespace {

constexpr std::uint64_t kDrawn = 5;  // the seed of what arrays hold

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Problem problem_of(const Rectangle& shape, Placement placement) {
  return {.permutation = maps::transpose_any(shape.rows, shape.columns),
          .element_bytes = shape.element_bytes,
          .batch = shape.arrays,
          .placement = placement};
}

void require_placed(const void* array, const Rectangle& shape) {
  const std::uint64_t wrong = testing::misplaced_elements(array, shape, kDrawn, {});
  if (wrong == 0) return;
  fail(ErrorCode::verification, "gpu_transpose_bench",
       fmt::format("{} elements of {} elsewhere", wrong, text_of(shape)), "every element in its place");
}

}  // namespace

std::string text_of(const Rectangle& r) {
  return fmt::format("{}{} x {} of {}", r.arrays == 1 ? "" : fmt::format("{} of ", r.arrays), r.rows,
                     r.columns, r.element_bytes);
}

double TimedTransposition::share() const {
  constexpr double percent = 100;
  return percent * copy_milliseconds / milliseconds;
}

TranspositionClock::TranspositionClock(std::uint64_t bytes, int rounds)
    : array_(bytes), other_(bytes), rounds_(rounds) {}

template <typename Queue>
void TranspositionClock::time(const Rectangle& shape, const Queue& queue, TimedTransposition& result) {
  const auto queue_copy = [&](Stream stream) {
    cuda::copy(array_.data(), other_.data(), shape.bytes(), stream);
  };
  std::vector<double> moving;
  std::vector<double> copying;
  for (int round = 0; round < rounds_; ++round) {
    moving.push_back(clock_.milliseconds(1, queue));
    copying.push_back(clock_.milliseconds(1, queue_copy));
  }
  result.milliseconds = median(moving);
  result.copy_milliseconds = median(copying);
}

TimedTransposition TranspositionClock::in_place(const Rectangle& shape) {
  const TransposePlan plan(problem_of(shape, Placement::in_place), cuda::target());
  const cuda::LoadedPasses sweeps(plan.passes());  // of powers of two, too
  const cuda::DeviceArray workspace(std::max<std::uint64_t>(1, plan.workspace_bytes()));
  void* const lent = plan.workspace_bytes() == 0 ? nullptr : workspace.data();
  const auto queue = [&](Stream stream) {
    sweeps.launch({.in = array_.data(), .out = array_.data(), .workspace = lent}, stream);
  };
  testing::draw(array_.data(), shape, kDrawn, {});
  queue({});
  require_placed(array_.data(), shape);
  TimedTransposition result{.sweeps = plan.passes().size(), .workspace_bytes = plan.workspace_bytes()};
  time(shape, queue, result);
  return result;
}

TimedTransposition TranspositionClock::out_of_place(const Rectangle& shape) {
  const ExecutablePlan plan =
      faro::plan(problem_of(shape, Placement::out_of_place), {.engine = Engine::cuda});
  const auto queue = [&](Stream stream) { plan.run(array_.data(), other_.data(), shape.bytes(), stream); };
  testing::draw(array_.data(), shape, kDrawn, {});
  queue({});
  require_placed(other_.data(), shape);
  TimedTransposition result{.sweeps = 1};
  time(shape, queue, result);
  return result;
}

}  // namespace faro::bench::gpu
