// Vectors over F2 (the field of two elements) are machine words: bit i is coordinate i, bit 0 the least
// significant, addition is XOR. Everything here is constexpr and usable in device code.
#pragma once

#include <bit>
#include <cstdint>

#include "faro/require_cxx20.hpp"

namespace faro::f2 {

using Word = std::uint64_t;

/// Largest dimension of a vector: the bits of a Word.
inline constexpr int kMaxDimension = 64;

/// The unit vector e_i, 0 <= i < 64 (unchecked).
constexpr Word unit(int i) { return Word{1} << i; }

/// The span of e_0 .. e_{k-1} as a mask, 0 <= k <= 64 (unchecked).
constexpr Word low_mask(int k) { return k >= kMaxDimension ? ~Word{0} : (Word{1} << k) - 1; }

/// Coordinate i of x.
constexpr bool bit(Word x, int i) { return ((x >> i) & 1) != 0; }

/// The sum of the coordinates of x.
constexpr bool parity(Word x) { return (std::popcount(x) & 1) != 0; }

/// Position of the highest set bit of x != 0 (unchecked).
constexpr int leading_bit(Word x) { return kMaxDimension - 1 - std::countl_zero(x); }

/// Position of the lowest set bit of x != 0 (unchecked).
constexpr int trailing_bit(Word x) { return std::countr_zero(x); }

constexpr bool is_power_of_two(Word x) { return std::has_single_bit(x); }

/// The XOR of columns[j] over the set bits j of x. The matrix-vector product everything here rests on.
template <typename Value>
constexpr Value combine(const Value* columns, Word x) {
  Value sum{};
  for (; x != 0; x &= x - 1) sum ^= columns[trailing_bit(x)];
  return sum;
}

}  // namespace faro::f2
