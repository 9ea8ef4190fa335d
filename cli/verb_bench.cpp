// faro bench SPEC…: verify, then time faro, the obvious ways and a plain copy by turns, where the engine's
// arrays are.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/affine.hpp"
#include "faro/threads.hpp"
#include "io/buffer.hpp"
#include "oracle.hpp"

namespace faro::cli {
namespace {

struct BenchOptions {
  CommonOptions common;
  IndexOptions index;
  std::vector<std::string> specs;
  std::string bytes;
  CutOptions cuts;
  DeviceOptions devices;
  bool in_place = false;
  bool shards = false;
};

struct Row {
  std::string spec;   // canonical
  std::string label;  // for the table: as it was typed, or the canonical text where that is long
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;
  std::string device;
  std::string engine;
  std::string kernel;
  std::optional<double> plan_ms;  // nothing for a copy and the loop
  Timing timing;
  double gb_per_s = 0;
  double share_of_copy = 0;
};

Problem problem_of(const BenchOptions& options, const std::string& spec) {
  const std::uint64_t width = options.common.element_bytes_given().value_or(kUsualElementBytes);
  const Direction direction = options.index.direction(spec);
  if (options.bytes.empty()) return {.permutation = parse_spec(spec, {}, direction), .element_bytes = width};
  const std::uint64_t bytes = parse_size("--bytes", options.bytes);
  // A bare name takes its size from --bytes, and that must be a power of two.
  Problem problem{.permutation = parse_spec(spec, std::bit_floor(bytes / width), direction),
                  .element_bytes = width};
  const std::uint64_t array_bytes = total_bytes(problem);
  if (array_bytes > bytes) {
    fail(ErrorCode::value, "bench " + to_text(problem.permutation), "--bytes " + options.bytes,
         fmt::format("at least one array, {}", size_text(array_bytes)));
  }
  problem.batch = array_bytes == 0 ? 1 : bytes / array_bytes;
  return problem;
}

// Bytes that differ from element to element, so that verification means something.
void fill(std::span<std::byte> bytes) {
  const auto words = static_cast<std::int64_t>(bytes.size() / sizeof(std::uint64_t));
#pragma omp parallel for schedule(static) num_threads(detail::thread_count()) if (words > 65536)
  for (std::int64_t i = 0; i < words; ++i) {
    const std::uint64_t word =
        (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(word), &word, sizeof(word));
  }
  for (std::size_t i = static_cast<std::size_t>(words) * sizeof(std::uint64_t); i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i + 1);
  }
}

constexpr double kBudgetMs = 4000;
constexpr int kWakingBits = 16;

// A plan that is timed, by the name of its row.
struct Contestant {
  std::string kernel;
  ExecutablePlan plan;
  double plan_ms = 0;
};

// The permutation as an array, for the direct kernels.
Indexed indexed_of(const Permutation& permutation) {
  if (const auto* const indexed = std::get_if<Indexed>(&permutation)) return *indexed;
  std::vector<std::uint64_t> entries(element_count(permutation));
  for (std::uint64_t x = 0; x < entries.size(); ++x) entries[x] = apply(permutation, x);
  return {std::move(entries), Direction::scatter};
}

Contestant contestant(std::string kernel, const Problem& problem, const PlanOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ExecutablePlan plan = faro::plan(problem, options);
  const double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return {std::move(kernel), std::move(plan), ms};
}

Problem with_two_arrays(Problem problem) {
  problem.placement = Placement::out_of_place;
  return problem;
}

bool is_in_place(const Contestant& contestant) {
  return contestant.plan.plan().problem().placement == Placement::in_place;
}

// Whether the obvious loop stands beside the plans: where there are no direct loops over an index array.
bool has_naive(const std::vector<Contestant>& plans) { return plans.size() < 3; }

// faro's own plan first, in place beside the one with two arrays; beside it the direct loops over an index
// array, where the permutation is not given as an affine map, or not carried out as one.
std::vector<Contestant> contestants_of(const Problem& problem, PlanOptions options,
                                       const IndexChoice& choice) {
  std::vector<Contestant> all;
  options.index_choice = choice;
  if (problem.placement == Placement::in_place) {
    all.push_back(contestant("in_place", problem, options));
    all.push_back(contestant("faro", with_two_arrays(problem), options));
    return all;
  }
  all.push_back(contestant("faro", problem, options));
  const bool has_way = all.front().plan.plan().way() != nullptr;
  if (std::holds_alternative<Affine>(problem.permutation) && !has_way) return all;
  const Indexed indexed = indexed_of(problem.permutation);
  options.index_choice = {.method = IndexMethod::direct, .chunk_bits = {}, .level_bits = {}};
  options.measure = false;  // of faro's own plan
  for (const Direction direction : {Direction::gather, Direction::scatter}) {
    Problem direct = problem;
    direct.permutation = indexed.redirected(direction);
    all.push_back(contestant(name(direction), direct, options));
  }
  return all;
}

// Verified against the oracle, then a Timing for each plan, the obvious loop where there is no other, and the
// copy.
std::vector<Timing> bench_on_host(const Problem& problem, const std::vector<Contestant>& plans,
                                  const io::Buffer& in, const io::Buffer& out, int threads) {
  std::uint64_t lent = 1;
  for (const Contestant& each : plans) lent = std::max(lent, each.plan.workspace_bytes());
  const io::Buffer workspace(lent);
  const auto run = [&](const Contestant& each) {
    const Workspace lend{.data = workspace.data(), .bytes = lent};
    if (is_in_place(each)) return each.plan.run(out.data(), out.size(), lend, {});
    each.plan.run(in.data(), out.data(), in.size(), lend, {});
  };
  std::vector<std::function<void()>> contestants;
  for (const Contestant& each : plans) {
    if (is_in_place(each)) cpu::copy(in.data(), out.data(), in.size(), threads);
    run(each);
    verify(problem, in.data(), out.data(), threads);
    contestants.emplace_back([&run, &each] { run(each); });
  }
  if (has_naive(plans))
    contestants.emplace_back([&] { permute_naively(problem, in.data(), out.data(), threads); });
  contestants.emplace_back([&] { cpu::copy(in.data(), out.data(), in.size(), threads); });
  return measure_alternating(contestants, {.budget_ms = kBudgetMs});
}

// The same on arrays of the GPU, by its clock.
std::vector<Timing> bench_on_device(const Problem& problem, const std::vector<Contestant>& plans,
                                    const io::Buffer& in, const io::Buffer& out, int threads) {
  const int device = plans.front().plan.plan().target().device;
  std::optional<cuda::NaiveExecutor> naive;
  const Plan& last = plans.back().plan.plan();
  if (has_naive(plans) && last.way() == nullptr) naive.emplace(with_two_arrays(problem), device);
  cuda::DeviceArray device_in(in.size(), device);
  const cuda::DeviceArray device_out(out.size(), device);
  std::uint64_t lent = 0;
  for (const Contestant& each : plans) lent = std::max(lent, each.plan.workspace_bytes());
  std::optional<cuda::DeviceArray> workspace;
  if (lent > 0) workspace.emplace(lent, device);
  const auto run = [&](const Contestant& each, Stream stream) {
    const Workspace lend{.data = workspace ? workspace->data() : nullptr, .bytes = lent};
    if (is_in_place(each)) return each.plan.run(device_out.data(), device_out.size(), lend, stream);
    each.plan.run(device_in.data(), device_out.data(), device_in.size(), lend, stream);
  };
  device_in.upload(in.data());
  const cuda::StreamClock clock(device);
  std::vector<TimedRun> contestants;
  const auto add = [&](const std::function<void(Stream)>& work) {
    contestants.emplace_back([&clock, work](int calls) { return clock.milliseconds(calls, work); });
  };
  for (const Contestant& each : plans) {
    if (is_in_place(each)) cuda::copy(device_in.data(), device_out.data(), device_in.size());
    run(each, {});
    device_out.download(out.data());
    verify(problem, in.data(), out.data(), threads);
    add([&run, &each](Stream stream) { run(each, stream); });
  }
  if (naive) add([&](Stream stream) { naive->run(device_in.data(), device_out.data(), stream); });
  add([&](Stream stream) { cuda::copy(device_in.data(), device_out.data(), device_in.size(), stream); });
  return measure_alternating(contestants, {.budget_ms = kBudgetMs});
}

struct Benched {
  std::vector<Row> rows;
  std::string method;  // how an index array was carried out; empty for others
};

void check_memory(const Problem& problem, const std::string& text) {
  const std::uint64_t bytes = total_bytes(problem);
  // An array of indices has two directions, and schedules.
  constexpr std::uint64_t kTables = 32;
  const bool is_affine =
      std::holds_alternative<Affine>(problem.permutation) && std::has_single_bit(problem.element_bytes);
  const std::uint64_t tables = is_affine ? 0 : kTables * element_count(problem.permutation);
  const std::uint64_t available = io::available_memory_bytes();
  if (bytes <= available / 2 && tables <= available - bytes) return;
  fail(ErrorCode::value, "bench " + text, "two arrays of " + size_text(bytes),
       "at most the available memory, " + size_text(available));
}

std::string method_of(const Problem& problem, const Contestant& faro) {
  const IndexCandidate* const way = faro.plan.plan().way();
  const bool is_affine = std::holds_alternative<Affine>(problem.permutation);
  if (const TransposePlan* const transposes = faro.plan.plan().transpose_plan()) {
    return fmt::format("{}, {} over memory; planned in {:.3g} ms", transposes->r2c() ? "R2C" : "C2R",
                       count_text(faro.plan.plan().passes().size(), "sweep"), faro.plan_ms);
  }
  if (is_affine && way == nullptr) return "";
  const std::string how =
      way == nullptr ? "affine, " + to_text(faro.plan.plan().problem().permutation) : to_text(*way);
  const std::uint64_t schedule = way == nullptr ? 0 : way->schedule_bytes;
  return fmt::format("{}; planned in {:.3g} ms{}", how, faro.plan_ms,
                     schedule == 0 ? "" : ", a schedule of " + size_text(schedule));
}

Benched bench(const BenchOptions& options, const std::string& spec, Progress& progress) {
  Problem problem = problem_of(options, spec);
  if (options.in_place) problem.placement = Placement::in_place;
  const PlanOptions plan_options = options.common.plan_options(problem.element_bytes);
  const std::uint64_t bytes = total_bytes(problem);
  const std::string text = to_text(problem.permutation);
  check_memory(problem, text);
  progress.step("planning " + spec);
  // The first plan of a process wakes the device, a fifth of a second that is not planning.
  static_cast<void>(
      faro::plan({.permutation = maps::bit_reversal(kWakingBits), .element_bytes = problem.element_bytes},
                 {.engine = plan_options.engine, .device = plan_options.device}));
  const std::vector<Contestant> plans = contestants_of(problem, plan_options, options.index.choice());
  const ExecutablePlan& plan = plans.front().plan;
  progress.step("measuring " + spec);
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  fill(in.span());
  const auto timings = plan.engine() == Engine::cuda
                           ? bench_on_device(problem, plans, in, out, plan_options.threads)
                           : bench_on_host(problem, plans, in, out, plan_options.threads);
  const std::string device =
      plan.engine() == Engine::cuda ? gpu_name(plan.plan().target().device) : device_name();
  const double copy_ms = timings.back().median_ms;
  constexpr std::size_t kLongestLabel = 40;
  Benched benched{.rows = {}, .method = method_of(problem, plans.front())};
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const double ms = timings[i].median_ms;
    const bool planned = i < plans.size();
    benched.rows.push_back({.spec = text,
                            .label = spec.size() > kLongestLabel && text.size() < spec.size() ? text : spec,
                            .element_bytes = problem.element_bytes,
                            .bytes = bytes,
                            .device = device,
                            .engine = name(plan.engine()),
                            .kernel = planned                   ? plans[i].kernel
                                      : i + 1 == timings.size() ? "copy"
                                                                : "naive",
                            .plan_ms = planned ? std::optional(plans[i].plan_ms) : std::nullopt,
                            .timing = timings[i],
                            .gb_per_s = gb_per_s(bytes, ms),
                            .share_of_copy = ms > 0 ? copy_ms / ms : 0});
  }
  if (!benched.method.empty()) benched.method = benched.rows.front().label + ": " + benched.method;
  return benched;
}

