// faro route KEYS.npy --buckets N --out-places P.npy --out-offsets O.npy: where each item goes when items are
// put together by their keys, in order within each bucket.
//
// KEYS of shape (rows) or (rows x k): the places have its shape. `faro put PLACES.npy IN.npy OUT.npy --rows
// TOTAL` then moves one row a key, `faro take ROWS.npy IN.npy OUT.npy --fill 0` rows with several keys.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/verbs.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/rows.hpp"
#include "io/npy.hpp"
#include "permutation/index_file.hpp"

namespace faro::cli {
namespace {

// An array that route writes.
struct RouteFile {
  const char* flag;
  const char* help;
  std::string path;
};

struct RouteVerbOptions {
  CommonOptions common;
  std::string keys;
  std::string buckets;
  std::string multiple;
  std::string capacity;
  std::string marker;
  std::array<RouteFile, 5> files{
      {{"--out-places", "Where each item goes, of the shape of KEYS; -1 where it goes nowhere", {}},
       {"--out-offsets", "Where each bucket begins, and at last the number of places: N + 1 numbers", {}},
       {"--out-inverse", "The item at each place, by its position in KEYS; -1 for padding", {}},
       {"--out-rows", "The row at each place: the item's position on the first axis; -1 for padding", {}},
       {"--out-counts", "The items of each bucket: N numbers", {}}}};
  bool quiet = false;
};

void check_route_files(const RouteVerbOptions& options) {
  const std::string operation = "route `" + options.keys + "`";
  bool any = false;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const RouteFile& file = options.files[i];
    if (file.path.empty()) continue;
    any = true;
    require_npy_name(operation, file.path);
    require_own_file(operation, file.flag, file.path, {options.keys}, "KEYS");
    for (std::size_t j = 0; j < i; ++j) {
      if (options.files[j].path.empty() || !io::same_target(options.files[j].path, file.path)) continue;
      fail(ErrorCode::value, operation,
           fmt::format("{} as {} and {}", file.path, options.files[j].flag, file.flag), "a file for each");
    }
  }
  if (!any)
    fail(ErrorCode::usage, operation, "no file to write", "--out-places, --out-offsets or another of them");
}

// The same on a device, and fetched.
Route routed_on_device(const RowNumbers& keys, const RouteOptions& options, int device) {
  const std::uint64_t key_bytes = keys.count * static_cast<std::uint64_t>(keys.type.bytes);
  cuda::DeviceArray there(std::max<std::uint64_t>(key_bytes, 1), device);
  if (key_bytes > 0) there.upload(keys.data);
  const ExecutableRoute plan = plan_route(RowNumbers(there.data(), keys.count, keys.type), options, device);
  constexpr std::uint64_t kWord = sizeof(std::int64_t);
  const auto array = [&](std::uint64_t words) {
    return cuda::DeviceArray(std::max<std::uint64_t>(words, 1) * kWord, device);
  };
  const cuda::DeviceArray places = array(keys.count);
  const cuda::DeviceArray inverse = array(plan.most_places());
  const cuda::DeviceArray offsets = array(options.buckets + 1);
  const cuda::DeviceArray counts = array(options.buckets);
  const auto words = [](const cuda::DeviceArray& of) { return reinterpret_cast<std::int64_t*>(of.data()); };
  plan.run({.places = words(places),
            .inverse = words(inverse),
            .offsets = words(offsets),
            .counts = words(counts)});
  plan.check();
  const auto fetched = [](const cuda::DeviceArray& of, std::uint64_t size) {
    std::vector<std::int64_t> values(of.size() / kWord);
    of.download(values.data());
    values.resize(size);
    return values;
  };
  Route made;
  made.keys_per_row = options.keys_per_row;
  made.places = fetched(places, keys.count);
  made.offsets = fetched(offsets, options.buckets + 1);
  made.counts = fetched(counts, options.buckets);
  made.inverse = fetched(inverse, static_cast<std::uint64_t>(made.offsets.back()));
  const auto nowhere = static_cast<std::uint64_t>(std::count(made.places.begin(), made.places.end(), -1));
  made.absent = check_rows(Add{.to = keys, .rows = options.buckets, .marker = options.marker}).absent;
  made.dropped = nowhere - made.absent;
  return made;
}

Route routed_by(const RouteVerbOptions& options, const io::NpyInput& keys) {
  const detail::FileEntries entries = detail::file_entries(keys.header(), keys.data(), options.keys);
  const std::vector<std::uint64_t>& shape = keys.header().shape;
  if (shape.empty() || shape.size() > 2) {
    fail(ErrorCode::value, "route `" + options.keys + "`", "keys of shape " + shape_text(shape),
         "a key for each row, or rows x k keys");
  }
  RouteOptions route_options{.buckets = parse_number("--buckets", options.buckets, 1, std::uint64_t{1} << 40),
                             .threads = options.common.plan_options(1).threads};
  if (shape.size() == 2) route_options.keys_per_row = std::max<std::uint64_t>(shape[1], 1);
  if (!options.multiple.empty())
    route_options.multiple = parse_number("--multiple", options.multiple, 1, std::uint64_t{1} << 40);
  if (!options.capacity.empty()) route_options.capacity = parse_number("--capacity", options.capacity, 0);
  if (options.marker.starts_with('-')) {
    route_options.marker = 0 - parse_number("--marker", options.marker.substr(1), 1, std::uint64_t{1} << 63);
  } else if (!options.marker.empty()) {
    route_options.marker = parse_number("--marker", options.marker, 0);
  }
  const RowNumbers numbers(entries.bytes.data(), keys.header().item_count(), entries.type);
  const PlanOptions common = options.common.plan_options(1);
  if (common.engine == Engine::cuda) return routed_on_device(numbers, route_options, common.device);
  return route(numbers, route_options);
}

void report_route(const RouteVerbOptions& options, const Route& made, double milliseconds) {
  const std::uint64_t kept = made.places.size() - made.dropped - made.absent;
  if (options.common.json) {
    Json json = new_json();
    json["keys"] = options.keys;
    json["items"] = made.places.size();
    json["keys_per_row"] = made.keys_per_row;
    json["buckets"] = made.counts.size();
    json["places"] = made.inverse.size();
    json["kept"] = kept;
    json["dropped"] = made.dropped;
    json["absent"] = made.absent;
    for (const RouteFile& file : options.files) {
      std::string key = file.flag + 2;
      std::replace(key.begin(), key.end(), '-', '_');
      json[key] = file.path;
    }
    json["ms"] = milliseconds;
    return print(json);
  }
  if (options.quiet) return;
  const std::string to = fmt::format("{} to {}", count_text(made.places.size(), "item"),
                                     count_text(made.counts.size(), "bucket"));
  std::vector<std::vector<std::string>> more;
  if (made.dropped > 0) more.push_back({fmt::format("{} dropped", made.dropped)});
  if (made.absent > 0) more.push_back({fmt::format("{} without a key", made.absent)});
  if (const std::uint64_t padding = made.inverse.size() - kept; padding > 0)
    more.push_back({fmt::format("{} padding", padding)});
  note(fitted_line(
      {fmt::format("{}, {} in {}", to, count_text(made.inverse.size(), "place"), time_text(milliseconds))},
      more));
}

void run_route(const RouteVerbOptions& options) {
  check_route_files(options);
  const InterruptNote interrupted("nothing was written");
  Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
  progress.step("reading " + options.keys, bytes_of_file(options.keys));
  const io::NpyInput keys(options.keys, progress.advance());
  progress.step("routing");
  const auto start = std::chrono::steady_clock::now();
  const Route made = routed_by(options, keys);
  const double milliseconds = milliseconds_since(start);
  const std::vector<std::int64_t> rows = made.taken_rows();
  std::vector<std::unique_ptr<io::NpyOutput>> outputs;
  const std::array<std::span<const std::int64_t>, 5> arrays{made.places, made.offsets, made.inverse, rows,
                                                            made.counts};
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    if (options.files[i].path.empty()) continue;
    const std::vector<std::uint64_t> shape =
        i == 0 ? keys.header().shape : std::vector<std::uint64_t>{arrays[i].size()};
    outputs.push_back(
        std::make_unique<io::NpyOutput>(options.files[i].path, "'<i8'", shape, sizeof(std::int64_t)));
    const std::span<std::byte> out = outputs.back()->data();
    if (!out.empty()) std::memcpy(out.data(), arrays[i].data(), out.size());
    progress.step("writing " + options.files[i].path);
    outputs.back()->finish();
  }
  progress.end();
  report_route(options, made, milliseconds);
  for (const auto& output : outputs) output->commit();
}

}  // namespace

Verb route_verb(CLI::App& app) {
  const auto options = std::make_shared<RouteVerbOptions>();
  CLI::App* const command = app.add_subcommand("route", "Group items by their keys: find where each goes");
  const auto option = [&](const char* flag, std::string& to, const char* type, const std::string& what) {
    return add_text(*command, flag, to, type, what);
  };
  add_argument(*command, "KEYS.npy", options->keys,
               "The bucket of each item, as whole numbers of shape (rows) or (rows, k)");
  option("--buckets", options->buckets, "N", "Keys are 0 to N - 1, and -1 for items that go nowhere")
      ->required();
  for (RouteFile& file : options->files) option(file.flag, file.path, "FILE", file.help);
  option("--multiple", options->multiple, "M", "Each bucket has places to a multiple of M");
  option("--capacity", options->capacity, "C", "A bucket takes C items; later ones are dropped");
  option("--marker", options->marker, "E", "The key of items that go nowhere, instead of -1");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_run(*command, options->quiet);
  return {command, [options] { run_route(*options); }};
}

}  // namespace faro::cli
