// Arithmetic of elements and of indexes. What the operators of accumulators do to numbers is shared by the
// oracle (ValueTable::number) and by the executor on numbers, so that there is one meaning of each. Indexes
// have the division of mathematics, and sums that wrap around instead of overflowing.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

#include "faro/error.hpp"
#include "faro/swizzle/accumulation.hpp"

namespace faro::swizzle {

inline bool is_bitwise(Operator op) {
  return op == Operator::bit_xor || op == Operator::bit_and || op == Operator::bit_or;
}

/// Errors: ErrorCode::value for a bit operation of floats.
template <typename T>
void require_operators_of(const Accumulation& accumulation) {
  if constexpr (std::floating_point<T>) {
    if (!is_bitwise(accumulation.outer) && !is_bitwise(accumulation.inner)) return;
    fail(ErrorCode::value, "run on float",
         std::string("the bit operation `") +
             name(is_bitwise(accumulation.outer) ? accumulation.outer : accumulation.inner) + "`",
         "operations of numbers: +, *, min, max", "run on std::uint32_t or std::uint64_t");
  }
}

/// What an accumulator without terms holds before it is divided.
template <typename T>
T identity_of(Operator op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case Operator::none:
    case Operator::add:
    case Operator::bit_xor:
    case Operator::bit_or:
      return T{0};
    case Operator::multiply:
      return T{1};
    case Operator::bit_and:
      if constexpr (std::integral<T>) return static_cast<T>(~T{0});
      return T{0};
    case Operator::least:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case Operator::greatest:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  return T{0};
}

template <typename T>
T apply(Operator op, T a, T b) {
  switch (op) {
    case Operator::none:
      return b;
    case Operator::add:
      return static_cast<T>(a + b);
    case Operator::multiply:
      return static_cast<T>(a * b);
    case Operator::least:
      return std::min(a, b);
    case Operator::greatest:
      return std::max(a, b);
    default:
      break;
  }
  if constexpr (std::integral<T>) {
    if (op == Operator::bit_xor) return a ^ b;
    if (op == Operator::bit_and) return a & b;
    if (op == Operator::bit_or) return a | b;
  }
  FARO_CHECK(false && "a bit operation of floats");
  return a;
}

template <typename T>
T divided(const Accumulation& accumulation, T total) {
  return accumulation.divisor == 1 ? total : static_cast<T>(total / static_cast<T>(accumulation.divisor));
}

}  // namespace faro::swizzle

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
