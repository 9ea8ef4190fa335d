// Rewriting::explain(): one fact a line, its name in the margin.
#include <fmt/format.h>

#include "network/rewrite.hpp"
#include "network/text.hpp"
#include "tell/margin_text.hpp"

namespace faro::network {
namespace {

constexpr std::size_t kShownBeside = 400;

std::string sweeps_text(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "pass" : "passes");
}

std::uint64_t total(const std::vector<RuleUse>& uses) {
  std::uint64_t sum = 0;
  for (const RuleUse& use : uses) sum += use.count;
  return sum;
}

}  // namespace

std::string Rewriting::explain() const {
  faro::detail::MarginText text;
  text.line("before", short_text(before, kShownBeside));
  text.line("", sweeps_text(sweeps_before) + ", each operator, permutation and parm as it stands");
  std::string rules;
  for (const RuleUse& use : uses) {
    rules += fmt::format("{}{} x{}", rules.empty() ? "" : ", ", use.rule, use.count);
  }
  text.line("rules", rules.empty() ? "none applies" : rules);
  text.line("after", short_text(after, kShownBeside));
  text.line("", fmt::format("{}: {} saved", sweeps_text(sweeps_after), sweeps_before - sweeps_after));
  return text.take();
}

std::string Rewriting::explain_steps() const {
  std::string text;
  for (const RewriteStep& step : steps) {
    text += fmt::format("{:<16}{}\n{:<16}  = {}\n", step.rule, short_text(step.before, kShownOfStep), "",
                        short_text(step.after, kShownOfStep));
  }
  if (total(uses) > steps.size()) text += fmt::format("... and {} more\n", total(uses) - steps.size());
  return text;
}

}  // namespace faro::network
