// Maps and problems that the planning tests sweep over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"

namespace faro::testing {

/// One of every kind of map, on n bits.
inline std::vector<Affine> maps_of(int n, std::uint64_t seed) {
  std::vector<Affine> list{maps::identity(n),         maps::bit_reversal(n),
                           maps::reverse(n),          maps::gray(n),
                           maps::gray(n).inverse(),   maps::random_bp(n, seed),
                           maps::random_bpc(n, seed), maps::random_bmmc(n, seed)};
  if (n >= 1) {
    list.push_back(maps::shuffle(n));
    list.push_back(maps::xor_mask(n, f2::unit(n - 1)));
    list.push_back(maps::xor_mask(n, 1));
    list.push_back(maps::parm(n, f2::low_mask(n)));
    list.push_back(maps::transpose(f2::unit(n / 2), f2::unit(n - n / 2)));
    list.push_back(direct_sum(Affine(n / 2), maps::random_bmmc(n - n / 2, seed)));
  }
  if (n >= 2) list.push_back(maps::swap_bits(n, 0, n - 1));
  if (n % 2 == 0) list.push_back(maps::morton(2, n / 2));
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

/// Whether times mean anything: a Release build without sanitizers.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kTimed = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kTimed = false;
#else
inline constexpr bool kTimed = true;
#endif
#else
inline constexpr bool kTimed = true;
#endif

/// What to paste into the command line to see the same plan.
inline std::string describe(const Problem& problem) {
  return "faro explain '" + to_text(problem.permutation) + "' --element-bytes " +
         std::to_string(problem.element_bytes) + " --batch " + std::to_string(problem.batch);
}

}  // namespace faro::testing
