#include "kernels/axes_tile_params.hpp"

#include <string>
#include <vector>

#include "faro/error.hpp"
#include "kernels/axes_size.hpp"

namespace faro::kernels {
namespace {

class SideMaker {
 public:
  // `clips`: the axes whose last tile is short, in the order of their limits.
  SideMaker(const layout::AxesTile& tile, const std::vector<std::uint64_t>& strides,
            const std::vector<int>& clips)
      : tile_(tile), strides_(strides), clips_(clips) {}

  AxesTileSide make(const layout::TileSide& from) const {
    FARO_CHECK(from.run.size() <= kAxesTileDigits && from.rows.size() <= kAxesTileDigits);
    AxesTileSide side{};
    side.run_digits = static_cast<std::int32_t>(from.run.size());
    side.row_digits = static_cast<std::int32_t>(from.rows.size());
    side.rows = from.row_count();
    const layout::TileDigit& last = from.run.back();
    side.inner = from.run_units() / last.extent;
    side.run_part = last.extent;
    side.run_whole = static_cast<std::uint32_t>(tile_.extent[static_cast<std::size_t>(last.axis)]);
    side.run_clip = clip_of(last.axis);
    for (std::size_t i = 0; i < from.run.size(); ++i) {
      side.run[i] = {.extent = device::Division32(from.run[i].extent), .shared = from.run[i].shared};
    }
    for (std::size_t i = 0; i < from.rows.size(); ++i) {
      const layout::TileDigit& digit = from.rows[i];
      const bool cuts = digit.axis == last.axis;
      side.row[i] = {.extent = device::Division32(digit.extent),
                     .shared = digit.shared,
                     .stride = digit.step * strides_[static_cast<std::size_t>(digit.axis)],
                     .step = cuts ? digit.step : 0,
                     .clip = cuts ? kNoClip : clip_of(digit.axis)};
    }
    const std::uint32_t slots = from.run_units() / static_cast<std::uint32_t>(from.vector_units);
    FARO_CHECK(slots >= 1 && slots <= kAxesTileThreads);
    side.slots = device::Division32(slots);
    side.groups = kAxesTileThreads / slots;
    constexpr std::uint64_t sector_bytes = 32;
    const std::uint64_t step = std::uint64_t{side.inner} * static_cast<unsigned>(tile_.unit_bytes);
    const std::uint64_t extent = tile_.axes.shape[static_cast<std::size_t>(last.axis)];
    side.whole_sectors = (side.run_part | side.run_whole | extent) * step % sector_bytes == 0 ? 1 : 0;
    return side;
  }

 private:
  std::int32_t clip_of(int axis) const {
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      if (clips_[i] == axis) return static_cast<std::int32_t>(i);
    }
    return kNoClip;
  }

  const layout::AxesTile& tile_;
  const std::vector<std::uint64_t>& strides_;
  const std::vector<int>& clips_;
};

}  // namespace

AxesTileParams make_axes_tile_params(const layout::AxesTile& tile) {
  const layout::UnitAxes& axes = tile.axes;
  check_size(axes, tile.unit_bytes);
  FARO_CHECK(axes.shape.size() <= kMostAxes);
  const std::vector<std::uint64_t> in_strides = axes.in_strides();
  const std::vector<std::uint64_t> out_strides = axes.out_strides();
  AxesTileParams params{};
  std::vector<int> clips;
  std::int32_t& count = params.grid_axes;
  for (std::size_t i = axes.order.size(); i-- > 0;) {
    const int axis = axes.order[i];
    const auto a = static_cast<std::size_t>(axis);
    const std::uint64_t extent = axes.shape[a];
    const std::uint64_t part = tile.extent[a];
    if (part == extent) continue;
    AxesTileParams::GridAxis& grid = params.grid[count++];
    grid = {.tiles = device::Division64((extent + part - 1) / part),
            .in_step = part * in_strides[a],
            .out_step = part * out_strides[a],
            .extent = extent,
            .tile = static_cast<std::uint32_t>(part),
            .clip = kNoClip};
    if (extent % part == 0) continue;
    FARO_CHECK(clips.size() < 2);
    grid.clip = static_cast<std::int32_t>(clips.size());
    clips.push_back(axis);
  }
  params.in = SideMaker(tile, in_strides, clips).make(tile.in);
  params.out = SideMaker(tile, out_strides, clips).make(tile.out);
  const std::uint32_t tile_bytes = tile.shared_units * static_cast<std::uint32_t>(tile.unit_bytes);
  params.list = (tile_bytes + (kAxesRowBytes - 1)) / kAxesRowBytes * kAxesRowBytes;
  params.tiles = tile.tiles();
  FARO_CHECK(params.shared_bytes() <= kAxesTileSharedBytes);
  return params;
}

bool axes_rows_suit(const layout::UnitAxes& axes, int unit_bytes) {
  const std::size_t n = axes.shape.size();
  if (n < 2) return true;
  if (axes.order[n - 1] != static_cast<int>(n) - 1) return false;
  // Their numbers are divided with 32 bits.
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;
  if (axes.count() / axes.shape[n - 1] >= most_rows) return false;
  constexpr std::uint64_t long_row_bytes = 256;
  constexpr std::uint64_t sectors_bytes = 64;
  const std::uint64_t row_bytes = axes.shape[n - 1] * static_cast<std::uint64_t>(unit_bytes);
  return row_bytes >= long_row_bytes || (row_bytes >= sectors_bytes && row_bytes % sectors_bytes == 0);
}

AxesRowsParams make_axes_rows_params(const layout::UnitAxes& axes, int unit_bytes, std::uint32_t in_skew,
                                     std::uint32_t out_skew) {
  check_size(axes, unit_bytes);
  const std::size_t n = axes.shape.size();
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  FARO_CHECK(n <= kMostAxes && (n < 2 || axes.order[n - 1] == static_cast<int>(n) - 1));
  FARO_CHECK(n < 2 || axes.count() / axes.shape[n - 1] < std::uint64_t{1} << 31);
  const std::vector<std::uint64_t> in_strides = axes.in_strides();
  AxesRowsParams params{};
  params.in = {.begin = in_skew, .end = in_skew + axes.count() * unit};
  params.out = {.begin = out_skew, .end = out_skew + axes.count() * unit};
  params.row_bytes = device::Division64((n == 0 ? 1 : axes.shape[n - 1]) * unit);
  for (std::size_t i = n; i-- > 1;) {
    const auto a = static_cast<std::size_t>(axes.order[i - 1]);
    params.axis[params.axes++] = {.extent = device::Division32(static_cast<std::uint32_t>(axes.shape[a])),
                                  .in_stride = in_strides[a] * unit};
  }
  return params;
}

}  // namespace faro::kernels
