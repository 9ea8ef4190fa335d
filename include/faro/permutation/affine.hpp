// Affine permutations of 2^n indices: pi(x) = A x ^ c, with A an invertible n x n matrix over F2 and c an
// n-bit complement. Destination-designated: out[pi(x)] = in[x].
//
// Bit reversal, power-of-two transposes, perfect shuffles, Gray code, Morton order, array reversal and
// circuits of X, CNOT and SWAP gates are all of this kind, and the kind is closed under composition,
// inversion and direct sums:
//
//     (A, c) after (B, d) = (A B, A d ^ c)        (A, c)^-1 = (A^-1, A^-1 c)
//
// Reversing 4 bits: columns 0x8 0x4 0x2 0x1, complement 0, so pi(0b0001) = 0b1000.
#pragma once

#include <cstdint>
#include <span>

#include "faro/f2/matrix.hpp"

namespace faro {

/// The literature's classes, each inside the next. `tiled` depends on the segment (see Affine::classify).
enum class AffineClass {
  identity,  // A = I, c = 0
  bp,        // A permutes bits, c = 0
  bpc,       // A permutes bits, any c
  tiled,     // a tile along coordinate directions is enough (Bouverot-Dupuis and Sheeran's tiled BMMC)
  bmmc,      // any invertible A, any c
};

/// "identity", "BP", "BPC", "tiled BMMC" or "BMMC".
const char* name(AffineClass c) noexcept;

class Affine {
 public:
  /// The identity on n-bit indices, 0 <= n <= 64.
  explicit Affine(int n = 0) : matrix_(f2::Matrix::identity(n)), inverse_(matrix_) {}

  /// pi(x) = matrix x ^ complement.
  /// Errors: ErrorCode::value where the matrix is not square, is singular (the dependent columns are named),
  /// or the complement has bits at or above n. Cost: O(n^2) word operations; the inverse is kept.
  Affine(const f2::Matrix& matrix, f2::Word complement);

  int bits() const { return matrix_.rows(); }
  const f2::Matrix& matrix() const { return matrix_; }
  const f2::Matrix& inverse_matrix() const { return inverse_; }
  f2::Word complement() const { return complement_; }

  /// pi(x). Bits of x at and above n are ignored.
  f2::Word operator()(f2::Word x) const { return matrix_ * x ^ complement_; }

  Affine inverse() const;

  /// The k-fold composition; k < 0 composes inverses. Cost: O(log |k|) products.
  Affine power(std::int64_t k) const;

  bool is_identity() const;

  /// Whether pi(pi(x)) = x: A^2 = I and A c = c.
  bool is_involution() const;

  /// The narrowest class. `segment_bits` is t of "tiled": columns whose lower n - t rows are zero must be
  /// exactly t, with an invertible top block. Requires: 0 <= segment_bits (unchecked above n: clamped).
  AffineClass classify(int segment_bits = 5) const;

  /// Cormen's rank gamma for segments of 2^s elements: the rank of the lower left (n-s) x s block of A. The
  /// tile of a one-pass plan has 2^(s + rank gamma) elements. Requires: s >= 0; s > n counts as n.
  int rank_gamma(int s) const;

  friend bool operator==(const Affine& f, const Affine& g) {
    return f.matrix_ == g.matrix_ && f.complement_ == g.complement_;
  }

 private:
  Affine(const f2::Matrix& matrix, const f2::Matrix& inverse, f2::Word complement)
      : matrix_(matrix), inverse_(inverse), complement_(complement) {}
  friend Affine compose(const Affine& f, const Affine& g);
  friend Affine direct_sum(const Affine& low, const Affine& high);

  f2::Matrix matrix_;
  f2::Matrix inverse_;
  f2::Word complement_ = 0;
};

/// f after g: x -> f(g(x)). Errors: ErrorCode::value where the sizes differ.
Affine compose(const Affine& f, const Affine& g);

/// `low` on the low bits, `high` on the bits above: batching is direct_sum(f, identity), elements of 2^k
/// units are direct_sum(identity(k), f). Errors: ErrorCode::value past 64 bits.
Affine direct_sum(const Affine& low, const Affine& high);

}  // namespace faro

namespace faro::maps {

// The named affine maps, each as one function. docs/guide/maps.md and `faro maps` show the same list with
// pictures.
//
// Everywhere n is the number of index bits (0..64), bit 0 is least significant, and out[pi(x)] = in[x].

Affine identity(int n);
Affine bit_reversal(int n);                    // bit i goes to n - 1 - i
Affine reverse(int n);                         // x goes to 2^n - 1 - x
Affine xor_mask(int n, f2::Word mask);         // x goes to x ^ mask
Affine rotate_bits(int n, std::int64_t k);     // bit i goes to (i + k) mod n, any k
Affine shuffle(int n);                         // rotate_bits(n, 1): the perfect (faro) shuffle
Affine swap_bits(int n, int i, int j);         // bits i and j change places
Affine permute_bits(std::span<const int> to);  // bit i goes to to[i]
Affine gray(int n);                            // x goes to x ^ (x >> 1)

/// The rows of a Walsh-Hadamard transform by their number of sign changes, the sequency: from natural
/// (Hadamard) order row x goes to its sequency, which is the bits of x backwards, read as a Gray code.
Affine sequency(int n);
/// The same from dyadic (Paley) order: x read as a Gray code.
Affine sequency_of_dyadic(int n);

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
