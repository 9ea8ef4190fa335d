// The offline permutation paper's tables: what they rest on, held against other ways to compute it.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "faro/machine/congestion.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "reproduce/expectation.hpp"
#include "reproduce/offline_kernel.hpp"
#include "reproduce/reproduce.hpp"

namespace faro::reproduce {
namespace reproduce_offline_test {

using ::testing::ElementsAre;

const Row& row_of(const Table& table, const std::string& subject, const std::string& quantity) {
  for (const Row& row : table.rows) {
    if (row.subject == subject && row.quantity == quantity) return row;
  }
  ADD_FAILURE() << "no row " << subject << ", " << quantity;
  static const Row none;
  return none;
}

// As printed in the paper, letter by letter.
TEST(ReproduceOffline, ExampleIsExact) {
  const Table table = reproduce("offline-example");
  const std::map<std::pair<std::string, std::string>, std::string> printed{
      {{"S", "list"}, "0 5 10 15 1 6 11 12 2 7 8 13 3 4 9 14"},
      {{"D", "list"}, "0 5 10 15 4 9 14 3 8 13 2 7 12 1 6 11"},
      {{"S^-1", "list"}, "0 4 8 12 13 1 5 9 10 14 2 6 7 11 15 3"},
      {{"warp 1, reads of a", "banks"}, "1 2 3 0"},
      {{"warp 1, writes of b", "banks"}, "0 1 2 3"}};
  for (const auto& [name, list] : printed) {
    EXPECT_EQ(row_of(table, name.first, name.second).here, Value(list));
    EXPECT_EQ(row_of(table, name.first, name.second).paper, Value(list));
  }
  EXPECT_EQ(row_of(table, "every warp, b[p[i]] = a[i]", "write congestion").here, Value(std::uint64_t{4}));
}

TEST(ReproduceOffline, TableOneCounts) {
  const Table table = reproduce("offline-table1");
  const std::map<std::string, std::uint64_t> reads{
      {"copy", 1024}, {"D", 2048}, {"S", 2048}, {"conflict-free", 3072}};
  for (const auto& [way, count] : reads) {
    EXPECT_EQ(row_of(table, way, "reads").here, Value(count)) << way;
    EXPECT_EQ(row_of(table, way, "writes").here, Value(std::uint64_t{1024})) << way;
  }
  EXPECT_EQ(row_of(table, "conflict-free, lists in registers", "reads").here, Value(std::uint64_t{1024}));
}

TEST(ReproduceOffline, PermutationsByHand) {
  const auto permutations = offline_permutations(1);
  const auto& transpose = permutations[2].list;
  EXPECT_EQ(transpose[1], 32U);  // element (0, 1) becomes (1, 0)
  EXPECT_EQ(transpose[3 * 32 + 5], 5U * 32 + 3);
  const auto& shuffle = permutations[3].list;
  EXPECT_EQ(shuffle[1], 2U);
  EXPECT_EQ(shuffle[511], 1022U);
  EXPECT_EQ(shuffle[512], 1U);
  EXPECT_EQ(shuffle[1023], 1023U);
  const auto& reversal = permutations[4].list;
  EXPECT_EQ(reversal[1], 512U);
  EXPECT_EQ(reversal[0b1100000000], 0b0000000011U);
  for (const OfflinePermutation& permutation : permutations) {
    EXPECT_NO_THROW(schedule::check_permutation(permutation.list)) << permutation.name;
  }
  EXPECT_NE(permutations[1].list, offline_permutations(2)[1].list);
}

// The addresses that the kernel made are those that its definition says.
TEST(ReproduceOffline, AccessesAreThoseOfTheDefinition) {
  for (const OfflinePermutation& permutation : offline_permutations(5)) {
    const std::vector<std::uint64_t> p(permutation.list.begin(), permutation.list.end());
    std::vector<std::uint64_t> q(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) q[p[i]] = i;
    std::vector<std::uint64_t> in_order(p.size());
    std::iota(in_order.begin(), in_order.end(), 0U);
    const OfflineAccesses d = offline_accesses(PermuteWay::d_designated, permutation.list);
    EXPECT_EQ(d.writes_b, p);
    EXPECT_EQ(d.reads_a, in_order);
    const OfflineAccesses s = offline_accesses(PermuteWay::s_designated, permutation.list);
    EXPECT_EQ(s.reads_a, q);
    EXPECT_EQ(s.writes_b, in_order);
    for (const PermuteWay way : {PermuteWay::conflict_free, PermuteWay::packed, PermuteWay::held}) {
      const OfflineAccesses free = offline_accesses(way, permutation.list);
      EXPECT_EQ(free.misplaced, 0U);
      ASSERT_EQ(free.reads_a.size(), p.size());
      for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(free.writes_b[i], p[free.reads_a[i]]);
    }
  }
}

// E[congestion] of 32 different places of 32 banks with 32 each: P(at most m) is the coefficient of x^32 in
// (sum over k <= m of C(32, k) x^k)^32, over C(1024, 32).
double mean_turns_of_random() {
  constexpr int w = 32;
  std::vector<double> choose(w + 1);
  for (int k = 0; k <= w; ++k) {
    choose[static_cast<std::size_t>(k)] =
        std::exp(std::lgamma(w + 1) - std::lgamma(k + 1) - std::lgamma(w - k + 1));
  }
  const double all = std::exp(std::lgamma(w * w + 1) - std::lgamma(w + 1) - std::lgamma(w * w - w + 1));
  double mean = 0;
  for (std::size_t most = 0; most < w; ++most) {
    std::vector<double> power(w + 1, 0);
    power[0] = 1;
    for (int bank = 0; bank < w; ++bank) {
      std::vector<double> next(w + 1, 0);
      for (std::size_t have = 0; have <= w; ++have) {
        for (std::size_t k = 0; k <= most && have + k <= w; ++k) next[have + k] += power[have] * choose[k];
      }
      power = next;
    }
    mean += 1 - power[w] / all;
  }
  return mean;
}

TEST(ReproduceOffline, RandomIsTheExactExpectation) {
  const double exact = mean_turns_of_random();
  EXPECT_NEAR(exact, mean_turns_of_places(kOfflineWidth, kOfflineElements / kOfflineWidth), 1e-9);
  const Table table = reproduce("offline-table2");
  for (const auto& [subject, quantity] : std::map<std::string, std::string>{
           {"D, random", "mean write congestion"}, {"S, random", "mean read congestion"}}) {
    const Row& row = row_of(table, subject, quantity);
    ASSERT_TRUE(row.standard_error.has_value());
    EXPECT_LT(*row.standard_error, 0.002);
    EXPECT_NEAR(std::get<double>(row.here), exact, 4.5 * *row.standard_error);
  }
  // And of whole permutations, through the kernel.
  machine::TurnCounter counter(kOfflineWidth);
  double sum = 0;
  constexpr int permutations = 40;
  for (std::uint64_t seed = 0; seed < permutations; ++seed) {
    const auto list = offline_permutations(seed)[kRandomPermutation].list;
    const OfflineAccesses accesses = offline_accesses(PermuteWay::s_designated, list);
    for (std::size_t warp = 0; warp < kOfflineWidth; ++warp) {
      sum += counter.by_bank(std::span(accesses.reads_a).subspan(warp * kOfflineWidth, kOfflineWidth));
    }
  }
  EXPECT_NEAR(sum / (permutations * kOfflineWidth), exact, 0.1);
}

TEST(ReproduceOffline, SeedsAndThreads) {
  const auto text = [](std::uint64_t seed, int threads) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    Table table = reproduce("offline-table2", {.seed = seed, .trials = 777});
    omp_set_num_threads(before);
    std::erase_if(table.rows, [](const Row& row) { return row.unit != "turns"; });
    return to_text(table);
  };
  EXPECT_EQ(text(3, 1), text(3, 5));
  EXPECT_NE(text(3, 1), text(4, 1));
}

TEST(ReproduceOffline, FigureSevenInTheModel) {
  const Table table = reproduce("offline-figure7");
  for (const std::string way : {"copy", "D", "S", "conflict-free"}) {
    const std::string subject = "HMM of 8 DMMs: " + way + ", bit reversal, ";
    EXPECT_EQ(row_of(table, subject + "8 blocks", "time / one block's").here, Value(std::uint64_t{1}));
    const Row& many = row_of(table, subject + "64 blocks", "time / one block's");
    EXPECT_EQ(many.here, Value(std::uint64_t{8}));
    EXPECT_EQ(many.model, Value(std::uint64_t{8}));  // the curves have no numbers
    EXPECT_EQ(many.paper, Value(std::string("almost proportional")));
  }
}

}  // namespace reproduce_offline_test
}  // namespace faro::reproduce
