// The algebra of axes with strides: a worked example, and each law on drawn maps against nested loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "permutation/axis_map.hpp"
#include "permutation/strides.hpp"
#include "permutation_support.hpp"

namespace faro {
namespace permutation_axis_map_test {

using detail::AxisMap;
using detail::StridedAxis;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Moves = std::map<std::int64_t, std::int64_t>;  // from elements of the output to those of the input

// The definition, one element after another.
Moves moves_of(const AxisMap& map) {
  Moves moves;
  const auto unit = static_cast<std::int64_t>(map.unit);
  std::vector<std::uint64_t> at(map.axes.size(), 0);
  const auto is_none = [](const StridedAxis& axis) { return axis.extent == 0; };
  if (std::any_of(map.axes.begin(), map.axes.end(), is_none)) return moves;
  for (;;) {
    std::int64_t in = map.in_first;
    std::int64_t out = map.out_first;
    for (std::size_t a = 0; a < at.size(); ++a) {
      const StridedAxis& axis = map.axes[a];
      in += axis.in * static_cast<std::int64_t>((at[a] + axis.extent - axis.shift) % axis.extent);
      out += axis.out * static_cast<std::int64_t>(at[a]);
    }
    for (std::int64_t e = 0; e < unit; ++e) moves[out * unit + e] = in * unit + e;
    std::size_t a = 0;
    while (a < at.size() && ++at[a] == map.axes[a].extent) at[a++] = 0;
    if (a == at.size()) return moves;
  }
}

std::string text_of(const AxisMap& map) {
  std::ostringstream text;
  text << "first " << map.in_first << " " << map.out_first << ", unit " << map.unit << ", axes";
  for (const auto& [extent, in, out, shift] : map.axes)
    text << " (" << extent << ", " << in << ", " << out << ", " << shift << ")";
  return text.str();
}

// A map of anything: an output with gaps, flips on both sides, broadcasts, windows, rolls, extents of 1 and
// 0.
AxisMap drawn(std::mt19937_64& random) {
  const std::int64_t apart = random() % 2 == 0 ? 12 : 1;
  AxisMap map{.in_first = static_cast<std::int64_t>(random() % 5) * apart, .unit = 1 + random() % 3};
  map.out_first = static_cast<std::int64_t>(random() % 5) * apart;
  std::int64_t out = 1 + static_cast<std::int64_t>(random() % 2);
  std::int64_t in = 1;
  const std::size_t axes = random() % 5;
  for (std::size_t a = 0; a < axes; ++a) {
    const std::uint64_t extent = random() % 40 == 0 ? 0 : 1 + random() % 5;
    const std::int64_t strides[] = {0, in, in, in, -in, static_cast<std::int64_t>(random() % 9)};
    map.axes.push_back(
        {.extent = extent, .in = strides[random() % 6], .out = random() % 4 == 0 ? -out : out});
    if (extent > 0 && random() % 3 == 0) map.axes.back().shift = random() % extent;
    out *= static_cast<std::int64_t>(std::max<std::uint64_t>(extent, 1) + random() % 2);
    in *= static_cast<std::int64_t>(std::max<std::uint64_t>(extent, 1));
  }
  std::shuffle(map.axes.begin(), map.axes.end(), random);
  return map;
}

// A permutation of a dense array: an order of axes, each flipped or rolled.
AxisMap drawn_whole(const std::vector<std::uint64_t>& shape, std::mt19937_64& random) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  AxisMap map = detail::permuted(shape, detail::dense_strides(shape), order);
  for (std::size_t a = 0; a < map.axes.size(); ++a) {
    StridedAxis& axis = map.axes[a];
    if (random() % 3 == 0) axis.shift = random() % axis.extent;
    if (random() % 3 != 0) continue;
    map.in_first += axis.in * static_cast<std::int64_t>(axis.extent - 1);
    axis.in = -axis.in;
  }
  return map;
}

template <typename Law>
void on_drawn_maps(const Law& law) {
  std::mt19937_64 random(20);
  for (int k = 0; k < 3000; ++k) {
    const AxisMap map = drawn(random);
    SCOPED_TRACE("case " + std::to_string(k) + ": " + text_of(map));
    law(map, random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(AxisMap, WorkedExample) {
  AxisMap map = detail::permuted({2, 3}, {3, 1}, {1, 0});
  EXPECT_THAT(map.axes, ElementsAre(StridedAxis{3, 1, 2}, StridedAxis{2, 3, 1}));
  EXPECT_EQ(moves_of(map), (Moves{{0, 0}, {1, 3}, {2, 1}, {3, 4}, {4, 2}, {5, 5}}));
  map.axes[1].in = -3;  // the rows flipped
  map.in_first = 3;
  EXPECT_EQ(moves_of(map), (Moves{{0, 3}, {1, 0}, {2, 4}, {3, 1}, {4, 5}, {5, 2}}));
  map.axes[0].shift = 1;  // the columns rolled by one as well
  EXPECT_EQ(moves_of(map), (Moves{{0, 5}, {1, 2}, {2, 3}, {3, 0}, {4, 4}, {5, 1}}));
}

TEST(AxisMap, NormalFormMovesTheSame) {
  on_drawn_maps([](const AxisMap& map, std::mt19937_64&) {
    const AxisMap normal = detail::normal_form(map);
    const Moves moves = moves_of(map);
    ASSERT_EQ(moves_of(normal), moves) << text_of(normal);
    EXPECT_EQ(detail::normal_form(normal), normal);
    EXPECT_EQ(detail::unit_count(normal.axes) * normal.unit, moves.size());
    ASSERT_EQ(moves_of(detail::with_rolls(normal)), moves);
    EXPECT_EQ(detail::normal_form(detail::with_rolls(normal)), normal);
    for (const StridedAxis& axis : normal.axes) EXPECT_NE(axis.extent, 1U);
  });
}

TEST(AxisMap, AxesMergeAndSplit) {
  int splits = 0;
  on_drawn_maps([&](const AxisMap& map, std::mt19937_64& random) {
    for (std::size_t a = 0; a < map.axes.size(); ++a) {
      const std::uint64_t inner = 1 + random() % 5;
      const auto parts = detail::split(map.axes[a], inner);
      const bool is_even = map.axes[a].extent % inner == 0 && map.axes[a].shift % inner == 0;
      ASSERT_EQ(parts.has_value(), is_even);
      if (!parts) continue;
      ++splits;
      EXPECT_EQ(detail::merged(parts->first, parts->second), map.axes[a]);
      AxisMap finer = map;
      finer.axes[a] = parts->first;
      finer.axes.push_back(parts->second);
      ASSERT_EQ(moves_of(finer), moves_of(map)) << inner;
      EXPECT_EQ(detail::normal_form(finer), detail::normal_form(map));
    }
  });
  EXPECT_GT(splits, 1000);
  EXPECT_FALSE(detail::merged({2, 4, 3}, {3, 1, 1}));                                // a gap on one side
  EXPECT_FALSE(detail::merged({2, 3, 3}, {3, 1, 1, 1}));                             // rolled inside
  EXPECT_FALSE(detail::merged({2, 0, 4}, {4, std::int64_t{1} << 62, 1}));            // not modulo 2^64
  EXPECT_EQ(detail::merged({2, -3, 3, 1}, {3, -1, 1}), (StridedAxis{6, -1, 1, 3}));  // rolled outside
}

TEST(AxisMap, AxesAreCountedFromEitherEnd) {
  on_drawn_maps([](const AxisMap& map, std::mt19937_64&) {
    if (moves_of(map).empty()) return;
    for (std::size_t a = 0; a < map.axes.size(); ++a) {
      AxisMap flipped = map;
      detail::flip(flipped, a);
      ASSERT_EQ(moves_of(flipped), moves_of(map));
      detail::flip(flipped, a);
      EXPECT_EQ(flipped, map);
    }
  });
}

TEST(AxisMap, UnitsFoldAndUnfold) {
  int folds = 0;
  on_drawn_maps([&](const AxisMap& map, std::mt19937_64&) {
    const AxisMap normal = detail::normal_form(map);
    const std::uint64_t widest = detail::widest_fold(normal);
    const AxisMap folded = detail::folded(normal, widest);
    ASSERT_EQ(moves_of(folded), moves_of(normal)) << text_of(folded);
    EXPECT_EQ(folded.unit, normal.unit * widest);
    EXPECT_EQ(detail::normal_form(detail::unfolded(folded, widest)), normal);
    folds += widest > 1 ? 1 : 0;
    const AxisMap elements = detail::unfolded(map, map.unit);
    EXPECT_EQ(elements.unit, 1U);
    ASSERT_EQ(moves_of(elements), moves_of(map));
  });
  EXPECT_GT(folds, 100);
}

TEST(AxisMap, PartsOfRolledAxesMoveAll) {
  on_drawn_maps([](const AxisMap& map, std::mt19937_64&) {
    Moves moves;
    std::size_t parts = 1;
    for (const AxisMap& part : detail::unrolled(map)) {
      for (const StridedAxis& axis : part.axes) ASSERT_EQ(axis.shift, 0U);
      moves.merge(moves_of(part));
    }
    for (const StridedAxis& axis : map.axes) parts *= axis.shift == 0 ? 1 : 2;
    EXPECT_EQ(detail::unrolled(map).size(), parts);
    ASSERT_EQ(moves, moves_of(map));
  });
}

TEST(AxisMap, CutsAreParts) {
  on_drawn_maps([](AxisMap map, std::mt19937_64& random) {
    for (StridedAxis& axis : map.axes) axis.shift = 0;
    if (map.axes.empty() || map.axes.front().extent == 0) return;
    const std::uint64_t at = random() % map.axes.front().extent;
    Moves moves = moves_of(detail::cut(map, 0, 0, at));
    moves.merge(moves_of(detail::cut(map, 0, at, map.axes.front().extent - at)));
    ASSERT_EQ(moves, moves_of(map));
  });
}

TEST(AxisMap, InverseAndComposition) {
  std::mt19937_64 random(21);
  int composed = 0;
  for (int k = 0; k < 4000; ++k) {
    const std::vector<std::uint64_t> shape{2 + random() % 3, 2 + random() % 2, 1 + random() % 4, 2};
    const AxisMap first = drawn_whole(shape, random);
    std::vector<std::uint64_t> between;
    for (const StridedAxis& axis : first.axes) between.push_back(axis.extent);
    if (random() % 4 == 0) std::shuffle(between.begin(), between.end(), random);
    const AxisMap second = drawn_whole(between, random);
    SCOPED_TRACE(text_of(first) + " then " + text_of(second));
    Moves back;
    for (const auto& [out, in] : moves_of(first)) back[in] = out;
    ASSERT_EQ(moves_of(detail::inverse(first)), back);
    const auto both = detail::compose(second, first);
    const auto same = detail::compose(detail::inverse(first), first);
    ASSERT_TRUE(same);
    EXPECT_LE(same->axes.size(), 1U);  // the identity
    if (!both) continue;
    ++composed;
    Moves wanted;
    const Moves of_first = moves_of(first);
    for (const auto& [out, in] : moves_of(second)) wanted[out] = of_first.at(in);
    ASSERT_EQ(moves_of(*both), wanted) << text_of(*both);
  }
  EXPECT_GT(composed, 2000);
  const AxisMap gap{.axes = {{4, 1, 2}}};
  EXPECT_FALSE(detail::compose(gap, gap));
  EXPECT_FALSE(detail::compose(detail::permuted({2, 3}, {3, 1}, {1, 0}), detail::permuted({4}, {1}, {0})));
}

TEST(AxisMap, OneFormOfOneMap) {
  // Every shape, order, flip and roll of up to 24 elements: maps that move the same have one normal form.
  std::map<std::vector<std::int64_t>, AxisMap> forms;
  for (std::uint64_t count = 1; count <= 24; ++count) {
    for (const auto& shape : shapes_of(count, 4)) {
      std::vector<int> order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      do {
        const AxisMap plain = detail::permuted(shape, detail::dense_strides(shape), order);
        for (std::uint64_t way = 0; way < (count << shape.size()); ++way) {
          AxisMap map = plain;
          std::uint64_t left = way;
          for (StridedAxis& axis : map.axes) {
            axis.shift = left % axis.extent;
            left /= axis.extent;
            if (left % 2 != 0) {
              map.in_first += axis.in * static_cast<std::int64_t>(axis.extent - 1);
              axis.in = -axis.in;
            }
            left /= 2;
          }
          std::vector<std::int64_t> table;
          for (const auto& [out, in] : moves_of(map)) table.push_back(in);
          const AxisMap normal = detail::normal_form(map);
          const auto [found, is_new] = forms.emplace(std::move(table), normal);
          ASSERT_EQ(found->second, normal) << text_of(map);
          ASSERT_TRUE(detail::whole(detail::with_rolls(normal)));
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  EXPECT_GT(forms.size(), 1000U);
}

TEST(AxisMap, DenseOrders) {
  EXPECT_THAT(detail::dense_strides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(detail::dense_strides({2, 0, 4}), ElementsAre(4, 4, 1));
  EXPECT_THAT(detail::fortran_strides({2, 3, 4}), ElementsAre(1, 2, 6));
  EXPECT_THAT(detail::finer_strides({6, 1, 4}, {-8, 99, 2}, {2, 3, 4, 1}), ElementsAre(-24, -8, 2, 0));
  EXPECT_THAT(*detail::dense_order({2, 1, 3, 4}, {1, 7, -8, 2}), ElementsAre(2, 3, 0));
  EXPECT_FALSE(detail::dense_order({2, 3}, {4, 1}));
  EXPECT_FALSE(detail::dense_order({2, 3}, {0, 1}));
  EXPECT_TRUE(detail::is_dense({2, 1, 3}, {3, -9, 1}));
  EXPECT_TRUE(detail::is_dense({2, 0}, {5, 5}));
  EXPECT_TRUE(detail::is_dense({}, {}));
  EXPECT_FALSE(detail::is_dense({2, 3}, {1, 2}));
  EXPECT_FALSE(detail::is_dense({2, 3}, {-3, 1}));
}

TEST(AxisMap, WholeIsAPermutationOfADenseArray) {
  std::mt19937_64 random(22);
  on_drawn_maps([](const AxisMap& map, std::mt19937_64&) {
    const AxisMap normal = detail::normal_form(map);
    if (detail::unit_count(normal.axes) == 0) return;
    std::vector<std::int64_t> sources;
    bool is_whole = true;
    for (const auto& [out, in] : moves_of(normal)) {
      is_whole = is_whole && out == static_cast<std::int64_t>(sources.size());
      sources.push_back(in);
    }
    std::sort(sources.begin(), sources.end());
    for (std::size_t i = 0; i < sources.size(); ++i)
      is_whole = is_whole && sources[i] == static_cast<std::int64_t>(i);
    EXPECT_EQ(detail::whole(normal).has_value(), is_whole) << text_of(normal);
  });
  for (int k = 0; k < 500; ++k)
    EXPECT_TRUE(detail::whole(detail::normal_form(drawn_whole({3, 1 + random() % 4, 5, 2}, random))));
  const auto found = detail::whole(detail::normal_form(detail::permuted({2, 3, 5}, {15, 5, 1}, {2, 0, 1})));
  EXPECT_THAT(found->axes, ElementsAre(StridedAxis{6, 5, 1}, StridedAxis{5, 1, 6}));
  EXPECT_THAT(found->order, ElementsAre(1, 0));
}

TEST(AxisMap, NumbersPast64BitsAreRefused) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const AxisMap far{.axes = {{3, kMost, -kMost}}};
  EXPECT_THAT(refusal_of([&] { detail::normal_form(far); }), HasSubstr("past 2^63"));
  EXPECT_THAT(refusal_of([&] { detail::unfolded(far, 4); }), HasSubstr("past 2^63"));
  EXPECT_THAT(refusal_of([&] { detail::cut(far, 0, 3, 1); }), HasSubstr("past 2^63"));
  const AxisMap many{.axes = {{1ULL << 40, 1, 1}, {1ULL << 40, 0, 1LL << 40}}};
  EXPECT_THAT(refusal_of([&] { detail::unit_count(many.axes); }), HasSubstr("past 2^63"));
  EXPECT_THAT(refusal_of([&] {
                detail::dense_strides({1ULL << 40, 1ULL << 40, 1ULL << 40});
              }),
              HasSubstr("past 2^63"));
}

}  // namespace permutation_axis_map_test
}  // namespace faro
