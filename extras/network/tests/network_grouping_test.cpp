// network/grouping: the passes hold what they must, and there are as few as a search over all subspaces
// finds.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "drawn.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "network/grouping.hpp"

namespace faro::network {
namespace network_grouping_test {

using f2::Matrix;
using f2::Subspace;
using f2::Word;

constexpr std::uint64_t kSeed = 71;

std::string describe(const Grouping& problem) {
  std::string text = "n " + std::to_string(problem.bits) + ", m " + std::to_string(problem.tile_bits) +
                     ", s " + std::to_string(problem.segment_bits) + ", directions";
  for (const Word d : problem.directions) text += " " + std::to_string(d);
  text += ", final inverse";
  for (const Word c : problem.final_inverse.column_span()) text += " " + std::to_string(c);
  return text + ", seed " + std::to_string(kSeed);
}

// The conditions of grouping.hpp, one by one.
void expect_valid(const Grouping& problem, const std::vector<Group>& groups) {
  const Subspace low = Subspace::low(problem.bits, problem.segment_bits);
  const Subspace* read = &low;
  std::size_t next = 0;
  for (const Group& group : groups) {
    ASSERT_LE(group.tile.dimension(), problem.tile_bits);
    ASSERT_TRUE(group.tile.contains(*read));
    ASSERT_EQ(group.segment.dimension(), problem.segment_bits);
    ASSERT_TRUE(group.tile.contains(group.segment));
    ASSERT_EQ(group.first_layer, next);
    for (std::size_t i = 0; i < group.layers; ++i) {
      ASSERT_TRUE(group.tile.contains(problem.directions.at(next++)));
    }
    read = &group.segment;
  }
  ASSERT_EQ(next, problem.directions.size());
  ASSERT_EQ(*read, f2::image(problem.final_inverse, low));
}

// --- every subspace of dimension m, and the fewest passes by trying all sequences of them

void add_subspaces(const Subspace& space, int m, std::vector<Subspace>& all) {
  if (space.dimension() == m) {
    if (std::find(all.begin(), all.end(), space) == all.end()) all.push_back(space);
    return;
  }
  for (Word v = 1; v < f2::unit(space.ambient_dimension()); ++v) {
    Subspace grown = space;
    if (grown.insert(v)) add_subspaces(grown, m, all);
  }
}

std::vector<Subspace> subspaces(int n, int m) {
  std::vector<Subspace> all;
  add_subspaces(Subspace(n), m, all);
  return all;
}

std::size_t advance(const Grouping& problem, std::size_t layer, const Subspace& tile) {
  while (layer < problem.directions.size() && tile.contains(problem.directions[layer])) ++layer;
  return layer;
}

enum class Rule { plain, moving };

// furthest[t]: the most layers done after k passes of which the last has tile t; -1: not to be had.
std::size_t fewest_by_search(const Grouping& problem, const std::vector<Subspace>& tiles, Rule rule) {
  const Subspace low = Subspace::low(problem.bits, problem.segment_bits);
  const Subspace last = f2::image(problem.final_inverse, low);
  std::vector<long> furthest(tiles.size(), -1);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    if (tiles[t].contains(low)) furthest[t] = static_cast<long>(advance(problem, 0, tiles[t]));
  }
  for (std::size_t passes = 1;; ++passes) {
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      const bool done = furthest[t] == static_cast<long>(problem.directions.size());
      if (done && tiles[t].contains(last)) return passes;
    }
    std::vector<long> next(tiles.size(), -1);
    for (std::size_t from = 0; from < tiles.size(); ++from) {
      if (furthest[from] < 0) continue;
      for (std::size_t to = 0; to < tiles.size(); ++to) {
        const bool adjacent = rule == Rule::plain ? tiles[to].contains(low)
                                                  : f2::intersection(tiles[from], tiles[to]).dimension() >=
                                                        problem.segment_bits;
        if (!adjacent) continue;
        const auto reached =
            static_cast<long>(advance(problem, static_cast<std::size_t>(furthest[from]), tiles[to]));
        next[to] = std::max(next[to], reached);
      }
    }
    furthest = std::move(next);
  }
}

// Directions at random, of few, or along bits.
Grouping random_grouping(int n, int m, int s, std::mt19937_64& random) {
  Grouping problem{.bits = n, .tile_bits = m, .segment_bits = s, .directions = {}, .final_inverse = {}};
  const auto style = random() % 3;
  std::vector<Word> pool;
  for (int i = 0; i <= n; ++i) pool.push_back(1 + random() % f2::low_mask(n));
  for (auto layers = random() % 14; layers > 0; --layers) {
    problem.directions.push_back(style == 0   ? 1 + random() % f2::low_mask(n)
                                 : style == 1 ? f2::unit(static_cast<int>(random() % static_cast<Word>(n)))
                                              : pool[random() % pool.size()]);
  }
  problem.final_inverse = random() % 2 == 0 ? Matrix::identity(n) : test::random_invertible(n, random);
  return problem;
}

TEST(NetworkGrouping, AsFewPassesAsASearchOverAllSubspacesFinds) {
  std::mt19937_64 random(kSeed);
  int saved = 0;
  for (const auto& [n, m] :
       std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {3, 2}, {4, 2}, {4, 3}, {5, 3}}) {
    const std::vector<Subspace> tiles = subspaces(n, m);
    for (int s = 0; s < m; ++s) {
      for (int trial = 0; trial < (n == 5 ? 25 : 150); ++trial) {
        const Grouping problem = random_grouping(n, m, s, random);
        SCOPED_TRACE(describe(problem));
        const std::vector<Group> moving = group_moving(problem);
        expect_valid(problem, moving);
        const std::size_t fewest = fewest_by_search(problem, tiles, Rule::moving);
        ASSERT_EQ(moving.size(), fewest);
        ASSERT_EQ(fewest_passes(problem), fewest);
        const std::vector<Group> plain = group_plain(problem);
        expect_valid(problem, plain);
        ASSERT_GE(plain.size(), fewest);
        saved += plain.size() > fewest ? 1 : 0;
        // The plain rule has its own optimum where the final map leaves the segments alone.
        if (problem.final_inverse == Matrix::identity(n)) {
          ASSERT_EQ(plain.size(), fewest_by_search(problem, tiles, Rule::plain));
        }
      }
    }
  }
  EXPECT_GT(saved, 200);
}

