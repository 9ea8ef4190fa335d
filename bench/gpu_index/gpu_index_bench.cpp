// gpu_index_bench: random index arrays on a GPU, each with the plan that faro chooses, beside a gather and a
// scatter of an element a thread and a plain copy, all in the same alternating run.
// `gpu_index_bench --help` lists the options.
//
// Every result is verified on the device before it is timed. `plan` runs the array as a scatter, `back` as a
// gather; schedule is what it takes to make the executor from an array that is on the device; `once` is the
// way back as it is chosen for a single run, its schedule included, of entries that are known to be a
// permutation; `unchecked` the same of entries that are not. Curves that `faro tune` kept are used.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_index/baselines.hpp"
#include "bench/gpu_index/race.hpp"
#include "engines/cuda_index.hpp"
#include "faro/error.hpp"
#include "faro/plan/plan.hpp"
#include "io/npy.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

// Arrays whose runs are shorter than a launch takes the host.
constexpr std::uint64_t kSmallBytes = std::uint64_t{8} << 20;
constexpr int kSmallRepeats = 32;

constexpr const char* kUsage =
    R"(gpu_index_bench: random index arrays on a GPU beside gather, scatter and a plain copy

  --sizes LIST         powers of two, of elements                              (default 10,12 and so on to 30)
  --widths LIST        element widths in bytes                                 (default 1,2,4,8,16)
  --budget NUMBER      milliseconds of measuring a row                         (default 300)
  --out FILE           the tables, in Markdown
  --recognised BITS    instead of all that: maps that have names beside their index arrays, of about 2^BITS elements
  --kernels BITS       instead of all that: every pass by itself, 2^BITS elements
  --chunk-bits NUMBER  of those passes                                         (default 14)
  --levels LIST        bits of each of those passes                            (default 7,7)
  --help
)";

