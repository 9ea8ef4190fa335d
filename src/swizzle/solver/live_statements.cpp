#include "swizzle/solver/live_statements.hpp"

#include <algorithm>

namespace faro::swizzle::detail {
namespace {

// Of more functions than this, cells say what is live.
constexpr std::size_t kMostFunctions = 4096;

}  // namespace

LiveStatements::LiveStatements(const ChoiceGraph& graph) : graph_(graph) {
  for (const Pool& pool : graph.pools)
    for (const SumSite& sum : pool.sums)
      for (const Slot& slot : sum.slots) slots_[slot.statement].push_back(&slot);
}

std::size_t LiveStatements::count(const Candidate& candidate) const {
  return static_cast<std::size_t>(std::ranges::count_if(slots_, [&](const auto& statement) {
    return std::ranges::any_of(statement.second, [&](const Slot* slot) { return candidate.is_live(*slot); });
  }));
}

int LiveStatements::only_hole(std::span<const Slot* const> slots) {
  int hole = -1;
  for (const Slot* slot : slots) {
    for (const HoleCell& cell : slot->guard.cells) {
      if (hole >= 0 && cell.hole != hole) return -1;
      hole = cell.hole;
    }
  }
  return hole;
}

std::vector<Literal> LiveStatements::counted(std::span<const FunctionSet> families, ChoiceFormula& formula,
                                             Sat& sat) const {
  std::vector<Literal> live;
  for (const auto& [statement, slots] : slots_) {
    live.push_back(sat.variable());
    const int hole = only_hole(slots);
    if (hole >= 0 && formula.distinct(hole).size() <= kMostFunctions) {
      // As functions: then the formula need not know the cells.
      std::vector<std::size_t> functions(families.size(), 0);
      for (std::size_t f = 0; f < formula.distinct(hole).size(); ++f) {
        functions[static_cast<std::size_t>(hole)] = formula.distinct(hole)[f];
        const Candidate candidate(graph_, families, functions);
        if (std::ranges::any_of(slots, [&](const Slot* slot) { return candidate.is_live(*slot); }))
          sat.clause({-formula.function(hole, f), live.back()});
      }
      continue;
    }
    for (const Slot* slot : slots)
      for (std::size_t c = 0; c < slot->holds.size(); ++c)
        if (slot->holds[c]) sat.clause({-formula.combination(slot->guard, c), live.back()});
  }
  return detail::counted(sat, live, live.size());
}

}  // namespace faro::swizzle::detail
