// Which curves a plan is made by: those that are kept, else the built-in ones as far as they hold here.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "engines/cpu.hpp"
#include "engines/cpu/tune_affine.hpp"
#include "io/buffer.hpp"
#include "plan/cpu/affine_cost.hpp"

namespace faro::cpu {
namespace {

namespace fs = std::filesystem;

bool may_measure() {
  const char* const value = secure_getenv("FARO_MEASURE");
  return value == nullptr || std::string_view(value) != "never";
}

// How many times as long as by the curves something takes here.
struct Slowness {
  double copies = 1;
  double gathers = 1;
  double tiles = 1;
  double cached_tiles = 1;
};

double slowness_of(IndexKernel kernel, const Slowness& here) {
  switch (kernel) {
    case IndexKernel::gather:
    case IndexKernel::scatter:
    case IndexKernel::check:
      return here.gathers;
    case IndexKernel::streamed_tile:
    case IndexKernel::streamed_segments:
      return here.tiles;
    case IndexKernel::tile:
    case IndexKernel::segments:
      return here.cached_tiles;
    default:
      return here.copies;
  }
}

// The least of three calls after one that warms, over what the curves say. A busy moment is no slow machine.
double slowness(const std::function<void()>& run, std::optional<double> by_curves_us) {
  constexpr int kCalls = 3;
  constexpr double kMost = 4;
  if (!by_curves_us) return 1;
  run();
  double least = std::numeric_limits<double>::max();
  for (int call = 0; call < kCalls; ++call) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return std::clamp(least / *by_curves_us, 1 / kMost, kMost);
}

Slowness measure_slowness(const IndexCalibration& built_in, const Target& machine) {
  constexpr int kBits = 24;  // bytes
  constexpr std::uint64_t kWidth = 4;
  constexpr std::uint64_t kCopyWidth = 16;
  const std::uint64_t bytes = std::uint64_t{1} << kBits;
  const io::Buffer in(bytes);
  const io::Buffer out(bytes);
  Target one = machine;
  one.threads = 1;
  one.index_calibration = nullptr;
  Slowness here;
  const auto copy_us = built_in.predict_us(IndexKernel::copy, kCopyWidth, bytes / kCopyWidth);
  here.copies = slowness([&] { copy(in.data(), out.data(), bytes, machine.threads); }, copy_us);
  constexpr int kUnitBits = 2;
  constexpr int kExchanged = 4;
  const auto map = detail::tile_sample(kBits - kUnitBits, {.unit_bits = kUnitBits, .exchanged = kExchanged});
  const auto slowness_of_tiles = [&](bool streamed) {
    one.streaming_bytes = streamed ? 0 : std::numeric_limits<std::uint64_t>::max();
    const Plan tiles({.permutation = *map, .element_bytes = kWidth}, one);
    const auto us = detail::affine_thread_us(
        built_in, {.pass = tiles.passes().front(), .unit_bytes = kWidth, .streamed = streamed});
    const Executor moves(tiles);
    return slowness([&] { moves.run(in.data(), out.data()); }, us);
  };
  here.tiles = slowness_of_tiles(true);
  here.cached_tiles = slowness_of_tiles(false);
  constexpr std::uint64_t kGathered = std::uint64_t{1} << 20;
  const auto gather_us = built_in.predict_us(IndexKernel::gather, kWidth, kGathered);
  const Executor gathers(Plan({.permutation = Indexed::random(kGathered, 1), .element_bytes = kWidth},
                              machine, {}, {.method = IndexMethod::direct}));
  here.gathers = slowness([&] { gathers.run(in.data(), out.data()); }, gather_us);
  return here;
}

IndexCalibration fitted_built_in(const Target& machine) {
  IndexCalibration made = nearest_curves();
  const auto begin = std::chrono::steady_clock::now();
  const Slowness here = measure_slowness(made, machine);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (IndexCurve& curve : made.curves) {
    for (TimeCurve::Point& point : curve.curve.points) point.microseconds *= slowness_of(curve.kernel, here);
  }
  made.source += fmt::format(
      ", fitted to this machine in {:.2g} s: copies take {:.2f}, gathers {:.2f}, tiles {:.2f}, through the "
      "caches {:.2f} times as long",
      took.count(), here.copies, here.gathers, here.tiles, here.cached_tiles);
  return made;
}

struct KnownCurves {
  std::shared_ptr<const IndexCalibration> curves = nullptr;
  std::optional<fs::path> path = {};
  fs::file_time_type written = {};  // of the file that they are from; the least where there was none
  bool fitted = false;
};

KnownCurves known_curves(const Target& target, std::uint64_t bytes) {
  static std::mutex mutex;
  static std::map<std::string, KnownCurves> all;
  const auto path = calibration_path(target.name);
  std::error_code absent;
  const auto written = path ? fs::last_write_time(*path, absent) : fs::file_time_type::min();
  const bool has_file = path && !absent;
  const bool measures = !has_file && bytes >= kMeasuredBytes && may_measure();
  const std::lock_guard lock(mutex);
  KnownCurves& known = all[target.name];
  const bool is_same = known.curves != nullptr && known.path == path &&
                       known.written == (has_file ? written : fs::file_time_type::min());
  if (is_same && (known.fitted || !measures)) return known;
  known = {.path = path, .written = has_file ? written : fs::file_time_type::min(), .fitted = measures};
  known.curves = measures ? std::make_shared<const IndexCalibration>(fitted_built_in(target))
                          : calibration_for(target.name, nearest_curves());
  return known;
}

}  // namespace

std::shared_ptr<const IndexCalibration> curves_for(const Target& target, std::uint64_t bytes) {
  return known_curves(target, bytes).curves;
}

// One factor for all sizes of a kind, measured beyond the caches, tells nothing of where two kinds meet.
void plan_by_curves(Target& target, std::uint64_t bytes) {
  const KnownCurves known = known_curves(target, bytes);
  target.index_calibration = known.curves;
  target.streaming_bytes = streaming_bytes(known.fitted ? nearest_curves() : *known.curves);
}

}  // namespace faro::cpu
