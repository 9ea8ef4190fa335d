#include "capi/simulation_json.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "faro/error.hpp"
#include "faro/json_schema.hpp"

namespace faro::capi {

namespace {

Json json_of(const machine::TimelineStage& stage) {
  return {{"unit", stage.unit},
          {"memory", stage.memory},
          {"warp", stage.warp},
          {"round", stage.round},
          {"words", stage.words}};
}

}  // namespace

Json simulation_json(const SimulationResult& result, const SimulationAsked& asked) {
  const machine::MachineOptions& machine = result.machine;
  const machine::MachineReport& report = result.report;
  const bool of_program = result.simulation.has_value();
  Json json = {{"schema", kJsonSchema}};
  json["program"] = asked.program;
  json["machine"] = machine::name(machine.kind);
  json["width"] = machine.width;
  json["latency"] = machine.latency;
  json["threads"] = machine.threads;
  json["n"] = result.n;
  json["time"] = report.time;
  json["formula"] = of_program ? Json(result.simulation->formula.time) : Json();
  json["lower_bound"] = of_program ? Json(result.simulation->lower_bound) : Json();
  json["congestion"] = Json::object();
  for (std::size_t c = 1; c < report.congestion.size(); ++c) {
    if (report.congestion[c] > 0) json["congestion"][std::to_string(c)] = report.congestion[c];
  }
  json["formula_text"] = of_program ? Json(result.simulation->formula.text) : Json();
  json["formula_source"] = of_program ? Json(result.simulation->formula.source) : Json();
  json["rounds"] = report.rounds;
  json["requests"] = report.requests;
  json["accesses"] = report.accesses;
  json["stages"] = report.stages;
  json["overlap_time"] = report.overlap_time ? Json(*report.overlap_time) : Json();
  json["registers"] = of_program ? Json(machine.registers) : Json();
  json["dmms"] = machine.dmms;
  json["shared_latency"] = machine.shared_latency;
  const bool permutes = asked.program == std::string_view("permute");
  const bool is_random = permutes && !result.simulation->request.permutation;
  const bool has_layout = of_program && result.simulation->request.layout;
  const auto layout =
      has_layout ? *result.simulation->request.layout : programs::MatrixLayout::raw;  // raw: nothing moved
  const bool is_shifted = layout != programs::MatrixLayout::raw;
  json["spec"] = permutes && !is_random ? Json(to_text(*result.simulation->request.permutation)) : Json();
  json["seed"] = is_random || is_shifted ? Json(result.simulation->request.seed) : Json();
  json["direct"] = asked.direct;
  json["layout"] = has_layout ? Json(programs::name(layout)) : Json();
  json["padded_n"] = of_program ? Json(result.simulation->padded_n) : Json();
  json["verified"] = of_program;
  json["file"] = of_program ? Json() : Json(asked.file);
  json["timeline"] = Json::array();
  if (asked.timeline) {
    for (const machine::TimelineStage& stage : result.timeline.stages) {
      json["timeline"].push_back(json_of(stage));
    }
  }
  return json;
}

namespace {

machine::MachineOptions machine_of(const Request& request) {
  constexpr std::uint64_t kTimelineUnits = 256;
  const std::string kind = request.text("machine", "dmm");
  machine::MachineOptions options{
      .kind = machine::MachineKind::dmm,
      .width = request.number("width", 32, 1, machine::kMaxWidth),
      .latency = request.number("latency", 32, 1, machine::kMaxLatency),
      .threads = request.number("threads", 0, 1, machine::kMaxThreads),
      .registers = request.number("registers", 0, 1, machine::kMaxWidth),
      .dmms = request.number("dmms", 1, 1, machine::kMaxDmms),
      .shared_latency = request.number("shared_latency", 1, 1, machine::kMaxLatency),
      .overlap = request.flag("overlap"),
      .timeline_units = request.flag("timeline") ? kTimelineUnits : 0};
  for (const auto known : {machine::MachineKind::dmm, machine::MachineKind::umm, machine::MachineKind::hmm}) {
    if (machine::name(known) != kind) continue;
    options.kind = known;
    return options;
  }
  fail(ErrorCode::value, "simulate", "the machine `" + kind + "`", "dmm, umm or hmm");
}

}  // namespace

Simulated simulate_asked(const char* text) {
  const Request request(text, "simulate",
                        {"program", "machine", "width", "latency", "threads", "n", "registers", "dmms",
                         "shared_latency", "spec", "seed", "layout", "direct", "overlap", "timeline"});
  programs::ProgramRequest asked{.program = request.text("program", ""),
                                 .machine = machine_of(request),
                                 .n = request.number("n", 0, 1, programs::kMostElements),
                                 .seed = request.number("seed", 0, 0, ~std::uint64_t{0}),
                                 .direct = request.flag("direct")};
  if (request.has("layout")) asked.layout = programs::parse_matrix_layout(request.text("layout", ""));
  if (request.has("spec")) {
    ParseOptions options;
    if (asked.n != 0) options.shape = std::vector<std::uint64_t>{asked.n};
    asked.permutation = parse_permutation(request.text("spec", ""), options);
  }
  programs::Simulation simulation = programs::simulate(asked);
  return {.result = {.machine = simulation.request.machine,
                     .report = simulation.report,
                     .timeline = simulation.timeline,
                     .n = simulation.request.n,
                     .simulation = simulation},
          .asked = {.program = asked.program,
                    .file = {},
                    .direct = asked.direct,
                    .timeline = request.flag("timeline")}};
}

}  // namespace faro::capi
