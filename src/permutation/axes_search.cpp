#include "axes_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace faro::detail {
namespace {

// Ascending. Cost: sqrt(count) divisions.
std::vector<std::uint64_t> divisors(std::uint64_t count) {
  std::vector<std::uint64_t> result{1};
  const auto multiply = [&](std::uint64_t prime, int power) {
    const std::size_t before = result.size();
    std::uint64_t factor = 1;
    for (int k = 0; k < power; ++k) {
      factor *= prime;
      for (std::size_t i = 0; i < before; ++i) result.push_back(result[i] * factor);
    }
  };
  std::uint64_t left = count;
  for (std::uint64_t prime = 2; prime * prime <= left; ++prime) {
    int power = 0;
    for (; left % prime == 0; left /= prime) ++power;
    multiply(prime, power);
  }
  if (left > 1) multiply(left, 1);
  std::sort(result.begin(), result.end());
  return result;
}

// An axis, the fastest first: how many, and what a step of it adds to the target.
struct FoundAxis {
  std::uint64_t extent = 0;
  std::uint64_t step = 0;
};

// The axes' order in the output, slowest first, if steps are those of one.
std::optional<Axes> ordered(const std::vector<FoundAxis>& fastest_first) {
  const std::size_t axes = fastest_first.size();
  std::vector<std::size_t> by_step(axes);
  std::iota(by_step.begin(), by_step.end(), std::size_t{0});
  std::sort(by_step.begin(), by_step.end(),
            [&](std::size_t a, std::size_t b) { return fastest_first[a].step < fastest_first[b].step; });
  std::uint64_t step = 1;
  for (const std::size_t axis : by_step) {
    if (fastest_first[axis].step != step) return std::nullopt;
    step *= fastest_first[axis].extent;
  }
  std::vector<std::uint64_t> shape;
  for (std::size_t axis = axes; axis-- > 0;) shape.push_back(fastest_first[axis].extent);
  std::vector<int> order;
  for (std::size_t a = axes; a-- > 0;) order.push_back(static_cast<int>(axes - 1 - by_step[a]));
  return Axes(shape, order);
}

// "4 3 2": of the slowest axis first, as shapes are written.
std::string listed(const std::vector<FoundAxis>& fastest_first, std::uint64_t FoundAxis::*what) {
  std::string text;
  for (std::size_t axis = fastest_first.size(); axis-- > 0;) {
    text += (text.empty() ? "" : " ") + std::to_string(fastest_first[axis].*what);
  }
  return text;
}

}  // namespace

AxesSearch find_axes(IndexReader& reader) {
  const std::uint64_t count = reader.count();
  const std::vector<std::uint64_t> all = divisors(count);
  std::vector<FoundAxis> axes;
  for (std::uint64_t place = 1; place < count;) {
    const std::uint64_t left = count / place;
    std::vector<std::uint64_t> extents;  // candidates, 1 for the step itself; all that is left needs no probe
    std::vector<std::uint64_t> positions;
    for (const std::uint64_t divisor : all) {
      if (divisor >= left) break;
      if (left % divisor != 0) continue;
      extents.push_back(divisor);
      positions.push_back(place * divisor);
    }
    const std::vector<std::uint64_t> entries = reader.at(positions);
    const std::uint64_t step = entries.front();
    const auto is_on_line = [&](std::size_t k) {
      return step == 0 || extents[k] > (count - 1) / step ? false : entries[k] == extents[k] * step;
    };
    std::size_t k = 1;
    while (k < extents.size() && is_on_line(k)) ++k;
    const std::uint64_t extent = k < extents.size() ? extents[k] : left;
    axes.push_back({.extent = extent, .step = step});
    place *= extent;
  }
  auto candidate = ordered(axes);
  std::string why;
  if (!candidate) {
    why = "extents " + listed(axes, &FoundAxis::extent) + " would step by " + listed(axes, &FoundAxis::step) +
          ", which no order of axes does";
  }
  return {.candidate = std::move(candidate), .why = std::move(why)};
}

}  // namespace faro::detail
