#include "capi/author_json.hpp"

#include "faro/json_schema.hpp"
#include "tell/published_class.hpp"

namespace faro::capi {

using layout::AccessCost;
using layout::AccessSet;
using layout::Advice;
using layout::Candidate;

namespace {

Json json_of(const Candidate& candidate, const Advice& advice) {
  Json json;
  json["layout"] = candidate.placement.name();
  json["worst"] = candidate.worst();
  json["extra_bytes"] = candidate.extra_bytes;
  json["proven_by_ranks"] = candidate.proven_by_ranks;
  json["costs"] = Json::array();
  for (std::size_t k = 0; k < candidate.costs.size(); ++k) {
    const AccessCost& cost = candidate.costs[k];
    json["costs"].push_back({{"access", advice.request.accesses[k].text},
                             {"worst", cost.worst},
                             {"mean", cost.mean},
                             {"wavefronts", cost.wavefronts},
                             {"holds_always", cost.holds_always}});
  }
  return json;
}

}  // namespace

Json layout_json(const layout::Advice& advice) {
  const layout::SharedArray& array = advice.request.array;
  Json json = {{"schema", kJsonSchema}};
  json["rows"] = array.rows;
  json["columns"] = array.columns;
  json["element_bytes"] = array.element_bytes;
  json["seed"] = advice.request.seed;
  json["accesses"] = Json::array();
  for (const AccessSet& set : advice.request.accesses) json["accesses"].push_back(set.text);
  json["choice"] = advice.chosen().placement.name();
  json["worst"] = advice.chosen().worst();
  json["reason"] = advice.reason;
  json["cute"] = nullptr;
  if (advice.cute) {
    json["cute"] = {{"B", advice.cute->bits}, {"M", advice.cute->base}, {"S", advice.cute->shift}};
  }
  json["remarks"] = advice.remarks;
  json["candidates"] = Json::array();
  for (const Candidate& candidate : advice.candidates)
    json["candidates"].push_back(json_of(candidate, advice));
  json["shared_elements"] = advice.chosen().placement.size();
  json["code"] = advice.chosen().placement.device_code();
  return json;
}

namespace {

Json json_of(const machine::GlobalCounts& counts) {
  return {{"requests", counts.requests},
          {"bytes", counts.bytes},
          {"sectors", counts.sectors},
          {"lines", counts.lines}};
}

Json json_of(const machine::SharedCounts& counts) {
  return {{"requests", counts.requests},
          {"wavefronts", counts.wavefronts},
          {"congestion", counts.max_congestion()}};
}

Json json_of(const emit::Kernel& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["map"] = to_text(kernel.map);
  json["blocks"] = kernel.blocks;
  json["threads_x"] = kernel.threads_x;
  json["threads_y"] = kernel.threads_y;
  json["shared_bytes"] = kernel.shared_bytes;
  json["dynamic_shared_bytes"] = kernel.dynamic_shared_bytes;
  json["predicted"] = {{"global_loads", json_of(kernel.predicted.global_loads)},
                       {"global_stores", json_of(kernel.predicted.global_stores)},
                       {"shared_loads", json_of(kernel.predicted.shared_loads)},
                       {"shared_stores", json_of(kernel.predicted.shared_stores)}};
  return json;
}

}  // namespace

Json emit_json(const Affine& map, const emit::Options& options, const emit::Source& source) {
  const bool is_cuda = options.language == emit::Language::cuda;
  Json emitted;
  emitted["map"] = to_text(map);
  const int t = options.tile_bits > 0
                    ? options.tile_bits
                    : published_tile_bits_of(static_cast<std::uint64_t>(source.element_bytes));
  emitted["class"] = name(map.classify(t));
  emitted["target"] = emit::name(options.language);
  emitted["kernel"] = is_cuda ? Json(emit::name(options.rung)) : Json(nullptr);
  emitted["name"] = options.name;
  emitted["element"] = source.element;
  emitted["element_bytes"] = source.element_bytes;
  emitted["result_bytes"] = source.result_bytes;
  emitted["arithmetic"] = options.arithmetic ? Json(to_text(*options.arithmetic)) : Json(nullptr);
  emitted["alignment_bytes"] = source.vector_bytes;
  emitted["workspace_bytes"] = source.workspace_bytes;
  emitted["function"] = options.map.empty() ? Json(nullptr) : Json(options.map);
  emitted["kernels"] = Json::array();
  for (const emit::Kernel& kernel : source.kernels) emitted["kernels"].push_back(json_of(kernel));
  emitted["text"] = source.text;
  Json json = {{"schema", kJsonSchema}};
  json["emit"] = emitted;
  return json;
}

}  // namespace faro::capi
