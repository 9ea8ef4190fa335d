// The reproduced tables: that they agree, that their estimates are estimates of the right thing, and that
// seeds and threads do what is promised.
// Sanitized: never, the same few lines, tables or texts.
#include "reproduce/reproduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "faro/error.hpp"
#include "refusal.hpp"
#include "reproduce/expectation.hpp"
#include "reproduce/matrix_access.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {
namespace reproduce_test {

using ::testing::HasSubstr;

// Trials of the tables by other seeds than the default: fewer, since tests are also run by slow builds. A
// standard error of 0.004 still tells 0.02.
constexpr std::uint64_t kFewTrials = 40'000;

std::string command(const Table& table) {
  return "faro reproduce " + table.name + " --seed " + std::to_string(table.seed) +
         (table.seed == kDefaultSeed ? "" : " --trials " + std::to_string(kFewTrials));
}

// Tables are costly, and several checks look at the same.
const Table& table_of(const std::string& name, std::uint64_t seed) {
  static std::map<std::pair<std::string, std::uint64_t>, Table> made;
  const auto key = std::pair(name, seed);
  if (!made.contains(key))
    made.emplace(key, reproduce(name, {.seed = seed, .trials = seed == kDefaultSeed ? 0 : kFewTrials}));
  return made.at(key);
}

// A GPU's, where there is one: never the same twice.
bool is_timed(const Row& row) {
  return row.criterion == "other hardware" || row.criterion == "at least 5" ||
         row.criterion == "above 1 for every map" || row.criterion == "at least 2" ||
         row.criterion == "at most 1.03";
}

const Row* find_row(const Table& table, const std::string& subject, const std::string& quantity) {
  for (const Row& row : table.rows) {
    if (row.subject == subject && row.quantity == quantity) return &row;
  }
  return nullptr;
}

constexpr std::array<std::uint64_t, 2> kOtherSeeds{20'260'101, 0};

TEST(Reproduce, NamesAreTheIssuesOwn) {
  EXPECT_THAT(names(),
              ::testing::ElementsAre("bmmc-section2.3", "bmmc-figure9", "bmmc-figure10", "bmmc-figure11",
                                     "bmmc-figure12", "bmmc-appendix", "offline-example", "offline-table1",
                                     "offline-table2", "offline-figure7", "dmm-umm-figure4", "dmm-umm-table1",
                                     "rap-figure3", "rap-table1", "rap-table2", "rap-table3", "rap-table4",
                                     "swizzle-table1", "swizzle-grids"));
}

void expect_rows_that_agree() {
  const std::set<std::string> cannot_tell{"needs a GPU", "other hardware", "the paper gives no figure",
                                          "the paper does not say of which kernels"};
  // Where a paper has the figure it decides; a prediction of ours stands where it has none, or has words.
  const auto is_figure = [](const Value& value) {
    return std::holds_alternative<double>(value) || std::holds_alternative<std::uint64_t>(value);
  };
  for (const std::string_view name : names()) {
    for (const std::uint64_t seed : {kDefaultSeed, kOtherSeeds[0], kOtherSeeds[1]}) {
      // On a GPU they take minutes, and differ by nothing but the maps.
      if (name.starts_with("bmmc-") && seed != kDefaultSeed) continue;
      if (name.starts_with("swizzle-")) continue;  // reproduce_swizzle_test
      const Table& table = table_of(std::string(name), seed);
      EXPECT_FALSE(table.rows.empty());
      EXPECT_EQ(table.name, name);
      for (const Row& row : table.rows) {
        SCOPED_TRACE(command(table) + ": " + row.subject + ", " + row.quantity);
        if (row.agrees) {
          EXPECT_TRUE(*row.agrees || is_timed(row));
          EXPECT_FALSE(std::holds_alternative<std::monostate>(row.here));
        } else {
          EXPECT_TRUE(cannot_tell.contains(row.criterion)) << row.criterion;
        }
        EXPECT_FALSE(row.criterion.empty());
        EXPECT_FALSE(is_figure(row.paper) && is_figure(row.model));
        EXPECT_FALSE(row.unit.empty());
        EXPECT_EQ(row.standard_error.has_value(),
                  std::holds_alternative<double>(row.here) && row.unit == "turns");
      }
    }
  }
}

void expect_names_of_rows() {
  for (const std::string_view name : names()) {
    if (name.starts_with("swizzle-")) continue;  // reproduce_swizzle_test
    const Table& table = table_of(std::string(name), kDefaultSeed);
    std::set<std::string> seen;
    for (const Row& row : table.rows) {
      EXPECT_TRUE(seen.insert(row.subject + "; " + row.quantity).second) << command(table) << row.subject;
    }
  }
}

void expect_figures_by_hand() {
  struct Case {
    std::string table, subject, quantity;
    std::uint64_t here;
  };
  const std::vector<Case> cases{
      {"dmm-umm-figure4", "DMM, W(0): 0 1 10 6", "pipeline stages", 2},
      {"dmm-umm-figure4", "DMM, W(1): 8 9 14 15", "pipeline stages", 1},
      {"dmm-umm-figure4", "DMM, both warps, l = 3", "time", 5},
      {"dmm-umm-figure4", "UMM, W(0): 0 1 10 6", "pipeline stages", 3},
      {"dmm-umm-figure4", "UMM, W(1): 8 9 14 15", "pipeline stages", 2},
      {"dmm-umm-figure4", "UMM, both warps, l = 3", "time", 7},
      {"rap-figure3", "DMM, both warps, l = 5", "time", 7},
      // (gcd(9, 12) 144/12 + 9 - 1) 9
      {"dmm-umm-table1", "stride, DMM, n = 1296, p = 144, w = 12, l = 9", "exact sum", 396},
      // (min(9, 12) 144/12 + 9 - 1) 9
      {"dmm-umm-table1", "stride, UMM, n = 1296, p = 144, w = 12, l = 9", "exact sum", 1044},
      {"rap-table3", "RAP, CRSW as printed", "read congestion", 1},
      {"rap-table3", "RAP, CRSW as printed", "write congestion", 32},
      {"rap-table3", "RAP, CRSW", "write congestion", 1},
      {"rap-table3", "RAP, CRSW", "elements in a wrong place", 0},
      {"rap-table4", "1P, Malicious: one (k, l), distinct (i, j)", "congestion", 32},
      {"rap-table4", "w2P", "random numbers used", 32768},
      {"rap-table4", "1Pw2R", "random numbers used", 1056},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE("faro reproduce " + c.table + ": " + c.subject);
    const Row* const row = find_row(table_of(c.table, kDefaultSeed), c.subject, c.quantity);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->here, Value(c.here));
  }
  const Row* const misplaced =
      find_row(table_of("rap-table3", kDefaultSeed), "RAP, CRSW as printed", "elements in a wrong place");
  ASSERT_NE(misplaced, nullptr);
  EXPECT_GT(std::get<std::uint64_t>(misplaced->here), 900U);  // of 1024: one in 32 may fall right by chance
}

