#include "network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "cli/host_run.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "faro/network/network.hpp"
#include "io/npy.hpp"
#include "network/text.hpp"
#include "network/verify.hpp"

namespace faro::cli {
namespace {

using network::ElementType;
using network::Scalar;

// The dtypes that operators know, as numpy writes them.
struct Dtype {
  std::string_view descr;
  Scalar scalar;
};
constexpr std::array<Dtype, 8> kDtypes{{{"<i4", Scalar::i32},
                                        {"<u4", Scalar::u32},
                                        {"<i8", Scalar::i64},
                                        {"<u8", Scalar::u64},
                                        {"<f4", Scalar::f32},
                                        {"<f8", Scalar::f64},
                                        {"<c8", Scalar::c64},
                                        {"<c16", Scalar::c128}}};

ElementType element_of(const NetworkRunOptions& options, const io::NpyHeader& header) {
  const auto* const found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const Dtype& dtype) {
    return io::npy_type_code(dtype.descr) == header.type_code();
  });
  if (found == kDtypes.end()) {
    fail(ErrorCode::value, "network run `" + options.in + "`", "dtype " + header.descr,
         "<i4, <u4, <i8, <u8, <f4, <f8, <c8 or <c16",
         "operators look into elements, so their type and byte order must be one of these");
  }
  return {.scalar = found->scalar, .with_value = options.pairs};
}

// (2^n) is one array, (batch, 2^n) many; with pairs both have a last axis of 2.
network::Problem problem_of(const NetworkRunOptions& options, const io::NpyHeader& header) {
  const std::string operation = "network run `" + options.in + "`";
  std::vector<std::uint64_t> shape = header.shape;
  const std::string wanted =
      options.pairs ? "shape 2^n x 2, or batch x 2^n x 2, with --pairs" : "shape 2^n, or batch x 2^n";
  const bool has_pairs = !options.pairs || (!shape.empty() && shape.back() == 2);
  if (options.pairs && has_pairs) shape.pop_back();
  if (!has_pairs || shape.empty() || shape.size() > 2 || !std::has_single_bit(shape.back())) {
    fail(ErrorCode::value, operation, "shape " + shape_text(header.shape), wanted);
  }
  const ElementType element = element_of(options, header);
  const int bits = std::countr_zero(shape.back());
  return {.program = network::parse_program(options.program, bits),
          .element = element,
          .batch = shape.size() == 2 ? shape.front() : 1};
}

/// What was measured.
struct RunTiming {
  double milliseconds = 0;
  double device_milliseconds = 0;  // of engine cuda: without the copies
  double copy_gb_per_s = 0;
};

RunTiming run_on_cpu(const network::Executable& program, std::span<const std::byte> in,
                     std::span<std::byte> out, int threads, const std::string& name, Progress& progress) {
  constexpr std::uint64_t kRepeatedBytes = std::uint64_t{16} << 20;
  constexpr double kBudgetMs = 30;
  const std::function<void()> run = [&] { program.run(in.data(), out.data(), in.size()); };
  const std::function<void()> copy = [&] { cpu::copy(in.data(), out.data(), in.size(), threads); };
  RunTiming timing;
  double copy_ms = 0;
  if (in.size() <= kRepeatedBytes) {
    const auto timings = measure_alternating(std::array{run, copy}, {.budget_ms = kBudgetMs});
    timing.milliseconds = timings[0].median_ms;
    copy_ms = timings[1].median_ms;
    run();  // the last word is the program's
  } else {
    copy_ms = measure_alternating(std::span(&copy, 1), {.budget_ms = kBudgetMs}).front().median_ms;
    const ShownRun shown(progress, "running " + name, Engine::cpu, in.size());
    const auto start = std::chrono::steady_clock::now();
    run();
    timing.milliseconds = milliseconds_since(start);
  }
  timing.copy_gb_per_s = gb_per_s(in.size(), copy_ms);
  return timing;
}

RunTiming run_on_gpu(const network::Executable& program, std::span<const std::byte> in,
                     std::span<std::byte> out, int device) {
  RunTiming timing;
  const auto start = std::chrono::steady_clock::now();
  cuda::DeviceArray source(in.size(), device);
  cuda::DeviceArray target(out.size(), device);
  source.upload(in.data());
  const cuda::StreamClock clock(device);
  const auto run = [&](Stream stream) { program.run(source.data(), target.data(), in.size(), stream); };
  const auto copy = [&](Stream stream) { cuda::copy(source.data(), target.data(), in.size(), stream); };
  static_cast<void>(clock.milliseconds(1, run));
  target.download(out.data());
  timing.milliseconds = milliseconds_since(start);
  // The first run also loads the kernels; the device's time is that of later ones.
  constexpr double kBudgetMs = 100;
  const std::array<TimedRun, 2> contestants{[&](int calls) { return clock.milliseconds(calls, run); },
                                            [&](int calls) { return clock.milliseconds(calls, copy); }};
  const auto timings = measure_alternating(std::span<const TimedRun>(contestants), {.budget_ms = kBudgetMs});
  timing.device_milliseconds = timings[0].median_ms;
  const double copy_ms = timings[1].median_ms;
  timing.copy_gb_per_s = gb_per_s(in.size(), copy_ms);
  return timing;
}

