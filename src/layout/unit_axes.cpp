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

}  // namespace faro::layout
