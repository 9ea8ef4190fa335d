#include "layout/axes_box.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace faro::layout {
namespace {

constexpr std::uint64_t kBoxBytes = std::uint64_t{32} << 10;
constexpr std::uint64_t kLongElement = 512;  // bytes

using Extents = std::vector<std::uint64_t>;

// Grows a box along one side's axes, innermost first, until its run is about as long as wanted.
void grow(const std::vector<std::size_t>& axes, const Extents& shape, std::uint64_t wanted, Extents& box) {
  std::uint64_t run = 1;
  for (const std::size_t axis : axes) {
    if (run >= wanted) break;
    const std::uint64_t extent = std::min(shape[axis], (wanted + run - 1) / run);
    const std::uint64_t parts =
        (shape[axis] + extent / 2) / extent;  // alike, rather than a sliver at the end
    box[axis] = std::max(box[axis], (shape[axis] + parts - 1) / parts);
    run *= box[axis];
    if (box[axis] < shape[axis]) break;
  }
}

std::uint64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

Extents longest_box(const Extents& shape, const std::vector<int>& order, std::uint64_t element_bytes) {
  std::vector<std::size_t> in(shape.size());
  std::iota(in.rbegin(), in.rend(), std::size_t{0});
  std::vector<std::size_t> out;
  std::transform(order.rbegin(), order.rend(), std::back_inserter(out),
                 [](int axis) { return static_cast<std::size_t>(axis); });
  Extents longest;
  for (std::uint64_t wanted = 1;; wanted *= 2) {
    Extents box(shape.size(), 1);
    grow(in, shape, wanted, box);
    grow(out, shape, wanted, box);
    if (wanted > 1 && (product(box) * element_bytes > kBoxBytes || box == longest)) return longest;
    longest = std::move(box);
  }
}

}  // namespace

bool AxesBox::is_of_long_elements() const { return element_bytes >= kLongElement; }

std::uint64_t AxesBox::elements() const { return is_of_long_elements() ? 0 : product(extent); }

AxesBox choose_axes_box(const Axes& axes, std::uint64_t element_bytes) {
  AxesBox box{.shape = axes.shape(), .order = axes.order(), .element_bytes = element_bytes, .extent = {}};
  if (!box.order.empty() && static_cast<std::size_t>(box.order.back()) + 1 == box.shape.size()) {
    box.element_bytes *= box.shape.back();
    box.shape.pop_back();
    box.order.pop_back();
  }
  if (!box.is_of_long_elements()) box.extent = longest_box(box.shape, box.order, box.element_bytes);
  return box;
}

}  // namespace faro::layout
