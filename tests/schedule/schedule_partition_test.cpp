// Partition schedules against an oracle that follows every element by the definition, in tables and sweeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/schedule/index_schedule.hpp"
#include "refusal.hpp"

namespace faro::schedule {
namespace schedule_partition_test {

using Places = std::vector<std::uint16_t>;
using Entries = std::vector<std::uint64_t>;

Indexed scatter(const Entries& entries) { return {entries, Direction::scatter}; }

Indexed scatter32(const Entries& entries) {
  return {std::vector<std::uint32_t>(entries.begin(), entries.end()), Direction::scatter};
}

Entries shuffled(std::uint64_t count, std::uint64_t seed) {
  Entries entries(count);
  std::iota(entries.begin(), entries.end(), std::uint64_t{0});
  std::mt19937_64 random(seed);
  std::shuffle(entries.begin(), entries.end(), random);
  return entries;
}

std::string text(const PartitionShape& shape) {
  std::string text =
      "count " + std::to_string(shape.count) + ", chunks 2^" + std::to_string(shape.chunk_bits) + ", levels";
  for (const int bits : shape.level_bits) text += " " + std::to_string(bits);
  return text;
}

// The only schedule there may be, made element by element: each level is a stable sort of regions by bucket.
PartitionSchedule oracle(Entries targets, const PartitionShape& shape) {
  PartitionSchedule schedule{.shape = shape, .levels = {}, .last = {}};
  for (int l = 0; l < shape.levels(); ++l) {
    const std::uint64_t buckets = shape.buckets(l);
    PartitionLevel level;
    level.places.resize(shape.count);
    Entries next(shape.count);
    std::vector<std::uint32_t> filled;  // of the region's buckets
    for (std::uint64_t base = 0; base < shape.count; base += shape.chunk_elements()) {
      if (base % (std::uint64_t{1} << shape.region_bits(l)) == 0) filled.assign(buckets, 0);
      const std::uint64_t region = base >> shape.region_bits(l) << shape.region_bits(l);
      std::vector<std::vector<std::uint64_t>> members(buckets);
      for (std::uint64_t i = base; i < std::min(base + shape.chunk_elements(), shape.count); ++i) {
        members[(targets[i] >> shape.region_bits(l + 1)) % buckets].push_back(i);
      }
      std::uint16_t place = 0;
      for (std::uint64_t b = 0; b < buckets; ++b) {
        level.starts.push_back(place);
        level.offsets.push_back(filled[b]);
        for (const std::uint64_t i : members[b]) {
          level.places[i] = place++;
          next[region + (b << shape.region_bits(l + 1)) + filled[b]++] = targets[i];
        }
      }
    }
    targets = next;
    schedule.levels.push_back(level);
  }
  for (const std::uint64_t target : targets) {
    schedule.last.push_back(static_cast<std::uint16_t>(target % shape.chunk_elements()));
  }
  return schedule;
}

std::string difference(const PartitionSchedule& a, const PartitionSchedule& b) {
  if (!(a.shape == b.shape)) return "shape";
  if (a.levels.size() != b.levels.size()) return "number of levels";
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    const std::string at = " at level " + std::to_string(l);
    if (a.levels[l].places != b.levels[l].places) return "places" + at;
    if (a.levels[l].starts != b.levels[l].starts) return "starts" + at;
    if (a.levels[l].offsets != b.levels[l].offsets) return "offsets" + at;
  }
  return a.last == b.last ? "" : "last pass";
}

// Holds what is made, by one thread and by four, from entries of either width, against the oracle.
void expect_right(const Entries& entries, const PartitionShape& shape) {
  const PartitionSchedule wanted = oracle(entries, shape);
  const PartitionSchedule schedule = partition_schedule(scatter32(entries), shape, 1);
  ASSERT_EQ(difference(schedule, wanted), "") << text(shape);
  ASSERT_EQ(difference(partition_schedule(scatter(entries), shape, 4), wanted), "") << text(shape);
  ASSERT_NO_THROW(check_schedule(schedule, 2)) << text(shape);
  ASSERT_EQ(entries_of(schedule), entries) << text(shape);
}

bool reaches(const PartitionShape& shape) { return shape.count <= std::uint64_t{1} << shape.region_bits(0); }

// The example at the head of the header.
const Entries kExample{9, 2, 14, 5, 0, 8, 3, 13, 7, 12, 1, 10, 15, 4, 11, 6};
const PartitionShape kExampleShape{.count = 16, .chunk_bits = 2, .level_bits = {2}};

TEST(Partition, ExampleByHand) {
  const PartitionSchedule made = partition_schedule(scatter(kExample), kExampleShape);
  ASSERT_EQ(made.levels.size(), 1U);
  EXPECT_EQ(made.levels[0].places, (Places{2, 0, 3, 1, 0, 2, 1, 3, 1, 3, 0, 2, 3, 0, 2, 1}));
  EXPECT_EQ(made.levels[0].starts, (Places{0, 1, 2, 3, 0, 2, 2, 3, 0, 1, 2, 3, 0, 0, 2, 3}));
  EXPECT_EQ(made.levels[0].offsets,
            (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 3, 1, 2, 2, 4, 2, 3, 3}));
  EXPECT_EQ(made.last, (Places{2, 0, 3, 1, 1, 3, 0, 2, 1, 0, 2, 3, 2, 1, 0, 3}));
  EXPECT_EQ(entries_of(made), kExample);
  EXPECT_NO_THROW(check_schedule(made));
  EXPECT_EQ(kExampleShape.bytes(), 2U * (2U * 16U) + 6U * 16U);
}