void print_table(const std::string& device, const std::vector<Row>& rows,
                 const std::vector<std::string>& methods) {
  std::size_t widest = 4;
  for (const Row& row : rows) widest = std::max(widest, row.label.size());
  std::string table = device;
  table += fmt::format("\n{:<{}}  {:>7}  {:>9}  {:<6}  {:<8}  {:>10}  {:>9}  {:>8}  {:>7}", "spec", widest,
                       "element", "array", "engine", "kernel", "median ms", "mad ms", "GB/s", "of copy");
  for (const Row& row : rows) {
    table += fmt::format("\n{:<{}}  {:>7}  {:>9}  {:<6}  {:<7}  {:>10.4g}  {:>9.2g}  {:>8.4g}  {:>6.1f}%",
                         row.label, widest, row.element_bytes, size_text(row.bytes), row.engine, row.kernel,
                         row.timing.median_ms, row.timing.mad_ms, row.gb_per_s, 100 * row.share_of_copy);
  }
  for (const std::string& method : methods) table += "\n" + method;
  print(table);
}

void bench_all_shards(const BenchOptions& options) {
  if (options.in_place || !options.bytes.empty())
    fail(ErrorCode::unsupported, "bench --shards", "--in-place or --bytes",
         "whole arrays, from one to another");
  const bool on_cuda = options.common.engine == "cuda";
  if (on_cuda != options.devices.is_given()) {
    fail(ErrorCode::unsupported, "bench --shards",
         on_cuda ? "--engine cuda without --devices" : "--devices or --backend without --engine cuda",
         "--engine cuda --devices 0,1, or neither");
  }
  for (const std::string& spec : options.specs) {
    const auto read = parse_spec_with_axes(spec, std::nullopt, options.index.direction(spec));
    const std::uint64_t width = options.common.element_bytes_given().value_or(kUsualElementBytes);
    bench_shards({.spec = spec,
                  .read = read,
                  .problem = {.permutation = read.parsed.permutation, .element_bytes = width},
                  .cuts = options.cuts,
                  .devices = options.devices,
                  .threads = options.common.plan_options(width).threads,
                  .json = options.common.json});
  }
}

