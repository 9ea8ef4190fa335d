// What theorem 4 is built from: cyclic blocks of a linear map, functionals, and the chains that end in
// segments.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "f2/polynomial.hpp"
#include "in_place_support.hpp"
#include "layout/cyclic_blocks.hpp"
#include "layout/functionals.hpp"
#include "layout/in_place_space.hpp"

namespace faro::layout::detail {
namespace in_place_blocks_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 5;

Subspace everything(int n) { return Subspace::low(n, n); }

std::vector<Word> annihilators_of(const std::vector<CyclicBlock>& blocks) {
  std::vector<Word> list(blocks.size());
  std::transform(blocks.begin(), blocks.end(), list.begin(),
                 [](const CyclicBlock& block) { return block.annihilator; });
  return list;
}

// --- cyclic blocks ---

TEST(CyclicBlocks, OfACompanionMatrix) {
  const CyclicBlock block = cyclic_block(companion(0b100101), 0b1);
  EXPECT_EQ(block.powers, (std::vector<Word>{1, 2, 4, 8, 16}));
  EXPECT_EQ(block.annihilator, 0b100101U);
  EXPECT_EQ(apply_polynomial(companion(0b100101), 0b100101, 0b10110), 0U);
  EXPECT_EQ(cyclic_block(companion(0b111), 0).annihilator, 1U);
}

void expect_blocks_of(const Matrix& alpha, const Subspace& w, const std::vector<CyclicBlock>& blocks) {
  Subspace sum(alpha.rows());
  int dimensions = 0;
  for (const CyclicBlock& block : blocks) {
    EXPECT_EQ(f2::degree(block.annihilator), block.dimension());
    EXPECT_EQ(apply_polynomial(alpha, block.annihilator, block.powers.front()), 0U);
    for (std::size_t i = 1; i < block.powers.size(); ++i) {
      EXPECT_EQ(block.powers[i], alpha * block.powers[i - 1]);
    }
    for (const Word v : block.powers) sum.insert(v);
    dimensions += block.dimension();
  }
  EXPECT_EQ(sum, w);
  EXPECT_EQ(dimensions, w.dimension());
}

TEST(CyclicBlocks, FrobeniusFormOfKnownMaps) {
  std::mt19937_64 random(kSeed);
  const struct {
    std::vector<Word> companions;
    std::vector<Word> blocks;
  } cases[] = {
      {{0b1011, 0b1011, 0b1011}, {0b1011, 0b1011, 0b1011}},
      {{0b1011, 0b1101}, {f2::multiply(0b1011, 0b1101)}},
      {{0b111, f2::multiply(0b111, 0b111), 0b1011},
       {f2::multiply(f2::multiply(0b111, 0b111), 0b1011), 0b111}},
      {{}, {}},
  };
  for (const auto& [made_of, expected] : cases) {
    for (int trial = 0; trial < 20; ++trial) {
      const Affine map = shuffled_basis(companions(made_of), random);
      const auto blocks = frobenius_blocks(map.matrix(), everything(map.bits()));
      expect_blocks_of(map.matrix(), everything(map.bits()), blocks);
      EXPECT_EQ(annihilators_of(blocks), expected);
    }
  }
}

TEST(CyclicBlocks, LawsForRandomMaps) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + trial % 24;
    const Affine map = trial % 2 == 0 || n < 2 ? random_affine(n, random) : random_sparse(n, n, random);
    const Matrix& alpha = map.matrix();
    const Word v = maximal_vector(alpha, everything(n));
    const Word p = cyclic_block(alpha, v).annihilator;
    for (int j = 0; j < n; ++j) ASSERT_EQ(apply_polynomial(alpha, p, f2::unit(j)), 0U);

    const auto blocks = frobenius_blocks(alpha, everything(n));
    expect_blocks_of(alpha, everything(n), blocks);
    for (std::size_t i = 1; i < blocks.size(); ++i) {
      EXPECT_EQ(f2::divide(blocks[i - 1].annihilator, blocks[i].annihilator).remainder, 0U);
    }