// The ladder's times need a GPU; which cells there are does not, nor what the paper says of them.
TEST(Reproduce, LadderHasItsCellsWithAndWithoutAGpu) {
  struct Case {
    std::string table, subject, quantity;
    Value paper;
  };
  const std::vector<Case> cases{
      {"bmmc-section2.3", "copy", "running time", 9.3},
      {"bmmc-section2.3", "naive transpose", "running time", 26.4},
      {"bmmc-section2.3", "naive transpose", "effective bandwidth", 35.2},
      {"bmmc-section2.3", "tiled transpose", "running time", 12.2},
      {"bmmc-section2.3", "tiled transpose", "effective bandwidth", 76.2},
      {"bmmc-section2.3", "transpose, one-pass (not the paper's)", "running time", {}},
      {"bmmc-figure12", "2^5 columns, banks", "running time", {}},
      {"bmmc-appendix", "random BPC, all four", "saved, mean", std::uint64_t{50}},
      {"bmmc-figure9", "copy", "time", 9.3},
      {"bmmc-figure9", "bit reversal, banks", "share of copy's speed", {}},
      {"bmmc-figure9", "random BPC, iters", "share of copy's speed, median map",
       std::string("about a copy's")},
      {"bmmc-figure9", "random BMMC, banks, of both factors", "share of copy's speed, median map",
       std::string("about half")},
      {"bmmc-figure9", "random BMMC, one-pass (not the paper's)", "share of copy's speed, least", {}},
      {"bmmc-figure10", "copy", "effective bandwidth", std::uint64_t{860}},
      {"bmmc-figure10", "random BPC, iters", "share of copy's bandwidth, median map", std::uint64_t{92}},
      {"bmmc-figure10", "random BMMC, banks, of both factors", "share of copy's bandwidth, median map",
       std::uint64_t{86}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE("faro reproduce " + c.table + ": " + c.subject);
    const Row* const row = find_row(table_of(c.table, kDefaultSeed), c.subject, c.quantity);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->paper, c.paper);
  }
  // copy; 6 rungs of BPC and 5 of BMMC, three rows each; 6 of bit reversal.
  EXPECT_EQ(table_of("bmmc-figure9", kDefaultSeed).rows.size(), 1U + 18U + 15U + 6U);
  EXPECT_EQ(table_of("bmmc-figure10", kDefaultSeed).rows.size(), 1U + 9U + 9U);
  // 2^20 to 2^30: the paper's last rung and ours, of two families with three rows and one with one.
  EXPECT_EQ(table_of("bmmc-figure11", kDefaultSeed).rows.size(), 11U * 2 * (3 + 3 + 1));
  // Three kernels of the paper's and ours, a time and a bandwidth each; 24 shapes of two kernels, and of each
  // a ratio.
  EXPECT_EQ(table_of("bmmc-section2.3", kDefaultSeed).rows.size(), 4U * 2);
  EXPECT_EQ(table_of("bmmc-figure12", kDefaultSeed).rows.size(), 2U * (24 + 1));
}

