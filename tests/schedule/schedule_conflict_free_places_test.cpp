// Places free of bank conflicts: valid schedules of the same permutation, and the turns of their stores,
// counted, beside those of the plain order and of random shifts.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/machine/congestion.hpp"
#include "faro/schedule/conflict_free.hpp"
#include "refusal.hpp"

namespace faro::schedule {
namespace schedule_conflict_free_places_test {

using Entries = std::vector<std::uint32_t>;
using Places = std::vector<std::uint16_t>;

constexpr int kBits = 18;  // of the arrays that turns are counted on
constexpr int kHalf = kBits / 2;

template <typename Map>
Entries mapped(const Map& map) {
  Entries entries(std::size_t{1} << kBits);
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i] = map(i);
  return entries;
}

Entries shuffled(std::uint64_t count, std::uint64_t seed) {
  Entries entries(count);
  std::iota(entries.begin(), entries.end(), 0U);
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

std::uint32_t rotated(std::uint32_t i, int by) { return (i << by | i >> (kBits - by)) & ((1U << kBits) - 1); }

std::uint32_t reversed(std::uint32_t i) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < kBits; ++bit) result |= (i >> bit & 1U) << (kBits - 1 - bit);
  return result;
}

// Rows of banks, each shifted by a number of its own: every `width` rows have a random permutation of shifts.
std::vector<std::uint64_t> random_shifts(std::uint64_t rows, std::uint64_t width) {
  std::vector<std::uint64_t> shifts;
  std::mt19937 random(1);
  while (shifts.size() < rows) {
    std::vector<std::uint64_t> group(width);
    std::iota(group.begin(), group.end(), std::uint64_t{0});
    std::shuffle(group.begin(), group.end(), random);
    shifts.insert(shifts.end(), group.begin(), group.end());
  }
  return shifts;
}

enum class Rows { plain, rap };

struct Turns {
  double mean = 0;
  std::uint32_t most = 0;
};

// The turns of the stores of `lanes` consecutive elements to their places.
Turns turns(const Places& places, const PartitionShape& shape, int lanes, Rows rows) {
  const auto width = static_cast<std::uint64_t>(lanes);
  const auto shifts = random_shifts(rows == Rows::rap ? shape.chunk_elements() / width + 1 : 0, width);
  machine::TurnCounter counter(width);
  std::vector<std::uint64_t> addresses;
  std::uint64_t sum = 0;
  std::uint64_t accesses = 0;
  Turns result;
  for (std::uint64_t chunk = 0; chunk < shape.chunks(); ++chunk) {
    const std::uint64_t base = chunk << shape.chunk_bits;
    const std::uint64_t end = base + shape.chunk_size(chunk);
    for (std::uint64_t first = base; first < end; first += width) {
      addresses.clear();
      for (std::uint64_t i = first; i < std::min(first + width, end); ++i) {
        const std::uint64_t row = places[i] / width;
        const std::uint64_t shift = rows == Rows::rap ? shifts[row] : 0;
        addresses.push_back(row * width + (places[i] + shift) % width);
      }
      const std::uint32_t taken = counter.by_bank(addresses);
      result.most = std::max(result.most, taken);
      sum += taken;
      ++accesses;
    }
  }
  result.mean = static_cast<double>(sum) / static_cast<double>(accesses);
  return result;
}

// Valid, of its permutation and shape.
void expect_right(const Entries& entries, const PartitionShape& shape, int lanes) {
  const Indexed indexed(entries, Direction::scatter);
  const PartitionSchedule made = conflict_free_partition_schedule(indexed, shape, lanes, 1);
  ASSERT_EQ(made.shape, shape);
  ASSERT_NO_THROW(check_schedule(made));
  ASSERT_EQ(entries_of(made), std::vector<std::uint64_t>(entries.begin(), entries.end()))
      << shape.count << " elements, " << lanes << " lanes";
}

// The example at the head of the header: every warp has an element for each of four runs.
TEST(ConflictFreePlaces, ExampleByHand) {
  Entries dealt(64);
  for (std::uint32_t i = 0; i < 64; ++i) dealt[i] = i % 4 * 16 + i / 4;
  const PartitionShape shape{.count = 64, .chunk_bits = 4, .level_bits = {2}};
  const Indexed indexed(dealt, Direction::scatter);
  const PartitionSchedule plain = partition_schedule(indexed, shape);
  EXPECT_EQ(Places(plain.levels[0].places.begin(), plain.levels[0].places.begin() + 8),
            (Places{0, 4, 8, 12, 1, 5, 9, 13}));
  EXPECT_DOUBLE_EQ(turns(plain.levels[0].places, shape, 4, Rows::plain).mean, 4);
  const PartitionSchedule chosen = conflict_free_partition_schedule(indexed, shape, 4);
  EXPECT_EQ(turns(chosen.levels[0].places, shape, 4, Rows::plain).most, 1U);
  EXPECT_EQ(chosen.levels[0].starts, plain.levels[0].starts);
  EXPECT_EQ(chosen.levels[0].offsets, plain.levels[0].offsets);
  expect_right(dealt, shape, 4);
}

