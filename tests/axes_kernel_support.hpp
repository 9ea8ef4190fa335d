// What the tests of the kernels for axes share: the definition, and shapes in words.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "faro/layout/axes_tile.hpp"
#include "faro/permutation/axes.hpp"

namespace faro::kernels {

using layout::UnitAxes;

// --- the oracle: for every unit, its coordinates, then their place in the output

inline std::vector<std::uint64_t> targets(const std::vector<std::uint64_t>& shape,
                                          const std::vector<int>& order) {
  const std::size_t n = shape.size();
  std::vector<std::uint64_t> result;
  std::vector<std::uint64_t> coordinate(n, 0);
  const std::uint64_t count =
      std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  for (std::uint64_t x = 0; x < count; ++x) {
    std::uint64_t y = 0;
    for (const int a : order)
      y = y * shape[static_cast<std::size_t>(a)] + coordinate[static_cast<std::size_t>(a)];
    result.push_back(y);
    for (std::size_t a = n; a-- > 0;) {
      if (++coordinate[a] < shape[a]) break;
      coordinate[a] = 0;
    }
  }
  return result;
}

inline std::string describe(const UnitAxes& axes, int unit_bytes) {
  std::string text = "axes(";
  for (const std::uint64_t e : axes.shape) text += std::to_string(e) + " ";
  text += ";";
  for (const int a : axes.order) text += " " + std::to_string(a);
  return text + "), " + std::to_string(unit_bytes) + " bytes";
}

inline UnitAxes normal(const std::vector<std::uint64_t>& shape, const std::vector<int>& order) {
  return layout::unit_axes(Axes(shape, order), 1, 1);
}

}  // namespace faro::kernels
