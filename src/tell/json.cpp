// Plan::explain_json(): the facts of a plan for programs. docs/guide/json.md
// lists the keys; bit vectors are strings in hexadecimal, since many readers round integers past 2^53.
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "faro/json_schema.hpp"
#include "plan/cpu/cpu_workspace.hpp"
#include "plan/kernel_text.hpp"
#include "tell/facts.hpp"
#include "tell/margin_text.hpp"
#include "tell/reasons.hpp"

namespace faro {
namespace {

using detail::BoxFacts;
using detail::PassFacts;
using detail::PlanFacts;
using Json = nlohmann::ordered_json;

// A processor's name may hold any bytes; JSON holds UTF-8.
std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

Json or_null(const auto& optional) { return optional ? Json(*optional) : Json(); }

Json ms_json(const std::optional<double>& us) {
  constexpr double us_per_ms = 1e3;
  return us ? Json(*us / us_per_ms) : Json();
}

Json vectors(std::span<const f2::Word> words) {
  Json list = Json::array();
  for (const f2::Word word : words) list.push_back(detail::hex(word));
  return list;
}

Json short_target_json(const Target& target) {
  return {{"engine", name(target.engine)}, {"name", target.name}, {"threads", target.threads}};
}

Json target_json(const Target& target) {
  Json json = short_target_json(target);
  json.update({{"unit_bytes_max", target.unit_bytes_max},
               {"vector_bytes", target.vector_bytes},
               {"segment_bytes_max", target.segment_bytes_max},
               {"tile_bytes_max", target.tile_bytes_max},
               {"page_bytes", target.page_bytes},
               {"page_entries", target.page_entries},
               {"streaming_bytes", target.streaming_bytes},
               {"first_level_bytes", target.first_level_bytes},
               {"direct_bytes_max", target.direct_bytes_max},
               {"banks", target.banks},
               {"bank_bytes", target.bank_bytes}});
  if (target.engine == Engine::cuda) {
    json["device"] = target.device;
    json["multiprocessors"] = target.multiprocessors;
    json["small_bytes_max"] = target.small_bytes_max;
  }
  return json;
}

// --- an affine pass

Json placement_json(const Pass& pass) {
  if (!pass.placement) return {};
  const layout::Xor& placement = *pass.placement;
  Json masks = Json::array();
  for (int i = placement.bank_row_bits; i < placement.tile_bits; ++i) {
    masks.push_back(detail::hex(placement.mask_of_bit(i)));
  }
  return {{"bank_row_bits", placement.bank_row_bits}, {"masks", std::move(masks)}};
}

Json tile_json(const Pass& pass, std::uint64_t unit_bytes) {
  if (pass.kind != PassKind::segments && pass.kind != PassKind::tile) return {};
  const layout::Tile& tile = pass.tile;
  return {{"segment_bits", tile.segment_bits},
          {"row_bits", tile.row_bits},
          {"rank_gamma", pass.map.rank_gamma(tile.segment_bits)},
          {"bytes", unit_bytes << tile.tile_bits()},
          {"source_rows", vectors(tile.source_rows)},
          {"target_rows", vectors(tile.target_rows)},
          {"blocks", std::uint64_t{1} << tile.block_bits()},
          {"block_sources", vectors(tile.block_sources)},
          {"block_targets", vectors(tile.block_targets)},
          {"complement", detail::hex(tile.complement)},
          {"local", vectors(tile.local.column_span())},
          {"xor", placement_json(pass)}};
}

// Which tiles change places.
Json factor_json(const Pass& pass, const detail::FactorFacts& factor) {
  Json json = {{"factor", factor.text},
               {"class", factor.published_class},
               {"involution", factor.is_involution},
               {"offset", pass.offset}};
  if (!pass.orbits) return json;
  json["space_bits"] = pass.tile.tile_bits();
  json["orbit_tiles"] = pass.orbits->orbit_tiles;
  json["resting_tiles"] = factor.resting_tiles;
  json["next"] = vectors(pass.orbits->next_matrix.column_span());
  json["next_complement"] = detail::hex(pass.orbits->next_complement);
  return json;
}

// --- a pass over axes or a view

Json box_json(const BoxFacts& box) {
  Json axes = Json::array();
  for (const BoxFacts::Axis& axis : box.axes) {
    axes.push_back({{"extent", axis.extent},
                    {"box", axis.box},
                    {"in_bytes", axis.in_bytes},
                    {"out_bytes", axis.out_bytes},
                    {"in_run", axis.in_run},
                    {"out_run", axis.out_run}});
  }
  return {{"axes", std::move(axes)},       {"unit_bytes", box.unit_bytes},
          {"bytes", box.bytes()},          {"boxes", box.boxes},
          {"in_runs", box.in_rows},        {"in_run_bytes", box.in_run_bytes},
          {"out_runs", box.out_rows},      {"out_run_bytes", box.out_run_bytes},
          {"pitch_bytes", box.pitch_bytes}};
}

// --- how a pass is run, and what was counted of it

Json launch_json(const Launch& launch, bool is_affine) {
  Json json = {{"kernel", detail::kernel_text(launch)},
               {"unaligned_kernel", launch.unaligned_kernel.empty() ? Json() : Json(launch.unaligned_kernel)},
               {"blocks", launch.blocks},
               {"threads", launch.threads},
               {"shared_bytes", launch.shared_bytes}};
  if (!is_affine) {
    json["launches"] = launch.launches;
    return json;
  }
  if (launch.unaligned_tile) json["unaligned_kernel"] = detail::kernel_text(*launch.unaligned_tile);
  json["blocked"] = launch.tile && launch.tile->blocked;
  json["vector_bytes"] = launch.vector_bytes;
  json["min_blocks"] = detail::min_blocks(launch);
  json["registers_max"] = detail::registers_max(launch);
  return json;
}

Json team_json(const Team& team) {
  return {{"kernel", team.kernel},
          {"threads", team.threads},
          {"streamed", team.streamed},
          {"thread_bytes", team.thread_bytes},
          {"arrays_at_once", team.arrays_at_once}};
}

// The counts, what they are of an element, and a multiple of the least.
Json counts_json(Json counts, double over_least, double elements) {
  Json per_element;
  for (const auto& [name, count] : counts.items()) per_element[name] = count.get<double>() / elements;
  counts["over_least"] = over_least;
  counts["per_element"] = std::move(per_element);
  return counts;
}

Json global_json(const machine::GlobalCounts& counts, double over_least, double elements) {
  return counts_json({{"requests", counts.requests},
                      {"sectors", counts.sectors},
                      {"lines", counts.lines},
                      {"bytes", counts.bytes}},
                     over_least, elements);
}

Json shared_json(const machine::SharedCounts& counts, double over_least, double elements) {
  Json json =
      counts_json({{"requests", counts.requests}, {"wavefronts", counts.wavefronts}, {"bytes", counts.bytes}},
                  over_least, elements);
  json["congestion"] = counts.max_congestion();
  return json;
}

Json accesses_json(const PassFacts& facts) {
  if (!facts.accesses) return {};
  const detail::Accesses& accesses = *facts.accesses;
  const machine::AccessCounts& counts = accesses.counts;
  return {{"global_loads", global_json(counts.global_loads, accesses.sectors_read, facts.elements)},
          {"global_stores", global_json(counts.global_stores, accesses.sectors_written, facts.elements)},
          {"shared_stores", shared_json(counts.shared_stores, accesses.wavefronts_stored, facts.elements)},
          {"shared_loads", shared_json(counts.shared_loads, accesses.wavefronts_loaded, facts.elements)}};
}

Json lines_json(const PassFacts& facts) {
  if (!facts.lines) return {};
  const auto side = [](const detail::SideLines& lines, std::uint64_t bytes) {
    return Json{
        {"runs", lines.runs}, {"lines", lines.lines}, {"over_least", detail::lines_over_least(lines, bytes)}};
  };
  return {{"bytes", detail::kLineBytes},
          {"read", side(facts.lines->read, facts.pass->bytes_read)},
          {"written", side(facts.lines->written, facts.pass->bytes_written)},
          {"tables", facts.lines->tables}};
}

void add_run(Json& json, const PlanFacts& plan, const PassFacts& facts) {
  const Pass& pass = *facts.pass;
  if (pass.team) {
    json["team"] = team_json(*pass.team);
    json["lines"] = lines_json(facts);
    json["counted"] = facts.lines ? Json(facts.lines->counted) : Json();
    json["bounded"] = facts.lines && facts.lines->bounded;
  } else {
    json["launch"] = pass.launch ? launch_json(*pass.launch, facts.is_affine) : Json();
    json["predicted"] = accesses_json(facts);
    json["counted"] = facts.accesses ? Json(facts.accesses->counted) : Json();
    json["bounded"] = facts.accesses && facts.accesses->bounded;
  }
  json["predicted_time"] = facts.us ? Json{{"ms", ms_json(facts.us)}, {"rates", plan.rates}} : Json();
}

Json pass_json(const PlanFacts& plan, const PassFacts& facts) {
  const Pass& pass = *facts.pass;
  Json json = {{"kind", name(pass.kind)},
               {"reason", facts.reason},
               {"arrays", pass.arrays},
               {"bytes_read", pass.bytes_read},
               {"bytes_written", pass.bytes_written}};
  if (facts.is_affine) {
    json["map"] = to_text(pass.map);
    json["index_bits"] = pass.map.bits();
    json["segment_bytes"] = pass.segment_bytes;
    json["segments_read"] = pass.segments_read;
    json["segments_written"] = pass.segments_written;
    json["tile"] = tile_json(pass, plan.unit_bytes);
    if (facts.factor) json["in_place"] = factor_json(pass, *facts.factor);
  } else {
    json["source"] = name(pass.source);
    json["target"] = name(pass.target);
    json["tables"] = Json::array();
    for (const PassTable& table : pass.tables)
      json["tables"].push_back({{"name", table.name}, {"bytes", table.bytes}});
    if (facts.box) json["box"] = box_json(*facts.box);
    if (facts.plane_tile && !facts.plane_tile->rows_stay)
      json["plane_tile"] = box_json(facts.plane_tile->box);
  }
  add_run(json, plan, facts);
  return json;
}

void add_passes(Json& json, const PlanFacts& facts) {
  json["predicted_ms"] = ms_json(facts.us);
  json["passes"] = Json::array();
  for (const PassFacts& each : facts.passes) json["passes"].push_back(pass_json(facts, each));
}

// --- a plan

Json recognition_json(const Recognition& recognition) {
  Json findings = Json::array();
  for (const Finding& each : recognition.findings) {
    findings.push_back({{"family", name(each.family)}, {"holds", each.holds}, {"why", each.why}});
  }
  return {{"family", name(recognition.family)},
          {"runs", or_null(recognition.runs)},
          {"displacement", or_null(recognition.displacement)},
          {"findings", std::move(findings)}};
}

Json candidate_json(const IndexCandidate& each, const IndexCandidate& chosen) {
  const std::optional<double>& taken = chosen.curve_us;
  return {{"method", name(each.method)},
          {"chunk_bits", each.shape ? Json(each.shape->chunk_bits) : Json()},
          {"level_bits", each.shape ? Json(each.shape->level_bits) : Json::array()},
          {"passes", each.passes},
          {"bytes_moved", each.bytes_moved},
          {"schedule_bytes", each.schedule_bytes},
          {"workspace_bytes", each.workspace_bytes},
          {"times_as_long", each.curve_us && taken ? Json(*each.curve_us / *taken) : Json()},
          {"schedule_ms", ms_json(each.schedule_us)},
          {"taken", &each == &chosen},
          {"why_not", each.why_not}};
}

// What only one kind of plan has.
struct KeysOfWay {
  Json& json;
  const PlanFacts& facts;

