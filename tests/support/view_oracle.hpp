// What strided views and axes do, by one obvious loop over all indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/permutation/strided.hpp"
#include "permutation/axis_map.hpp"

namespace faro::test {

/// The next index of these extents, the last fastest, from `least` in each; false behind the last one.
inline bool step(std::vector<std::uint64_t>& at, const std::vector<std::uint64_t>& extents,
                 std::uint64_t least = 0) {
  std::size_t a = at.size();
  while (a > 0 && ++at[a - 1] == extents[a - 1] + least) at[--a] = least;
  return a > 0;
}

/// Calls visit(in, out) with the two offsets of each index, the last axis fastest.
template <typename Visit>
void for_places(const Strided& view, const Visit& visit) {
  if (element_count(view) == 0) return;
  std::vector<std::uint64_t> at(view.extents.size(), 0);
  do {
    auto in = static_cast<std::int64_t>(view.in_offset);
    auto out = static_cast<std::int64_t>(view.out_offset);
    for (std::size_t a = 0; a < at.size(); ++a) {
      in += static_cast<std::int64_t>(at[a]) * view.in_strides[a];
      out += static_cast<std::int64_t>(at[a]) * view.out_strides[a];
    }
    visit(in, out);
  } while (step(at, view.extents));
}

/// The same of axes, but for their shifts.
template <typename Axis, typename Visit>
void for_places(const std::vector<Axis>& axes, const Visit& visit) {
  Strided view;
  for (const Axis& axis : axes) {
    view.extents.push_back(axis.extent);
    view.in_strides.push_back(axis.in);
    view.out_strides.push_back(axis.out);
  }
  for_places(view, visit);
}

/// out[...] = in[...] for every index.
inline void move_by_loop(const Strided& view, std::uint64_t width, const std::byte* in, std::byte* out) {
  const auto bytes = static_cast<std::int64_t>(width);
  for_places(view, [&](std::int64_t from, std::int64_t to) {
    std::copy_n(in + from * bytes, bytes, out + to * bytes);
  });
}

}  // namespace faro::test
