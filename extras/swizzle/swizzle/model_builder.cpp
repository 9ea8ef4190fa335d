// A constraint model is what the executor makes of a sketch when its holes are variables.
#include "swizzle/model_builder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "faro/error.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/hash_slots.hpp"
#include "swizzle/model.hpp"

namespace faro::swizzle::detail {
namespace {

constexpr std::uint32_t kDecisionsPerCheck = 64;

bool has_hole(const Index& index) {
  if (index.kind() == IndexKind::hole) return true;
  return std::any_of(index.operands().begin(), index.operands().end(), has_hole);
}

}  // namespace

void cut_off_choices(Limit limit, const std::string& clause) {
  throw CutOff(limit, clause,
               {.code = ErrorCode::unsupported,
                .operation = "search the holes of a sketch",
                .got = "not finished: " + clause,
                .wanted = limit == Limit::time ? "an end within the time limit" : "fewer",
                .remedy = remedy_of(limit) + " or an easier space"});
}

ModelNodes::ModelNodes(const Program& program, std::span<const FunctionSet> families,
                       const ModelLimits& limits, ConstraintModel& model)
    : program_(program), families_(families), limits_(limits), model_(model) {
  for (const auto& hole : program.holes()) {
    model_.domains.emplace_back(static_cast<std::size_t>(cells(hole)));
    model_.read_cells.emplace_back();
  }
}

NodeId ModelNodes::add(Node node) {
  if (model_.nodes.size() >= limits_.most_nodes)
    cut_off_choices(Limit::size,
                    "the sketch has more than " + std::to_string(limits_.most_nodes) + " nodes of choice");
  const auto id = static_cast<NodeId>(model_.nodes.size());
  bool undefined = node.kind == NodeKind::value && node.value == kUndefined;
  for (const NodeId outcome : node.outcomes) undefined = undefined || can_be_undefined(outcome);
  undefined_.push_back(undefined);
  model_.nodes.push_back(std::move(node));
  return id;
}

bool ModelNodes::can_be_undefined(NodeId node) const { return node == kNoNode || undefined_[node]; }

NodeId ModelNodes::value(ValueId value) {
  const auto known = by_value_.find(value);
  if (known != by_value_.end()) return known->second;
  const NodeId id = add({.kind = NodeKind::value, .value = value, .scope = {}, .outcomes = {}});
  by_value_.emplace(value, id);
  return id;
}

NodeId ModelNodes::decision(const Scope& scope, std::vector<NodeId> outcomes) {
  if (std::all_of(outcomes.begin(), outcomes.end(), [&](NodeId o) { return o == outcomes.front(); }))
    return outcomes.front();
  std::uint64_t hash = outcomes.size();
  for (const Variable& cell : scope.variables)
    hash = mixed(mixed(hash, static_cast<std::uint64_t>(cell.hole)), static_cast<std::uint64_t>(cell.cell));
  for (const NodeId outcome : outcomes) hash = mixed(hash, outcome);
  auto& bucket = by_hash_[hash];
  for (const NodeId id : bucket) {
    const Node& other = model_.nodes[id];
    if (other.outcomes == outcomes && other.scope.variables == scope.variables) return id;
  }
  const NodeId id =
      add({.kind = NodeKind::decision, .value = kUndefined, .scope = scope, .outcomes = std::move(outcomes)});
  bucket.push_back(id);
  return id;
}

const std::vector<std::int32_t>& ModelNodes::values_at(const Variable& cell) {
  auto& values = model_.domains[static_cast<std::size_t>(cell.hole)][static_cast<std::size_t>(cell.cell)];
  if (values.empty()) {
    values = families_[static_cast<std::size_t>(cell.hole)].values_at(cell.cell);
    if (values.empty())
      fail_sketch(
          "hole `" + program_.holes()[static_cast<std::size_t>(cell.hole)].name + "`, whose family is empty",
          "families of at least one function");
    auto& read = model_.read_cells[static_cast<std::size_t>(cell.hole)];
    read.insert(std::lower_bound(read.begin(), read.end(), cell.cell), cell.cell);
  }
  return values;
}

void ModelNodes::check_time() {
  if (limits_.seconds <= 0 || ++decided_ % kDecisionsPerCheck != 0) return;
  if (clock_.seconds() > limits_.seconds)
    cut_off_choices(Limit::time, "the choices of the sketch were not all listed");
}

Evaluated ModelNodes::decide(std::span<const Index* const> expressions, const Place& place) {
  check_time();
  Evaluated decided;
  const auto evaluate_all = [&](const HoleReader& holes) {
    auto& row = decided.values.emplace_back();
    for (const Index* expression : expressions) row.push_back(evaluate(*expression, place, holes));
  };
  // Every cell that is read, also those with one value only, which decide nothing.
  std::vector<Variable> read;
  for (const Index* expression : expressions) {
    if (!has_hole(*expression)) continue;
    for (const HoleCall& call : hole_calls(*expression, place)) {
      const auto& declared = program_.holes()[static_cast<std::size_t>(call.hole)];
      const Variable which{.hole = call.hole, .cell = cell(declared, call.arguments)};
      if (std::find(read.begin(), read.end(), which) == read.end()) read.push_back(which);
    }
  }
  std::vector<const std::vector<std::int32_t>*> values;
  std::vector<std::size_t> chosen(read.size(), 0);
  std::uint64_t combinations = 1;
  for (const Variable& which : read) {
    values.push_back(&values_at(which));
    combinations *= values.back()->size();
    if (combinations > limits_.most_combinations)
      cut_off_choices(Limit::size, "an index is decided by " + std::to_string(read.size()) +
                                       " cells of holes in more than " +
                                       std::to_string(limits_.most_combinations) + " ways");
    if (values.back()->size() > 1) decided.scope.variables.push_back(which);
  }
  const HoleReader reader = [&](int hole, std::span<const std::int64_t> arguments) -> std::int64_t {
    const auto& declared = program_.holes()[static_cast<std::size_t>(hole)];
    const Variable which{.hole = hole, .cell = cell(declared, {arguments.begin(), arguments.end()})};
    const auto k = static_cast<std::size_t>(std::find(read.begin(), read.end(), which) - read.begin());
    return (*values[k])[chosen[k]];
  };
  decided.values.reserve(combinations);
  for (std::uint64_t combination = 0; combination < combinations; ++combination) {
    evaluate_all(reader);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (++chosen[k] < values[k]->size()) break;
      chosen[k] = 0;
    }
  }
  return decided;
}

}  // namespace faro::swizzle::detail

