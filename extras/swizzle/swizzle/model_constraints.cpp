#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/model.hpp"
#include "swizzle/model_builder.hpp"

namespace faro::swizzle::detail {
namespace {

using Term = std::vector<NodeId>;

std::size_t representative(std::vector<std::size_t>& parents, std::size_t x) {
  while (parents[x] != x) x = parents[x] = parents[parents[x]];
  return x;
}

// Over all term variables, the slots in the sum where each has most.
std::size_t most_given(const SumGroup& sum_group) {
  std::vector<std::size_t> most(sum_group.term_variables.size(), 0);
  for (const SumConstraint& sum : sum_group.sums) {
    std::vector<std::size_t> slots(most.size(), 0);
    for (const Slot& slot : sum.slots) ++slots[slot.term_variable];
    for (std::size_t s = 0; s < most.size(); ++s) most[s] = std::max(most[s], slots[s]);
  }
  return std::accumulate(most.begin(), most.end(), std::size_t{0});
}

std::size_t most_wanted(const SumGroup& sum_group, const ValueTable& values) {
  std::map<std::vector<ValueId>, std::size_t> most;
  for (const SumConstraint& sum : sum_group.sums) {
    std::map<std::vector<ValueId>, std::size_t> times;
    for (const std::vector<ValueId>& term : values.terms_of(sum.wanted)) ++times[term];
    for (const auto& [term, count] : times) most[term] = std::max(most[term], count);
  }
  return std::accumulate(most.begin(), most.end(), std::size_t{0},
                         [](std::size_t sum, const auto& entry) { return sum + entry.second; });
}

bool is_exact(const SumGroup& sum_group, const ValueTable& values) {
  const auto can_be_met = [&](const SumConstraint& sum) { return is_sum_of(sum, values); };
  return std::ranges::all_of(sum_group.sums, can_be_met) &&
         most_given(sum_group) == most_wanted(sum_group, values);
}

}  // namespace

bool is_sum_of(const SumConstraint& constraint, const ValueTable& values) {
  return constraint.wanted != kUndefined && !values.is_input(constraint.wanted) &&
         values.accumulation_of(constraint.wanted) == constraint.accumulation;
}

std::vector<SumGroup> make_sum_groups(std::vector<SumConstraint> sums_of_lane, const ValueTable& values) {
  std::vector<std::size_t> parents(sums_of_lane.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  std::map<Term, std::size_t> first_sum;
  for (std::size_t s = 0; s < sums_of_lane.size(); ++s) {
    for (const Slot& slot : sums_of_lane[s].slots) {
      const auto [known, fresh] = first_sum.try_emplace(slot.term, s);
      if (fresh) continue;
      const std::size_t a = representative(parents, known->second);
      const std::size_t b = representative(parents, s);
      parents[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<SumGroup> sum_groups;
  std::map<std::size_t, std::size_t> pool_of;  // by representative
  std::vector<std::map<Term, std::uint32_t>> term_variables;
  for (std::size_t s = 0; s < sums_of_lane.size(); ++s) {
    const auto [known, fresh] = pool_of.try_emplace(representative(parents, s), sum_groups.size());
    if (fresh) {
      sum_groups.emplace_back();
      term_variables.emplace_back();
    }
    SumGroup& sum_group = sum_groups[known->second];
    std::map<Term, std::uint32_t>& numbers = term_variables[known->second];
    for (Slot& slot : sums_of_lane[s].slots) {
      const auto next = static_cast<std::uint32_t>(sum_group.term_variables.size());
      const auto [number, is_new] = numbers.try_emplace(slot.term, next);
      if (is_new) sum_group.term_variables.push_back(slot.term);
      slot.term_variable = number->second;
    }
    sum_group.sums.push_back(std::move(sums_of_lane[s]));
  }
  for (SumGroup& sum_group : sum_groups) sum_group.is_exact = is_exact(sum_group, values);
  return sum_groups;
}

ModelConstraints::ModelConstraints(const Specification& specification, const Program& program,
                                   ModelNodes& nodes, ConstraintModel& model)
    : specification_(specification), program_(program), nodes_(nodes), model_(model) {
  for (const auto& array : program.arrays())
    owners_.emplace_back(array.kind == ArrayKind::output ? static_cast<std::size_t>(array.size) : 0);
}

NodeId ModelConstraints::add_sum(EvaluatedSum sum) {
  sums_.push_back(std::move(sum));
  return kFirstSum + static_cast<NodeId>(sums_.size() - 1);
}

ModelConstraints::Owner& ModelConstraints::claim(const StoreOrder& where, Array array, std::int64_t address,
                                                 bool decided) {
  Owner& owner = owners_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(address)];
  const bool another = owner.where.statement >= 0 && owner.where.statement != where.statement;
  if (another && (decided || owner.decided))
    fail_sketch("element " + std::to_string(address) + " of `" +
                    program_.arrays()[static_cast<std::size_t>(array.number)].name +
                    "`, which two statements may store and a hole decides where",
                "stores whose elements are known, or that cannot meet");
  // Blocks are independent: none overwrites what another one stored, both must be right.
  if (another && owner.where.block == where.block) {
    for (const std::size_t earlier : owner.pending) pending_[earlier].overwritten = true;
    owner.pending.clear();
  }
  owner.where = where;
  owner.decided = decided;
  return owner;
}

void ModelConstraints::store_at(const StoreOrder& where, Array array, std::int64_t address, NodeId content) {
  Owner& owner = claim(where, array, address, false);
  owner.pending.push_back(pending_.size());
  pending_.push_back({.array = array, .address = address, .content = content, .overwritten = false});
}

void ModelConstraints::store_decided(const StoreOrder& where, Array array, NodeId node, const Scope& scope,
                                     std::vector<std::int64_t> addresses) {
  const bool is_input = nodes_.is_value(node);
  for (std::int64_t& address : addresses) {
    if (address < 0) continue;
    claim(where, array, address, true);
    const ValueId wanted = specification_.wanted(array, address);
    // A known value in a wrong place is forbidden at once.
    if (is_input && wanted != kUndefined && wanted != model_.nodes[node].value) address = kForbidden;
  }
  model_.stores.push_back({.node = node == kNoNode ? nodes_.value(kUndefined) : node,
                           .array = array,
                           .address = scope,
                           .addresses = std::move(addresses)});
}

void ModelConstraints::forbid(const Scope& scope, const std::vector<bool>& forbidden) {
  if (std::none_of(forbidden.begin(), forbidden.end(), [](bool f) { return f; })) return;
  std::vector<std::int64_t> addresses;
  addresses.reserve(forbidden.size());
  for (const bool f : forbidden) addresses.push_back(f ? kForbidden : kNotStored);
  model_.stores.push_back(
      {.node = nodes_.value(kUndefined), .array = {}, .address = scope, .addresses = std::move(addresses)});
}

void ModelConstraints::present(std::vector<ValueId> wanted, std::vector<NodeId> held) {
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  if (!held.empty() && held.back() == kNoNode) held.pop_back();
  model_.presents.push_back({.wanted = std::move(wanted), .held = std::move(held)});
}

void ModelConstraints::finish(const Pending& store) {
  if (store.overwritten) return;
  const ValueTable& values = specification_.values();
  const ValueId wanted = specification_.wanted(store.array, store.address);
  if (is_sum(store.content)) {
    const EvaluatedSum& sum = sums_[store.content - kFirstSum];
    if (wanted == kUndefined) return;
    if (values.is_input(wanted) || values.accumulation_of(wanted) != sum.accumulation)
      return forbid({}, {true});
    sums_of_lanes_[{sum.block, sum.warp, sum.lane}].push_back(
        {.accumulation = sum.accumulation, .wanted = wanted, .slots = sum.slots});
    return;
  }
  if (nodes_.is_value(store.content)) {
    if (wanted != kUndefined && wanted != model_.nodes[store.content].value) forbid({}, {true});
    return;
  }
  if (wanted == kUndefined && !nodes_.can_be_undefined(store.content)) return;
  model_.stores.push_back(
      {.node = store.content, .array = store.array, .address = {}, .addresses = {store.address}});
}

void ModelConstraints::finish() {
  for (const Pending& store : pending_) finish(store);
  for (auto& [lane, sums] : sums_of_lanes_) {
    auto sum_groups = make_sum_groups(std::move(sums), specification_.values());
    std::move(sum_groups.begin(), sum_groups.end(), std::back_inserter(model_.sum_groups));
  }
  const std::vector<bool> compared = compared_outputs(program_);
  for (std::size_t number = 0; number < owners_.size(); ++number) {
    auto& uncovered = model_.uncovered.emplace_back();
    if (!compared[number]) continue;
    const auto& owners = owners_[number];
    const Array array{.number = static_cast<int>(number)};
    std::vector<bool> open(owners.size(), false);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (specification_.wanted(array, static_cast<std::int64_t>(i)) == kUndefined) continue;
      open[i] = owners[i].pending.empty();
      if (owners[i].where.statement < 0) forbid({}, {true});  // no statement ever stores it
    }
    if (std::find(open.begin(), open.end(), true) != open.end()) uncovered = std::move(open);
  }
}

}  // namespace faro::swizzle::detail
