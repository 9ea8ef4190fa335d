// The sums by which sweeps over files are verified.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "faro/faro.hpp"
#include "faro/file.hpp"
#include "file/checksums.hpp"
#include "file_sweep_support.hpp"
#include "oracle.hpp"
#include "refusal.hpp"

namespace faro {
namespace file_sums_test {

using testing::budget;
using testing::Bytes;
using testing::FileSweep;
using testing::random_bytes;

TEST_F(FileSweep, SumsHoldForWhatIsRightAndForNothingElse) {
  const Problem problem{.permutation = maps::random_bmmc(10, 3), .element_bytes = 12, .batch = 3};
  const Bytes data = random_bytes(total_bytes(problem), 1);
  Bytes out(data.size());
  permute_naively(problem, data.data(), out.data(), 1);
  const file::Rows in_rows{.count = 6, .bytes = data.size() / 6, .vectors = {}, .digits = {{6, 6144}}};
  const file::Rows out_rows{.count = 1, .bytes = data.size(), .vectors = {}, .digits = {}};
  const auto code_of = [&](const Bytes& written, std::uint64_t begin, std::uint64_t bytes) {
    file::Checksums sums(file::destinations_of(problem), problem.element_bytes, "the test", 2);
    sums.add_read({.in = in_rows, .out = {}, .move = nullptr}, data.data());
    sums.add_written(out_rows, written.data());
    sums.add_covered(sums.covered(begin, bytes));
    sums.add_covered(sums.covered(0, begin));
    try {
      sums.require_equal(data.size());
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::value;
  };
  EXPECT_EQ(code_of(out, 5000, data.size() - 5000), ErrorCode::value);
  EXPECT_EQ(code_of(out, 5000, data.size() - 5001), ErrorCode::verification);
  Bytes changed = out;
  changed[777] ^= std::byte{1};
  EXPECT_EQ(code_of(changed, 0, data.size()), ErrorCode::verification);
  Bytes swapped = out;
  std::swap_ranges(swapped.begin(), swapped.begin() + 12, swapped.begin() + 1200);
  EXPECT_EQ(code_of(swapped, 0, data.size()), ErrorCode::verification);
  // In the middle of a run, of tiles that are written where they were read.
  const auto code_of_tile = [&](const Bytes& written, std::uint64_t written_bytes) {
    file::Checksums sums(file::destinations_of(problem), problem.element_bytes, "the test", 2);
    sums.add_read({.in = in_rows, .out = {}, .move = nullptr}, data.data());
    sums.add_written(out_rows, written.data());
    sums.add_covered(sums.covered(0, written_bytes) - sums.covered(out_rows));
    return test::code_of([&] {
      sums.require_alike();
      fail(ErrorCode::value, "", "", "");
    });
  };
  EXPECT_EQ(code_of_tile(out, data.size()), ErrorCode::value);
  EXPECT_EQ(code_of_tile(out, data.size() - 12), ErrorCode::verification);
  EXPECT_EQ(code_of_tile(changed, data.size()), ErrorCode::verification);
  EXPECT_EQ(code_of_tile(swapped, data.size()), ErrorCode::verification);
}

// A gather says where elements come from.
TEST_F(FileSweep, GathersOfArraysThatFitAreVerified) {
  const Indexed index(std::vector<std::uint32_t>{4, 2, 0, 1, 3}, Direction::gather);
  file::Options options = budget(2000);
  options.verify = true;
  check({.permutation = index, .element_bytes = 4, .batch = 1000}, options);
}

// Where the output's elements come from, by a view's strides, against a walk over its indices.
TEST_F(FileSweep, SourcesOfViews) {
  const Strided view{.extents = {3, 1, 4, 5},
                     .in_strides = {-7, 99, 0, 2},
                     .out_strides = {40, 3, 6, 1},
                     .in_offset = 30,
                     .out_offset = 2};
  const auto sources = file::sources_of(view);
  ASSERT_TRUE(sources);
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      std::array<std::uint64_t, 5> row{};
      (*sources)(2 + 40 * i + 6 * k, row);
      for (std::uint64_t l = 0; l < 5; ++l) EXPECT_EQ(row[l], 30 - 7 * i + 2 * l);
    }
  }
  // 0, 2, 4 and 3, 5, 7: no axis lies inside the other.
  const auto interleaved = file::sources_of({.extents = {2, 3}, .in_strides = {3, 1}, .out_strides = {3, 2}});
  ASSERT_TRUE(interleaved);
  const std::array<std::uint64_t, 6> places{0, 2, 4, 3, 5, 7};
  for (std::uint64_t x = 0; x < places.size(); ++x) {
    std::array<std::uint64_t, 1> source{};
    (*interleaved)(places[x], source);
    EXPECT_EQ(source[0], x);
  }
  EXPECT_FALSE(file::sources_of(
      {.extents = {1 << 20, 1 << 20}, .in_strides = {1 << 20, 1}, .out_strides = {(1 << 20) + 1, 1 << 20}}));
  // A wrong element is found.
  const Bytes data = random_bytes(240, 3);
  const file::Rows in{.count = 1, .bytes = 240, .vectors = {}, .digits = {}};
  const file::Rows out{.count = 1, .bytes = 5, .begin = 42, .vectors = {}, .digits = {}};
  for (const bool is_wrong : {false, true}) {
    file::Checksums sums(*sources, true, 1, "the test", 1);
    Bytes written{data[23], data[25], data[27], data[29], data[is_wrong ? 30 : 31]};
    sums.add_read({.in = in, .out = out, .move = nullptr}, data.data());
    sums.add_written(out, written.data());
    EXPECT_EQ(test::code_of([&] {
                sums.require_equal(5);
                fail(ErrorCode::value, "", "", "");
              }),
              is_wrong ? ErrorCode::verification : ErrorCode::value);
  }
}

TEST_F(FileSweep, VerifiesEveryForm) {
  for (const Permutation& permutation :
       {Permutation(maps::random_bmmc(12, 2)), Permutation(maps::transpose_any(63, 65)),
        Permutation(maps::roll(4000, 17)), Permutation(maps::flip(4001))}) {
    file::Options options = budget(5000);
    options.verify = true;
    check({.permutation = permutation, .element_bytes = 4, .batch = 2}, options);
  }
}

}  // namespace file_sums_test
}  // namespace faro
