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

#include <nlohmann/json.hpp>
#include <string>

#include "faro/plan/transpose_plan.hpp"
#include "plan/facts.hpp"
#include "plan/json_schema.hpp"
#include "plan/margin_text.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;

// Of no elements there is no shape: the text that such a permutation has out of place.
std::string map_text(const Rectangle& rectangle) {
  if (rectangle.count() == 0) return "axes(0; 0)";
  return fmt::format("transpose({}, {})", rectangle.rows, rectangle.columns);
}

std::string method_text(const TransposePlan& plan) {
  const std::size_t sweeps = plan.sweeps().size();
  if (sweeps == 0) return "nothing moves";
  return fmt::format("{}: {}, {} sweep{} over memory", name(plan.method()), plan.r2c() ? "R2C" : "C2R",
                     sweeps, sweeps == 1 ? "" : "s");
}

}  // namespace

std::string TransposePlan::explain() const {
  using detail::count_text;
  using detail::size_text;
  detail::MarginText text;
  const Rectangle& r = rectangle_;
  text.whole_line("permutation", map_text(r));
  text.line("", count_text(r.count(), "element") + "; in place");
  text.line("elements", size_text(r.element_bytes) + " wide");
  text.line("batch",
            count_text(r.arrays, "array") + (r.arrays == 1 ? " of " : ", in all ") + size_text(r.bytes()));
  text.line("target", std::string(name(target_.engine)) + (target_.name.empty() ? "" : ", " + target_.name));
  text.line("method", method_text(*this));
  for (std::size_t i = 0; i < sweeps_.size(); ++i) {
    text.line(fmt::format("  sweep {}", i + 1),
              fmt::format("{}: {} read and written", sweeps_[i].what, size_text(sweeps_[i].bytes_read)));
  }
  if (workspace_bytes_ == 0) {
    text.line("workspace", "none");
  } else {
    text.line("workspace", fmt::format("{} for {}, at most {} elements each", size_text(workspace_bytes_),
                                       count_text(workers_, "worker"), std::max(r.rows, r.columns)));
  }
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
