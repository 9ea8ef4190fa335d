// network::Plan::explain_json(): the same facts as Plan::explain(), for programs. docs/guide/json.md lists
// the keys; bit vectors are strings in hexadecimal, since many readers round integers past 2^53.
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "faro/json_schema.hpp"
#include "faro/network/plan.hpp"
#include "faro/permutation/permutation.hpp"
#include "network/text.hpp"
#include "tell/margin_text.hpp"

namespace faro::network {
namespace {

using Json = nlohmann::ordered_json;

Json vectors(std::span<const f2::Word> words) {
  Json list = Json::array();
  for (const f2::Word word : words) list.push_back(faro::detail::hex(word));
  return list;
}

Json counts_json(const PassCounts& counts) {
  return {{"as_written", counts.as_written},
          {"layer_by_layer", counts.layer_by_layer},
          {"plain", counts.plain},
          {"planned", counts.planned}};
}

Json layer_json(const LocalLayer& layer) {
  return {{"operator", layer.op.name}, {"bits", layer.bits}, {"delta", faro::detail::hex(layer.delta)}};
}

// By its name where it is a map of the program's own.
std::string map_text(const Affine& map, const NormalForm& form) {
  return map == form.final_map && !form.final_text.empty() ? form.final_text : faro::to_text(map);
}

Json pass_json(const Pass& pass, const NormalForm& form) {
  Json layers = Json::array();
  for (const LocalLayer& layer : pass.layers) layers.push_back(layer_json(layer));
  return {{"first_layer", pass.first_layer},
          {"layer_count", pass.layers.size()},
          {"in_place", pass.in_place},
          {"map", map_text(pass.map, form)},
          {"source_rows", vectors(pass.tile.source_rows)},
          {"target_rows", vectors(pass.tile.target_rows)},
          {"blocks", std::uint64_t{1} << pass.tile.block_bits()},
          {"layers", std::move(layers)}};
}

}  // namespace

std::string Plan::explain_json() const {
  Json directions = Json::array();
  for (const Layer& layer : normal_form_.layers) {
    if (normal_form_.bits > 0) directions.push_back(faro::detail::hex(layer.direction()));
  }
  Json json = {{"schema", kJsonSchema},
               {"program", short_text(problem_.program)},
               {"index_bits", normal_form_.bits},
               {"element", to_text(problem_.element)},
               {"element_bytes", problem_.element.bytes()},
               {"batch", problem_.batch},
               {"placement", problem_.placement == Placement::in_place ? "in_place" : "out_of_place"},
               {"bytes", array_bytes_},
               {"engine", name(engine_)},
               {"tile_bits", sizes_.tile_bits},
               {"segment_bits", sizes_.segment_bits},
               {"layer_count", normal_form_.layers.size()},
               {"directions", std::move(directions)},
               {"final_map", map_text(normal_form_.final_map, normal_form_)},
               {"pass_counts", counts_json(counts_)},
               {"bytes_moved", bytes_moved()},
               {"workspace_bytes", workspace_bytes()}};
  Json passes = Json::array();
  for (const Pass& pass : passes_) passes.push_back(pass_json(pass, normal_form_));
  json["passes"] = std::move(passes);
  // A user's operator may be named by any bytes; JSON holds UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace faro::network
