// faro take, put and add INDEX.npy IN.npy OUT.npy: rows of a file along one of its axes, by an index array
// that need not be a permutation.
//
//     IN of shape a x n x b, --axis 1, INDEX of m entries
//     take   OUT of shape a x m x b; of an INDEX of several axes, all of them stand in place of m
//     put    m = n, OUT of shape a x N x b with --rows N, else that of --into
//     add    the same
//
//     read INDEX and IN  ->  check the entries, plan  ->  reserve the output  ->  begin it (--into, --fill)
//                        ->  move the rows, with --engine cuda there and back  ->  write
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/row_dtype.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/rows.hpp"
#include "faro/suggest.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "io/npy.hpp"
#include "permutation/index_file.hpp"
#include "tell/row_counts.hpp"

namespace faro::cli {
namespace {

enum class RowVerb { take, put, add };
constexpr std::array kRowVerbs{"take", "put", "add"};

struct RowsOptions {
  CommonOptions common;
  RowVerb verb = RowVerb::take;
  std::string index;
  std::string in;
  std::string out;
  std::string axis = "0";
  std::string fill;
  std::string rows;
  std::string into;
  std::string marker;
  std::string sums;
  bool bf16 = false;
  bool explain = false;
  bool quiet = false;

  std::string operation() const {
    return fmt::format("{} `{}`", kRowVerbs[static_cast<std::size_t>(verb)], in);
  }
};

std::size_t axis_of(const RowsOptions& options, const std::vector<std::uint64_t>& shape) {
  if (shape.empty()) fail(ErrorCode::value, options.operation(), "a scalar", "an array with an axis");
  return parse_axis(options.axis, shape.size());
}

std::uint64_t product_of(const RowsOptions& options, std::span<const std::uint64_t> extents,
                         std::uint64_t first) {
  std::uint64_t product = first;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  for (const std::uint64_t extent : extents) {
    if (__builtin_mul_overflow(product, extent, &product) || product > std::uint64_t{1} << 62)
      fail(ErrorCode::value, options.operation(), "a result of more than 2^62 bytes", "at most 2^62 bytes");
  }
  return product;
}

// Entries as they are typed, sign-extended.
std::optional<std::uint64_t> marker_of(const RowsOptions& options) {
  if (options.marker.empty()) return std::nullopt;
  if (!options.marker.starts_with('-')) return parse_number("--marker", options.marker, 0);
  return 0 - parse_number("--marker", options.marker.substr(1), 1, std::uint64_t{1} << 63);
}

Sums sums_of(const RowsOptions& options) {
  if (options.sums.empty()) return Sums::usual;
  constexpr std::array<std::string_view, 4> kNames{"usual", "fp32", "fp64", "compensated"};
  const auto* const found = std::find(kNames.begin(), kNames.end(), options.sums);
  if (found == kNames.end()) {
    fail(ErrorCode::value, "read --sums", "`" + options.sums + "`", "usual, fp32, fp64 or compensated",
         did_you_mean(options.sums, kNames));
  }
  return static_cast<Sums>(found - kNames.begin());
}

// What the files and the options make together.
struct RowsAsked {
  std::vector<std::uint64_t> shape;  // of the result
  RowLayout layout;
  RowMove move;
  std::size_t axis = 0;
  std::vector<std::byte> fill;  // an item; empty without --fill
  bool swapped = false;         // numbers that are added, of the other byte order
};

void check_rows_options(const RowsOptions& options) {
  const std::string operation = options.operation();
  require_npy_name(operation, options.out);
  for (const auto& [file, role] : {std::pair(options.in, "IN"), std::pair(options.index, "INDEX")}) {
    if (io::same_target(file, options.out))
      fail(ErrorCode::value, operation, fmt::format("the same file as {} and OUT", role), "two files");
  }
  if (options.verb != RowVerb::take && options.rows.empty() == options.into.empty()) {
    fail(ErrorCode::usage, operation,
         options.rows.empty() ? "neither --rows nor --into" : "--rows and --into",
         "one of them: --rows N makes OUT of N rows, --into BASE.npy begins with that array");
  }
  if (!options.fill.empty() && !options.into.empty())
    fail(ErrorCode::usage, operation, "--fill and --into", "one of them");
}

void require_shape(const RowsOptions& options, const io::NpyHeader& base, const io::NpyHeader& input,
                   const std::vector<std::uint64_t>& shape, std::optional<std::size_t> free_axis) {
  if (base.descr != input.descr) {
    fail(ErrorCode::value, options.operation(), "--into of dtype " + base.descr,
         "dtype " + input.descr + ", which IN has");
  }
  std::vector<std::uint64_t> compared = base.shape;
  if (free_axis && *free_axis < compared.size()) compared[*free_axis] = shape[*free_axis];
  if (compared == shape) return;
  std::string text = shape_text(shape);
  if (free_axis) text += fmt::format(", any extent on axis {}", *free_axis);
  fail(ErrorCode::value, options.operation(), "--into of shape " + shape_text(base.shape), "shape " + text);
}

RowsAsked rows_asked(const RowsOptions& options, const io::NpyHeader& input, const io::NpyHeader& index,
                     const detail::FileEntries& entries, const io::NpyHeader* base) {
  RowsAsked asked;
  asked.axis = axis_of(options, input.shape);
  const std::size_t axis = asked.axis;
  const bool takes = options.verb == RowVerb::take;
  const RowNumbers numbers(entries.bytes.data(), index.item_count(), entries.type);
  const std::size_t taken_axes = takes ? 1 : index.shape.size();
  const auto begin = input.shape.begin() + static_cast<std::ptrdiff_t>(axis);
  if (!takes) {
    const bool fits =
        axis + taken_axes <= input.shape.size() && std::equal(index.shape.begin(), index.shape.end(), begin);
    if (!fits) {
      fail(ErrorCode::value, options.operation(),
           fmt::format("INDEX of shape {} for IN of shape {}", shape_text(index.shape),
                       shape_text(input.shape)),
           fmt::format("an entry for each row along axis {}", axis));
    }
  }
  asked.shape.assign(input.shape.begin(), begin);
  const auto behind = begin + static_cast<std::ptrdiff_t>(taken_axes);
  std::uint64_t rows = takes ? *begin : 0;
  if (takes) {
    asked.shape.insert(asked.shape.end(), index.shape.begin(), index.shape.end());
  } else {
    if (base != nullptr && axis < base->shape.size()) rows = base->shape[axis];
    if (!options.rows.empty()) rows = parse_number("--rows", options.rows, 0);
    asked.shape.push_back(rows);
  }
  asked.shape.insert(asked.shape.end(), behind, input.shape.end());
  if (base != nullptr)
    require_shape(options, *base, input, asked.shape, takes ? std::nullopt : std::optional(axis));
  static_cast<void>(product_of(options, asked.shape, input.item_bytes));
  asked.layout.outer = product_of(options, {input.shape.begin(), begin}, 1);
  asked.layout.row_bytes = product_of(options, {behind, input.shape.end()}, input.item_bytes);
  // Where rows have no items there is nothing to move.
  if (asked.layout.row_bytes == 0) asked.layout = {.outer = 0, .row_bytes = input.item_bytes};
  if (!options.fill.empty()) asked.fill = item_of("--fill", options.fill, input, options.bf16);
  const auto marker = marker_of(options);
  if (takes) {
    faro::Fill fill = asked.fill.empty() ? faro::Fill{} : faro::Fill::of(asked.fill);
    if (base != nullptr) fill = faro::Fill::kept();
    if (marker && fill.with == faro::Fill::With::nothing) {
      fail(ErrorCode::usage, options.operation(), "--marker without --fill or --into",
           "one of them, which says what such an entry gives");
    }
    asked.move = Take{.from = numbers, .rows = rows, .fill = std::move(fill), .marker = marker};
  } else if (options.verb == RowVerb::put) {
    asked.move = Put{.to = numbers, .rows = rows, .marker = marker};
  } else {
    const ItemNumbers items = numbers_of(options.operation(), input, options.bf16);
    asked.swapped = items.swapped;
    asked.move =
        Add{.to = numbers, .rows = rows, .number = items.number, .sums = sums_of(options), .marker = marker};
  }
  return asked;
}

// A plan, what is known of its entries, and with engine cuda their copy on the device.
struct PlannedRows {
  std::unique_ptr<const cuda::DeviceArray> entries;
  ExecutableRows plan;
  RowCensus census;
};

// What the output is before rows come to it: --into, --fill, or zeros; of Take nothing, but for --into.
void begin_output(const RowsOptions& options, const RowsAsked& asked, const PlannedRows& planned,
                  const io::NpyInput* base, std::span<std::byte> out) {
  if (base != nullptr) return cpu::copy(base->data().data(), out.data(), out.size());
  const std::uint64_t named = row_numbers(asked.move).count - planned.census.absent;
  const bool covered =
      options.verb == RowVerb::take || (options.verb == RowVerb::put && named == numbered_rows(asked.move));
  if (covered) return;
  constexpr std::uint64_t kPieceBytes = 1 << 20;
  const std::uint64_t item_bytes = asked.fill.empty() ? 1 : asked.fill.size();
  const std::uint64_t piece_bytes =
      kPieceBytes / item_bytes * item_bytes + (kPieceBytes < item_bytes ? item_bytes : 0);
  const auto pieces = static_cast<std::int64_t>((out.size() + piece_bytes - 1) / piece_bytes);
#pragma omp parallel for schedule(static) num_threads(detail::thread_count())
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * piece_bytes;
    const std::uint64_t size = std::min(piece_bytes, out.size() - begin);
    if (asked.fill.empty()) {
      std::memset(out.data() + begin, 0, size);
    } else {
      for (std::uint64_t i = 0; i < size; ++i) out[begin + i] = asked.fill[i % item_bytes];
    }
  }
}

// To the device, moved there, and back.
void move_on_device(const ExecutableRows& plan, std::span<const std::byte> in, std::span<std::byte> out) {
  if (out.empty()) return;
  const int device = plan.plan().target().device;
  cuda::DeviceArray device_in(std::max<std::uint64_t>(in.size(), 1), device);
  cuda::DeviceArray device_out(out.size(), device);
  if (!in.empty()) device_in.upload(in.data());
  device_out.upload(out.data());
  plan.run({device_in.data(), in.size()}, {device_out.data(), out.size()});
  plan.check();
  device_out.download(out.data());
}

void move_as_it_is(const ExecutableRows& plan, std::span<const std::byte> in, std::span<std::byte> out) {
  if (plan.plan().target().engine == Engine::cuda) return move_on_device(plan, in, out);
  plan.run(in, out);
}

// Numbers of the other byte order are swapped, added and swapped back.
void move_rows(const RowsAsked& asked, const ExecutableRows& plan, std::span<const std::byte> in,
               std::span<std::byte> out) {
  if (asked.layout.outer == 0) return;
  if (!asked.swapped) return move_as_it_is(plan, in, out);
  const std::uint64_t width = bytes_of(std::get<Add>(asked.move).number);
  io::require_memory_for_array("add", in.size());
  io::Buffer turned(in.size());
  std::copy(in.begin(), in.end(), turned.data());
  swap_bytes(turned.span(), width);
  swap_bytes(out, width);
  move_as_it_is(plan, turned.span(), out);
  swap_bytes(out, width);
}

std::uint64_t bytes_moved(const RowsAsked& asked) {
  return row_numbers(asked.move).count * asked.layout.row_bytes * asked.layout.outer;
}

Json plan_json(const RowsOptions& options, const RowsAsked& asked, const PlannedRows& planned) {
  const RowPlan& plan = planned.plan.plan();
  Json json = new_json();
  json["move"] = name(asked.move);
  json["index"] = options.index;
  json["in"] = options.in;
  json["out"] = options.out;
  json["axis"] = asked.axis;
  json["shape"] = asked.shape;
  json["entries"] = row_numbers(asked.move).count;
  json["absent"] = planned.census.absent;
  json["runs"] = planned.census.runs;
  json["rows"] = numbered_rows(asked.move);
  json["row_bytes"] = asked.layout.row_bytes;
  json["arrays"] = asked.layout.outer;
  json["bytes"] = bytes_moved(asked);
  json["way"] = name(plan.way());
  json["reason"] = plan.reason();
  json["workspace_bytes"] = plan.workspace_bytes();
  json["engine"] = name(plan.target().engine);
  json["device"] = plan.target().name;
  const auto us = detail::predict_us(plan);
  json["predicted_ms"] = us ? Json(*us / 1e3) : Json();
  for (const RowPass& pass : plan.passes()) {
    const detail::RowCounts counts = detail::count_rows(plan, pass);
    json["launches"].push_back({{"what", pass.text},
                                {"blocks", pass.blocks},
                                {"threads", pass.threads},
                                {"bytes_read", pass.read_bytes},
                                {"bytes_written", pass.written_bytes},
                                {"load_requests", counts.load_requests},
                                {"load_sectors", counts.load_sectors},
                                {"store_requests", counts.store_requests},
                                {"store_sectors", counts.store_sectors},
                                {"bound", counts.at_most ? "at most" : "at least"}});
  }
  return json;
}

void report_rows(const RowsOptions& options, const RowsAsked& asked, const PlannedRows& planned,
                 double milliseconds, double total_ms) {
  const RowPlan& plan = planned.plan.plan();
  const RowCensus& census = planned.census;
  const std::uint64_t count = row_numbers(asked.move).count;
  const double rate = gb_per_s(bytes_moved(asked), milliseconds);
  if (options.common.json) {
    Json json = plan_json(options, asked, planned);
    json["ms"] = milliseconds;
    json["gb_per_s"] = rate;
    return print(json);
  }
  if (options.quiet) return;
  const char* const words[] = {"taken", "put", "added"};
  const std::string rows = count_text(count * asked.layout.outer, "row");
  const std::string done = fmt::format("{} in {}, {:.3g} GB/s", words[static_cast<std::size_t>(options.verb)],
                                       time_text(milliseconds), rate);
  std::vector<std::vector<std::string>> more;
  if (census.absent > 0) {
    const std::uint64_t absent = census.absent * std::max<std::uint64_t>(asked.layout.outer, 1);
    more.push_back({fmt::format("{} absent", absent)});
  }
  if (total_ms > 2 * milliseconds && total_ms >= 100)
    more.push_back({time_text(total_ms) + " with its files"});
  more.push_back({"shape " + shape_text(asked.shape)});
  more.push_back({fmt::format("{}: {}", name(plan.way()), plan.reason()), std::string(name(plan.way()))});
  note(fitted_line(
      {fmt::format("{} of {} {}", rows, size_text(asked.layout.row_bytes), done), rows + " " + done}, more));
}

// What is wrong with an entry is reported with the files.
PlannedRows planned_rows(const RowsOptions& options, const RowsAsked& asked, const PlanOptions& common) {
  try {
    if (common.engine != Engine::cuda) {
      ExecutableRows plan =
          plan_rows(asked.move, asked.layout, {.threads = common.threads, .engine = Engine::cpu});
      const RowCensus census = plan.plan().census();
      return {.entries = nullptr, .plan = std::move(plan), .census = census};
    }
    const RowCensus census = check_rows(asked.move, common.threads);
    RowMove on_device = asked.move;
    const RowNumbers& numbers = row_numbers(asked.move);
    const std::uint64_t bytes = numbers.count * static_cast<std::uint64_t>(numbers.type.bytes);
    auto entries = std::make_unique<cuda::DeviceArray>(std::max<std::uint64_t>(bytes, 1), common.device);
    if (bytes > 0) entries->upload(numbers.data);
    const RowNumbers there(entries->data(), numbers.count, numbers.type);
    if (auto* const take = std::get_if<Take>(&on_device)) take->from = there;
    if (auto* const put = std::get_if<Put>(&on_device)) put->to = there;
    if (auto* const add = std::get_if<Add>(&on_device)) add->to = there;
    ExecutableRows plan =
        plan_rows(on_device, asked.layout, {.engine = Engine::cuda, .device = common.device});
    return {.entries = std::move(entries), .plan = std::move(plan), .census = census};
  } catch (const Error& error) {
    ErrorReport report = error.report();
    report.operation = options.operation() + " by `" + options.index + "`";
    if (report.got.starts_with("row -1 ") && options.verb == RowVerb::take)
      report.remedy = "--fill VALUE or --into BASE.npy say what -1 gives";
    throw Error(report);
  }
}

void run_verb(const RowsOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_rows_options(options);
  const PlanOptions common = options.common.plan_options(1);
  const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  progress.step("reading " + options.index, bytes_of_file(options.index));
  const io::NpyInput index(options.index, progress.advance());
  const detail::FileEntries entries = detail::file_entries(index.header(), index.data(), options.index);
  progress.step("reading " + options.in, bytes_of_file(options.in));
  const io::NpyInput input(options.in, progress.advance());
  std::optional<io::NpyInput> base;
  if (!options.into.empty()) base.emplace(options.into, progress.advance());
  const RowsAsked asked =
      rows_asked(options, input.header(), index.header(), entries, base ? &base->header() : nullptr);
  progress.step("planning");
  const PlannedRows planned = planned_rows(options, asked, common);
  if (options.explain) {
    progress.end();
    if (options.common.json) return print(plan_json(options, asked, planned));
    return print(planned.plan.explain());
  }
  progress.step("reserving");
  io::NpyOutput output(options.out, input.header().descr, asked.shape, input.header().item_bytes);
  const std::span<std::byte> out = output.data();
  progress.step("moving " + size_text(out.size()));
  begin_output(options, asked, planned, base ? &*base : nullptr, out);
  const auto begin = std::chrono::steady_clock::now();
  move_rows(asked, planned.plan, input.data(), out);
  const double milliseconds = milliseconds_since(begin);
  progress.step("writing " + options.out, out.size());
  output.finish(progress.advance());
  progress.end();
  report_rows(options, asked, planned, milliseconds, milliseconds_since(start));
  output.commit();
}

Verb rows_verb(CLI::App& app, RowVerb verb, const std::string& help) {
  const auto options = std::make_shared<RowsOptions>();
  options->verb = verb;
  const bool takes = verb == RowVerb::take;
  CLI::App* const command = app.add_subcommand(kRowVerbs[static_cast<std::size_t>(verb)], help);
  const auto file = [&](const char* role, std::string& to, const std::string& what) {
    add_argument(*command, role, to, what);
  };
  const auto option = [&](const char* flag, std::string& to, const char* type, const std::string& what) {
    add_text(*command, flag, to, type, what);
  };
  file("INDEX.npy", options->index,
       takes ? "For each row of the result, the row of IN; whole numbers of any width, of any shape"
             : "For each row of IN, the row of the result; whole numbers of any width");
  file("IN.npy", options->in,
       verb == RowVerb::add ? "The rows to add: integers, floating-point or complex numbers"
                            : "The array whose rows are moved; any dtype of plain bytes");
  file("OUT.npy", options->out, "The result, with the dtype of IN.npy");
  option("--axis", options->axis, "K", "Rows are what lies along axis K; the default is 0, -1 is the last");
  if (takes) {
    option("--fill", options->fill, "VALUE", "What an entry of -1 gives; without, such an entry is an error");
    option("--into", options->into, "BASE.npy", "An entry of -1 leaves the row as this array has it");
  } else {
    option("--rows", options->rows, "N", "Make OUT of N rows");
    option("--into", options->into, "BASE.npy", "Begin OUT with this array, which may be OUT itself");
    option("--fill", options->fill, "VALUE", "With --rows: what OUT begins with; the default is 0");
  }
  option("--marker", options->marker, "E",
         takes ? "The entry that names no row, instead of -1"
               : "The entry whose row is left out, instead of -1");
  if (verb == RowVerb::add) {
    option("--sums", options->sums, "S",
           "What sums are kept in until they are rounded: usual (fp32 for half precision, else the type "
           "itself), fp32, fp64 or compensated");
  }
  if (verb != RowVerb::put)
    command->add_flag("--bf16", options->bf16, "Read items of 2 bytes as bfloat16 numbers");
  command->add_flag("--explain", options->explain, "Explain how it would be done, and write nothing");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_run(*command, options->quiet);
  return {command, [options] { run_verb(*options); }};
}

}  // namespace

Verb take_verb(CLI::App& app) {
  return rows_verb(app, RowVerb::take, "Take rows of an array: out[i] = in[index[i]], repeats and omissions");
}

Verb put_verb(CLI::App& app) {
  return rows_verb(app, RowVerb::put, "Put rows of an array: out[index[i]] = in[i], the others as they are");
}

Verb add_verb(CLI::App& app) {
  return rows_verb(app, RowVerb::add, "Add rows of an array: out[index[i]] += in[i], always in one order");
}

}  // namespace faro::cli
