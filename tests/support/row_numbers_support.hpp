// What the tests of sums of rows share, of the kernels' source and of a GPU's kernels.
#pragma once

#include <bit>
#include <cstdint>

#include "faro/rows.hpp"
#include "kernels/row_numbers.hpp"

namespace faro::testing {

/// The bits of `x` as a number of that type; of integers `bits`.
inline std::uint64_t bits_of(Number number, float x, std::uint64_t bits) {
  if (number == Number::f16) {
    kernels::Half half;
    kernels::round_to(x, half);
    return half.bits;
  }
  if (number == Number::bf16) {
    kernels::BrainHalf half;
    kernels::round_to(x, half);
    return half.bits;
  }
  if (number == Number::f32) return std::bit_cast<std::uint32_t>(x);
  if (number == Number::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(x) / 3);
  return bits;
}

/// Calls f(number, sums) for each type with each way that it is added.
template <typename F>
void for_every_sum(F f) {
  for (int n = 0; n < 12; ++n) {
    const auto number = static_cast<Number>(n);
    for (const Sums sums : {Sums::usual, Sums::fp32, Sums::fp64, Sums::compensated}) {
      const bool is_float = number >= Number::f16;
      if (sums != Sums::usual && (!is_float || (sums == Sums::fp32 && number == Number::f64))) continue;
      f(number, sums);
    }
  }
}

}  // namespace faro::testing
