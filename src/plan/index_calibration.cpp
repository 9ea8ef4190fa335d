#include "faro/plan/index_calibration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "faro/error.hpp"

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
    case IndexKernel::copy:
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

const IndexCurve* nearest(const std::vector<IndexCurve>& curves, IndexKernel kernel,
                          std::uint64_t element_bytes, int chunk_bits, int run_bits) {
  const auto distance = [&](const IndexCurve& curve) {
    return std::tuple(std::fabs(std::log2(static_cast<double>(element_bytes) / curve.element_bytes)),
                      difference(chunk_bits, curve.chunk_bits), difference(run_bits, curve.run_bits));
  };
  const IndexCurve* best = nullptr;
  for (const IndexCurve& curve : curves) {
    if (curve.kernel != kernel || curve.curve.empty()) continue;
    if (best == nullptr || distance(curve) < distance(*best)) best = &curve;
  }
  return best;
}

std::uint64_t scaled(std::uint64_t elements, double ratio) {
  constexpr double kMost = 1e18;
  return static_cast<std::uint64_t>(
      std::clamp(std::round(static_cast<double>(elements) * ratio), 1.0, kMost));
}

}  // namespace

const char* name(IndexKernel kernel) noexcept {
  switch (kernel) {
    case IndexKernel::gather:
      return "gather";
    case IndexKernel::scatter:
      return "scatter";
    case IndexKernel::spread:
      return "spread";
    case IndexKernel::collect:
      return "collect";
    case IndexKernel::place:
      return "place";
    case IndexKernel::pick:
      return "pick";
    case IndexKernel::window:
      return "window";
    case IndexKernel::runs:
      return "runs";
    case IndexKernel::copy:
      break;
  }
  return "copy";
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
  const IndexCurve* curve = nearest(curves, kernel, element_bytes, chunk_bits, run_bits);
  for (auto other = stand_in(kernel); curve == nullptr && other; other = stand_in(*other)) {
    curve = nearest(curves, *other, element_bytes, chunk_bits, run_bits);
  }
  if (curve == nullptr) return std::nullopt;
  const auto curve_width = static_cast<std::uint64_t>(curve->element_bytes);
  const double bytes = traffic_bytes(kernel, element_bytes, run_bits);
  const double curve_bytes = traffic_bytes(curve->kernel, curve_width, curve->run_bits);
  // A pass in order takes what so many bytes take.
  if (!is_random(kernel)) return curve->curve.microseconds(scaled(elements, bytes / curve_bytes));
  // What a random access costs depends on the array's bytes; what it brings beyond the curve's comes in
  // order.
  const double width_ratio = static_cast<double>(element_bytes) / static_cast<double>(curve_width);
  const double fixed = curve->curve.points.front().microseconds;
  const double random = curve->curve.microseconds(scaled(elements, width_ratio)) - fixed;
  const double more = std::max(0.0, bytes - curve_bytes) / (2 * static_cast<double>(element_bytes));
  const auto copy_us = [&](std::uint64_t of) {
    return predict_us(IndexKernel::copy, element_bytes, of).value_or(0);
  };
  const double in_order = copy_us(scaled(elements, more)) - copy_us(1);
  return fixed + random / width_ratio + in_order;
}

}  // namespace faro
