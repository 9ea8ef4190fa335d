// IndexPlan::explain(): what the array was taken for, how it is carried out, and what else could have been.
//
//     permutation   @index.npy
//                   10^6 elements; scatter: out[P[i]] = in[i]
//     recognised    general
//       affine      no: …
//     method        partition, …: …
//     candidates    …
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plan/index_candidates.hpp"
#include "tell/facts.hpp"
#include "tell/index_facts.hpp"

namespace faro {
namespace {

using Text = detail::MarginText;

void add_problem(Text& text, const IndexPlan& plan) {
  const Problem& problem = plan.problem();
  text.whole_line("permutation", to_text(problem.permutation));
  std::string what = count_text(plan.count(), "element");
  if (const auto* const indexed = std::get_if<Indexed>(&problem.permutation)) {
    const bool scatter = indexed->direction() == Direction::scatter;
    what += fmt::format("; {} by {}-bit indices",
                        scatter ? "scatter, out[P[i]] = in[i]," : "gather, out[i] = in[Q[i]],",
                        8 * indexed->index_type().bytes);
    if (!indexed->on_host()) what += fmt::format(" in the memory of device {}", *indexed->device());
  }
  text.line("", what);
  detail::add_recognition(text, plan.recognition());
  std::string units = fmt::format("{} wide", size_text(problem.element_bytes));
  if (plan.element_units() > 1) {
    units += fmt::format(", moved as {} units of {}", plan.element_units(), size_text(plan.unit_bytes()));
  }
  text.line("elements", units);
  text.line("batch", count_text(problem.batch, "array") + (problem.batch == 1 ? " of " : ", in all ") +
                         size_text(plan.array_bytes()));
}

std::string time_text(double us) {
  constexpr double kThousand = 1e3;
  if (us < kThousand) return fmt::format("{:.3g} us", us);
  return fmt::format("{:.4g} ms", us / kThousand);
}

std::string schedule_text(const IndexCandidate& chosen) {
  if (chosen.schedule_bytes == 0) return "none";
  const bool is_made = chosen.schedule_us && *chosen.schedule_us > 0;
  return size_text(chosen.schedule_bytes) +
         (is_made ? fmt::format(", {} predicted to make it", time_text(*chosen.schedule_us)) : "");
}

void add_method(Text& text, const IndexPlan& plan) {
  const IndexCandidate& chosen = plan.chosen();
  text.line("method", fmt::format("{}: {}", to_text(chosen), detail::method_reason(plan)));
  std::string passes = count_text(static_cast<std::uint64_t>(chosen.passes), "pass");
  if (chosen.passes != 1) passes = fmt::format("{} passes", chosen.passes);
  const std::uint64_t one = plan.count() * plan.problem().element_bytes;
  std::string moved = fmt::format("{} over memory; an array moves {}", passes, size_text(chosen.bytes_moved));
  if (one > 0) {
    moved += fmt::format(", {:.3g} times a copy's bytes",
                         static_cast<double>(chosen.bytes_moved) / (2 * static_cast<double>(one)));
  }
  text.line("  passes", moved);
  text.line("  schedule", schedule_text(chosen));
}

void add_candidates(Text& text, const IndexPlan& plan) {
  if (plan.repeats() > 0) {
    text.line("chosen for", fmt::format("{}, and making the schedule", count_text(plan.repeats(), "run")));
  }
  if (plan.candidates().size() > 1) {
    text.line("compared", "by the curves of " + plan.calibration().source);
  }
  std::string_view label = "candidates";
  for (const IndexCandidate& each : plan.candidates()) {
    const bool taken = &each == &plan.chosen();
    text.whole_line(label, fmt::format("{}: {}", to_text(each), taken ? "taken" : each.why_not));
    label = "";
  }
}

}  // namespace

namespace detail {

void add_recognition(MarginText& text, const Recognition& recognition) {
  if (recognition.findings.empty()) return;
  text.line("recognised", fmt::format("{}", name(recognition.family)));
  for (const Finding& finding : recognition.findings) {
    text.line(
        fmt::format("  {}", name(finding.family)),
        fmt::format("{}{}{}", finding.holds ? "yes" : "no", finding.why.empty() ? "" : ": ", finding.why));
  }
}

std::string method_reason(const IndexPlan& plan) {
  const IndexCandidate& chosen = plan.chosen();
  switch (chosen.method) {
    case IndexMethod::cyclic:
      return "two pieces of the array change places, or it is read backwards; no index is stored";
    case IndexMethod::modular:
      return "rows of the input are columns of the output in two matrices that lie apart; no index is stored";
    case IndexMethod::computed:
      return "a tile is a run of one side and runs of the other, between which a small table tells places; "
             "no index is stored";
    case IndexMethod::axes:
      if (std::holds_alternative<CyclicAxes>(plan.problem().permutation))
        return "boxes that are read and written in runs, an axis backwards or in two parts; no index is "
               "stored";
      return "tiles that read and write along the fastest axis of each side; no index is stored";
    case IndexMethod::direct:
      return "each element is fetched from, or sent to, the place that its index says";
    case IndexMethod::window:
      return fmt::format(
          "nothing moves by more than {}, so a tile with margins holds all that its output needs",
          plan.recognition().displacement.value_or(0));
    case IndexMethod::runs:
      return fmt::format("{} are copied one by one",
                         count_text(plan.recognition().runs.value_or(0), "contiguous run"));
    case IndexMethod::partition:
      if (chosen.passes == 1) return "the array fits in one chunk, which is read and written in order";
      return "elements are sorted by where they go, in passes that read and write long runs";
    case IndexMethod::row_column:
      return "rows, columns, rows, each pass within what a block holds";
    case IndexMethod::row_column_5:
      break;
  }
  return "row, transpose, row, transpose, row, as published";
}

void add_index_plan(MarginText& text, const IndexPlan& plan) {
  const Target& target = plan.target();
  add_problem(text, plan);
  text.line("target", std::string(name(target.engine)) + (target.name.empty() ? "" : ", " + target.name));
  add_method(text, plan);
  add_candidates(text, plan);
}

void add_workspace(MarginText& text, const IndexPlan& plan) {
  text.line("workspace", plan.workspace_bytes() == 0 ? "none" : size_text(plan.workspace_bytes()));
}

}  // namespace detail

std::string IndexPlan::explain() const {
  Text text;
  detail::add_index_plan(text, *this);
  detail::add_workspace(text, *this);
  return text.take();
}

}  // namespace faro
