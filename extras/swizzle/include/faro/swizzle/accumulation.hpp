// How the terms of a sum are joined (faro/swizzle/specification.hpp).
#pragma once

#include <cstdint>

namespace faro::swizzle {

/// Associative and commutative operations of elements.
enum class Operator : std::uint8_t { none, add, multiply, bit_xor, bit_and, bit_or, least, greatest };

/// "+", "*", "^", "&", "|", "min", "max"; "" for none.
const char* name(Operator op) noexcept;

/// What an accumulator does: outer over its terms, inner within a term; then divided by `divisor`.
struct Accumulation {
  Operator outer = Operator::add;
  Operator inner = Operator::none;  // none: every term is one value
  std::uint32_t divisor = 1;        // the finaliser; 1: none
  friend bool operator==(const Accumulation&, const Accumulation&) = default;
};

}  // namespace faro::swizzle
