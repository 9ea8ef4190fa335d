// network::Plan::explain(): the plan in words. One fact a line, its name in the margin:
//
//     program       merge
//                   2^24 elements; 24 layers of min_max, in place
//     ...
//     pass 1        layers 1 to 9
#include <fmt/format.h>

#include <string>
#include <vector>

#include "faro/network/plan.hpp"
#include "faro/permutation/permutation.hpp"
#include "network/pass_facts.hpp"
#include "network/text.hpp"
#include "size_text.hpp"
#include "tell/margin_text.hpp"
#include "tell/published_class.hpp"

namespace faro::network {
namespace {

using faro::detail::MarginText;
using faro::detail::steps;

std::string rows(const Plan& plan, const std::vector<f2::Word>& vectors) {
  const std::string segment = size_text(plan.problem().element.bytes() << plan.sizes().segment_bits);
  if (vectors.empty()) return "1 row of " + segment;
  return fmt::format("{} rows of {}, at sums (XOR) of {}", count_text(std::uint64_t{1} << vectors.size()),
                     segment, steps(vectors));
}

std::string final_map_text(const NormalForm& form, std::uint64_t element_bytes) {
  if (form.final_map.is_identity()) return "none";
  constexpr std::size_t longest = 60;
  const std::string text = form.final_text.empty() ? faro::to_text(form.final_map) : form.final_text;
  return fmt::format("class {}{}", name(published_class(form.final_map, element_bytes)),
                     text.size() <= longest ? ", " + text : std::string());
}

void add_problem(MarginText& text, const Plan& plan) {
  const Problem& problem = plan.problem();
  const NormalForm& form = plan.normal_form();
  text.line("program", short_text(problem.program));
  text.line("", fmt::format("{} of {} bytes ({}); {} of {} in all",
                            count_text(std::uint64_t{1} << form.bits, "element"), problem.element.bytes(),
                            to_text(problem.element), count_text(problem.batch, "array"),
                            size_text(plan.array_bytes())));
  text.line("normal form", fmt::format("{}, then a final map; all other permutations are gone",
                                       detail::layers_text(form.layers)));
  text.line("final map", final_map_text(form, problem.element.bytes()));
  text.line("engine", name(plan.engine()));
  const Sizes& sizes = plan.sizes();
  text.line("tile", fmt::format("2^{} elements, {}; segments of 2^{}, {}", sizes.tile_bits,
                                size_text(problem.element.bytes() << sizes.tile_bits), sizes.segment_bits,
                                size_text(problem.element.bytes() << sizes.segment_bits)));
}

std::string form_of_one(const Plan& plan) {
  return plan.normal_form().layers.empty() ? "none: one element stays where it is"
                                           : "none: one element, changed where it is";
}

void add_counts(MarginText& text, const Plan& plan) {
  const PassCounts& counts = plan.counts();
  if (plan.passes().empty()) {
    const bool is_still = plan.normal_form().bits == 0;
    return text.line("passes", is_still ? form_of_one(plan) : std::string("none: the batch is empty"));
  }
  text.line("passes",
            fmt::format("{}; no plan with tiles and segments of these sizes has fewer", counts.planned));
  text.line("", fmt::format("compare: {} if each layer and permutation took a pass, {} layer by layer, {} "
                            "grouped without ever changing the array's order",
                            counts.as_written, counts.layer_by_layer, counts.plain));
  text.line("moved", fmt::format("{}, read and written", size_text(plan.bytes_moved())));
}

void add_pass(MarginText& text, const Plan& plan, std::size_t index) {
  const Pass& pass = plan.passes()[index];
  text.line(fmt::format("pass {}", index + 1), detail::pass_layers_text(pass));
  text.line("  reads", rows(plan, pass.tile.source_rows));
  text.line("  writes", detail::writes_text(pass));
  if (!pass.map.is_identity()) text.line("", rows(plan, pass.tile.target_rows));
  const std::vector<f2::Word> distances = detail::distances(pass);
  if (!distances.empty()) text.line("  meets", "places that differ by " + steps(distances));
}

}  // namespace

std::string Plan::explain() const {
  MarginText text;
  add_problem(text, *this);
  add_counts(text, *this);
  for (std::size_t i = 0; i < passes_.size(); ++i) add_pass(text, *this, i);
  text.line("workspace", workspace_bytes() == 0 ? "none" : size_text(workspace_bytes()));
  return text.take();
}

}  // namespace faro::network
