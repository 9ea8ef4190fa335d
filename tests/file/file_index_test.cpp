// Files permuted by index arrays, in memory and in files larger than the budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file_sweep_support.hpp"
#include "io/npy.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_index_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::random_bytes;
constexpr auto read_file = testing::read_bytes;
constexpr auto write_file = testing::write_bytes;
namespace fs = std::filesystem;

// Larger than the budget elements go by their places, which are computed; a sweep by itself is refused.
TEST_F(FileSweep, ComputedMapsInAnyMemory) {
  for (const char* const text :
       {"hilbert(2, 6)", "inverse(hilbert(3, 4))", "healpix(4)", "inverse(healpix(4))"}) {
    for (const std::uint64_t width : {1, 4, 12}) {
      const Problem problem{.permutation = parse_permutation(text), .element_bytes = width, .batch = 3};
      const std::uint64_t count = element_count(problem.permutation);
      const Bytes data = random_bytes(count * width * problem.batch, width);
      write_file(directory_ / "in", data);
      Bytes expected(data.size());
      for (std::uint64_t x = 0; x < count * problem.batch; ++x) {
        const std::uint64_t y = x / count * count + apply(problem.permutation, x % count);
        std::copy_n(&data[x * width], width, &expected[y * width]);
      }
      for (const std::uint64_t memory : {count * width, 8 * count * width}) {
        file::Options options = budget(memory);
        options.verify = true;
        const bool is_distributed = file::is_distributed(problem, options);
        EXPECT_EQ(is_distributed, memory == count * width);
        const file::Report report =
            file::run(problem, {.path = directory_ / "in"}, {.path = directory_ / "out"}, options);
        EXPECT_TRUE(report.finished && report.verified) << text;
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << text << ", " << width << ", " << memory;
        fs::remove(directory_ / "out");
        if (is_distributed) {
          EXPECT_EQ(test::code_of([&] { file::Sweep(problem, options); }), ErrorCode::unsupported);
        }
      }
    }
  }
}

TEST_F(FileSweep, IndexArraysOfEveryDirectionAndPlace) {
  constexpr std::uint64_t kCount = 700;
  constexpr std::uint64_t kWidth = 5;
  constexpr std::uint64_t kBatch = 3;
  const Bytes data = random_bytes(kCount * kWidth * kBatch, 2);
  write_file(directory_ / "in", data);
  std::vector<std::uint32_t> index(kCount);
  for (std::uint32_t x = 0; x < kCount; ++x) index[x] = x * 337 % kCount;
  Bytes file = io::npy_header_bytes("'<u4'", std::vector<std::uint64_t>{kCount});
  const auto entries = std::as_bytes(std::span(index));
  file.insert(file.end(), entries.begin(), entries.end());
  write_file(directory_ / "index.npy", file);
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    Bytes expected(data.size());
    for (std::uint64_t x = 0; x < kCount * kBatch; ++x) {
      const std::uint64_t other = x / kCount * kCount + index[x % kCount];
      const std::uint64_t from = direction == Direction::scatter ? x : other;
      const std::uint64_t to = direction == Direction::scatter ? other : x;
      std::copy_n(&data[from * kWidth], kWidth, &expected[to * kWidth]);
    }
    for (const std::uint64_t memory : {9000, 60000, 600000}) {
      for (const bool verify : {false, true}) {
        file::Options options = budget(memory);
        options.verify = verify;
        const file::Input in{.path = directory_ / "in"};
        const file::Output out{.path = directory_ / "out"};
        const auto by_file =
            file::permute_indexed({.path = directory_ / "index.npy", .direction = direction, .batch = kBatch},
                                  kWidth, in, out, options);
        EXPECT_TRUE(by_file.finished);
        EXPECT_EQ(by_file.verified, verify);
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << memory;
        fs::remove(directory_ / "out");
        const Problem problem{
            .permutation = Indexed(index, direction), .element_bytes = kWidth, .batch = kBatch};
        EXPECT_TRUE(file::permute_indexed(problem, in, out, options).finished);
        EXPECT_TRUE(read_file(directory_ / "out") == expected) << memory;
        fs::remove(directory_ / "out");
        EXPECT_EQ(files(), 2U);
      }
    }
  }
  const Problem problem{.permutation = Indexed(index, Direction::scatter), .element_bytes = kWidth};
  EXPECT_EQ(test::code_of([&] {
              file::permute_indexed(problem, {directory_ / "in", 0}, {directory_ / "out"}, budget(3000));
            }),
            ErrorCode::value);
}

TEST_F(FileSweep, IndexFilesLargerThanTheBudget) {
  constexpr std::uint64_t kCount = 3000;
  constexpr std::uint64_t kWidth = 6;
  const Bytes data = random_bytes(kCount * kWidth, 2);
  write_file(directory_ / "in", data);
  std::vector<std::uint64_t> places(kCount);
  for (std::uint64_t x = 0; x < kCount; ++x) places[x] = x * 1237 % kCount;
  Bytes expected(data.size());
  for (std::uint64_t x = 0; x < kCount; ++x)
    std::copy_n(&data[x * kWidth], kWidth, &expected[places[x] * kWidth]);
  const auto write_index = [&](bool wide) {
    Bytes file = io::npy_header_bytes(wide ? "'<u8'" : "'<u4'", std::vector<std::uint64_t>{kCount});
    for (const std::uint64_t place : places) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&place);
      file.insert(file.end(), bytes, bytes + (wide ? 8 : 4));
    }
    write_file(directory_ / "index.npy", file);
  };
  const auto scatter = [&](std::uint64_t memory) {
    file::permute_indexed(file::IndexFile{.path = directory_ / "index.npy"}, kWidth, {directory_ / "in", 0},
                          {directory_ / "out"}, budget(memory));
  };
  for (const bool wide : {false, true}) {
    write_index(wide);
    for (const std::uint64_t memory : {6000, 200000}) {
      scatter(memory);
      EXPECT_TRUE(read_file(directory_ / "out") == expected);
      fs::remove(directory_ / "out");
      for (const std::uint64_t wrong : {places[8], kCount, ~std::uint64_t{0}}) {
        const std::uint64_t right = std::exchange(places[9], wrong);
        write_index(wide);
        EXPECT_EQ(test::code_of([&] { scatter(memory); }), ErrorCode::value) << wrong << ", " << memory;
        EXPECT_EQ(files(), 2U);
        places[9] = right;
        write_index(wide);
      }
    }
  }
}

}  // namespace file_index_test
}  // namespace faro