// The naive kernel of bit_reversal(15): each of 15 bits goes a distance of its own, one of them none, and the
// address that is read is one of 15 bits in a row in at most three parts. Merged is never more than bit by
// bit.
TEST(Reproduce, MergedBitsByHand) {
  const Table& table = table_of("bmmc-appendix", kDefaultSeed);
  const auto count_of = [&](const std::string& subject, const std::string& quantity) {
    const Row* const row = find_row(table, subject, quantity);
    EXPECT_NE(row, nullptr) << subject << quantity;
    return row == nullptr ? 0 : std::get<std::uint64_t>(row->here);
  };
  for (const std::string rung : {"naive", "tile", "banks", "iters"})
    EXPECT_LT(count_of("bit_reversal(15), " + rung, "merged"),
              count_of("bit_reversal(15), " + rung, "bit by bit"));
  for (const Row& row : table.rows) {
    if (row.quantity != "saved, mean") continue;
    EXPECT_GT(std::get<double>(row.here), 0.0) << row.subject;
    EXPECT_LT(std::get<double>(row.here), 100.0) << row.subject;
  }
}

// Issue's demands of the estimates: Table II to 0.02 in every cell, with a standard error below 0.002.
void expect_precise_estimates() {
  for (const std::string name : {"rap-table2", "rap-table3"}) {
    std::size_t estimated = 0;
    for (const Row& row : table_of(name, kDefaultSeed).rows) {
      if (!row.standard_error) continue;
      SCOPED_TRACE(name + ": " + row.subject);
      ++estimated;
      EXPECT_GT(*row.standard_error, 0.001);  // more would be no estimate of a congestion's spread
      EXPECT_LT(*row.standard_error, 0.002);
      EXPECT_NEAR(std::get<double>(row.here), std::get<double>(row.paper), 0.015);
    }
    EXPECT_EQ(estimated, name == "rap-table2" ? 30U : 6U);
  }
  EXPECT_EQ(table_of("rap-table2", kDefaultSeed).rows.size(), 3U * 4U * 5U);
}

