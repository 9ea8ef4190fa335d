#include "layout/cache_box.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "layout/box_search.hpp"

namespace faro::layout {
namespace {

constexpr std::uint64_t kManyParts = 8;
constexpr std::uint64_t kMostGrowth = 2;  // of a run, for its end to be a line's
constexpr std::uint64_t kCacheLine = 64;

std::vector<std::size_t> all_axes(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> by_input(const std::vector<StridedAxis>& axes) {
  std::vector<std::size_t> order = all_axes(axes.size());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t of_a = detail::magnitude(axes[a].in);
    const std::uint64_t of_b = detail::magnitude(axes[b].in);
    return of_a != 0 && (of_b == 0 || of_a < of_b);
  });
  return order;
}

// Grows a box along one side's axes, fastest first, until its run is about as long as wanted. The last axis
// is cut into parts that are equal and of whole lines, where the run before it allows.
void grow(const CacheBox& box, const std::vector<std::size_t>& order, std::uint64_t wanted_bytes,
          std::uint64_t line, std::vector<std::uint64_t>& extents) {
  std::uint64_t run = box.element_bytes;
  for (const std::size_t axis : order) {
    if (run >= wanted_bytes) break;
    const std::uint64_t whole = box.axes[axis].extent;
    const std::uint64_t needed = (wanted_bytes + run - 1) / run;
    std::uint64_t grain = line / std::gcd(run, line);
    // Whole lines would cost much.
    if (line > kCacheLine ? grain > needed / kManyParts : grain > kMostGrowth * needed) grain = 1;
    const auto up = [&](std::uint64_t extent) { return (extent + grain - 1) / grain * grain; };
    const std::uint64_t wanted = up(needed);
    const std::uint64_t parts = (whole + wanted / 2) / wanted;
    // A sliver at the end of many parts costs little; few are made equal.
    const std::uint64_t alike =
        parts >= kManyParts ? wanted : up((whole + parts - 1) / std::max<std::uint64_t>(parts, 1));
    const bool uneven = parts == 2 && whole - std::min(whole, alike) <= alike / 2;  // 3 as 2 and 1
    const std::uint64_t part = parts <= 1 || uneven ? whole : std::min(whole, alike);
    extents[axis] = std::max(extents[axis], part);
    run *= extents[axis];
    if (extents[axis] < whole) break;
  }
}

std::uint64_t product(const std::vector<std::uint64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

// Lines that are long for a run as short as this are no help.
std::uint64_t line_of(const CacheBoxLimits& limits, std::uint64_t wanted) {
  constexpr std::uint64_t kLinesOfRun = 16;
  if (limits.line_bytes <= kCacheLine) return limits.line_bytes;
  return std::min(limits.line_bytes, std::bit_floor(std::max<std::uint64_t>(wanted / kLinesOfRun, 1)));
}

std::vector<std::uint64_t> longest_box(const CacheBox& box, const CacheBoxLimits& limits) {
  const std::vector<std::size_t> out_order = all_axes(box.axes.size());
  if (limits.in_run_bytes != 0) {
    std::vector<std::uint64_t> extents(box.axes.size(), 1);
    grow(box, box.in_order, limits.in_run_bytes, limits.line_bytes, extents);
    grow(box, out_order, limits.out_run_bytes, limits.line_bytes, extents);
    return extents;
  }
  std::vector<std::uint64_t> longest;
  for (const StridedAxis& axis : box.axes) longest.push_back(axis.extent);
  if (product(longest) <= limits.most_bytes / box.element_bytes) return longest;  // as the trials would end
  longest.clear();
  for (std::uint64_t wanted = box.element_bytes;;) {
    std::vector<std::uint64_t> extents(box.axes.size(), 1);
    const std::uint64_t line = line_of(limits, wanted);
    grow(box, box.in_order, wanted, line, extents);
    grow(box, out_order, static_cast<std::uint64_t>(static_cast<double>(wanted) * limits.out_over_in),
         limits.out_line_bytes != 0 ? limits.out_line_bytes : line, extents);
    const bool too_large = product(extents) * box.element_bytes > limits.most_bytes;
    if (too_large) return longest.empty() ? std::vector<std::uint64_t>(box.axes.size(), 1) : longest;
    if (extents == longest && wanted > limits.most_bytes) return longest;
    longest = std::move(extents);
    wanted = std::max(wanted + 1, static_cast<std::uint64_t>(static_cast<double>(wanted) * limits.growth));
  }
}

std::vector<std::size_t> run_of(const CacheBox& box, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> run;
  for (const std::size_t axis : order) {
    run.push_back(axis);
    if (box.extent[axis] < box.axes[axis].extent) break;
  }
  while (!run.empty() && box.extent[run.back()] == 1) run.pop_back();
  return run;
}

template <typename StrideOf>
std::size_t contiguous(const CacheBox& box, const std::vector<std::size_t>& run, const StrideOf& stride_of) {
  auto step = static_cast<std::int64_t>(box.element_bytes);
  if (!run.empty() && stride_of(box.axes[run.front()]) < 0) step = -step;
  std::size_t joined = 0;
  for (const std::size_t axis : run) {
    if (stride_of(box.axes[axis]) != step) break;
    step *= static_cast<std::int64_t>(box.axes[axis].extent);
    ++joined;
  }
  return joined;
}

}  // namespace

bool CacheBox::is_of_long_elements() const { return extent.empty(); }

std::uint64_t CacheBox::elements() const { return extent.empty() ? 0 : product(extent); }

std::uint64_t CacheBox::count() const {
  std::uint64_t boxes = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::uint64_t part = extent.empty() ? 1 : extent[a];
    boxes *= (axes[a].extent + part - 1) / part;
  }
  return boxes;
}

std::vector<std::size_t> CacheBox::in_run() const { return run_of(*this, in_order); }
std::vector<std::size_t> CacheBox::out_run() const { return run_of(*this, all_axes(axes.size())); }

std::size_t CacheBox::in_contiguous() const {
  return contiguous(*this, in_run(), [](const StridedAxis& axis) { return axis.in; });
}
std::size_t CacheBox::out_contiguous() const {
  return contiguous(*this, out_run(), [](const StridedAxis& axis) { return axis.out; });
}

CacheBox choose_cache_box(const std::vector<StridedAxis>& axes, std::uint64_t element_bytes,
                          const CacheBoxLimits& limits) {
  CacheBox box{.axes = axes, .element_bytes = element_bytes, .extent = {}, .in_order = {}};
  const auto width = static_cast<std::int64_t>(element_bytes);
  for (StridedAxis& axis : box.axes) {
    axis.in *= width;
    axis.out *= width;
  }
  while (!box.axes.empty() && box.axes.front().in == box.axes.front().out &&
         box.axes.front().out == static_cast<std::int64_t>(box.element_bytes) &&
         box.element_bytes <= limits.most_element_bytes / box.axes.front().extent) {
    box.element_bytes *= box.axes.front().extent;
    box.axes.erase(box.axes.begin());
  }
  box.in_order = by_input(box.axes);
  if (!box.axes.empty() && box.element_bytes < limits.long_bytes) box.extent = longest_box(box, limits);
  return box;
}

}  // namespace faro::layout
