// A choice graph is what the executor makes of a sketch when its holes are variables.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>

#include "faro/swizzle/choices.hpp"
#include "swizzle/choice_nodes.hpp"
#include "swizzle/choice_sites.hpp"
#include "swizzle/executor.hpp"

namespace faro::swizzle {
namespace {

using detail::Decided;
using detail::is_sum;
using detail::refuse_sketch;

/// Expressions under all assignments of the variables that decide them.
struct DecidedRows {
  Decided decided;
  std::size_t size() const { return decided.values.size(); }
  bool is_known() const { return decided.is_known(); }
  const std::vector<std::int64_t>& operator[](std::size_t c) const { return decided.values[c]; }
  const Decision& scope() const { return decided.decision; }
};

/// The domain of choices: a register holds a node of the graph, an accumulator the slots of its sum.
class Choices : public detail::Unobserved {
 public:
  struct Element {
    NodeId node = kNoNode;
  };
  using Accumulator = std::vector<Slot>;
  using Scope = Decision;

  Choices(const Specification& specification, const Program& program, detail::ChoiceNodes& nodes,
          detail::ChoiceSites& sites)
      : specification_(specification), program_(program), nodes_(nodes), sites_(sites) {
    number_accumulates(program.statements());
  }

  static const char* remedy() { return "no function of the holes can avoid it: change the sketch"; }
  void begin(const Statement& statement, const Place& place) {
    statement_ = &statement;
    place_ = &place;
  }

  template <std::size_t N>
  DecidedRows rows(const Place& place, const std::array<const Index*, N>& indexes) {
    return {nodes_.decide(indexes, place)};
  }
  template <std::size_t N>
  DecidedRows guarded(const Place& place, const Index& when, const std::array<const Index*, N>& indexes) {
    std::array<const Index*, N + 1> all{&when};
    std::copy(indexes.begin(), indexes.end(), all.begin() + 1);
    return rows(place, all);
  }
  template <typename Outcome>
  Element choose(const DecidedRows& rows, const Outcome& outcome) {
    std::vector<NodeId> outcomes;
    for (std::size_t c = 0; c < rows.size(); ++c) outcomes.push_back(outcome(c).node);
    const bool one = std::ranges::all_of(outcomes, [&](NodeId o) { return o == outcomes.front(); });
    if (one) return {outcomes.front()};
    if (std::ranges::any_of(outcomes, is_sum))
      refuse_sketch("a choice among evaluated accumulators" + in_statement(),
                    "choices among elements that were moved only");
    return {nodes_.choice(rows.scope(), std::move(outcomes))};
  }
  void forbid(const Scope& scope, const std::vector<bool>& forbidden) { sites_.forbid(scope, forbidden); }

  static bool defined(Element element) { return element.node != kNoNode; }
  bool differ(Element a, Element b) const {
    if (a.node == b.node) return false;
    if (!nodes_.is_value(a.node) || !nodes_.is_value(b.node))
      refuse_sketch("two stores to one shared element between barriers", "one store between barriers");
    return true;
  }
  Element input(Array array, std::int64_t index) {
    return {nodes_.value(specification_.values().input(array.number, index))};
  }

  void append(const Accumulation& /*accumulation*/, Accumulator& slots, const DecidedRows& rows,
              const std::vector<Element>& term) {
    Slot slot;
    slot.statement = accumulates_.at(statement_);
    slot.guard = rows.scope();
    for (std::size_t c = 0; c < rows.size(); ++c) slot.holds.push_back(rows[c][0] != 0);
    for (const Element factor : term) {
      if (is_sum(factor.node))
        refuse_sketch("a sum of sums" + in_statement(), "sums of elements that were moved only");
      slot.term.push_back(factor.node == kNoNode ? nodes_.value(kUndefined) : factor.node);
    }
    std::sort(slot.term.begin(), slot.term.end());
    slots.push_back(std::move(slot));
  }
  /// A sum of known terms is a value; another one waits for its store.
  Element evaluate(const Accumulation& accumulation, const Accumulator& slots) {
    std::vector<std::vector<ValueId>> terms;
    bool undefined = false;
    for (const Slot& slot : slots) {
      const bool always = std::find(slot.holds.begin(), slot.holds.end(), false) == slot.holds.end();
      auto& term = terms.emplace_back();
      for (const NodeId factor : slot.term) {
        if (!always || !nodes_.is_value(factor))
          return {sites_.add_sum({.block = place_->block,
                                  .warp = place_->warp,
                                  .lane = place_->lane,
                                  .accumulation = accumulation,
                                  .slots = slots})};
        term.push_back(nodes_.value_of(factor));
        undefined = undefined || term.back() == kUndefined;
      }
    }
    if (undefined) return {};
    return {nodes_.value(specification_.values().sum(accumulation, std::move(terms)))};
  }

  const char* store(const detail::StoreOrder& order, Array array, const DecidedRows& rows, Element stored) {
    if (rows.is_known()) {
      sites_.store_at(order, array, rows[0][1], stored.node);
      return nullptr;
    }
    if (is_sum(stored.node))
      refuse_sketch("an accumulator stored where a hole decides" + in_statement(),
                    "accumulators stored at known elements");
    const std::int64_t size = program_.arrays()[static_cast<std::size_t>(array.number)].size;
    std::vector<std::int64_t> addresses;
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const bool inside = rows[c][1] >= 0 && rows[c][1] < size;
      addresses.push_back(rows[c][0] == 0 ? kNotStored : inside ? rows[c][1] : kForbidden);
    }
    sites_.store_decided(order, array, stored.node, rows.scope(), std::move(addresses));
    return nullptr;
  }

  void present(const PresentStatement& s, const std::vector<Element>& registers,
               const std::vector<std::int64_t>& addresses) {
    std::vector<ValueId> wanted;
    for (const std::int64_t address : addresses) {
      const auto inputs = specification_.values().inputs_of(specification_.wanted(s.output, address));
      wanted.insert(wanted.end(), inputs.begin(), inputs.end());
    }
    std::vector<NodeId> held;
    for (const Element element : registers)
      if (!is_sum(element.node)) held.push_back(element.node);
    sites_.present(std::move(wanted), std::move(held));
  }

 private:
  void number_accumulates(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
      if (std::holds_alternative<AccumulateStatement>(statement))
        accumulates_.emplace(&statement, static_cast<int>(accumulates_.size()));
      if (const auto* loop = std::get_if<LoopStatement>(&statement)) number_accumulates(loop->body);
    }
  }
  std::string in_statement() const { return ", in `" + statement_text(program_, *statement_) + "`"; }

  const Specification& specification_;
  const Program& program_;
  detail::ChoiceNodes& nodes_;
  detail::ChoiceSites& sites_;
  std::map<const Statement*, int> accumulates_;
  const Statement* statement_ = nullptr;  // that is executed
  const Place* place_ = nullptr;
};

}  // namespace

ChoiceGraph build_choices(const Specification& specification, const Program& program,
                          std::span<const FunctionSet> families, const ChoiceLimits& limits) {
  require_same_arrays(specification, program);
  check(program);
  FARO_CHECK(families.size() == program.holes().size());
  ChoiceGraph graph;
  detail::ChoiceNodes nodes(program, families, limits, graph);
  detail::ChoiceSites sites(specification, program, nodes, graph);
  Choices choices(specification, program, nodes, sites);
  detail::Executor(program, choices).run();
  sites.finish();
  return graph;
}

}  // namespace faro::swizzle
