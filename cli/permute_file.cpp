#include "cli/permute_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "cli/file_problem.hpp"
#include "cli/permute_strided.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "engines/cpu.hpp"
#include "faro/file.hpp"
#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "io/transfers.hpp"
#include "shell.hpp"

namespace faro::cli {
namespace {

std::string file_operation(const PermuteOptions& options) { return "permute `" + options.in + "`"; }

bool is_given(const PermuteOptions& options) {
  return !options.memory.empty() || options.resume || options.io != "auto";
}

// Why only memory will do; empty where files will.
std::string needs_memory(const PermuteOptions& options, Engine engine) {
  if (engine == Engine::cuda) return "--engine cuda";
  if (!options.map.empty()) return "--map";
  if (!options.plan_cache.empty()) return "--plan-cache";
  return "";
}

// What is swept, and what becomes of it.
struct FileWork {
  std::optional<file::Sweep> sweep;
  std::string spec;      // canonical
  std::string elements;  // "2^30 elements of 4 bytes"
  std::uint64_t count = 0;
  std::uint64_t width = 0;
  std::uint64_t batch = 1;
  std::vector<std::uint64_t> shape_before;
  std::vector<std::uint64_t> shape;
  io::MemoryOrder order = io::MemoryOrder::c;
};

// Data in Fortran order is that of an array of the reversed shape, its axes reversed first. Errors:
// ErrorCode::unsupported where the permutation does not go together with that.
Permutation of_fortran_data(const PermuteOptions& options, const io::NpyHeader& header,
                            const FileProblem& asked) {
  NamedAxes turned{.shape = {header.shape.rbegin(), header.shape.rend()},
                   .order = std::vector<int>(header.shape.size())};
  std::iota(turned.order.rbegin(), turned.order.rend(), 0);
  const Permutation first = Axes(turned.shape, turned.order);
  const bool is_whole = asked.problem.batch == 1 && asked.problem.element_bytes == header.item_bytes;
  if (is_whole && asked.axes && asked.axes->shape == header.shape) {
    const NamedAxes both = asked.axes->after(turned);
    return Axes(both.shape, both.order);
  }
  const auto before = affine_form(first);
  const auto map = affine_form(asked.problem.permutation);
  if (is_whole && before && map) return compose(*map, *before);
  fail(ErrorCode::unsupported, file_operation(options),
       "data in Fortran order, larger than the memory for it, with " + options.label(),
       "a permutation of all axes, or data in C order",
       "`axes(" +
           fmt::format("{}", fmt::join(std::vector<int>(turned.order.rbegin(), turned.order.rend()), " ")) +
           ")` writes it in C order");
}

FileWork work_of(const PermuteOptions& options, const io::NpyHeader& header,
                 const file::Options& file_options) {
  FileWork work;
  work.shape_before = header.shape;
  if (is_strided_text(options.spec)) {
    const Strided view = view_of(options, header);
    if (header.fortran_order) {
      fail(ErrorCode::unsupported, file_operation(options), "a strided view of data in Fortran order",
           "data in C order, whose elements it counts");
    }
    work.sweep.emplace(view, header.item_bytes, file_options);
    work.spec = to_text(view);
    work.count = element_count(view);
    work.width = header.item_bytes;
    work.shape = shape_of_view(view);
    work.elements = count_text(work.count, "element") + " of " + size_text(work.width);
    return work;
  }
  FileProblem asked = file_problem_of(options, header);
  if (options.order == "F") {
    asked = in_fortran_order(options, header, std::move(asked));
    work.order = io::MemoryOrder::fortran;
  }
  work.spec = to_text(asked.problem.permutation);
  work.count = element_count(asked.problem.permutation);
  work.width = asked.problem.element_bytes;
  work.batch = asked.problem.batch;
  work.elements = asked.elements;
  // The shape is that of what an index array was recognised as.
  work.shape = asked.shape_after(Plan(asked.problem, cpu::target(file_options.threads)));
  if (header.fortran_order) asked.problem.permutation = of_fortran_data(options, header, asked);
  work.sweep.emplace(asked.problem, file_options);
  return work;
}

void print_json(const PermuteOptions& options, const FileWork& work, std::uint64_t budget,
                const file::Report& report) {
  Json json = new_json();
  json["spec"] = work.spec;
  json["in"] = options.in;
  json["out"] = options.out;
  json["shape"] = work.shape;
  json["elements"] = work.count;
  json["element_bytes"] = work.width;
  json["batch"] = work.batch;
  json["bytes"] = report.facts.moved_bytes;
  json["plan"] = report.facts.text();
  json["engine"] = name(Engine::cpu);
  json["memory_bytes"] = budget;
  json["sweeps"] = report.facts.sweeps;
  json["tiles"] = report.facts.tiles;
  json["tile_bytes"] = report.facts.tile_bytes;
  json["read_run_bytes"] = report.facts.read_run_bytes;
  json["write_run_bytes"] = report.facts.write_run_bytes;
  json["read_bytes"] = report.read_bytes;
  json["written_bytes"] = report.written_bytes;
  json["io"] = report.io;
  json["resumed_tiles"] = report.resumed_tiles;
  json["ms"] = report.seconds * 1e3;
  json["gb_per_s"] = gb_per_s(report.facts.moved_bytes, report.seconds * 1e3);
  json["verified"] = report.verified;
  print(json);
}

void print_line(const PermuteOptions& options, const FileWork& work, const file::Report& report) {
  std::string line = fmt::format("{}: {} in {:.3g} s, {:.3g} GB/s{}; {}; {}", options.label(), work.elements,
                                 report.seconds, gb_per_s(report.facts.moved_bytes, report.seconds * 1e3),
                                 report.verified ? ", verified" : "", report.facts.text(), report.io);
  if (report.resumed_tiles > 0)
    line += fmt::format("; {} of {} tiles were there", report.resumed_tiles, report.facts.tiles);
  if (work.shape != work.shape_before) line += "; shape " + shape_text(work.shape);
  note(line);
}

void sweep(const PermuteOptions& options, const io::NpyHeader& header, std::uint64_t budget) {
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  progress.step("planning " + options.spec);
  file::Options file_options{.memory_bytes = budget,
                             .threads = options.common.plan_options(header.item_bytes).threads,
                             .io = io_of(options.io),
                             .verify = options.verify,
                             .keep_unfinished = true,
                             .resume = options.resume};
  if (!options.checkpoint.empty())
    file_options.checkpoint_seconds =
        static_cast<double>(parse_number("--checkpoint", options.checkpoint, 0));
  const FileWork work = work_of(options, header, file_options);
  const InterruptNote interrupted(fmt::format(
      "`{}` is as it was; --resume --memory {} goes on with what is finished", options.out, budget));
  progress.step("permuting " + work.sweep->facts().text(), 2 * work.sweep->facts().moved_bytes);
  const auto advance = progress.advance();
  std::uint64_t told = 0;
  file_options.progress = [&](const file::Progress& now) {
    advance(now.done_bytes - std::exchange(told, now.done_bytes));
  };
  file_options.done = [&](const file::Report& report) {
    progress.end();
    if (options.common.json) return print_json(options, work, budget, report);
    if (!options.quiet) print_line(options, work, report);
  };
  const std::vector<std::byte> bytes =
      io::npy_header_bytes(header.descr, work.shape, work.order, io::kTransferBlock);
  file::run(*work.sweep, {.path = options.in, .offset = header.data_offset},
            {.path = options.out, .header = bytes}, file_options);
}

// The file of a scatter's index array that is SPEC alone; empty for others.
std::string index_file_of(const PermuteOptions& options) {
  const bool is_file = options.spec.starts_with('@') && options.spec.ends_with(".npy");
  return is_file && !options.index.gather && !options.inverse ? options.spec.substr(1) : "";
}

// An index array that memory does not hold beside the array, read as it is needed.
void scatter(const PermuteOptions& options, const io::NpyHeader& header, std::uint64_t budget) {
  const std::string index = index_file_of(options);
  const std::uint64_t count = io::read_npy_header(index).item_count();
  const bool is_rows = !header.shape.empty() && header.shape.front() == count;
  const bool has_others = !options.common.batch.empty() || !options.common.element_bytes.empty() ||
                          options.verify || options.resume || options.order == "F" || header.fortran_order ||
                          (!options.axis.empty() && options.axis != "0");
  if (has_others || (!is_rows && (options.rows || header.item_count() != count))) {
    fail(ErrorCode::unsupported, file_operation(options),
         "an index array larger than the memory with other options than --rows, or of another count",
         fmt::format("{} alone, over {} items or rows", options.spec, count),
         "with more --memory there is more that it goes with");
  }
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  const std::uint64_t record_bytes = count == 0 ? 1 : header.data_bytes() / count;
  run_records(options, header, progress,
              {.count = count,
               .record_bytes = record_bytes,
               .elements = count_text(count, is_rows ? "row" : "element") + " of " + size_text(record_bytes),
               .budget = budget},
              [&](const file::Input& in, const file::Output& out, const file::Options& file_options) {
                file::scatter(index, record_bytes, in, out, file_options);
              });
}

}  // namespace

std::uint64_t memory_budget(const std::string& text) {
  if (!text.empty()) {
    const std::uint64_t bytes = parse_size("--memory", text);
    if (bytes == 0) fail(ErrorCode::value, "read --memory", "0", "memory for some elements");
    return bytes;
  }
  // Two digits, so that a run and the one that resumes it have the same tiles as a rule.
  const std::uint64_t bytes = file::default_memory_bytes();
  const std::uint64_t unit = std::max<std::uint64_t>(std::bit_floor(bytes) / 4, 1);
  return bytes / unit * unit;
}

file::Io io_of(const std::string& text) {
  for (const file::Io io : {file::Io::automatic, file::Io::uring, file::Io::threads, file::Io::buffered}) {
    if (text == file::name(io)) return io;
  }
  fail(ErrorCode::value, "read --io", text, "auto, uring, threads or buffered");
}

void run_records(const PermuteOptions& options, const io::NpyHeader& header, Progress& progress,
                 const RecordRun& run, const RecordMove& move) {
  const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
  file::Options file_options{.memory_bytes = run.budget,
                             .threads = options.common.plan_options(header.item_bytes).threads,
                             .io = io_of(options.io)};
  progress.step("permuting " + run.elements);
  bool is_told = false;
  const auto advance = progress.advance();
  std::uint64_t told = 0;
  file_options.progress = [&](const file::Progress& now) {
    if (!std::exchange(is_told, true)) progress.step("permuting " + run.elements, now.total_bytes);
    advance(now.done_bytes - std::exchange(told, now.done_bytes));
  };
  file_options.done = [&](const file::Report& report) {
    progress.end();
    const FileWork work{.sweep = {},
                        .spec = options.spec,
                        .elements = run.elements,
                        .count = run.count,
                        .width = run.record_bytes,
                        .batch = 1,
                        .shape_before = header.shape,
                        .shape = header.shape};
    if (options.common.json) return print_json(options, work, run.budget, report);
    if (!options.quiet) print_line(options, work, report);
  };
  move({.path = options.in, .offset = header.data_offset},
       {.path = options.out,
        .header = io::npy_header_bytes(header.descr, header.shape, io::MemoryOrder::c, io::kTransferBlock)},
       file_options);
}

void add_file_options(CLI::App& command, PermuteOptions& options) {
  command
      .add_option(
          "--memory", options.memory,
          "What may be used for arrays, such as 16GiB; larger ones are permuted from file to file. The "
          "default is 60% of what is free")
      ->type_name("SIZE")
      ->check(refuse_empty);
  command.add_flag("--resume", options.resume,
                   "From file to file: go on where the same command was interrupted");
  command
      .add_option(
          "--checkpoint", options.checkpoint,
          "From file to file: note what is finished, for --resume, every so many seconds; the default "
          "is 5")
      ->type_name("SECONDS")
      ->check(refuse_empty);
  command
      .add_option("--io", options.io,
                  "From file to file: auto, uring, threads (both with O_DIRECT) or buffered")
      ->type_name("WAY")
      ->check(refuse_empty);
}

void check_file_options(const PermuteOptions& options) {
  static_cast<void>(io_of(options.io));
  if (!options.memory.empty()) static_cast<void>(memory_budget(options.memory));
  if (options.in_place && is_given(options)) {
    fail(ErrorCode::unsupported, file_operation(options), "--memory, --resume or --io with --in-place",
         "two files", "a file in place is mapped");
  }
}

bool permute_by_file(const PermuteOptions& options) {
  const io::NpyHeader header = io::read_npy_header(options.in);
  const std::uint64_t bytes = header.data_bytes();
  // What is mapped and what is written; of data in Fortran order once more.
  const std::uint64_t copies = header.fortran_order ? 3 : 2;
  const std::uint64_t budget = memory_budget(options.memory);
  const std::string index = index_file_of(options);
  const std::uint64_t index_bytes =
      options.memory.empty() || index.empty() ? 0 : io::read_npy_header(index).data_bytes();
  if (bytes + index_bytes <= budget / copies) return false;
  const Engine engine = options.common.plan_options(header.item_bytes).engine;
  const std::string reason = needs_memory(options, engine);
  if (!reason.empty()) {
    if (options.memory.empty()) return false;
    fail(ErrorCode::unsupported, file_operation(options),
         fmt::format("{} with an array of {}", reason, size_text(bytes)),
         fmt::format("one that --memory {} holds {} times", options.memory, copies),
         "without it the array is permuted from file to file");
  }
  if (options.memory.empty() && options.spec.starts_with('@')) return false;
  if (index.empty()) {
    sweep(options, header, budget);
  } else {
    scatter(options, header, budget);
  }
  return true;
}

}  // namespace faro::cli
