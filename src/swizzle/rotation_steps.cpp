#include "swizzle/rotation_steps.hpp"

#include <algorithm>
#include <utility>

namespace faro::swizzle {
namespace {

/// By the bits of the amounts, those that are set in the same lanes together.
std::vector<RotationSteps::Step> by_bits(const std::vector<std::int64_t>& amounts, std::int64_t length,
                                         bool backward) {
  std::vector<RotationSteps::Step> steps;
  for (std::int64_t bit = 1; bit < length; bit *= 2) {
    RotationSteps::Step step{.shift = bit, .lanes = {}};
    for (const std::int64_t amount : amounts) step.lanes.push_back((amount & bit) != 0);
    if (std::find(step.lanes.begin(), step.lanes.end(), true) == step.lanes.end()) continue;
    const auto same = std::find_if(steps.begin(), steps.end(),
                                   [&](const auto& other) { return other.lanes == step.lanes; });
    if (same == steps.end()) {
      steps.push_back(std::move(step));
    } else {
      same->shift += bit;
    }
  }
  if (backward)
    for (auto& step : steps) step.shift = length - step.shift;
  return steps;
}

}  // namespace

RotationSteps rotation_steps(const RegisterPermutation::Rotation& rotation) {
  const std::int64_t length = rotation.length;
  RotationSteps best;
  bool found = false;
  for (std::int64_t for_all = 0; for_all < length; ++for_all) {
    for (const bool backward : {false, true}) {
      std::vector<std::int64_t> amounts;
      for (const std::int64_t amount : rotation.amounts) {
        const std::int64_t rest = backward ? for_all - amount : amount - for_all;
        amounts.push_back((rest % length + length) % length);
      }
      auto steps = by_bits(amounts, length, backward);
      if (found && steps.size() >= best.steps.size()) continue;
      best = {.for_all = for_all, .steps = std::move(steps)};
      found = true;
    }
  }
  return best;
}

}  // namespace faro::swizzle
