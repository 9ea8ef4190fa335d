// Records shuffled by a seed, from file to file.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/buckets.hpp"
#include "file/record_shuffle.hpp"
#include "file_sweep_support.hpp"

namespace faro {
namespace file_shuffle_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::joined;
using testing::random_bytes;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;
namespace fs = std::filesystem;

TEST_F(FileSweep, ASeedPermutesAnyCount) {
  for (const std::uint64_t count : {1, 2, 3, 100, 4096, 4097, 5000, 65536, 100003}) {
    for (const std::uint64_t seed : {0, 1, 12345}) {
      const file::RecordShuffle shuffle(count, seed);
      std::vector<bool> taken(count, false);
      for (std::uint64_t x = 0; x < count; ++x) {
        const std::uint64_t y = shuffle(x);
        ASSERT_LT(y, count);
        ASSERT_FALSE(taken[y]) << count << " by seed " << seed;
        taken[y] = true;
        ASSERT_EQ(shuffle.inverse(y), x);
      }
      std::vector<std::uint64_t> places(count);
      // By vectors, from anywhere.
      for (const bool inverse : {false, true}) {
        for (const std::uint64_t first : {std::uint64_t{0}, count / 3, count - 1}) {
          const std::span<std::uint64_t> part = std::span(places).first(count - first);
          shuffle.fill(first, inverse, part);
          for (std::uint64_t i = 0; i < part.size(); ++i)
            ASSERT_EQ(part[i], inverse ? shuffle.inverse(first + i) : shuffle(first + i)) << count;
        }
      }
    }
  }
  // Files that were shuffled are put back by later versions, too.
  const file::RecordShuffle few(8, 7);
  const file::RecordShuffle many(1000000, 7);
  EXPECT_EQ((std::vector{few(0), few(1), few(2), few(7)}), (std::vector<std::uint64_t>{1, 4, 5, 7}));
  EXPECT_EQ((std::vector{many(0), many(1), many(999999)}),
            (std::vector<std::uint64_t>{794625, 798155, 520799}));
}

// Every place is about as likely for every record: 16 cells, 3 degrees of 5 sigma.
TEST_F(FileSweep, SeedsSpreadEvenly) {
  constexpr std::uint64_t kCount = 5000;
  constexpr int kSeeds = 8000;
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, kCount - 1}) {
    std::array<int, 16> cells{};
    std::array<int, 16> steps{};  // of a record and its neighbour
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const file::RecordShuffle shuffle(kCount, seed);
      const std::uint64_t y = shuffle(x);
      ++cells[y * 16 / kCount];
      ++steps[(shuffle((x + 1) % kCount) + kCount - y) % kCount * 16 / kCount];
    }
    for (const int cell : cells) EXPECT_NEAR(cell, kSeeds / 16, 110) << x;
    for (const int step : steps) EXPECT_NEAR(step, kSeeds / 16, 110) << x;
  }
}

// What a random permutation has one of on the mean, and fewer rounds more: records that stay, and neighbours
// that stay neighbours. 400 seeds; 5 sigma are 100. And each sixteenth sends as much to each, 5 sigma of 256.
TEST_F(FileSweep, SeedsLeaveNoTraceOfTheOrder) {
  for (const std::uint64_t count : {4097, 5000, 8192}) {
    constexpr int kSeeds = 400;
    int stay = 0;
    int neighbours = 0;
    double table = 0;
    std::vector<std::uint64_t> places(count);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      file::RecordShuffle(count, seed).fill(0, false, places);
      std::array<int, 256> sent{};
      for (std::uint64_t x = 0; x < count; ++x) {
        stay += places[x] == x ? 1 : 0;
        neighbours += x > 0 && places[x] == places[x - 1] + 1 ? 1 : 0;
        ++sent[x * 16 / count * 16 + places[x] * 16 / count];
      }
      const double even = static_cast<double>(count) / 256;
      for (const int each : sent) table += (each - even) * (each - even) / even;
    }
    EXPECT_NEAR(stay, kSeeds, 100) << count;
    EXPECT_NEAR(neighbours, kSeeds, 100) << count;
    EXPECT_NEAR(table / kSeeds, 15 * 15, 5.5) << count;  // degrees of freedom
  }
}

TEST_F(FileSweep, ShufflesAreTheSameForEveryBudget) {
  for (const std::uint64_t width : {1, 12, 100}) {
    for (const std::uint64_t count : {1, 700, 6001}) {
      const Bytes data = random_bytes(count * width, width);
      write_file(directory_ / "in", joined(random_bytes(77, 1), data));
      const file::RecordShuffle shuffle(count, 5);
      Bytes expected(data.size());
      for (std::uint64_t x = 0; x < count; ++x)
        std::copy_n(&data[x * width], width, &expected[shuffle(x) * width]);
      for (const std::uint64_t records : {std::uint64_t{100}, std::uint64_t{1000}, 4 * count}) {
        for (const file::Io io : {file::Io::automatic, file::Io::threads}) {
          const file::Options options = budget(3 * (width + 4) * records + 8 * records, io);
          file::Shuffle asked{.records = count, .record_bytes = width, .seed = 5};
          const file::Report report =
              file::shuffle(asked, {directory_ / "in", 77}, {directory_ / "out"}, options);
          ASSERT_TRUE(report.finished);
          ASSERT_TRUE(read_file(directory_ / "out") == expected)
              << count << " of " << width << ", " << records;
          EXPECT_EQ(report.facts.sweeps, count > records * 2 ? 2 : 1) << count << ", " << records;
          asked.inverse = true;
          file::shuffle(asked, {directory_ / "out", 0}, {directory_ / "back"}, options);
          ASSERT_TRUE(read_file(directory_ / "back") == data);
        }
      }
    }
  }
}

