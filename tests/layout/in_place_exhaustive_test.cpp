// Every affine map of up to 4 bits, with every complement, in place: carried out literally, in as many passes
// as the theorems say, which are asked here by their definitions.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "f2/polynomial.hpp"
#include "faro/error.hpp"
#include "in_place_support.hpp"

namespace faro::layout {
namespace in_place_exhaustive_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

std::vector<Matrix> all_invertible(int n) {
  std::vector<Matrix> list;
  for (Word code = 0; code < f2::unit(n * n); ++code) {
    Matrix a = Matrix::zero(n, n);
    for (int j = 0; j < n; ++j) a.set_column(j, (code >> (j * n)) & f2::low_mask(n));
    if (a.rank() == n) list.push_back(a);
  }
  return list;
}

// The hull of x ^ map(x) over all x, and of the segments: s + rho dimensions.
int dimension_moved(const Affine& map, int s) {
  Subspace moved = Subspace::low(map.bits(), s);
  for (Word x = 0; x < f2::unit(map.bits()); ++x) moved.insert(x ^ map(x));
  return moved.dimension();
}

// Whether the polynomial p of the map, on homogeneous indices, brings everything into `space`.
bool kills(const Affine& map, Word p, const Subspace& space) {
  const Word h = f2::unit(map.bits());
  const auto step = [&](Word x) {
    return map.matrix() * (x & ~h) ^ ((x & h) != 0 ? map.complement() | h : 0);
  };
  for (int j = 0; j <= map.bits(); ++j) {
    Word power = f2::unit(j);
    Word sum = 0;
    for (Word rest = p; rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) sum ^= power;
      power = step(power);
    }
    if ((sum & h) != 0 || !space.contains(sum)) return false;
  }
  return true;
}

// Leftover blocks of the part that never meets the segments. Up to 4 bits there is at most one: the part of
// the least polynomial that kills everything modulo the kept space, without its factors x + 1.
int leftover_blocks(const Affine& map, int s) {
  Subspace kept = Subspace::low(map.bits(), s);
  for (int round = 0; round < map.bits(); ++round) kept = f2::sum(kept, f2::image(map.matrix(), kept));
  Word p = 0b11;
  while (!kills(map, p, kept)) p += 2;
  while (f2::divide(p, 0b11).remainder == 0) p = f2::divide(p, 0b11).quotient;
  return p == f2::reciprocal(p) ? 0 : 1;
}

constexpr int kImpossible = -1;

int expected_passes(const Affine& map, const InPlaceOptions& options) {
  const int s = options.segment_bits;
  const int m = options.capacity_bits;
  if (map.is_identity()) return 0;
  const bool single = options.max_orbit_tiles == 1;
  const int moved = dimension_moved(map, s);
  if (single ? moved <= m : largest_component(map, s) <= f2::unit(m)) return 1;
  if (m <= s) return kImpossible;
  const int in_single_tiles = (moved - s + m - s - 1) / (m - s);
  if (single) return in_single_tiles;
  const int r = map.rank_gamma(s);
  const int leftovers = leftover_blocks(map, s);
  const int second = r + leftovers - std::min(leftovers, (r + leftovers + 1) / 2);
  const int first = r + leftovers - second - r;
  return s + std::max(first, second) + 1 <= m ? 2 : in_single_tiles;
}

struct Tally {
  std::array<long, 8> by_passes{};
  long refused = 0;
  std::string failure;
};

void check(const Affine& map, const InPlaceOptions& options, Tally& tally) {
  const int expected = expected_passes(map, options);
  const auto fail = [&](const std::string& what) { tally.failure = describe(map, options) + ": " + what; };
  try {
    const std::vector<InPlaceFactor> factors = factor_in_place(map, options);
    const auto passes = static_cast<int>(factors.size());
    if (passes != expected) {
      return fail(std::to_string(passes) + " passes, not " + std::to_string(expected));
    }
    if (auto wrong = run_literally(map, factors, options)) return fail(*wrong);
    ++tally.by_passes[factors.size()];
  } catch (const Error& error) {
    if (expected != kImpossible || error.code() != ErrorCode::unsupported) return fail(error.what());
    ++tally.refused;
  }
}

TEST(InPlaceExhaustive, UpToThreeBitsWithEverySegmentAndCapacity) {
  Tally tally;
  for (int n = 0; n <= 3; ++n) {
    for (const Matrix& a : all_invertible(n)) {
      for (Word c = 0; c < f2::unit(n); ++c) {
        const Affine map(a, c);
        for (int s = 0; s <= n; ++s) {
          for (int m = std::max(0, s - 1); m <= n + 1; ++m) {
            check(map, {.segment_bits = s, .capacity_bits = m}, tally);
            check(map, {.segment_bits = s, .capacity_bits = m, .max_orbit_tiles = 1}, tally);
          }
        }
      }
    }
  }
  EXPECT_EQ(tally.failure, "");
  for (const int passes : {0, 1, 2, 3}) EXPECT_GT(tally.by_passes[static_cast<std::size_t>(passes)], 0);
  EXPECT_GT(tally.refused, 0);
}

// Capacities take turns: every matrix meets every segment with every capacity.
TEST(InPlaceExhaustive, FourBitsWithEveryComplement) {
  const std::vector<Matrix> matrices = all_invertible(4);
  ASSERT_EQ(matrices.size(), 20160U);
  std::array<Tally, 16> tallies;
#pragma omp parallel for schedule(static, 1)
  for (int c = 0; c < 16; ++c) {
    Tally& tally = tallies[static_cast<std::size_t>(c)];
    for (std::size_t i = 0; i < matrices.size() && tally.failure.empty(); ++i) {
      const Affine map(matrices[i], static_cast<Word>(c));
      for (int s = 0; s <= 3; ++s) {
        const int m = s + (static_cast<int>(i) + c) % (5 - s);
        check(map, {.segment_bits = s, .capacity_bits = m}, tally);
      }
    }
  }
  long refused = 0;
  std::array<long, 8> by_passes{};
  for (const Tally& tally : tallies) {
    EXPECT_EQ(tally.failure, "");
    refused += tally.refused;
    for (std::size_t k = 0; k < by_passes.size(); ++k) by_passes[k] += tally.by_passes[k];
  }
  for (const int passes : {0, 1, 2, 3, 4}) EXPECT_GT(by_passes[static_cast<std::size_t>(passes)], 0);
  EXPECT_GT(refused, 0);
}

}  // namespace in_place_exhaustive_test
}  // namespace faro::layout
