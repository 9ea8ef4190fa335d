#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "faro/error.hpp"
#include "faro/problem/target.hpp"

namespace faro {
namespace {

// What a kernel moves for an element: read and written, its tables included. Runs that begin anywhere in a
// sector cost about one sector more than their bytes.
double traffic_bytes(IndexKernel kernel, std::uint64_t element_bytes, int run_bits) {
  constexpr double kIndex = 4;
  constexpr double kSector = 32;
  constexpr double kPlace = 2;
  constexpr double kDescriptor = 6;     // of a partition's run
  constexpr double kRunOfIndexes = 16;  // of kernel runs
  const auto width = static_cast<double>(element_bytes);
  const double runs = std::exp2(-run_bits);  // an element
  switch (kernel) {
    case IndexKernel::gather:
    case IndexKernel::scatter:
      return kIndex + width + kSector * std::ceil(width / kSector);
    case IndexKernel::spread:
    case IndexKernel::collect:
      return 2 * width + kPlace + runs * (kDescriptor + kSector);
    case IndexKernel::place:
    case IndexKernel::pick:
    case IndexKernel::window:
      return 2 * width + kPlace;
    case IndexKernel::runs:
      return 2 * width + runs * (kRunOfIndexes + kSector);
    case IndexKernel::schedule:
      return width + 2 * kPlace;
    case IndexKernel::check:
      return width + kSector;
    default:
      break;
  }
  return 2 * width;
}

bool is_random(IndexKernel kernel) { return kernel == IndexKernel::gather || kernel == IndexKernel::scatter; }

// Which curve stands in where a kernel has none of its own.
std::optional<IndexKernel> stand_in(IndexKernel kernel) {
  switch (kernel) {
    case IndexKernel::scatter:
      return IndexKernel::gather;
    case IndexKernel::collect:
      return IndexKernel::spread;
    case IndexKernel::pick:
    case IndexKernel::window:
      return IndexKernel::place;
    case IndexKernel::runs:
      return IndexKernel::copy;
    default:
      return std::nullopt;
  }
}

int difference(int a, int b) { return a < b ? b - a : a - b; }

// The curves of one kernel, width and chunk, which are those nearest to what is asked. One of them, the one
// with the most points (of several the one nearest in its runs), tells how time grows with the size; the
// others, where each was measured, how much longer shorter runs take.
class CurveFamily {
 public:
  CurveFamily(const std::vector<IndexCurve>& curves, IndexKernel kernel, std::uint64_t element_bytes,
              int chunk_bits, int run_bits) {
    const auto distance = [&](const IndexCurve& curve) {
      return std::pair(std::fabs(std::log2(static_cast<double>(element_bytes) / curve.element_bytes)),
                       difference(chunk_bits, curve.chunk_bits));
    };
    for (const IndexCurve& curve : curves) {
      if (curve.kernel != kernel || curve.curve.empty()) continue;
      if (!members_.empty() && distance(curve) > distance(*members_.front())) continue;
      if (!members_.empty() && distance(curve) < distance(*members_.front())) members_.clear();
      members_.push_back(&curve);
    }
    const auto suits = [&](const IndexCurve* curve) {
      return std::pair(curve->curve.points.size(), -difference(run_bits, curve->run_bits));
    };
    for (const IndexCurve* curve : members_) {
      if (base_ == nullptr || suits(curve) > suits(base_)) base_ = curve;
    }
  }

  bool empty() const { return base_ == nullptr; }
  const IndexCurve& base() const { return *base_; }

  // The runs up to which the curves themselves tell what `run_bits` costs; longer ones are a matter of bytes.
  int told_runs(int run_bits) const {
    if (members_.size() == 1) return base_->run_bits;
    const auto by_runs = [](const auto* a, const auto* b) { return a->run_bits < b->run_bits; };
    return std::min(run_bits, (*std::max_element(members_.begin(), members_.end(), by_runs))->run_bits);
  }

  double microseconds(std::uint64_t elements, int run_bits) const {
    return base_->curve.microseconds(elements) * slowdown(elements, run_bits);
  }

 private:
  // How many times the base's time that curve takes, where it was measured nearest to so many elements.
  double over_base(const IndexCurve& curve, std::uint64_t elements) const {
    const auto distance = [&](const TimeCurve::Point& point) {
      return std::fabs(std::log2(static_cast<double>(point.elements) / static_cast<double>(elements)));
    };
    const auto& points = curve.curve.points;
    const auto nearest = std::min_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
      return distance(a) < distance(b);
    });
    return nearest->microseconds / base_->curve.microseconds(nearest->elements);
  }

