#include "tell/box_lines.hpp"

#include <fmt/format.h>

#include <optional>

#include "tell/box_facts.hpp"
#include "tell/facts.hpp"
#include "tell/tile_facts.hpp"

namespace faro::detail {
namespace {

nlohmann::ordered_json box_json(const BoxFacts& box) {
  nlohmann::ordered_json axes = nlohmann::ordered_json::array();
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

}  // namespace

void add_box_json(nlohmann::ordered_json& json, const Pass& pass) {
  if (const std::optional<BoxFacts> box = box_facts(pass)) {
    json["box"] = box_json(*box);
  } else if (const std::optional<TileFacts> tile = tile_facts(pass); tile && !tile->rows_stay) {
    json["plane_tile"] = box_json(tile->box);
  }
}

void add_box(MarginText& text, const Pass& pass) {
  if (const std::optional<BoxFacts> box = box_facts(pass)) {
    text.line("  box", box_text(*box));
    text.line("  runs", runs_text(*box));
  } else if (const std::optional<TileFacts> tile = tile_facts(pass)) {
    if (tile->rows_stay) {
      text.line("  runs", fmt::format("rows of {}, which stay whole", size_text(tile->box.in_run_bytes)));
      return;
    }
    text.line("  tile", box_text(tile->box, "tile", "tiles"));
    text.line("  runs", runs_text(tile->box));
  }
}

}  // namespace faro::detail