// One line of at most 80 columns: a program that leaves no room is told by its result alone.
std::string run_line(std::string text, const network::Executable& program, double run_ms, double rate,
                     bool verified) {
  constexpr std::size_t kColumns = 80;
  const network::Problem& problem = program.plan().problem();
  const std::string arrays = problem.batch == 1 ? "" : fmt::format("{} x ", problem.batch);
  const int bits = problem.program.bits();
  const std::string elements = fmt::format("{}{} {}", arrays, bits == 0 ? "1" : fmt::format("2^{}", bits),
                                           network::to_text(problem.element));
  const std::string checked = verified ? ", verified" : "";
  const std::string done =
      program.sweeps() == 0
          ? fmt::format(": {}, no pass is needed{}", elements, checked)
          : fmt::format(": {} in {} {}, {}, {:.3g} GB/s{}", elements, program.sweeps(),
                        program.sweeps() == 1 ? "pass" : "passes", time_text(run_ms), rate, checked);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return (text.size() + done.size() <= kColumns ? text : "program") + done;
}

void report(const NetworkRunOptions& options, const network::Executable& program, const RunTiming& timing,
            const std::optional<network::Verification>& verification) {
  const network::Plan& plan = program.plan();
  const bool on_gpu = plan.engine() == Engine::cuda;
  const double run_ms = on_gpu ? timing.device_milliseconds : timing.milliseconds;
  const double rate = gb_per_s(plan.array_bytes(), run_ms) * static_cast<double>(program.sweeps());
  const network::Problem& problem = plan.problem();
  if (!options.common.json) {
    note(run_line(options.program, program, run_ms, rate, verification.has_value()));
    return;
  }
  Json json = new_json();
  json["program"] = options.program;
  json["in"] = options.in;
  json["out"] = options.out;
  json["bits"] = problem.program.bits();
  json["element"] = network::to_text(problem.element);
  json["batch"] = problem.batch;
  json["bytes"] = plan.array_bytes();
  json["engine"] = name(plan.engine());
  json["layers"] = plan.normal_form().layers.size();
  json["passes"] = program.sweeps();
  json["tile_bits"] = plan.sizes().tile_bits;
  json["segment_bits"] = plan.sizes().segment_bits;
  json["ms"] = timing.milliseconds;
  json["device_ms"] = on_gpu ? Json(timing.device_milliseconds) : Json();
  json["gb_per_s"] = rate;
  json["copy_gb_per_s"] = timing.copy_gb_per_s;
  json["verified"] = verification.has_value();
  json["verification"] = Json();
  if (verification) {
    json["verification"] = {
        {"method", verification->method}, {"error", verification->error}, {"bound", verification->bound}};
  }
  print(json);
}

}  // namespace

void run_network(const NetworkRunOptions& options) {
  const std::string operation = "network run `" + options.in + "`";
  if (io::same_file(options.in, options.out))
    fail(ErrorCode::value, operation, "the same file as OUT", "two files");
  require_npy_name(operation, options.out);
  require_own_file(operation, "OUT", options.out, files_in(options.program), "the program");
  std::optional<network::Executable> program;
  std::optional<network::Verification> verification;
  RunTiming timing;
  {
    const InterruptNote interrupted("nothing was written, `" + options.out + "` is as it was");
    Progress progress(options.quiet ? Verbosity::quiet : Verbosity::normal);
    progress.step("reading " + options.in, bytes_of_file(options.in));
    const io::NpyInput input(options.in, progress.advance());
    const std::span<const std::byte> in = input.data();
    const network::Problem problem = problem_of(options, input.header());
    const PlanOptions common = options.common.plan_options(1);
    program.emplace(network::compile(problem, {.engine = common.engine,
                                               .threads = common.threads,
                                               .device = common.device,
                                               .tile_bits = options.sizes.tile_bits,
                                               .segment_bits = options.sizes.segment_bits}));
    io::NpyOutput output(options.out, input.header().descr, input.header().shape, input.header().item_bytes);
    const std::span<std::byte> out = output.data();
    progress.step("measuring a copy");
    if (in.empty()) {
      // A batch of no arrays.
    } else if (program->plan().engine() == Engine::cuda) {
      progress.step("running " + options.program);
      timing = run_on_gpu(*program, in, out, common.device);
    } else {
      timing = run_on_cpu(*program, in, out, common.threads, options.program, progress);
    }
    if (options.verify) {
      progress.step("verifying");
      verification = network::verify(problem, in, out);
    }
    progress.step("writing " + options.out, out.size());
    output.finish(progress.advance());
    progress.end();
    if (options.common.json || !options.quiet) report(options, *program, timing, verification);
    output.commit();
  }
}

}  // namespace faro::cli
