#include "swizzle/register_permutation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "faro/error.hpp"

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

namespace {

using Rotation = RegisterPermutation::Rotation;
using Map = std::vector<std::int64_t>;

struct Digit {
  std::int64_t stride = 1, length = 1;
};
using System = std::vector<Digit>;

std::int64_t digit_of(const Digit& digit, std::int64_t place) { return place / digit.stride % digit.length; }

std::int64_t rotated(const Digit& digit, std::int64_t place, std::int64_t amount) {
  const std::int64_t d = digit_of(digit, place);
  return place + ((d + amount) % digit.length - d) * digit.stride;
}

/// Every chain of divisors 1 | … | n, as digits; long ones only for few registers.
void chains(std::int64_t n, std::int64_t stride, System& open, std::vector<System>& all) {
  constexpr std::int64_t kFewRegisters = 64;
  if (stride == n) {
    all.push_back(open);
    return;
  }
  const std::int64_t rest = n / stride;
  for (std::int64_t length = rest; length >= 2; --length) {
    if (rest % length != 0) continue;
    if (n > kFewRegisters && open.size() == 1 && length != rest) continue;
    open.push_back({.stride = stride, .length = length});
    chains(n, stride * length, open, all);
    open.pop_back();
  }
}

std::vector<System> systems(std::int64_t n) {
  std::vector<System> all;
  System open;
  chains(n, 1, open, all);
  // One digit is the plain rotation, which is to be tried first.
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all;
}

/// The amounts of a product of rotations, if the map is one.
std::optional<Map> amounts_of(const Map& map, const System& system) {
  Map amounts;
  for (const Digit& digit : system) amounts.push_back(digit_of(digit, map[0]));
  for (std::size_t r = 0; r < map.size(); ++r) {
    auto place = static_cast<std::int64_t>(r);
    for (std::size_t k = 0; k < system.size(); ++k) place = rotated(system[k], place, amounts[k]);
    if (place != map[r]) return std::nullopt;
  }
  return amounts;
}

class Factoring {
 public:
  Factoring(std::int64_t n, std::int64_t warp, const std::vector<std::int64_t>& table)
      : n_(n), inverse_(static_cast<std::size_t>(n), -1) {
    const auto count = static_cast<std::size_t>(n);
    for (std::size_t t = 0; t < static_cast<std::size_t>(warp); ++t)
      lanes_.emplace_back(table.begin() + static_cast<std::ptrdiff_t>(t * count),
                          table.begin() + static_cast<std::ptrdiff_t>((t + 1) * count));
    for (std::size_t i = 0; i < count; ++i)
      inverse_[static_cast<std::size_t>(fixed()[i])] = static_cast<std::int64_t>(i);
  }