  void operator()(const detail::AffineFacts& affine) const {
    json["index_bits"] = affine.index_bits;
    json["class"] = affine.published_class;
    json["involution"] = affine.is_involution;
    add_units();
    json["folded_batch_bits"] = affine.folded_batch_bits;
    json["sweeps"] = affine.sweeps;
    json["literature_sweeps"] = or_null(affine.literature_sweeps);
    json["target"] = target_json(*facts.target);
  }

  void operator()(const detail::WayFacts& way) const {
    json["elements"] = facts.elements;
    json["direction"] = way.array == nullptr ? Json() : Json(name(way.array->direction()));
    add_units();
    json["repeats"] = way.repeats == 0 ? Json() : Json(way.repeats);
    json["method"] = name(way.chosen->method);
    json["reason"] = way.reason;
    json["curves"] = way.curves;
    json["candidates"] = Json::array();
    for (const IndexCandidate& each : way.candidates)
      json["candidates"].push_back(candidate_json(each, *way.chosen));
  }

  void operator()(const TransposePlan* plan) const {
    json["elements"] = facts.elements;
    json["workers"] = plan->workers();
    json["method"] = name(plan->method());
    json["direction"] = plan->r2c() ? "r2c" : "c2r";
    json["sweeps"] = Json::array();
    for (const PassFacts& each : facts.passes) {
      json["sweeps"].push_back({{"what", each.reason},
                                {"bytes_read", each.pass->bytes_read},
                                {"bytes_written", each.pass->bytes_written}});
    }
  }