struct Options {
  std::vector<int> sizes = {10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  std::optional<int> kernels = {};
  std::optional<int> recognised = {};
  int chunk_bits = 14;
  std::vector<int> level_bits = {7, 7};
  double budget_ms = 300;
  std::string out = {};
  std::string command = {};
};

Options parse(const CommandLine& line) {
  constexpr int most_bits = 33, most_chunk_bits = 16, most_level_bits = 12;
  constexpr int least_recognised_bits = 20, most_recognised_bits = 31;
  Options options;
  options.command = line.text();
  line.read(
      {{"--sizes", [&](const Argument& a) { options.sizes = parse_ints(a, 1, most_bits); }},
       {"--widths", [&](const Argument& a) { options.widths = parse_widths(a); }},
       {"--kernels", [&](const Argument& a) { options.kernels = parse_int(a, 1, most_bits); }},
       {"--recognised",
        [&](const Argument& a) {
          options.recognised = parse_int(a, least_recognised_bits, most_recognised_bits);
        }},
       {"--chunk-bits", [&](const Argument& a) { options.chunk_bits = parse_int(a, 1, most_chunk_bits); }},
       {"--levels", [&](const Argument& a) { options.level_bits = parse_ints(a, 1, most_level_bits); }},
       {"--budget", [&](const Argument& a) { options.budget_ms = parse_int(a, 0); }},
       {"--out", [&](const Argument& a) { options.out = a.text; }}});
  return options;
}
std::string chosen_text(const Plan& plan) {
  const IndexCandidate& chosen = *plan.way();
  std::string text = name(chosen.method);
  if (!chosen.shape) return text;
  text += fmt::format(" {}", chosen.shape->chunk_bits);
  for (const int bits : chosen.shape->level_bits) text += fmt::format("+{}", bits);
  return text;
}

struct Made {
  Plan plan;
  cuda::Executor executor;
  double schedule_ms;
};

Target tuned_target() {
  Target target = cuda::target();
  target.index_calibration = calibration_for(target.name, built_in_gpu_calibration());
  return target;
}

// The best of a few times; the last one is kept.
Made make(const Indexed& indexed, std::uint64_t element_bytes, std::uint64_t repeats = 0) {
  const Plan plan({.permutation = indexed, .element_bytes = element_bytes}, tuned_target(),
                  cuda::recognise(indexed), {.repeats = repeats});
  double best = 0;
  for (int repeat = 0;; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    cuda::Executor executor(plan);
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    best = repeat == 0 ? ms : std::min(best, ms);
    if (repeat == 2) return {plan, std::move(executor), best};
  }
}

std::string row_of(int bits, std::uint64_t element_bytes, double budget_ms) {
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::uint64_t bytes = count * element_bytes;
  const Indexed indexed = cuda::random_on_device(count, static_cast<std::uint64_t>(bits));
  const Indices indices{indexed.device_entries(), indexed.index_type().bytes, count, element_bytes};
  const Made there = make(indexed, element_bytes);
  const Made back = make(indexed.inverse(), element_bytes);
  const Made once = make(indexed.inverse(), element_bytes, 1);
  const Made unchecked =
      make(cuda::indexed_on_device(indexed.device_entries(), count, indexed.index_type(), Direction::gather),
           element_bytes, 1);
  const DeviceArray in(bytes);
  const DeviceArray out(bytes);
  const DeviceArray workspace(
      std::max({there.executor.workspace_bytes(), back.executor.workspace_bytes(),
                once.executor.workspace_bytes(), unchecked.executor.workspace_bytes()}));
  fill(in.data(), bytes);
  const auto queue = [&](const Made& made) {
    return [&](Stream stream) { made.executor.run(in.data(), out.data(), stream, workspace.data()); };
  };
  for (const Made* made : {&there, &back, &once, &unchecked}) {
    const auto queued = queue(*made);
    queued({});
    const std::uint64_t wrong = misplaced(indices, made != &there, in.data(), out.data());
    if (wrong > 0)
      faro::fail(ErrorCode::verification, "gpu_index_bench",
                 fmt::format("{} elements of 2^{} x {} elsewhere", wrong, bits, element_bytes),
                 "every element in its place");
  }
  const std::vector<Timing> t =
      race({{"plan", queue(there)},
            {"back", queue(back)},
            {"gather", [&](Stream stream) { queue_gather(indices, in.data(), out.data(), stream); }},
            {"scatter", [&](Stream stream) { queue_scatter(indices, in.data(), out.data(), stream); }},
            {"copy", [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }},
            {"once", queue(once)},
            {"unchecked", queue(unchecked)}},
           budget_ms, bytes <= kSmallBytes ? kSmallRepeats : 1);
  const double copy = t[4].median_ms;
  const double once_ms = once.schedule_ms + t[5].median_ms;
  const double unchecked_ms = unchecked.schedule_ms + t[6].median_ms;
  return fmt::format(
      "| 2^{} x {} | {} | {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f} | {:.2f} | {:.2f} | "
      "{:.2f} | {:.2f} | {} | {:.4f} | {:.2f} | {} | {:.4f} | {:.2f} |\n",
      bits, element_bytes, chosen_text(there.plan), chosen_text(back.plan), t[0].median_ms, t[1].median_ms,
      t[2].median_ms, t[3].median_ms, copy, t[0].median_ms / copy, t[1].median_ms / copy,
      t[2].median_ms / copy, t[3].median_ms / copy, there.schedule_ms, chosen_text(once.plan), once_ms,
      once_ms / t[2].median_ms, chosen_text(unchecked.plan), unchecked_ms, unchecked_ms / t[2].median_ms);
}

std::string sizes_page(const Options& options) {
  std::string page =
      "| elements | plan | back | plan, ms | back, ms | gather, ms | scatter, ms | copy, ms | plan / copy | "
      "back / copy | gather / copy | scatter / copy | schedule, ms | once | once, ms | once / gather | "
      "unchecked | unchecked, ms | unchecked / gather "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  std::fputs(page.c_str(), stdout);
  for (const std::uint64_t width : options.widths) {
    for (const int bits : options.sizes) {
      const std::string row = row_of(bits, width, options.budget_ms);
      std::fputs(row.c_str(), stdout);
      std::fflush(stdout);
      page += row;
    }
  }
  return page;
}

std::string kernels_page(const Options& options) {
  std::string page;
  for (const std::uint64_t width : options.widths) {
    page += fmt::format("2^{} elements of {} bytes, chunks of 2^{}\n\n", *options.kernels, width,
                        options.chunk_bits);
    page += "| pass | kernel | ms | +- | times a copy |\n|---|---|---|---|---|\n";
    page += kernels_table({.count_bits = *options.kernels,
                           .element_bytes = width,
                           .chunk_bits = options.chunk_bits,
                           .level_bits = options.level_bits},
                          options.budget_ms * 10);
    page += "\n";
  }
  std::fputs(page.c_str(), stdout);
  return page;
}

void run(const Options& options) {
  std::string page =
      "# Index arrays on a GPU\n\n" + setting_table(make_setting(options.command)) +
      "\nEvery result was verified before it was timed. Medians of alternating rounds; a copy is "
      "the cudaMemcpy of the\nsame array in the same rounds.\n\n";
  if (options.recognised) {
    const std::string table = recognised_table(*options.recognised, options.widths, options.budget_ms);
    std::fputs(table.c_str(), stdout);
    page += table;
  } else {
    page += options.kernels ? kernels_page(options) : sizes_page(options);
  }
  if (!options.out.empty()) io::write_file(options.out, page);
}

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  using namespace faro::bench;
  return run_program(count, words, gpu::kUsage, [](const CommandLine& line) {
    gpu::run(gpu::parse(line));
    return 0;
  });
}
