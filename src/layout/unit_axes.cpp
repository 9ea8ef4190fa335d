#include "layout/unit_axes.hpp"

#include <numeric>
#include <utility>

namespace faro::layout {

AxisMap unit_axes(const Axes& axes, std::uint64_t element_units, std::uint64_t batch) {
  AxisMap map = axes.map();
  map.unit = element_units;
  const auto count = static_cast<std::int64_t>(axes.count());
  map.axes.push_back({.extent = batch, .in = count, .out = count});
  return faro::detail::normal_form(faro::detail::unfolded(std::move(map), element_units));
}

std::optional<AxisMap> read_forwards(const AxisMap& map) {
  AxisMap forwards = map;
  for (std::size_t a = 1; a < map.axes.size(); ++a) {
    if (map.axes[a].in == -1) faro::detail::flip(forwards, a);
  }
  return forwards == map ? std::nullopt : std::optional(std::move(forwards));
}

AxisMap with_widest_units(const AxisMap& map) {
  constexpr std::uint64_t widest_bytes = 16;
  return faro::detail::folded(map, std::gcd(faro::detail::widest_fold(map), widest_bytes / map.unit));
}

}  // namespace faro::layout
