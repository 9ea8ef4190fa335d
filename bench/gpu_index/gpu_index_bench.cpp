// gpu_index_bench: random index arrays on a GPU, each with the plan that faro chooses, beside a gather and a
// scatter of an element a thread and a plain copy, all in the same alternating run.
//
//     gpu_index_bench [--sizes 10,12,…,30] [--widths 1,2,4,8,16] [--budget MS] [--out FILE]
//     gpu_index_bench --places 24                 places with and without bank conflicts
//     gpu_index_bench --recognised 26             maps that have names beside their index arrays
//     gpu_index_bench --kernels 28 --widths 4 --chunk-bits 14 --levels 7,7        every pass by itself
//
// Every result is verified on the device before it is timed. `plan` runs the array as a scatter, `back` as a
// gather; schedule is what it takes to make the executor from an array that is on the device.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "bench/arguments.hpp"
#include "bench/gpu/setting.hpp"
#include "bench/gpu_index/baselines.hpp"
#include "bench/gpu_index/race.hpp"
#include "faro/engines/cuda_index.hpp"
#include "faro/error.hpp"
#include "faro/plan/index_plan.hpp"

namespace faro::bench::gpu {
namespace {

using cuda::DeviceArray;

// Arrays whose runs are shorter than a launch takes the host.
constexpr std::uint64_t kSmallBytes = std::uint64_t{8} << 20;
constexpr int kSmallRepeats = 32;

struct Options {
  std::vector<int> sizes = {10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
  std::vector<std::uint64_t> widths = {1, 2, 4, 8, 16};
  std::optional<int> kernels = {};
  std::optional<int> places = {};
  std::optional<int> recognised = {};
  int chunk_bits = 14;
  std::vector<int> level_bits = {7, 7};
  double budget_ms = 300;
  std::string out = {};
  std::string command = {};
};

std::vector<int> numbers_of(const std::string& option, std::string_view text, std::uint64_t most) {
  std::vector<int> numbers;
  for (const std::string_view part : split(text)) {
    const std::uint64_t n = parse_count(option, part);
    if (n < 1 || n > most) refuse_option(option, part, "from 1 to " + std::to_string(most));
    numbers.push_back(static_cast<int>(n));
  }
  return numbers;
}

Options read(int count, char** words) {
  Options options;
  for (int i = 0; i < count; ++i) options.command += std::string(i == 0 ? "" : " ") + words[i];
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    if (i + 1 == count) refuse_option(option, "nothing", "a value after it");
    const std::string value = words[++i];
    if (option == "--sizes") {
      options.sizes = numbers_of(option, value, 33);
    } else if (option == "--widths") {
      options.widths = parse_widths(option, value);
    } else if (option == "--kernels") {
      options.kernels = numbers_of(option, value, 33).at(0);
    } else if (option == "--places") {
      options.places = numbers_of(option, value, 28).at(0);
    } else if (option == "--recognised") {
      options.recognised = numbers_of(option, value, 31).at(0);
      if (*options.recognised < 20) refuse_option(option, value, "from 20 to 31");
    } else if (option == "--chunk-bits") {
      options.chunk_bits = numbers_of(option, value, 16).at(0);
    } else if (option == "--levels") {
      options.level_bits = numbers_of(option, value, 12);
    } else if (option == "--budget") {
      options.budget_ms = static_cast<double>(parse_count(option, value));
    } else if (option == "--out") {
      options.out = value;
    } else {
      refuse_option(
          option, value,
          "--sizes, --widths, --kernels, --places, --recognised, --chunk-bits, --levels, --budget or --out");
    }
  }
  return options;
}

[[noreturn]] void fail(const std::string& what) {
  throw Error({.code = ErrorCode::verification,
               .operation = "gpu_index_bench",
               .got = what,
               .wanted = "every element in its place",
               .remedy = ""});
}

std::string chosen_text(const IndexPlan& plan) {
  const IndexCandidate& chosen = plan.chosen();
  std::string text = name(chosen.method);
  if (!chosen.shape) return text;
  text += fmt::format(" {}", chosen.shape->chunk_bits);
  for (const int bits : chosen.shape->level_bits) text += fmt::format("+{}", bits);
  return text;
}

struct Made {
  IndexPlan plan;
  cuda::IndexExecutor executor;
  double schedule_ms;
};

// The best of a few times; the last one is kept.
Made make(const Indexed& indexed, std::uint64_t element_bytes) {
  const IndexPlan plan({.permutation = indexed, .element_bytes = element_bytes}, cuda::target(),
                       cuda::recognise(indexed));
  double best = 0;
  for (int repeat = 0;; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    cuda::IndexExecutor executor(plan);
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
  const DeviceArray in(bytes);
  const DeviceArray out(bytes);
  const DeviceArray workspace(std::max(there.executor.workspace_bytes(), back.executor.workspace_bytes()));
  fill(in.data(), bytes);
  const auto queue = [&](const Made& made) {
    return [&](Stream stream) { made.executor.run(in.data(), out.data(), workspace.data(), stream); };
  };
  for (const bool gathered : {false, true}) {
    queue(gathered ? back : there)({});
    const std::uint64_t wrong = misplaced(indices, gathered, in.data(), out.data());
    if (wrong > 0) fail(fmt::format("{} elements of 2^{} x {} elsewhere", wrong, bits, element_bytes));
  }
  const std::vector<Timing> t =
      race({{"plan", queue(there)},
            {"back", queue(back)},
            {"gather", [&](Stream stream) { queue_gather(indices, in.data(), out.data(), stream); }},
            {"scatter", [&](Stream stream) { queue_scatter(indices, in.data(), out.data(), stream); }},
            {"copy", [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); }}},
           budget_ms, bytes <= kSmallBytes ? kSmallRepeats : 1);
  const double copy = t[4].median_ms;
  return fmt::format(
      "| 2^{} x {} | {} | {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f} | {:.2f} | {:.2f} | "
      "{:.2f} | "
      "{:.2f} |\n",
      bits, element_bytes, chosen_text(there.plan), chosen_text(back.plan), t[0].median_ms, t[1].median_ms,
      t[2].median_ms, t[3].median_ms, copy, t[0].median_ms / copy, t[1].median_ms / copy,
      t[2].median_ms / copy, t[3].median_ms / copy, there.schedule_ms);
}

std::string sizes_page(const Options& options) {
  std::string page =
      "| elements | plan | back | plan, ms | back, ms | gather, ms | scatter, ms | copy, ms | plan / copy | "
      "back / copy | gather / copy | scatter / copy | schedule, ms "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|"
      "---|---|\n";
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
  if (options.places) {
    const std::string table = places_table(*options.places, options.budget_ms);
    std::fputs(table.c_str(), stdout);
    page += table;
  } else if (options.recognised) {
    const std::string table = recognised_table(*options.recognised, options.widths, options.budget_ms);
    std::fputs(table.c_str(), stdout);
    page += table;
  } else {
    page += options.kernels ? kernels_page(options) : sizes_page(options);
  }
  if (!options.out.empty() && !(std::ofstream(options.out) << page)) fail("no file " + options.out);
}

}  // namespace
}  // namespace faro::bench::gpu

int main(int count, char** words) {
  try {
    faro::bench::gpu::run(faro::bench::gpu::read(count, words));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_index_bench: %s\n", error.what());
    return 1;
  }
}
