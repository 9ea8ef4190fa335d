#include "layout/functionals.hpp"

#include "faro/error.hpp"

namespace faro::layout::detail {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

Matrix homogeneous(const Affine& map) {
  const int n = map.bits();
  FARO_CHECK(n < f2::kMaxDimension);
  Matrix result = Matrix::zero(n + 1, n + 1);
  for (int j = 0; j < n; ++j) result.set_column(j, map.matrix().column(j));
  result.set_column(n, map.complement() | f2::unit(n));
  return result;
}

Affine affine_of(const Matrix& homogeneous) {
  const int n = homogeneous.rows() - 1;
  for (int j = 0; j <= n; ++j) FARO_CHECK(homogeneous.at(n, j) == (j == n));
  return Affine(homogeneous.block(0, 0, n, n), homogeneous.column(n) ^ f2::unit(n));
}

Subspace annihilator(const Subspace& u) {
  const Matrix rows = Matrix::from_columns(u.ambient_dimension(), u.basis()).transposed();
  return Subspace::span(u.ambient_dimension(), rows.kernel());
}

Subspace Functionals::vanishing_on_segments() const {
  Subspace result(bits + 1);
  for (int i = segment_bits; i <= bits; ++i) result.insert(f2::unit(i));
  return result;
}

Functionals functionals_of(const Affine& map, int segment_bits) {
  return {.bits = map.bits(),
          .segment_bits = segment_bits,
          .alpha = homogeneous(map).transposed(),
          .inverse = homogeneous(map.inverse()).transposed()};
}

ChainForm chain_form(const Functionals& f) {
  // levels[j]: the phi whose first j powers, phi to alpha^(j-1) phi, lie in S^. They shrink to the rest.
  const Subspace within = f.vanishing_on_segments();
  std::vector<Subspace> levels = {Subspace::low(f.bits + 1, f.bits + 1)};
  while (true) {
    Subspace next = f2::intersection(within, f2::image(f.inverse, levels.back()));
    if (next == levels.back()) break;
    levels.push_back(std::move(next));
  }
  ChainForm form{.chains = {}, .rest = levels.back()};
  // A chain of j members starts in levels[j - 1] and is new where its last member is, on the segments.
  Subspace ends(f.bits + 1);
  for (std::size_t j = levels.size() - 1; j > 0; --j) {
    for (const Word start : levels[j - 1].basis()) {
      Chain chain = {start};
      while (chain.size() < j) chain.push_back(f.alpha * chain.back());
      if (ends.insert(chain.back() & f2::low_mask(f.segment_bits))) form.chains.push_back(std::move(chain));
    }
  }
  FARO_CHECK(static_cast<int>(form.chains.size()) == f.segment_bits);
  return form;
}

}  // namespace faro::layout::detail
