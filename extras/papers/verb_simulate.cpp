// faro simulate PROGRAM: a program of the memory machines, run, verified and timed in units.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "capi/simulation_json.hpp"
#include "cli/arguments.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/simulate_shards.hpp"
#include "cli/verbs.hpp"
#include "faro/machine/trace.hpp"
#include "faro/suggest.hpp"
#include "programs/simulation.hpp"

namespace faro::cli {
namespace {

using machine::MachineKind;
using machine::MachineOptions;
using machine::MachineReport;
using Result = capi::SimulationResult;

constexpr std::string_view kTrace = "trace";
constexpr std::string_view kPermute = "permute";
constexpr std::string_view kShards = "shards";
// So much of the pipeline is printed and drawn.
constexpr std::uint64_t kTimelineUnits = 256;

struct SimulateOptions {
  std::string program;
  std::string file;
  std::string machine = "dmm";
  std::string width = "32";
  std::string latency = "32";
  std::string threads;
  std::string n;
  std::string registers;
  std::string dmms = "1";
  std::string shared_latency = "1";
  std::string spec;
  std::string seed = "0";
  std::string layout;
  std::string svg;
  SimulatedShards shards;
  bool direct = false;
  bool overlap = false;
  bool timeline = false;
  bool json = false;
};

MachineKind parse_machine(const std::string& text) {
  for (const MachineKind kind : {MachineKind::dmm, MachineKind::umm, MachineKind::hmm}) {
    if (machine::name(kind) == text) return kind;
  }
  fail(ErrorCode::value, "read --machine", "`" + text + "`", "dmm, umm or hmm");
}

MachineOptions machine_of(const SimulateOptions& options) {
  const auto size = [](const char* option, const std::string& text, std::uint64_t most) {
    return text.empty() ? 0 : parse_number(option, text, 1, most);
  };
  return {.kind = parse_machine(options.machine),
          .width = size("--width", options.width, machine::kMaxWidth),
          .latency = size("--latency", options.latency, machine::kMaxLatency),
          .threads = size("--threads", options.threads, machine::kMaxThreads),
          .registers = size("--registers", options.registers, machine::kMaxWidth),
          .dmms = size("--dmms", options.dmms, machine::kMaxDmms),
          .shared_latency = size("--shared-latency", options.shared_latency, machine::kMaxLatency),
          .word_bytes = 4,
          .overlap = options.overlap,
          .timeline_units = options.timeline || !options.svg.empty() ? kTimelineUnits : 0};
}

void check_program(const std::string& name) {
  const auto known = programs::program_names();
  std::vector<std::string_view> names(known.begin(), known.end());
  names.push_back(kTrace);
  names.push_back(kShards);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  fail(ErrorCode::usage, "simulate", "the program `" + name + "`",
       fmt::format("one of {}", fmt::join(names, ", ")), did_you_mean(name, names));
}

Result run_trace(const SimulateOptions& options) {
  if (options.file.empty())
    fail(ErrorCode::usage, "simulate", "no FILE", "simulate trace FILE", "`faro simulate --help` shows how");
  if (!options.n.empty() || !options.spec.empty() || options.direct || !options.registers.empty() ||
      !options.layout.empty()) {
    fail(ErrorCode::usage, "simulate", "--n, --spec, --layout, --direct or --registers with a trace",
         "a trace and a machine", "`faro simulate --help` shows how");
  }
  machine::TraceRun run = machine::run_trace(machine_of(options), machine::read_trace(options.file));
  Result result{.machine = run.machine,
                .report = std::move(run.report),
                .timeline = std::move(run.timeline),
                .n = 0,
                .simulation = {}};
  result.n = result.report.accesses;
  return result;
}

// A permutation of n words, where that is not 0. An index array of more than any program takes is refused
// before it is made.
Permutation permutation_of(const std::string& spec, std::uint64_t n) {
  ParseOptions options;
  options.most_index_elements = 2 * programs::kMostElements;
  if (n != 0) options.shape.emplace(1, n);
  faro::detail::NotedPermutation read = faro::detail::parse_with_notes(spec, options);
  for (const std::string& line : read.notes) note_afterwards(line);
  remember_name(read.parsed.permutation, spec);
  return std::move(read.parsed.permutation);
}

Result run_program(const SimulateOptions& options) {
  const bool permutes = options.program == kPermute;
  if (!options.file.empty() && (!permutes || !options.spec.empty())) {
    fail(ErrorCode::usage, "simulate", "one argument too many, `" + options.file + "`",
         "a FILE after `trace`, or after `permute` without --spec", "`faro simulate --help` shows how");
  }
  programs::ProgramRequest request{.program = options.program,
                                   .machine = machine_of(options),
                                   .seed = parse_number("--seed", options.seed, 0),
                                   .direct = options.direct};
  if (!options.n.empty()) request.n = parse_number("--n", options.n, 1, programs::kMostElements);
  if (!options.layout.empty()) request.layout = programs::parse_matrix_layout(options.layout);
  const std::string spec = options.file.empty() ? options.spec : "@\"" + options.file + "\"";
  if (!spec.empty()) request.permutation = permutation_of(spec, request.n);
  programs::Simulation simulation = programs::simulate(request);
  return {.machine = simulation.request.machine,
          .report = simulation.report,
          .timeline = simulation.timeline,
          .n = simulation.request.n,
          .simulation = simulation};
}

// What there is to say beside n.
std::string how_run(const programs::Simulation& simulation) {
  std::string text;
  if (simulation.padded_n != simulation.request.n)
    text += fmt::format(", padded to {} by words that stay", simulation.padded_n);
  if (simulation.request.layout)
    text += fmt::format(", layout {}", programs::name(*simulation.request.layout));
  return text;
}

std::string text_of(const SimulateOptions& options, const Result& result) {
  const MachineOptions& machine = result.machine;
  const MachineReport& report = result.report;
  std::string text =
      fmt::format("{} on the {}: width {}, latency {}, {}", options.program, machine::name(machine.kind),
                  machine.width, machine.latency, count_text(machine.threads, "thread"));
  if (machine.kind == MachineKind::hmm) {
    text += fmt::format(", {} of latency {}", count_text(machine.dmms, "DMM"), machine.shared_latency);
  }
  if (result.simulation) text += ", n = " + std::to_string(result.n) + how_run(*result.simulation);
  text += fmt::format("\n\ntime         {}\n", count_text(report.time, "unit"));
  if (report.overlap_time) {
    text +=
        fmt::format("overlapped   {}, with asynchronous issue\n", count_text(*report.overlap_time, "unit"));
  }
  if (result.simulation) {
    const programs::Cost& formula = result.simulation->formula;
    text += fmt::format("formula      {} = {}   ({})\n", formula.time, formula.text, formula.source);
    text += fmt::format("lower bound  {} = max(ceil(n/w), ceil(n/p) l)   (Theorem 4.1)\n",
                        result.simulation->lower_bound);
  }
  text += fmt::format("accesses     {}: {} of warps in {}, {}\n", report.accesses, report.requests,
                      count_text(report.rounds, "round"), count_text(report.stages, "stage"));
  text += "congestion  ";
  for (std::size_t c = 1; c < report.congestion.size(); ++c) {
    if (report.congestion[c] == 0) continue;
    text += fmt::format(" {} of {};", report.congestion[c], count_text(c, "stage"));
  }
  text.pop_back();
  if (result.simulation) text += "\nverified     every word is where a plain loop puts it";
  if (options.timeline) text += "\n\n" + machine::timeline_text(result.timeline);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Links between ranks are no memory machine: they have options of their own.
void simulate_links(const SimulateOptions& options) {
  if (!options.file.empty() || !options.n.empty() || !options.svg.empty() || options.timeline ||
      options.overlap || options.direct || !options.layout.empty() || !options.threads.empty()) {
    fail(ErrorCode::usage, "simulate shards", "an option of the memory machines, or a FILE",
         "--spec, --ranks, --topology, --element-bytes, --shard-in and --shard-out",
         "`faro simulate --help` shows how");
  }
  SimulatedShards asked = options.shards;
  asked.spec = options.spec;
  asked.json = options.json;
  simulate_shards(asked);
}

void simulate(const SimulateOptions& options) {
  check_program(options.program);
  if (options.program == kShards) return simulate_links(options);
  const SimulatedShards& shards = options.shards;
  if (!shards.ranks.empty() || !shards.topology.empty() || !shards.element_bytes.empty() ||
      shards.cuts.is_given()) {
    fail(ErrorCode::usage, "simulate",
         "--ranks, --topology, --element-bytes, --shard-in or --shard-out with " + options.program,
         "them with `simulate shards`");
  }
  require_own_file("simulate", "--svg", options.svg, {options.file}, "a file");
  require_own_file("simulate", "--svg", options.svg, files_in(options.spec));
  const Result result = options.program == kTrace ? run_trace(options) : run_program(options);
  const std::string& name = options.program == kTrace ? options.file : options.program;
  TextFile svg(options.svg, options.svg.empty() ? "" : machine::timeline_svg(result.timeline, name));
  if (options.json) {
    print(capi::simulation_json(result, {.program = options.program,
                                         .file = options.file,
                                         .direct = options.direct,
                                         .timeline = options.timeline}));
  } else {
    print(text_of(options, result));
  }
  svg.commit();
}

}  // namespace

Verb simulate_verb(CLI::App& app) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* const command = app.add_subcommand("simulate", "Time a program on a memory machine, in units");
  add_argument(*command, "PROGRAM", options->program,
               "contiguous, stride, copy, transpose-straightforward, transpose-diagonal, "
               "transpose-rotating, permute, diagonal, transpose-crsw, transpose-srcw, transpose-drdw, "
               "trace, or shards: links between ranks");
  command
      ->add_option(
          "FILE", options->file,
          "With trace: a text file with a line for each access of a warp; with permute: a file such as "
          "index.npy instead of --spec")
      ->type_name("");
  const auto add = [command](const char* flag, std::string& value, const char* type, const char* help) {
    add_text(*command, flag, value, type, help);
  };
  add("--machine", options->machine, "M", "The machine: dmm (the default), umm or hmm");
  add("--width", options->width, "W", "Number of memory banks and of threads in a warp; the default is 32");
  add("--latency", options->latency, "L", "Time units of an access; the default is 32");
  add("--threads", options->threads, "P",
      "Number of threads, a multiple of W that divides N; the default is the most that the program allows");
  add("--n", options->n, "N", "Number of words; the default is W x W, or what SPEC needs");
  add("--registers", options->registers, "R",
      "Words that a thread keeps in registers, for transpose-rotating and permute on the umm; the default is "
      "W");
  add("--dmms", options->dmms, "K", "Number of DMMs in the hmm; the default is 1");
  add("--shared-latency", options->shared_latency, "L",
      "Time units of an access to a DMM of the hmm; the default is 1");
  add("--spec", options->spec, "SPEC", "With permute: the permutation; the default is a random one");
  add("--seed", options->seed, "S", "Seed of the random permutation and of --layout; the default is 0");
  add("--layout", options->layout, "L",
      "raw, ras or rap: how the rows of the matrix of contiguous, stride, diagonal, transpose-crsw, -srcw "
      "and "
      "-drdw are shifted");
  command->add_flag("--direct", options->direct, "With permute: run the plain loop, without a schedule");
  command->add_flag(
      "--overlap", options->overlap,
      "Also compute the time where a warp may issue an access before others have completed theirs");
  command->add_flag("--timeline", options->timeline,
                    "Also print what enters the pipeline in the first 256 units");
  add("--svg", options->svg, "FILE", "Also draw the same to this file");
  add("--ranks", options->shards.ranks, "N",
      "With shards: the number of ranks, or several such numbers, as in 8,64,4096; the default is 8");
  add("--topology", options->shards.topology, "T",
      "With shards: flat (the default), islands, or a JSON file that docs/guide/shards.md describes");
  add("--element-bytes", options->shards.element_bytes, "B",
      "With shards: bytes of an element; the default is 4");
  options->shards.cuts.add(*command);
  add_no_sync(*command);
  command->add_flag("--json", options->json,
                    "Print JSON on standard output; docs/guide/json.md describes it");
  return {command, [options] { simulate(*options); }};
}

}  // namespace faro::cli
