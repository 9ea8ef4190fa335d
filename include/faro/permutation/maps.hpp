// The named affine maps, each as one function. docs/guide/maps.md and `faro maps` show the same list with
// pictures.
//
// Everywhere n is the number of index bits (0..64), bit 0 is least significant, and out[pi(x)] = in[x].
#pragma once

#include <cstdint>
#include <span>

#include "faro/permutation/affine.hpp"

namespace faro::maps {

Affine identity(int n);
Affine bit_reversal(int n);                    // bit i goes to n - 1 - i
Affine reverse(int n);                         // x goes to 2^n - 1 - x
Affine xor_mask(int n, f2::Word mask);         // x goes to x ^ mask
Affine rotate_bits(int n, std::int64_t k);     // bit i goes to (i + k) mod n, any k
Affine shuffle(int n);                         // rotate_bits(n, 1): the perfect (faro) shuffle
Affine swap_bits(int n, int i, int j);         // bits i and j change places
Affine permute_bits(std::span<const int> to);  // bit i goes to to[i]
Affine gray(int n);                            // x goes to x ^ (x >> 1)

/// Row-major rows x columns becomes columns x rows: x goes to (x mod columns) * rows + x div columns.
/// Errors: ErrorCode::unsupported where a size is not a power of two.
Affine transpose(std::uint64_t rows, std::uint64_t columns);

/// A d-dimensional array of 2^b elements a side, row-major with axis 0 slowest, becomes Morton (Z) order: bit
/// k of axis a goes to bit k d + (d - 1 - a). n = d b.
Affine morton(int d, int b);

/// Collects the elements with even parity of (x & mask) in the low half and the others in the high half, each
/// in order: with l the lowest set bit of mask, y_i = x_i below l, x_{i+1} from l to n - 2, parity(x & mask)
/// on top. Source: Bouverot-Dupuis and Sheeran, combinator parm. Errors: ErrorCode::value for a mask of zero.
Affine parm(int n, f2::Word mask);

// Seeded maps, the same on every machine: SplitMix64 from `seed` (Steele, Lea and Flood, 2014) drives a
// Fisher-Yates shuffle of the bits (for i = n-1 down to 1, to[i] and to[next mod (i + 1)] change places),
// respectively columns from c0 on, each the low n bits of the next number that is independent of those
// before; then the complement is the low n bits of the next.
Affine random_bp(int n, std::uint64_t seed);
Affine random_bpc(int n, std::uint64_t seed);
Affine random_bmmc(int n, std::uint64_t seed);

}  // namespace faro::maps
