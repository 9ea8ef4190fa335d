// faro bench SPEC…: verify, then time faro, the obvious way and a plain copy by turns, where the engine's
// arrays are.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/host_run.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"
#include "faro/engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/faro.hpp"
#include "faro/io/buffer.hpp"
#include "faro/measure.hpp"
#include "faro/oracle.hpp"

namespace faro::cli {
namespace {

struct Options {
  CommonOptions common;
  std::vector<std::string> specs;
  std::string bytes;
};

struct Row {
  std::string spec;   // canonical
  std::string label;  // for the table: as it was typed where the canonical text is long
  std::uint64_t element_bytes = 0;
  std::uint64_t bytes = 0;
  std::string device;
  std::string engine;
  std::string kernel;
  Timing timing;
  double gb_per_s = 0;
  double share_of_copy = 0;
};

Problem problem_of(const Options& options, const std::string& spec) {
  const std::uint64_t width = options.common.element_bytes_given().value_or(Problem{}.element_bytes);
  if (options.bytes.empty()) return {.permutation = parse_spec(spec), .element_bytes = width};
  if (!std::has_single_bit(width)) {  // before it is taken for a size that does not divide --bytes
    refuse_value("bench " + spec, count_text(width, "byte") + " an element", "a power of two from 1 to 4096");
  }
  const std::uint64_t bytes = parse_size("--bytes", options.bytes);
  const Permutation permutation = parse_spec(spec, bytes / width);
  Problem problem{.permutation = permutation, .element_bytes = width};
  const std::uint64_t array_bytes = total_bytes(problem);
  if (bytes % array_bytes != 0) {
    refuse_value("bench " + to_text(permutation), "--bytes " + options.bytes,
                 fmt::format("a multiple of one array, {}", size_text(array_bytes)));
  }
  problem.batch = bytes / array_bytes;
  return problem;
}

// Bytes that differ from element to element, so that verification means something.
void fill(std::span<std::byte> bytes) {
  const auto words = static_cast<std::int64_t>(bytes.size() / sizeof(std::uint64_t));
#pragma omp parallel for schedule(static) if (words > 65536)
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
constexpr std::array<const char*, 3> kKernels{"faro", "naive", "copy"};

// On arrays of the host. One Timing for each of kKernels.
std::vector<Timing> bench_on_host(const ExecutablePlan& plan, const io::Buffer& in, const io::Buffer& out,
                                  int threads) {
  const Problem& problem = plan.plan().problem();
  plan.run(in.data(), out.data(), in.size());
  verify(problem, in.data(), out.data(), threads);
  const std::array<std::function<void()>, kKernels.size()> contestants{
      [&] { plan.run(in.data(), out.data(), in.size()); },
      [&] { permute_naively(problem, in.data(), out.data(), threads); },
      [&] { cpu::copy(in.data(), out.data(), in.size(), threads); }};
  return measure_alternating(contestants, {.budget_ms = kBudgetMs});
}

// On arrays of the GPU, by its clock.
std::vector<Timing> bench_on_device(const ExecutablePlan& plan, const io::Buffer& in, const io::Buffer& out,
                                    int threads) {
  const Problem& problem = plan.plan().problem();
  const int device = plan.plan().target().device;
  const cuda::NaiveExecutor naive(problem, device);
  cuda::DeviceArray device_in(in.size(), device);
  const cuda::DeviceArray device_out(out.size(), device);
  const auto run_faro = [&](Stream stream) {
    plan.run(device_in.data(), device_out.data(), device_in.size(), stream);
  };
  device_in.upload(in.data());
  run_faro({});
  device_out.download(out.data());
  verify(problem, in.data(), out.data(), threads);

  const cuda::StreamClock clock(device);
  const auto timed = [&clock](auto work) {
    return TimedRun([&clock, work](int calls) { return clock.milliseconds(calls, work); });
  };
  const std::array<TimedRun, kKernels.size()> contestants{
      timed(run_faro), timed([&](Stream stream) { naive.run(device_in.data(), device_out.data(), stream); }),
      timed(
          [&](Stream stream) { cuda::copy(device_in.data(), device_out.data(), device_in.size(), stream); })};
  return measure_alternating(contestants, {.budget_ms = kBudgetMs});
}

std::vector<Row> bench(const Options& options, const std::string& spec, Progress& progress) {
  const Problem problem = problem_of(options, spec);
  const PlanOptions plan_options = options.common.plan_options(problem.element_bytes);
  const ExecutablePlan plan = faro::plan(problem, plan_options);
  const std::uint64_t bytes = total_bytes(problem);
  const std::string text = to_text(problem.permutation);
  if (bytes > io::available_memory_bytes() / 2) {
    refuse_value("bench " + text, "two arrays of " + size_text(bytes),
                 "at most the available memory, " + size_text(io::available_memory_bytes()));
  }
  progress.step("measuring " + text);
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  fill(in.span());
  const auto timings = plan.engine() == Engine::cuda ? bench_on_device(plan, in, out, plan_options.threads)
                                                     : bench_on_host(plan, in, out, plan_options.threads);
  const std::string device =
      plan.engine() == Engine::cuda ? gpu_name(plan.plan().target().device) : device_name();
  const double copy_ms = timings.back().median_ms;
  constexpr std::size_t kLongestLabel = 40;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const double ms = timings[i].median_ms;
    rows.push_back({.spec = text,
                    .label = text.size() <= kLongestLabel ? text : spec,
                    .element_bytes = problem.element_bytes,
                    .bytes = bytes,
                    .device = device,
                    .engine = name(plan.engine()),
                    .kernel = kKernels.at(i),
                    .timing = timings[i],
                    .gb_per_s = gb_per_s(bytes, ms),
                    .share_of_copy = ms > 0 ? copy_ms / ms : 0});
  }
  return rows;
}

void print_table(const std::string& device, const std::vector<Row>& rows) {
  std::size_t widest = 4;
  for (const Row& row : rows) widest = std::max(widest, row.label.size());
  std::string table = device;
  table += fmt::format("\n{:<{}}  {:>7}  {:>9}  {:<6}  {:<6}  {:>10}  {:>9}  {:>8}  {:>7}", "spec", widest,
                       "element", "array", "engine", "kernel", "median ms", "mad ms", "GB/s", "of copy");
  for (const Row& row : rows) {
    table += fmt::format("\n{:<{}}  {:>7}  {:>9}  {:<6}  {:<6}  {:>10.4g}  {:>9.2g}  {:>8.4g}  {:>6.1f}%",
                         row.label, widest, row.element_bytes, size_text(row.bytes), row.engine, row.kernel,
                         row.timing.median_ms, row.timing.mad_ms, row.gb_per_s, 100 * row.share_of_copy);
  }
  print(table);
}

void bench_all(const Options& options) {
  std::vector<Row> rows;
  {
    Progress progress(Verbosity::normal);
    for (const std::string& spec : options.specs) {
      for (Row& row : bench(options, spec, progress)) rows.push_back(std::move(row));
    }
  }
  const std::string& device = rows.front().device;
  if (!options.common.json) return print_table(device, rows);
  Json json = new_json();
  json["device"] = device;
  json["rows"] = Json::array();
  for (const Row& row : rows) {
    json["rows"].push_back({{"spec", row.spec},
                            {"element_bytes", row.element_bytes},
                            {"bytes", row.bytes},
                            {"engine", row.engine},
                            {"kernel", row.kernel},
                            {"median_ms", row.timing.median_ms},
                            {"mad_ms", row.timing.mad_ms},
                            {"gb_per_s", row.gb_per_s},
                            {"share_of_copy", row.share_of_copy}});
  }
  print(json);
}

}  // namespace

Verb bench_verb(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* const command =
      app.add_subcommand("bench", "Verify a permutation, then time it against naive and copy");
  command->add_option("SPEC", options->specs, "Permutations, such as `bit_reversal(24)`")
      ->required()
      ->type_name("");
  options->common.add_engine(*command);
  options->common.add_device(*command);
  options->common.add_tile(*command);
  options->common.add_element_bytes(*command, "Bytes of an element; the default is 4");
  command
      ->add_option("--bytes", options->bytes, "Repeat the map as a batch up to this size: 64MiB, 4GiB, 2^30")
      ->type_name("SIZE")
      ->check(refuse_empty);
  options->common.add_threads(*command);
  options->common.add_json(*command);
  return {command, [options] { bench_all(*options); }};
}

}  // namespace faro::cli
