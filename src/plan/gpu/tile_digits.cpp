#include "plan/gpu/tile_digits.hpp"

#include <algorithm>
#include <numeric>

namespace faro::detail {
namespace {

// The divisor that is nearest to `wanted` by their ratio; of two the less.
std::uint64_t divisor_near(std::uint64_t extent, double wanted) {
  constexpr std::uint64_t kMost = 4096;
  const std::uint64_t most = std::min(extent, kMost);
  std::uint64_t below = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, most);
  while (extent % below != 0) --below;
  // Whatever is further above is further away.
  for (std::uint64_t above = below + 1;
       above <= most && static_cast<double>(above) * static_cast<double>(below) < wanted * wanted; ++above) {
    if (extent % above == 0) return above;
  }
  return below;
}

}  // namespace

TileDigits::TileDigits(const std::vector<ValueAxis>& axes) : done_(axes.size(), 1) {
  for (const ValueAxis& axis : axes) left_.push_back(axis.extent);
}

void TileDigits::keep(std::size_t axis, std::uint64_t extent) {
  done_[axis] *= extent;
  left_[axis] /= extent;
}

void TileDigits::take(std::size_t axis, std::uint64_t extent) {
  if (extent <= 1) return;
  digits_.push_back({.axis = axis, .extent = extent, .step = done_[axis]});
  keep(axis, extent);
}

void TileDigits::take_near(std::size_t axis, double wanted) { take(axis, divisor_near(left_[axis], wanted)); }

void TileDigits::take_run(const std::vector<std::size_t>& order, std::uint64_t bytes, std::uint64_t wanted) {
  std::uint64_t run = bytes;
  for (const std::size_t axis : order) {
    const std::uint64_t have = run * done_[axis];
    if (have < wanted) take_near(axis, static_cast<double>(wanted) / static_cast<double>(have));
    run *= done_[axis];
    if (left_[axis] > 1 || run >= wanted) return;
  }
}

void TileDigits::take_rest(const std::vector<std::size_t>& order) {
  for (const std::size_t axis : order) take(axis, left_[axis]);
}

std::vector<std::size_t> slowest_last(const std::vector<ValueAxis>& axes, std::int64_t ValueStrides::*side) {
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return stride_magnitude(axes[a].strides.*side) < stride_magnitude(axes[b].strides.*side);
  });
  return order;
}

kernels::ValueBoxParams params_of_tiles(const std::vector<ValueAxis>& axes, const ValueStrides& first,
                                        const std::vector<TileDigit>& digits) {
  constexpr std::uint64_t kMostTiles = (std::uint64_t{1} << 31) - 1;
  kernels::ValueBoxParams p;
  p.first = place_of(first, 1);
  p.tiles = 1;
  for (const TileDigit& digit : digits) {
    p.tiles *= digit.extent;
    p.grid[p.grid_axes++] = {
        .boxes = device::Division64(digit.extent),
        .few_boxes = device::Division32(static_cast<std::uint32_t>(std::min(digit.extent, kMostTiles))),
        .step = place_of(axes[digit.axis].strides, static_cast<std::int64_t>(digit.step))};
  }
  p.few = p.tiles <= kMostTiles ? 1 : 0;
  return p;
}

}  // namespace faro::detail
