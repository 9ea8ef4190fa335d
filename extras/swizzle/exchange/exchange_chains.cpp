#include <algorithm>
#include <optional>

#include "exchange/exchange_steps.hpp"
#include "faro/error.hpp"

namespace faro::exchange {

StepRanks step_ranks(int dimension, const Rows& from, const Rows& to) {
  const f2::Subspace target = f2::Subspace::span(dimension, to);
  const f2::Subspace both = f2::sum(f2::Subspace::span(dimension, from), target);
  f2::Subspace delta(dimension);
  for (std::size_t i = 0; i < from.size(); ++i) delta.insert(from[i] ^ to[i]);
  return {.k = both.dimension() - target.dimension(), .rho = delta.dimension()};
}

int direct_shuffles(const StepRanks& ranks, int held_bits) {
  const int colours = std::max(held_bits - kBitsOfWord, ranks.k);
  const int own = ranks.rho == ranks.k ? 1 << (colours - ranks.k) : 0;
  return (1 << colours) - own;
}

namespace {

// One chain by its ranks: k of every step, and whether the first moves lanes besides (rho > k).
struct Composition {
  std::vector<int> k;
  bool is_first_full = false;
};

int shuffles_of(const Composition& composition, int held_bits) {
  int all = 0;
  for (std::size_t i = 0; i < composition.k.size(); ++i) {
    const int k = composition.k[i];
    all += direct_shuffles({k, composition.is_first_full && i == 0 ? k + 1 : k}, held_bits);
  }
  return all;
}

// All ways to have the sum k: a full first step may have none of it, the others have at least one.
std::vector<Composition> compositions(int sum, bool is_first_full, int most) {
  std::vector<Composition> all;
  const auto grow = [&](auto&& self, Composition now, int left) -> void {
    if (left == 0 && (!now.k.empty() || !is_first_full)) {
      all.push_back(std::move(now));
      return;
    }
    for (int k = now.k.empty() && is_first_full ? 0 : 1; k <= std::min(left, most); ++k) {
      Composition next = now;
      next.k.push_back(k);
      self(self, std::move(next), left - k);
    }
  };
  grow(grow, {.k = {}, .is_first_full = is_first_full}, sum);
  return all;
}

}  // namespace

int fewest_shuffles(const StepRanks& whole, int held_bits, int lane_bits) {
  const int most = std::min(held_bits, lane_bits);
  const bool is_full = whole.rho > whole.k;
  std::optional<int> fewest;
  const auto consider = [&](const std::vector<Composition>& all) {
    for (const Composition& c : all) {
      if (is_full && !c.is_first_full && c.k.size() < 2) continue;
      const int shuffles = shuffles_of(c, held_bits);
      fewest = std::min(fewest.value_or(shuffles), shuffles);
    }
  };
  // The rank of a sum is at most the sum of the ranks: the k of all steps reach K. Where no step is full,
  // each has rho = k and the sum reaches rho, too; one step alone has the ranks of the whole, so it is full
  // where that is.
  constexpr int kTwoSteps = 2;
  if (!is_full) consider(compositions(whole.k, false, most));
  if (is_full) consider(compositions(whole.k, true, most));
  if (is_full && most > 0) consider(compositions(std::max(whole.rho, kTwoSteps), false, most));
  FARO_CHECK(fewest.has_value());
  return *fewest;
}

namespace {

// delta = sum of vector[i] (of lanes) times functional[i]: what is left of a way from lanes to lanes.
struct Terms {
  std::vector<f2::Word> vectors;
  Rows functionals;
};

Rows with_terms(Rows rows, const Terms& terms, std::size_t first, std::size_t last) {
  for (std::size_t t = first; t < last; ++t)
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (f2::bit(terms.vectors[t], static_cast<int>(j))) rows[j] ^= terms.functionals[t];
  return rows;
}

// Coordinates of every row in `functionals`, which are independent.
Terms terms_in(const Rows& rows, const Rows& functionals, int dimension) {
  const f2::Matrix basis = f2::Matrix::from_columns(dimension, functionals);
  Terms terms{.vectors = std::vector<f2::Word>(functionals.size()), .functionals = functionals};
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const auto coordinates = basis.solve(rows[j]);
    FARO_CHECK(coordinates.has_value());
    for (std::size_t t = 0; t < functionals.size(); ++t)
      if (f2::bit(*coordinates, static_cast<int>(t))) terms.vectors[t] |= f2::unit(static_cast<int>(j));
  }
  return terms;
}

// A basis in another order, with sums of one and another.
void mix(Rows& basis, std::mt19937_64& random) {
  std::shuffle(basis.begin(), basis.end(), random);
  for (std::size_t i = 1; i < basis.size(); ++i)
    if (random() % 4 == 0) basis[i] ^= basis[random() % i];
}

// rho = k: any order of the terms of delta.
Terms keeping_terms(int dimension, const Rows& from, const Rows& to, std::mt19937_64& random) {
  Rows delta = from;
  for (std::size_t j = 0; j < delta.size(); ++j) delta[j] ^= to[j];
  const f2::Subspace space = f2::Subspace::span(dimension, delta);
  Rows basis(space.basis().begin(), space.basis().end());
  mix(basis, random);
  return terms_in(delta, basis, dimension);
}

// rho > k: rows of the target are exchanged for rows of the source one by one, from the end.
Terms full_terms(int dimension, const Rows& from, const Rows& to, std::mt19937_64& random) {
  const f2::Subspace a = f2::Subspace::span(dimension, from);
  const f2::Subspace b = f2::Subspace::span(dimension, to);
  const f2::Subspace meet = f2::intersection(a, b);
  Rows of_a = f2::complete(meet, a);
  Rows of_b = f2::complete(meet, b);
  mix(of_a, random);
  mix(of_b, random);
  Rows basis = of_b;
  basis.insert(basis.end(), meet.basis().begin(), meet.basis().end());
  Terms terms = terms_in(to, basis, dimension);
  terms.vectors.resize(of_b.size());
  terms.functionals.resize(of_b.size());
  for (std::size_t i = 0; i < of_b.size(); ++i) terms.functionals[i] = of_a[i] ^ of_b[i];
  return terms;
}

std::vector<Rows> chain_of(const Composition& composition, const Terms& terms, const Rows& from,
                           const Rows& to) {
  std::vector<Rows> chain;
  std::size_t done = 0;
  for (const int k : composition.k) {
    done += static_cast<std::size_t>(k);
    // The terms that are left lead from here to the target.
    chain.push_back(with_terms(to, terms, done, terms.vectors.size()));
  }
  FARO_CHECK(chain.empty() ? from == to : chain.back() == to);
  return chain;
}

}  // namespace

std::vector<std::vector<Rows>> cheapest_chains(int dimension, const Rows& from, const Rows& to, int held_bits,
                                               std::mt19937_64& random) {
  const auto lanes = static_cast<int>(to.size());
  FARO_CHECK(f2::Subspace::span(dimension, from).dimension() == lanes);
  FARO_CHECK(f2::Subspace::span(dimension, to).dimension() == lanes);
  const StepRanks whole = step_ranks(dimension, from, to);
  const bool is_full = whole.rho > whole.k;
  const int fewest = fewest_shuffles(whole, held_bits, lanes);
  const Terms terms =
      is_full ? full_terms(dimension, from, to, random) : keeping_terms(dimension, from, to, random);
  std::vector<std::vector<Rows>> chains;
  for (const Composition& composition : compositions(whole.k, is_full, std::min(held_bits, lanes)))
    if (shuffles_of(composition, held_bits) == fewest)
      chains.push_back(chain_of(composition, terms, from, to));
  return chains;
}

}  // namespace faro::exchange
