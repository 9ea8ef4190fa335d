// IndexPlan::explain_json(): the same facts as explain(), for programs; docs/guide/json.md lists the keys.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tell/facts.hpp"
#include "tell/index_facts.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;

Json candidate_json(const IndexPlan& plan, const IndexCandidate& each) {
  constexpr double us_per_ms = 1e3;
  const std::optional<double>& taken = plan.chosen().curve_us;
  return {{"method", name(each.method)},
          {"chunk_bits", each.shape ? Json(each.shape->chunk_bits) : Json()},
          {"level_bits", each.shape ? Json(each.shape->level_bits) : Json::array()},
          {"passes", each.passes},
          {"bytes_moved", each.bytes_moved},
          {"schedule_bytes", each.schedule_bytes},
          {"workspace_bytes", each.workspace_bytes},
          {"times_as_long", each.curve_us && taken ? Json(*each.curve_us / *taken) : Json()},
          {"schedule_ms", each.schedule_us ? Json(*each.schedule_us / us_per_ms) : Json()},
          {"taken", &each == &plan.chosen()},
          {"why_not", each.why_not}};
}

Json direction_json(const Problem& problem) {
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  return indexed == nullptr ? Json() : Json(name(indexed->direction()));
}

}  // namespace

namespace detail {

nlohmann::ordered_json recognition_json(const Recognition& recognition) {
  Json findings = Json::array();
  for (const Finding& each : recognition.findings) {
    findings.push_back({{"family", name(each.family)}, {"holds", each.holds}, {"why", each.why}});
  }
  return {{"family", name(recognition.family)},
          {"runs", recognition.runs ? Json(*recognition.runs) : Json()},
          {"displacement", recognition.displacement ? Json(*recognition.displacement) : Json()},
          {"findings", std::move(findings)}};
}

}  // namespace detail

std::string IndexPlan::explain_json() const {
  Json json = {
      {"schema", detail::kJsonSchema},
      {"permutation", to_text(problem_.permutation)},
      {"elements", count()},
      {"direction", direction_json(problem_)},
      {"element_bytes", problem_.element_bytes},
      {"unit_bytes", unit_bytes_},
      {"units_per_element", element_units()},
      {"batch", problem_.batch},
      {"placement", "out_of_place"},
      {"bytes", array_bytes()},
      {"workspace_bytes", workspace_bytes()},
      {"repeats", repeats_ == 0 ? Json() : Json(repeats_)},
      {"method", name(chosen().method)},
      {"reason", detail::method_reason(*this)},
      {"curves", calibration().source},
      {"recognition", detail::recognition_json(recognition_)},
      {"target", {{"engine", name(target_.engine)}, {"name", target_.name}, {"threads", target_.threads}}}};
  Json candidates = Json::array();
  for (const IndexCandidate& each : candidates_) candidates.push_back(candidate_json(*this, each));
  json["candidates"] = std::move(candidates);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace faro