// What is no figure of the paper's is not said to be: the offline permutation's Table II prints times and
// ratios.
void expect_what_is_printed() {
  const Table& offline = table_of("offline-table2", kDefaultSeed);
  for (const Row& row : offline.rows) {
    SCOPED_TRACE(row.subject + ", " + row.quantity);
    const bool is_congestion = row.unit == "turns";
    const bool is_proven = row.subject.starts_with("conflict-free");
    if (is_congestion && !is_proven) {
      EXPECT_EQ(row.paper, Value());
      EXPECT_NE(row.model, Value());
    }
    if (row.quantity == "time / copy's") {
      EXPECT_TRUE(std::holds_alternative<double>(row.paper));
    }
  }
  const auto paper = [&](const Table& table, const std::string& subject, const std::string& quantity) {
    const Row* const row = find_row(table, subject, quantity);
    EXPECT_NE(row, nullptr) << subject << quantity;
    return row == nullptr ? Value() : row->paper;
  };
  EXPECT_EQ(paper(offline, "D, random", "time / copy's"),
            Value(2.390));  // printed so; the times divide to 2.399
  EXPECT_EQ(paper(offline, "copy", "time"), Value(102.937));
  // S is not slower on Shuffle by the model, but by the banks of the paper's GPU.
  for (const std::string way : {"D", "S"}) {
    const std::string side = way == "D" ? "write congestion" : "read congestion";
    EXPECT_EQ(find_row(offline, way + ", shuffle", side)->here, Value(std::uint64_t{2}));
    EXPECT_EQ(find_row(offline, way + ", shuffle", side + ", banks of 8 bytes")->here,
              Value(std::uint64_t{way == "D" ? 1U : 2U}));
  }
  EXPECT_THAT(offline.notes, ::testing::Contains(HasSubstr("Shuffle: the paper says")));
  EXPECT_EQ(paper(table_of("rap-table3", kDefaultSeed), "RAP, CRSW", "time of RAW / time of RAP"),
            Value(std::string("about 10")));
  const Table& four = table_of("rap-table4", kDefaultSeed);
  for (const Row& row : four.rows) {
    if (row.standard_error) {
      EXPECT_TRUE(std::holds_alternative<std::string>(row.paper)) << row.subject;
    }
  }
  EXPECT_THAT(four.notes, ::testing::Contains(HasSubstr("congestion from 6 to")));
}

TEST(Reproduce, WidthsOtherThanThePapers) {
  EXPECT_THAT(widths("rap-table4"), ::testing::ElementsAre(32U, 64U));
  EXPECT_TRUE(widths("offline-table2").empty());
  for (const auto& [name, width, subject] : std::vector<std::tuple<std::string, std::uint64_t, std::string>>{
           {"rap-table1", 16, "RAS, stride, w = 16"},
           {"rap-table2", 64, "RAP, diagonal, w = 64"},
           {"rap-table3", 16, "RAP, DRDW"},
           {"rap-table3", 64, "RAW, SRCW"},
           {"rap-table4", 64, "R1P, Malicious: six orders of disjoint (i, j, k), one l"},
           {"dmm-umm-table1", 8, "stride, UMM, n = 224, p = 32, w = 8, l = 5"}}) {
    SCOPED_TRACE("faro reproduce " + name + " --width " + std::to_string(width));
    const Table table = reproduce(name, {.seed = 1, .trials = 4000, .width = width});
    EXPECT_EQ(disagreements(table), 0U) << to_text(table);
    EXPECT_TRUE(std::any_of(table.rows.begin(), table.rows.end(),
                            [&, &wanted = subject](const Row& row) { return row.subject == wanted; }));
  }
  EXPECT_EQ(reproduce("rap-table2", {.seed = 1, .trials = 64, .width = 64}).rows.size(), 3U * 4U);
  // Nothing stands under "paper" that the paper has for another side.
  for (const Row& row : reproduce("rap-table3", {.seed = 1, .trials = 64, .width = 16}).rows)
    EXPECT_EQ(row.paper, Value()) << row.subject;
}

// A figure that is wrong is found out: by the standard error, however few the trials.
TEST(Reproduce, TolerancesFollowTheStandardError) {
  Tally few;
  Tally many;
  for (int t = 0; t < 100'000; ++t) {
    const auto congestion = static_cast<std::uint32_t>(3 + t % 2);
    if (t < 100) few.add(congestion);
    many.add(congestion);
  }
  EXPECT_EQ(estimated_row("a", "b", 3.6, few).agrees, true);
  EXPECT_EQ(estimated_row("a", "b", 3.6, many).agrees, false);
  EXPECT_EQ(estimated_row("a", "b", 3.5, many).agrees, true);
  Table table;
  table.rows = {estimated_row("a", "b", 3.6, many), estimated_row("a", "c", 3.5, many)};
  EXPECT_EQ(disagreements(table), 1U);
}

