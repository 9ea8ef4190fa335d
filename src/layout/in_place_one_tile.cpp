#include <utility>

#include "faro/error.hpp"
#include "layout/functionals.hpp"
#include "layout/in_place_space.hpp"

namespace faro::layout::detail {
namespace {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

// Phi: the functionals in `within` that the map fixes.
Subspace fixed_functionals(const Functionals& f, const Subspace& within) {
  const Matrix moved = f.alpha + Matrix::identity(f.bits + 1);
  const std::vector<Word> kernel = moved.kernel();
  return f2::intersection(within, Subspace::span(f.bits + 1, kernel));
}

// The invertible alpha1 with alpha1 from[i] = to[i], which sends what completes `from` to what completes
// `to`, unit functionals both, and to itself wherever that is possible.
Matrix extended(int size, std::vector<Word> from, std::vector<Word> to) {
  Subspace sources = Subspace::span(size, from);
  Subspace targets = Subspace::span(size, to);
  FARO_CHECK(sources.dimension() == static_cast<int>(from.size()) &&
             sources.dimension() == targets.dimension());
  for (int i = 0; i < size; ++i) {
    if (sources.contains(f2::unit(i)) || targets.contains(f2::unit(i))) continue;
    sources.insert(f2::unit(i));
    targets.insert(f2::unit(i));
    from.push_back(f2::unit(i));
    to.push_back(f2::unit(i));
  }
  for (int i = 0; i < size; ++i) {
    if (sources.insert(f2::unit(i))) from.push_back(f2::unit(i));
    if (targets.insert(f2::unit(i))) to.push_back(f2::unit(i));
  }
  const auto inverse = Matrix::from_columns(size, from).inverse();
  FARO_CHECK(inverse.has_value());
  return Matrix::from_columns(size, to) * *inverse;
}

}  // namespace

int unfixed_dimensions(const Affine& map, int segment_bits) {
  const Functionals f = functionals_of(map, segment_bits);
  const Subspace within = f.vanishing_on_segments();
  return within.dimension() - fixed_functionals(f, within).dimension();
}

Affine fixing_factor(const Affine& map, int segment_bits, int d) {
  const Functionals f = functionals_of(map, segment_bits);
  const int size = f.bits + 1;
  const Subspace within = f.vanishing_on_segments();
  const Subspace fixed = fixed_functionals(f, within);
  FARO_CHECK(d >= 1 && d <= within.dimension() - fixed.dimension());

  // P, d functionals to be fixed next, with `fixed`; and where the map takes them.
  std::vector<Word> taken = f2::complete(fixed, within);
  taken.resize(static_cast<std::size_t>(d));
  Subspace sources = fixed;
  Subspace targets = fixed;
  for (const Word psi : taken) {
    sources.insert(psi);
    targets.insert(f.alpha * psi);
  }
  // The targets within S^, extended there to the dimension of the sources. W0, a complement of both in S^, is
  // what the factor leaves as it is besides `fixed`.
  Subspace reached = f2::intersection(targets, within);
  for (const Word psi : within.basis()) {
    if (reached.dimension() < sources.dimension()) reached.insert(psi);
  }
  Subspace kept = f2::common_complement(sources, reached);
  for (const Word psi : f2::complete(f2::sum(f2::sum(sources, reached), kept), within)) kept.insert(psi);

  std::vector<Word> from;
  std::vector<Word> to;
  for (const Subspace* same : {&fixed, &std::as_const(kept)}) {
    from.insert(from.end(), same->basis().begin(), same->basis().end());
  }
  to = from;
  for (const Word psi : taken) {
    from.push_back(psi);
    to.push_back(f.alpha * psi);
  }
  return affine_of(extended(size, from, to).transposed());
}

std::vector<InPlaceFactor> factor_in_single_tiles(const Affine& map, int segment_bits, int row_bits) {
  std::vector<InPlaceFactor> factors;
  const InPlaceOptions single = {.segment_bits = segment_bits, .max_orbit_tiles = 1};
  Affine rest = map;
  int rho = unfixed_dimensions(map, segment_bits);
  FARO_CHECK(rho == 0 || row_bits >= 1);
  while (rho > row_bits) {
    const int factors_left = (rho + row_bits - 1) / row_bits;
    const int d = (rho + factors_left - 1) / factors_left;
    const Affine factor = fixing_factor(rest, segment_bits, d);
    factors.push_back(smallest_space(factor, single));
    rest = compose(rest, factor.inverse());
    rho -= d;
    FARO_CHECK(unfixed_dimensions(rest, segment_bits) == rho);
    FARO_CHECK(factors.back().space.dimension() <= segment_bits + d);
  }
  factors.push_back(smallest_space(rest, single));
  return factors;
}

}  // namespace faro::layout::detail