  // Straight in the number of runs an element between the nearest curves on both sides, and beyond the last
  // by the last two. Where several curves have the same runs the first tells.
  double slowdown(std::uint64_t elements, int run_bits) const {
    std::vector<const IndexCurve*> by_runs = members_;
    std::stable_sort(by_runs.begin(), by_runs.end(),
                     [](const auto* a, const auto* b) { return a->run_bits < b->run_bits; });
    const auto again = [](const auto* a, const auto* b) { return a->run_bits == b->run_bits; };
    by_runs.erase(std::unique(by_runs.begin(), by_runs.end(), again), by_runs.end());
    if (by_runs.size() == 1 || run_bits >= by_runs.back()->run_bits)
      return over_base(*by_runs.back(), elements);
    std::size_t high = 1;  // the shortest of the longer runs, and at least the second of all
    while (by_runs[high]->run_bits < run_bits) ++high;
    const IndexCurve& shorter = *by_runs[high - 1];
    const IndexCurve& longer = *by_runs[high];
    const auto runs = [](int bits) { return std::exp2(-bits); };
    const double along =
        (runs(run_bits) - runs(longer.run_bits)) / (runs(shorter.run_bits) - runs(longer.run_bits));
    const double at_longer = over_base(longer, elements);
    const double at_shorter = std::max(at_longer, over_base(shorter, elements));
    return at_longer + along * (at_shorter - at_longer);
  }

  std::vector<const IndexCurve*> members_;
  const IndexCurve* base_ = nullptr;
};

std::uint64_t scaled(std::uint64_t elements, double ratio) {
  constexpr double kMost = 1e18;
  return static_cast<std::uint64_t>(
      std::clamp(std::round(static_cast<double>(elements) * ratio), 1.0, kMost));
}

}  // namespace

const char* name(IndexKernel kernel) noexcept {
  static constexpr const char* kNames[] = {
      "gather", "scatter",  "spread", "collect", "place",         "pick",     "window",           "runs",
      "copy",   "schedule", "check",  "tile",    "streamed tile", "segments", "streamed segments"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(IndexKernel::streamed_segments) + 1);
  return kNames[static_cast<std::size_t>(kernel)];
}

double TimeCurve::microseconds(std::uint64_t elements) const {
  FARO_CHECK(!points.empty());
  if (elements <= points.front().elements) return points.front().microseconds;
  const Point& last = points.back();
  if (elements >= last.elements) {
    return last.microseconds * (static_cast<double>(elements) / static_cast<double>(last.elements));
  }
  const auto above = std::upper_bound(points.begin(), points.end(), elements,
                                      [](std::uint64_t x, const Point& point) { return x < point.elements; });
  const Point& high = *above;
  const Point& low = *(above - 1);
  const double along = std::log(static_cast<double>(elements) / static_cast<double>(low.elements)) /
                       std::log(static_cast<double>(high.elements) / static_cast<double>(low.elements));
  return low.microseconds * std::pow(high.microseconds / low.microseconds, along);
}

std::optional<double> IndexCalibration::predict_us(IndexKernel kernel, std::uint64_t element_bytes,
                                                   std::uint64_t elements, int chunk_bits,
                                                   int run_bits) const {
  CurveFamily family(curves, kernel, element_bytes, chunk_bits, run_bits);
  for (auto other = stand_in(kernel); family.empty() && other; other = stand_in(*other)) {
    family = CurveFamily(curves, *other, element_bytes, chunk_bits, run_bits);
  }
  if (family.empty()) return std::nullopt;
  const IndexCurve& curve = family.base();
  const auto curve_width = static_cast<std::uint64_t>(curve.element_bytes);
  const double bytes = traffic_bytes(kernel, element_bytes, run_bits);
  // A pass in order takes what so many bytes take.
  if (!is_random(kernel)) {
    const double curve_bytes = traffic_bytes(curve.kernel, curve_width, family.told_runs(run_bits));
    return family.microseconds(scaled(elements, bytes / curve_bytes), run_bits);
  }
  const double curve_bytes = traffic_bytes(curve.kernel, curve_width, 0);
  // What a random access costs depends on the array's bytes; what it brings beyond the curve's comes in
  // order. Neither is less than nothing, though a measured curve may fall.
  const double width_ratio = static_cast<double>(element_bytes) / static_cast<double>(curve_width);
  const double fixed = curve.curve.points.front().microseconds;
  const double random = std::max(0.0, curve.curve.microseconds(scaled(elements, width_ratio)) - fixed);
  const double more = std::max(0.0, bytes - curve_bytes) / (2 * static_cast<double>(element_bytes));
  const auto copy_us = [&](std::uint64_t of) {
    return predict_us(IndexKernel::copy, element_bytes, of).value_or(0);
  };
  const double in_order = std::max(0.0, copy_us(scaled(elements, more)) - copy_us(1));
  return fixed + random / width_ratio + in_order;
}

}  // namespace faro
