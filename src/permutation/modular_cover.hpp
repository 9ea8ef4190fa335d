// What multiplications modulo a count share with those who carry them out: the covers of l_shape() by how
// long a run has to be, products and inverses.
#pragma once

#include <array>
#include <cstdint>

#include "faro/permutation/modular.hpp"

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

/// As l_shape(), whose runs gain nothing beyond 512 elements; here beyond `long_run`.
std::array<ModularRectangle, 2> l_shape_for_runs(const Modular& map, double long_run);

}  // namespace faro::detail
