#include "layout/axes_tile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "faro/error.hpp"
#include "layout/axes_tile_banks.hpp"
#include "rounding.hpp"

namespace faro::layout {
namespace {

using faro::detail::ceil_div;

using Extents = std::vector<std::uint64_t>;

// The axes of a side, fastest first.
std::vector<std::size_t> fastest_first(const UnitAxes& axes, bool output) {
  const std::size_t n = axes.shape.size();
  std::vector<std::size_t> list(n);
  for (std::size_t i = 0; i < n; ++i) {
    list[i] = output ? static_cast<std::size_t>(axes.order[n - 1 - i]) : n - 1 - i;
  }
  return list;
}

// A piece of an axis for a run of at least `wanted` units: pieces of about equal length, which begin at
// sectors, or at vectors, or at words, where that costs little.
std::uint64_t piece_of(std::uint64_t extent, std::uint64_t inner, std::uint64_t wanted, int unit_bytes) {
  const std::uint64_t least = ceil_div(wanted, inner);
  if (least >= extent) return extent;
  const std::uint64_t even = ceil_div(extent, ceil_div(extent, least));
  const std::uint64_t step_bytes = inner * static_cast<std::uint64_t>(unit_bytes);
  for (const std::uint64_t aligned_bytes : {32U, 16U, 4U}) {
    const std::uint64_t multiple = aligned_bytes / std::gcd(aligned_bytes, step_bytes);
    const std::uint64_t piece = ceil_div(even, multiple) * multiple;
    if (4 * piece <= 5 * even) return std::min(extent, piece);
  }
  return even;
}

void reach(const UnitAxes& axes, bool output, std::uint64_t wanted, int unit_bytes, Extents& extent) {
  std::uint64_t inner = 1;
  for (const std::size_t a : fastest_first(axes, output)) {
    if (inner >= wanted) return;
    extent[a] = std::max(extent[a], piece_of(axes.shape[a], inner, wanted, unit_bytes));
    if (extent[a] < axes.shape[a]) return;
    inner *= axes.shape[a];
  }
}

std::uint64_t volume(const Extents& extent) {
  return std::accumulate(extent.begin(), extent.end(), std::uint64_t{1}, std::multiplies<>());
}

// Axes of which a tile holds a part, so that tiles at the end may be short.
bool is_part(const UnitAxes& axes, const Extents& extent, std::size_t a) {
  return extent[a] > 1 && extent[a] < axes.shape[a];
}

// Enlarges a small tile where its runs get longer by it, else where the output's next ones follow.
void grow(const UnitAxes& axes, const AxesTileLimits& limits, int unit_bytes, Extents& extent) {
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  const std::vector<std::size_t> orders[] = {fastest_first(axes, true), fastest_first(axes, false)};
  while (volume(extent) * unit < limits.least_bytes) {
    std::optional<std::size_t> chosen;
    for (std::size_t a = 0; a < extent.size() && !chosen; ++a) {
      if (is_part(axes, extent, a)) chosen = a;
    }
    for (std::size_t i = 0; i < extent.size() && !chosen; ++i) {
      for (const auto& order : orders) {
        if (!chosen && extent[order[i]] < axes.shape[order[i]]) chosen = order[i];
      }
    }
    if (!chosen) return;
    std::uint64_t& e = extent[*chosen];
    e = 2 * e >= axes.shape[*chosen] ? axes.shape[*chosen] : 2 * e;
  }
}

// The units that follow one another on a side, without an end at 128 bytes.
std::uint64_t contiguous(const UnitAxes& axes, const Extents& extent, bool output) {
  std::uint64_t run = 1;
  for (const std::size_t a : fastest_first(axes, output)) {
    run *= extent[a];
    if (extent[a] < axes.shape[a]) break;
  }
  return run;
}

// What a tile of these extents costs, a copy being 2: sectors that runs share with their neighbours, the
// block's own work, threads without work in short tiles.
double cost_of(const UnitAxes& axes, const Extents& extent, int unit_bytes) {
  constexpr double sector_bytes = 32;
  const double tile_bytes = static_cast<double>(volume(extent)) * unit_bytes;
  double cost = 1024 / tile_bytes + tile_bytes / (1 << 19);
  for (const bool output : {false, true}) {
    const double run_bytes = static_cast<double>(contiguous(axes, extent, output)) * unit_bytes;
    const bool whole_sectors = std::fmod(run_bytes, sector_bytes) == 0;
    cost += 1 + (whole_sectors ? 0.1 : 0.5) * sector_bytes / run_bytes;
  }
  double used = 1;
  for (std::size_t a = 0; a < extent.size(); ++a) {
    used *= static_cast<double>(axes.shape[a]) /
            static_cast<double>(ceil_div(axes.shape[a], extent[a]) * extent[a]);
  }
  return cost + 0.2 * (1 - used);
}

Extents choose_extents(const UnitAxes& axes, int unit_bytes, const AxesTileLimits& limits) {
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  Extents best;
  double least = std::numeric_limits<double>::infinity();
  std::uint64_t least_volume = std::numeric_limits<std::uint64_t>::max();
  bool fits = false;
  for (std::uint64_t in_bytes = 32; in_bytes <= 512; in_bytes *= 2) {
    for (std::uint64_t out_bytes = 32; out_bytes <= 512; out_bytes *= 2) {
      Extents extent(axes.shape.size(), 1);
      reach(axes, false, ceil_div(in_bytes, unit), unit_bytes, extent);
      reach(axes, true, ceil_div(out_bytes, unit), unit_bytes, extent);
      grow(axes, limits, unit_bytes, extent);
      const bool within = volume(extent) * unit <= limits.most_bytes;
      const double cost = cost_of(axes, extent, unit_bytes);
      const bool better = within ? !fits || cost < least : !fits && volume(extent) < least_volume;
      if (!better) continue;
      fits = within;
      least = cost;
      least_volume = volume(extent);
      best = extent;
    }
  }
  return best;
}

// A side whose lanes move `vector` units at once; nothing where runs would begin or end within a vector.
std::optional<TileSide> cut_side(const UnitAxes& axes, const Extents& extent, bool output, int unit_bytes,
                                 const AxesTileLimits& limits, std::uint64_t vector) {
  const std::uint64_t most = std::max<std::uint64_t>(1, limits.run_bytes / static_cast<unsigned>(unit_bytes));
  const std::vector<std::size_t> mine = fastest_first(axes, output);
  TileSide side;
  side.vector_units = static_cast<int>(vector);
  std::vector<char> in_run(axes.shape.size(), 0);
  std::optional<TileDigit> rest;
  std::uint64_t run = 1;
  for (const std::size_t a : mine) {
    // Whole axes and then a part of one, for as long as the units follow one another in memory and there are
    // lanes for them. What is left of an axis is rows, about equally long.
    const std::uint64_t whole = extent[a];
    const bool goes_on = whole == axes.shape[a] && a != mine.back();
    const auto in_vectors = [&](std::uint64_t length) { return run * length % vector == 0; };
    std::uint64_t part = whole;
    if (run * whole > most) {
      const std::uint64_t multiple = vector / std::gcd(vector, run);
      const std::uint64_t largest = std::max<std::uint64_t>(most / run / multiple, 1) * multiple;
      const std::uint64_t even = ceil_div(whole, ceil_div(whole, largest));
      part = std::min(whole, ceil_div(even, multiple) * multiple);
      // Where a run cannot end, it goes on.
      if (goes_on && !(in_vectors(part) && in_vectors(whole))) part = whole;
    }
    const bool ends = part < axes.shape[a] || a == mine.back();
    // Slower axes have multiples of run x shape as strides, tiles begin at multiples of run x whole.
    if (ends && !(in_vectors(axes.shape[a]) && in_vectors(whole) && in_vectors(part))) return std::nullopt;
    if (run * part / vector > limits.threads) return std::nullopt;
    in_run[a] = 1;
    side.run.push_back(
        {.extent = static_cast<std::uint32_t>(part), .axis = static_cast<int>(a), .step = 1, .shared = 0});
    run *= part;
    if (part < whole) {
      rest = TileDigit{.extent = static_cast<std::uint32_t>(ceil_div(whole, part)),
                       .axis = static_cast<int>(a),
                       .step = static_cast<std::uint32_t>(part),
                       .shared = 0};
    }
    if (ends) break;
  }
  // Lanes that move neighbours of the other side at the same time meet in few banks.
  for (const std::size_t a : fastest_first(axes, !output)) {
    if (in_run[a] != 0 || extent[a] == 1) continue;
    side.rows.push_back({.extent = static_cast<std::uint32_t>(extent[a]),
                         .axis = static_cast<int>(a),
                         .step = 1,
                         .shared = 0});
  }
  if (rest) side.rows.push_back(*rest);
  return side;
}

TileSide make_side(const UnitAxes& axes, const Extents& extent, bool output, int unit_bytes,
                   const AxesTileLimits& limits) {
  for (const int vector_bytes : {16, 4}) {
    if (!limits.vectors || vector_bytes <= unit_bytes) break;
    const auto vector = static_cast<std::uint64_t>(vector_bytes / unit_bytes);
    const auto side = cut_side(axes, extent, output, unit_bytes, limits, vector);
    if (side) return *side;
  }
  return *cut_side(axes, extent, output, unit_bytes, limits, 1);
}

}  // namespace

std::uint64_t UnitAxes::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::vector<std::uint64_t> UnitAxes::in_strides() const {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t a = shape.size(); a-- > 1;) strides[a - 1] = strides[a] * shape[a];
  return strides;
}