namespace faro::swizzle {
namespace {

using detail::Evaluated;
using detail::fail_sketch;
using detail::is_sum;

/// Expressions under all assignments of the variables that decide them.
struct ScopedRows {
  Evaluated decided;
  std::size_t size() const { return decided.values.size(); }
  bool is_known() const { return decided.is_known(); }
  const std::vector<std::int64_t>& operator[](std::size_t c) const { return decided.values[c]; }
  const Scope& scope() const { return decided.scope; }
};

/// The domain of holes that are variables: a register holds a node of the model, an accumulator the slots of
/// its sum.
class VariableHoles : public detail::Unobserved {
 public:
  struct Element {
    NodeId node = kNoNode;
  };
  using Accumulator = std::vector<Slot>;
  using Scope = swizzle::Scope;

  VariableHoles(const Specification& specification, const Program& program, detail::ModelNodes& nodes,
                detail::ModelConstraints& constraints)
      : specification_(specification), program_(program), nodes_(nodes), constraints_(constraints) {
    number_accumulates(program.statements());
  }

  [[noreturn]] static void fail_at(const std::string& statement, const std::string& place, std::string got,
                                   std::string wanted) {
    fail(ErrorCode::spec, "`" + statement + "` of " + place, std::move(got), std::move(wanted),
         "no function of the holes can avoid it: change the sketch");
  }
  void begin(const Statement& statement, const Place& place) {
    statement_ = &statement;
    place_ = &place;
  }

  template <std::size_t N>
  ScopedRows rows(const Place& place, const std::array<const Index*, N>& indexes) {
    return {nodes_.decide(indexes, place)};
  }
  template <std::size_t N>
  ScopedRows guarded(const Place& place, const Index& when, const std::array<const Index*, N>& indexes) {
    std::array<const Index*, N + 1> all{&when};
    std::copy(indexes.begin(), indexes.end(), all.begin() + 1);
    return rows(place, all);
  }
  template <typename Outcome>
  Element choose(const ScopedRows& rows, const Outcome& outcome) {
    std::vector<NodeId> outcomes;
    for (std::size_t c = 0; c < rows.size(); ++c) outcomes.push_back(outcome(c).node);
    const bool one = std::ranges::all_of(outcomes, [&](NodeId o) { return o == outcomes.front(); });
    if (one) return {outcomes.front()};
    if (std::ranges::any_of(outcomes, is_sum))
      fail_sketch("a choice among evaluated accumulators" + in_statement(),
                  "choices among elements that were moved only");
    const bool of_sums = std::ranges::any_of(outcomes, [this](NodeId o) { return known_sums_.contains(o); });
    const NodeId node = nodes_.decision(rows.scope(), std::move(outcomes));
    if (of_sums) known_sums_.insert(node);
    return {node};
  }
  void forbid(const Scope& scope, const std::vector<bool>& forbidden) {
    constraints_.forbid(scope, forbidden);
  }

