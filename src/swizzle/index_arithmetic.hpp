// Integers of index expressions: the division of mathematics, and sums that wrap around instead of
// overflowing.
#pragma once

#include <cstdint>

namespace faro::swizzle::detail {

constexpr std::int64_t added(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t subtracted(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
constexpr std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// floor(a / d). Requires: d is not 0 (unchecked).
constexpr std::int64_t floor_divided(std::int64_t a, std::int64_t d) {
  if (d == -1) return subtracted(0, a);
  const std::int64_t quotient = a / d;
  return quotient - (a % d != 0 && (a < 0) != (d < 0) ? 1 : 0);
}
/// a - d floor(a / d): in 0 .. d-1 for positive d. Requires: d is not 0 (unchecked).
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t d) {
  if (d == -1) return 0;
  const std::int64_t rest = a % d;
  return rest != 0 && (rest < 0) != (d < 0) ? rest + d : rest;
}

constexpr bool is_power_of_two(std::int64_t d) { return d > 0 && (d & (d - 1)) == 0; }

}  // namespace faro::swizzle::detail
