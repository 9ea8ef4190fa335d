#include "swizzle/search.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "faro/error.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::size_t kFirstPatience = 16;
constexpr std::size_t kPatience = 16;
constexpr std::size_t kSurrenders = 2;
constexpr std::size_t kMostSteps = 1024;
// If nothing follows.
constexpr std::size_t kThoroughPatience = 8;
constexpr std::size_t kMostThoroughSteps = 65536;
// Supports of one term up to which clusters are filtered instead of terms.
constexpr double kMostInClusters = 64;
// Pools that are then asked whether they can still be met.
constexpr std::size_t kSumGroupsAsked = 1;

}  // namespace

// In a group whose nodes are known each visit decides guards once and for all, so that all are visited, until
// none is open.
bool Propagation::visit(std::uint32_t number, const Effort& effort) {
  const ConstraintGroup& group = constraints_.groups()[number];
  const auto is_open = [&] {
    return std::ranges::any_of(group.holes, [&](int h) { return !domains_.is_fixed(h); });
  };
  const std::size_t patience = std::min(group.constraints.size(), effort.patience);
  const bool is_known = constraints_.ways(group) <= 1;
  std::size_t enough = is_known && is_open() ? group.constraints.size() : patience;
  std::size_t surrenders = 0, place = 0;
  for (std::size_t quiet = 0; quiet < enough; place = (place + 1) % group.constraints.size()) {
    const Filtering filtering = constraints_.visit(group.constraints[place], effort.most_steps);
    if (filtering == Filtering::contradiction) return false;
    if (filtering == Filtering::gave_up && ++surrenders >= effort.surrenders) quiet = enough - 1;
    quiet = filtering == Filtering::pruned && !is_known ? 0 : quiet + 1;
    if (filtering == Filtering::pruned && enough > patience && !is_open()) enough = patience;
    if (quiet < enough) continue;
    bool changed = false;
    if (!domains_.settle(changed)) return false;
    if (changed) quiet = 0;
  }
  return true;
}

void Propagation::mark(int hole, std::int64_t but) {
  for (const std::uint32_t group : constraints_.groups_of(hole)) {
    if (std::int64_t{group} != but) is_dirty_[group] = true;
  }
}

// The dirty group with the fewest supports; terms only where their clusters have too many.
std::int64_t Propagation::cheapest() const {
  const std::span<const ConstraintGroup> groups = constraints_.groups();
  std::int64_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_dirty_[g]) continue;
    const double ways = constraints_.ways(groups[g]);
    if (groups[g].kind == ConstraintKind::cluster && ways > kMostInClusters) continue;
    if (groups[g].kind == ConstraintKind::term) {
      if (ways > 2.0 * kMostSteps) continue;
      if (groups[g].has_cluster && constraints_.ways(groups[groups[g].cluster]) <= kMostInClusters) continue;
    }
    if (ways >= least) continue;
    best = static_cast<std::int64_t>(g);
    least = ways;
  }
  return best;
}

bool Propagation::visit_dirty(bool& is_first) {
  std::vector<int>& decided = domains_.newly_fixed();
  std::size_t marked = decided.size();
  for (std::int64_t group = cheapest(); group >= 0; group = cheapest()) {
    is_dirty_[static_cast<std::size_t>(group)] = false;
    const Effort effort{is_first ? kFirstPatience : kPatience, kMostSteps, kSurrenders};
    is_first = false;
    if (!visit(static_cast<std::uint32_t>(group), effort)) return false;
    for (; marked < decided.size(); ++marked) mark(decided[marked], group);
  }
  return true;
}

bool Propagation::visit_thoroughly(int hole) {
  for (std::uint32_t g = 0; g < constraints_.groups().size(); ++g) {
    const ConstraintGroup& group = constraints_.groups()[g];
    if (group.kind == ConstraintKind::cluster ||
        (hole >= 0 && std::ranges::find(group.holes, hole) == group.holes.end()))
      continue;
    const double ways = constraints_.ways(group);
    if (ways <= 1 || (group.kind == ConstraintKind::term && ways > 2.0 * kMostThoroughSteps)) continue;
    if (!visit(g, {kThoroughPatience, kMostThoroughSteps, 1})) return false;
  }
  return true;
}

