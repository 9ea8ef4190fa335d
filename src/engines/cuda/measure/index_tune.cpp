// cuda::tune: the curves of faro/problem/target.hpp, measured on random permutations made on the device.
//
//     place      many arrays of one chunk each, whose list the cache holds: the pass without that
//                list's bytes
//     spread     partitions of one, two and three levels, less the last pass, shared out over the levels
//     schedule   what it takes to make an executor from indices that are there
//
// Calls no CUDA itself: it is the engine's own interface, timed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engines/cuda_index.hpp"
#include "faro/engines/cuda_measure.hpp"
#include "faro/measure.hpp"
#include "faro/plan/plan.hpp"

namespace faro::cuda {
namespace {

constexpr int kLeastBits = 10;
constexpr int kMostBits = 30;
constexpr int kMostLevels = 3;
constexpr int kMostLevelBits = 10;
constexpr std::uint64_t kSeed = 7;

int bits_of_width(int width) {
  int bits = 0;
  while (1 << bits < width) ++bits;
  return bits;
}

// Runs of a length share a curve with those near it.
int rounded_run_bits(int run_bits) {
  constexpr int kShort = 4;
  constexpr int kMiddle = 6;
  constexpr int kLong = 8;
  if (run_bits <= kShort) return kShort;
  return run_bits <= kMiddle ? kMiddle : kLong;
}

class Tuner {
 public:
  Tuner(int device, bool quick) : target_(cuda::target(device)), clock_(target_.device), quick_(quick) {}

  IndexCalibration run() {
    const std::vector<int> widths = quick_ ? std::vector{4, 16} : std::vector{1, 2, 4, 8, 16};
    for (const int width : widths) {
      for (int bits = kLeastBits; bits <= most_bits(width); bits += quick_ ? 2 : 1) measure(width, bits);
    }
    IndexCalibration calibration{.source = target_.name + ", measured by `faro tune`", .curves = {}};
    for (auto& [key, points] : points_) {
      TimeCurve curve;
      for (const auto& [elements, us] : points) {
        curve.points.push_back({.elements = elements, .microseconds = us});
      }
      calibration.curves.push_back({.kernel = key.kernel,
                                    .element_bytes = key.width,
                                    .chunk_bits = key.chunk_bits,
                                    .run_bits = key.run_bits,
                                    .curve = std::move(curve)});
    }
    return calibration;
  }

 private:
  struct Key {
    IndexKernel kernel = IndexKernel::copy;
    int width = 4;
    int chunk_bits = 0;
    int run_bits = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Arrays, workspace, indices and schedules within half of the memory that is free, and 8 GiB an array.
  int most_bits(int width) const {
    std::uint64_t free = 0;
    for (const Device& each : devices()) {
      if (each.ordinal == target_.device) free = each.free_memory_bytes;
    }
    constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;
    constexpr std::uint64_t kTables = 32;  // bytes an element of indices, schedules and what makes them
    const auto bytes = static_cast<std::uint64_t>(width);
    int bits = quick_ ? 26 : kMostBits;
    while (bits > kLeastBits &&
           ((bytes << bits) > kMostBytes || ((3 * bytes + kTables) << bits) > free / 2)) {
      --bits;
    }
    return bits;
  }

  double microseconds(const std::function<void(Stream)>& work) const {
    constexpr double kBudgetMs = 30;
    constexpr double kUsPerMs = 1e3;
    const TimedRun timed = [&](int calls) { return clock_.milliseconds(calls, work); };
    return kUsPerMs * measure_alternating(std::span(&timed, 1), {.budget_ms = kBudgetMs}).front().median_ms;
  }

  Plan plan_of(const Indexed& indexed, int width, std::uint64_t batch, const IndexChoice& choice) const {
    return {
        {.permutation = indexed,
         .element_bytes = static_cast<std::uint64_t>(width),
         .batch = batch,
         .placement = Placement::out_of_place},
        target_,
        {.family = Family::general, .permutation = indexed, .runs = {}, .displacement = {}, .findings = {}},
        choice};
  }

  double microseconds(const Indexed& indexed, int width, std::uint64_t batch,
                      const IndexChoice& choice) const {
    const Plan plan = plan_of(indexed, width, batch, choice);
    const Executor executor(plan);
    const DeviceArray in(plan.array_bytes(), target_.device);
    const DeviceArray out(plan.array_bytes(), target_.device);
    std::optional<DeviceArray> workspace;
    if (executor.workspace_bytes() > 0) workspace.emplace(executor.workspace_bytes(), target_.device);
    return microseconds([&](Stream stream) {
      executor.run(in.data(), out.data(), stream, workspace ? workspace->data() : nullptr);
    });
  }

