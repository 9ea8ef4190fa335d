#include "bench/gpu_model/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/arguments.hpp"
#include "bench/gpu_model/marker.hpp"
#include "bench/maps.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "tell/prediction.hpp"

namespace faro::bench::gpu_model {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::array<std::uint64_t, 3> kSizes{256 * kMiB, 1024 * kMiB, 4096 * kMiB};

std::vector<NamedMap> maps_of(int n) {
  std::vector<NamedMap> maps = make_maps({}, n);
  for (const std::string& spec : {fmt::format("identity({})", n), fmt::format("xor({}, 2^{})", n, n - 1)}) {
    maps.push_back({.spec = spec, .map = std::get<Affine>(parse_permutation(spec))});
  }
  return maps;
}

}  // namespace

double median_us(const cuda::StreamClock& clock, const std::function<void(Stream)>& queue) {
  constexpr double us_per_ms = 1e3;
  static_cast<void>(clock.milliseconds(1, queue));
  std::array<double, kTimeRounds> times{};
  for (double& time : times) time = clock.milliseconds(1, queue) * us_per_ms;
  std::nth_element(times.begin(), times.begin() + kTimeRounds / 2, times.end());
  return times[kTimeRounds / 2];
}

std::vector<TimeRow> measure_times(const Calibration& calibration) {
  Target target = cuda::target();
  target.calibration = calibration;
  std::vector<TimeRow> rows;
  const cuda::StreamClock clock;
  for (const std::uint64_t bytes : kSizes) {
    if (2 * bytes > cuda::devices().at(static_cast<std::size_t>(target.device)).free_memory_bytes) break;
    const cuda::DeviceArray in(bytes);
    const cuda::DeviceArray out(bytes);
    for (const std::uint64_t width : {1, 2, 4, 8, 16}) {
      std::fprintf(stderr, "times: %s of %d-byte elements\n", size_text(bytes).c_str(),
                   static_cast<int>(width));
      int n = 0;
      while (width << n < bytes) ++n;
      for (const NamedMap& map : maps_of(n)) {
        const Plan plan({.permutation = map.map, .element_bytes = width}, target);
        const cuda::Executor executor(plan);
        rows.push_back({.spec = map.spec,
                        .element_bytes = width,
                        .bytes = bytes,
                        .predicted_us = predict_us(plan, 0).value(),
                        .measured_us = median_us(
                            clock, [&](Stream stream) { executor.run(in.data(), out.data(), stream); })});
      }
    }
  }
  return rows;
}

std::vector<TimeRow> measure_drawn(const std::vector<DrawnProblem>& problems, const Calibration& calibration,
                                   std::string& left_out) {
  std::vector<TimeRow> rows;
  std::uint64_t most = 0;
  for (const DrawnProblem& problem : problems) most = std::max(most, problem.bytes);
  const cuda::DeviceArray in(most);
  const cuda::DeviceArray out(most);
  const cuda::StreamClock clock;
  keep_workspaces();
  // Without, the first two or three problems take a tenth longer than they do later.
  constexpr int kCopies = 100;
  static_cast<void>(
      clock.milliseconds(kCopies, [&](Stream stream) { cuda::copy(in.data(), out.data(), most, stream); }));
  for (const DrawnProblem& problem : problems) {
    std::fprintf(stderr, "times: %s: %s, %d bytes\n", problem.family.c_str(), problem.spec.c_str(),
                 static_cast<int>(problem.element_bytes));
    try {
      const ReadyProblem ready(problem, calibration);
      const auto predicted = ready.predicted_us();
      const double measured =
          median_us(clock, [&](Stream stream) { ready.run(in.data(), out.data(), stream); });
      rows.push_back({.family = problem.family,
                      .spec = problem.spec,
                      .element_bytes = problem.element_bytes,
                      .bytes = problem.bytes,
                      .predicted_us = predicted.value_or(0),
                      .measured_us = measured,
                      .kernels = ready.kernels()});
    } catch (const Error& error) {
      left_out += fmt::format("- {}, `{}` of {} bytes: {}\n", problem.family, problem.spec,
                              problem.element_bytes, error.what());
    }
  }
  return rows;
}

