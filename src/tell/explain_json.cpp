// Plan::explain_json(): the same facts as Plan::explain(), for programs. docs/guide/json.md lists the keys;
// bit vectors are strings in hexadecimal, since many readers round integers past 2^53.
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "faro/plan/plan.hpp"
#include "plan/cpu/cpu_pass.hpp"
#include "plan/reversals.hpp"
#include "tell/box_lines.hpp"
#include "tell/counts/line_counts_json.hpp"
#include "tell/facts.hpp"
#include "tell/index_facts.hpp"
#include "tell/launch_facts.hpp"
#include "tell/margin_text.hpp"
#include "tell/prediction.hpp"
#include "tell/published_class.hpp"

namespace faro {
namespace {

using Json = nlohmann::ordered_json;

Json vectors(std::span<const f2::Word> words) {
  Json list = Json::array();
  for (const f2::Word word : words) list.push_back(detail::hex(word));
  return list;
}

Json target_json(const Target& target) {
  Json json = {{"engine", name(target.engine)},
               {"name", target.name},
               {"threads", target.threads},
               {"unit_bytes_max", target.unit_bytes_max},
               {"vector_bytes", target.vector_bytes},
               {"segment_bytes_max", target.segment_bytes_max},
               {"tile_bytes_max", target.tile_bytes_max},
               {"page_bytes", target.page_bytes},
               {"page_entries", target.page_entries},
               {"streaming_bytes", target.streaming_bytes},
               {"first_level_bytes", target.first_level_bytes},
               {"direct_bytes_max", target.direct_bytes_max},
               {"banks", target.banks},
               {"bank_bytes", target.bank_bytes}};
  if (target.engine == Engine::cuda) {
    json["device"] = target.device;
    json["multiprocessors"] = target.multiprocessors;
    json["small_bytes_max"] = target.small_bytes_max;
  }
  return json;
}

Json placement_json(const Pass& pass) {
  if (!pass.placement) return {};
  const layout::Xor& placement = *pass.placement;
  Json masks = Json::array();
  for (int i = placement.bank_row_bits; i < placement.tile_bits; ++i) {
    masks.push_back(detail::hex(placement.mask_of_bit(i)));
  }
  return {{"bank_row_bits", placement.bank_row_bits}, {"masks", std::move(masks)}};
}

Json tile_json(const Plan& plan, const Pass& pass) {
  const layout::Tile& tile = pass.tile;
  return {{"segment_bits", tile.segment_bits},
          {"row_bits", tile.row_bits},
          {"rank_gamma", pass.map.rank_gamma(tile.segment_bits)},
          {"bytes", plan.unit_bytes() << tile.tile_bits()},
          {"source_rows", vectors(tile.source_rows)},
          {"target_rows", vectors(tile.target_rows)},
          {"blocks", std::uint64_t{1} << tile.block_bits()},
          {"block_sources", vectors(tile.block_sources)},
          {"block_targets", vectors(tile.block_targets)},
          {"complement", detail::hex(tile.complement)},
          {"local", vectors(tile.local.column_span())},
          {"xor", placement_json(pass)}};
}

Json launch_json(const Launch& launch) {
  return {{"kernel", detail::kernel_text(launch)},
          {"blocked", launch.tile && launch.tile->blocked},
          {"vector_bytes", launch.vector_bytes},
          {"blocks", launch.blocks},
          {"threads", launch.threads},
          {"shared_bytes", launch.shared_bytes},
          {"min_blocks", detail::min_blocks(launch)},
          {"registers_max", detail::registers_max(launch)},
          {"unaligned_kernel",
           launch.unaligned_tile ? Json(detail::kernel_text(*launch.unaligned_tile)) : Json()}};
}

Json team_json(const Team& team) {
  return {{"kernel", team.kernel},
          {"threads", team.threads},
          {"streamed", team.streamed},
          {"thread_bytes", team.thread_bytes},
          {"arrays_at_once", team.arrays_at_once}};
}

Json global_json(const machine::GlobalCounts& counts, double over_least, double elements) {
  return {{"requests", counts.requests},
          {"sectors", counts.sectors},
          {"lines", counts.lines},
          {"bytes", counts.bytes},
          {"over_least", over_least},
          {"per_element",
           {{"requests", static_cast<double>(counts.requests) / elements},
            {"sectors", static_cast<double>(counts.sectors) / elements},
            {"lines", static_cast<double>(counts.lines) / elements},
            {"bytes", static_cast<double>(counts.bytes) / elements}}}};
}

Json shared_json(const machine::SharedCounts& counts, double over_least, double elements) {
  return {{"requests", counts.requests},
          {"wavefronts", counts.wavefronts},
          {"bytes", counts.bytes},
          {"congestion", counts.max_congestion()},
          {"over_least", over_least},
          {"per_element",
           {{"requests", static_cast<double>(counts.requests) / elements},
            {"wavefronts", static_cast<double>(counts.wavefronts) / elements},
            {"bytes", static_cast<double>(counts.bytes) / elements}}}};
}

Json predicted_json(const Plan& plan, std::size_t index, const detail::Predicted& predicted) {
  const machine::AccessCounts& counts = predicted.counts;
  const double elements = detail::elements_of(plan, index);
  return {{"global_loads", global_json(counts.global_loads, predicted.sectors_read, elements)},
          {"global_stores", global_json(counts.global_stores, predicted.sectors_written, elements)},
          {"shared_stores", shared_json(counts.shared_stores, predicted.wavefronts_stored, elements)},
          {"shared_loads", shared_json(counts.shared_loads, predicted.wavefronts_loaded, elements)}};
}

Json time_json(const Plan& plan, std::size_t index, const PassCounter& counter) {
  constexpr double us_per_ms = 1e3;
  const std::optional<double> us = counter.microseconds(index);
  if (!us) return nullptr;
  return {{"ms", *us / us_per_ms}, {"rates", rates_of(plan)}};
}

// Of all passes together.
Json plan_ms_json(const PassCounter& counter) {
  constexpr double us_per_ms = 1e3;
  const std::optional<double> us = counter.microseconds();
  return us ? Json(*us / us_per_ms) : Json();
}

// On a CPU.
void add_lines(Json& json, const Plan& plan, std::size_t index) {
  const auto counts = detail::count_lines(plan, index);
  json["lines"] = Json();
  json["counted"] = Json();
  if (!counts) return;
  const Pass& pass = plan.passes()[index];
  detail::add_lines(json, *counts, pass.bytes_read, pass.bytes_written);
}

void add_counts(Json& json, const Plan& plan, std::size_t index, const PassCounter& counter) {
  const auto predicted = detail::predicted_if_counted(plan, index, counter);
  json["predicted"] = predicted ? predicted_json(plan, index, *predicted) : Json();
  json["counted"] = predicted ? Json(predicted->counted) : Json();
  json["bounded"] = predicted && predicted->bounded;
  json["predicted_time"] = time_json(plan, index, counter);
}

// Of a pass in place: the factor, and which tiles change places.
Json factor_json(const Pass& pass, std::uint64_t unit_bytes) {
  Json json = {{"factor", detail::factor_text(pass.map)},
               {"class", name(published_class(pass.map, unit_bytes))},
               {"involution", pass.map.is_involution()},
               {"offset", pass.offset}};
  if (!pass.orbits) return json;
  json["space_bits"] = pass.tile.tile_bits();
  json["orbit_tiles"] = pass.orbits->orbit_tiles;
  json["resting_tiles"] = detail::resting_tiles(*pass.orbits);
  json["next"] = vectors(pass.orbits->next_matrix.column_span());
  json["next_complement"] = detail::hex(pass.orbits->next_complement);
  return json;
}

Json pass_json(const Plan& plan, std::size_t index, const PassCounter& counter) {
  const Pass& pass = plan.passes()[index];
  const bool tiled = pass.kind == PassKind::segments || pass.kind == PassKind::tile;
  Json json = {{"kind", name(pass.kind)},
               {"reason", detail::reason(plan, index)},
               {"map", to_text(pass.map)},
               {"index_bits", pass.map.bits()},
               {"arrays", pass.arrays},
               {"segment_bytes", pass.segment_bytes},
               {"bytes_read", pass.bytes_read},
               {"bytes_written", pass.bytes_written},
               {"segments_read", pass.segments_read},
               {"segments_written", pass.segments_written},
               {"tile", tiled ? tile_json(plan, pass) : Json()}};
  if (detail::is_in_place(plan)) json["in_place"] = factor_json(pass, plan.unit_bytes());
  if (plan.target().engine == Engine::cuda) {
    json["launch"] = pass.launch ? launch_json(*pass.launch) : Json();
    add_counts(json, plan, index, counter);
  }
  if (pass.team) {
    json["team"] = team_json(*pass.team);
    add_lines(json, plan, index);
    json["predicted_time"] = time_json(plan, index, counter);
  }
  return json;
}

// A pass that is not affine.
Json other_pass_json(const Plan& plan, std::size_t index, const PassCounter& counter) {
  const Pass& pass = plan.passes()[index];
  Json tables = Json::array();
  for (const PassTable& table : pass.tables) tables.push_back({{"name", table.name}, {"bytes", table.bytes}});
  Json json = {{"kind", name(pass.kind)},       {"reason", pass.what},
               {"arrays", pass.arrays},         {"source", name(pass.source)},
               {"target", name(pass.target)},   {"tables", std::move(tables)},
               {"bytes_read", pass.bytes_read}, {"bytes_written", pass.bytes_written}};
  detail::add_box_json(json, pass);
  if (pass.team) {
    json["team"] = team_json(*pass.team);
    add_lines(json, plan, index);
    json["predicted_time"] = time_json(plan, index, counter);
    return json;
  }
  json["launch"] = Json();
  if (pass.launch) {
    const Launch& launch = *pass.launch;
    json["launch"] = {
        {"kernel", launch.kernel},
        {"unaligned_kernel", launch.unaligned_kernel.empty() ? Json() : Json(launch.unaligned_kernel)},
        {"blocks", launch.blocks},
        {"threads", launch.threads},
        {"shared_bytes", launch.shared_bytes},
        {"launches", launch.launches}};
  }
  add_counts(json, plan, index, counter);
  return json;
}

// A plan's own description with its passes.
std::string with_passes(const std::string& described, const Plan& plan) {
  Json json = Json::parse(described);
  if (plan.transpose_plan() != nullptr && plan.recognition() != nullptr) {
    json["recognition"] = detail::recognition_json(*plan.recognition());
  }
  const PassCounter counter(plan);
  json["predicted_ms"] = plan_ms_json(counter);
  json["passes"] = Json::array();
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    json["passes"].push_back(other_pass_json(plan, i, counter));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string Plan::explain_json() const {
  if (index_plan_) return with_passes(index_plan_->explain_json(), *this);
  if (transpose_plan_) return with_passes(transpose_plan_->explain_json(), *this);
  if (detail::reverses_in_place(problem_)) {
    Json json = {
        {"schema", detail::kJsonSchema},
        {"permutation", to_text(problem_.permutation)},
        {"elements", element_count(problem_.permutation)},
        {"element_bytes", problem_.element_bytes},
        {"batch", problem_.batch},
        {"placement", "in_place"},
        {"bytes", array_bytes_},
        {"workspace_bytes", 0},
        {"method", "reversals"},
        {"sweeps", passes_.size()},
        {"target", {{"engine", name(target_.engine)}, {"name", target_.name}, {"threads", target_.threads}}}};
    if (recognition_) json["recognition"] = detail::recognition_json(*recognition_);
    return with_passes(json.dump(-1, ' ', false, Json::error_handler_t::replace), *this);
  }
  const Affine& map = detail::element_map(*this);
  Json json = {
      {"schema", detail::kJsonSchema},
      {"permutation", to_text(problem_.permutation)},
      {"index_bits", map.bits()},
      {"class", name(published_class(map, problem_.element_bytes))},
      {"involution", map.is_involution()},
      {"element_bytes", problem_.element_bytes},
      {"unit_bytes", unit_bytes_},
      {"units_per_element", std::uint64_t{1} << unit_bits_per_element_},
      {"batch", problem_.batch},
      {"folded_batch_bits", folded_batch_bits_},
      {"placement", detail::is_in_place(*this) ? "in_place" : "out_of_place"},
      {"bytes", array_bytes_},
      {"workspace_bytes", workspace_bytes()},
      {"sweeps", detail::sweeps(*this)},
      {"literature_sweeps", detail::is_in_place(*this) ? Json() : Json(detail::literature_sweeps(*this))},
      {"target", target_json(target_)}};
  if (recognition_) json["recognition"] = detail::recognition_json(*recognition_);
  const PassCounter counter(*this);
  json["predicted_ms"] = plan_ms_json(counter);
  Json passes = Json::array();
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    passes.push_back(passes_[i].kind == PassKind::patch ? other_pass_json(*this, i, counter)
                                                        : pass_json(*this, i, counter));
  }
  json["passes"] = std::move(passes);
  // A processor's name may hold any bytes; JSON holds UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace faro
