// Cyclic shifts and reversals of any number of elements.
//
//     roll(5, 2)      in   a b c d e        flip(5)     in   a b c d e        flipped, then shifted:
//                     out  d e a b c                    out  e d c b a        pi(x) = (shift - x) mod count
//
// Of 2^n elements they are not affine over F2 (but for the plain reversal), hence a type of their own.
#pragma once

#include <cstdint>

namespace faro {

/// pi(x) = (shift + x) mod count, or (shift - x) mod count where reversed. Value type.
struct Cyclic {
  std::uint64_t count = 0;
  std::uint64_t shift = 0;  // below count, or 0
  bool reversed = false;

  /// Requires: x < count (unchecked).   Cost: two additions.
  constexpr std::uint64_t operator()(std::uint64_t x) const {
    if (reversed) return shift >= x ? shift - x : shift + (count - x);
    return x >= count - shift ? x - (count - shift) : x + shift;
  }

  constexpr Cyclic inverse() const {
    if (reversed) return *this;
    return {.count = count, .shift = shift == 0 ? 0 : count - shift, .reversed = false};
  }

  friend constexpr bool operator==(const Cyclic&, const Cyclic&) = default;
};

namespace maps {
/// The elements move `shift` places towards higher indices, and around (numpy.roll). Any shift, negative too.
/// Errors: ErrorCode::value for a count past 2^40.
Cyclic roll(std::uint64_t count, std::int64_t shift);
/// The array backwards (numpy.flip). Errors: as roll.
Cyclic flip(std::uint64_t count);
}  // namespace maps

}  // namespace faro