std::string drawn_table(const std::vector<TimeRow>& rows) {
  std::string table =
      "| family | problems | within 10% | predicted over measured, least / median / most | furthest off |\n"
      "|---|---|---|---|---|\n";
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last =
        std::find_if(first, rows.end(), [&](const TimeRow& row) { return row.family != first->family; });
    std::vector<TimeRow> sorted(first, last);
    std::sort(sorted.begin(), sorted.end(),
              [](const TimeRow& a, const TimeRow& b) { return a.error() < b.error(); });
    const auto within = std::count_if(sorted.begin(), sorted.end(), [](const TimeRow& row) {
      constexpr double a_tenth = 0.1;
      return std::abs(row.error()) <= a_tenth;
    });
    const double least = sorted.front().error();
    const double median = sorted[sorted.size() / 2].error();
    const double greatest = sorted.back().error();
    std::sort(sorted.begin(), sorted.end(),
              [](const TimeRow& a, const TimeRow& b) { return std::abs(a.error()) > std::abs(b.error()); });
    std::string worst;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, sorted.size()); ++i) {
      worst +=
          fmt::format("{}`{}` of {} bytes: {:.1f} us, predicted {:.1f}", i == 0 ? "" : "; ", sorted[i].spec,
                      sorted[i].element_bytes, sorted[i].measured_us, sorted[i].predicted_us);
    }
    table += fmt::format("| {} | {} | {} | {:+.1f}% / {:+.1f}% / {:+.1f}% | {} |\n", first->family,
                         sorted.size(), within, 100 * least, 100 * median, 100 * greatest, worst);
    first = last;
  }
  return table;
}

std::string drawn_rows(const std::vector<TimeRow>& rows) {
  std::string table =
      "| family | problem | element bytes | array | predicted, us | measured, us | error | kernels |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const TimeRow& row : rows) {
    table += fmt::format("| {} | `{}` | {} | {:.0f} MiB | {:.1f} | {:.1f} | {:+.1f}% | {} |\n", row.family,
                         row.spec, row.element_bytes, static_cast<double>(row.bytes) / kMiB, row.predicted_us,
                         row.measured_us, 100 * row.error(), row.kernels);
  }
  return table;
}

std::string calibration_table(const Calibration& calibration) {
  std::string table = "| rates of " + calibration.source + " | fixed, us | GB/s |\n|---|---|---|\n";
  const auto add = [&](const std::string& what, const TransferRate& rate) {
    table += fmt::format("| {} | {:.2f} | {:.0f} |\n", what, rate.fixed_us, rate.gb_per_s);
  };
  add("copy", calibration.copy);
  add("without a tile", calibration.vectors);
  for (std::size_t bits = 0; bits < calibration.tiles.size(); ++bits) {
    add(fmt::format("tiles of {}-byte units", 1 << bits), calibration.tiles[bits]);
  }
  return table + fmt::format("| wavefronts of shared memory, a microsecond | | {:.0f} |\n",
                             calibration.shared_wavefronts_per_us);
}

std::string time_table(const std::vector<TimeRow>& rows) {
  std::string table =
      "| array | element bytes | maps | predicted over measured, least / median / most | furthest off |\n"
      "|---|---|---|---|---|\n";
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if(first, rows.end(), [&](const TimeRow& row) {
      return row.bytes != first->bytes || row.element_bytes != first->element_bytes;
    });
    std::vector<TimeRow> sorted(first, last);
    std::sort(sorted.begin(), sorted.end(),
              [](const TimeRow& a, const TimeRow& b) { return a.error() < b.error(); });
    const TimeRow& furthest =
        -sorted.front().error() > sorted.back().error() ? sorted.front() : sorted.back();
    table +=
        fmt::format("| {} | {} | {} | {:+.1f}% / {:+.1f}% / {:+.1f}% | `{}`: {:.1f} us, predicted {:.1f} |\n",
                    size_text(first->bytes), first->element_bytes, sorted.size(),
                    100 * sorted.front().error(), 100 * sorted[sorted.size() / 2].error(),
                    100 * sorted.back().error(), furthest.spec, furthest.measured_us, furthest.predicted_us);
    first = last;
  }
  return table;
}

}  // namespace faro::bench::gpu_model
