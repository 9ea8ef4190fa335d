#include "faro/swizzle/synthesise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "faro/error.hpp"
#include "swizzle/function_set.hpp"
#include "swizzle/search.hpp"
#include "swizzle/search_clock.hpp"
#include "swizzle/trials.hpp"

namespace faro::swizzle {
namespace {

using detail::Limit;

constexpr double kSecondsBetweenReports = 0.1;
// What solutions that were kept may take when time is up.
constexpr double kSecondsToKeep = 0.3;

bool wants_anything(const Specification& specification) {
  const std::span<const ArrayDeclaration> arrays = specification.arrays();
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (arrays[a].kind != ArrayKind::output) continue;
    for (std::int64_t i = 0; i < arrays[a].size; ++i) {
      if (specification.wanted(Array{static_cast<int>(a)}, i) != kUndefined) return true;
    }
  }
  return false;
}

// A solution with all that it is compared by.
struct Found {
  Cost cost;
  int operations = 0;
  std::vector<std::size_t> functions;
  bool operator<(const Found& other) const {
    return std::tie(cost, operations, functions) < std::tie(other.cost, other.operations, other.functions);
  }
};

class Synthesis {
 public:
  /// `seconds_used`: of the time limit, before.
  Synthesis(const Specification& specification, const Program& sketch, const SynthesisOptions& options,
            double seconds_used)
      : specification_(specification),
        sketch_(sketch),
        options_(options),
        seconds_used_(seconds_used),
        clock_(options.processor_time),
        last_(sketch) {
    result_.space = options.space;
  }

  SynthesisResult result() {
    try {
      make_families();
      if (has_empty_family()) {
        result_.outcome = Outcome::none;
      } else {
        ModelLimits limits;
        limits.seconds = seconds_left();
        limits.processor_time = options_.processor_time;
        report("choices", 0);
        search(limits);
      }
    } catch (const detail::CutOff& cut) {
      cut_off(cut.limit(), cut.clause());
    }
    finish();
    return std::move(result_);
  }

 private:
  void make_families() {
    for (const HoleDeclaration& hole : sketch_.holes()) {
      result_.families.push_back({hole.name, parameter_count(hole, options_.space), 0});
    }
    for (std::size_t h = 0; h < sketch_.holes().size(); ++h) {
      const HoleDeclaration& hole = sketch_.holes()[h];
      report("functions of `" + hole.name + "`", 0);
      FunctionSet::Limits limits;
      limits.seconds = seconds_left();
      limits.processor_time = options_.processor_time;
      families_.emplace_back(hole, options_.space, limits);
      result_.families[h].functions = families_.back().size();
    }
    result_.enumeration_seconds = clock_.seconds();
  }

  /// Then nothing fits, whatever the other holes are.
  bool has_empty_family() const {
    return std::ranges::any_of(families_, [](const FunctionSet& family) { return family.size() == 0; });
  }

  void search(const ModelLimits& limits) {
    detail::SearchHooks hooks;
    hooks.found = [this](std::span<const std::size_t> functions) {
      take(functions);
      return !is_out_of_time();
    };
    hooks.goes_on = [this](double done) {
      report("search", done);
      return !is_out_of_time();
    };
    const std::optional<ConstraintModel> model = model_of(limits);
    const detail::SearchResult searched =
        model ? detail::search(*model, specification_, families_, hooks)
              : detail::search_by_trials(specification_, sketch_, families_, hooks);
    result_.by_trials = !model;
    result_.candidates = searched.candidates;
    for (const int hole : searched.order) {
      result_.order.push_back(sketch_.holes()[static_cast<std::size_t>(hole)].name);
    }
    if (searched.finished) {
      result_.outcome = result_.solutions > 0 ? Outcome::found : Outcome::none;
    } else {
      cut_off(Limit::time, "the search did not end");
    }
  }

  /// Nothing for a sketch that has none, but few enough combinations to try them all.
  std::optional<ConstraintModel> model_of(const ModelLimits& limits) {
    try {
      return build_model(specification_, sketch_, families_, limits);
    } catch (const detail::CutOff&) {
      throw;
    } catch (const Error& error) {
      double trials = 1;
      for (const FunctionSet& family : families_) trials *= static_cast<double>(family.size());
      if (error.code() != ErrorCode::unsupported || trials > detail::kMostTrials) throw;
      return std::nullopt;
    }
  }

  void cut_off(Limit limit, const std::string& clause) {
    result_.outcome = Outcome::not_finished;
    result_.unfinished = clause;
    if (limit == Limit::time)
      result_.unfinished += fmt::format(" within the time limit of {} s", options_.time_limit_seconds);
    result_.remedy = remedy_of(limit);
    if (options_.space != Space::easy) result_.remedy += " or an easier space";
  }

