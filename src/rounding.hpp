// Quotients and multiples, rounded up.
#pragma once

#include <cstdint>

namespace faro::detail {

/// Requires, both: the sum of the arguments fits into 64 bits.
constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t multiple) {
  return ceil_div(a, multiple) * multiple;
}

}  // namespace faro::detail
