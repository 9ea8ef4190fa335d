// Maps that the GPU's tests sweep over, beyond those of plan_support.hpp.
#pragma once

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

}  // namespace faro::testing
