#include "swizzle_solver/model_formula.hpp"

#include <algorithm>

#include "faro/error.hpp"
#include "swizzle/function_builder.hpp"

namespace faro::swizzle::detail {
namespace {

// Of more functions, tables are put together from rows.
constexpr std::size_t kMostWithoutRows = 256;

std::size_t value_number(const std::vector<std::int32_t>& values, std::int32_t value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin());
}

}  // namespace

ModelFormula::ModelFormula(const ConstraintModel& model, std::span<const FunctionSet> families, Sat& sat)
    : model_(model), sat_(sat) {
  for (std::size_t h = 0; h < families.size(); ++h) {
    Hole hole;
    hole.family = &families[h];
    hole.distinct = families[h].distinct_on(model.read_cells[h]);
    FARO_CHECK(!hole.distinct.empty());
    const HoleDeclaration& declared = families[h].hole();
    if (!declared.arguments.empty()) hole.row_length = declared.arguments.front().asked;
    hole.has_rows = hole.distinct.size() > kMostWithoutRows && families[h].cells() > hole.row_length;
    if (hole.distinct.size() > 1) {
      hole.first_function = sat.variables(hole.distinct.size());
      std::vector<Literal> any;
      for (std::size_t f = 0; f < hole.distinct.size(); ++f) any.push_back(hole.function(f));
      sat.clause(any);
    }
    holes_.push_back(std::move(hole));
  }
}

void ModelFormula::lead(std::size_t count, Literal first, std::span<const Literal> to, const auto& to_of) {
  std::vector<std::vector<Literal>> from(to.size());
  for (std::size_t k = 0; k < count; ++k) {
    const Literal literal = first == 0 ? Sat::yes() : first + static_cast<Literal>(k);
    const std::size_t target = to_of(k);
    sat_.clause({-literal, to[target]});
    from[target].push_back(literal);
  }
  for (std::size_t v = 0; v < to.size(); ++v) {
    from[v].push_back(-to[v]);
    sat_.clause(from[v]);
  }
}

const ModelFormula::Column& ModelFormula::column(int which, std::int64_t number) {
  Hole& hole = holes_[static_cast<std::size_t>(which)];
  const auto [known, fresh] = hole.columns.try_emplace(number);
  Column& column = known->second;
  if (!fresh) return column;
  std::vector<std::int64_t> cells;
  for (const std::int64_t cell : model_.read_cells[static_cast<std::size_t>(which)])
    if (cell / hole.row_length == number) cells.push_back(cell);
  const auto same = [&](std::size_t f, std::size_t g) {
    return std::ranges::all_of(
        cells, [&](std::int64_t cell) { return hole.family->at(f, cell) == hole.family->at(g, cell); });
  };
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_hash;
  for (const std::size_t f : hole.distinct) {
    std::uint64_t hash = 0;
    for (const std::int64_t cell : cells)
      hash = mixed(hash ^ static_cast<std::uint32_t>(hole.family->at(f, cell)));
    std::vector<std::uint32_t>& rows = by_hash[hash];
    const auto row =
        std::ranges::find_if(rows, [&](std::uint32_t r) { return same(f, column.representatives[r]); });
    if (row != rows.end()) {
      column.row_of.push_back(*row);
      continue;
    }
    const auto next = static_cast<std::uint32_t>(column.representatives.size());
    rows.push_back(next);
    column.row_of.push_back(next);
    column.representatives.push_back(f);
  }
  column.first_row = sat_.variables(column.representatives.size());
  std::vector<Literal> rows;
  for (std::size_t r = 0; r < column.representatives.size(); ++r)
    rows.push_back(column.first_row + static_cast<Literal>(r));
  lead(hole.distinct.size(), hole.first_function, rows, [&](std::size_t f) { return column.row_of[f]; });
  return column;
}

