#include "layout/cyclic_blocks.hpp"

#include "f2/polynomial.hpp"
#include "faro/error.hpp"

namespace faro::layout::detail {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

Matrix plus_identity(const Matrix& alpha) { return alpha + Matrix::identity(alpha.rows()); }

// The members of W whose images under `condition` are zero.
Subspace kernel_within(const Matrix& condition, const Subspace& w) {
  std::vector<Word> images;
  for (const Word v : w.basis()) images.push_back(condition * v);
  Subspace result(w.ambient_dimension());
  for (const Word k : Matrix::from_columns(condition.rows(), images).kernel()) {
    result.insert(f2::combine(w.basis().data(), k));
  }
  return result;
}

// theta, to be read as v -> parity(theta & v): 0 on `zeros`, 1 on `one`.
Word functional(int ambient, std::vector<Word> zeros, Word one) {
  zeros.push_back(one);
  const auto last = static_cast<int>(zeros.size()) - 1;
  const auto theta = Matrix::from_columns(ambient, zeros).transposed().solve(f2::unit(last));
  FARO_CHECK(theta.has_value());
  return *theta;
}

// {w in W : theta(alpha^i w) = 0 for i < count}.
Subspace complement_within(const Matrix& alpha, const Subspace& w, Word theta, int count) {
  const Matrix pulled = alpha.transposed();
  std::vector<Word> conditions;
  for (int i = 0; i < count; ++i) {
    conditions.push_back(theta);
    theta = pulled * theta;
  }
  Subspace rest = kernel_within(Matrix::from_columns(alpha.rows(), conditions).transposed(), w);
  FARO_CHECK(rest.dimension() + count == w.dimension());
  return rest;
}

// One block of a unipotent W: its last power of alpha + 1 gives `socle`. Takes it out of W.
CyclicBlock take_jordan_block(const Matrix& alpha, Subspace& w, Word socle) {
  const Matrix nilpotent = plus_identity(alpha);
  // psi with (alpha + 1)^(k-1) psi = socle, for the largest such k.
  std::vector<Word> images(w.basis().begin(), w.basis().end());
  Subspace image = w;
  Word psi = socle;
  while (true) {
    const auto found = Matrix::from_columns(w.ambient_dimension(), images).solve(socle);
    if (!found) break;
    psi = f2::combine(w.basis().data(), *found);
    for (Word& v : images) v = nilpotent * v;
    image = f2::image(nilpotent, image);
  }
  CyclicBlock block = cyclic_block(alpha, psi);
  const Word theta = functional(w.ambient_dimension(), {image.basis().begin(), image.basis().end()}, socle);
  w = complement_within(alpha, w, theta, block.dimension());
  return block;
}

// A member of (alpha + 1)^(k-1) W for the largest k where that is not zero.
Word deepest(const Matrix& alpha, const Subspace& w) {
  Subspace image = w;
  for (Subspace next = w; next.dimension() > 0; next = f2::image(plus_identity(alpha), next)) image = next;
  return image.basis().front();
}

}  // namespace

CyclicBlock cyclic_block(const Matrix& alpha, Word psi) {
  CyclicBlock block;
  Subspace seen(alpha.rows());
  while (seen.insert(psi)) {
    block.powers.push_back(psi);
    psi = alpha * psi;
  }
  const auto combination = Matrix::from_columns(alpha.rows(), block.powers).solve(psi);
  FARO_CHECK(combination.has_value());
  block.annihilator = f2::unit(block.dimension()) | *combination;
  return block;
}

Word apply_polynomial(const Matrix& alpha, Word p, Word v) {
  Word result = 0;
  for (; p != 0; p >>= 1) {
    if ((p & 1) != 0) result ^= v;
    v = alpha * v;
  }
  return result;
}

Word maximal_vector(const Matrix& alpha, const Subspace& w) {
  Word best = 0;
  Word p = 1;
  for (const Word v : w.basis()) {
    if (apply_polynomial(alpha, p, v) == 0) continue;
    // Coprime annihilators multiply when vectors are added.
    const Word q = cyclic_block(alpha, v).annihilator;
    const auto [of_p, of_q] = f2::coprime_parts(p, q);
    best = apply_polynomial(alpha, f2::divide(p, of_p).quotient, best) ^
           apply_polynomial(alpha, f2::divide(q, of_q).quotient, v);
    p = f2::multiply(of_p, of_q);
  }
  return best;
}

std::vector<CyclicBlock> frobenius_blocks(const Matrix& alpha, const Subspace& w) {
  std::vector<CyclicBlock> blocks;
  Subspace left = w;
  while (left.dimension() > 0) {
    CyclicBlock block = cyclic_block(alpha, maximal_vector(alpha, left));
    const std::vector<Word> before(block.powers.begin(), block.powers.end() - 1);
    const Word theta = functional(w.ambient_dimension(), before, block.powers.back());
    left = complement_within(alpha, left, theta, block.dimension());
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<CyclicBlock> unipotent_blocks(const Matrix& alpha, const Subspace& w, Word socle) {
  FARO_CHECK(socle != 0 && w.contains(socle) && alpha * socle == socle);
  std::vector<CyclicBlock> blocks;
  Subspace left = w;
  blocks.push_back(take_jordan_block(alpha, left, socle));
  while (left.dimension() > 0) blocks.push_back(take_jordan_block(alpha, left, deepest(alpha, left)));
  return blocks;
}

FittingParts fitting_parts(const Matrix& alpha, const Subspace& w) {
  Matrix power = plus_identity(alpha);
  for (int exponent = 1; exponent < w.dimension(); exponent *= 2) power = power * power;
  return {.unipotent = kernel_within(power, w), .rest = f2::image(power, w)};
}

}  // namespace faro::layout::detail
