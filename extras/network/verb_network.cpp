// faro network explain|run|list: programs of combinators, what becomes of them, and their results.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string_view>

#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/network/network.hpp"
#include "faro/network/program.hpp"
#include "faro/suggest.hpp"
#include "io/npy.hpp"
#include "network/cpu_passes.hpp"
#include "network/drawing.hpp"
#include "network/prediction.hpp"
#include "network/rewrite.hpp"
#include "network/text.hpp"
#include "network_run.hpp"

namespace faro::cli {
namespace {

using network::ElementType;
using network::Program;
using network::Rewriting;
using network::Scalar;

struct NetworkOptions {
  CommonOptions common;
  std::string action;
  std::string program;
  std::string in;
  std::string out;
  std::string bits;
  std::string element;
  std::string tile_bits;
  std::string segment_bits;
  std::string svg;
  bool steps = false;
  bool pairs = false;
  bool verify = false;
  bool quiet = false;
};

network::Sizes sizes_of(const NetworkOptions& options) {
  network::Sizes sizes;
  if (!options.tile_bits.empty()) {
    sizes.tile_bits =
        static_cast<int>(parse_number("--tile-bits", options.tile_bits, 1, network::kMaxNetworkBits));
  }
  if (!options.segment_bits.empty()) {
    sizes.segment_bits =
        static_cast<int>(parse_number("--segment-bits", options.segment_bits, 1, network::kMaxNetworkBits));
  }
  return sizes;
}

// What `--element` says, or the first of u32 and c64 that every operator fits.
ElementType element_of(const NetworkOptions& options, const Program& program) {
  if (!options.element.empty()) return network::parse_element_type(options.element);
  constexpr ElementType kWhole{.scalar = Scalar::u32, .with_value = false};
  constexpr ElementType kComplex{.scalar = Scalar::c64, .with_value = false};
  try {
    network::check_element(program, kWhole);
    return kWhole;
  } catch (const Error&) {
    return kComplex;
  }
}

int bits_of(const NetworkOptions& options) {
  if (options.bits.empty()) {
    fail(ErrorCode::value, "network explain", "no --bits", "--bits N, for arrays of 2^N elements");
  }
  return static_cast<int>(parse_number("--bits", options.bits, 0, network::kMaxNetworkBits));
}

Engine engine_of(const NetworkOptions& options) {
  const Engine engine = options.common.plan_options(1).engine;
  return engine == Engine::automatic ? Engine::cpu : engine;
}

// All steps, whole, where they were asked for; else what the text shows of them.
Json steps_json(const Rewriting& rewriting, bool whole) {
  Json json = Json::array();
  for (const network::RewriteStep& step : rewriting.steps) {
    const auto text = [whole](const Program& program) {
      return whole ? network::to_text(program) : network::short_text(program, network::kShownOfStep);
    };
    json.push_back({{"rule", step.rule}, {"before", text(step.before)}, {"after", text(step.after)}});
  }
  return json;
}

Json counts_json(const Rewriting& rewriting, bool whole_steps) {
  Json json;
  json["before"] = {{"text", network::to_text(rewriting.before)}, {"passes", rewriting.sweeps_before}};
  json["after"] = {{"text", network::to_text(rewriting.after)}, {"passes", rewriting.sweeps_after}};
  json["saved"] = rewriting.sweeps_before - rewriting.sweeps_after;
  json["rules"] = Json::array();
  for (const network::RuleUse& use : rewriting.uses) {
    json["rules"].push_back({{"rule", use.rule}, {"uses", use.count}});
  }
  json["steps"] = steps_json(rewriting, whole_steps);
  return json;
}

Json counts_json(const machine::GlobalCounts& counts) {
  return {{"requests", counts.requests}, {"sectors", counts.sectors}, {"lines", counts.lines}};
}

Json counts_json(const machine::SharedCounts& counts) {
  return {{"requests", counts.requests},
          {"phases", counts.phases},
          {"wavefronts", counts.wavefronts},
          {"congestion", counts.max_congestion()}};
}

// Null where no rates are known.
Json time_json(std::optional<double> us, const std::string& rates) {
  constexpr double us_per_ms = 1e3;
  return us ? Json{{"ms", *us / us_per_ms}, {"rates", rates}} : Json();
}

Json launches_json(const network::Plan& plan, const std::vector<network::LaunchCounts>& launches,
                   const std::optional<Calibration>& rates) {
  Json json = Json::array();
  for (const network::LaunchCounts& launch : launches) {
    std::optional<double> us;
    if (rates) us = network::predict_us(plan, launch, *rates);
    json.push_back({{"pass", launch.pass},
                    {"layers", launch.layers},
                    {"groups", launch.groups},
                    {"kernel", network::kernel_text(plan)},
                    {"blocks", launch.blocks},
                    {"threads", launch.threads},
                    {"shared_bytes", launch.shared_bytes},
                    {"bytes_read", plan.array_bytes()},
                    {"bytes_written", plan.array_bytes()},
                    {"predicted_time", time_json(us, rates ? rates->source : std::string())},
                    {"global_loads", counts_json(launch.counts.global_loads)},
                    {"table_loads", launch.tables ? counts_json(*launch.tables) : Json()},
                    {"global_stores", counts_json(launch.counts.global_stores)},
                    {"shared_stores", counts_json(launch.counts.shared_stores)},
                    {"shared_loads", counts_json(launch.counts.shared_loads)}});
  }
  return json;
}

Json teams_json(const network::Plan& plan, const std::vector<network::CpuPassFacts>& passes,
                const Target& target) {
  Json json = Json::array();
  for (const network::CpuPassFacts& pass : passes) {
    json.push_back({{"pass", pass.pass},
                    {"layers", pass.layers},
                    {"visits", pass.visits},
                    {"kernel", pass.kernel},
                    {"threads", pass.team.threads},
                    {"streamed", pass.team.streamed},
                    {"tiles", pass.team.tiles},
                    {"arrays_a_tile", std::uint64_t{1} << pass.team.fold_bits},
                    {"thread_bytes", plan.problem().element.bytes() << pass.team.buffer_bits},
                    {"bytes_read", pass.bytes_read},
                    {"bytes_written", pass.bytes_read},
                    {"runs", pass.runs},
                    {"lines", pass.lines},
                    {"least_time", time_json(pass.least_us, network::rates_of(target))}});
  }
  return json;
}

// How an engine carries the passes out: on a CPU who shares them out, on a GPU what its memories will see.
struct Carried {
  Target target;
  std::vector<network::CpuPassFacts> on_cpu;
  std::vector<network::LaunchCounts> on_gpu;
};

// The device that would run it; where there is none, the one that faro was measured on.
Target gpu_target(int device) {
  constexpr int kMeasuredCapability = 9;
  return cuda::status().available ? cuda::target(device) : cuda::target_of_capability(kMeasuredCapability, 0);
}

Carried carried_out(const network::Plan& plan, const NetworkOptions& options) {
  const PlanOptions asked = options.common.plan_options(1);
  Carried made;
  if (plan.engine() == Engine::cuda) {
    made.target = gpu_target(asked.device);
    made.on_gpu = network::predict(plan);
  } else {
    made.target = cpu::target(asked.threads);
    made.target.index_calibration = calibration_for(made.target.name, built_in_cpu_calibration());
    made.on_cpu = network::cpu_pass_facts(plan, made.target);
  }
  return made;
}

void explain(const NetworkOptions& options) {
  if (options.program.empty())
    fail(ErrorCode::value, "network explain", "no program", "faro network explain PROGRAM");
  require_own_file("network explain", "--svg", options.svg, files_in(options.program), "the program");
  if (!options.in.empty() || options.pairs || options.verify || options.quiet) {
    fail(ErrorCode::value, "network explain", "a file, --pairs, --verify or --quiet",
         "them with `network run` only");
  }
  const Program program = network::parse_program(options.program, bits_of(options));
  const ElementType element = element_of(options, program);
  network::check_element(program, element);
  const bool all_steps = options.steps && options.common.json;
  const Rewriting rewriting =
      network::rewrite(program, all_steps ? std::numeric_limits<std::size_t>::max() : network::kMostSteps);
  const network::Problem problem{
      .program = program, .element = element, .batch = options.common.batch_count()};
  const network::Plan plan(problem, sizes_of(options), engine_of(options));
  const Carried carried = carried_out(plan, options);
  std::vector<std::size_t> pass_layers;
  for (const network::Pass& pass : plan.passes()) pass_layers.push_back(pass.layers.size());
  TextFile svg(options.svg, options.svg.empty() ? "" : network::svg(program, options.program, pass_layers));
  if (options.common.json) {
    Json json = new_json();
    json["text"] = options.program;
    json["bits"] = program.bits();
    json["rewriting"] = counts_json(rewriting, all_steps);
    json["saved"] =
        rewriting.sweeps_before - std::min(rewriting.sweeps_before, std::uint64_t{plan.passes().size()});
    json["plan"] = Json::parse(plan.explain_json());
    json["plan"].erase("schema");
    json["launches"] = launches_json(plan, carried.on_gpu, carried.target.calibration);
    json["teams"] = teams_json(plan, carried.on_cpu, carried.target);
    print(json);
    return svg.commit();
  }
  const std::size_t planned = plan.passes().size();
  std::string text = rewriting.explain() + "\n" + plan.explain();
  text += network::explain(plan, carried.on_gpu, carried.target.calibration);
  text += network::explain(plan, carried.on_cpu, carried.target);
  if (rewriting.sweeps_before > planned) {
    text += fmt::format("{:<14}{} of the {} passes before\n", "saved", rewriting.sweeps_before - planned,
                        rewriting.sweeps_before);
  }
  if (options.steps) text += "\n" + rewriting.explain_steps();
  while (text.ends_with('\n')) text.pop_back();
  print(text);
  svg.commit();
}

void list(const NetworkOptions& options) {
  if (!options.program.empty()) {
    fail(ErrorCode::value, "network list", "`" + options.program + "`", "nothing after `list`");
  }
  if (options.common.json) {
    Json json = new_json();
    json["programs"] = Json::array();
    for (const network::LibraryEntry& entry : network::library()) {
      json["programs"].push_back({{"name", entry.name}, {"meaning", entry.meaning}});
    }
    json["operators"] = network::operator_names();
    json["functions"] = network::elementwise_names();
    json["rules"] = Json::array();
    for (const network::Rule& rule : network::rewrite_rules()) {
      json["rules"].push_back({{"name", rule.name}, {"law", rule.law}});
    }
    return print(json);
  }
  std::string text = "programs\n";
  for (const network::LibraryEntry& entry : network::library()) {
    text += fmt::format("  {:<22}{}\n", entry.name, entry.meaning);
  }
  text += "\noperators\n ";
  for (const std::string& name : network::operator_names()) text += " " + name;
  text += "\n\nelementwise functions\n ";
  for (const std::string& name : network::elementwise_names()) text += " " + name;
  text += "\n\nrules\n";
  for (const network::Rule& rule : network::rewrite_rules()) {
    text += fmt::format("  {:<18}{}\n", rule.name, rule.law);
  }
  text.pop_back();
  print(text);
}

void run(const NetworkOptions& options) {
  if (options.program.empty() || options.in.empty() || options.out.empty()) {
    fail(ErrorCode::value, "network run", "too few arguments", "faro network run PROGRAM IN.npy OUT.npy");
  }
  const bool explains = !options.bits.empty() || !options.element.empty() || !options.svg.empty() ||
                        options.steps || !options.common.batch.empty();
  if (explains) {
    fail(ErrorCode::value, "network run", "--bits, --element, --batch, --svg or --steps",
         "them with `network explain` only", "the file's dtype and shape say what its elements are");
  }
  run_network({.common = options.common,
               .program = options.program,
               .in = options.in,
               .out = options.out,
               .sizes = sizes_of(options),
               .pairs = options.pairs,
               .verify = options.verify,
               .quiet = options.quiet});
}

void network_action(const NetworkOptions& options) {
  if (options.action == "explain") return explain(options);
  if (options.action == "run") return run(options);
  if (options.action == "list") return list(options);
  constexpr std::array<std::string_view, 3> kActions{"explain", "run", "list"};
  fail(ErrorCode::usage, "network", "`" + options.action + "`", "explain, run or list",
       did_you_mean(options.action, kActions));
}

}  // namespace

Verb network_verb(CLI::App& app) {
  const auto options = std::make_shared<NetworkOptions>();
  CLI::App* const command =
      app.add_subcommand("network", "Explain and run programs of combinators: networks and transforms");
  add_argument(*command, "ACTION", options->action, "explain, run or list");
  command
      ->add_option("PROGRAM", options->program,
                   "The program, such as `sort`, `parm(3; pairs(min_max)) . bmmc(bit_reversal)` or `@file`")
      ->type_name("");
  command
      ->add_option("IN.npy", options->in, "With `run`: one array of 2^n elements, or a batch of such arrays")
      ->type_name("");
  command->add_option("OUT.npy", options->out, "With `run`: the result, with the dtype and shape of IN.npy")
      ->type_name("");
  const auto add = [command](const char* flag, std::string& value, const char* type, const char* help) {
    add_text(*command, flag, value, type, help);
  };
  add("--bits", options->bits, "N", "With `explain`: plan for arrays of 2^N elements");
  add("--element", options->element, "T",
      "With `explain`: i32, u32, i64, u64, f32, f64, c64 or c128; u32+value is a key with a value; the "
      "default is u32, or "
      "c64 where the program needs complex numbers");
  add("--tile-bits", options->tile_bits, "M", "2^M elements a tile; the default suits the engine");
  add("--segment-bits", options->segment_bits, "S", "2^S elements a segment; the default suits the engine");
  add("--svg", options->svg, "FILE", "With `explain`: also draw the network to this file, up to 64 elements");
  command->add_flag("--steps", options->steps, "With `explain`: also print each step of the rewriting");
  command->add_flag("--pairs", options->pairs,
                    "With `run`: the last axis, of extent 2, holds a key and a value; they are ordered by "
                    "key, then by value");
  command->add_flag("--verify", options->verify, "With `run`: check the result before it is written");
  command->add_flag("--quiet", options->quiet, "With `run`: print nothing on standard error but errors");
  options->common.add_batch(*command, "With `explain`: plan for N arrays, one after another");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_threads(*command);
  add_no_sync(*command);
  options->common.add_json(*command);
  return {command, [options] { network_action(*options); }};
}

}  // namespace faro::cli
