#include "file/unit_steps.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "faro/permutation/indexed.hpp"
#include "rounding.hpp"

namespace faro::file {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::uint64_t kBuffersOfSteps = 3;
constexpr std::uint64_t kTableBytes = 32;  // a unit: pairs of two passes, a cycle, and what --verify needs
constexpr std::uint64_t kRangesOfPair =
    4 * sizeof(Rows::Range);  // two that are read and two that are written

// The pairs of both passes, the first first, each in ascending order.
std::pair<std::vector<Pair>, std::vector<Pair>> pairs_of(const Axes& places, std::uint64_t count) {
  std::vector<Pair> first;
  std::vector<Pair> second;
  std::vector<bool> seen(count, false);
  std::vector<std::uint32_t> cycle;
  for (std::uint64_t head = 0; head < count; ++head) {
    if (seen[head]) continue;
    cycle.clear();
    for (std::uint64_t unit = head; !seen[unit]; unit = places(unit)) {
      seen[unit] = true;
      cycle.push_back(static_cast<std::uint32_t>(unit));
    }
    const std::size_t length = cycle.size();
    for (std::size_t i = 1; 2 * i < length; ++i) first.push_back(std::minmax(cycle[i], cycle[length - i]));
    // c1 with c0, c2 with c(-1), …
    for (std::size_t i = 1; 2 * i <= length; ++i)
      second.push_back(std::minmax(cycle[i], cycle[(length + 1 - i) % length]));
  }
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return {std::move(first), std::move(second)};
}

// Units that change places in pairs.
class UnitSteps final : public Steps {
 public:
  UnitSteps(std::vector<Pair> pairs, std::uint64_t units, std::uint64_t unit_bytes, std::uint64_t batch,
            std::uint64_t budget_bytes, std::shared_ptr<const MoveMaker> maker)
      : pairs_(std::move(pairs)),
        units_(units),
        unit_bytes_(unit_bytes),
        batch_(batch),
        maker_(std::move(maker)),
        together_(std::min<std::uint64_t>(budget_bytes / pair_bytes(unit_bytes), pairs_.size())) {
    step_bytes = 2 * together_ * unit_bytes_;
    run_bytes = unit_bytes_;
  }

  static std::uint64_t pair_bytes(std::uint64_t unit_bytes) { return 2 * unit_bytes + kRangesOfPair; }

  std::uint64_t count() const override { return pairs_.empty() ? 0 : batch_ * steps_of_array(); }

  // Pairs take themselves back.
  TileWork step(std::uint64_t number, bool) override {
    const std::uint64_t array = number / steps_of_array() * units_ * unit_bytes_;
    const std::uint64_t begin = number % steps_of_array() * together_;
    const std::uint64_t end = std::min<std::uint64_t>(begin + together_, pairs_.size());
    TileWork work;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t at = 2 * (i - begin) * unit_bytes_;
      const std::uint64_t one = array + pairs_[i].first * unit_bytes_;
      const std::uint64_t other = array + pairs_[i].second * unit_bytes_;
      add(work.in, at, one, other);
      add(work.out, at, other, one);
    }
    const std::uint64_t bytes = 2 * (end - begin) * unit_bytes_;
    SharedMove& copy = copies_[bytes];
    if (copy == nullptr) copy = maker_->make({.permutation = maps::roll(bytes, 0), .element_bytes = 1});
    work.move = copy;
    return work;
  }

  const Problem& problem() const override {
    if (problem_) return *problem_;
    std::vector<std::uint32_t> places(units_);
    std::iota(places.begin(), places.end(), 0U);
    for (const auto& [one, other] : pairs_) std::swap(places[one], places[other]);
    problem_ = Problem{.permutation = Indexed(std::move(places), Direction::scatter),
                       .element_bytes = unit_bytes_,
                       .batch = batch_};
    return *problem_;
  }

 private:
  std::uint64_t steps_of_array() const { return detail::ceil_div(pairs_.size(), together_); }

  void add(Rows& rows, std::uint64_t at, std::uint64_t one, std::uint64_t other) const {
    rows.ranges.push_back({.at = at, .offset = one, .bytes = unit_bytes_});
    rows.ranges.push_back({.at = at + unit_bytes_, .offset = other, .bytes = unit_bytes_});
  }

  std::vector<Pair> pairs_;
  std::uint64_t units_;
  std::uint64_t unit_bytes_;
  std::uint64_t batch_;
  std::shared_ptr<const MoveMaker> maker_;
  std::uint64_t together_;                      // pairs of a step
  std::map<std::uint64_t, SharedMove> copies_;  // by bytes: of a whole step, and of the last
  mutable std::optional<Problem> problem_;      // made when it is asked for
};

}  // namespace

SquaresAndUnits squares_and_units(const Axes& axes) {
  SquaresAndUnits made{.squares = {}, .units = {.shape = axes.shape(), .order = axes.order()}};
  NamedAxes& units = made.units;
  if (units.order.empty()) return made;
  const auto is_still = [&] { return units.order.back() == static_cast<int>(units.order.size()) - 1; };
  if (!is_still()) {
    // Both axes are cut; their inner parts change places, after which the last axis stays.
    const auto fastest = static_cast<std::size_t>(units.order.back());
    const std::uint64_t inner = std::gcd(units.shape[fastest], units.shape.back());
    units = units.split(units.shape.size() - 1, inner).split(fastest, inner);
    made.squares = {.shape = units.shape, .order = std::vector<int>(units.order.size())};
    std::iota(made.squares.order.begin(), made.squares.order.end(), 0);
    std::swap(made.squares.order[fastest + 1], made.squares.order.back());
    units = units.after(made.squares.inverse());
  }
  while (!units.order.empty() && is_still()) {
    made.elements *= units.shape.back();
    units.shape.pop_back();
    units.order.pop_back();
  }
  return made;
}

std::optional<std::vector<std::unique_ptr<Steps>>> passes_of_units(
    const Axes& axes, const Problem& problem, std::uint64_t memory_bytes,
    const std::shared_ptr<const MoveMaker>& maker) {
  const SquaresAndUnits found = squares_and_units(axes);
  const std::uint64_t units = std::accumulate(found.units.shape.begin(), found.units.shape.end(),
                                              std::uint64_t{1}, std::multiplies<>());
  const std::uint64_t unit_bytes = found.elements * problem.element_bytes;
  if (units > std::numeric_limits<std::uint32_t>::max() || units > memory_bytes / (2 * kTableBytes))
    return std::nullopt;
  const std::uint64_t budget = (memory_bytes - units * kTableBytes) / kBuffersOfSteps;
  if (budget < UnitSteps::pair_bytes(unit_bytes)) return std::nullopt;
  std::vector<std::unique_ptr<Steps>> passes;
  if (!found.squares.shape.empty()) passes = passes_of_axes(found.squares, problem, budget, maker);
  auto [first, second] = pairs_of(Axes(found.units.shape, found.units.order), units);
  for (std::vector<Pair>* const pairs : {&first, &second}) {
    if (pairs->empty()) continue;
    passes.push_back(
        std::make_unique<UnitSteps>(std::move(*pairs), units, unit_bytes, problem.batch, budget, maker));
  }
  return passes;
}

}  // namespace faro::file
