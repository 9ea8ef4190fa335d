// The loops that everything else is held to, held themselves to a hand-written one.
#include "faro/oracle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "faro/permutation/maps.hpp"

namespace faro {
namespace {

std::vector<unsigned char> numbered(std::uint64_t bytes) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 31 + i / 251);
  return data;
}

std::vector<unsigned char> expected(const Problem& problem, const std::vector<unsigned char>& in) {
  const auto& map = std::get<Affine>(problem.permutation);
  const std::uint64_t elements = element_count(problem.permutation);
  std::vector<unsigned char> out(in.size());
  for (std::uint64_t b = 0; b < problem.batch; ++b) {
    for (std::uint64_t x = 0; x < elements; ++x) {
      std::memcpy(out.data() + (b * elements + map(x)) * problem.element_bytes,
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

}  // namespace
}  // namespace faro
