// Division by a number that is known before the kernel starts, as a product and a shift.
//
//     x / d = (2 x m) >> (64 + s)     s = ceil(log2 d),  m = ceil(2^(63 + s) / d)
//
//     d = 3: s = 2, m = ceil(2^65 / 3), so 2 m = (2^66 + 2) / 3, and x / 3 = x (2^66 + 2) / 3 >> 66:
//     the error, x 2 / 3 / 2^66, is less than the third that would carry it over the next whole number
//
// m exceeds 2^(63 + s) / d by less than 1, which x < 2^63 multiplies to less than 2^63 <= 2^(63 + s) / d; so
// the quotient is exact for every x below 2^63, and m fits 64 bits because d > 2^(s - 1). A GPU has no
// divider: its own 64-bit division is some 70 instructions, this is 8. The same with 32 bits for numbers
// below 2^31: 2 instructions. Source: Granlund and Montgomery, Division by invariant integers, 1994, theorem
// 4.2, with N one less than the word.
#pragma once

#include <bit>
#include <cstdint>

#include "faro/require_cxx20.hpp"

namespace faro::device {

namespace detail {
/// The high half of the product.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  const std::uint64_t a0 = a & 0xffffffff;
  const std::uint64_t a1 = a >> 32;
  const std::uint64_t b0 = b & 0xffffffff;
  const std::uint64_t b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const std::uint64_t other = a0 * b1 + (middle & 0xffffffff);
  return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}
constexpr std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
}

/// ceil(2^(bits - 1 + shift) / divisor), by long division.
template <typename Word>
constexpr Word reciprocal(Word divisor, int shift) {
  constexpr int bits = static_cast<int>(sizeof(Word)) * 8;
  Word quotient = 0;
  Word remainder = 0;
  for (int bit = bits - 1 + shift; bit >= 0; --bit) {
    const Word incoming = bit == bits - 1 + shift ? 1 : 0;
    const bool carry = remainder >> (bits - 1) != 0;
    remainder = static_cast<Word>(remainder << 1 | incoming);
    quotient = static_cast<Word>(quotient << 1);
    if (carry || remainder >= divisor) {
      remainder = static_cast<Word>(remainder - divisor);
      quotient |= 1;
    }
  }
  return static_cast<Word>(quotient + (remainder != 0 ? 1 : 0));
}
}  // namespace detail

/// Numbers of Word's bits less one.
template <typename Word>
class Division {
 public:
  /// By 1.
  constexpr Division() : Division(1) {}
  /// Requires: 1 <= divisor < 2^(bits - 1) (unchecked).
  explicit constexpr Division(Word divisor)
      : divisor_(divisor),
        shift_(static_cast<std::uint32_t>(std::bit_width(static_cast<Word>(divisor - 1)))),  // on the host
        factor_(detail::reciprocal(divisor, static_cast<int>(shift_))) {}

  constexpr Word divisor() const { return divisor_; }

  /// x / divisor. Requires: x < 2^(bits - 1) (unchecked).
  constexpr Word quotient(Word x) const {
    return static_cast<Word>(detail::high_product(static_cast<Word>(x << 1), factor_) >> shift_);
  }

  /// Leaves x % divisor in x and returns the quotient.
  constexpr Word divide(Word& x) const {
    const Word result = quotient(x);
    x = static_cast<Word>(x - result * divisor_);
    return result;
  }

 private:
  Word divisor_;
  std::uint32_t shift_;
  Word factor_;
};

using Division32 = Division<std::uint32_t>;
using Division64 = Division<std::uint64_t>;

}  // namespace faro::device
