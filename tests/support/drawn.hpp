// What tests draw: bytes, invertible matrices, affine maps and permutations of bits, each from a generator or
// a seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

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

/// Of bits, with a complement.
inline Affine random_bpc(int n, std::mt19937_64& random) {
  std::vector<int> to(static_cast<std::size_t>(n));
  std::iota(to.begin(), to.end(), 0);
  std::shuffle(to.begin(), to.end(), random);
  f2::Matrix a = f2::Matrix::zero(n, n);
  for (int i = 0; i < n; ++i) a.set_column(i, f2::unit(to[static_cast<std::size_t>(i)]));
  return {a, random() & f2::low_mask(n)};
}

inline std::vector<std::byte> random_bytes(std::uint64_t count, std::mt19937_64& random) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline std::vector<std::byte> random_bytes(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return random_bytes(count, random);
}

}  // namespace faro::test
