// Products, residues and inverses modulo a count.
#pragma once

#include <cstdint>

namespace faro::detail {

__extension__ using WideProduct = unsigned __int128;

/// a b mod `modulus`, of any 64-bit numbers.
inline std::uint64_t product_mod(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<WideProduct>(a) * b % modulus);
}

/// The number below `count` that differs from `value` by a multiple of it.
std::uint64_t residue(std::int64_t value, std::uint64_t count);
/// a^-1 mod `count`. Requires: that a has no divisor in common with `count` (unchecked).
std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t count);

}  // namespace faro::detail