void bench_all(const BenchOptions& options) {
  if (options.shards) return bench_all_shards(options);
  if (options.cuts.is_given() || options.devices.is_given())
    fail(ErrorCode::value, "bench", "--shard-in, --shard-out, --devices or --backend without --shards",
         "--shards with them");
  std::vector<Row> rows;
  std::vector<std::string> methods;
  {
    Progress progress(Verbosity::normal);
    for (const std::string& spec : options.specs) {
      Benched benched = bench(options, spec, progress);
      for (Row& row : benched.rows) rows.push_back(std::move(row));
      if (!benched.method.empty()) methods.push_back(std::move(benched.method));
    }
  }
  const std::string& device = rows.front().device;
  if (!options.common.json) return print_table(device, rows, methods);
  Json json = new_json();
  json["device"] = device;
  json["rows"] = Json::array();
  for (const Row& row : rows) {
    json["rows"].push_back({{"spec", row.spec},
                            {"element_bytes", row.element_bytes},
                            {"bytes", row.bytes},
                            {"engine", row.engine},
                            {"kernel", row.kernel},
                            {"plan_ms", row.plan_ms ? Json(*row.plan_ms) : Json()},
                            {"median_ms", row.timing.median_ms},
                            {"mad_ms", row.timing.mad_ms},
                            {"gb_per_s", row.gb_per_s},
                            {"share_of_copy", row.share_of_copy}});
  }
  print(json);
}

}  // namespace

Verb bench_verb(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* const command =
      app.add_subcommand("bench", "Verify a permutation, then time it beside the obvious loop and a copy");
  add_argument(*command, "SPEC", options->specs, "Permutations, such as `bit_reversal(24)`");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_tile(*command);
  options->common.add_measure(*command);
  options->index.add_direction(*command);
  options->index.add_choice(*command);
  options->common.add_element_bytes(*command, "Bytes of an element; the default is 4");
  add_text(*command, "--bytes", options->bytes, "SIZE",
           "Repeat the map as a batch of whole arrays up to this size: 64MiB, 4GiB, 2^30");
  command->add_flag("--in-place", options->in_place,
                    "Time it in place, and beside it out of place, the obvious loop and a copy");
  command->add_flag("--shards", options->shards,
                    "Run under mpirun, or with --devices: time the array spread over the ranks, and its "
                    "local passes and its "
                    "exchange alone");
  options->cuts.add(*command);
  options->devices.add(*command);
  options->common.add_threads(*command);
  options->common.add_json(*command);
  return {command, [options] { bench_all(*options); }};
}

}  // namespace faro::cli
