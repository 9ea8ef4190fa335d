#include "faro/plan/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plan/planners.hpp"

namespace faro {
namespace {

using detail::log2_floor;
using detail::refuse_plan;

void check(const Problem& problem) {
  if (!f2::is_power_of_two(problem.element_bytes) || problem.element_bytes > kMaxElementBytes) {
    refuse_plan(ErrorCode::value, "elements of " + std::to_string(problem.element_bytes) + " bytes",
                "a power of two from 1 to " + std::to_string(kMaxElementBytes));
  }
  const int n = std::get<Affine>(problem.permutation).bits();
  if (n > kMaxProblemBits) {
    refuse_plan(ErrorCode::value, "n = " + std::to_string(n),
                "at most " + std::to_string(kMaxProblemBits) + " index bits");
  }
  if (problem.placement == Placement::in_place) {
    refuse_plan(ErrorCode::unsupported, "placement in place", "out of place: in place is not yet supported",
                "give a second array for the result");
  }
}

}  // namespace

const char* name(PassKind kind) noexcept {
  switch (kind) {
    case PassKind::copy:
      return "copy";
    case PassKind::segments:
      return "segments";
    case PassKind::tile:
      return "tile";
    case PassKind::direct:
      return "direct";
  }
  return "direct";
}

const char* name(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
      return "auto";
    case Engine::cpu:
      return "cpu";
    case Engine::cuda:
      return "cuda";
  }
  return "auto";
}

Plan::Plan(const Problem& problem, Target target) : problem_(problem), target_(std::move(target)) {
  check(problem_);
  array_bytes_ = total_bytes(problem_);
  unit_bytes_ = std::min(problem_.element_bytes, target_.unit_bytes_max);
  unit_bits_per_element_ = log2_floor(problem_.element_bytes) - log2_floor(unit_bytes_);
  if (problem_.batch == 0) return;

  const Affine map = direct_sum(Affine(unit_bits_per_element_), std::get<Affine>(problem_.permutation));
  const detail::Work work{.map = map, .unit_bits = log2_floor(unit_bytes_), .arrays = problem_.batch};
  detail::Planned planned;
  if (map.is_identity()) {
    // A copy of everything at once, however many arrays there are.
    planned.passes = {detail::make_pass(PassKind::copy, map, work.unit_bits, work.arrays, array_bytes_)};
  } else {
    planned = target_.engine == Engine::cuda ? detail::plan_for_gpu(work, target_)
                                             : detail::plan_for_cpu(work, target_);
  }
  passes_ = std::move(planned.passes);
  folded_batch_bits_ = planned.folded_batch_bits;
}

}  // namespace faro