  // 0: no limit.
  double seconds_left() const {
    if (options_.time_limit_seconds <= 0) return 0;
    return std::max(options_.time_limit_seconds - seconds_used_ - clock_.seconds(), 1e-9);
  }

  bool is_out_of_time() const {
    return options_.time_limit_seconds > 0 && seconds_used_ + clock_.seconds() > options_.time_limit_seconds;
  }

  void report(const std::string& stage, double done) {
    if (!options_.progress) return;
    const double now = clock_.seconds();
    if (now < next_report_) return;
    next_report_ = now + kSecondsBetweenReports;
    options_.progress({now, options_.space, stage, done, result_.solutions});
  }

  // Solutions that follow each other differ in few holes.
  const Valuation& valuation_of(std::span<const std::size_t> functions) {
    for (std::size_t h = 0; h < functions.size(); ++h) {
      if (!last_functions_.empty() && last_functions_[h] == functions[h]) continue;
      last_.set(static_cast<int>(h), families_[h].parameters(functions[h]));
    }
    last_functions_.assign(functions.begin(), functions.end());
    return last_;
  }

  int operations_of(std::size_t hole, std::size_t function) {
    const auto [known, fresh] = operations_.try_emplace({hole, function}, 0);
    if (fresh) {
      known->second = operations(as_index(families_[hole].parameters(function), sketch_.holes()[hole]));
    }
    return known->second;
  }

  void take(std::span<const std::size_t> functions) {
    ++result_.solutions;
    Found found;
    found.cost = cost_of(sketch_, valuation_of(functions));
    found.functions.assign(functions.begin(), functions.end());
    for (std::size_t h = 0; h < functions.size(); ++h) found.operations += operations_of(h, functions[h]);
    if (!best_ || found < *best_) {
      best_ = found;
      result_.seconds_to_best = clock_.seconds();
    }
    if (found_.size() < options_.keep) found_.push_back(std::move(found));
  }

  void finish() {
    if (best_ &&
        std::ranges::none_of(found_, [&](const Found& f) { return f.functions == best_->functions; })) {
      found_.push_back(*best_);
    }
    std::ranges::sort(found_, std::less<>());
    const double enough = clock_.seconds() + kSecondsToKeep;
    for (const Found& found : found_) {
      if (options_.time_limit_seconds > 0 && is_out_of_time() && clock_.seconds() > enough) break;
      result_.kept.push_back({valuation_of(found.functions), found.cost});
    }
    if (!result_.kept.empty()) result_.best = result_.kept.front();
    result_.seconds = clock_.seconds();
  }

  const Specification& specification_;
  const Program& sketch_;
  const SynthesisOptions& options_;
  double seconds_used_;
  detail::SearchClock clock_;
  double next_report_ = 0;
  std::vector<FunctionSet> families_;
  Valuation last_;
  std::vector<std::size_t> last_functions_;
  std::vector<Found> found_;
  std::optional<Found> best_;
  std::map<std::pair<std::size_t, std::size_t>, int> operations_;
  SynthesisResult result_;
};

}  // namespace

const char* name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::found:
      return "found";
    case Outcome::none:
      return "none";
    case Outcome::not_finished:
      return "not finished";
  }
  return "";
}

namespace {

SynthesisResult synthesise_after(double seconds_used, const Specification& specification,
                                 const Program& sketch, const SynthesisOptions& options) {
  check(sketch);
  if (!wants_anything(specification)) {
    fail(ErrorCode::spec, "synthesise", "a specification that wants nothing", "outputs that are set",
         "set the outputs' elements in the specification");
  }
  return Synthesis(specification, sketch, options, seconds_used).result();
}

}  // namespace

SynthesisResult synthesise(const Specification& specification, const Program& sketch,
                           const SynthesisOptions& options) {
  return synthesise_after(0, specification, sketch, options);
}

std::vector<SynthesisResult> synthesise_in_order(const Specification& specification, const Program& sketch,
                                                 const SynthesisOptions& options, SearchUntil until) {
  const detail::SearchClock clock(options.processor_time);
  std::vector<SynthesisResult> results;
  for (const Space space : {Space::easy, Space::easy_conditions, Space::full, Space::extra}) {
    if (space > options.space) break;
    SynthesisOptions one = options;
    one.space = space;
    results.push_back(synthesise_after(clock.seconds(), specification, sketch, one));
    if (until == SearchUntil::first && results.back().solutions > 0) break;
  }
  return results;
}

}  // namespace faro::swizzle
