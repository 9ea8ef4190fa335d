#include "swizzle_solver/solve.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "swizzle/model_builder.hpp"
#include "swizzle/search.hpp"
#include "swizzle_solver/formula_constraints.hpp"

namespace faro::swizzle::detail {
namespace {

// Clauses of constraints that join at once: as many as there are, and at least so many.
constexpr std::size_t kLeastBatch = 32;
constexpr std::uint64_t kMostLiterals = 400'000'000;

struct SolverResult {
  SearchResult searched;  // candidates: proposals
  SolverFacts facts;
};

class Solve {
 public:
  Solve(const ConstraintModel& model, const Specification& specification,
        std::span<const FunctionSet> families, const SearchHooks& hooks)
      : model_(model),
        specification_(specification),
        families_(families),
        hooks_(hooks),
        formula_(model, families, sat_),
        constraints_(model, specification, formula_, sat_),
        live_statements_(model),
        is_demanded_(constraints_.size(), false) {
    result_.facts.name = solver_name();
  }

  SolverResult result(SolveUntil until) {
    result_.facts.is_least_only = until == SolveUntil::least;
    result_.searched.finished = find_least() && (result_.facts.is_least_only || find_rest());
    result_.facts.constraints = static_cast<std::uint64_t>(std::ranges::count(is_demanded_, true));
    result_.facts.all_constraints = constraints_.size();
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
      Candidate candidate(model_, families_, functions);
      if (!refine(candidate)) {
        if (!hooks_.goes_on(0)) return Answer::unknown;
        continue;
      }
      FARO_CHECK(satisfies(model_, specification_, families_, functions));
      live_ = live_statements_.count(candidate);
      formula_.block(chosen);
      is_taken_ = hooks_.found(functions);
      return answer;
    }
  }

  /// Whether all constraints are met; if not, some that are not join the formula.
  bool refine(Candidate& candidate) {
    bool is_met = true;
    std::size_t room = std::max(kLeastBatch, demanded_);
    for (std::size_t s = 0; s < constraints_.size(); ++s) {
      if (is_demanded_[s] || constraints_.is_met(s, candidate)) continue;
      const std::size_t weight = constraints_.weight(s);
      if (!is_met && weight > room) continue;
      constraints_.demand(s);
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

  const ConstraintModel& model_;
  const Specification& specification_;
  std::span<const FunctionSet> families_;
  const SearchHooks& hooks_;
  Sat sat_;
  ModelFormula formula_;
  FormulaConstraints constraints_;
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

Solved solve_sketch(const Specification& specification, const Program& sketch, Space space, SolveUntil until,
                    double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Solved solved;
  solved.solver.name = solver_name();
  const auto goes_on = [&] {
    return seconds <= 0 || std::chrono::duration<double>(Clock::now() - start).count() < seconds;
  };
  try {
    std::vector<FunctionSet> families;
    FunctionSet::Limits family_limits;
    family_limits.seconds = seconds;
    for (const HoleDeclaration& hole : sketch.holes()) families.emplace_back(hole, space, family_limits);
    if (std::ranges::any_of(families, [](const FunctionSet& family) { return family.size() == 0; })) {
      solved.outcome = Outcome::none;
      return solved;
    }
    ModelLimits model_limits;
    model_limits.seconds = seconds;
    const ConstraintModel model = build_model(specification, sketch, families, model_limits);
    SearchHooks hooks;
    hooks.goes_on = [&](double) { return goes_on(); };
    hooks.found = [&](std::span<const std::size_t> functions) {
      Valuation valuation(sketch);
      for (std::size_t h = 0; h < functions.size(); ++h)
        valuation.set(static_cast<int>(h), families[h].parameters(functions[h]));
      const Cost cost = cost_of(sketch, valuation);
      ++solved.solutions;
      solved.kept.push_back({std::move(valuation), cost});
      if (!solved.best || cost < solved.best->cost) solved.best = solved.kept.back();
      return goes_on();
    };
    const SolverResult result = Solve(model, specification, families, hooks).result(until);
    solved.solver = result.facts;
    solved.candidates = result.searched.candidates;
    if (result.searched.finished) solved.outcome = solved.solutions > 0 ? Outcome::found : Outcome::none;
  } catch (const CutOff&) {
    solved.outcome = Outcome::not_finished;
  }
  return solved;
}

}  // namespace faro::swizzle::detail
