#include "swizzle/propagation.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace faro::swizzle::detail {
namespace {

constexpr std::size_t kFirstPatience = 16;
constexpr std::size_t kPatience = 16;
constexpr std::size_t kSurrenders = 2;
constexpr std::size_t kMostSteps = 1024;
// If nothing follows.
constexpr std::size_t kThoroughPatience = 8;
constexpr std::size_t kMostThoroughSteps = 65536;
// Ways of one supplier up to which clusters are asked instead of suppliers.
constexpr double kMostInClusters = 64;
// Pools that are then asked whether they can still be met.
constexpr std::size_t kPoolsAsked = 1;

}  // namespace

// In a group whose nodes are known each visit decides guards once and for all, so that all are visited, until
// none is open.
bool Propagation::visit(std::uint32_t number, const Effort& effort) {
  const SiteGroup& group = sites_.groups()[number];
  const auto is_open = [&] {
    return std::ranges::any_of(group.holes, [&](int h) { return !domains_.is_decided(h); });
  };
  const std::size_t patience = std::min(group.sites.size(), effort.patience);
  const bool is_known = sites_.ways(group) <= 1;
  std::size_t enough = is_known && is_open() ? group.sites.size() : patience;
  std::size_t surrenders = 0, place = 0;
  for (std::size_t quiet = 0; quiet < enough; place = (place + 1) % group.sites.size()) {
    const Verdict verdict = sites_.visit(group.sites[place], effort.most_steps);
    if (verdict == Verdict::contradiction) return false;
    if (verdict == Verdict::gave_up && ++surrenders >= effort.surrenders) quiet = enough - 1;
    quiet = verdict == Verdict::changed && !is_known ? 0 : quiet + 1;
    if (verdict == Verdict::changed && enough > patience && !is_open()) enough = patience;
    if (quiet < enough) continue;
    bool changed = false;
    if (!domains_.settle(changed)) return false;
    if (changed) quiet = 0;
  }
  return true;
}

void Propagation::mark(int hole, std::int64_t but) {
  for (const std::uint32_t group : sites_.groups_of(hole)) {
    if (std::int64_t{group} != but) is_dirty_[group] = true;
  }
}

// The dirty group with the fewest ways; suppliers only where their clusters have too many.
std::int64_t Propagation::cheapest() const {
  const std::span<const SiteGroup> groups = sites_.groups();
  std::int64_t best = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_dirty_[g]) continue;
    const double ways = sites_.ways(groups[g]);
    if (groups[g].kind == SiteKind::cluster && ways > kMostInClusters) continue;
    if (groups[g].kind == SiteKind::supplier) {
      if (ways > 2.0 * kMostSteps) continue;
      if (groups[g].has_cluster && sites_.ways(groups[groups[g].cluster]) <= kMostInClusters) continue;
    }
    if (ways >= least) continue;
    best = static_cast<std::int64_t>(g);
    least = ways;
  }
  return best;
}

bool Propagation::visit_dirty(bool& is_first) {
  std::vector<int>& decided = domains_.newly_decided();
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
  for (std::uint32_t g = 0; g < sites_.groups().size(); ++g) {
    const SiteGroup& group = sites_.groups()[g];
    if (group.kind == SiteKind::cluster ||
        (hole >= 0 && std::ranges::find(group.holes, hole) == group.holes.end()))
      continue;
    const double ways = sites_.ways(group);
    if (ways <= 1 || (group.kind == SiteKind::supplier && ways > 2.0 * kMostThoroughSteps)) continue;
    if (!visit(g, {kThoroughPatience, kMostThoroughSteps, 1})) return false;
  }
  return true;
}

bool Propagation::check_pools() {
  for (std::size_t pool = 0; pool < std::min(sites_.pools(), kPoolsAsked); ++pool) {
    if (sites_.check_pool(pool) == Verdict::contradiction) return false;
  }
  return true;
}

bool Propagation::decides_nodes(int hole) const {
  const std::span<const SiteGroup> groups = sites_.groups();
  return std::ranges::any_of(sites_.groups_of(hole), [&](std::uint32_t g) {
    return std::ranges::any_of(groups[g].parts, [&](const std::vector<int>& part) {
      return std::ranges::find(part, hole) != part.end();
    });
  });
}

bool Propagation::from(int hole) {
  std::vector<int>& decided = domains_.newly_decided();
  decided.clear();
  is_dirty_.assign(sites_.groups().size(), hole < 0);
  if (hole >= 0) mark(hole, -1);
  bool is_first = true;
  if (!visit_dirty(is_first)) return false;
  if (decided.empty()) {
    if (!visit_thoroughly(hole)) return false;
    for (const int h : decided) mark(h, -1);
    if (!visit_dirty(is_first)) return false;
  }
  const auto is_decided = [&](int h) { return domains_.is_decided(h); };
  for (int h = 0; h < domains_.holes(); ++h) {
    if (!is_decided(h)) return check_pools();
  }
  return true;
}

}  // namespace faro::swizzle::detail