void expect_other_estimates_by_other_seeds() {
  for (const std::string name : {"rap-table1", "rap-table2", "rap-table3", "rap-table4"}) {
    const Table& table = table_of(name, kOtherSeeds[0]);
    const Table& other = table_of(name, kOtherSeeds[1]);
    ASSERT_EQ(table.rows.size(), other.rows.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      SCOPED_TRACE(name + ": " + table.rows[i].subject);
      if (table.rows[i].standard_error) {
        EXPECT_NE(table.rows[i].here, other.rows[i].here);
        EXPECT_NEAR(std::get<double>(table.rows[i].here), std::get<double>(other.rows[i].here),
                    7 * *table.rows[i].standard_error);
      }
    }
  }
}

TEST(Reproduce, ThreadsChangeNothing) {
  const int before = omp_get_max_threads();
  for (const std::string name : {"rap-table1", "rap-table2", "rap-table3", "rap-table4"}) {
    std::vector<std::string> texts;
    for (const int threads : {1, 2, 5}) {
      omp_set_num_threads(threads);
      Table table = reproduce(name, {.seed = 3, .trials = 777});
      std::erase_if(table.rows, is_timed);
      texts.push_back(to_text(table));
    }
    EXPECT_EQ(texts[0], texts[1]) << name;
    EXPECT_EQ(texts[0], texts[2]) << name;
  }
  omp_set_num_threads(before);
}

// --- the estimates against what can be computed without chance

template <layout::Index w, typename Layout>
Tally estimate(Access access, std::uint64_t trials) {
  return run_trials({.count = trials, .width = w, .seeds = CellSeeds(9, "test")}, 1,
                    [access](const TrialSeeds& seeds, Worker& worker, std::vector<Tally>& tallies) {
                      const Layout at = Layout::random(seeds.layout);
                      layout::SplitMix64 random{seeds.access};
                      const layout::Index warp = random.below(w);
                      address_lanes<w>(at, access, warp, random, worker.addresses);
                      tallies[0].add(worker.congestion());
                    })[0];
}

// The largest number of equal entries.
std::size_t most_alike(const std::vector<unsigned>& banks) {
  std::map<unsigned, std::size_t> counts;
  std::size_t most = 0;
  for (const unsigned bank : banks) most = std::max(most, ++counts[bank]);
  return most;
}

// Mean congestion of RAP's diagonal over all w! permutations: element (k, k) lies in bank k + r_k.
double mean_rap_diagonal(unsigned w) {
  std::vector<unsigned> r(w);
  std::iota(r.begin(), r.end(), 0U);
  double sum = 0;
  double count = 0;
  do {
    std::vector<unsigned> banks;
    for (unsigned k = 0; k < w; ++k) banks.push_back((k + r[k]) % w);
    sum += static_cast<double>(most_alike(banks));
    ++count;
  } while (std::next_permutation(r.begin(), r.end()));
  return sum / count;
}

TEST(ReproduceEstimates, RapDiagonalIsThatOfAllPermutations) {
  // By hand for w = 3: r = 012, 120 and 201 have 1 turn, the others put all three into one bank.
  EXPECT_DOUBLE_EQ(mean_rap_diagonal(3), (3 * 1 + 3 * 3) / 6.0);
  EXPECT_DOUBLE_EQ(mean_rap_diagonal(4), 7 / 3.0);  // 20 permutations with 2 turns, 4 with 4
  constexpr std::uint64_t trials = 100'000;
  const Tally three = estimate<3, layout::Rap<3>>(Access::diagonal, trials);
  EXPECT_NEAR(three.mean(), mean_rap_diagonal(3), 5 * three.standard_error());
  const Tally four = estimate<4, layout::Rap<4>>(Access::diagonal, trials);
  EXPECT_NEAR(four.mean(), mean_rap_diagonal(4), 5 * four.standard_error());
  const Tally eight = estimate<8, layout::Rap<8>>(Access::diagonal, trials);
  EXPECT_NEAR(eight.mean(), mean_rap_diagonal(8), 5 * eight.standard_error());
}

