#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "faro/suggest.hpp"
#include "plan/index_candidates.hpp"

namespace faro {
namespace {

constexpr std::array kMethods{IndexMethod::cyclic,      IndexMethod::modular,   IndexMethod::computed,
                              IndexMethod::axes,        IndexMethod::direct,    IndexMethod::window,
                              IndexMethod::runs,        IndexMethod::partition, IndexMethod::row_column,
                              IndexMethod::row_column_5};

// Cost of so many runs, with the schedule; of one without it where it does not count.
double cost_us(const IndexCandidate& candidate, std::uint64_t repeats) {
  const double run_us = candidate.curve_us.value_or(0);
  return repeats == 0 ? run_us : static_cast<double>(repeats) * run_us + candidate.schedule_us.value_or(0);
}

// The fastest of those that apply. The first keeps its place unless another is faster by more than a
// prediction is worth: a part of it, and what launches of small arrays vary by.
std::size_t fastest(std::vector<IndexCandidate>& candidates, std::uint64_t repeats) {
  constexpr double kWorthIt = 0.95;
  constexpr double kWorthUs = 1;
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const IndexCandidate& each = candidates[i];
    if (!each.why_not.empty() || !each.curve_us) continue;
    const IndexCandidate& leader = candidates[best];
    const double leader_us = cost_us(leader, repeats);
    const double bound = best == 0 ? std::min(kWorthIt * leader_us, leader_us - kWorthUs) : leader_us;
    if (leader.curve_us && cost_us(each, repeats) < bound) best = i;
  }
  const double chosen_us = cost_us(candidates[best], repeats);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    IndexCandidate& each = candidates[i];
    if (i == best || !each.why_not.empty()) continue;
    const double us = cost_us(each, repeats);
    each.why_not = !each.curve_us ? "no curves to predict it by"
                   : us >= chosen_us
                       ? fmt::format("{:.3g} times as long", us / chosen_us)
                       : fmt::format("faster by less than {:.0f}% or {} us", 100 * (1 - kWorthIt), kWorthUs);
  }
  return best;
}

// The one that was asked for, before all others.
void put_first(IndexCandidate asked, std::vector<IndexCandidate>& candidates) {
  std::erase_if(candidates, [&](const IndexCandidate& each) {
    return each.method == asked.method && each.shape == asked.shape;
  });
  for (IndexCandidate& each : candidates) {
    if (each.why_not.empty()) each.why_not = "another was asked for";
  }
  candidates.insert(candidates.begin(), std::move(asked));
}

}  // namespace

const char* name(IndexMethod method) noexcept {
  static constexpr const char* kNames[] = {"cyclic", "modular", "computed",  "axes",       "direct",
                                           "window", "runs",    "partition", "row_column", "row_column_5"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(IndexMethod::row_column_5) + 1);
  return kNames[static_cast<std::size_t>(method)];
}

IndexMethod parse_index_method(const std::string& text) {
  std::array<std::string_view, kMethods.size()> names;
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    names.at(i) = name(kMethods.at(i));
    if (text == names.at(i)) return kMethods.at(i);
  }
  const std::string suggestion = did_you_mean(text, names);
  fail(ErrorCode::value, "read the method", "`" + text + "`",
       "cyclic, modular, computed, axes, direct, window, runs, partition, row_column or row_column_5",
       suggestion);
}

IndexPlan::IndexPlan(Problem problem, Target target, Recognition recognition, const IndexChoice& choice)
    : problem_(std::move(problem)),
      target_(std::move(target)),
      recognition_(std::move(recognition)),
      repeats_(choice.repeats) {
  FARO_CHECK(std::holds_alternative<Indexed>(problem_.permutation));
  FARO_CHECK(problem_.placement == Placement::out_of_place);
  detail::check_width(problem_);
  unit_bytes_ =
      std::min<std::uint64_t>(problem_.element_bytes & (~problem_.element_bytes + 1), target_.unit_bytes_max);
  const detail::IndexWork work{.problem = problem_,
                               .target = target_,
                               .recognition = recognition_,
                               .calibration = calibration(),
                               .repeats = repeats_};
  candidates_ = detail::index_candidates(work);
  if (choice.empty()) {
    chosen_ = fastest(candidates_, repeats_);
  } else {
    put_first(detail::asked_candidate(work, choice), candidates_);
  }
  passes_ = detail::passes_of(work, chosen());
  for (IndexCandidate& each : candidates_) each.solved.reset();
}

std::uint64_t IndexPlan::array_bytes() const { return total_bytes(problem_); }

}  // namespace faro
