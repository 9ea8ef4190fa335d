// Elements of any power-of-two width as units of at most 16 bytes, which kernels move.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "faro/permutation/affine.hpp"

namespace faro::detail {

inline int log2_of(std::uint64_t count) {
  return count == 0 ? 0 : static_cast<int>(std::bit_width(count)) - 1;
}

/// log2 of the width and what a unit has of it; none for widths that are no power of two.
struct ShardUnit {
  int unit_bits = 0;      // log2 of a unit's bytes, at most 16
  int extended_bits = 0;  // log2 of the units of an element
};
inline std::optional<ShardUnit> shard_unit(std::uint64_t element_bytes) {
  if (!std::has_single_bit(element_bytes)) return std::nullopt;
  constexpr int widest_bits = 4;
  const int bits = log2_of(element_bytes);
  return ShardUnit{.unit_bits = std::min(bits, widest_bits),
                   .extended_bits = std::max(0, bits - widest_bits)};
}

/// The map of units: an element's bits stay below.
inline Affine of_units(const Affine& map, const ShardUnit& unit) {
  return direct_sum(Affine(unit.extended_bits), map);
}

inline bool is_aligned_to(const void* array, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(array) % bytes == 0;
}

}  // namespace faro::detail