// 6 of the 3^3 shifts give one turn, 18 two, 3 three.
TEST(ReproduceEstimates, RasStrideIsThatOfAllShifts) {
  const Tally tally = estimate<3, layout::Ras<3>>(Access::stride, 100'000);
  EXPECT_NEAR(tally.mean(), (6 * 1 + 18 * 2 + 3 * 3) / 27.0, 5 * tally.standard_error());
  EXPECT_EQ(tally.least(), 1U);
  EXPECT_EQ(tally.most(), 3U);
}

// P(k draws of w hit at most `most` distinct values), for every k up to w.
std::vector<double> few_distinct(int w, int most) {
  std::vector<double> hit(static_cast<std::size_t>(w) + 1, 0);  // [d] after k draws
  hit[0] = 1;
  std::vector<double> few{1};
  for (int k = 1; k <= w; ++k) {
    for (int d = k; d >= 1; --d) {
      const auto at = static_cast<std::size_t>(d);
      hit[at] = hit[at] * d / w + hit[at - 1] * (w - d + 1) / w;
    }
    hit[0] = 0;
    few.push_back(std::accumulate(hit.begin(), hit.begin() + std::min(most, w) + 1, 0.0));
  }
  return few;
}

// E[max] of w requests that each fall into one of w banks, independently, where a bank that gets k of them
// needs at most m turns with probability few[m][k]. Bank after bank: a bank of `left` ones takes k of the n
// that remain with the binomial probability of k in n at 1 / left.
template <typename Few>
double mean_of_largest(int w, const Few& few) {
  double mean = 0;
  for (int most = 0; most < w; ++most) {  // E[max] = sum of P(max > most)
    const std::vector<double> within = few(most);
    std::vector<double> remaining(static_cast<std::size_t>(w) + 1, 0);
    remaining.back() = 1;
    for (int left = w; left >= 1; --left) {
      std::vector<double> next(remaining.size(), 0);
      for (int n = 0; n <= w; ++n) {
        if (remaining[static_cast<std::size_t>(n)] == 0) continue;
        for (int k = 0; k <= n; ++k) {
          if (left == 1 && k != n) continue;
          const double log_binomial = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                                      k * std::log(left) +
                                      (left == 1 ? 0 : (n - k) * std::log1p(-1.0 / left));
          next[static_cast<std::size_t>(n - k)] += remaining[static_cast<std::size_t>(n)] *
                                                   std::exp(log_binomial) *
                                                   within[static_cast<std::size_t>(k)];
        }
      }
      remaining = next;
    }
    const double probability = remaining[0];
    mean += 1 - probability;
    if (1 - probability < 1e-12) break;
  }
  return mean;
}

double mean_ras_stride(int w) {
  return mean_of_largest(w, [w](int most) {
    std::vector<double> few(static_cast<std::size_t>(w) + 1, 0);
    std::fill(few.begin(), few.begin() + most + 1, 1.0);
    return few;
  });
}

double mean_random(int w) {
  return mean_of_largest(w, [w](int most) { return few_distinct(w, most); });
}

void expect_table_two_to_be_exact() {
  EXPECT_NEAR(mean_ras_stride(3), 51 / 27.0, 1e-9);
  const Table& table = table_of("rap-table2", kDefaultSeed);
  for (const int width : {16, 32, 64}) {
    const std::string w = ", w = " + std::to_string(width);
    const double stride = mean_ras_stride(width);
    const double random = mean_random(width);
    for (const auto& [subject, exact] : std::map<std::string, double>{{"RAS, stride" + w, stride},
                                                                      {"RAS, diagonal" + w, stride},
                                                                      {"RAW, random" + w, random},
                                                                      {"RAS, random" + w, random},
                                                                      {"RAP, random" + w, random}}) {
      SCOPED_TRACE(subject);
      const Row* const row = find_row(table, subject, "mean congestion");
      ASSERT_NE(row, nullptr);
      EXPECT_NEAR(std::get<double>(row->here), exact, 4.5 * *row->standard_error);
    }
  }
}

// In one case, which is one process: each table is made once for all of them.
TEST(Reproduce, TablesHoldWhatTheyPromise) {
  expect_rows_that_agree();
  expect_names_of_rows();
  expect_figures_by_hand();
  expect_precise_estimates();
  expect_table_two_to_be_exact();
  expect_what_is_printed();
  expect_other_estimates_by_other_seeds();
}

// The library's own expectations, by other sums: binomials bank by bank above, all cases here.
TEST(ReproduceEstimates, ExpectationsAreExact) {
  EXPECT_NEAR(mean_turns_of_shifts(3), 51 / 27.0, 1e-12);
  for (const int width : {4, 16, 32}) {
    const auto w = static_cast<std::uint64_t>(width);
    EXPECT_NEAR(mean_turns_of_shifts(w), mean_ras_stride(width), 1e-9);
    EXPECT_NEAR(mean_turns_of_requests(w, w), mean_random(width), 1e-9);
  }
  // Two places of 2 x 2: equal bank in 2 of 6 pairs.
  EXPECT_NEAR(mean_turns_of_places(2, 2), 1 + 2 / 6.0, 1e-12);
  // Five requests in groups of 2, 2 and 1 to 5 banks: 2 turns in 60 of 125, 3 where one joins the last, ...
  double sum = 0;
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      std::array<int, 5> load{1};
      load[static_cast<std::size_t>(a)] += 2;
      load[static_cast<std::size_t>(b)] += 2;
      sum += *std::max_element(load.begin(), load.end());
    }
  }
  EXPECT_NEAR(mean_turns_of_groups(5, 2, 5), sum / 25, 1e-12);
}

