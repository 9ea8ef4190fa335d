#include <fmt/format.h>

#include <algorithm>

#include "capi/author_json.hpp"
#include "cli/arguments.hpp"
#include "cli/file_options.hpp"
#include "cli/file_problem.hpp"
#include "cli/permute_file.hpp"
#include "cli/permute_ways.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "faro/store.hpp"
#include "size_text.hpp"

namespace faro::cli {
namespace {

std::string relayout_operation(const PermuteOptions& options) { return "lay `" + options.in + "` out anew"; }

// "256,256,64"
std::vector<std::uint64_t> parse_extents(const std::string& option, const std::string& text) {
  std::vector<std::uint64_t> extents;
  for (const std::string& extent : split(text, ','))
    extents.push_back(parse_number(option, extent, 1, std::uint64_t{1} << 62));
  return extents;
}

void require_no_others(const PermuteOptions& options) {
  const std::string numbers = options.numbers.first_beside_dtype();
  const std::string given = first_given({{"a strided view", options.view.has_value()},
                                         {"--in-place", options.in_place},
                                         {"--devices", options.devices.is_given()},
                                         {"--map", !options.map.empty()},
                                         {"--plan-cache", !options.plan_cache.empty()},
                                         {"--method, --chunk-bits or --levels", options.index.has_choice()},
                                         {"--measure", options.common.measure},
                                         {"--io", options.io != "auto"},
                                         {"`-`", options.in == kStream || options.out == kStream},
                                         {numbers.c_str(), !numbers.empty()},
                                         {"--engine cuda", options.common.engine == "cuda"}});
  if (given.empty()) return;
  fail(ErrorCode::unsupported, relayout_operation(options), given + " with a store",
       "a permutation from one store to another", "a .npy file takes it");
}

// The array as a file of its shape would have it, for what reads permutations.
io::NpyHeader header_of_store(const PermuteOptions& options) {
  if (!options.raw.empty()) return header_of_input(options);
  const std::vector<store::ArrayFacts> arrays = store::arrays(options.in);
  io::NpyHeader header;
  if (arrays.size() != 1) {
    std::string names;
    for (const store::ArrayFacts& array : arrays) names += (names.empty() ? "" : ", ") + array.name;
    fail(ErrorCode::value, relayout_operation(options),
         fmt::format("{} arrays: {}", arrays.size(), names.substr(0, 200)), "the name of one of them",
         arrays.empty() ? "" : "`" + options.in + ":" + arrays.front().name + "`");
  }
  const store::ArrayFacts& array = arrays.front();
  if (!array.refusal.empty())
    fail(ErrorCode::unsupported, relayout_operation(options), array.refusal, "an array that can be read");
  header.shape = array.shape;
  header.item_bytes = 1;
  for (const std::uint64_t extent : array.shape) header.item_bytes *= std::max<std::uint64_t>(extent, 1);
  header.item_bytes = std::max<std::uint64_t>(array.bytes / std::max<std::uint64_t>(header.item_bytes, 1), 1);
  header.descr = "'|V" + std::to_string(header.item_bytes) + "'";
  return header;
}

// With SPEC as a map of the whole array.
store::Options store_options_of(const PermuteOptions& options) {
  store::Options made = store_options_without_map(options);
  if (options.spec.empty()) return made;
  const io::NpyHeader header = header_of_store(options);
  made.map = element_map_of(file_problem_of(options, header, Widths::any), header, made.threads);
  return made;
}

// What is said of a run, behind what was asked.
template <typename Told>
void print_json(const PermuteOptions& options, const Told& told) {
  Json json = new_json();
  json["spec"] = options.spec;
  json.update(capi::store_json(told, options.in, options.out));
  print(json);
}

void tell_facts(const PermuteOptions& options, const store::Facts& facts) {
  if (options.common.json) return print_json(options, facts);
  const auto said = [&facts](const store::ArrayFacts& array) {
    if (facts.arrays != 1)
      return fmt::format("{}, {} arrays, {}", array.format, facts.arrays, size_text(array.bytes));
    std::string text = fmt::format("{}, {} of {}, {}", array.format, shape_text(array.shape), array.dtype,
                                   size_text(array.bytes));
    if (!array.chunks.empty())
      text += fmt::format(", chunks of {} by {}", shape_text(array.chunks), array.codec);
    if (!array.shards.empty()) text += fmt::format(", shards of {}", shape_text(array.shards));
    return text;
  };
  print(explained("in", said(facts.in)) + "\n" + explained("out", said(facts.out)) + "\n" +
        explained("plan", facts.text()) + "\n" +
        explained("disk", fmt::format("reads {}, writes {}, before coding", size_text(facts.read_bytes),
                                      size_text(facts.written_bytes))) +
        "\n" +
        explained("time", facts.predicted_seconds
                              ? fmt::format("{:.3g} s predicted, by {}", *facts.predicted_seconds,
                                            facts.prediction_source)
                              : "not known: `faro tune --disk DIR` measures a disk") +
        "\n" + explained("threads", std::to_string(facts.threads)));
}

void tell_report(const PermuteOptions& options, const store::Report& report) {
  const store::Facts& facts = report.facts;
  const double ms = report.seconds * 1e3;
  const double rate = gb_per_s(facts.out.bytes, ms);
  if (options.common.json) return print_json(options, report);
  if (!options.quiet && !report.left_out.empty())
    note(fmt::format("{} has no {}", facts.out.format, fmt::join(report.left_out, ", ")));
  const std::string label = options.spec.empty() ? "converted" : options.label();
  const std::string done = fmt::format("{} in {}, {:.3g} GB/s{}", size_text(facts.out.bytes), time_text(ms),
                                       rate, report.verified ? ", verified" : "");
  if (!options.quiet) note(fitted_line({label + ": " + done, done}, {{facts.text()}, {facts.out.format}}));
}

}  // namespace

store::Options store_options_without_map(const PermuteOptions& options) {
  // A level behind another.
  std::vector<std::vector<std::uint64_t>> shards;
  for (const std::string& level : split(options.store.shards, '/'))
    shards.push_back(parse_extents("--shard-chunks", level));
  store::Options made{.chunks = parse_extents("--chunks", options.store.chunks),
                      .shards = shards.empty() ? std::vector<std::uint64_t>() : shards.front(),
                      .codec = options.store.codec,
                      .dtype = options.numbers.dtype,
                      .fortran_order = options.order == "F",
                      .format = options.store.format,
                      .memory_bytes = memory_budget(options.memory),
                      .threads = options.common.plan_options(1).threads,
                      .verify = options.verify,
                      .keep_unfinished = true,
                      .resume = options.resume};
  if (shards.size() > 1) made.inner_shards.assign(shards.begin() + 1, shards.end());
  if (!options.checkpoint.empty()) made.checkpoint_seconds = checkpoint_seconds(options);
  if (!options.raw.empty()) {
    if (options.shape.empty())
      fail(ErrorCode::value, relayout_operation(options), "--raw without --shape",
           "--raw DTYPE --shape SHAPE");
    made.raw_dtype = options.raw;
    made.raw_shape = parse_shape(options.shape);
    if (!options.skip.empty()) made.raw_offset = skipped_bytes(options);
  }
  return made;
}

store::ElementMap element_map_of(const FileProblem& asked, const io::NpyHeader& header, int threads) {
  return {.permutation = asked.problem.permutation,
          .shape = asked.shape_after(plan_of_shape(asked.problem, threads)),
          .batch = asked.problem.batch,
          .items = asked.problem.element_bytes / header.item_bytes};
}

bool is_of_stores(const PermuteOptions& options) {
  if (options.store.is_given()) return true;
  if (options.in == kStream || options.out == kStream) return false;
  return (options.raw.empty() && store::is_store(options.in)) ||
         (options.has_out && store::is_store(options.out));
}

void relayout_stores(const PermuteOptions& options) {
  require_no_others(options);
  if (!options.has_out) fail(ErrorCode::usage, relayout_operation(options), "no OUT", "IN and OUT");
  store::Options wanted = store_options_of(options);
  if (options.store.explain) return tell_facts(options, store::explain(options.in, options.out, wanted));
  const InterruptNote interrupted(resumable_text(options, wanted.memory_bytes));
  Progress progress(options.quiet || options.common.json ? Verbosity::quiet : Verbosity::normal);
  wanted.progress = [&](const store::Progress& now) {
    progress.reach("laying out " + options.in, now.done_bytes, now.total_bytes);
  };
  wanted.done = [&](const store::Report& report) {
    progress.end();
    tell_report(options, report);
  };
  store::relayout(options.in, options.out, wanted);
}

}  // namespace faro::cli
