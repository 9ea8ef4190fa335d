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
