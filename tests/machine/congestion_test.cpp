// TurnCounter against congestion counted by hand, from the figures of the memory machine papers, and against
// sets and maps.
#include "faro/machine/congestion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "refusal.hpp"

namespace faro::machine {
namespace congestion_test {

using Words = std::vector<std::uint64_t>;

std::uint64_t banks_by_definition(const Words& words, std::uint64_t width) {
  std::map<std::uint64_t, std::set<std::uint64_t>> bank;
  std::size_t worst = 0;
  for (const std::uint64_t word : words) {
    bank[word % width].insert(word);
    worst = std::max(worst, bank[word % width].size());
  }
  return worst;
}

std::uint64_t groups_by_definition(const Words& words, std::uint64_t width) {
  std::set<std::uint64_t> groups;
  for (const std::uint64_t word : words) groups.insert(word / width);
  return groups.size();
}

std::string text_of(const Words& words, std::uint64_t width) {
  std::string text = "width " + std::to_string(width) + ", words";
  for (const std::uint64_t word : words) text += " " + std::to_string(word);
  return text;
}

void expect_by_definition(TurnCounter& turns, const Words& words) {
  ASSERT_EQ(turns.by_bank(words), banks_by_definition(words, turns.width())) << text_of(words, turns.width());
  ASSERT_EQ(turns.by_group(words), groups_by_definition(words, turns.width()))
      << text_of(words, turns.width());
}

TEST(TurnCounter, FiguresOfThePapers) {
  TurnCounter turns(4);
  // Nakano 2012, figure 4.
  EXPECT_EQ(turns.by_bank(Words{0, 1, 10, 6}), 2U);
  EXPECT_EQ(turns.by_bank(Words{8, 9, 14, 15}), 1U);
  EXPECT_EQ(turns.by_group(Words{0, 1, 10, 6}), 3U);
  EXPECT_EQ(turns.by_group(Words{8, 9, 14, 15}), 2U);
  // Nakano, Matsumae and Ito 2014, figure 3.
  EXPECT_EQ(turns.by_bank(Words{7, 5, 15, 0}), 2U);
  EXPECT_EQ(turns.by_bank(Words{10, 11, 12, 9}), 1U);
  // Figure 2: distinct banks, one bank, one word.
  EXPECT_EQ(turns.by_bank(Words{4, 1, 10, 15}), 1U);
  EXPECT_EQ(turns.by_bank(Words{1, 5, 9, 13}), 4U);
  EXPECT_EQ(turns.by_bank(Words{5, 5, 5, 5}), 1U);
}

TEST(TurnCounter, NobodyAndOne) {
  TurnCounter turns(5);
  EXPECT_EQ(turns.by_bank({}), 0U);
  EXPECT_EQ(turns.by_group({}), 0U);
  expect_by_definition(turns, {0});
  expect_by_definition(turns, {std::numeric_limits<std::uint64_t>::max()});
  expect_by_definition(turns, {std::numeric_limits<std::uint64_t>::max(), 0, 0});
}

TEST(TurnCounter, EveryAccessOfThreeLanes) {
  for (const std::uint64_t width : {1U, 2U, 3U, 4U}) {
    TurnCounter turns(width);
    for (std::uint64_t code = 0; code < 9 * 9 * 9; ++code) {
      expect_by_definition(turns, {code % 9, code / 9 % 9, code / 81});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TurnCounter, RandomAccessesOfEveryWidth) {
  constexpr unsigned seed = 11;
  std::mt19937_64 random(seed);
  std::set<std::uint64_t> seen;  // congestions, to see that the sweep is not all of one kind
  for (const std::uint64_t width : {1U, 2U, 3U, 5U, 6U, 7U, 8U, 12U, 16U, 31U, 32U, 33U, 64U, 100U, 1000U}) {
    TurnCounter turns(width);
    for (int trial = 0; trial < 400; ++trial) {
      Words words(random() % (trial % 2 == 0 ? 33 : 3 * width + 1));
      const std::uint64_t range = 1 + random() % (trial % 3 == 0   ? 8
                                                  : trial % 3 == 1 ? width * 40
                                                                   : 1ULL << 60);
      const std::uint64_t step = trial % 5 == 0 ? width : trial % 5 == 1 ? 1 : 0;
      const std::uint64_t base = random() % range;
      for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = step != 0 ? base + step * i : random() % range;
      if (trial % 7 == 0) std::shuffle(words.begin(), words.end(), random);
      expect_by_definition(turns, words);
      if (HasFatalFailure()) FAIL() << "seed " << seed;
      seen.insert(turns.by_bank(words));
    }
  }
  EXPECT_TRUE(seen.contains(0) && seen.contains(1) && seen.contains(2) && seen.contains(32));
  EXPECT_GT(*seen.rbegin(), 64U);
}

// Accesses in which most lanes meet take another way than those in which few do: all sizes of crowds.
TEST(TurnCounter, CrowdsOfEverySize) {
  std::mt19937_64 random(12);
  for (const std::uint64_t width : {4U, 32U, 33U}) {
    TurnCounter turns(width);
    for (std::uint64_t crowd = 0; crowd <= 64; ++crowd) {
      for (const std::uint64_t distinct : {1U, 2U, 7U, 64U}) {
        Words words;
        for (std::uint64_t i = 0; i < crowd; ++i) words.push_back(3 + width * (random() % distinct));
        for (std::uint64_t i = crowd; i < 64; ++i) words.push_back(random() % (8 * width));
        for (const bool shuffled : {false, true}) {
          if (shuffled) std::shuffle(words.begin(), words.end(), random);
          expect_by_definition(turns, words);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Groups whose hashes agree in their leading bits, so that all look for the same few slots.
TEST(TurnCounter, GroupsThatMeet) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  std::uint64_t inverse = 1;  // of `odd`, modulo 2^64
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  ASSERT_EQ(odd * inverse, 1U);
  TurnCounter turns(1);
  Words words;
  for (std::uint64_t hash = 0; hash < 40; ++hash) words.push_back(hash * inverse);
  for (std::uint64_t hash = 0; hash < 40; hash += 3) words.push_back(hash * inverse);
  expect_by_definition(turns, words);
}

TEST(TurnCounter, RefusesImpossibleWidths) {
  for (const std::uint64_t width : {std::uint64_t{0}, kMaxWidth + 1, ~std::uint64_t{0}}) {
    SCOPED_TRACE(width);
    test::expect_refused(ErrorCode::value, std::to_string(width), [&] { TurnCounter turns(width); });
  }
  EXPECT_EQ(TurnCounter(kMaxWidth).width(), kMaxWidth);
}

}  // namespace congestion_test
}  // namespace faro::machine
