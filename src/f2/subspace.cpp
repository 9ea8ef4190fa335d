#include <algorithm>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"

namespace faro::f2 {

Subspace Subspace::span(int ambient_dimension, std::span<const Word> vectors) {
  Subspace u(ambient_dimension);
  for (const Word v : vectors) u.insert(v);
  return u;
}

Subspace Subspace::low(int ambient_dimension, int s) {
  FARO_CHECK(s >= 0 && s <= ambient_dimension);
  Subspace u(ambient_dimension);
  for (int i = 0; i < s; ++i) u.insert(unit(i));
  return u;
}

Word Subspace::reduce(Word x) const {
  for (const Word b : basis_) {
    if (bit(x, leading_bit(b))) x ^= b;
  }
  return x;
}

bool Subspace::contains(const Subspace& other) const {
  return std::all_of(other.basis_.begin(), other.basis_.end(), [&](Word b) { return contains(b); });
}

bool Subspace::insert(Word vector) {
  FARO_CHECK((vector & ~low_mask(ambient_dimension_)) == 0);
  const Word rest = reduce(vector);
  if (rest == 0) return false;
  const int lead = leading_bit(rest);
  for (Word& b : basis_) {
    if (bit(b, lead)) b ^= rest;
  }
  basis_.insert(std::upper_bound(basis_.begin(), basis_.end(), rest), rest);
  pivots_ |= unit(lead);
  return true;
}

Word Subspace::coordinates(Word x) const {
  FARO_CHECK(contains(x));
  Word result = 0;
  for (std::size_t k = 0; k < basis_.size(); ++k) {
    if (bit(x, leading_bit(basis_[k]))) result |= unit(static_cast<int>(k));
  }
  return result;
}

Subspace sum(const Subspace& u, const Subspace& v) {
  FARO_CHECK(u.ambient_dimension() == v.ambient_dimension());
  Subspace result = u;
  for (const Word b : v.basis()) result.insert(b);
  return result;
}

Subspace intersection(const Subspace& u, const Subspace& v) {
  FARO_CHECK(u.ambient_dimension() == v.ambient_dimension());
  // Reduce V's basis modulo U while keeping track of the member of V behind each rest: a rest of zero is in
  // both.
  std::vector<Word> rests;
  std::vector<Word> members;
  Subspace result(u.ambient_dimension());
  for (const Word b : v.basis()) {
    Word rest = u.reduce(b);
    Word member = b;
    for (std::size_t k = 0; k < rests.size(); ++k) {
      if (bit(rest, leading_bit(rests[k]))) {
        rest ^= rests[k];
        member ^= members[k];
      }
    }
    if (rest == 0) {
      result.insert(member);
    } else {
      rests.push_back(rest);
      members.push_back(member);
    }
  }
  return result;
}

Subspace image(const Matrix& a, const Subspace& u) {
  FARO_CHECK(a.columns() == u.ambient_dimension());
  Subspace result(a.rows());
  for (const Word b : u.basis()) result.insert(a * b);
  return result;
}

Subspace complement(const Subspace& u) {
  Subspace result(u.ambient_dimension());
  for (int i = 0; i < u.ambient_dimension(); ++i) {
    if (!bit(u.pivots(), i)) result.insert(unit(i));
  }
  return result;
}

std::vector<Word> complete(const Subspace& u, const Subspace& v) {
  Subspace grown = u;
  std::vector<Word> added;
  for (const Word b : v.basis()) {
    if (grown.insert(b)) added.push_back(b);
  }
  return added;
}

Subspace common_complement(const Subspace& u, const Subspace& v) {
  FARO_CHECK(u.dimension() == v.dimension());
  const Subspace meet = intersection(u, v);
  const std::vector<Word> from_u = complete(meet, u);
  const std::vector<Word> from_v = complete(meet, v);
  FARO_CHECK(from_u.size() == from_v.size());
  Subspace result(u.ambient_dimension());
  for (std::size_t i = 0; i < from_u.size(); ++i) result.insert(from_u[i] ^ from_v[i]);
  return result;
}

}  // namespace faro::f2
