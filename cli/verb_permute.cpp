// faro permute SPEC IN.npy OUT.npy: the file's data, permuted flat; dtype and shape stay as they are.
//
//     read header  ->  plan  ->  reserve the output  ->  copy, to compare  ->  permute  ->  verify  ->  write
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"
#include "faro/io/npy.hpp"
#include "faro/schedule/index_schedule.hpp"

namespace faro::cli {
namespace {

struct Options {
  CommonOptions common;
  IndexOptions index;
  std::string spec;
  std::string plan_cache;
  std::string in;
  std::string out;
  std::string piece_bytes;
  std::string device_bytes;
  std::string map;
  std::string element;
  bool inverse = false;
  bool verify = false;
  bool quiet = false;
};

// How the file's items are grouped in elements and arrays, and what is done with them.
Problem problem_of(const Options& options, const io::NpyHeader& header) {
  const std::string operation = "permute `" + options.in + "`";
  const std::uint64_t items = header.item_count();
  const std::uint64_t width = options.common.element_bytes_given().value_or(header.item_bytes);
  const std::uint64_t batch = options.common.batch_count();
  if (width % header.item_bytes != 0) {
    refuse_value(operation, fmt::format("--element-bytes {}", width),
                 fmt::format("a multiple of the item size, {}", count_text(header.item_bytes, "byte")),
                 "elements are whole items");
  }
  const std::uint64_t group = width / header.item_bytes;
  if (items % group != 0) {
    refuse_value(operation, count_text(items, "item"),
                 fmt::format("a multiple of the {} in an element", group));
  }
  const std::uint64_t elements = items / group;
  if (batch == 0 ? elements != 0 : elements % batch != 0) {
    refuse_value(operation, fmt::format("{} and --batch {}", count_text(elements, "element"), batch),
                 "a number of elements that is a multiple of the batch");
  }
  const std::optional<std::uint64_t> array_elements =
      batch == 0 ? std::nullopt : std::optional(elements / batch);
  Permutation permutation = parse_spec(options.spec, array_elements, options.index.direction(options.spec));
  if (options.inverse) permutation = inverse(permutation);

  const std::uint64_t wanted = element_count(permutation);
  if (array_elements && wanted != *array_elements) {
    std::string remedy;
    if (wanted == 0) {
      remedy = "";
    } else if (elements % wanted == 0) {
      remedy = fmt::format("--batch {} permutes that many arrays alike", elements / wanted);
    } else if (items % wanted == 0 && items / wanted * header.item_bytes <= kMaxElementBytes) {
      remedy = fmt::format("--element-bytes {} makes larger elements", items / wanted * header.item_bytes);
    }
    refuse_value(operation,
                 fmt::format("{} = {} x {}", count_text(elements, "element"), batch, *array_elements),
                 fmt::format("{} x {} for {}", batch, wanted, to_text(permutation)), remedy);
  }
  return {.permutation = permutation, .element_bytes = width, .batch = batch};
}

// The type that the map's v has, by the file's dtype where an element is one of its items.
std::string map_element(const Options& options, const io::NpyHeader& header, std::uint64_t element_bytes) {
  if (!options.element.empty() || element_bytes != header.item_bytes) return options.element;
  if (header.descr.find('>') != std::string::npos && header.item_bytes > 1) {
    refuse_value("permute `" + options.in + "`",
                 "--map on dtype " + header.descr + ", of the other byte order",
                 "numbers of this machine's byte order", "--element says what v is instead");
  }
  struct Kind {
    char letter;
    std::array<const char*, 5> by_width;  // 1 to 16 bytes
  };
  constexpr std::array kKinds{Kind{'f', {"", "__half", "float", "double", ""}},
                              Kind{'i', {"int8_t", "int16_t", "int32_t", "int64_t", ""}},
                              Kind{'c', {"", "", "", "float2", "double2"}}};
  for (const Kind& kind : kKinds) {
    // "'<f4'": the letter is between the byte order and the size.
    if (header.descr.size() > 2 && header.descr[2] == kind.letter && std::has_single_bit(header.item_bytes) &&
        header.item_bytes <= 16) {
      return kind.by_width[static_cast<std::size_t>(std::countr_zero(header.item_bytes))];
    }
  }
  return "";
}

// --map as a plan, or the plan itself.
ExecutablePlan with_map(const Options& options, const io::NpyHeader& header, ExecutablePlan plan) {
  if (options.map.empty()) return plan;
  return plan.with_map(options.map, map_element(options, header, plan.plan().problem().element_bytes));
}

void check_map(const Options& options) {
  if (options.map.empty() && !options.element.empty())
    refuse_value("permute", "--element without --map", "--element with --map only");
  if (!options.map.empty() && options.verify) {
    refuse_value("permute", "--verify with --map", "one of them",
                 "what CUDA C++ computes has nothing here to be checked against");
  }
}

cuda::StagingOptions staging_options(const Options& options, const PlanOptions& plan_options) {
  cuda::StagingOptions staging{.threads = plan_options.threads};
  if (!options.piece_bytes.empty()) staging.piece_bytes = parse_size("--piece-bytes", options.piece_bytes);
  if (!options.device_bytes.empty())
    staging.device_bytes = parse_size("--device-bytes", options.device_bytes);
  const bool given = staging.piece_bytes != 0 || staging.device_bytes != 0;
  if (given && plan_options.engine != Engine::cuda) {
    refuse_value("permute", "--piece-bytes or --device-bytes with --engine " + options.common.engine,
                 "them with --engine cuda only");
  }
  return staging;
}

// "bit_reversal(20): one pass, 4 KiB tiles of 64-byte segments".
// The permutation is named as it was typed, for the canonical text of a matrix is long.
std::string plan_line(const Options& options, const Plan& plan) {
  std::string line = options.inverse ? "inverse(" + options.spec + ")" : options.spec;
  // White space is free in a permutation's text, but this is one line.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (plan.problem().batch != 1) line += fmt::format(" x {}", plan.problem().batch);
  if (!options.map.empty()) line += fmt::format(" with {}", options.map);
  if (plan.index_plan() != nullptr && plan.array_bytes() > 0) {
    const IndexCandidate& chosen = plan.index_plan()->chosen();
    return line + fmt::format(": {}; {} over memory", to_text(chosen),
                              chosen.passes == 1 ? "1 pass" : fmt::format("{} passes", chosen.passes));
  }
  if (plan.passes().empty()) return line + ": nothing to move";
  const Pass& pass = plan.passes().front();
  switch (pass.kind) {
    case PassKind::copy:
      return line + ": a copy";
    case PassKind::direct:
      return line + ": element by element";
    case PassKind::segments:
      return line + fmt::format(": one pass, segments of {}", size_text(pass.segment_bytes));
    case PassKind::tile:
      break;
  }
  return line + fmt::format(": one pass, tiles of {} in segments of {}",
                            size_text(plan.unit_bytes() << pass.tile.tile_bits()),
                            size_text(pass.segment_bytes));
}

// A plan, and what it took to have it.
struct Planned {
  ExecutablePlan plan;
  double milliseconds = 0;
  std::string cache;  // what became of --plan-cache: "read", "written", "not needed"; empty without
};

const char* kind_of(const schedule::IndexSchedule& schedule) {
  static constexpr std::array kNames{"direct", "window", "runs", "partition", "row_column"};
  return kNames.at(schedule.what.index());
}

// Whether a kept schedule is what --method, --chunk-bits and --levels ask for, as far as they ask.
bool is_asked_for(const IndexChoice& choice, const schedule::IndexSchedule& schedule) {
  const auto* const partition = std::get_if<schedule::PartitionSchedule>(&schedule.what);
  const bool has_sizes = choice.chunk_bits || !choice.level_bits.empty();
  if (choice.method && name(*choice.method) != std::string_view(kind_of(schedule))) return false;
  if (!has_sizes) return true;
  return partition != nullptr &&
         choice.chunk_bits.value_or(partition->shape.chunk_bits) == partition->shape.chunk_bits &&
         (choice.level_bits.empty() || choice.level_bits == partition->shape.level_bits);
}

// The schedule of --plan-cache. Errors: also where it is of another array, or not what the options ask for.
std::shared_ptr<const schedule::IndexSchedule> kept_schedule(const Options& options, const Problem& problem) {
  auto kept = std::make_shared<const schedule::IndexSchedule>(schedule::load(options.plan_cache));
  const std::string operation = "permute `" + options.in + "`";
  const std::string remedy = "delete `" + options.plan_cache + "` to have it made anew";
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  if (indexed != nullptr && kept->count != indexed->count()) {
    refuse_value(
        operation,
        fmt::format("--plan-cache {}, made for {}", options.plan_cache, count_text(kept->count, "element")),
        fmt::format("a plan for {}", count_text(indexed->count(), "element")), remedy);
  }
  if (indexed != nullptr && kept->fingerprint != schedule::fingerprint(*indexed)) {
    refuse_value(operation, "--plan-cache " + options.plan_cache + ", made from another index array",
                 "a plan of " + options.spec, remedy);
  }
  if (!is_asked_for(options.index.choice(), *kept)) {
    refuse_value(operation,
                 fmt::format("--plan-cache {}, which holds method {}", options.plan_cache, kind_of(*kept)),
                 "the method and the sizes that the options ask for", "leave them out, or " + remedy);
  }
  return kept;
}

Planned planned(const Options& options, const Problem& problem, PlanOptions plan_options) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path cache = options.plan_cache;
  std::error_code ignored;
  const bool kept = !cache.empty() && std::filesystem::exists(cache, ignored);
  if (kept) {
    plan_options.index_schedule = kept_schedule(options, problem);
  } else {
    plan_options.index_choice = options.index.choice();
  }
  Planned made{.plan = faro::plan(problem, plan_options), .milliseconds = 0, .cache = kept ? "read" : ""};
  if (!cache.empty() && !kept) {
    const bool has_schedule = made.plan.schedule() != nullptr;
    if (has_schedule) made.plan.save(cache);
    made.cache = has_schedule ? "written" : "not needed";
  }
  made.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return made;
}

// The file that the permutation is read from is not written over.
void check_spec_file(const Options& options) {
  for (std::size_t at = options.spec.find('@'); at != std::string::npos;
       at = options.spec.find('@', at + 1)) {
    const std::string path = options.spec.substr(at + 1, options.spec.find_first_of("),;", at) - at - 1);
    if (io::same_file(path, options.out)) {
      refuse_value("permute `" + options.in + "`",
                   options.out + " as OUT, which the permutation is read from", "a file of its own");
    }
  }
}

void check_plan_cache(const Options& options) {
  if (options.plan_cache.empty()) return;
  for (const std::string& other : {options.in, options.out}) {
    std::error_code ignored;
    if (io::same_file(options.plan_cache, other) ||
        std::filesystem::weakly_canonical(std::filesystem::absolute(options.plan_cache, ignored), ignored) ==
            std::filesystem::weakly_canonical(std::filesystem::absolute(other, ignored), ignored)) {
      refuse_value(
          "permute `" + options.in + "`",
          "--plan-cache " + options.plan_cache + ", the same file as " + (other == options.in ? "IN" : "OUT"),
          "a file of its own");
    }
  }
}

void check_plan_cache_of(const Options& options, const Problem& problem) {
  if (options.plan_cache.empty() || std::holds_alternative<Indexed>(problem.permutation)) return;
  refuse_value("permute `" + options.in + "`", "--plan-cache with " + to_text(problem.permutation),
               "it with an index array", "nothing else needs a schedule");
}

void print_outcome(const Options& options, const Problem& problem, const Planned& planned,
                   const Outcome& outcome) {
  const ExecutablePlan& plan = planned.plan;
  const std::uint64_t bytes = total_bytes(problem);
  const double rate = gb_per_s(bytes, outcome.milliseconds);
  if (!options.common.json) {
    std::string way;
    if (outcome.pieces > 0 && outcome.setup_ms == 0) {
      way = fmt::format(" whole through {}", plan.plan().target().name);
    } else if (outcome.pieces > 0) {
      way = fmt::format(" in {} through {} (its buffers pinned before, in {:.3g} ms)",
                        count_text(outcome.pieces, "piece"), plan.plan().target().name, outcome.setup_ms);
    }
    std::string cache;
    if (!planned.cache.empty()) {
      cache = fmt::format("; plan {}{}", planned.cache,
                          planned.cache == "not needed" ? "" : ", `" + options.plan_cache + "`");
    }
    note(fmt::format("{}; {:.3g} ms{}, {:.3g} GB/s, {:.0f}% of copy{}{}; {}: {}",
                     plan_line(options, plan.plan()), outcome.milliseconds, way, rate,
                     100 * outcome.share_of_copy, options.verify ? ", verified" : "", cache,
                     name(plan.engine()), plan.engine_reason()));
    return;
  }
  Json json = new_json();
  json["spec"] = to_text(problem.permutation);
  json["in"] = options.in;
  json["out"] = options.out;
  json["elements"] = element_count(problem.permutation);
  json["element_bytes"] = problem.element_bytes;
  json["batch"] = problem.batch;
  json["bytes"] = bytes;
  json["map"] = options.map;
  json["plan"] = plan_line(options, plan.plan());
  json["plan_ms"] = planned.milliseconds;
  json["plan_cache"] = planned.cache;
  json["engine"] = name(plan.engine());
  json["engine_reason"] = plan.engine_reason();
  json["device"] = plan.plan().target().name;
  json["pieces"] = outcome.pieces;
  json["setup_ms"] = outcome.setup_ms;
  json["ms"] = outcome.milliseconds;
  json["gb_per_s"] = rate;
  json["copy_gb_per_s"] = outcome.copy_gb_per_s;
  json["share_of_copy"] = outcome.share_of_copy;
  json["verified"] = options.verify;
  print(json);
}

void permute(const Options& options) {
  const bool report = !options.quiet || options.common.json;
  Outcome outcome;
  Problem problem;
  check_map(options);
  if (io::same_file(options.in, options.out)) {
    refuse_value("permute `" + options.in + "`", "the same file as OUT", "two files",
                 "a result in place is not yet supported");
  }
  check_plan_cache(options);
  check_spec_file(options);
  std::optional<Planned> plan;
  {
    Progress progress(report && !options.quiet ? Verbosity::normal : Verbosity::quiet);
    progress.step("reading " + options.in);
    const io::NpyInput input(options.in);
    const std::span<const std::byte> in = input.data();
    problem = problem_of(options, input.header());
    const PlanOptions plan_options = options.common.plan_options(problem.element_bytes);
    check_plan_cache_of(options, problem);
    progress.step("planning " + options.spec);
    plan = planned(options, problem, plan_options);
    plan->plan = with_map(options, input.header(), std::move(plan->plan));
    const HostRun run(plan->plan, staging_options(options, plan_options));
    progress.step("reserving " + size_text(in.size()));
    io::NpyOutput output(options.out, input.header().descr, input.header().shape, input.header().item_bytes);
    const std::span<std::byte> out = output.data();
    progress.step("permuting " + size_text(in.size()));
    if (report) {
      outcome = run_timed(run, in, out, plan_options.threads);
    } else {
      run(in, out);
    }
    if (options.verify) {
      progress.step("verifying");
      verify(problem, in.data(), out.data(), plan_options.threads);
    }
    progress.step("writing " + options.out);
    output.commit();
  }
  if (report) print_outcome(options, problem, *plan, outcome);
}

}  // namespace