bool Propagation::check_sum_groups() {
  for (std::size_t sum_group = 0; sum_group < std::min(constraints_.sum_groups(), kSumGroupsAsked);
       ++sum_group) {
    if (constraints_.check_sum_group(sum_group) == Filtering::contradiction) return false;
  }
  return true;
}

bool Propagation::decides_nodes(int hole) const {
  const std::span<const ConstraintGroup> groups = constraints_.groups();
  return std::ranges::any_of(constraints_.groups_of(hole), [&](std::uint32_t g) {
    return std::ranges::any_of(groups[g].parts, [&](const std::vector<int>& part) {
      return std::ranges::find(part, hole) != part.end();
    });
  });
}

bool Propagation::from(int hole) {
  std::vector<int>& decided = domains_.newly_fixed();
  decided.clear();
  is_dirty_.assign(constraints_.groups().size(), hole < 0);
  if (hole >= 0) mark(hole, -1);
  bool is_first = true;
  if (!visit_dirty(is_first)) return false;
  if (decided.empty()) {
    if (!visit_thoroughly(hole)) return false;
    for (const int h : decided) mark(h, -1);
    if (!visit_dirty(is_first)) return false;
  }
  const auto is_fixed = [&](int h) { return domains_.is_fixed(h); };
  for (int h = 0; h < domains_.holes(); ++h) {
    if (!is_fixed(h)) return check_sum_groups();
  }
  return true;
}

namespace {

// Samples of every hole, to see which are likely; then of large families, and those that are listed quickly
// anyway.
constexpr std::size_t kFewSamples = 4;
constexpr std::size_t kSamples = 64;
constexpr std::size_t kSamplesOfSmall = 12;
constexpr std::size_t kLikely = 4;
// log2 of combinations that can be walked.
constexpr double kFewBits = 24;

// log2 of the combinations of functions that are left of all other holes.
double combinations_left(const Domains& domains, int hole) {
  double bits = 0;
  for (int h = 0; h < domains.holes(); ++h) {
    if (h != hole) bits += std::log2(static_cast<double>(domains.size(h)));
  }
  return bits;
}

double estimate(Propagation& propagation, Domains& domains, int hole, std::size_t most_samples) {
  const std::vector<std::uint32_t> candidates = domains.candidates(hole);
  const std::size_t samples = std::min(most_samples, candidates.size());
  // Without survivors half a one is assumed: of two holes whose samples all die, the smaller family is taken.
  double left = 0.5;
  for (std::size_t s = 0; s < samples; ++s) {
    domains.push();
    domains.assign(hole, candidates[s * candidates.size() / samples]);
    if (propagation.from(hole)) left += std::exp2(std::min(combinations_left(domains, hole), 900.0));
    domains.pop();
  }
  const auto count = static_cast<double>(candidates.size());
  return std::log2(count) + std::log2(left / static_cast<double>(samples));
}

struct Estimated {
  double left = 0;
  int hole = 0;
  // Rounding must not decide.
  bool operator<(const Estimated& other) const {
    return std::tuple(std::llround(left * 1e6), hole) <
           std::tuple(std::llround(other.left * 1e6), other.hole);
  }
};

// Holes to choose from: guards follow from terms, so that they wait where the terms' holes can be walked.
std::vector<int> choices(const Propagation& propagation, const Domains& domains) {
  std::vector<int> all, of_nodes;
  double bits = 0;
  for (int h = 0; h < domains.holes(); ++h) {
    if (domains.is_fixed(h)) continue;
    all.push_back(h);
    if (!propagation.decides_nodes(h)) continue;
    of_nodes.push_back(h);
    bits += std::log2(static_cast<double>(domains.size(h)));
  }
  return !of_nodes.empty() && bits <= kFewBits ? of_nodes : all;
}

}  // namespace