    const FittingParts parts = fitting_parts(alpha, everything(n));
    EXPECT_EQ(parts.unipotent.dimension() + parts.rest.dimension(), n);
    EXPECT_EQ(f2::intersection(parts.unipotent, parts.rest).dimension(), 0);
    EXPECT_EQ(f2::image(alpha, parts.unipotent), parts.unipotent);
    EXPECT_EQ(f2::image(alpha, parts.rest), parts.rest);
    const Matrix nilpotent = alpha + Matrix::identity(n);
    EXPECT_EQ(f2::image(nilpotent, parts.rest), parts.rest);
    if (HasFailure()) return;
  }
}

TEST(CyclicBlocks, JordanBlocksBeginAtTheSocle) {
  std::mt19937_64 random(kSeed);
  std::set<int> first_dimensions;
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Word> made_of;
    for (int total = 0; total < 10;) {
      const int k = 1 + static_cast<int>(random() % 4);
      Word p = 1;
      for (int i = 0; i < k; ++i) p = f2::multiply(p, 0b11);
      made_of.push_back(p);
      total += k;
    }
    const Affine map = shuffled_basis(companions(made_of), random);
    const int n = map.bits();
    const Matrix& alpha = map.matrix();
    // Any fixed vector may be the socle.
    const std::vector<Word> fixed = (alpha + Matrix::identity(n)).kernel();
    const Word socle = fixed[random() % fixed.size()];
    const auto blocks = unipotent_blocks(alpha, everything(n), socle);
    expect_blocks_of(alpha, everything(n), blocks);
    Word last = blocks.front().powers.front();
    for (int i = 1; i < blocks.front().dimension(); ++i) last ^= alpha * last;
    EXPECT_EQ(last, socle);
    std::vector<Word> annihilators = annihilators_of(blocks);
    first_dimensions.insert(blocks.front().dimension());
    std::sort(annihilators.begin(), annihilators.end());
    std::sort(made_of.begin(), made_of.end());
    EXPECT_EQ(annihilators, made_of);
    if (HasFailure()) return;
  }
  EXPECT_GT(first_dimensions.size(), 2U);
}

// --- functionals and chains ---

TEST(Functionals, ChainsAndTheRestAreABasis) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + trial % 20;
    const int s = trial % std::min(n + 1, 7);
    const Affine map = trial % 3 == 0   ? random_affine(n, random)
                       : trial % 3 == 1 ? random_bit_permutation(n, random)
                                        : random_sparse(n, n / 2, random);
    EXPECT_EQ(affine_of(homogeneous(map)), map);
    const Functionals f = functionals_of(map, s);
    const ChainForm form = chain_form(f);
    const Subspace within = f.vanishing_on_segments();
    EXPECT_TRUE(within.contains(form.rest));
    EXPECT_TRUE(form.rest.contains(f.last()));
    EXPECT_EQ(f2::image(f.alpha, form.rest), form.rest);
    // The rest is what vanishes on the smallest kept space.
    const Subspace kept = kept_space(map.matrix(), Subspace::low(n, s));
    EXPECT_EQ(form.rest.dimension(), n + 1 - kept.dimension());
    Subspace basis = form.rest;
    Subspace ends(s);
    int longer = 0;
    for (const Chain& chain : form.chains) {
      for (std::size_t i = 0; i < chain.size(); ++i) {
        EXPECT_TRUE(basis.insert(chain[i]));
        EXPECT_EQ(within.contains(chain[i]), i + 1 < chain.size());
        if (i > 0) {
          EXPECT_EQ(chain[i], f.alpha * chain[i - 1]);
        }
      }
      EXPECT_TRUE(ends.insert(chain.back() & f2::low_mask(s)));
      longer += chain.size() > 1 ? 1 : 0;
    }
    EXPECT_EQ(basis.dimension(), n + 1);
    EXPECT_EQ(longer, map.rank_gamma(s));
    if (HasFailure()) return;
  }
}

TEST(Functionals, AnnihilatorsAreDual) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 50; ++trial) {
    Subspace u(12);
    for (int i = 0; i < trial % 13; ++i) u.insert(random() & f2::low_mask(12));
    const Subspace dual = annihilator(u);
    EXPECT_EQ(dual.dimension() + u.dimension(), 12);
    EXPECT_EQ(annihilator(dual), u);
  }
}

}  // namespace in_place_blocks_test
}  // namespace faro::layout::detail
