#include "swizzle/constraints.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "faro/error.hpp"
#include "faro/permutation/split_mix.hpp"
#include "swizzle/hash_slots.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::uint32_t kVisitsPerTick = 64;
constexpr std::size_t kNone = 0;  // no cluster; else its group and one

}  // namespace

Constraints::Constraints(const ConstraintModel& model, const Specification& specification, Domains& domains,
                         std::function<void()> tick)
    : model_(model),
      domains_(domains),
      tick_(std::move(tick)),
      supports_(model, domains),
      sum_propagator_(model, specification, domains, supports_) {
  const std::span<const ArrayDeclaration> arrays = specification.arrays();
  wanted_.resize(arrays.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (arrays[a].kind != ArrayKind::output) continue;
    for (std::int64_t i = 0; i < arrays[a].size; ++i) {
      wanted_[a].push_back(specification.wanted(Array{static_cast<int>(a)}, i));
    }
  }
  for (const StoreConstraint& store : model.stores) stores_.push_back(facts_of(store));
  for (const auto& cells : model.domains) {
    std::size_t most = 1;
    for (const auto& values : cells) most = std::max(most, values.size());
    most_values_.push_back(static_cast<double>(most));
  }
  list_constraints();
  make_groups();
}

Constraints::StoreFacts Constraints::facts_of(const StoreConstraint& store) const {
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

void Constraints::list_constraints() {
  for (std::uint32_t s = 0; s < model_.stores.size(); ++s) constraints_.push_back({ConstraintKind::store, s});
  for (std::uint32_t p = 0; p < model_.sum_groups.size(); ++p) {
    for (std::uint32_t s = 0; s < model_.sum_groups[p].term_variables.size(); ++s) {
      constraints_.push_back({ConstraintKind::term, p, {s}});
    }
    for (auto& cluster : sum_propagator_.clusters(p)) {
      constraints_.push_back({ConstraintKind::cluster, p, std::move(cluster)});
    }
  }
  for (std::uint32_t s = 0; s < model_.presents.size(); ++s)
    constraints_.push_back({ConstraintKind::present, s});
  faro::detail::SplitMix64 random(kSeed);
  for (std::size_t k = constraints_.size(); k > 1; --k)
    std::swap(constraints_[k - 1], constraints_[random.next() % k]);
}

HoleMask Constraints::holes_of(const Constraint& constraint) const {
  HoleMask holes = 0;
  if (constraint.kind == ConstraintKind::store) {
    const StoreConstraint& store = model_.stores[constraint.index];
    holes = supports_.holes(store.node);
    for (const Variable& cell : store.address.variables) holes |= mask_of(cell.hole);
  } else if (constraint.kind == ConstraintKind::present) {
    for (const NodeId node : model_.presents[constraint.index].held) holes |= supports_.holes(node);
  } else {
    for (const std::uint32_t s : constraint.term_variables)
      holes |= sum_propagator_.holes_of_term(constraint.index, s);
  }
  return holes;
}

std::vector<int> Constraints::holes_in(HoleMask mask) const {
  std::vector<int> holes;
  for (int h = 0; h < domains_.holes(); ++h) {
    if ((mask & mask_of(h)) != 0) holes.push_back(h);
  }
  return holes;
}

// Clusters come first, so that terms know theirs.
void Constraints::make_groups() {
  std::map<GroupKey, std::size_t> numbers;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> cluster_of;  // group of sums, term
  for (const bool clusters : {true, false}) {
    for (std::uint32_t s = 0; s < constraints_.size(); ++s) {
      if ((constraints_[s].kind == ConstraintKind::cluster) == clusters) add_to_group(s, numbers, cluster_of);
    }
  }
  groups_of_hole_.resize(static_cast<std::size_t>(domains_.holes()));
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    for (const int hole : groups_[g].holes) groups_of_hole_[static_cast<std::size_t>(hole)].push_back(g);
  }
}

