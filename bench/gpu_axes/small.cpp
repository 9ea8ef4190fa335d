// Small arrays: what a call takes beyond a copy, among calls of a graph.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/axes_suites.hpp"
#include "bench/gpu_axes/axes_bench.hpp"
#include "bench/small_axes.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/measure.hpp"
#include "faro/permutation/axes.hpp"
#include "gpu/axes_oracle.hpp"

namespace faro::bench::gpu {
namespace {

constexpr std::uint64_t kCountedBytes = 1 << 20;  // of small arrays that have to be near a copy
constexpr double kWantedUs = 1.5;                 // beyond it at most

std::vector<AxesShape> small_shapes(const AxesOptions& options) {
  return options.drawn == 0 ? small_axes() : drawn_small_axes(options.drawn, options.seed);
}

struct SmallRow {
  std::string text;
  double beyond_us = 0;  // a copy
  bool counts = false;
};

SmallRow time_small(const AxesShape& shape, const AxesOptions& options) {
  constexpr std::uint64_t slots = 64;
  const Problem problem{.permutation = Axes(shape.shape, shape.order), .element_bytes = shape.element_bytes};
  const std::uint64_t bytes = total_bytes(problem);
  const std::uint64_t apart = (bytes + 255) / 256 * 256;
  const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda});
  const cuda::DeviceArray in(slots * apart);
  const cuda::DeviceArray out(slots * apart);
  testing::draw_bytes(in.data(), in.size(), 1, {});
  testing::draw_bytes(out.data(), out.size(), 2, {});
  const auto each = [&](const auto& queue) {
    return [&, queue](Stream stream) {
      for (std::uint64_t slot = 0; slot < slots; ++slot) {
        queue(in.data() + slot * apart, out.data() + slot * apart, stream);
      }
    };
  };
  const Graph moving(
      each([&](const std::byte* from, std::byte* to, Stream stream) { plan.run(from, to, bytes, stream); }));
  std::vector<cuda::LoadedPasses> others;
  std::vector<std::unique_ptr<Graph>> otherwise;
  others.reserve(options.as.size());
  for (const std::string& as : options.as) {
    others.emplace_back(detail::solve({.count = bytes / shape.element_bytes,
                                       .element_bytes = shape.element_bytes,
                                       .batch = 1,
                                       .form = Axes(shape.shape, shape.order),
                                       .axes = variant_of(as)}));
    otherwise.push_back(std::make_unique<Graph>(
        each([&other = others.back()](const std::byte* from, std::byte* to, Stream stream) {
          other.launch({.in = from, .out = to}, stream);
        })));
  }
  const Graph copying(each(
      [&](const std::byte* from, std::byte* to, Stream stream) { cuda::copy(from, to, bytes, stream); }));
  moving.launch({});
  for (const std::uint64_t slot : {std::uint64_t{0}, slots - 1}) {
    const std::uint64_t wrong =
        testing::misplaced_elements(in.data() + slot * apart, out.data() + slot * apart,
                                    testing::axes_oracle(shape.shape, shape.order, shape.element_bytes), {});
    require_none_elsewhere(wrong);
  }
  const TurnClock clock;
  std::vector<double> moved;
  std::vector<double> copied;
  std::vector<std::vector<double>> times_of_others(others.size());
  const auto turn = [&](const Graph& graph, std::vector<double>& times) {
    times.push_back(clock.milliseconds(4, [&](Stream stream) { graph.launch(stream); }) / slots * 1e3);
  };
  for (int round = 0; round < options.rounds; ++round) {
    turn(copying, copied);
    turn(moving, moved);
    for (std::size_t i = 0; i < others.size(); ++i) turn(*otherwise[i], times_of_others[i]);
  }
  std::string row = fmt::format("| {} | {:.1f} | {:.2f} | {:.2f} | {:+.2f} | {} |", shape.text(),
                                static_cast<double>(bytes) / 1024, median(moved), median(copied),
                                median(moved) - median(copied), kernel_of(Plan(problem, cuda::target())));
  for (const std::vector<double>& times : times_of_others) {
    row += fmt::format(" {:+.2f} |", median(times) - median(copied));
  }
  return {.text = row + "\n", .beyond_us = median(moved) - median(copied), .counts = bytes <= kCountedBytes};
}

}  // namespace

int measure_small(const AxesOptions& options, Page& page) {
  int failures = 0;
  page.add(
      "\n## small arrays\n\nMicroseconds of a call among 64 of a graph, each on arrays of its own, and "
      "those of a cudaMemcpy in its\nplace.\n\n| axes | KiB | us | copy | beyond | kernel |" +
      repeated(options, [](const std::string& as) { return " " + as + ", beyond |"; }) +
      "\n|---|---|---|---|---|---|" +
      repeated(options, [](const std::string&) { return std::string("---|"); }) + "\n");
  double beyond = 0;  // microseconds of the slowest
  int counted = 0;
  int are_beyond = 0;
  for (const AxesShape& shape : small_shapes(options)) {
    if (shape.text().find(options.only) == std::string::npos) continue;
    std::fprintf(stderr, "%s\n", shape.text().c_str());
    try {
      const SmallRow row = time_small(shape, options);
      page.add(row.text);
      if (!row.counts) continue;
      beyond = std::max(beyond, row.beyond_us);
      ++counted;
      if (row.beyond_us > kWantedUs) ++are_beyond;
    } catch (const std::exception& error) {
      ++failures;
      page.add(fmt::format("| {} | failed: {} |\n", shape.text(), error.what()));
    }
  }
  page.add(fmt::format(
      "\nFurthest beyond a copy, of arrays to 1 MiB: {:+.2f} us; {} of {} are more than {} us beyond.\n",
      beyond, are_beyond, counted, kWantedUs));
  return failures;
}

}  // namespace faro::bench::gpu
