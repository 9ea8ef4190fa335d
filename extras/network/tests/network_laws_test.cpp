// The laws of parm and bmmc, each against the reference interpreter, for every mask up to n = 6.
//
// The operator at the leaves is a witness: it treats its two sides differently, and knows the pair's number
// and the size, so that whatever is exchanged shows in the result.
// Sanitized: never, the same few lines, tables or texts.
#include "faro/network/program.hpp"
#include "network/rewrite.hpp"
#include "network_program_support.hpp"

namespace faro::network {
namespace network_laws_test {

constexpr int kMostBits = 6;

std::string where(int n, f2::Word mask) {
  return "n = " + std::to_string(n) + ", mask = " + std::to_string(mask);
}

template <typename Visit>
void for_every_mask(Visit visit) {
  for (int n = 1; n <= kMostBits; ++n) {
    for (f2::Word mask = 1; mask <= f2::low_mask(n); ++mask) {
      visit(n, mask);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// Something that tells all places apart: an operator, a permutation, an operator.
Program telling(int n, std::uint64_t seed) {
  const Program moved = bmmc(maps::random_bmmc(n, seed));
  return n == 0 ? moved
                : pairs(witness(), n) * moved * pairs(witness(), n) * bmmc(maps::random_bmmc(n, seed + 1));
}

TEST(NetworkLaws, ParmIsHalvesBetweenPermutations) {
  for_every_mask([](int n, f2::Word mask) {
    const Affine q = maps::parm(n, mask);
    const Program f = telling(n - 1, mask);
    expect_same_effect(parm(mask, f), bmmc(q.inverse()) * two(f) * bmmc(q), where(n, mask));
    expect_same_effect(parm(mask, f), bmmc(q.inverse()) * parm(f2::unit(n - 1), f) * bmmc(q), where(n, mask));
  });
}

// Deleting the lowest mask bit of x is the index in the sub-array: from the definition, not from maps::parm.
TEST(NetworkLaws, SubIndexDeletesTheLowestMaskBit) {
  for_every_mask([](int n, f2::Word mask) {
    const Affine q = maps::parm(n, mask);
    const int low = f2::trailing_bit(mask);
    std::uint64_t next[2] = {0, 0};
    for (f2::Word x = 0; x <= f2::low_mask(n); ++x) {
      const f2::Word index = (x & f2::low_mask(low)) | (x >> (low + 1) << low);
      const bool side = f2::parity(x & mask);
      EXPECT_EQ(index, next[side]++) << where(n, mask);
      EXPECT_EQ(q(x), index | (side ? f2::unit(n - 1) : 0)) << where(n, mask);
    }
  });
}

// x_i = y_i (i < l);  x_{i+1} = y_i (i >= l);  x_l = y_{n-1} + sum of y_{j-1} over set mask bits j > l.
TEST(NetworkLaws, TheInverseOfTheParmMatrix) {
  for_every_mask([](int n, f2::Word mask) {
    const Affine inverse = maps::parm(n, mask).inverse();
    const int low = f2::trailing_bit(mask);
    for (f2::Word y = 0; y <= f2::low_mask(n); ++y) {
      f2::Word x = 0;
      bool lowest = f2::bit(y, n - 1);
      for (int i = 0; i < n - 1; ++i) {
        if (f2::bit(y, i)) x |= f2::unit(i < low ? i : i + 1);
      }
      for (int j = low + 1; j < n; ++j) lowest = lowest != (f2::bit(mask, j) && f2::bit(y, j - 1));
      if (lowest) x |= f2::unit(low);
      EXPECT_EQ(inverse(y), x) << where(n, mask);
    }
  });
}

TEST(NetworkLaws, ParmOfAPermutationIsAPermutation) {
  for_every_mask([](int n, f2::Word mask) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Program f = bmmc(maps::random_bmmc(n - 1, seed * 100 + mask));
      const std::optional<Program> lifted = rules::lift_bmmc(parm(mask, f));
      ASSERT_TRUE(lifted && lifted->kind() == ProgramKind::bmmc) << where(n, mask);
      expect_same_effect(parm(mask, f), *lifted, where(n, mask));
    }
  });
}

TEST(NetworkLaws, BmmcFusesRightOneFirst) {
  for (int n = 0; n <= kMostBits; ++n) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Affine a = maps::random_bmmc(n, seed);
      const Affine b = maps::random_bmmc(n, seed + 1000);
      expect_same_effect(bmmc(a) * bmmc(b), bmmc(compose(a, b)), where(n, seed));
      expect_same_effect(bmmc(a) * bmmc(a.inverse()), identity(n), where(n, seed));
      EXPECT_EQ(compose(a, b).matrix(), a.matrix() * b.matrix());
      EXPECT_EQ(compose(a, b).complement(), a.matrix() * b.complement() ^ a.complement());
    }
  }
}

TEST(NetworkLaws, TwoIsParmOfTheTopBit) {
  for (int n = 1; n <= kMostBits; ++n) {
    const Program f = telling(n - 1, 3);
    expect_same_effect(two(f), parm(f2::unit(n - 1), f), where(n, 0));
  }
}

TEST(NetworkLaws, TwoOfAPermutationIsItsDirectSum) {
  for (int n = 0; n < kMostBits; ++n) {
    const Affine a = maps::random_bmmc(n, 5);
    expect_same_effect(two(bmmc(a)), bmmc(direct_sum(a, Affine(1))), where(n, 0));
  }
}

TEST(NetworkLaws, ParmDistributesOverComposition) {
  for_every_mask([](int n, f2::Word mask) {
    const Program f = telling(n - 1, 11);
    const Program g = telling(n - 1, 23);
    expect_same_effect(parm(mask, f * g), parm(mask, f) * parm(mask, g), where(n, mask));
  });
}

TEST(NetworkLaws, ParmsOfPowersChangePlaces) {
  for (int n = 2; n <= kMostBits; ++n) {
    for (int i = 0; i < n - 1; ++i) {
      for (int j = i; j < n - 1; ++j) {
        const Program f = telling(n - 2, 31);
        expect_same_effect(
            parm(f2::unit(i), parm(f2::unit(j), f)), parm(f2::unit(j + 1), parm(f2::unit(i), f)),
            "n = " + std::to_string(n) + ", i = " + std::to_string(i) + ", j = " + std::to_string(j));
      }
    }
  }
}

TEST(NetworkLaws, AnOddMaskHalvesTheIndex) {
  for_every_mask([](int n, f2::Word mask) {
    if (!f2::bit(mask, 0)) return;
    for (f2::Word x = 0; x <= f2::low_mask(n); ++x) {
      EXPECT_EQ(maps::parm(n, mask)(x) & f2::low_mask(n - 1), x >> 1) << where(n, mask);
    }
  });
}

TEST(NetworkLaws, VColumnComparesMirrorImages) {
  for (int n = 1; n <= 8; ++n) {
    std::vector<std::uint32_t> values(std::size_t{1} << n);
    const std::uint32_t last = static_cast<std::uint32_t>(values.size()) - 1;
    for (std::uint32_t x = 0; x <= last; ++x) values[x] = last - x;
    const std::vector<std::uint32_t> sorted = interpret(vcolumn(n), kU32, values);
    for (std::uint32_t x = 0; x <= last; ++x) EXPECT_EQ(sorted[x], x) << "--bits " << n << " vcolumn";
    // One pair at a time: only x and its mirror image may change places.
    for (std::uint32_t x = 0; x <= last / 2; ++x) {
      std::vector<std::uint32_t> one(values.size(), 1);
      one[last - x] = 0;
      std::vector<std::uint32_t> expected(values.size(), 1);
      expected[x] = 0;
      EXPECT_EQ(interpret(vcolumn(n), kU32, one), expected) << "--bits " << n << " vcolumn, x = " << x;
    }
  }
}

TEST(NetworkLaws, InterpretationIsAHomomorphism) {
  std::mt19937_64 random(99);
  for (int i = 0; i < 300; ++i) {
    const int n = static_cast<int>(random() % 6);
    const Program f = random_program(n, 4, {witness()}, random);
    const Program g = random_program(n, 4, {witness()}, random);
    const std::vector<std::uint32_t> values = random_values(n, random());
    EXPECT_EQ(interpret(f * g, kU32, values), interpret(f, kU32, interpret(g, kU32, values)))
        << "--bits " << n << " '" << to_text(f * g) << "'";
  }
}

}  // namespace network_laws_test
}  // namespace faro::network