  static bool defined(Element element) { return element.node != kNoNode; }
  bool differ(Element a, Element b) const {
    if (a.node == b.node) return false;
    if (!nodes_.is_value(a.node) || !nodes_.is_value(b.node))
      fail_sketch("two stores to one shared element between barriers", "one store between barriers");
    return true;
  }
  Element input(Array array, std::int64_t index) {
    return {nodes_.value(specification_.values().input(array.number, index))};
  }

  void append(const Accumulation& /*accumulation*/, Accumulator& slots, const ScopedRows& rows,
              const std::vector<Element>& term) {
    Slot slot;
    slot.statement = accumulates_.at(statement_);
    slot.guard = rows.scope();
    for (std::size_t c = 0; c < rows.size(); ++c) slot.holds.push_back(rows[c][0] != 0);
    for (const Element factor : term) {
      if (is_sum(factor.node))
        fail_sketch("a sum of sums" + in_statement(), "sums of elements that were moved only");
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
        if (always && nodes_.is_value(factor)) {
          term.push_back(nodes_.value_of(factor));
          undefined = undefined || term.back() == kUndefined;
          continue;
        }
        if (has_sums(slots))
          fail_sketch("a sum of sums" + in_statement(), "sums of elements that were moved only");
        return {constraints_.add_sum({.block = place_->block,
                                      .warp = place_->warp,
                                      .lane = place_->lane,
                                      .accumulation = accumulation,
                                      .slots = slots})};
      }
    }
    if (undefined) return {};
    const NodeId sum = nodes_.value(specification_.values().sum(accumulation, std::move(terms)));
    known_sums_.insert(sum);
    return {sum};
  }

  const char* store(const detail::StoreOrder& order, Array array, const ScopedRows& rows, Element stored) {
    if (rows.is_known()) {
      constraints_.store_at(order, array, rows[0][1], stored.node);
      return nullptr;
    }
    if (is_sum(stored.node))
      fail_sketch("an accumulator stored where a hole decides" + in_statement(),
                  "accumulators stored at known elements");
    const std::int64_t size = program_.arrays()[static_cast<std::size_t>(array.number)].size;
    std::vector<std::int64_t> addresses;
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const bool inside = rows[c][1] >= 0 && rows[c][1] < size;
      addresses.push_back(rows[c][0] == 0 ? kNotStored : inside ? rows[c][1] : kForbidden);
    }
    constraints_.store_decided(order, array, stored.node, rows.scope(), std::move(addresses));
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
    constraints_.present(std::move(wanted), std::move(held));
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
  bool has_sums(const Accumulator& slots) const {
    return std::ranges::any_of(slots, [this](const Slot& slot) {
      return std::ranges::any_of(slot.term, [this](NodeId n) { return known_sums_.contains(n); });
    });
  }

  const Specification& specification_;
  const Program& program_;
  std::set<NodeId> known_sums_;  // and choices among them
  detail::ModelNodes& nodes_;
  detail::ModelConstraints& constraints_;
  std::map<const Statement*, int> accumulates_;
  const Statement* statement_ = nullptr;  // that is executed
  const Place* place_ = nullptr;
};

}  // namespace

ConstraintModel build_model(const Specification& specification, const Program& program,
                            std::span<const FunctionSet> families, const ModelLimits& limits) {
  require_same_arrays(specification, program);
  check(program);
  FARO_CHECK(families.size() == program.holes().size());
  ConstraintModel model;
  detail::ModelNodes nodes(program, families, limits, model);
  detail::ModelConstraints constraints(specification, program, nodes, model);
  VariableHoles choices(specification, program, nodes, constraints);
  detail::Executor(program, choices).run();
  constraints.finish();
  return model;
}

}  // namespace faro::swizzle
