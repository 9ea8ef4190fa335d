// faro permute SPEC IN.npy OUT.npy: the file's data, permuted; the shape follows the permutation, and the
// dtype stays as it is where no option changes numbers, for which files are swept (permute_file.cpp). One
// file in place is permute_in_place.cpp's.
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
#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/host_run.hpp"
#include "cli/output.hpp"
#include "cli/permute_file.hpp"
#include "cli/permute_options.hpp"
#include "cli/permute_ways.hpp"
#include "cli/progress.hpp"
#include "cli/rank_owners.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/faro.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "file/fortran_order.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"

namespace faro::cli {
namespace {

// The type that the map's v has, by the file's dtype where an element is one of its items.
std::string map_element(const PermuteOptions& options, const io::NpyHeader& header,
                        std::uint64_t element_bytes) {
  if (!options.element.empty() || element_bytes != header.item_bytes) return options.element;
  const io::NpyTypeCode code = header.type_code().value_or(io::NpyTypeCode{});
  if (code.big_endian) {
    fail(ErrorCode::value, "permute `" + options.in + "`",
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
    if (code.kind == kind.letter && std::has_single_bit(header.item_bytes) && header.item_bytes <= 16) {
      return kind.by_width[static_cast<std::size_t>(std::countr_zero(header.item_bytes))];
    }
  }
  return "";
}

// --map as a plan, or the plan itself.
ExecutablePlan with_map(const PermuteOptions& options, const io::NpyHeader& header, ExecutablePlan plan) {
  if (options.map.empty()) return plan;
  return plan.with_map(options.map, map_element(options, header, plan.plan().given().element_bytes));
}

// Options that say nothing without another, whatever the arrays lie in.
void check_pairs(const PermuteOptions& options) {
  const bool on_host = options.common.engine == "auto" || options.common.engine == "cpu";
  struct Pair {
    const char* given;
    bool is_alone;
    const char* other;
  };
  for (const Pair& each :
       {Pair{"--element", options.map.empty() && !options.element.empty(), "--map"},
        Pair{"--no-backup", options.no_backup && !options.in_place, "--in-place"},
        Pair{"--device", on_host && !options.common.device.empty(), "--engine cuda"},
        Pair{"--piece-bytes", on_host && !options.piece_bytes.empty(), "--engine cuda"},
        Pair{"--device-bytes", on_host && !options.device_bytes.empty(), "--engine cuda"}}) {
    if (each.is_alone)
      fail(ErrorCode::value, "permute", std::string(each.given) + " without " + each.other,
           std::string(each.given) + " with " + each.other + " only");
  }
}

void check_map(const PermuteOptions& options) {
  if (!options.map.empty() && options.verify) {
    fail(ErrorCode::value, "permute", "--verify with --map", "one of them",
         "what CUDA C++ computes has nothing here to be checked against");
  }
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
std::shared_ptr<const schedule::IndexSchedule> kept_schedule(const PermuteOptions& options,
                                                             const Problem& problem) {
  auto kept = std::make_shared<const schedule::IndexSchedule>(schedule::load(options.plan_cache));
  const std::string operation = "permute `" + options.in + "`";
  const std::string remedy = "delete `" + options.plan_cache + "` to have it made anew";
  const auto* const indexed = std::get_if<Indexed>(&problem.permutation);
  const std::uint64_t count = kept->count * kept->blocks.repeats * kept->blocks.together;
  if (indexed != nullptr && count != indexed->count()) {
    fail(ErrorCode::value, operation,
         fmt::format("--plan-cache {}, made for {}", options.plan_cache, count_text(count, "element")),
         fmt::format("a plan for {}", count_text(indexed->count(), "element")), remedy);
  }
  const auto block = indexed == nullptr ? std::nullopt : schedule::scheduled_block(*indexed, kept->blocks);
  if (indexed != nullptr && (!block || kept->fingerprint != schedule::fingerprint(*block))) {
    fail(ErrorCode::value, operation,
         "--plan-cache " + options.plan_cache + ", made from another index array",
         "a plan of " + options.spec, remedy);
  }
  if (!is_asked_for(options.index.choice(), *kept)) {
    fail(ErrorCode::value, operation,
         fmt::format("--plan-cache {}, which holds method {}", options.plan_cache, kind_of(*kept)),
         "the method and the sizes that the options ask for", "leave them out, or " + remedy);
  }
  return kept;
}

// The plan; one that is kept and moves other elements than the index array at hand is reported by its file.
ExecutablePlan plan_by(const PermuteOptions& options, const Problem& problem,
                       const PlanOptions& plan_options) {
  try {
    return faro::plan(problem, plan_options);
  } catch (const Error& error) {
    if (plan_options.index_schedule == nullptr || error.code() != ErrorCode::verification) throw;
    fail(ErrorCode::verification, "permute `" + options.in + "`", error.report().got, error.report().wanted,
         "no result was written; the plan in `" + options.plan_cache +
             "` is not this permutation's: delete it to have it made anew");
  }
}

Planned planned(const PermuteOptions& options, const Problem& problem, PlanOptions plan_options) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path cache = options.plan_cache;
  std::error_code ignored;
  const bool kept = !cache.empty() && std::filesystem::exists(cache, ignored);
  if (kept) {
    plan_options.index_schedule = kept_schedule(options, problem);
  } else {
    plan_options.index_choice = options.index.choice();
    // A schedule that is kept is for other runs too.
    if (cache.empty()) plan_options.index_choice.repeats = 1;
  }
  if (!cache.empty() && !kept) io::require_output(cache);
  Planned made{
      .plan = plan_by(options, problem, plan_options), .milliseconds = 0, .cache = kept ? "read" : ""};
  if (!cache.empty() && !kept) made.cache = made.plan.schedule() != nullptr ? "written" : "not needed";
  made.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return made;
}

// The plan and the result: both, or neither.
// `report` is called when all is on the disk but for the file's name.
void write(const PermuteOptions& options, const Planned& planned, io::NpyOutput& output, Progress& progress,
           const std::function<void()>& report) {
  const bool keeps = planned.cache == "written";
  if (keeps) {
    progress.step("writing " + options.plan_cache);
    planned.plan.save(options.plan_cache);
  }
  progress.step("writing " + options.out, output.data().size());
  try {
    output.finish(progress.advance());
    progress.end();
    report();
    output.commit();
  } catch (...) {
    std::error_code ignored;
    if (keeps) std::filesystem::remove(options.plan_cache, ignored);
    throw;
  }
}

void check_plan_cache(const PermuteOptions& options) {
  if (options.plan_cache.empty()) return;
  for (const std::string& other : {options.in, options.out}) {
    if (io::same_target(options.plan_cache, other)) {
      fail(
          ErrorCode::value, "permute `" + options.in + "`",
          "--plan-cache " + options.plan_cache + ", the same file as " + (other == options.in ? "IN" : "OUT"),
          "a file of its own");
    }
  }
}

void check_plan_cache_of(const PermuteOptions& options, const Problem& problem) {
  if (options.plan_cache.empty() || std::holds_alternative<Indexed>(problem.permutation)) return;
  fail(ErrorCode::value, "permute `" + options.in + "`", "--plan-cache with " + to_text(problem.permutation),
       "that option with an index array", "no other permutation needs a schedule");
}

void print_json(const PermuteOptions& options, const FileProblem& asked, const Planned& planned,
                const Outcome& outcome) {
  const ExecutablePlan& plan = planned.plan;
  const Problem& problem = asked.problem;
  const std::uint64_t bytes = total_bytes(problem);
  const double rate = gb_per_s(bytes, outcome.milliseconds);
  Json json = new_json();
  json["spec"] = to_text(problem);
  json["in"] = options.in;
  json["out"] = options.out;
  json["shape"] = asked.shape_after(plan.plan());
  json["elements"] = element_count(problem);
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

void print_line(const PermuteOptions& options, const FileProblem& asked, const Planned& planned,
                const Outcome& outcome, double total_ms) {
  const Plan& plan = planned.plan.plan();
  RunFacts facts{.elements = asked.elements,
                 .milliseconds = outcome.milliseconds,
                 .total_ms = total_ms,
                 .pieces = outcome.pieces,
                 .plan_cache = {},
                 .shape = {}};
  if (!planned.cache.empty()) {
    facts.plan_cache = "plan " + planned.cache;
    if (planned.cache != "not needed") facts.plan_cache += ", `" + options.plan_cache + "`";
  }
  if (const auto shape = asked.shape_after(plan); shape != asked.shape)
    facts.shape = "shape " + shape_text(shape);
  note(run_line(options, plan, facts));
}

// Numbers are changed from file to file alone.
void check_numbers(const PermuteOptions& options) {
  const std::string option = options.numbers.first();
  if (option.empty()) return;
  const std::string other =
      first_given({{"--in-place", options.in_place},
                   {"--devices", options.devices.is_given()},
                   {"--map", !options.map.empty()},
                   {"--plan-cache", !options.plan_cache.empty()},
                   {"standard input or output", options.in == kStream || options.out == kStream},
                   {"--engine cuda", options.common.engine == "cuda"}});
  if (other.empty()) return;
  fail(ErrorCode::unsupported, file_operation(options), option + " with " + other,
       "one of them, since numbers are changed from one file to another by the CPU",
       "`faro permute 'roll(0)' IN.npy OUT.npy` with the options changes them first");
}

void check_files(const PermuteOptions& options) {
  if (!options.in_place && !options.has_out) {
    fail(ErrorCode::usage, "permute", "no OUT.npy", "SPEC IN.npy OUT.npy",
         "`faro permute --help` shows how; --in-place takes one file");
  }
  if (options.has_out && options.out.empty())
    fail(ErrorCode::file, "write OUT", "an empty name", "the name of a file");
#ifndef FARO_DEMO
  require_whole(options.in);
#endif
  if (!options.in_place && options.raw.empty()) require_npy_name("permute `" + options.in + "`", options.out);
  if (!options.in_place && io::same_file(options.in, options.out)) {
    fail(ErrorCode::value, "permute `" + options.in + "`", "the same file as OUT", "two files",
         "--in-place permutes one file");
  }
}

// Data in Fortran order is a view of what it means: the permutation takes its axes along. Where it cannot,
// the data is put into C order first.
void read_as_view(const PermuteOptions& options, io::NpyInput& input, FileProblem& asked) {
  const auto permutation = options.map.empty() ? on_fortran_data(input.header(), asked) : std::nullopt;
  if (!permutation) return input.put_in_c_order();
  asked.result_shape = asked.shape_after(Plan(asked.problem, cpu::target(1)));
  asked.problem.permutation = *permutation;
}

// The result's order as well, by the same permutation. False where that takes another one afterwards.
bool put_in_fortran_order(const PermuteOptions& options, const io::NpyHeader& header, FileProblem& asked) {
  if (auto made = in_fortran_order(header, asked)) {
    asked = *std::move(made);
    return true;
  }
  if (!options.map.empty()) fail_order(options, "--map of " + options.label());
  return false;
}

// The orders of both files, by the problem itself. False where the result's order takes a second permutation.
bool put_in_order(const PermuteOptions& options, io::NpyInput& input, FileProblem& asked,
                  io::MemoryOrder order) {
  const bool to_fortran = order == io::MemoryOrder::fortran;
  if (!to_fortran && !input.header().fortran_order) return true;
  if (options.map.empty()) {
    if (auto flipped = flipped_view(input.header(), asked, order)) {
      asked = *std::move(flipped);
      return true;
    }
  }
  const bool is_put = !to_fortran || put_in_fortran_order(options, input.header(), asked);
  if (input.header().fortran_order) read_as_view(options, input, asked);
  return is_put;
}

// The second permutation, and what became of the first one's times.
Outcome turned(const Problem& turn, std::span<const std::byte> in, std::span<std::byte> out, int threads,
               Outcome outcome) {
  const ExecutablePlan plan = faro::plan(turn, {.engine = Engine::cpu, .threads = threads});
  const auto start = std::chrono::steady_clock::now();
  plan.run(in.data(), out.data(), in.size());
  outcome.milliseconds += milliseconds_since(start);
  if (outcome.copy_gb_per_s > 0)
    outcome.share_of_copy = gb_per_s(in.size(), outcome.milliseconds) / outcome.copy_gb_per_s;
  return outcome;
}

#ifdef FARO_DEMO
// The command of `make demo` goes from one .npy file in memory to another, and has none of the other ways
// that permute() chooses from.
void require_shown(const CLI::App& command, const PermuteOptions& options) {
  constexpr std::array<std::string_view, 8> kShown{"--batch",   "--engine", "--element-bytes", "--inverse",
                                                   "--threads", "--verify", "--quiet",         "--json"};
  for (const CLI::Option* const option : command.get_options()) {
    if (option->count() > 0 && !option->get_positional() &&
        std::find(kShown.begin(), kShown.end(), option->get_name()) == kShown.end())
      faro_left_out();
  }
  if (!options.in.ends_with(".npy") || !options.out.ends_with(".npy")) faro_left_out();
}
#endif

void permute(PermuteOptions options) {
  const auto start = std::chrono::steady_clock::now();
  complete_spec(options);
  check_pairs(options);
#ifndef FARO_DEMO
  check_file_options(options);
  if (is_of_bits(options)) return permute_bits(options);
  options.shards = options.shards || options.cuts.is_given();
  if (options.shards && (is_of_stores(options) || !options.raw.empty() || is_for_each_rank(options.in) ||
                         is_for_each_rank(options.out)))
    return permute_shard_stores(options);
  if (is_of_stores(options)) return relayout_stores(options);
#endif
  check_numbers(options);
#ifndef FARO_DEMO
  if (options.shards) return permute_shards(options);
  if (options.devices.is_given()) return permute_devices(options);
#endif
  Outcome outcome;
  FileProblem asked;
  const io::MemoryOrder order = options.order == "F" ? io::MemoryOrder::fortran : io::MemoryOrder::c;
  check_map(options);
#ifndef FARO_DEMO
  if (options.in == kStream || options.out == kStream) return permute_stream(options);
#endif
  check_files(options);
  if (options.in_place) {
    const io::NpyHeader header = header_of_input(options);
    if (options.view) require_view_in_place(options, header);
    if (!permute_in_place_by_file(options, header)) permute_in_place(options);
    return;
  }
  check_plan_cache(options);
  check_spec_file(options, options.out, "OUT");
  if (!options.raw.empty()) {
    const io::NpyHeader header = header_of_input(options);
    FileRequest request(options, header);
    permute_by_file(request);
    return;
  }
  io::NpyInput input = io::NpyInput::header_first(options.in);
  FileRequest request(options, input.header());
#ifndef FARO_DEMO
  if (permute_by_file(request)) return;
#endif
  std::optional<Planned> plan;
  {
    const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
    Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
    progress.step("reading " + options.in, bytes_of_file(options.in));
    input.load(progress.advance(), io::FortranData::as_it_lies);
    asked = options.view ? request.problem() : for_kernels(options, request.problem());
    if (options.view) input.put_in_c_order();
    check_plan_cache_of(options, asked.problem);
    const bool is_turned = !asked.problem.view && !put_in_order(options, input, asked, order);  // afterwards
    const std::span<const std::byte> in = input.data();
    const PlanOptions plan_options = options.common.plan_options(asked.problem.element_bytes);
    progress.step("planning " + options.spec);
    plan = planned(options, asked.problem, plan_options);
    plan->plan = with_map(options, input.header(), std::move(plan->plan));
    const HostRun run(plan->plan, staging_options(options, plan_options));
    progress.step("reserving " + size_text(in.size()));
    const std::vector<std::uint64_t> shape = asked.shape_after(plan->plan.plan());
    io::NpyOutput output(options.out, input.header().descr, shape, input.header().item_bytes, order);
    std::optional<io::Buffer> in_c_order;
    if (is_turned) in_c_order.emplace(in.size());
    const std::span<std::byte> out = in_c_order ? in_c_order->span() : output.data();
    if (total_bytes(asked.problem) != out.size()) std::fill(out.begin(), out.end(), std::byte{0});  // gaps
    {
      const ShownRun shown(progress, "permuting", plan->plan.engine(), in.size());
      outcome = options.common.json ? run_timed(run, in, out, plan_options.threads) : run_once(run, in, out);
    }
    if (options.verify) {
      progress.step("verifying " + size_text(in.size()));
      verify(asked.problem, in.data(), out.data(), plan_options.threads,
             plan->cache == "read" ? options.plan_cache : "");
    }
    if (is_turned) {
      progress.step("putting the result into Fortran order");
      const Problem turn = file::into_fortran_order(shape, input.header().item_bytes);
      outcome = turned(turn, out, output.data(), plan_options.threads, outcome);
      if (options.verify) verify(turn, out.data(), output.data().data(), plan_options.threads);
    }
    write(options, *plan, output, progress, [&] {
      if (options.common.json) return print_json(options, asked, *plan, outcome);
      if (!options.quiet) print_line(options, asked, *plan, outcome, milliseconds_since(start));
    });
  }
}

}  // namespace

Verb permute_verb(CLI::App& app) {
  const auto options = std::make_shared<PermuteOptions>();
  CLI::App* const command =
      app.add_subcommand("permute", "Permute an array of a .npy file: out[pi(x)] = in[x]");
  add_argument(*command, "SPEC", options->spec,
               "The permutation, such as `bit_reversal`, `transpose(64, 32)` or 'b s h d -> b h s d'; or a "
               "strided view");
  add_argument(*command, "IN.npy", options->in,
               "The array to permute; any dtype of plain bytes; - is standard input; or a store, such as "
               "in.zarr or in.h5:/t");
  const CLI::Option* const out = command
                                     ->add_option("OUT.npy", options->out,
                                                  "The result, with the dtype of IN.npy or of --dtype and "
                                                  "the shape that the permutation gives it; "
                                                  "none with --in-place")
                                     ->type_name("");
  command->add_flag("--in-place", options->in_place,
                    "Replace the file by its permuted copy, made in memory of the file's size; the shape "
                    "follows the permutation");
  command->add_flag(
      "--no-backup", options->no_backup,
      "With --in-place: permute the file itself, without a copy; an interruption leaves it permuted in part");
  command->add_flag("--shards", options->shards,
                    "Run under mpirun: each rank reads, permutes and writes its part of the files");
  options->cuts.add_meshes(*command);
  options->devices.add(*command);
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_tile(*command);
  options->common.add_measure(*command);
  add_text(*command, "--piece-bytes", options->piece_bytes, "SIZE",
           "With --engine cuda: send the array to the GPU in pieces of at most this size, such as 64MiB");
  add_text(*command, "--device-bytes", options->device_bytes, "SIZE",
           "With --engine cuda: use at most so much device memory; the default is half of what is free");
  add_text(*command, "--map", options->map, "EXPR",
           "With --engine cuda: out[pi(x)] = EXPR, CUDA C++ over v = in[x], x and y = pi(x)");
  add_text(*command, "--element", options->element, "TYPE",
           "With --map: the type of v, such as float; the default follows the dtype");
  options->index.add_direction(*command);
  add_text(*command, "--plan-cache", options->plan_cache, "FILE",
           "For an index array: read its schedule from this file, or make the schedule and write it there");
  options->index.add_choice(*command);
  options->common.add_batch(*command,
                            "The file holds N arrays one after another, and each is permuted alike");
  options->common.add_element_bytes(*command, "Bytes of an element: so many consecutive items move together");
  options->bits.add(*command);
  command->add_flag("--rows", options->rows, "Move whole rows, the same as --axis 0");
  add_text(*command, "--axis", options->axis, "K",
           "Permute along axis K, where each element is a whole slice; the default is 0 where the "
           "permutation is as "
           "long as the file has rows");
  command
      ->add_option("--let", options->lengths,
                   "For a pattern of named axes: a length that the file does not determine, such as h=8")
      ->type_name("NAME=LENGTH")
      ->allow_extra_args(false)
      ->check(require_text);
  add_text(*command, "--order", options->order, "ORDER",
           "Memory order of OUT.npy: C, where the last axis is the fastest, or F, where the first is; a "
           "permutation of axes takes one pass either way");
  command->add_flag("--inverse", options->inverse, "The inverse permutation: out[x] = in[pi(x)]");
  command->add_flag(
      "--verify", options->verify,
      "Check every element against the obvious loop before writing; larger files are checked by sums "
      "over what is read and written");
  options->numbers.add_to(*command);
  add_file_options(*command, *options);
  options->store.add(*command);
  options->common.add_run(*command, options->quiet);
  return {command, [=] {
            options->has_out = out->count() > 0;
#ifdef FARO_DEMO
            require_shown(*command, *options);
#endif
            permute(*options);
          }};
}

}  // namespace faro::cli