Verb permute_verb(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("permute", "Permute an array of a .npy file: out[pi(x)] = in[x]");
  command->add_option("SPEC", options->spec, "The permutation, such as `bit_reversal` or `transpose(64, 32)`")
      ->required()
      ->type_name("");
  command->add_option("IN.npy", options->in, "The array to permute; C order, any dtype of plain bytes")
      ->required()
      ->type_name("");
  command->add_option("OUT.npy", options->out, "The result, with the dtype and shape of IN.npy")
      ->required()
      ->type_name("");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_tile(*command);
  command
      ->add_option("--piece-bytes", options->piece_bytes,
                   "With --engine cuda: the array travels in pieces of at most this size, such as 64MiB")
      ->type_name("SIZE")
      ->check(refuse_empty);
  command
      ->add_option("--device-bytes", options->device_bytes,
                   "With --engine cuda: device memory to use at most; the default is half of what is free")
      ->type_name("SIZE")
      ->check(refuse_empty);
  command
      ->add_option("--map", options->map,
                   "With --engine cuda: out[pi(x)] = EXPR, CUDA C++ over v = in[x], x and y = pi(x)")
      ->type_name("EXPR")
      ->check(refuse_empty);
  command
      ->add_option("--element", options->element,
                   "With --map: the type of v, such as float; the default is the dtype's")
      ->type_name("TYPE")
      ->check(refuse_empty);
  options->index.add_direction(*command);
  command
      ->add_option("--plan-cache", options->plan_cache,
                   "Of an index array: use the schedule in this file, or make it and keep it there")
      ->type_name("FILE")
      ->check(refuse_empty);
  options->index.add_choice(*command);
  options->common.add_batch(*command);
  options->common.add_element_bytes(*command, "Bytes of an element: so many consecutive items move together");
  command->add_flag("--inverse", options->inverse, "The inverse permutation: out[x] = in[pi(x)]");
  command->add_flag("--verify", options->verify,
                    "Check every element against the obvious loop before writing");
  options->common.add_threads(*command);
  command->add_flag("--quiet", options->quiet, "Nothing on standard error but errors");
  options->common.add_json(*command);
  return {command, [options] { permute(*options); }};
}

}  // namespace faro::cli
