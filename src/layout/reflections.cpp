#include "layout/reflections.hpp"

#include "faro/error.hpp"

namespace faro::layout::detail {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// Positions modulo m: J1 takes i to mirror - i, J2 takes i to mirror - 1 - i, so that first J2, then J1 on
// functionals is i -> i + 1.
void ReflectionTable::add_cycle(const std::vector<Word>& members, int mirror, Redirected where) {
  const auto m = static_cast<int>(members.size());
  const auto at = [&](int i) { return members[static_cast<std::size_t>(((i % m) + m) % m)]; };
  for (int i = 0; i < m; ++i) {
    basis_.push_back(at(i));
    by_j1_.push_back(at(mirror - i));
    by_j2_.push_back(at(mirror - 1 - i));
    by_cycles_.push_back(at(i + 1));
    by_second_.push_back(where == Redirected::in_first ? f_.alpha * at(i) : at(i + 1));
  }
}

void ReflectionTable::add_chain(const Chain& chain) { add_cycle(chain, -2, Redirected::in_second); }

// alpha^i of the block's vector goes to alpha^-i of `onto`, and alpha^-(i+1) of it.
void ReflectionTable::add_mirrored(const CyclicBlock& block, Word onto) {
  for (const Word member : block.powers) {
    basis_.push_back(member);
    by_j1_.push_back(onto);
    onto = f_.inverse * onto;
    by_j2_.push_back(onto);
    by_cycles_.push_back(f_.alpha * member);
    by_second_.push_back(f_.alpha * member);
  }
}

void ReflectionTable::add_palindrome(const CyclicBlock& block) { add_mirrored(block, block.powers.front()); }

void ReflectionTable::add_pair(const CyclicBlock& block, const CyclicBlock& other) {
  add_mirrored(block, other.powers.front());
  add_mirrored(other, block.powers.front());
}

// J1 fixes position 0, whose dual vector is what the cycle and the block differ by.
void ReflectionTable::add_leftover_to_first(const CyclicBlock& block) {
  redirected_in_first_.push_back(static_cast<int>(basis_.size()));
  add_cycle(block.powers, 0, Redirected::in_first);
}

// J2 fixes the last position.
void ReflectionTable::add_leftover_to_second(const CyclicBlock& block) {
  redirected_in_second_.push_back(static_cast<int>(basis_.size()) + block.dimension() - 1);
  add_cycle(block.powers, -1, Redirected::in_second);
}

ReflectionTable::Factors ReflectionTable::factors() const {
  const int size = f_.bits + 1;
  const auto coordinates = Matrix::from_columns(size, basis_).inverse();
  FARO_CHECK(coordinates.has_value());
  // The M with (basis member i) o M = images[i].
  const auto map_with = [&](const std::vector<Word>& images) {
    return (Matrix::from_columns(size, images) * *coordinates).transposed();
  };
  const Matrix j1 = map_with(by_j1_);
  const Matrix j2 = map_with(by_j2_);
  const Matrix cycles = map_with(by_cycles_);
  const Matrix for_second = map_with(by_second_);
  FARO_CHECK(j1 * j1 == Matrix::identity(size) && j2 * j2 == Matrix::identity(size));
  FARO_CHECK(j2 * j1 == cycles);

  // map = (map A''^-1 J2) o (J1 A'^-1 A''), and A'^-1 = J1 o J2.
  const Matrix map = f_.alpha.transposed();
  const Matrix first = j2 * for_second;
  const Matrix second = map * *for_second.inverse() * j2;
  FARO_CHECK(second * first == map);

  // Column i of the dual basis: 1 under basis member i, 0 under the others.
  const Matrix dual = coordinates->transposed();
  Subspace first_space = Subspace::low(f_.bits, f_.segment_bits);
  for (const int i : redirected_in_first_) first_space.insert(dual.column(i));
  Subspace second_space = Subspace::low(f_.bits, f_.segment_bits);
  for (int i = 0; i < f_.segment_bits; ++i) second_space.insert(j2.column(i));
  for (const int i : redirected_in_second_) second_space.insert(dual.column(i));
  return {.first = {.map = affine_of(first), .space = first_space},
          .second = {.map = affine_of(second), .space = second_space}};
}

}  // namespace faro::layout::detail