  // The host waits for a schedule: by its clock, the best of a few.
  static double schedule_microseconds(const Plan& plan) {
    constexpr int kTimes = 3;
    double best = 0;
    for (int time = 0; time < kTimes; ++time) {
      const auto begin = std::chrono::steady_clock::now();
      const Executor executor(plan);
      const double us =
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
      best = time == 0 ? us : std::min(best, us);
    }
    return best;
  }

  void add(const Key& key, std::uint64_t elements, double us) {
    constexpr double kLeastUs = 0.5;
    points_[key][elements] = std::max(us, kLeastUs);
  }

  void measure(int width, int bits) {
    const std::uint64_t count = std::uint64_t{1} << bits;
    const std::uint64_t bytes = count * static_cast<std::uint64_t>(width);
    {
      const DeviceArray in(bytes, target_.device);
      const DeviceArray out(bytes, target_.device);
      add({.kernel = IndexKernel::copy, .width = width}, count,
          microseconds([&](Stream stream) { copy(in.data(), out.data(), bytes, stream); }));
    }
    const Indexed scatter = random_on_device(count, kSeed, target_.device);
    add({.kernel = IndexKernel::gather, .width = width}, count,
        microseconds(scatter.inverse(), width, 1, {.method = IndexMethod::direct}));
    // For one run it is not inverted.
    add({.kernel = IndexKernel::scatter, .width = width}, count,
        microseconds(scatter, width, 1, {.method = IndexMethod::direct, .repeats = 1}));
    if (width == scatter.index_type().bytes) measure_check(scatter);
    const int preferred = 16 - bits_of_width(width);
    measure_schedule(scatter, width, std::min(preferred, schedule::kMaxChunkBits));
    for (int chunk_bits = preferred; chunk_bits <= std::min(preferred + 1, schedule::kMaxChunkBits);
         ++chunk_bits) {
      measure_partition(scatter, width, bits, chunk_bits);
      if (!quick_) measure_partition(scatter.inverse(), width, bits, chunk_bits);
    }
  }

  void measure_check(const Indexed& scatter) {
    const Indexed gather = scatter.inverse();
    const Indexed unchecked = Indexed::on_device(gather.device_entries(), gather.count(), gather.index_type(),
                                                 gather.direction(), target_.device, nullptr);
    const auto us_of = [&](const Indexed& indexed) {
      return schedule_microseconds(
          plan_of(indexed, gather.index_type().bytes, 1, {.method = IndexMethod::direct}));
    };
    add({.kernel = IndexKernel::check, .width = gather.index_type().bytes}, gather.count(),
        us_of(unchecked) - us_of(gather));
  }

  void measure_schedule(const Indexed& indexed, int width, int chunk_bits) {
    const Plan plan = plan_of(indexed, width, 1,
                              {.method = IndexMethod::partition, .chunk_bits = chunk_bits, .level_bits = {}});
    add({.kernel = IndexKernel::schedule, .width = indexed.index_type().bytes, .chunk_bits = chunk_bits},
        indexed.count(), schedule_microseconds(plan));
  }

  void measure_partition(const Indexed& indexed, int width, int bits, int chunk_bits) {
    const bool forwards = indexed.direction() == Direction::scatter;
    const std::uint64_t count = indexed.count();
    const int rest = std::max(0, bits - chunk_bits);
    const Key last{.kernel = forwards ? IndexKernel::place : IndexKernel::pick,
                   .width = width,
                   .chunk_bits = chunk_bits};
    const IndexChoice one_chunk{.method = IndexMethod::partition, .chunk_bits = chunk_bits, .level_bits = {}};
    if (rest == 0) return add(last, count, microseconds(indexed, width, 1, one_chunk));
    Indexed chunk = random_on_device(std::uint64_t{1} << chunk_bits, kSeed, target_.device);
    if (!forwards) chunk = chunk.inverse();
    const double with_list = (2.0 * width + 2) / (2.0 * width);
    const double place_us = with_list * microseconds(chunk, width, std::uint64_t{1} << rest, one_chunk);
    add(last, count, place_us);
    for (int levels = 1; levels <= std::min(kMostLevels, rest); ++levels) {
      const int level_bits = (rest + levels - 1) / levels;
      if (level_bits > std::min(kMostLevelBits, chunk_bits)) continue;
      const IndexChoice choice{.method = IndexMethod::partition,
                               .chunk_bits = chunk_bits,
                               .level_bits = schedule::even_levels(count, chunk_bits, level_bits)};
      const double us = (microseconds(indexed, width, 1, choice) - place_us) / levels;
      add({.kernel = forwards ? IndexKernel::spread : IndexKernel::collect,
           .width = width,
           .chunk_bits = chunk_bits,
           .run_bits = rounded_run_bits(chunk_bits - level_bits)},
          count, us);
    }
  }

  Target target_;
  StreamClock clock_;
  bool quick_;
  std::map<Key, std::map<std::uint64_t, double>> points_;
};

}  // namespace

IndexCalibration tune(int device, bool quick) { return Tuner(device, quick).run(); }

}  // namespace faro::cuda