  void operator()(detail::ReversalFacts /*reversals*/) const {
    json["elements"] = facts.elements;
    json["method"] = "reversals";
    json["sweeps"] = facts.passes.size();
  }

  void operator()(detail::ViewFacts /*view*/) const {}

 private:
  void add_units() const {
    json["unit_bytes"] = facts.unit_bytes;
    json["units_per_element"] = facts.units_per_element();
  }
};

// The keys of a permutation.
Json permutation_json(const PlanFacts& facts) {
  Json json = {{"schema", kJsonSchema},
               {"permutation", facts.permutation},
               {"element_bytes", facts.element_bytes},
               {"batch", facts.batch},
               {"placement", facts.in_place ? "in_place" : "out_of_place"},
               {"bytes", facts.bytes},
               {"workspace_bytes", facts.workspace_bytes},
               {"target", short_target_json(*facts.target)}};
  std::visit(KeysOfWay{json, facts}, facts.kind);
  if (facts.recognition) json["recognition"] = recognition_json(*facts.recognition);
  add_passes(json, facts);
  return json;
}

// The keys of a view, as it was given.
Json view_json(const Plan& plan, const PlanFacts& facts) {
  const Problem& given = plan.given();
  Json json = {{"schema", kJsonSchema},
               {"view", to_text(given)},
               {"normal_form", to_text(normal_form(*given.view))},
               {"elements", element_count(given)},
               {"element_bytes", given.element_bytes},
               {"in_elements", plan.in_bytes() / given.element_bytes},
               {"out_elements", plan.out_bytes() / given.element_bytes},
               {"bytes", plan.array_bytes()},
               {"target", short_target_json(plan.target())},
               {"permutation", plan.problem().view ? Json() : permutation_json(facts)}};
  if (plan.problem().view) {
    add_passes(json, facts);
  } else {
    json["predicted_ms"] = json["permutation"]["predicted_ms"];
    json["passes"] = Json::array();
  }
  return json;
}

}  // namespace

std::string Plan::explain_json() const {
  const PlanFacts facts = detail::facts_of(*this);
  return dumped(given_.view ? view_json(*this, facts) : permutation_json(facts));
}

}  // namespace faro
