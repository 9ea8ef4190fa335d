#include "tell/facts.hpp"

#include <fmt/format.h>

#include "plan/cpu/cpu_pass.hpp"
#include "plan/form_to_run.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan/index_candidates.hpp"
#include "plan/planners.hpp"
#include "plan/reversals.hpp"
#include "tell/counts/counting.hpp"
#include "tell/margin_text.hpp"
#include "tell/published_class.hpp"
#include "tell/reasons.hpp"

namespace faro {
namespace detail {
namespace {

FactorFacts factor_facts(const Pass& pass, std::uint64_t unit_bytes) {
  return {.text = factor_text(pass.map),
          .published_class = name(published_class(pass.map, unit_bytes)),
          .is_involution = pass.map.is_involution(),
          .resting_tiles = pass.orbits ? resting_tiles(*pass.orbits) : 0};
}

AffineFacts affine_facts(const Plan& plan) {
  const Affine& map = element_map(plan);
  AffineFacts facts{.index_bits = map.bits(),
                    .published_class = name(published_class(map, plan.problem().element_bytes)),
                    .is_involution = map.is_involution(),
                    .folded_batch_bits = plan.folded_batch_bits(),
                    .sweeps = sweeps(plan)};
  if (!is_in_place(plan)) facts.literature_sweeps = literature_sweeps(plan);
  return facts;
}

WayFacts way_facts(const Plan& plan) {
  const IndexPlan* const index = plan.index_plan();
  return {.candidates = index != nullptr ? std::span(index->candidates()) : std::span(plan.way(), 1),
          .chosen = plan.way(),
          .repeats = index != nullptr ? index->repeats() : 0,
          .curves = curves_of(plan.target()).source,
          .array = std::get_if<Indexed>(&plan.problem().permutation),
          .reason = method_reason(plan)};
}

// As the way that is taken has it; else of the array as it was given.
std::optional<Recognition> recognition_of(const Plan& plan) {
  if (plan.index_plan() != nullptr) return plan.index_plan()->recognition();
  if (plan.recognition() != nullptr) return *plan.recognition();
  if (plan.way() != nullptr) return known_form(plan.problem().permutation);
  return std::nullopt;
}

PassFacts with_box(PassFacts facts) {
  facts.box = box_facts(*facts.pass);
  if (!facts.box) facts.plane_tile = tile_facts(*facts.pass);
  return facts;
}

PassFacts pass_facts(const Plan& plan, std::size_t index, const PassCounter& counter, bool is_affine) {
  const Pass& pass = plan.passes()[index];
  PassFacts facts{
      .pass = &pass,
      .reason = is_affine ? reason(plan, index) : pass.what,
      .is_affine = is_affine,
      .elements = static_cast<double>(pass.bytes_read) / static_cast<double>(plan.problem().element_bytes),
      .lines = count_lines(plan, index),
      .us = counter.microseconds(index)};
  if (const auto& counted = counter(index)) facts.accesses = accesses_of(*counted, pass, plan.target());
  if (!is_affine) return with_box(std::move(facts));
  if (is_in_place(plan)) facts.factor = factor_facts(pass, plan.unit_bytes());
  return facts;
}

}  // namespace

std::string map_text(const Rectangle& rectangle) {
  // No elements have no shape: the text that such a permutation has out of place.
  if (rectangle.count() == 0) return "axes(0; 0)";
  if (rectangle.between > 1)
    return fmt::format("axes({} {} {}; 2 1 0)", rectangle.rows, rectangle.between, rectangle.columns);
  return fmt::format("transpose({}, {})", rectangle.rows, rectangle.columns);
}

PlanFacts facts_of(const Plan& plan) {
  const Problem& problem = plan.problem();
  PlanFacts facts{.kind = ReversalFacts{},
                  .target = &plan.target(),
                  .permutation = to_text(problem),
                  .elements = element_count(problem),
                  .element_bytes = problem.element_bytes,
                  .batch = problem.batch,
                  .bytes = plan.array_bytes(),
                  .workspace_bytes = plan.workspace_bytes(),
                  .in_place = is_in_place(plan),
                  .rates = rates_of(plan)};
  if (const TransposePlan* const transposes = plan.transpose_plan()) {
    const Rectangle& rectangle = transposes->rectangle();
    facts.kind = transposes;
    facts.permutation = map_text(rectangle);
    facts.elements = rectangle.count();
    facts.element_bytes = rectangle.element_bytes;
    facts.batch = rectangle.arrays;
  } else if (plan.way() != nullptr) {
    facts.kind = way_facts(plan);
    facts.unit_bytes = plan.unit_bytes();
  } else if (problem.view) {
    facts.kind = ViewFacts{};
  } else if (!reverses_in_place(problem)) {
    facts.kind = affine_facts(plan);
    facts.unit_bytes = plan.unit_bytes();
  }
  facts.recognition = recognition_of(plan);
  const PassCounter counter(plan);
  facts.us = counter.microseconds();
  const bool is_affine = std::holds_alternative<AffineFacts>(facts.kind);
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    facts.passes.push_back(
        pass_facts(plan, i, counter, is_affine && plan.passes()[i].kind != PassKind::patch));
  }
  return facts;
}

}  // namespace detail
}  // namespace faro
