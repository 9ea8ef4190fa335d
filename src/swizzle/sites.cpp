#include "swizzle/sites.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "faro/error.hpp"
#include "permutation/split_mix.hpp"
#include "swizzle/hash_slots.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::uint32_t kVisitsPerTick = 64;
constexpr std::size_t kNone = 0;  // no cluster; else its group and one

}  // namespace

Sites::Sites(const ChoiceGraph& graph, const Specification& specification, Domains& domains,
             std::function<void()> tick)
    : graph_(graph),
      domains_(domains),
      tick_(std::move(tick)),
      ways_(graph, domains),
      suppliers_(graph, specification, domains, ways_) {
  const std::span<const ArrayDeclaration> arrays = specification.arrays();
  wanted_.resize(arrays.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (arrays[a].kind != ArrayKind::output) continue;
    for (std::int64_t i = 0; i < arrays[a].size; ++i) {
      wanted_[a].push_back(specification.wanted(Array{static_cast<int>(a)}, i));
    }
  }
  for (const StoreSite& store : graph.stores) stores_.push_back(facts_of(store));
  for (const auto& cells : graph.values_of) {
    std::size_t most = 1;
    for (const auto& values : cells) most = std::max(most, values.size());
    most_values_.push_back(static_cast<double>(most));
  }
  list_sites();
  make_groups();
}

Sites::StoreFacts Sites::facts_of(const StoreSite& store) const {
  StoreFacts facts;
  bool accepts_anything = false;
  for (std::size_t c = 0; c < store.addresses.size(); ++c) {
    const std::int64_t address = store.addresses[c];
    if (address == kForbidden) continue;
    const ValueId wanted =
        address == kNotStored
            ? kUndefined
            : wanted_[static_cast<std::size_t>(store.array.number)][static_cast<std::size_t>(address)];
    if (wanted == kUndefined) accepts_anything = true;
    facts.target |= signature(wanted);
    facts.placements.push_back({wanted, static_cast<std::uint32_t>(c)});
  }
  std::ranges::sort(facts.placements);
  if (accepts_anything) facts = {kAnyValue, {}};
  return facts;
}

void Sites::list_sites() {
  for (std::uint32_t s = 0; s < graph_.stores.size(); ++s) sites_.push_back({SiteKind::store, s});
  for (std::uint32_t p = 0; p < graph_.pools.size(); ++p) {
    for (std::uint32_t s = 0; s < graph_.pools[p].suppliers.size(); ++s) {
      sites_.push_back({SiteKind::supplier, p, {s}});
    }
    for (auto& cluster : suppliers_.clusters(p)) {
      sites_.push_back({SiteKind::cluster, p, std::move(cluster)});
    }
  }
  for (std::uint32_t s = 0; s < graph_.presents.size(); ++s) sites_.push_back({SiteKind::present, s});
  faro::detail::SplitMix64 random(kSeed);
  for (std::size_t k = sites_.size(); k > 1; --k) std::swap(sites_[k - 1], sites_[random.next() % k]);
}

HoleMask Sites::holes_of(const Site& site) const {
  HoleMask holes = 0;
  if (site.kind == SiteKind::store) {
    const StoreSite& store = graph_.stores[site.index];
    holes = ways_.holes(store.node);
    for (const HoleCell& cell : store.address.cells) holes |= mask_of(cell.hole);
  } else if (site.kind == SiteKind::present) {
    for (const NodeId node : graph_.presents[site.index].held) holes |= ways_.holes(node);
  } else {
    for (const std::uint32_t s : site.suppliers) holes |= suppliers_.holes_of_term(site.index, s);
  }
  return holes;
}

std::vector<int> Sites::holes_in(HoleMask mask) const {
  std::vector<int> holes;
  for (int h = 0; h < domains_.holes(); ++h) {
    if ((mask & mask_of(h)) != 0) holes.push_back(h);
  }
  return holes;
}

// Clusters come first, so that suppliers know theirs.
void Sites::make_groups() {
  std::map<GroupKey, std::size_t> numbers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> cluster_of;  // pool, supplier
  for (const bool clusters : {true, false}) {
    for (std::uint32_t s = 0; s < sites_.size(); ++s) {
      if ((sites_[s].kind == SiteKind::cluster) == clusters) add_to_group(s, numbers, cluster_of);
    }
  }
  groups_of_hole_.resize(static_cast<std::size_t>(domains_.holes()));
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    for (const int hole : groups_[g].holes) groups_of_hole_[static_cast<std::size_t>(hole)].push_back(g);
  }
}