TEST(NetworkGrouping, ValidAndFewestAtEverySize) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 1500; ++trial) {
    const int n = 1 + static_cast<int>(random() % 14);
    const int m = 1 + static_cast<int>(random() % static_cast<unsigned>(n));
    const int s = static_cast<int>(random() % static_cast<unsigned>(m == n ? n + 1 : m));
    const Grouping problem = random_grouping(n, m, s, random);
    SCOPED_TRACE(describe(problem));
    const std::vector<Group> moving = group_moving(problem);
    expect_valid(problem, moving);
    expect_valid(problem, group_plain(problem));
    ASSERT_EQ(moving.size(), fewest_passes(problem));
    ASSERT_LE(moving.size(), group_plain(problem).size());
    if (HasFatalFailure()) return;
  }
}

// The picture in grouping.hpp.
TEST(NetworkGrouping, FourLayersOfEightElements) {
  const Grouping problem{.bits = 3,
                         .tile_bits = 2,
                         .segment_bits = 1,
                         .directions = {2, 4, 2, 4},
                         .final_inverse = Matrix::identity(3)};
  EXPECT_EQ(group_plain(problem).size(), 4U);
  const std::vector<Group> moving = group_moving(problem);
  ASSERT_EQ(moving.size(), 3U);
  const auto span = [](std::vector<Word> vectors) { return Subspace::span(3, vectors); };
  EXPECT_EQ(moving[0].tile, span({1, 2}));
  EXPECT_EQ(moving[1].tile, span({2, 4}));
  EXPECT_EQ(moving[0].segment, span({2}));
  EXPECT_TRUE(moving[2].tile.contains(Word{1}));
}

std::vector<Word> descending(int n) {
  std::vector<Word> directions;
  for (int i = n; i-- > 0;) directions.push_back(f2::unit(i));
  return directions;
}

// The balanced merger's: 2^n - 1, 2^(n-1) - 1, ..., 1.
std::vector<Word> mirrors(int n) {
  std::vector<Word> directions;
  for (int i = n; i > 0; --i) directions.push_back(f2::low_mask(i));
  return directions;
}

TEST(NetworkGrouping, ButterfliesAndTheMergerTakeTheBound) {
  for (int n = 1; n <= 22; ++n) {
    std::vector<Word> ascending = descending(n);
    std::reverse(ascending.begin(), ascending.end());
    for (const std::vector<Word>& directions : {descending(n), ascending, mirrors(n)}) {
      for (int m = 1; m <= n; ++m) {
        for (int s = 0; s < m; ++s) {
          const Grouping problem{.bits = n,
                                 .tile_bits = m,
                                 .segment_bits = s,
                                 .directions = directions,
                                 .final_inverse = Matrix::identity(n)};
          const auto bound = static_cast<std::size_t>(std::max(1, (n - s + m - s - 1) / (m - s)));
          ASSERT_EQ(group_plain(problem).size(), bound) << describe(problem);
          ASSERT_EQ(fewest_passes(problem), bound) << describe(problem);
        }
      }
    }
  }
}

// A Fourier transform in natural order on both sides: one pass iff it all fits, two iff n + 2s <= 2m.
TEST(NetworkGrouping, BitReversalIsFusedWhereTheTheoremAllows) {
  for (int n = 1; n <= 18; ++n) {
    for (int m = 1; m <= n; ++m) {
      for (int s = 1; s < m; ++s) {
        const Grouping problem{.bits = n,
                               .tile_bits = m,
                               .segment_bits = s,
                               .directions = descending(n),
                               .final_inverse = f2::reversal(n)};
        const std::size_t passes = fewest_passes(problem);
        ASSERT_EQ(passes == 1, n == m) << describe(problem);
        // Where the low and the high bits are the same ones, the last pass has less to hold.
        if (2 * s <= n && m < n) {
          ASSERT_EQ(passes == 2, n + 2 * s <= 2 * m) << describe(problem);
        }
        const std::vector<Group> moving = group_moving(problem);
        expect_valid(problem, moving);
        ASSERT_EQ(moving.size(), passes);
        ASSERT_LE(passes,
                  static_cast<std::size_t>((n - s + m - s - 1) / (m - s) + (s + m - s - 1) / (m - s)));
      }
    }
  }
}

TEST(NetworkGrouping, AFinalMapAloneTakesItsRank) {
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 2 + static_cast<int>(random() % 12);
    const int m = 1 + static_cast<int>(random() % static_cast<unsigned>(n - 1));
    const int s = static_cast<int>(random() % static_cast<unsigned>(m));
    const Affine map(test::random_invertible(n, random), 0);
    const Grouping problem{.bits = n,
                           .tile_bits = m,
                           .segment_bits = s,
                           .directions = {},
                           .final_inverse = map.inverse_matrix()};
    const int rank = map.rank_gamma(s);
    ASSERT_EQ(fewest_passes(problem), static_cast<std::size_t>(std::max(1, (rank + m - s - 1) / (m - s))))
        << describe(problem);
  }
}

}  // namespace network_grouping_test
}  // namespace faro::network
