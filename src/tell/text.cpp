// Plan::explain(): a plan in words. One fact a line, its name in the margin:
//
//     permutation   bit_reversal(20)
//                   2^20 elements; class BP; an involution
//     ...
//     pass 1        tile: ...
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plan/gpu/gpu_pass.hpp"
#include "size_text.hpp"
#include "tell/facts.hpp"
#include "tell/margin_text.hpp"
#include "tell/pass_text.hpp"
#include "tell/reasons.hpp"

namespace faro {
namespace {

using detail::PlanFacts;
using Text = detail::MarginText;

constexpr double kUsPerMs = 1e3;

// --- what is moved

// "; scatter, out[P[i]] = in[i], by 32-bit indices"
std::string array_text(const Indexed* indexed) {
  if (indexed == nullptr) return "";
  const bool scatter = indexed->direction() == Direction::scatter;
  std::string text = fmt::format("; {} by {}-bit indices",
                                 scatter ? "scatter, out[P[i]] = in[i]," : "gather, out[i] = in[Q[i]],",
                                 8 * indexed->index_type().bytes);
  if (!indexed->on_host()) text += fmt::format(" in the memory of device {}", *indexed->device());
  return text;
}

void add_recognition(Text& text, const Recognition& recognition) {
  if (recognition.findings.empty()) return;
  text.line("recognised", name(recognition.family));
  for (const Finding& finding : recognition.findings) {
    text.line(
        fmt::format("  {}", name(finding.family)),
        fmt::format("{}{}{}", finding.holds ? "yes" : "no", finding.why.empty() ? "" : ": ", finding.why));
  }
}

void add_target(Text& text, const Target& target) {
  text.line("target", std::string(name(target.engine)) + (target.name.empty() ? "" : ", " + target.name));
}

void add_problem(Text& text, const PlanFacts& facts) {
  const auto* const affine = std::get_if<detail::AffineFacts>(&facts.kind);
  const auto* const way = std::get_if<detail::WayFacts>(&facts.kind);
  text.whole_line("permutation", facts.permutation);
  std::string about = count_text(facts.elements, "element");
  if (affine != nullptr) {
    about += fmt::format(
        "; class {}; {}", affine->published_class,
        affine->is_involution ? "an involution (applied twice, nothing has moved)" : "not an involution");
  } else {
    about += way != nullptr ? array_text(way->array) : "; in place";
  }
  text.line("", about);
  if (facts.recognition) add_recognition(text, *facts.recognition);
  std::string units = size_text(facts.element_bytes) + " wide";
  if (facts.units_per_element() > 1) {
    units +=
        fmt::format(", moved as {} units of {}{}", facts.units_per_element(), size_text(facts.unit_bytes),
                    affine != nullptr ? " whose index bits stay as they are" : "");
  }
  text.line("elements", units);
  std::string batch =
      count_text(facts.batch, "array") + (facts.batch == 1 ? " of " : ", in all ") + size_text(facts.bytes);
  if (affine != nullptr && affine->folded_batch_bits > 0) {
    batch += fmt::format("; groups of {} are planned as one, the array's number being high index bits",
                         count_text(std::uint64_t{1} << affine->folded_batch_bits));
  }
  text.line("batch", batch);
  add_target(text, *facts.target);
}

// --- by which way, which each kind of plan has its own words for

struct WordsOfWay {
  Text& text;
  const PlanFacts& facts;

  void operator()(const detail::AffineFacts& affine) const {
    if (facts.in_place) return text.line("sweeps", detail::in_place_sweeps_text(affine.sweeps, facts.bytes));
    if (affine.sweeps == 0) return text.line("sweeps", "none: the batch is empty");
    const int literature = affine.literature_sweeps.value_or(1);
    text.line("sweeps", literature == 1
                            ? "1 over memory"
                            : fmt::format("1 over memory, where the published method takes {} for a general "
                                          "BMMC",
                                          literature));
  }

  void operator()(const detail::WayFacts& way) const {
    add_method(way);
    add_candidates(way);
  }

  void operator()(const TransposePlan* plan) const {
    const std::size_t sweeps = facts.passes.size();
    text.line("method", sweeps == 0 ? "nothing moves"
                                    : fmt::format("{}: {}, {} over memory", name(plan->method()),
                                                  plan->r2c() ? "R2C" : "C2R", count_text(sweeps, "sweep")));
    for (std::size_t i = 0; i < sweeps; ++i) {
      const Pass& sweep = *facts.passes[i].pass;
      text.line(fmt::format("  sweep {}", i + 1),
                fmt::format("{}: {} read and written", sweep.what, size_text(sweep.bytes_read)));
    }
  }

