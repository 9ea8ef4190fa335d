// Maps that the GPU's tests sweep over, beyond those of plan_support.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan_support.hpp"

namespace faro::testing {

/// x_target ^= x_control.
inline Affine cnot(int n, int control, int target) {
  f2::Matrix a = f2::Matrix::identity(n);
  a.set_column(control, f2::unit(control) | f2::unit(target));
  return {a, 0};
}

/// One of every kind of map on n bits, also of those that move whole segments.
inline std::vector<Affine> every_kind_of_map(int n, std::uint64_t seed) {
  std::vector<Affine> list = maps_of(n, seed);
  if (n >= 2) {
    list.push_back(cnot(n, 0, n - 1));
    list.push_back(cnot(n, n - 1, 0));
    list.push_back(cnot(n, n - 2, n - 1));
  }
  for (const int kept : {4, 9, 14}) {
    if (n <= kept) break;
    list.push_back(direct_sum(Affine(kept), maps::random_bmmc(n - kept, seed)));
  }
  return list;
}

/// A random map whose tile with segments of 2^s elements has 2^r rows: r low bits change place with high
/// ones, between random maps of the low s bits and of the others. Requires: r <= s, s + r <= n.
inline Affine map_of_rank(int n, int s, int r, std::uint64_t seed) {
  f2::Matrix swap = f2::Matrix::identity(n);
  for (int i = 0; i < r; ++i) {
    swap.set_column(i, f2::unit(s + i));
    swap.set_column(s + i, f2::unit(i));
  }
  const auto blocks = [&](std::uint64_t k) {
    return direct_sum(maps::random_bmmc(s, seed + k), maps::random_bmmc(n - s, seed + k + 1));
  };
  return compose(blocks(0), compose(Affine(swap, 0), blocks(2)));
}

}  // namespace faro::testing
