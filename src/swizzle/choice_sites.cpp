#include "swizzle/choice_sites.hpp"

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/pools.hpp"

namespace faro::swizzle::detail {

ChoiceSites::ChoiceSites(const Specification& specification, const Program& program, ChoiceNodes& nodes,
                         ChoiceGraph& graph)
    : specification_(specification), program_(program), nodes_(nodes), graph_(graph) {
  for (const auto& array : program.arrays())
    owners_.emplace_back(array.kind == ArrayKind::output ? static_cast<std::size_t>(array.size) : 0);
}

NodeId ChoiceSites::add_sum(EvaluatedSum sum) {
  sums_.push_back(std::move(sum));
  return kFirstSum + static_cast<NodeId>(sums_.size() - 1);
}

ChoiceSites::Owner& ChoiceSites::claim(const StoreOrder& where, Array array, std::int64_t address,
                                       bool decided) {
  Owner& owner = owners_[static_cast<std::size_t>(array.number)][static_cast<std::size_t>(address)];
  const bool another = owner.where.statement >= 0 && owner.where.statement != where.statement;
  if (another && (decided || owner.decided))
    refuse_sketch("element " + std::to_string(address) + " of `" +
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

void ChoiceSites::store_at(const StoreOrder& where, Array array, std::int64_t address, NodeId content) {
  Owner& owner = claim(where, array, address, false);
  owner.pending.push_back(pending_.size());
  pending_.push_back({.array = array, .address = address, .content = content, .overwritten = false});
}

void ChoiceSites::store_decided(const StoreOrder& where, Array array, NodeId node, const Decision& decision,
                                std::vector<std::int64_t> addresses) {
  const bool is_input = nodes_.is_value(node);
  for (std::int64_t& address : addresses) {
    if (address < 0) continue;
    claim(where, array, address, true);
    const ValueId wanted = specification_.wanted(array, address);
    // A known value in a wrong place is forbidden at once.
    if (is_input && wanted != kUndefined && wanted != graph_.nodes[node].value) address = kForbidden;
  }
  graph_.stores.push_back({.node = node == kNoNode ? nodes_.value(kUndefined) : node,
                           .array = array,
                           .address = decision,
                           .addresses = std::move(addresses)});
}

void ChoiceSites::forbid(const Decision& decision, const std::vector<bool>& forbidden) {
  if (std::none_of(forbidden.begin(), forbidden.end(), [](bool f) { return f; })) return;
  std::vector<std::int64_t> addresses;
  addresses.reserve(forbidden.size());
  for (const bool f : forbidden) addresses.push_back(f ? kForbidden : kNotStored);
  graph_.stores.push_back({.node = nodes_.value(kUndefined),
                           .array = {},
                           .address = decision,
                           .addresses = std::move(addresses)});
}

void ChoiceSites::present(std::vector<ValueId> wanted, std::vector<NodeId> held) {
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  if (!held.empty() && held.back() == kNoNode) held.pop_back();
  graph_.presents.push_back({.wanted = std::move(wanted), .held = std::move(held)});
}

void ChoiceSites::finish(const Pending& store) {
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
    if (wanted != kUndefined && wanted != graph_.nodes[store.content].value) forbid({}, {true});
    return;
  }
  if (wanted == kUndefined && !nodes_.can_be_undefined(store.content)) return;
  graph_.stores.push_back(
      {.node = store.content, .array = store.array, .address = {}, .addresses = {store.address}});
}

void ChoiceSites::finish() {
  for (const Pending& store : pending_) finish(store);
  for (auto& [lane, sums] : sums_of_lanes_) {
    auto pools = make_pools(std::move(sums), specification_.values());
    std::move(pools.begin(), pools.end(), std::back_inserter(graph_.pools));
  }
  const std::vector<bool> compared = compared_outputs(program_);
  for (std::size_t number = 0; number < owners_.size(); ++number) {
    auto& uncovered = graph_.uncovered.emplace_back();
    if (!compared[number]) continue;
    const auto& owners = owners_[number];
    const Array array{.number = static_cast<int>(number)};
    std::vector<bool> open(owners.size(), false);
    for (std::size_t i = 0; i < owners.size(); ++i) {
      if (specification_.wanted(array, static_cast<std::int64_t>(i)) == kUndefined) continue;
      open[i] = owners[i].pending.empty();
      if (owners[i].where.statement < 0) forbid({}, {true});  // nobody ever stores it
    }
    if (std::find(open.begin(), open.end(), true) != open.end()) uncovered = std::move(open);
  }
}

}  // namespace faro::swizzle::detail
