// The loops that everything else is held to, held themselves to a hand-written one.
// Sanitized: never, the same few lines, tables or texts.
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "permutation_support.hpp"

namespace faro {
namespace oracle_test {

std::vector<unsigned char> numbered(std::uint64_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 31 + i / 251);
  return data;
}

std::vector<unsigned char> expected(const Problem& problem, const std::vector<unsigned char>& in) {
  const std::vector<std::uint64_t> target = targets(problem.permutation);
  const std::uint64_t elements = target.size();
  std::vector<unsigned char> out(in.size());
  for (std::uint64_t b = 0; b < problem.batch; ++b) {
    for (std::uint64_t x = 0; x < elements; ++x) {
      std::memcpy(out.data() + (b * elements + target[x]) * problem.element_bytes,
                  in.data() + (b * elements + x) * problem.element_bytes, problem.element_bytes);
    }
  }
  return out;
}

TEST(Oracle, NaiveLoopPermutes) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 32U, 128U}) {
    for (const int n : {0, 1, 5, 16}) {
      for (const std::uint64_t batch : {0U, 1U, 3U}) {
        const Problem problem{
            .permutation = maps::random_bmmc(n, width), .element_bytes = width, .batch = batch};
        SCOPED_TRACE(to_text(problem.permutation) + " of " + std::to_string(width) + " bytes");
        const auto in = numbered(total_bytes(problem));
        std::vector<unsigned char> out(in.size());
        permute_naively(problem, in.data(), out.data(), 2);
        EXPECT_TRUE(out == expected(problem, in));
        EXPECT_FALSE(find_mismatch(problem, in.data(), out.data(), 2).has_value());
      }
    }
  }
}

// Every form, of counts that end within a thread's chunk and far from one, and elements of any width.
TEST(Oracle, NaiveLoopPermutesEveryForm) {
  const std::vector<Permutation> kForms{
      maps::roll(0, 0),
      maps::roll(1, 0),
      maps::roll(17'001, 12'345),
      maps::flip(17'001),
      Cyclic{.count = 17'001, .shift = 17, .reversed = true},
      Axes({0}, {0}),
      Axes({}, {}),
      Axes({3, 5}, {1, 0}),
      Axes({21, 27, 31}, {2, 0, 1}),
      Axes({7, 5, 3, 2, 11, 8}, {3, 0, 5, 1, 4, 2}),
      Indexed::random(0, 1),
      Indexed::random(17'001, 3),
      Indexed::random(17'001, 4).inverse(),
  };
  for (const Permutation& permutation : kForms) {
    for (const std::uint64_t width : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 100U}) {
      for (const std::uint64_t batch : {0U, 1U, 3U}) {
        const Problem problem{.permutation = permutation, .element_bytes = width, .batch = batch};
        SCOPED_TRACE(to_text(permutation) + " of " + std::to_string(width) + " bytes");
        const auto in = numbered(total_bytes(problem));
        const int threads = width % 3 == 0 ? 1 : 2;
        std::vector<unsigned char> out(in.size());
        permute_naively(problem, in.data(), out.data(), threads);
        ASSERT_TRUE(out == expected(problem, in));
        ASSERT_FALSE(find_mismatch(problem, in.data(), out.data(), threads).has_value());
      }
    }
  }
}

TEST(Oracle, FindsWrongBytesOfEveryForm) {
  for (const Permutation& permutation :
       {Permutation(maps::roll(11, 3)), Permutation(maps::flip(11)), Permutation(Axes({3, 4}, {1, 0})),
        Permutation(Indexed::random(11, 1)), Permutation(Indexed::random(11, 1).inverse())}) {
    const Problem problem{.permutation = permutation, .element_bytes = 3, .batch = 2};
    const auto in = numbered(total_bytes(problem));
    auto out = expected(problem, in);
    const std::uint64_t array_bytes = out.size() / 2;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] ^= 0x80;
      const auto mismatch = find_mismatch(problem, in.data(), out.data());
      ASSERT_TRUE(mismatch.has_value()) << to_text(permutation) << " byte " << i;
      EXPECT_EQ(mismatch->batch_index, i / array_bytes);
      EXPECT_EQ(mismatch->destination, i % array_bytes / 3);
      EXPECT_EQ(mismatch->destination, apply(permutation, mismatch->source));
      out[i] ^= 0x80;
    }
  }
}

TEST(Oracle, RefusesAnArrayOnADevice) {
  const Problem problem{.permutation = Indexed::on_device(nullptr, 8, {.bytes = 4, .is_signed = false},
                                                          Direction::gather, 0, nullptr),
                        .element_bytes = 4};
  EXPECT_THROW(permute_naively(problem, nullptr, nullptr), Error);
  EXPECT_THROW(find_mismatch(problem, nullptr, nullptr), Error);
}

TEST(Oracle, FindsEveryWrongByte) {
  const Problem problem{.permutation = maps::gray(4), .element_bytes = 2, .batch = 3};
  const auto in = numbered(total_bytes(problem));
  auto out = expected(problem, in);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] ^= 0x80;
    const auto mismatch = find_mismatch(problem, in.data(), out.data());
    ASSERT_TRUE(mismatch.has_value()) << i;
    EXPECT_EQ(mismatch->batch_index, i / 32);
    EXPECT_EQ(mismatch->destination, i % 32 / 2);
    EXPECT_EQ(mismatch->destination, maps::gray(4)(mismatch->source));
    out[i] ^= 0x80;
  }
}

TEST(Oracle, NamesTheFirstMismatch) {
  const Problem problem{.permutation = maps::reverse(18), .element_bytes = 4};
  const auto in = numbered(total_bytes(problem));
  auto out = expected(problem, in);
  out[4 * (262143 - 5)] ^= 1;
  out[4 * (262143 - 200000)] ^= 1;
  const auto mismatch = find_mismatch(problem, in.data(), out.data(), 4);
  ASSERT_TRUE(mismatch.has_value());
  EXPECT_EQ(to_text(*mismatch), "array 0: in[5] is not at out[262138]");
}

}  // namespace oracle_test
}  // namespace faro
