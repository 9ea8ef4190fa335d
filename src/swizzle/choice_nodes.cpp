#include "swizzle/choice_nodes.hpp"

#include <algorithm>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/executor.hpp"
#include "swizzle/hash_slots.hpp"

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

ChoiceNodes::ChoiceNodes(const Program& program, std::span<const FunctionSet> families,
                         const ChoiceLimits& limits, ChoiceGraph& graph)
    : program_(program), families_(families), limits_(limits), graph_(graph) {
  for (const auto& hole : program.holes()) {
    graph_.values_of.emplace_back(static_cast<std::size_t>(cells(hole)));
    graph_.read_cells.emplace_back();
  }
}

NodeId ChoiceNodes::add(Node node) {
  if (graph_.nodes.size() >= limits_.most_nodes)
    cut_off_choices(Limit::size,
                    "the sketch has more than " + std::to_string(limits_.most_nodes) + " nodes of choice");
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  bool undefined = node.kind == NodeKind::value && node.value == kUndefined;
  for (const NodeId outcome : node.outcomes) undefined = undefined || can_be_undefined(outcome);
  undefined_.push_back(undefined);
  graph_.nodes.push_back(std::move(node));
  return id;
}

bool ChoiceNodes::can_be_undefined(NodeId node) const { return node == kNoNode || undefined_[node]; }

NodeId ChoiceNodes::value(ValueId value) {
  const auto known = by_value_.find(value);
  if (known != by_value_.end()) return known->second;
  const NodeId id = add({.kind = NodeKind::value, .value = value, .decision = {}, .outcomes = {}});
  by_value_.emplace(value, id);
  return id;
}

NodeId ChoiceNodes::choice(const Decision& decision, std::vector<NodeId> outcomes) {
  if (std::all_of(outcomes.begin(), outcomes.end(), [&](NodeId o) { return o == outcomes.front(); }))
    return outcomes.front();
  std::uint64_t hash = outcomes.size();
  for (const HoleCell& cell : decision.cells)
    hash = mixed(mixed(hash, static_cast<std::uint64_t>(cell.hole)), static_cast<std::uint64_t>(cell.cell));
  for (const NodeId outcome : outcomes) hash = mixed(hash, outcome);
  auto& bucket = by_hash_[hash];
  for (const NodeId id : bucket) {
    const Node& other = graph_.nodes[id];
    if (other.outcomes == outcomes && other.decision.cells == decision.cells) return id;
  }
  const NodeId id = add(
      {.kind = NodeKind::choice, .value = kUndefined, .decision = decision, .outcomes = std::move(outcomes)});
  bucket.push_back(id);
  return id;
}

const std::vector<std::int32_t>& ChoiceNodes::values_at(const HoleCell& cell) {
  auto& values = graph_.values_of[static_cast<std::size_t>(cell.hole)][static_cast<std::size_t>(cell.cell)];
  if (values.empty()) {
    values = families_[static_cast<std::size_t>(cell.hole)].values_at(cell.cell);
    if (values.empty())
      refuse_sketch(
          "hole `" + program_.holes()[static_cast<std::size_t>(cell.hole)].name + "`, whose family is empty",
          "families of at least one function");
    auto& read = graph_.read_cells[static_cast<std::size_t>(cell.hole)];
    read.insert(std::lower_bound(read.begin(), read.end(), cell.cell), cell.cell);
  }
  return values;
}

void ChoiceNodes::check_time() {
  if (limits_.seconds <= 0 || ++decided_ % kDecisionsPerCheck != 0) return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  if (passed.count() > limits_.seconds)
    cut_off_choices(Limit::time, "the choices of the sketch were not all listed");
}

Decided ChoiceNodes::decide(std::span<const Index* const> expressions, const Place& place) {
  check_time();
  Decided decided;
  const auto evaluate_all = [&](const HoleReader& holes) {
    auto& row = decided.values.emplace_back();
    for (const Index* expression : expressions) row.push_back(evaluate(*expression, place, holes));
  };
  // Every cell that is read, also those with one value only, which decide nothing.
  std::vector<HoleCell> read;
  for (const Index* expression : expressions) {
    if (!has_hole(*expression)) continue;
    for (const HoleCall& call : hole_calls(*expression, place)) {
      const auto& declared = program_.holes()[static_cast<std::size_t>(call.hole)];
      const HoleCell which{.hole = call.hole, .cell = cell(declared, call.arguments)};
      if (std::find(read.begin(), read.end(), which) == read.end()) read.push_back(which);
    }
  }
  std::vector<const std::vector<std::int32_t>*> values;
  std::vector<std::size_t> chosen(read.size(), 0);
  std::uint64_t combinations = 1;
  for (const HoleCell& which : read) {
    values.push_back(&values_at(which));
    combinations *= values.back()->size();
    if (combinations > limits_.most_combinations)
      cut_off_choices(Limit::size, "an index is decided by " + std::to_string(read.size()) +
                                       " cells of holes in more than " +
                                       std::to_string(limits_.most_combinations) + " ways");
    if (values.back()->size() > 1) decided.decision.cells.push_back(which);
  }
  const HoleReader reader = [&](int hole, std::span<const std::int64_t> arguments) -> std::int64_t {
    const auto& declared = program_.holes()[static_cast<std::size_t>(hole)];
    const HoleCell which{.hole = hole, .cell = cell(declared, {arguments.begin(), arguments.end()})};
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
