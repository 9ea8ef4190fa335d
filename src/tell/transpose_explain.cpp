// TransposePlan::explain() and explain_json(): the same facts, in words and for programs; docs/guide/json.md
// lists the keys.
//
//     permutation   transpose(1000, 3000)
//                   3000000 elements; in place
//     elements      4 bytes wide
//     batch         1 array of 11.4 MiB
//     target        cuda, NVIDIA H200
//     method        rows_in_memory: C2R, 2 sweeps
//       sweep 1     shuffle rows …: 11.4 MiB read and written
//       sweep 2     shuffle columns …
//     workspace     none
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "faro/plan/plan.hpp"
#include "tell/facts.hpp"
#include "tell/index_facts.hpp"
#include "tell/margin_text.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;

// Of no elements there is no shape: the text that such a permutation has out of place.
std::string map_text(const Rectangle& rectangle) {
  if (rectangle.count() == 0) return "axes(0; 0)";
  if (rectangle.between > 1)
    return fmt::format("axes({} {} {}; 2 1 0)", rectangle.rows, rectangle.between, rectangle.columns);
  return fmt::format("transpose({}, {})", rectangle.rows, rectangle.columns);
}

std::string method_text(const TransposePlan& plan) {
  const std::size_t sweeps = plan.sweeps().size();
  if (sweeps == 0) return "nothing moves";
  return fmt::format("{}: {}, {} sweep{} over memory", name(plan.method()), plan.r2c() ? "R2C" : "C2R",
                     sweeps, sweeps == 1 ? "" : "s");
}

}  // namespace

namespace detail {

void add_transpose_plan(MarginText& text, const TransposePlan& plan) {
  const Rectangle& r = plan.rectangle();
  const Target& target = plan.target();
  text.whole_line("permutation", map_text(r));
  text.line("", count_text(r.count(), "element") + "; in place");
  text.line("elements", size_text(r.element_bytes) + " wide");
  text.line("batch",
            count_text(r.arrays, "array") + (r.arrays == 1 ? " of " : ", in all ") + size_text(r.bytes()));
  text.line("target", std::string(name(target.engine)) + (target.name.empty() ? "" : ", " + target.name));
  text.line("method", method_text(plan));
  for (std::size_t i = 0; i < plan.sweeps().size(); ++i) {
    const TransposeSweep& sweep = plan.sweeps()[i];
    text.line(fmt::format("  sweep {}", i + 1),
              fmt::format("{}: {} read and written", sweep.what, size_text(sweep.bytes_read)));
  }
}

void add_workspace(MarginText& text, const TransposePlan& plan) {
  if (plan.workspace_bytes() == 0) return text.line("workspace", "none");
  const Rectangle& r = plan.rectangle();
  text.line("workspace", fmt::format("{} for {}, at most {} elements each", size_text(plan.workspace_bytes()),
                                     count_text(plan.workers(), "worker"), std::max(r.rows, r.columns)));
}

}  // namespace detail

std::string TransposePlan::explain() const {
  detail::MarginText text;
  detail::add_transpose_plan(text, *this);
  detail::add_workspace(text, *this);
  return text.take();
}

std::string TransposePlan::explain_json() const {
  const Rectangle& r = rectangle_;
  Json sweeps = Json::array();
  for (const TransposeSweep& each : sweeps_) {
    sweeps.push_back(
        {{"what", each.what}, {"bytes_read", each.bytes_read}, {"bytes_written", each.bytes_written}});
  }
  const Json json = {
      {"schema", detail::kJsonSchema},
      {"permutation", map_text(r)},
      {"elements", r.count()},
      {"element_bytes", r.element_bytes},
      {"batch", r.arrays},
      {"placement", "in_place"},
      {"bytes", r.bytes()},
      {"workspace_bytes", workspace_bytes_},
      {"workers", workers_},
      {"method", name(method_)},
      {"direction", r2c_ ? "r2c" : "c2r"},
      {"sweeps", std::move(sweeps)},
      {"target", {{"engine", name(target_.engine)}, {"name", target_.name}, {"threads", target_.threads}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace faro
