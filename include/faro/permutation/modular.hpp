// Maps with arithmetic: multiplication and addition modulo any number of elements.
//
//     multiply(8, 3)        x to 3 x mod 8          in   a b c d e f g h
//                                                   out  a d g b e h c f
//     affine_mod(8, 3, 2)   x to 3 x + 2 mod 8      out  c f a d g b e h
//
// The factor is a unit: its greatest common divisor with the count is 1. Beside the plain strides of number
// theory these are the Galois automorphisms of polynomial rings and the index maps of Rader's transform.
//
// With c the inverse of the factor a, write x = i + j c mod N. Then a x = a i + j: a step of i is a step in
// the input, a step of j one in the output. The pairs (i, j) that meet every x once can be taken from an L, a
// rectangle without one corner, which is two rectangles: matrices whose rows are runs of the input and whose
// columns are runs of the output. So every such map is two transpositions, in one sweep and without an index
// array:
//
//     N = 8, a = 3, c = 3     j 2   6  7            rows  0 1 2,  3 4 5,  6 7  of the input
//                             j 1   3  4  5         columns to  0 1 2,  3 4 5,  6 7  of the output
//                             j 0   0  1  2
//                             i     0  1  2
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "faro/permutation/indexed.hpp"
#include "faro/permutation/take.hpp"

namespace faro {

/// pi(x) = (factor x + shift) mod count. Value type.
struct Modular {
  std::uint64_t count = 1;
  std::uint64_t factor = 1;  // below count, or 0 where that is 1; a unit
  std::uint64_t shift = 0;   // below count

  /// Requires: x < count (unchecked).   Cost: a division.
  std::uint64_t operator()(std::uint64_t x) const;

  Modular inverse() const;
  /// The k-fold composition; k < 0 composes inverses.   Cost: O(log |k|) multiplications.
  Modular power(std::int64_t k) const;

  friend bool operator==(const Modular&, const Modular&) = default;
};

/// a o b. Errors: ErrorCode::value for different counts.
Modular compose(const Modular& a, const Modular& b);

/// The same permutation, entry by entry, with `affine_mod(…)` or `multiply(…)` for a label. Errors:
/// ErrorCode::value for too little memory.
Indexed as_index_array(const Modular& map);

namespace maps {
/// Any factor and shift, negative too. Errors: ErrorCode::value for a count of 0 or past 2^40, and for a
/// factor that is no unit, naming the common divisor.
Modular multiply(std::uint64_t count, std::int64_t factor);
Modular affine_mod(std::uint64_t count, std::int64_t factor, std::int64_t shift);

// The index maps of two Fourier transforms, as index arrays.

/// x to (x mod rows) columns + x mod columns: an array of rows columns elements becomes a matrix whose axes
/// are transformed apart (Good and Thomas). Errors: ErrorCode::value where the two have a common divisor, for
/// 0, past 2^40 elements, and for too little memory.
Indexed good_thomas(std::uint64_t rows, std::uint64_t columns);

/// g^k mod prime to 1 + k, for 0 <= k < prime - 1, and 0 to itself; g is the smallest primitive root: what is
/// left is a cyclic convolution (Rader). Errors: ErrorCode::value for what is no prime below 2^40, and for
/// too little memory. Cost: a multiplication an element, and a division for each number up to the root of
/// the prime.
Indexed rader(std::uint64_t prime);
}  // namespace maps

/// i < columns and j < rows, from (i, j) = (first_i, first_j) on.
struct ModularRectangle {
  std::uint64_t first_i = 0;
  std::uint64_t first_j = 0;
  std::uint64_t columns = 0;  // along i: neighbours in the input
  std::uint64_t rows = 0;     // along j: neighbours in the output
};

/// The rectangles, of which the second may be empty, such that (i + j / factor) mod count meets every index
/// once; those whose runs are the longest.
/// Law:    columns rows + columns' rows' = count.   Cost: O(log count).
/// Source: the L-shapes of double-loop networks (Wong and Coppersmith, 1974), by Euclid's algorithm.
std::array<ModularRectangle, 2> l_shape(const Modular& map);

/// How a number is negated: floating-point ones by their sign, integers in two's complement, and unsigned
/// ones below a modulus as what is left of it.
struct Negation {
  Number number = Number::u64;
  std::uint64_t modulus = 0;  // 0: none
  /// One for each polynomial instead of the same for all, as residues of one number have them: polynomial b
  /// has moduli[b mod their number], 0: none. Read before the call returns.
  std::span<const std::uint64_t> moduli = {};
};

}  // namespace faro
