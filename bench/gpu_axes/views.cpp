// Views beside their shapes without gaps, flips and repeats.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_axes/axes_bench.hpp"
#include "bench/view_suite.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/measure.hpp"
#include "gpu/axes_oracle.hpp"

namespace faro::bench::gpu {
namespace {

// Shares of the copy of the view and of its shape without gaps, flips and repeats, and of the view moved
// otherwise.
struct ViewShares {
  double view;
  double plain;
  std::optional<double> in_order;  // of rows with the same gaps
  std::vector<double> others;
};

// The view's rows in the order of the side that has gaps, between them and an array without; nothing where
// neither has any.
std::optional<Strided> rows_in_order(const Strided& view) {
  const bool in_gaps = in_elements(view) > element_count(view);
  if (!in_gaps && out_elements(view) == element_count(view)) return std::nullopt;
  const std::vector<std::int64_t>& strides = in_gaps ? view.in_strides : view.out_strides;
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] > strides[b]; });
  Strided rows;
  for (const std::size_t axis : order) {
    rows.extents.push_back(view.extents[axis]);
    rows.in_strides.push_back(strides[axis]);
  }
  rows.out_strides.resize(order.size());
  std::int64_t stride = 1;
  for (std::size_t a = order.size(); a-- > 0;) {
    rows.out_strides[a] = stride;
    stride *= static_cast<std::int64_t>(rows.extents[a]);
  }
  if (!in_gaps) std::swap(rows.in_strides, rows.out_strides);
  return rows;
}

ViewShares time_view(const ViewCase& each, const AxesOptions& options) {
  const std::uint64_t width = each.plain.element_bytes;
  const ExecutablePlan moved = faro::plan(each.view, width, {.engine = Engine::cuda});
  const Problem problem{.permutation = Axes(each.plain.shape, each.plain.order), .element_bytes = width};
  const ExecutablePlan plain = faro::plan(problem, {.engine = Engine::cuda});
  const std::uint64_t bytes = total_bytes(problem);
  const std::uint64_t in_elements = faro::in_elements(each.view);
  const std::uint64_t out_elements = faro::out_elements(each.view);
  const cuda::DeviceArray in(std::max(bytes, in_elements * width));
  const cuda::DeviceArray out(std::max(bytes, out_elements * width));
  testing::draw_bytes(in.data(), in.size(), 1, {});
  testing::draw_bytes(out.data(), out.size(), 2, {});
  const auto move = [&](Stream stream) {
    moved.run(in.data(), in_elements, out.data(), out_elements, stream);
  };
  move({});
  const std::uint64_t wrong =
      testing::misplaced_elements(in.data(), out.data(), testing::axes_oracle(each.view, width), {});
  require_none_elsewhere(wrong);
  const TurnClock clock;
  const auto copy = [&](Stream stream) { cuda::copy(in.data(), out.data(), bytes, stream); };
  const auto shape = [&](Stream stream) { plain.run(in.data(), out.data(), bytes, stream); };
  const int calls = calls_of(bytes);
  std::vector<double> moving;
  std::vector<double> copying;
  std::vector<double> without;
  std::vector<cuda::LoadedPasses> others;
  others.reserve(options.as.size());
  for (const std::string& as : options.as) {
    others.emplace_back(std::vector<detail::GpuPass>{
        detail::view_pass(detail::normal_form(detail::axis_map(each.view)), width, variant_of(as))});
  }
  std::optional<cuda::LoadedPasses> rows;
  if (const auto in_order = rows_in_order(each.view)) {
    rows.emplace(std::vector<detail::GpuPass>{
        detail::view_pass(detail::normal_form(detail::axis_map(*in_order)), width, {.least_row_bytes = 1})});
  }
  std::vector<double> ordered;
  std::vector<std::vector<double>> otherwise(others.size());
  const auto turn = [&](const auto& queue, std::vector<double>& times) {
    times.push_back(clock.milliseconds(calls, queue));
  };
  for (int round = 0; round < options.rounds; ++round) {
    turn(copy, copying);
    turn(move, moving);
    turn(shape, without);
    if (rows) {
      turn([&](Stream stream) { rows->launch({.in = in.data(), .out = out.data()}, stream); }, ordered);
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      turn([&](Stream stream) { others[i].launch({.in = in.data(), .out = out.data()}, stream); },
           otherwise[i]);
    }
  }
  constexpr double percent = 100;
  ViewShares shares{.view = percent * median(copying) / median(moving),
                    .plain = percent * median(copying) / median(without),
                    .in_order = {},
                    .others = {}};
  if (rows) shares.in_order = percent * median(copying) / median(ordered);
  for (const std::vector<double>& times : otherwise) {
    shares.others.push_back(percent * median(copying) / median(times));
  }
  return shares;
}

}  // namespace

int measure_views(const AxesOptions& options, Page& page) {
  int failures = 0;
  page.add(
      "\n## views, beside the same shape without\n\nShares of the cudaMemcpy of as many bytes as are "
      "written. Of gaps alone: rows of the same bytes, as far apart, in their order.\n\n| shape | view | "
      "share | the shape's | points | gaps alone |" +
      repeated(options, [](const std::string& as) { return " " + as + " |"; }) +
      "\n|---|---|---|---|---|---|" +
      repeated(options, [](const std::string&) { return std::string("---|"); }) + "\n");
  int far = 0;
  int count = 0;
  double worst = std::numeric_limits<double>::infinity();
  for (const ViewCase& each : view_cases(options.widths)) {
    if (each.plain.text().find(options.only) == std::string::npos ||
        each.what.find(options.view) == std::string::npos)
      continue;
    std::fprintf(stderr, "%s, %s\n", each.plain.text().c_str(), each.what.c_str());
    try {
      const auto [view, plain, in_order, others] = time_view(each, options);
      std::string row =
          fmt::format("| {} | {} | {:.1f}% | {:.1f}% | {:+.1f} | {} |", each.plain.text(), each.what, view,
                      plain, view - plain, in_order ? fmt::format("{:.1f}%", *in_order) : "");
      for (const double share : others) row += fmt::format(" {:.1f}% |", share);
      page.add(row + "\n");
      constexpr double points = 5;
      ++count;
      far += view < plain - points ? 1 : 0;
      worst = std::min(worst, view - plain);
    } catch (const std::exception& error) {
      ++failures;
      page.add(fmt::format("| {} | {} | failed: {} |\n", each.plain.text(), each.what, error.what()));
    }
  }
  page.add(fmt::format("\nMore than 5 points below the shape without: {} of {}; the furthest {:+.1f}.\n", far,
                       count, worst));
  return failures;
}

}  // namespace faro::bench::gpu
