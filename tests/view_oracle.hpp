// What a strided view does, by one obvious loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "faro/permutation/strided.hpp"

namespace faro::test {

// out[...] = in[...] for every index, by an odometer.
inline void move_by_loop(const Strided& view, std::uint64_t width, const std::byte* in, std::byte* out) {
  if (element_count(view) == 0) return;
  std::vector<std::uint64_t> at(view.extents.size(), 0);
  for (;;) {
    auto from = static_cast<std::int64_t>(view.in_offset);
    auto to = static_cast<std::int64_t>(view.out_offset);
    for (std::size_t a = 0; a < at.size(); ++a) {
      from += static_cast<std::int64_t>(at[a]) * view.in_strides[a];
      to += static_cast<std::int64_t>(at[a]) * view.out_strides[a];
    }
    std::copy_n(in + static_cast<std::uint64_t>(from) * width, width,
                out + static_cast<std::uint64_t>(to) * width);
    std::size_t a = at.size();
    while (a > 0 && ++at[a - 1] == view.extents[a - 1]) at[--a] = 0;
    if (a == 0) return;
  }
}

}  // namespace faro::test
