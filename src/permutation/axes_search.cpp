#include "axes_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "permutation/cyclic_axes.hpp"
#include "permutation/split_mix.hpp"

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

namespace {

// Whether an axis ends at this divisor, as far as samples tell.
bool ends_at(IndexReader& reader, std::uint64_t divisor, std::uint64_t zero) {
  constexpr std::size_t kPairs = 24;
  const std::uint64_t outer = reader.count() / divisor;
  SplitMix64 random(divisor);
  std::vector<std::uint64_t> positions;
  for (std::size_t k = 0; k < kPairs; ++k) {
    const std::uint64_t a = 1 + random.next() % (outer - 1);
    const std::uint64_t b = 1 + random.next() % (divisor - 1);
    for (const std::uint64_t position : {a * divisor + b, a * divisor, b}) positions.push_back(position);
  }
  const std::vector<std::uint64_t> entries = reader.at(positions);
  for (std::size_t k = 0; k < entries.size(); k += 3) {
    if (entries[k] + zero != entries[k + 1] + entries[k + 2]) return false;
  }
  return true;
}

// The places at which axes end, each a multiple of the one before, 1 and the count among them.
std::vector<std::uint64_t> axis_ends(IndexReader& reader, std::uint64_t zero) {
  std::vector<std::uint64_t> ends{1};
  for (const std::uint64_t divisor : divisors(reader.count())) {
    if (divisor == 1 || divisor % ends.back() != 0) continue;
    if (divisor == reader.count() || ends_at(reader, divisor, zero)) ends.push_back(divisor);
  }
  return ends;
}

// What a step along an axis adds, by the first few of which one may go round.
std::optional<std::int64_t> step_of(const std::vector<std::int64_t>& steps) {
  if (steps.size() == 1) return steps[0];
  if (steps.size() == 2) {
    if (steps[0] == steps[1] || steps[1] == -2 * steps[0]) return steps[0];
    if (steps[0] == -2 * steps[1]) return steps[1];
    return std::nullopt;
  }
  if (steps[0] == steps[1] || steps[0] == steps[2]) return steps[0];
  if (steps[1] == steps[2]) return steps[1];
  return std::nullopt;
}

struct MovedAxisFound {
  std::uint64_t stride = 0;
  Cyclic move;
};

std::optional<MovedAxisFound> find_moved_axis(IndexReader& reader, std::uint64_t place, std::uint64_t extent,
                                              std::uint64_t zero) {
  const auto value = [&](std::uint64_t digit) {
    const std::uint64_t position = digit * place;
    return static_cast<std::int64_t>(reader.at(std::span(&position, 1)).front() - zero);
  };
  std::vector<std::int64_t> steps;
  std::int64_t before = 0;
  for (std::uint64_t digit = 1; digit < extent && digit < 4; ++digit) {
    const std::int64_t here = value(digit);
    steps.push_back(here - before);
    before = here;
  }
  const auto step = step_of(steps);
  if (!step || *step == 0) return std::nullopt;
  // The first digit that has gone round.
  std::uint64_t straight = 0;
  std::uint64_t round = extent;
  while (straight + 1 < round) {
    const std::uint64_t middle = straight + (round - straight) / 2;
    (value(middle) == *step * static_cast<std::int64_t>(middle) ? straight : round) = middle;
  }
  const bool reversed = *step < 0;
  return MovedAxisFound{
      .stride = static_cast<std::uint64_t>(reversed ? -*step : *step),
      .move = {
          .count = extent, .shift = reversed ? round - 1 : (extent - round) % extent, .reversed = reversed}};
}

}  // namespace

CyclicAxesSearch find_cyclic_axes(IndexReader& reader) {
  const std::uint64_t count = reader.count();
  if (count < 4) return {.candidate = std::nullopt, .why = "of so few elements it would be a roll or a flip"};
  constexpr std::uint64_t kFirst = 0;
  const std::uint64_t zero = reader.at(std::span(&kFirst, 1)).front();
  const std::vector<std::uint64_t> ends = axis_ends(reader, zero);
  if (ends.size() <= 2)
    return {.candidate = std::nullopt, .why = "its entries are no sums of one for each axis"};
  std::vector<MovedAxisFound> axes;  // the fastest first
  std::uint64_t first = 0;
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
    const auto axis = find_moved_axis(reader, ends[k], ends[k + 1] / ends[k], zero);
    if (!axis) {
      return {.candidate = std::nullopt,
              .why = "elements " + std::to_string(ends[k]) + " apart are neither flipped nor rolled"};
    }
    axes.push_back(*axis);
    first += axis->stride * axis->move.shift;
  }
  std::vector<std::size_t> by_stride(axes.size());
  std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
  std::sort(by_stride.begin(), by_stride.end(),
            [&](std::size_t a, std::size_t b) { return axes[a].stride < axes[b].stride; });
  std::uint64_t stride = 1;
  for (const std::size_t axis : by_stride) {
    if (axes[axis].stride != stride) {
      return {.candidate = std::nullopt,
              .why = "a step of " + std::to_string(axes[axis].stride) + ", where an order of the axes has " +
                     std::to_string(stride)};
    }
    stride *= axes[axis].move.count;
  }
  if (first != zero) return {.candidate = std::nullopt, .why = "the axes do not begin at entry 0"};
  std::vector<std::uint64_t> shape;
  std::vector<Cyclic> moves;
  std::vector<int> order;
  for (std::size_t k = axes.size(); k-- > 0;) {
    shape.push_back(axes[k].move.count);
    moves.push_back(axes[k].move);
    order.push_back(static_cast<int>(axes.size() - 1 - by_stride[k]));
  }
  CyclicAxes candidate(shape, order, moves);
  constexpr std::uint64_t kMostViews = 16;
  if (number_of_views(candidate) > kMostViews)
    return {.candidate = std::nullopt, .why = "more than four axes are rolled"};
  return {.candidate = std::move(candidate), .why = {}};
}

}  // namespace faro::detail
