// Whether a map is tiled depends on the tile: one rule for whoever says so.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "faro/permutation/affine.hpp"

namespace faro {

/// t of the published tile, 2^t x 2^t elements of so many bytes: 32 x 32, or less where a bank row of 128
/// bytes holds fewer. `faro emit` writes this tile.
constexpr int published_tile_bits_of(std::uint64_t element_bytes) {
  constexpr int kMost = 5;  // 32 x 32 threads fill a block
  constexpr std::uint64_t kBankRowBytes = 128;
  const std::uint64_t columns = kBankRowBytes / std::clamp<std::uint64_t>(element_bytes, 1, kBankRowBytes);
  return std::min(kMost, static_cast<int>(std::bit_width(columns)) - 1);
}

/// The class with "tiled" said of that tile.
inline AffineClass published_class(const Affine& map, std::uint64_t element_bytes) {
  return map.classify(published_tile_bits_of(element_bytes));
}

}  // namespace faro