TEST(ConflictFreePlaces, EveryLengthTo200) {
  for (std::uint64_t count = 0; count <= 200; ++count) {
    const Entries entries = shuffled(count, count);
    for (int lanes = 2; lanes <= kMaxLanes; lanes *= 2) {
      expect_right(entries, {.count = count, .chunk_bits = 5, .level_bits = {3}}, lanes);
      expect_right(entries, {.count = count, .chunk_bits = 3, .level_bits = {2, 1, 2}}, lanes);
      expect_right(entries, {.count = count, .chunk_bits = 8, .level_bits = {}}, lanes);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ConflictFreePlaces, RunsThatAreNoWholeRows) {
  // Runs of 32, 128 and 256 elements on the mean, a short last chunk.
  const std::uint64_t count = (std::uint64_t{1} << 15) - 7;
  const Indexed indexed(shuffled(count, 9), Direction::scatter);
  for (const std::vector<int>& level_bits : {std::vector<int>{5}, {3, 2}, {2, 3}}) {
    const PartitionShape shape{.count = count, .chunk_bits = 10, .level_bits = level_bits};
    const PartitionSchedule plain = partition_schedule(indexed, shape);
    for (const int lanes : {8, 16, 32}) {
      const PartitionSchedule chosen = conflict_free_partition_schedule(indexed, shape, lanes, 1);
      ASSERT_NO_THROW(check_schedule(chosen));
      const std::string where = std::to_string(level_bits[0]) + " bits, " + std::to_string(lanes) + " lanes";
      EXPECT_GT(turns(plain.levels[0].places, shape, lanes, Rows::plain).mean, 2) << where;
      EXPECT_LT(turns(chosen.levels[0].places, shape, lanes, Rows::plain).mean, 1.1) << where;
    }
  }
}

TEST(ConflictFreePlaces, AnyNumberOfThreads) {
  const std::uint64_t count = (std::uint64_t{1} << 16) + 5;
  const Indexed indexed(shuffled(count, 2), Direction::gather);
  const PartitionShape shape{.count = count, .chunk_bits = 11, .level_bits = {3, 3}};
  const PartitionSchedule one = conflict_free_partition_schedule(indexed, shape, 32, 1);
  const PartitionSchedule four = conflict_free_partition_schedule(indexed, shape, 32, 4);
  for (std::size_t level = 0; level < 2; ++level) {
    EXPECT_EQ(one.levels[level].places, four.levels[level].places);
    EXPECT_EQ(one.levels[level].starts, four.levels[level].starts);
    EXPECT_EQ(one.levels[level].offsets, four.levels[level].offsets);
  }
  EXPECT_EQ(one.last, four.last);
}

TEST(ConflictFreePlaces, RefusesOtherNumbersOfLanes) {
  const Indexed indexed(shuffled(8, 1), Direction::scatter);
  const PartitionShape shape{.count = 8, .chunk_bits = 3, .level_bits = {}};
  for (const int lanes : {-4, 0, 1, 3, 12, 64}) {
    SCOPED_TRACE(lanes);
    test::expect_refused(ErrorCode::value, std::to_string(lanes) + " lanes",
                         [&] { conflict_free_partition_schedule(indexed, shape, lanes); });
  }
}

// The table of docs/theory/partition-passes.md: chunks of 2^12 and one level of 6 bits, mean runs of 64.
TEST(ConflictFreePlaces, TurnsOfALevel) {
  struct Case {
    std::string name;
    Entries entries;
    // Turns of a store on the mean: level and last pass, plain and in rows shifted at random.
    double plain;
    double rap;
    double last;
    double last_rap;
  };
  const std::vector<Case> cases{
      {"random", shuffled(std::uint64_t{1} << kBits, 1), 3.5, 3.5, 3.5, 3.5},
      {"transpose", mapped([](std::uint32_t i) { return rotated(i, kHalf); }), 4, 2.4, 8, 2.9},
      {"bit reversal", mapped(reversed), 32, 3.3, 32, 3.3},
      {"shuffle", mapped([](std::uint32_t i) { return rotated(i, 1); }), 1, 1, 2, 1.5},
      {"dealt to every run", mapped([](std::uint32_t i) { return rotated(i, kBits - 6); }), 32, 2, 1, 1},
  };
  const PartitionShape shape{.count = std::uint64_t{1} << kBits, .chunk_bits = 12, .level_bits = {6}};
  for (const Case& each : cases) {
    const Indexed indexed(each.entries, Direction::scatter);
    const PartitionSchedule plain = partition_schedule(indexed, shape);
    const PartitionSchedule chosen = conflict_free_partition_schedule(indexed, shape, 32);
    ASSERT_NO_THROW(check_schedule(chosen)) << each.name;
    const auto mean = [&](const Places& places, Rows rows) { return turns(places, shape, 32, rows).mean; };
    EXPECT_NEAR(mean(plain.levels[0].places, Rows::plain), each.plain, 0.1) << each.name;
    EXPECT_NEAR(mean(plain.levels[0].places, Rows::rap), each.rap, 0.1) << each.name;
    EXPECT_NEAR(mean(plain.last, Rows::plain), each.last, 0.1) << each.name;
    EXPECT_NEAR(mean(plain.last, Rows::rap), each.last_rap, 0.1) << each.name;
    EXPECT_LT(mean(chosen.levels[0].places, Rows::plain), 1.001) << each.name;
  }
}

}  // namespace schedule_conflict_free_places_test
}  // namespace faro::schedule