void Constraints::add_to_group(std::uint32_t number, std::map<GroupKey, std::size_t>& numbers,
                               std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& cluster_of) {
  const Constraint& constraint = constraints_[number];
  const HoleMask holes = holes_of(constraint);
  HoleMask guards = 0;
  for (const std::uint32_t s : constraint.term_variables)
    guards |= sum_propagator_.holes_of_guards(constraint.index, s);
  std::size_t cluster = kNone;
  if (constraint.kind == ConstraintKind::term) {
    const auto known = cluster_of.find({constraint.index, constraint.term_variables.front()});
    if (known != cluster_of.end()) cluster = known->second + 1;
  }
  const auto [known, fresh] = numbers.try_emplace({constraint.kind, holes, guards, cluster}, groups_.size());
  if (fresh) {
    groups_.push_back({.kind = constraint.kind,
                       .parts = {},
                       .holes = holes_in(holes | guards),
                       .constraints = {},
                       .cluster = cluster == kNone ? 0 : cluster - 1,
                       .has_cluster = cluster != kNone});
  }
  ConstraintGroup& group = groups_[known->second];
  group.constraints.push_back(number);
  const auto add_part = [&](HoleMask part) {
    std::vector<int> decides = holes_in(part);
    if (std::ranges::find(group.parts, decides) == group.parts.end())
      group.parts.push_back(std::move(decides));
  };
  if (constraint.kind != ConstraintKind::cluster) return add_part(holes);
  for (const std::uint32_t s : constraint.term_variables) {
    add_part(sum_propagator_.holes_of_term(constraint.index, s));
    cluster_of.emplace(std::pair(constraint.index, s), known->second);
  }
}

double Constraints::ways(const ConstraintGroup& group) const {
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

Filtering Constraints::visit(std::uint32_t number, std::size_t most_steps) {
  if (++visits_ % kVisitsPerTick == 0) tick_();
  const Constraint& constraint = constraints_[number];
  switch (constraint.kind) {
    case ConstraintKind::store:
      return visit_store(constraint.index, most_steps);
    case ConstraintKind::term:
      return sum_propagator_.visit(constraint.index, constraint.term_variables.front(), most_steps);
    case ConstraintKind::cluster:
      return sum_propagator_.visit_cluster(constraint.index, constraint.term_variables, most_steps);
    case ConstraintKind::present:
      return visit_present(model_.presents[constraint.index], most_steps);
  }
  return Filtering::unchanged;
}

Filtering Constraints::check_sum_group(std::size_t sum_group) {
  tick_();
  return sum_propagator_.check_sum_group(sum_group);
}

// Every assignment that puts the value at an address that wants it.
template <typename Found>
bool Constraints::place_value(const StoreConstraint& store, const StoreFacts& facts, ValueId value,
                              const Found& found) {
  if (!facts.placements.empty() && store.address.variables.size() == 1 &&
      supports_.is_open(store.address.variables.front())) {
    const auto first = std::ranges::lower_bound(facts.placements, value, {}, &Placement::value);
    const auto last = std::ranges::upper_bound(facts.placements, value, {}, &Placement::value);
    supports_.through_values(
        store.address.variables.front(), std::span<const Placement>(first, last),
        [](const Placement& placement) { return placement.combination; }, found);
    return true;
  }
  return supports_.through(store.address, [&](std::size_t combination) {
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

Filtering Constraints::visit_store(std::size_t number, std::size_t most_steps) {
  supports_.begin(most_steps);
  const StoreConstraint& store = model_.stores[number];
  const StoreFacts& facts = stores_[number];
  const bool finished = supports_.through(store.node, facts.target, [&](ValueId value) {
    return place_value(store, facts, value, [&] { supports_.keep(); });
  });
  return finished ? supports_.restrict_kept() : Filtering::gave_up;
}

Filtering Constraints::visit_present(const PresenceConstraint& present, std::size_t most_steps) {
  std::vector<bool> found(present.wanted.size(), false);
  for (const NodeId node : present.held) {
    supports_.begin(most_steps);
    const bool finished = supports_.through(node, kAnyValue, [&](ValueId value) {
      const auto place = std::ranges::lower_bound(present.wanted, value);
      if (place != present.wanted.end() && *place == value) {
        found[static_cast<std::size_t>(place - present.wanted.begin())] = true;
      }
      return true;
    });
    if (!finished) return Filtering::gave_up;
  }
  return std::ranges::find(found, false) == found.end() ? Filtering::unchanged : Filtering::contradiction;
}

}  // namespace faro::swizzle::detail