  void operator()(detail::ReversalFacts /*reversals*/) const {
    text.line("method", facts.passes.empty() ? "nothing moves"
                                             : "pieces of an axis change places end for end: " +
                                                   count_text(facts.passes.size(), "sweep") + " over memory");
  }

  void operator()(detail::ViewFacts /*view*/) const {}

 private:
  void add_method(const detail::WayFacts& way) const {
    const IndexCandidate& chosen = *way.chosen;
    text.line("method", fmt::format("{}: {}", to_text(chosen), way.reason));
    const std::uint64_t one = facts.elements * facts.element_bytes;
    std::string moved = fmt::format("{} pass{} over memory; an array moves {}", chosen.passes,
                                    chosen.passes == 1 ? "" : "es", size_text(chosen.bytes_moved));
    if (one > 0) {
      moved += fmt::format(", {:.3g} times a copy's bytes",
                           static_cast<double>(chosen.bytes_moved) / (2 * static_cast<double>(one)));
    }
    text.line("  passes", moved);
    text.line("  schedule", schedule_text(chosen));
  }

  static std::string schedule_text(const IndexCandidate& chosen) {
    if (chosen.schedule_bytes == 0) return "none";
    const double us = chosen.schedule_us.value_or(0);
    if (us <= 0) return size_text(chosen.schedule_bytes);
    const std::string time =
        us < kUsPerMs ? fmt::format("{:.3g} us", us) : fmt::format("{:.4g} ms", us / kUsPerMs);
    return fmt::format("{}, {} predicted to make it", size_text(chosen.schedule_bytes), time);
  }

  void add_candidates(const detail::WayFacts& way) const {
    if (way.repeats > 0) {
      text.line("chosen for", fmt::format("{}, and making the schedule", count_text(way.repeats, "run")));
    }
    if (way.candidates.size() > 1) text.line("compared", "by the curves of " + way.curves);
    const char* label = "candidates";
    for (const IndexCandidate& each : way.candidates) {
      text.whole_line(label,
                      fmt::format("{}: {}", to_text(each), &each == way.chosen ? "taken" : each.why_not));
      label = "";
    }
  }
};

// --- passes

void add_passes(Text& text, const PlanFacts& facts) {
  if (facts.passes.size() > 1) {
    text.line("time", facts.us ? fmt::format("{:.4g} ms in all, by the rates of {}", *facts.us / kUsPerMs,
                                             facts.rates)
                               : "not predicted: that of a pass is not known");
  }
  for (std::size_t i = 0; i < facts.passes.size(); ++i) detail::add_pass(text, facts, i);
}

std::string workspace_text(const PlanFacts& facts) {
  if (facts.workspace_bytes == 0) return "none";
  const auto* const transposes = std::get_if<const TransposePlan*>(&facts.kind);
  if (transposes == nullptr) return size_text(facts.workspace_bytes);
  const Rectangle& r = (*transposes)->rectangle();
  return fmt::format("{} for {}, at most {} elements each", size_text(facts.workspace_bytes),
                     count_text((*transposes)->workers(), "worker"), std::max(r.rows, r.columns));
}

// "an array of 4000 elements", "4000 elements of an array of 800 or more".
std::string elements_of_array(std::uint64_t needed, std::uint64_t moved) {
  const char* const plural = (needed == moved ? needed : moved) == 1 ? "" : "s";
  if (needed == moved) return fmt::format("an array of {} element{}", needed, plural);
  return fmt::format("{} element{} of an array of {} or more", moved, plural, needed);
}

// As it was given.
void add_view(Text& text, const Plan& plan) {
  const std::uint64_t moved = element_count(plan.given());
  const std::uint64_t width = plan.given().element_bytes;
  text.whole_line("view", to_text(plan.given()));
  text.line("", "reads " + elements_of_array(plan.in_bytes() / width, moved));
  text.line("", "writes " + elements_of_array(plan.out_bytes() / width, moved));
}

}  // namespace

std::string Plan::explain() const {
  const PlanFacts facts = detail::facts_of(*this);
  Text text;
  if (given_.view) add_view(text, *this);
  if (problem_.view) {
    text.whole_line("normal form", facts.permutation);
    text.line("elements", size_text(facts.element_bytes) + " wide");
    add_target(text, target_);
    add_passes(text, facts);
    return text.take();
  }
  add_problem(text, facts);
  std::visit(WordsOfWay{text, facts}, facts.kind);
  add_passes(text, facts);
  text.line("workspace", workspace_text(facts));
  return text.take();
}

}  // namespace faro
