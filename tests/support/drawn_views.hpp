// Views and factors drawn for tests of arithmetic: orders of axes, gaps, broadcasts, flips.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "faro/arithmetic.hpp"
#include "faro/permutation/strided.hpp"

namespace faro::test {

using testing::SplitMix64;

inline std::uint64_t below(SplitMix64& random, std::uint64_t end) { return random() % end; }

inline Strided draw_view(SplitMix64& random, std::uint64_t most = 40000) {
  const std::size_t rank = below(random, 5);
  Strided view;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t extent =
        1 + below(random, std::min<std::uint64_t>(most / count, below(random, 2) == 0 ? 12 : 400));
    if (below(random, 2) == 0 && extent > 4) extent = extent / 4 * 4;
    view.extents.push_back(extent);
    count *= extent;
  }
  const auto strides_of = [&](bool gaps) {
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
    std::vector<std::int64_t> strides(rank);
    std::int64_t next = gaps && below(random, 4) == 0 ? 2 : 1;
    for (const std::size_t axis : order) {
      strides[axis] = next;
      next *= static_cast<std::int64_t>(view.extents[axis]);
      if (gaps && below(random, 3) == 0) next += static_cast<std::int64_t>(below(random, 9));
    }
    return strides;
  };
  view.in_strides = strides_of(below(random, 3) == 0);
  view.out_strides = strides_of(below(random, 3) == 0);
  for (std::size_t i = 0; i < rank; ++i) {
    if (below(random, 10) == 0) view.in_strides[i] = 0;
    for (auto* const side : {&view.in_strides, &view.out_strides}) {
      if (below(random, 5) != 0) continue;
      auto& offset = side == &view.in_strides ? view.in_offset : view.out_offset;
      offset += static_cast<std::uint64_t>((*side)[i]) * (view.extents[i] - 1);
      (*side)[i] = -(*side)[i];
    }
  }
  return view;
}

/// One for each index along an axis. Requires: a view that has one.
inline Coefficient draw_factors(SplitMix64& random, const Strided& view) {
  Coefficient factors{.values = {}, .axis = below(random, view.extents.size())};
  for (std::uint64_t i = 0; i < view.extents[*factors.axis]; ++i)
    factors.values.emplace_back(static_cast<double>(below(random, 33)) / 8 - 2);
  return factors;
}

}  // namespace faro::test