TEST(ReproduceEstimates, StandardErrorIsTheSpreadOfTheMean) {
  Tally tally;
  for (const std::uint32_t congestion : {1U, 2U, 3U, 6U}) tally.add(congestion);
  EXPECT_DOUBLE_EQ(tally.mean(), 3);
  EXPECT_DOUBLE_EQ(tally.standard_error(), std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4.0));
  EXPECT_EQ(tally.least(), 1U);
  EXPECT_EQ(tally.most(), 6U);

  Tally paired;  // trials of two accesses that always agree: no more certain than one access each
  for (const std::uint32_t congestion : {1U, 2U, 3U, 6U}) {
    paired.add_access(congestion);
    paired.add_access(congestion);
    paired.end_trial();
  }
  EXPECT_DOUBLE_EQ(paired.mean(), 3);
  EXPECT_DOUBLE_EQ(paired.standard_error(), tally.standard_error());
}

TEST(Reproduce, TextHasEveryCriterionAndNote) {
  const Table& table = table_of("rap-table3", kDefaultSeed);
  const std::string text = to_text(table);
  for (const Row& row : table.rows) {
    EXPECT_THAT(text, HasSubstr(row.subject));
    EXPECT_THAT(text, HasSubstr(row.criterion));
  }
  for (const std::string& note : table.notes) EXPECT_THAT(text, HasSubstr("note  " + note + "\n"));
  EXPECT_THAT(text, HasSubstr("1595"));
  EXPECT_THAT(text, HasSubstr("3.61"));
  EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST(Reproduce, RefusesWhatItDoesNotKnow) {
  struct Case {
    std::string name;
    std::uint64_t trials;
    std::string part;
  };
  const std::vector<Case> cases{{"rap-tabel2", 0, "did you mean `rap-table2`?"},
                                {"", 0, "faro reproduce --list"},
                                {"rap-table2", kLeastTrials - 1, "64 to"},
                                {"rap-table2", kMostTrials + 1, "64 to"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    test::expect_refused(ErrorCode::value, c.part,
                         [&] { reproduce(c.name, {.seed = 1, .trials = c.trials}); });
  }
  for (const auto& [name, width] :
       std::map<std::string, std::uint64_t>{{"rap-table2", 48}, {"rap-figure3", 4}}) {
    SCOPED_TRACE(name);
    test::expect_refused(ErrorCode::value, "width",
                         [&] { reproduce(name, {.seed = 1, .trials = 0, .width = width}); });
  }
}

}  // namespace reproduce_test
}  // namespace faro::reproduce
