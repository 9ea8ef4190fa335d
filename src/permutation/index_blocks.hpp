// An index array of blocks that are alike (Blocks of faro/permutation/permutation.hpp), as one of them.
#pragma once

#include <cstdint>

#include "faro/permutation/permutation.hpp"

namespace faro::detail {

/// The permutation of the first `block` elements, of which `together` are one: of block / together elements,
/// with the array's direction. Requires: an array of the host; both divide what they are to (unchecked).
inline Indexed block_of(const Indexed& indexed, std::uint64_t block, std::uint64_t together) {
  const std::uint64_t count = block / together;
  const auto entries = [&](auto word) {
    std::vector<decltype(word)> made(count);
    for (std::uint64_t k = 0; k < count; ++k)
      made[k] = static_cast<decltype(word)>(indexed.entry(k * together) / together);
    return Indexed(std::move(made), indexed.direction());
  };
  return count > std::uint64_t{1} << 32 ? entries(std::uint64_t{0}) : entries(std::uint32_t{0});
}

}  // namespace faro::detail
