// What the operators of accumulators do to numbers. Shared by the oracle (ValueTable::number) and by the
// executor on numbers, so that there is one meaning of each.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

#include "faro/error.hpp"
#include "faro/swizzle/value.hpp"

namespace faro::swizzle {

inline bool is_bitwise(Operator op) {
  return op == Operator::bit_xor || op == Operator::bit_and || op == Operator::bit_or;
}

/// Errors: ErrorCode::value for a bit operation of floats.
template <typename T>
void require_operators_of(const Accumulation& accumulation) {
  if constexpr (std::floating_point<T>) {
    if (!is_bitwise(accumulation.outer) && !is_bitwise(accumulation.inner)) return;
    throw Error({.code = ErrorCode::value,
                 .operation = "run on float",
                 .got = std::string("the bit operation `") +
                        name(is_bitwise(accumulation.outer) ? accumulation.outer : accumulation.inner) + "`",
                 .wanted = "operations of numbers: +, *, min, max",
                 .remedy = "run on std::uint32_t or std::uint64_t"});
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
