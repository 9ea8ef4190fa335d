// Subspaces of F2^n, as values with one canonical basis.
//
// The basis is reduced echelon: basis vectors have distinct leading bits (the pivots), ascend by them, and no
// vector has a bit at another's pivot. Two subspaces are equal iff their bases are.
//
//     span{0b110, 0b011}   basis 0b011, 0b101   pivots {1, 2}   complement: e_0
#pragma once

#include <span>
#include <vector>

#include "faro/f2/matrix.hpp"

namespace faro::f2 {

class Subspace {
 public:
  /// The zero subspace of F2^n.
  explicit Subspace(int ambient_dimension = 0) : ambient_dimension_(ambient_dimension) {}

  static Subspace span(int ambient_dimension, std::span<const Word> vectors);

  /// span(e_0 .. e_{s-1}) in F2^n: one segment of 2^s elements.
  static Subspace low(int ambient_dimension, int s);

  int ambient_dimension() const { return ambient_dimension_; }
  int dimension() const { return static_cast<int>(basis_.size()); }
  std::span<const Word> basis() const { return basis_; }

  /// The leading bits of the basis, as a mask.
  Word pivots() const { return pivots_; }

  /// The one member of x + this that is zero on every pivot.
  Word reduce(Word x) const;
  bool contains(Word x) const { return reduce(x) == 0; }
  bool contains(const Subspace& other) const;

  /// Adds one vector. Returns whether the dimension grew.
  bool insert(Word vector);

  /// Coordinates of x in basis(), bit k for basis()[k]. Requires: contains(x) (checked).
  Word coordinates(Word x) const;

  friend bool operator==(const Subspace& a, const Subspace& b) = default;

 private:
  int ambient_dimension_ = 0;
  Word pivots_ = 0;
  std::vector<Word> basis_;
};

/// U + V. Requires: one ambient space (checked), as for all that follow.
Subspace sum(const Subspace& u, const Subspace& v);
Subspace intersection(const Subspace& u, const Subspace& v);

/// A U.
Subspace image(const Matrix& a, const Subspace& u);

/// The coordinate subspace spanned by the e_i at non-pivots i of u. Law: U + C = F2^n, U and C meet in 0.
Subspace complement(const Subspace& u);

/// Vectors of `v`'s basis that, with a basis of `u`, make a basis of u + v.
std::vector<Word> complete(const Subspace& u, const Subspace& v);

/// A subspace K of U + V with K + U = K + V = U + V and K meeting both in 0.
/// Requires: dim U = dim V (checked). Source: docs/theory/one-pass.md, theorem 2: e^i + f^i for completions
/// e, f of U n V.
Subspace common_complement(const Subspace& u, const Subspace& v);

}  // namespace faro::f2