void Sites::add_to_group(std::uint32_t number, std::map<GroupKey, std::size_t>& numbers,
                         std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& cluster_of) {
  const Site& site = sites_[number];
  const HoleMask holes = holes_of(site);
  HoleMask guards = 0;
  for (const std::uint32_t s : site.suppliers) guards |= suppliers_.holes_of_guards(site.index, s);
  std::size_t cluster = kNone;
  if (site.kind == SiteKind::supplier) {
    const auto known = cluster_of.find({site.index, site.suppliers.front()});
    if (known != cluster_of.end()) cluster = known->second + 1;
  }
  const auto [known, fresh] = numbers.try_emplace({site.kind, holes, guards, cluster}, groups_.size());
  if (fresh) {
    groups_.push_back({.kind = site.kind,
                       .parts = {},
                       .holes = holes_in(holes | guards),
                       .sites = {},
                       .cluster = cluster == kNone ? 0 : cluster - 1,
                       .has_cluster = cluster != kNone});
  }
  SiteGroup& group = groups_[known->second];
  group.sites.push_back(number);
  const auto add_part = [&](HoleMask part) {
    std::vector<int> decides = holes_in(part);
    if (std::ranges::find(group.parts, decides) == group.parts.end())
      group.parts.push_back(std::move(decides));
  };
  if (site.kind != SiteKind::cluster) return add_part(holes);
  for (const std::uint32_t s : site.suppliers) {
    add_part(suppliers_.holes_of_term(site.index, s));
    cluster_of.emplace(std::pair(site.index, s), known->second);
  }
}

double Sites::ways(const SiteGroup& group) const {
  double most = 1;
  for (const std::vector<int>& part : group.parts) {
    double product = 1;
    for (const int hole : part) {
      product *=
          std::min(static_cast<double>(domains_.size(hole)), most_values_[static_cast<std::size_t>(hole)]);
    }
    most = std::max(most, product);
  }
  return most;
}

Verdict Sites::visit(std::uint32_t number, std::size_t most_steps) {
  if (++visits_ % kVisitsPerTick == 0) tick_();
  const Site& site = sites_[number];
  switch (site.kind) {
    case SiteKind::store:
      return visit_store(site.index, most_steps);
    case SiteKind::supplier:
      return suppliers_.visit(site.index, site.suppliers.front(), most_steps);
    case SiteKind::cluster:
      return suppliers_.visit_cluster(site.index, site.suppliers, most_steps);
    case SiteKind::present:
      return visit_present(graph_.presents[site.index], most_steps);
  }
  return Verdict::quiet;
}

Verdict Sites::check_pool(std::size_t pool) {
  tick_();
  return suppliers_.check_pool(pool);
}

// Every way to put the value at an address that wants it.
template <typename Found>
bool Sites::place_value(const StoreSite& store, const StoreFacts& facts, ValueId value, const Found& found) {
  if (!facts.placements.empty() && store.address.cells.size() == 1 &&
      ways_.is_open(store.address.cells.front())) {
    const auto first = std::ranges::lower_bound(facts.placements, value, {}, &Placement::value);
    const auto last = std::ranges::upper_bound(facts.placements, value, {}, &Placement::value);
    ways_.through_values(
        store.address.cells.front(), std::span<const Placement>(first, last),
        [](const Placement& placement) { return placement.combination; }, found);
    return true;
  }
  return ways_.through(store.address, [&](std::size_t combination) {
    const std::int64_t address = store.addresses[combination];
    if (address == kForbidden) return true;
    if (address != kNotStored) {
      const ValueId here =
          wanted_[static_cast<std::size_t>(store.array.number)][static_cast<std::size_t>(address)];
      if (here == kUndefined ? value == kUndefined : here != value) return true;
    }
    found();
    return true;
  });
}

Verdict Sites::visit_store(std::size_t number, std::size_t most_steps) {
  ways_.begin(most_steps);
  const StoreSite& store = graph_.stores[number];
  const StoreFacts& facts = stores_[number];
  const bool finished = ways_.through(store.node, facts.target, [&](ValueId value) {
    return place_value(store, facts, value, [&] { ways_.keep(); });
  });
  return finished ? ways_.restrict_kept() : Verdict::gave_up;
}

Verdict Sites::visit_present(const PresentSite& present, std::size_t most_steps) {
  std::vector<bool> found(present.wanted.size(), false);
  for (const NodeId node : present.held) {
    ways_.begin(most_steps);
    const bool finished = ways_.through(node, kAnyValue, [&](ValueId value) {
      const auto place = std::ranges::lower_bound(present.wanted, value);
      if (place != present.wanted.end() && *place == value) {
        found[static_cast<std::size_t>(place - present.wanted.begin())] = true;
      }
      return true;
    });
    if (!finished) return Verdict::gave_up;
  }
  return std::ranges::find(found, false) == found.end() ? Verdict::quiet : Verdict::contradiction;
}

}  // namespace faro::swizzle::detail