std::vector<std::uint64_t> UnitAxes::out_strides() const {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  std::uint64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto a = static_cast<std::size_t>(order[i]);
    strides[a] = stride;
    stride *= shape[a];
  }
  return strides;
}

UnitAxes unit_axes(const Axes& axes, std::uint64_t element_units, std::uint64_t batch) {
  std::vector<std::uint64_t> shape = {batch};
  std::vector<int> order = {0};
  shape.insert(shape.end(), axes.shape().begin(), axes.shape().end());
  for (const int a : axes.order()) order.push_back(a + 1);
  shape.push_back(element_units);
  order.push_back(static_cast<int>(shape.size()) - 1);
  // Axes that follow one another in the output as in the input are one; those of 1 are none.
  UnitAxes result;
  std::vector<std::pair<int, std::uint64_t>> groups;  // first axis, units; in the output's order
  int previous = -2;
  std::vector<int> next(shape.size());  // the next axis of the input that is not of 1
  for (int a = static_cast<int>(shape.size()) - 1, following = -1; a >= 0; --a) {
    next[static_cast<std::size_t>(a)] = following;
    if (shape[static_cast<std::size_t>(a)] != 1) following = a;
  }
  for (const int a : order) {
    const auto index = static_cast<std::size_t>(a);
    if (shape[index] == 1) continue;
    if (previous >= 0 && next[static_cast<std::size_t>(previous)] == a) {
      groups.back().second *= shape[index];
    } else {
      groups.emplace_back(a, shape[index]);
    }
    previous = a;
  }
  auto by_input = groups;
  std::sort(by_input.begin(), by_input.end());
  for (const auto& group : by_input) result.shape.push_back(group.second);
  for (const auto& group : groups) {
    result.order.push_back(
        static_cast<int>(std::find(by_input.begin(), by_input.end(), group) - by_input.begin()));
  }
  return result;
}