// Cancelled in either sweep and gone on with; verified by sums.
TEST_F(FileSweep, ShufflesAreVerifiedAndResumed) {
  constexpr std::uint64_t kCount = 20011;
  for (const std::uint64_t width : {4, 40}) {
    const Bytes data = random_bytes(kCount * width, width);
    write_file(directory_ / "in", data);
    const file::RecordShuffle shuffle(kCount, 8);
    Bytes expected(data.size());
    for (std::uint64_t x = 0; x < kCount; ++x)
      std::copy_n(&data[x * width], width, &expected[shuffle(x) * width]);
    const file::Shuffle asked{.records = kCount, .record_bytes = width, .seed = 8};
    const auto run = [&](double part, bool resume, bool verify) {
      file::Options options = budget(kCount * width);
      options.keep_unfinished = true;
      options.checkpoint_seconds = 0;
      options.resume = resume;
      options.verify = verify;
      double done = 0;
      options.progress = [&](const file::Progress& now) {
        done = static_cast<double>(now.done_bytes) / static_cast<double>(now.total_bytes);
      };
      options.cancelled = [&] { return done > part; };
      return file::shuffle(asked, {directory_ / "in", 0}, {directory_ / "out"}, options);
    };
    for (const double part : {0.3, 0.45, 0.6, 0.9}) {
      const bool verify = part < 0.5;
      ASSERT_FALSE(run(part, false, verify).finished);
      EXPECT_FALSE(fs::exists(directory_ / "out"));
      const file::Report report = run(2, true, verify);
      EXPECT_TRUE(report.finished);
      EXPECT_EQ(report.verified, verify);
      EXPECT_GT(report.resumed_tiles, 0U) << part;
      EXPECT_EQ(report.facts.sweeps, 2);
      EXPECT_TRUE(read_file(directory_ / "out") == expected) << width << ", " << part;
      fs::remove(directory_ / "out");
      EXPECT_EQ(files(), 1U);
    }
    // Begun anew, with what lies there of an earlier run.
    ASSERT_FALSE(run(0.6, false, false).finished);
    EXPECT_TRUE(run(2, false, true).finished);
    EXPECT_TRUE(read_file(directory_ / "out") == expected);
    fs::remove(directory_ / "out");
    // A scratch file that changed is made again.
    ASSERT_FALSE(run(0.7, false, false).finished);
    Bytes scratch = read_file(directory_ / ".faro-partial-out-scratch");
    for (std::size_t at = 0; at < scratch.size(); at += 1000) scratch[at] ^= std::byte{1};
    write_file(directory_ / ".faro-partial-out-scratch", scratch);
    const file::Report report = run(2, true, false);
    EXPECT_EQ(report.resumed_tiles, 0U);
    EXPECT_TRUE(read_file(directory_ / "out") == expected);
    fs::remove(directory_ / "out");
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(FileSweep, ShapesOfBucketsKeepToTheBudget) {
  for (const std::uint64_t records : {1UL << 20, 1UL << 30, 1UL << 36}) {
    for (const std::uint64_t width : {1, 4, 100, 4096}) {
      for (const bool is_tagged : {false, true}) {
        for (const std::uint64_t memory : {1UL << 24, 1UL << 30, 1UL << 34}) {
          const auto shape = file::bucket_shape(records, width, is_tagged, memory);
          if (!shape) {
            EXPECT_LT(memory, records * width / 64);
            continue;
          }
          EXPECT_LE(3 * shape->region_bytes, memory + 3 * 4096);
          EXPECT_LE(3 * shape->chunk_records * shape->stored_bytes(), memory);
          EXPECT_LE(shape->chunk_records, 1UL << 32);
          EXPECT_GE(shape->buckets() * shape->bucket_records(), records);
          EXPECT_LT((shape->buckets() - 1) * shape->bucket_records(), records);
        }
      }
    }
  }
  // 4 GiB of 4 bytes in 1 GiB: nothing but the data is moved, and 4 bytes a cell and chunk.
  const auto shape = file::bucket_shape(1UL << 30, 4, false, 1UL << 30);
  ASSERT_TRUE(shape);
  EXPECT_LT(shape->buckets() * shape->region_bytes, (4UL << 30) * 101 / 100);
}

}  // namespace file_shuffle_test
}  // namespace faro