  const Map& fixed() const { return lanes_[0]; }
  bool same_for_all() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](const Map& map) { return map == fixed(); });
  }

  /// The shortest of all products found.
  std::optional<RegisterPermutation> factored() const {
    if (std::find(inverse_.begin(), inverse_.end(), -1) != inverse_.end()) return std::nullopt;
    const std::vector<System> all = systems(n_);
    std::optional<RegisterPermutation> best;
    const auto offer = [&](const System& before, const Digit& after) {
      auto found = with(before, after);
      if (found && (!best || steps(*found) < steps(*best))) best = std::move(found);
    };
    for (const System& before : all) offer(before, {});
    for (const System& after : all) {
      auto found = after_only(after);
      if (found && (!best || steps(*found) < steps(*best))) best = std::move(found);
    }
    if (best) return best;
    for (const System& before : all)
      for (std::int64_t stride = 1; stride < n_; ++stride)
        for (std::int64_t length = n_ / stride; length >= 2; --length)
          if (n_ % (stride * length) == 0) offer(before, {.stride = stride, .length = length});
    return best;
  }

  static std::size_t steps(const RegisterPermutation& how) {
    std::size_t count = 0;
    for (const auto* side : {&how.before, &how.after})
      for (const Rotation& rotation : *side) count += rotation_steps(rotation).steps.size();
    return count;
  }

 private:
  /// P_t after^-amount F^-1 as a product of rotations of `before`, with the least amount that does it.
  std::optional<RegisterPermutation> with(const System& before, const Digit& after) const {
    std::vector<Map> amounts(before.size());
    Map turned;
    Map quotient(static_cast<std::size_t>(n_));
    for (const Map& lane : lanes_) {
      bool found = false;
      for (std::int64_t amount = 0; amount < after.length && !found; ++amount) {
        // P = B F A, so B(F(A(i))) = P(i).
        for (std::int64_t i = 0; i < n_; ++i) {
          const auto at =
              static_cast<std::size_t>(fixed()[static_cast<std::size_t>(rotated(after, i, amount))]);
          quotient[at] = lane[static_cast<std::size_t>(i)];
        }
        const auto product = amounts_of(quotient, before);
        if (!product) continue;
        for (std::size_t k = 0; k < before.size(); ++k) amounts[k].push_back((*product)[k]);
        turned.push_back(amount);
        found = true;
      }
      if (!found) return std::nullopt;
    }
    return made(before, amounts, {after}, {turned});
  }

  /// F^-1 P_t as a product of rotations.
  std::optional<RegisterPermutation> after_only(const System& after) const {
    std::vector<Map> amounts(after.size());
    for (const Map& lane : lanes_) {
      Map quotient;
      for (const std::int64_t from : lane) quotient.push_back(inverse_[static_cast<std::size_t>(from)]);
      const auto product = amounts_of(quotient, after);
      if (!product) return std::nullopt;
      for (std::size_t k = 0; k < after.size(); ++k) amounts[k].push_back((*product)[k]);
    }
    return made({}, {}, after, amounts);
  }

  RegisterPermutation made(const System& before, const std::vector<Map>& before_amounts, const System& after,
                           const std::vector<Map>& after_amounts) const {
    const auto rotations = [](const System& system, const std::vector<Map>& amounts) {
      std::vector<Rotation> made;
      for (std::size_t k = 0; k < system.size(); ++k) {
        if (std::all_of(amounts[k].begin(), amounts[k].end(), [](std::int64_t a) { return a == 0; }))
          continue;
        made.push_back({.stride = system[k].stride, .length = system[k].length, .amounts = amounts[k]});
      }
      return made;
    };
    return {.kind = RegisterPermutation::Kind::barrel,
            .before = rotations(before, before_amounts),
            .after = rotations(after, after_amounts),
            .fixed = fixed()};
  }

  std::int64_t n_;
  std::vector<Map> lanes_;
  Map inverse_;  // of lane 0's
};

}  // namespace

RegisterPermutation factor_registers(std::int64_t n, std::int64_t warp,
                                     const std::vector<std::int64_t>& table) {
  constexpr const char* kFactoring = "factor a permutation of registers";
  if (n < 1 || warp < 1)
    fail(ErrorCode::spec, kFactoring, std::to_string(n) + " registers in " + std::to_string(warp) + " lanes",
         "at least 1 of both");
  if (table.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(warp))
    fail(ErrorCode::spec, kFactoring, std::to_string(table.size()) + " values",
         "one for each register of each lane");
  for (std::size_t k = 0; k < table.size(); ++k) {
    if (table[k] >= 0 && table[k] < n) continue;
    fail(ErrorCode::spec, kFactoring,
         "register " + std::to_string(table[k]) + " for register " +
             std::to_string(k % static_cast<std::size_t>(n)) + " of lane " +
             std::to_string(k / static_cast<std::size_t>(n)),
         "0 .. " + std::to_string(n - 1));
  }
  const Factoring factoring(n, warp, table);
  if (factoring.same_for_all())
    return {.kind = RegisterPermutation::Kind::fixed, .before = {}, .after = {}, .fixed = factoring.fixed()};
  if (auto found = factoring.factored(); found && Factoring::steps(*found) < static_cast<std::size_t>(n))
    return *std::move(found);
  return {.kind = RegisterPermutation::Kind::tree, .before = {}, .after = {}, .fixed = {}};
}

}  // namespace faro::swizzle
