#include "layout/unit_axes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace faro::layout {

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

std::vector<StridedAxis> normal_axes(std::vector<StridedAxis> axes) {
  axes.erase(std::remove_if(axes.begin(), axes.end(), [](const StridedAxis& a) { return a.extent == 1; }),
             axes.end());
  std::sort(axes.begin(), axes.end(),
            [](const StridedAxis& a, const StridedAxis& b) { return a.out < b.out; });
  std::vector<StridedAxis> merged;
  for (const StridedAxis& axis : axes) {
    if (!merged.empty()) {
      StridedAxis& before = merged.back();
      const auto extent = static_cast<std::int64_t>(before.extent);
      if (axis.out == before.out * extent && axis.in == before.in * extent) {
        before.extent *= axis.extent;
        continue;
      }
    }
    merged.push_back(axis);
  }
  return merged;
}

std::vector<StridedAxis> strided_axes(const UnitAxes& axes) {
  const std::vector<std::uint64_t> in = axes.in_strides();
  const std::vector<std::uint64_t> out = axes.out_strides();
  std::vector<StridedAxis> result;
  for (std::size_t a = 0; a < axes.shape.size(); ++a) {
    result.push_back({.extent = axes.shape[a],
                      .in = static_cast<std::int64_t>(in[a]),
                      .out = static_cast<std::int64_t>(out[a])});
  }
  return normal_axes(std::move(result));
}

std::optional<TurnedAxes> read_forwards(const std::vector<StridedAxis>& axes) {
  TurnedAxes turned{.axes = axes};
  bool any = false;
  for (std::size_t a = 1; a < axes.size(); ++a) {
    if (axes[a].in != -1) continue;
    any = true;
    const auto last = static_cast<std::int64_t>(axes[a].extent - 1);
    turned.in_first += last * axes[a].in;
    turned.out_first += last * axes[a].out;
    turned.axes[a].in = -axes[a].in;
    turned.axes[a].out = -axes[a].out;
  }
  if (!any) return std::nullopt;
  return turned;
}

void widen_unit(std::vector<StridedAxis>& axes, int& unit_bytes, int most_bytes) {
  const auto stays = [](const StridedAxis& axis) { return axis.in == 1 && axis.out == 1; };
  const auto even = [&](const StridedAxis& axis) {
    return stays(axis) ? axis.extent % 2 == 0 : axis.in % 2 == 0 && axis.out % 2 == 0;
  };
  while (2 * unit_bytes <= std::min(most_bytes, 16) && std::any_of(axes.begin(), axes.end(), stays) &&
         std::all_of(axes.begin(), axes.end(), even)) {
    unit_bytes *= 2;
    for (StridedAxis& axis : axes) {
      if (stays(axis)) {
        axis.extent /= 2;
      } else {
        axis.in /= 2;
        axis.out /= 2;
      }
    }
    axes.erase(std::remove_if(axes.begin(), axes.end(), [](const StridedAxis& a) { return a.extent == 1; }),
               axes.end());
  }
}

}  // namespace faro::layout
