// Measures a device for predicted times. Host-only: it times the engine's own executors, so it is built
// without CUDA, too, and refused there by the first array.
#include <algorithm>
#include <array>
#include <vector>

#include "faro/engines/cuda_measure.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "plan/planners.hpp"

namespace faro::cuda {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargest = 1024 * kMiB;  // of an array
constexpr std::uint64_t kSmallest = 64 * kMiB;   // below this nothing would be said of device memory
constexpr std::uint64_t kSizesApart = 4;         // the large array over the small one
constexpr int kRounds = 5;                       // the median of so many
constexpr int kSegmentBits = 12;                 // passes without a tile move 4 KiB at a time

// Two arrays of the same size.
class Bench {
 public:
  Bench(std::uint64_t bytes, int device) : in_(bytes, device), out_(bytes, device), clock_(device) {}

  std::uint64_t bytes() const { return in_.size(); }

  template <typename Queue>
  double median_us(const Queue& queue) const {
    constexpr double us_per_ms = 1e3;
    std::array<double, kRounds> times{};
    static_cast<void>(clock_.milliseconds(1, queue));  // the first call finds cold tables
    for (double& time : times) time = clock_.milliseconds(1, queue) * us_per_ms;
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    return times[kRounds / 2];
  }

  double copy_us(std::uint64_t bytes) const {
    return median_us([&](Stream stream) { copy(in_.data(), out_.data(), bytes, stream); });
  }

  double plan_us(const Affine& map, std::uint64_t element_bytes, const Target& target) const {
    const Executor executor(Plan({.permutation = map, .element_bytes = element_bytes}, target));
    return median_us([&](Stream stream) { executor.run(in_.data(), out_.data(), stream); });
  }

 private:
  DeviceArray in_;
  DeviceArray out_;
  StreamClock clock_;
};

// The line through two sizes, of times that microseconds(bytes of an array) gives.
template <typename Microseconds>
TransferRate rate(const Bench& bench, const Microseconds& microseconds) {
  const auto sample = [&](std::uint64_t bytes) {
    return Calibration::Sample{.bytes = 2 * static_cast<double>(bytes), .microseconds = microseconds(bytes)};
  };
  return Calibration::line(sample(bench.bytes() / kSizesApart), sample(bench.bytes()));
}

// Whole segments in reversed order, and in two halves that change places: the slowest and the fastest kind.
double vectors_us(const Bench& bench, std::uint64_t bytes, const Target& target) {
  const int n = detail::log2_floor(bytes);
  const int high = n - kSegmentBits;
  const Affine reversed = direct_sum(Affine(kSegmentBits), maps::bit_reversal(high));
  const Affine swapped = maps::xor_mask(n, std::uint64_t{1} << (n - 1));
  return (bench.plan_us(reversed, 1, target) + bench.plan_us(swapped, 1, target)) / 2;
}

double tiles_us(const Bench& bench, std::uint64_t bytes, std::uint64_t element_bytes, const Target& target) {
  const int n = detail::log2_floor(bytes / element_bytes);
  return (bench.plan_us(maps::bit_reversal(n), element_bytes, target) +
          bench.plan_us(maps::random_bmmc(n, 1), element_bytes, target)) /
         2;
}

std::uint64_t array_bytes(const Device& device) {
  std::uint64_t bytes = kLargest;
  while (bytes > kSmallest && 2 * bytes > device.free_memory_bytes / 2) bytes /= 2;
  return bytes;
}

}  // namespace

Calibration calibrate(int device) {
  const Target target = cuda::target(device);
  const std::vector<Device> all = devices();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Device& d) { return d.ordinal == target.device; });
  FARO_CHECK(found != all.end());
  const Bench bench(array_bytes(*found), target.device);

  Calibration result;
  result.source = found->name + ", measured just now";
  result.copy = rate(bench, [&](std::uint64_t bytes) { return bench.copy_us(bytes); });
  result.vectors = rate(bench, [&](std::uint64_t bytes) { return vectors_us(bench, bytes, target); });
  for (std::size_t bits = 0; bits < result.tiles.size(); ++bits) {
    result.tiles[bits] = rate(
        bench, [&](std::uint64_t bytes) { return tiles_us(bench, bytes, std::uint64_t{1} << bits, target); });
  }
  // A multiprocessor serves one wavefront a clock.
  result.shared_wavefronts_per_us = found->multiprocessors * found->clock_mhz;
  return result;
}

}  // namespace faro::cuda
