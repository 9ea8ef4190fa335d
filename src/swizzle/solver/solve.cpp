#include "swizzle/solver/solve.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "swizzle/choice_nodes.hpp"
#include "swizzle/solver/live_statements.hpp"

namespace faro::swizzle::detail {
namespace {

// Clauses of sites that join at once: as many as there are, and at least so many.
constexpr std::size_t kLeastBatch = 32;
constexpr std::uint64_t kMostLiterals = 400'000'000;
constexpr std::size_t kManyConditions = 8;

class Solve {
 public:
  Solve(const ChoiceGraph& graph, const Specification& specification, std::span<const FunctionSet> families,
        const SearchHooks& hooks)
      : graph_(graph),
        specification_(specification),
        families_(families),
        hooks_(hooks),
        formula_(graph, families, sat_),
        sites_(graph, specification, formula_, sat_),
        live_statements_(graph),
        is_demanded_(sites_.size(), false) {
    result_.facts.name = solver_name();
  }

  SolverResult result(SolveUntil until) {
    result_.facts.is_least_only = until == SolveUntil::least;
    result_.searched.finished = find_least() && (result_.facts.is_least_only || find_rest());
    result_.facts.sites = static_cast<std::uint64_t>(std::ranges::count(is_demanded_, true));
    result_.facts.all_sites = sites_.size();
    result_.facts.variables = sat_.count_variables();
    result_.facts.clauses = sat_.count_clauses();
    return result_;
  }

 private:
  // False: cut off.
  bool find_least() {
    more_than_ = live_statements_.counted(families_, formula_, sat_);
    std::vector<Literal> bound;
    for (;;) {
      const Answer answer = next(bound);
      if (answer == Answer::unknown) return false;
      if (answer == Answer::unsatisfiable) break;
      least_ = least_ ? std::min(*least_, live_) : live_;
      if (!is_taken_) return false;
      if (*least_ == 0) break;
      bound = {-more_than_[*least_ - 1]};
    }
    if (least_) result_.facts.least_live_accumulates = *least_;
    return true;
  }

  bool find_rest() {
    if (!least_) return true;
    if (*least_ == more_than_.size()) return exhaust({});
    return exhaust({-more_than_[*least_]}) && exhaust({});
  }

  // All others within the bound. False: cut off.
  bool exhaust(const std::vector<Literal>& bound) {
    for (;;) {
      const Answer answer = next(bound);
      if (answer == Answer::unsatisfiable) return true;
      if (answer == Answer::unknown || !is_taken_) return false;
    }
  }

  /// The next solution, handed on and blocked.
  Answer next(const std::vector<Literal>& bound) {
    for (;;) {
      const Answer answer = sat_.solve(bound, [this] { return hooks_.goes_on(0); });
      if (answer != Answer::satisfiable) return answer;
      ++result_.searched.candidates;
      const std::vector<std::size_t> chosen = formula_.chosen();
      std::vector<std::size_t> functions;
      for (std::size_t h = 0; h < chosen.size(); ++h)
        functions.push_back(formula_.distinct(static_cast<int>(h))[chosen[h]]);
      Candidate candidate(graph_, families_, functions);
      if (!refine(candidate)) {
        if (!hooks_.goes_on(0)) return Answer::unknown;
        continue;
      }
      FARO_CHECK(meets(graph_, specification_, families_, functions));
      live_ = live_statements_.count(candidate);
      formula_.block(chosen);
      is_taken_ = hooks_.found(functions);
      return answer;
    }
  }

  /// Whether all sites are met; if not, some that are not join the formula.
  bool refine(Candidate& candidate) {
    bool is_met = true;
    std::size_t room = std::max(kLeastBatch, demanded_);
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      if (is_demanded_[s] || sites_.is_met(s, candidate)) continue;
      const std::size_t weight = sites_.weight(s);
      if (!is_met && weight > room) continue;
      sites_.demand(s);
      is_demanded_[s] = true;
      is_met = false;
      demanded_ += weight;
      room -= std::min(room, weight);
      if (sat_.count_literals() > kMostLiterals)
        cut_off_choices(Limit::size,
                        "the formula has more than " + std::to_string(kMostLiterals) + " literals");
      if (room == 0) break;
    }
    return is_met;
  }

  const ChoiceGraph& graph_;
  const Specification& specification_;
  std::span<const FunctionSet> families_;
  const SearchHooks& hooks_;
  Sat sat_;
  ChoiceFormula formula_;
  FormulaSites sites_;
  LiveStatements live_statements_;
  std::vector<Literal> more_than_;
  std::vector<bool> is_demanded_;
  std::size_t demanded_ = 0;  // weight
  std::optional<std::size_t> least_;
  std::size_t live_ = 0;  // of the last solution
  bool is_taken_ = true;  // and more are wanted
  SolverResult result_;
};

}  // namespace

SolverResult solve(const ChoiceGraph& graph, const Specification& specification,
                   std::span<const FunctionSet> families, SolveUntil until, const SearchHooks& hooks) {
  for (std::size_t h = 0; h < families.size(); ++h) {
    if (families[h].size() != 0) continue;
    SolverResult none;
    none.facts.name = solver_name();
    return none;
  }
  return Solve(graph, specification, families, hooks).result(until);
}

bool has_many_conditions(const ChoiceGraph& graph) {
  std::set<int> statements;
  for (const Pool& pool : graph.pools)
    for (const SumSite& sum : pool.sums)
      for (const Slot& slot : sum.slots)
        if (!slot.guard.cells.empty()) statements.insert(slot.statement);
  return statements.size() >= kManyConditions;
}

}  // namespace faro::swizzle::detail