int select_hole(Propagation& propagation, Domains& domains) {
  std::vector<Estimated> holes;
  for (const int h : choices(propagation, domains)) {
    holes.push_back({estimate(propagation, domains, h, kFewSamples), h});
  }
  FARO_CHECK(!holes.empty());
  std::ranges::sort(holes, std::less<>());
  if (holes.size() > kLikely) holes.resize(kLikely);
  if (holes.size() > 1) {
    for (Estimated& hole : holes) {
      hole.left = estimate(propagation, domains, hole.hole,
                           domains.size(hole.hole) > kSamples ? kSamples : kSamplesOfSmall);
    }
  }
  return std::ranges::min(holes, std::less<>()).hole;
}

namespace {

constexpr std::uint64_t kTicksPerCheck = 64;

/// Thrown where the hooks say that time is up, caught in result().
struct OutOfTime : std::exception {
  const char* what() const noexcept override { return "out of time"; }
};

bool all_fixed(const Domains& domains) {
  for (int h = 0; h < domains.holes(); ++h) {
    if (!domains.is_fixed(h)) return false;
  }
  return true;
}

class Search {
 public:
  Search(const ConstraintModel& model, const Specification& specification,
         std::span<const FunctionSet> families, const SearchHooks& hooks)
      : model_(model),
        specification_(specification),
        families_(families),
        hooks_(hooks),
        domains_(model, families, [this] { check_time(); }),
        propagation_(model, specification, domains_, [this] { check_time(); }) {}

  SearchResult result() {
    for (int h = 0; h < domains_.holes(); ++h) {
      if (domains_.size(h) == 0) return result_;
    }
    try {
      if (propagation_.from(-1)) descend(0);
    } catch (const OutOfTime&) {
      result_.finished = false;
    }
    result_.order = order_;
    return result_;
  }

 private:
  void check_time() const {
    if (!hooks_.goes_on(done_)) throw OutOfTime();
  }

  // The order that was found best on the first way down; holes that come to need it later are appended.
  int next_hole() {
    for (const int hole : order_) {
      if (!domains_.is_fixed(hole)) return hole;
    }
    order_.push_back(select_hole(propagation_, domains_));
    return order_.back();
  }

  void descend(int depth) {
    if (all_fixed(domains_)) {
      finish();
      return;
    }
    const int hole = next_hole();
    const std::vector<std::uint32_t> candidates = domains_.candidates(hole);
    for (std::size_t c = 0; c < candidates.size() && result_.finished; ++c) {
      if (depth == 0) done_ = static_cast<double>(c) / static_cast<double>(candidates.size());
      ++result_.candidates;
      if (++ticks_ % kTicksPerCheck == 0) check_time();
      domains_.push();
      domains_.assign(hole, candidates[c]);
      if (propagation_.from(hole)) descend(depth + 1);
      domains_.pop();
    }
  }

  void finish() {
    std::vector<std::size_t> functions;
    functions.reserve(static_cast<std::size_t>(domains_.holes()));
    for (int h = 0; h < domains_.holes(); ++h) functions.push_back(domains_.function(h));
    if (!satisfies(model_, specification_, families_, functions)) return;
    if (!hooks_.found(functions)) result_.finished = false;
  }

  const ConstraintModel& model_;
  const Specification& specification_;
  std::span<const FunctionSet> families_;
  const SearchHooks& hooks_;
  double done_ = 0;
  Domains domains_;
  Propagation propagation_;
  std::vector<int> order_;
  SearchResult result_;
  std::uint64_t ticks_ = 0;
};

}  // namespace

SearchResult search(const ConstraintModel& model, const Specification& specification,
                    std::span<const FunctionSet> families, const SearchHooks& hooks) {
  try {
    return Search(model, specification, families, hooks).result();
  } catch (const OutOfTime&) {  // before the search began
    return {.finished = false, .candidates = 0, .order = {}};
  }
}

}  // namespace faro::swizzle::detail