const std::vector<Literal>& ModelFormula::cell(const Variable& which) {
  Hole& hole = holes_[static_cast<std::size_t>(which.hole)];
  const auto [known, fresh] = hole.cells.try_emplace(which.cell);
  std::vector<Literal>& literals = known->second;
  if (!fresh) return literals;
  const auto& values =
      model_.domains[static_cast<std::size_t>(which.hole)][static_cast<std::size_t>(which.cell)];
  if (values.size() == 1) {
    literals.push_back(Sat::yes());
    return literals;
  }
  if (values.size() == 2) {
    literals.push_back(sat_.variable());
    literals.push_back(-literals.front());
  } else {
    for (std::size_t v = 0; v < values.size(); ++v) literals.push_back(sat_.variable());
    exactly_one(sat_, literals);
  }
  const auto value_of = [&](std::size_t f) { return value_number(values, hole.family->at(f, which.cell)); };
  if (!hole.has_rows) {
    lead(hole.distinct.size(), hole.first_function, literals,
         [&](std::size_t f) { return value_of(hole.distinct[f]); });
  } else {
    const Column& rows = column(which.hole, which.cell / hole.row_length);
    lead(rows.representatives.size(), rows.first_row, literals,
         [&](std::size_t r) { return value_of(rows.representatives[r]); });
  }
  return literals;
}

Literal ModelFormula::all(std::span<const Literal> literals) {
  std::vector<Literal> each(literals.begin(), literals.end());
  std::ranges::sort(each);
  each.erase(std::unique(each.begin(), each.end()), each.end());
  std::erase(each, Sat::yes());
  if (std::ranges::find(each, Sat::no()) != each.end()) return Sat::no();
  if (each.empty()) return Sat::yes();
  for (const Literal part : each)
    if (std::ranges::binary_search(each, -part)) return Sat::no();
  if (each.size() == 1) return each.front();
  const auto [known, fresh] = conjunctions_.try_emplace(each, 0);
  if (!fresh) return known->second;
  const Literal literal = known->second = sat_.variable();
  std::vector<Literal> back{literal};
  for (const Literal part : each) {
    sat_.clause({-literal, part});
    back.push_back(-part);
  }
  sat_.clause(back);
  return literal;
}

Literal ModelFormula::any(std::span<const Literal> literals) {
  std::vector<Literal> none;
  for (const Literal literal : literals) none.push_back(-literal);
  return -all(none);
}

Literal ModelFormula::combination(const Scope& scope, std::size_t combination) {
  std::vector<Literal> parts;
  for (const Variable& which : scope.variables) {
    const std::vector<Literal>& values = cell(which);
    parts.push_back(values[combination % values.size()]);
    combination /= values.size();
  }
  return all(parts);
}

Literal ModelFormula::is(NodeId number, ValueId value) {
  if (number == kNoNode) return value == kUndefined ? Sat::yes() : Sat::no();
  const Node& node = model_.nodes[number];
  if (node.kind == NodeKind::value) return node.value == value ? Sat::yes() : Sat::no();
  const std::uint64_t key = std::uint64_t{number} << 32 | value;
  if (const auto known = nodes_.find(key); known != nodes_.end()) return known->second;
  std::vector<Literal> ways;
  std::vector<Literal> outcomes;
  for (std::size_t c = 0; c < node.outcomes.size(); ++c) {
    const Literal outcome = is(node.outcomes[c], value);
    if (outcome == Sat::no()) continue;
    ways.push_back(combination(node.scope, c));
    outcomes.push_back(outcome);
  }
  Literal literal = Sat::no();
  if (ways.size() == 1 && outcomes.front() == Sat::yes()) {
    literal = ways.front();
  } else if (!ways.empty()) {
    literal = sat_.variable();
    for (std::size_t c = 0; c < ways.size(); ++c) {
      sat_.clause({-ways[c], -outcomes[c], literal});
      sat_.clause({-ways[c], -literal, outcomes[c]});
    }
    ways.push_back(-literal);
    sat_.clause(ways);
  }
  nodes_.emplace(key, literal);
  return literal;
}

std::vector<std::size_t> ModelFormula::chosen() const {
  std::vector<std::size_t> chosen;
  for (const Hole& hole : holes_) {
    std::size_t f = 0;
    while (hole.first_function != 0 && !sat_.holds(hole.function(f))) ++f;
    FARO_CHECK(f < hole.distinct.size());
    chosen.push_back(f);
  }
  return chosen;
}

void ModelFormula::block(std::span<const std::size_t> chosen) {
  std::vector<Literal> others;
  for (std::size_t h = 0; h < holes_.size(); ++h) others.push_back(-holes_[h].function(chosen[h]));
  sat_.clause(others);
}

}  // namespace faro::swizzle::detail