TEST(Partition, DirectionSaysNothing) {
  const PartitionSchedule forwards = partition_schedule(scatter(kExample), kExampleShape);
  const PartitionSchedule backwards = partition_schedule({kExample, Direction::gather}, kExampleShape);
  EXPECT_EQ(difference(forwards, backwards), "");
}

TEST(Partition, EveryLengthTo300) {
  const std::vector<std::pair<int, std::vector<int>>> shapes{{9, {}},
                                                             {1, {8}},
                                                             {2, {7}},
                                                             {4, {5}},
                                                             {8, {1}},
                                                             {3, {6}},
                                                             {5, {3, 2}},
                                                             {4, {2, 3}},
                                                             {2, {3, 2, 2}},
                                                             {1, {2, 2, 2, 2}},
                                                             {1, {1, 1, 1, 1, 1, 1, 1, 1}},
                                                             {4, {9}}};
  std::uint64_t held = 0;
  for (std::uint64_t count = 0; count <= 300; ++count) {
    const Entries entries = shuffled(count, count);
    for (const auto& [chunk_bits, level_bits] : shapes) {
      const PartitionShape shape{.count = count, .chunk_bits = chunk_bits, .level_bits = level_bits};
      if (!reaches(shape)) continue;
      ++held;
      expect_right(entries, shape);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(held, 3000U);
}

TEST(Partition, EveryLengthTo4096) {
  for (std::uint64_t count = 0; count <= 4096; ++count) {
    const Entries entries = shuffled(count, count + 1);
    const int chunk_bits = 1 + static_cast<int>(count % 9);
    const int most_bits = 2 + static_cast<int>(count % 7);
    const PartitionShape shape{
        .count = count, .chunk_bits = chunk_bits, .level_bits = even_levels(count, chunk_bits, most_bits)};
    const PartitionSchedule schedule = partition_schedule(scatter32(entries), shape, 1);
    ASSERT_NO_THROW(check_schedule(schedule, 1)) << text(shape);
    ASSERT_EQ(entries_of(schedule), entries) << text(shape);
  }
}

TEST(Partition, LargeRandom) {
  for (const std::uint64_t count : {65535ULL, 65536ULL, 65537ULL, 100003ULL, 300001ULL, 1ULL << 20}) {
    for (const int chunk_bits : {8, 12, 15}) {
      expect_right(
          shuffled(count, count),
          {.count = count, .chunk_bits = chunk_bits, .level_bits = even_levels(count, chunk_bits, 4)});
      if (HasFatalFailure()) return;
    }
  }
}

// What is hard on one part or another: all of a chunk to one bucket, empty runs at either end, a short last
// chunk.
TEST(Partition, AdversarialOrders) {
  for (const std::uint64_t count :
       {std::uint64_t{1} << 12, (std::uint64_t{1} << 12) - 3, std::uint64_t{4099}}) {
    Entries identity(count);
    std::iota(identity.begin(), identity.end(), std::uint64_t{0});
    Entries reversal(identity.rbegin(), identity.rend());
    Entries rolled = identity;
    std::rotate(rolled.begin(), rolled.begin() + 77, rolled.end());
    // Every chunk goes to one bucket as a whole, the chunks in random order.
    Entries whole_chunks = identity;
    const Entries order = shuffled(count >> 6, 5);
    for (std::uint64_t i = 0; i < order.size() << 6; ++i) whole_chunks[i] = order[i >> 6] << 6 | (i & 63);
    // Neighbours go as far apart as may be: a chunk sends one element to each bucket.
    Entries dealt(count);
    std::uint64_t next = 0;
    for (std::uint64_t first = 0; first < 64; ++first) {
      for (std::uint64_t i = first; i < count; i += 64) dealt[next++] = i;
    }
    Entries swapped = identity;
    std::swap(swapped.front(), swapped.back());
    for (const Entries& entries : {identity, reversal, rolled, whole_chunks, dealt, swapped}) {
      for (const std::vector<int>& level_bits : {std::vector<int>{7}, {4, 3}, {1, 2, 4}}) {
        expect_right(entries, {.count = count, .chunk_bits = 6, .level_bits = level_bits});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Partition, FullChunksOfTheLargestSize) {
  // Starts of 2^15, the chunk's size, behind a bucket that takes everything.
  const std::uint64_t count = std::uint64_t{4} << kMaxChunkBits;
  Entries identity(count);
  std::iota(identity.begin(), identity.end(), std::uint64_t{0});
  expect_right(identity, {.count = count, .chunk_bits = kMaxChunkBits, .level_bits = {2}});
  expect_right(shuffled(65536, 1), {.count = 65536, .chunk_bits = kMaxSoleChunkBits, .level_bits = {}});
}

TEST(Partition, EvenLevels) {
  EXPECT_EQ(even_levels(std::uint64_t{1} << 30, 14, 8), (std::vector<int>{8, 8}));
  EXPECT_EQ(even_levels(std::uint64_t{1} << 29, 14, 8), (std::vector<int>{8, 7}));
  EXPECT_EQ(even_levels((std::uint64_t{1} << 30) + 1, 14, 8), (std::vector<int>{6, 6, 5}));
  EXPECT_EQ(even_levels((std::uint64_t{1} << 14) + 1, 14, 8), (std::vector<int>{1}));
  EXPECT_EQ(even_levels(std::uint64_t{1} << 14, 14, 8), std::vector<int>{});
  EXPECT_EQ(even_levels(0, 14, 8), std::vector<int>{});
  EXPECT_EQ(even_levels(1, 14, 8), std::vector<int>{});
  for (std::uint64_t count = 1; count <= Indexed::kMaxCount; count = count * 3 + 1) {
    for (int chunk_bits = 1; chunk_bits <= kMaxChunkBits; ++chunk_bits) {
      for (int most_bits = 1; most_bits <= kMaxLevelBits; ++most_bits) {
        const PartitionShape shape{.count = count,
                                   .chunk_bits = chunk_bits,
                                   .level_bits = even_levels(count, chunk_bits, most_bits)};
        ASSERT_TRUE(std::is_sorted(shape.level_bits.rbegin(), shape.level_bits.rend()));
        ASSERT_TRUE(reaches(shape)) << text(shape);
        if (shape.levels() == 0) continue;
        ASSERT_LE(shape.level_bits.front() - shape.level_bits.back(), 1);
        ASSERT_LE(shape.level_bits.front(), most_bits);
        if (shape.region_bits(1) > 31) continue;
        ASSERT_NO_THROW(check_shape(shape)) << text(shape);
      }
    }
  }
}

TEST(Partition, SizesOfAShape) {
  const PartitionShape shape{.count = 1000, .chunk_bits = 6, .level_bits = {3, 2}};
  EXPECT_EQ(shape.chunks(), 16U);
  EXPECT_EQ(shape.chunk_size(14), 64U);
  EXPECT_EQ(shape.chunk_size(15), 40U);
  EXPECT_EQ(shape.region_bits(0), 11);
  EXPECT_EQ(shape.region_bits(1), 8);
  EXPECT_EQ(shape.region_bits(2), 6);
  EXPECT_EQ(shape.bytes(), 3U * 2000U + 6U * 16U * (8U + 4U));
}

// --- refusals

std::string refusal(const std::function<void()>& call) { return test::message_of(ErrorCode::value, call); }

void expect_refused(const PartitionShape& shape, const std::string& part) {
  EXPECT_NE(refusal([&] { check_shape(shape); }).find(part), std::string::npos)
      << text(shape) << "\n"
      << refusal([&] { check_shape(shape); });
}

TEST(PartitionErrors, Shapes) {
  expect_refused({.count = 10, .chunk_bits = 0, .level_bits = {}}, "chunks of 2^0");
  expect_refused({.count = 10, .chunk_bits = 17, .level_bits = {}}, "chunks of 2^17");
  expect_refused({.count = 10, .chunk_bits = 16, .level_bits = {1}}, "chunks of 2^16");
  expect_refused({.count = 10, .chunk_bits = 5, .level_bits = {4, 0}}, "0 bits at level 1");
  expect_refused({.count = 10, .chunk_bits = 5, .level_bits = {13, 4}}, "13 bits at level 0");
  expect_refused({.count = 10, .chunk_bits = 5, .level_bits = {-3}}, "-3 bits at level 0");
  expect_refused({.count = 1025, .chunk_bits = 5, .level_bits = {3, 2}}, "1025 elements");
  expect_refused({.count = 10, .chunk_bits = 10, .level_bits = {1, 11, 11}}, "buckets of 2^32");
  expect_refused({.count = 10, .chunk_bits = 1, .level_bits = std::vector<int>(40, 1)}, "buckets of 2^32");
  expect_refused({.count = ~std::uint64_t{0}, .chunk_bits = 10, .level_bits = {}}, "18446744073709551615");
  EXPECT_NO_THROW(check_shape({.count = std::uint64_t{1} << 40, .chunk_bits = 15, .level_bits = {9, 8, 8}}));
  EXPECT_NE(refusal([] { even_levels(100, 3, 0); }).find("at most 0 bits"), std::string::npos);
  EXPECT_NE(refusal([] { even_levels(100, 3, 13); }).find("at most 13 bits"), std::string::npos);
}

TEST(PartitionErrors, Arrays) {
  const auto of_count = [](std::uint64_t count) {
    return [count] {
      partition_schedule(scatter(kExample), {.count = count, .chunk_bits = 2, .level_bits = {3}});
    };
  };
  EXPECT_NE(refusal(of_count(15)).find("16 entries, wanted 15"), std::string::npos) << refusal(of_count(15));
  std::uint32_t entry = 0;
  const Indexed there = Indexed::on_device(&entry, 16, {}, Direction::scatter, 3, nullptr);
  const std::string said = refusal([&] { partition_schedule(there, kExampleShape); });
  EXPECT_NE(said.find("device 3"), std::string::npos) << said;
}

// Every number of the example's schedule changed to every value nearby: refused by name, or still a
// permutation, and safe to run either way round.
TEST(PartitionErrors, EveryChangedNumber) {
  const PartitionSchedule good = partition_schedule(scatter(kExample), kExampleShape);
  int refused = 0;
  int accepted = 0;
  const auto hold = [&](const PartitionSchedule& changed, bool is_place) {
    try {
      check_schedule(changed, 2);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::value);
      ASSERT_NE(std::string(error.what()).find(is_place ? "place" : "run"), std::string::npos)
          << error.what();
      ++refused;
      return;
    }
    ++accepted;
    Entries entries = entries_of(changed);
    std::sort(entries.begin(), entries.end());
    for (std::uint64_t i = 0; i < entries.size(); ++i) ASSERT_EQ(entries[i], i);
  };
  for (std::size_t i = 0; i < 16; ++i) {
    for (const std::uint32_t value : {0U, 1U, 2U, 3U, 4U, 5U, 16U, 32768U, 65535U}) {
      PartitionSchedule places = good;
      places.levels[0].places[i] = static_cast<std::uint16_t>(value);
      hold(places, true);
      PartitionSchedule starts = good;
      starts.levels[0].starts[i] = static_cast<std::uint16_t>(value);
      hold(starts, false);
      PartitionSchedule offsets = good;
      offsets.levels[0].offsets[i] = value == 65535 ? 0xFFFFFFFF : value;
      hold(offsets, false);
      PartitionSchedule last = good;
      last.last[i] = static_cast<std::uint16_t>(value);
      hold(last, true);
    }
  }
  EXPECT_EQ(accepted, 64);  // the value that was there
  EXPECT_EQ(refused, 4 * 16 * 9 - 64);
}

TEST(PartitionErrors, NamesPassChunkAndEntry) {
  PartitionSchedule changed = partition_schedule(scatter(kExample), kExampleShape);
  std::swap(changed.levels[0].places[8], changed.levels[0].places[9]);  // the order inside a chunk is free
  EXPECT_NO_THROW(check_schedule(changed));
  changed.levels[0].places[9] = changed.levels[0].places[8];
  const std::string twice = refusal([&] { check_schedule(changed); });
  EXPECT_NE(twice.find("level 0, chunk 2: place 3 for element 1, a second time"), std::string::npos) << twice;
  changed.levels.pop_back();
  EXPECT_NE(refusal([&] { check_schedule(changed); }).find("0 levels, wanted 1"), std::string::npos);
  changed = partition_schedule(scatter(kExample), kExampleShape);
  changed.last.pop_back();
  EXPECT_NE(refusal([&] { check_schedule(changed); }).find("15 places of the last pass"), std::string::npos);
  changed = partition_schedule(scatter(kExample), kExampleShape);
  changed.levels[0].offsets[7] = 9;
  const std::string where = refusal([&] { check_schedule(changed); });
  EXPECT_NE(where.find("level 0, chunk 1: run 3 at offset 9"), std::string::npos) << where;
}

}  // namespace schedule_partition_test
}  // namespace faro::schedule
