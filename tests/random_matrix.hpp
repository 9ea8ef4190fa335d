// Invertible matrices and affine maps at random, for tests that draw all numbers from one generator.
#pragma once

#include <random>

#include "faro/permutation/affine.hpp"

namespace faro::test {

inline f2::Matrix random_invertible(int n, std::mt19937_64& random) {
  for (;;) {
    f2::Matrix a = f2::Matrix::zero(n, n);
    for (int j = 0; j < n; ++j) a.set_column(j, random() & f2::low_mask(n));
    if (a.rank() == n) return a;
  }
}

inline Affine random_affine(int n, std::mt19937_64& random) {
  const f2::Matrix a = random_invertible(n, random);
  return {a, random() & f2::low_mask(n)};
}

}  // namespace faro::test