std::uint32_t TileSide::run_units() const {
  std::uint32_t units = 1;
  for (const TileDigit& digit : run) units *= digit.extent;
  return units;
}

std::uint32_t TileSide::row_count() const {
  std::uint32_t count = 1;
  for (const TileDigit& digit : rows) count *= digit.extent;
  return count;
}

std::uint64_t AxesTile::tiles() const {
  std::uint64_t tiles = 1;
  for (std::size_t a = 0; a < extent.size(); ++a) tiles *= ceil_div(axes.shape[a], extent[a]);
  return tiles;
}

AxesTile choose_axes_tile(const UnitAxes& axes, int unit_bytes, const AxesTileLimits& limits) {
  FARO_CHECK(axes.shape.size() >= 2 && axes.count() > 0);
  FARO_CHECK(std::has_single_bit(static_cast<unsigned>(unit_bytes)) && unit_bytes <= 16);
  AxesTile tile;
  tile.axes = axes;
  tile.unit_bytes = unit_bytes;
  tile.extent = choose_extents(axes, unit_bytes, limits);
  tile.in = make_side(axes, tile.extent, false, unit_bytes, limits);
  tile.out = make_side(axes, tile.extent, true, unit_bytes, limits);
  detail::choose_shared_strides(tile, limits.threads);
  return tile;
}

}  // namespace faro::layout
