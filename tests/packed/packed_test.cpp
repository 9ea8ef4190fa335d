// Permutations of elements of any number of bits, against the loop over bits: every way, with bits of a guard
// around.
#include "faro/packed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "hwy/targets.h"
#include "packed/bit_lines.hpp"
#include "packed_support.hpp"

namespace faro {
namespace {

using namespace packed_support;

// Runs a problem between guards, at any alignment.
void verify(const PackedProblem& problem, std::mt19937_64& random, int threads = 1) {
  const PackedPlan plan(problem, {.threads = threads});
  const std::uint64_t offset = random() % 9;
  const Bytes in_all = random_bytes(plan.in_bytes() + offset, random);
  const Bytes in(in_all.begin() + static_cast<std::ptrdiff_t>(offset), in_all.end());
  const std::uint64_t guard = 16 + random() % 8;
  Bytes out = random_bytes(plan.out_bytes() + 2 * guard, random);
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(guard);
  const Bytes before = out;
  const Bytes wanted =
      expected(problem, in, Bytes(first, first + static_cast<std::ptrdiff_t>(plan.out_bytes())));
  plan.run(std::span(in_all).subspan(offset), std::span(out).subspan(guard, plan.out_bytes()));
  const Bytes got(first, first + static_cast<std::ptrdiff_t>(plan.out_bytes()));
  ASSERT_TRUE(got == wanted) << text(problem, plan);
  EXPECT_EQ(find_packed_mismatch(problem, in, got), "") << text(problem, plan);
  for (std::uint64_t i = 0; i < guard; ++i) {
    ASSERT_EQ(out[i], before[i]);
    ASSERT_EQ(out[out.size() - 1 - i], before[before.size() - 1 - i]);
  }
}

std::string way_of(const PackedProblem& problem) {
  const std::string line = PackedPlan(problem).explain();
  return line.substr(line.find(" bits: ") + 7, 4);
}

TEST(Packed, EveryPermutationOfBitsOfSixIndexBits) {
  std::mt19937_64 random(1);
  std::vector<int> to{0, 1, 2, 3, 4, 5};
  do {
    for (const std::uint32_t bits : {1U, 2U, 4U}) {
      const Affine map(maps::permute_bits(to).matrix(), random() % 64);
      verify({.permutation = map,
              .element_bits = bits,
              .in = {.order = an_order(random)},
              .out = {.order = an_order(random)}},
             random);
    }
  } while (std::next_permutation(to.begin(), to.end()));
}

// Every invertible matrix of 3 bits on the bits inside a byte, on those above and across the two.
TEST(Packed, EveryMatrixOfThreeBitsAnywhereInSix) {
  std::mt19937_64 random(2);
  int invertible = 0;
  for (unsigned columns = 0; columns < 512; ++columns) {
    const std::vector<f2::Word> column{columns & 7, columns >> 3 & 7, columns >> 6};
    const f2::Matrix small = f2::Matrix::from_columns(3, column);
    if (small.rank() < 3) continue;
    ++invertible;
    for (const auto& placed : {std::vector<int>{0, 1, 2}, {3, 4, 5}, {0, 3, 5}, {5, 1, 2}}) {
      f2::Matrix matrix = f2::Matrix::identity(6);
      for (int j = 0; j < 3; ++j) {
        f2::Word image = 0;
        for (int i = 0; i < 3; ++i) {
          if (small.at(i, j)) image |= f2::unit(placed[static_cast<std::size_t>(i)]);
        }
        matrix.set_column(placed[static_cast<std::size_t>(j)], image);
      }
      for (const std::uint32_t bits : {1U, 2U, 4U}) {
        verify({.permutation = Affine(matrix, random() % 64),
                .element_bits = bits,
                .in = {.order = an_order(random)}},
               random);
      }
    }
  }
  EXPECT_EQ(invertible, 168);
}

TEST(Packed, RandomAffineMapsOfAnySize) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const int n = static_cast<int>(random() % 17);
    const Affine map = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random());
    verify({.permutation = map,
            .element_bits = small_bits(random),
            .batch = 1 + random() % 3,
            .in = {.order = an_order(random)},
            .out = {.first_bit = 8 * (random() % 3), .order = an_order(random)},
            .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
           random, 1 + trial % 2);
  }
}

TEST(Packed, LargeAffineMapsTakeTiles) {
  std::mt19937_64 random(4);
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    const PackedProblem problem{.permutation = maps::random_bmmc(21, random()), .element_bits = bits};
    EXPECT_EQ(way_of(problem), "tile");
    verify(problem, random, 2);
    verify({.permutation = maps::bit_reversal(20), .element_bits = bits}, random, 2);
  }
}

TEST(Packed, AffineMapsByEveryInstructionSet) {
  std::mt19937_64 random(14);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    for (int trial = 0; trial < 60; ++trial) {
      const int n = 10 + trial % 6;
      verify({.permutation = trial % 2 == 0 ? maps::random_bmmc(n, random()) : maps::random_bpc(n, random()),
              .element_bits = small_bits(random),
              .in = {.order = an_order(random)}},
             random);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Lines of 512 bits by every kind of matrix inside them: dense ones, and few steps of which few bits leave
// their bytes.
TEST(Packed, LinesAreTurnedByAnyMatrix) {
  std::mt19937_64 random(17);
  int kinds[3] = {};
  for (int trial = 0; trial < 400; ++trial) {
    f2::Matrix matrix = trial % 2 == 0 ? f2::Matrix::identity(9) : maps::random_bpc(9, random()).matrix();
    for (int step = trial / 4 % 12; step > 0; --step) {
      const auto from = static_cast<int>(random() % 9);
      const auto to = static_cast<int>(random() % 9);
      if (from != to) matrix.set_column(to, matrix.column(to) ^ matrix.column(from));
    }
    if (trial % 8 == 0) matrix = maps::random_bmmc(9, random()).matrix();
    ++kinds[static_cast<int>(packed::LineTurn(matrix).kind)];
    verify({.permutation = Affine(matrix, random() % 512), .element_bits = 1, .batch = 1 + random() % 3},
           random);
  }
  for (const int kind : kinds) EXPECT_GT(kind, 20);
}

// Past the caches, where the output begins with a line of memory, and through them where it does not.
TEST(Packed, AffineMapsOfMebibytes) {
  std::mt19937_64 random(18);
  for (int trial = 0; trial < 6; ++trial) {
    const std::uint32_t bits = 1U << trial % 3;
    const int n = 25 - trial % 3;
    const PackedPlan plan({.permutation = trial % 2 == 0   ? maps::random_bmmc(n, random())
                                          : trial % 4 == 1 ? maps::bit_reversal(n)
                                                           : maps::transpose(1U << 11, 1U << (n - 11)),
                           .element_bits = bits});
    const Bytes in = random_bytes(plan.in_bytes(), random);
    Bytes out(plan.out_bytes() + 128);
    void* begin = out.data();
    std::size_t space = out.size();
    auto* const aligned = static_cast<std::byte*>(std::align(64, plan.out_bytes(), begin, space));
    const std::span<std::byte> to(aligned + (trial % 4 == 3 ? 7 : 0), plan.out_bytes());
    plan.run(in, to);
    EXPECT_EQ(find_packed_mismatch(plan.problem(), in, to, 2), "") << plan.explain();
  }
}

// Elements of whole bytes: where they stand at bytes, by ordinary plans.
TEST(Packed, ElementsOfBytes) {
  std::mt19937_64 random(15);
  for (const std::uint32_t bits : {8U, 16U, 24U, 64U, 200U, 1024U}) {
    for (const Permutation& permutation :
         {Permutation(Axes({7, 5, 3}, {2, 0, 1})), Permutation(maps::flip(31)),
          Permutation(maps::roll(301, 77)), Permutation(maps::random_bmmc(6, random())),
          Permutation(Indexed::random(99, random()))}) {
      const PackedProblem problem{.permutation = permutation,
                                  .element_bits = bits,
                                  .batch = 1 + random() % 3,
                                  .in = {.first_bit = random() % 3 * 8},
                                  .out = {.first_bit = random() % 3 * 8},
                                  .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero};
      verify(problem, random);
    }
    const PackedLayout layout{.first_bit = 16};
    const PackedProblem problem{.permutation = maps::random_bmmc(7, random()),
                                .element_bits = bits,
                                .batch = 2,
                                .in = layout,
                                .out = layout,
                                .pads = PadBits::zero};
    const PackedPlan plan(problem);
    const Bytes in = random_bytes(plan.in_bytes(), random);
    Bytes data = in;
    if (bits == 24 || bits == 200) {
      EXPECT_THROW(plan.run(std::span(data)), Error);
      continue;
    }
    plan.run(std::span(data));
    EXPECT_TRUE(data == expected(problem, in, in)) << text(problem, plan);
  }
  EXPECT_EQ(way_of({.permutation = Indexed::random(1000, 3), .element_bits = 24}), "as b");
}

TEST(Packed, MatricesOfAnySides) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 400; ++trial) {
    const std::uint64_t most = trial % 10 == 0 ? 1500 : 90;
    const std::uint64_t rows = 1 + random() % most;
    const std::uint64_t columns = 1 + random() % most;
    const std::uint32_t bits = small_bits(random);
    verify({.permutation = maps::transpose_any(rows, columns),
            .element_bits = bits,
            .batch = 1 + random() % 2,
            .in = a_layout(columns, bits, random),
            .out = a_layout(rows, bits, random),
            .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
           random, 1 + trial % 2);
  }
}

TEST(Packed, AxesFlipsAndRollsOfAnyExtents) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const std::size_t rank = 1 + random() % 5;
    std::vector<std::uint64_t> shape(rank);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 13;
    const DrawnAxes axes = drawn_axes(shape, random);
    const std::uint32_t bits = small_bits(random);
    verify({.permutation = axes.permutation,
            .element_bits = bits,
            .batch = 1 + random() % 3,
            .in = a_layout(axes.row_before, bits, random),
            .out = a_layout(axes.row_after, bits, random),
            .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
           random, 1 + trial % 2);
  }
}

TEST(Packed, LongRollsAndFlips) {
  std::mt19937_64 random(7);
  for (const std::uint32_t bits : {1U, 2U, 4U}) {
    for (const std::uint64_t count : {1U, 7U, 1000U, 300'001U}) {
      verify(
          {.permutation = maps::roll(count, 12345), .element_bits = bits, .in = {.order = an_order(random)}},
          random, 2);
      verify({.permutation = maps::flip(count), .element_bits = bits, .out = {.order = an_order(random)}},
             random, 2);
    }
  }
}

// Runs that lie end to end in pieces longer than one, rows and columns of several axes; by every instruction
// set, at beginnings inside bytes and lines.
TEST(Packed, RunsAndMatricesOfSeveralAxes) {
  std::mt19937_64 random(16);
  const std::vector<std::vector<std::uint64_t>> shapes{{37, 5, 511}, {9, 300, 129},   {3, 7, 11, 301},
                                                       {601, 3, 67}, {2, 2, 65, 517}, {1000, 131}};
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    for (int trial = 0; trial < 40; ++trial) {
      const DrawnAxes axes = drawn_axes(shapes[random() % shapes.size()], random);
      const BitOrder order = an_order(random);
      const bool is_wide = trial % 8 == 0;
      const std::uint32_t bits = is_wide ? 3 : small_bits(random);
      verify({.permutation = axes.permutation,
              .element_bits = bits,
              .in = {.first_bit = random() % 600, .order = order},
              .out = {.first_bit = random() % 600, .order = is_wide ? order : an_order(random)}},
             random, 1 + trial % 2);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

// Also 3, 6 and 12 bits, which lie across bytes, and rows of many elements.
TEST(Packed, IndexArraysAndOtherMapsOfAnyWidth) {
  std::mt19937_64 random(8);
  for (const std::uint32_t bits : {1U, 2U, 3U, 4U, 6U, 7U, 8U, 12U, 24U, 100U}) {
    const BitOrder order = an_order(random);
    for (const std::uint64_t count : {0U, 1U, 2U, 17U, 1000U, 9001U}) {
      const PackedLayout in{.first_bit = random() % 20, .order = order};
      const PackedLayout out{.row_elements = 5, .pitch_bits = 5 * bits + random() % 9, .order = order};
      const Indexed indices = Indexed::random(count, random());
      verify({.permutation = indices, .element_bits = bits, .batch = 2, .in = in, .out = out}, random, 2);
      verify({.permutation = indices.inverse(),
              .element_bits = bits,
              .in = out,
              .out = in,
              .pads = PadBits::zero},
             random);
      if (count > 1)
        verify({.permutation = maps::multiply(count, 7), .element_bits = bits, .in = in, .out = out}, random);
      verify({.permutation = maps::transpose_any(17, count), .element_bits = bits, .in = in, .out = out},
             random, 2);
    }
  }
}

TEST(Packed, EveryWayIsTaken) {
  EXPECT_EQ(way_of({.permutation = maps::transpose_any(257, 512), .element_bits = 1}), "axes");
  EXPECT_EQ(way_of({.permutation = maps::transpose_any(33, 100), .element_bits = 6}), "elem");
  EXPECT_EQ(way_of({.permutation = maps::roll(1000, 3), .element_bits = 6}), "axes");
  EXPECT_EQ(way_of({.permutation = maps::bit_reversal(12), .element_bits = 2}), "tile");
  EXPECT_EQ(way_of({.permutation = Indexed::random(1000, 3), .element_bits = 2}), "elem");
}

TEST(Packed, InPlaceIsTheSameAsOutOfPlace) {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 120; ++trial) {
    const std::uint32_t bits = small_bits(random);
    const int n = 3 + static_cast<int>(random() % (trial < 100 ? 12 : 19));
    const Affine map = trial % 3 == 0   ? maps::random_bmmc(n, random())
                       : trial % 3 == 1 ? maps::random_bpc(n, random())
                                        : maps::bit_reversal(n);
    const PackedLayout layout{.order = an_order(random)};
    const PackedProblem problem{
        .permutation = map, .element_bits = bits, .batch = 1 + random() % 2, .in = layout, .out = layout};
    const PackedPlan plan(problem, {.threads = 1 + trial % 2});
    const Bytes in = random_bytes(plan.in_bytes(), random);
    Bytes data = in;
    plan.run(data);
    ASSERT_TRUE(data == expected(problem, in, in)) << text(problem, plan);
  }
}

TEST(Packed, AMismatchIsFound) {
  std::mt19937_64 random(10);
  const PackedProblem problem{.permutation = maps::transpose_any(5, 7), .element_bits = 4};
  const PackedPlan plan(problem);
  const Bytes in = random_bytes(plan.in_bytes(), random);
  Bytes out(plan.out_bytes());
  plan.run(in, out);
  EXPECT_EQ(find_packed_mismatch(problem, in, out), "");
  out[5] ^= std::byte{0x10};  // element 11 of the output is (1, 2) of 7 x 5
  EXPECT_EQ(find_packed_mismatch(problem, in, out), "array 0: in[9] is not at out[11]");
}

ErrorCode code_of(const PackedProblem& problem) {
  try {
    const PackedPlan plan(problem);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(Packed, RefusesWhatIsImpossible) {
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .element_bits = 0}), ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .element_bits = 40000}), ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .batch = 0}), ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .in = {.pitch_bits = 64}}), ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .in = {.row_elements = 16, .pitch_bits = 63}}),
            ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(60)}), ErrorCode::value);
  EXPECT_EQ(code_of({.permutation = maps::gray(8), .element_bits = 6, .in = {.order = BitOrder::high_first}}),
            ErrorCode::value);
  const PackedPlan plan({.permutation = maps::transpose_any(3, 5)});
  Bytes array(8);
  EXPECT_THROW(plan.run(array, std::span(array).first(7)), Error);
  EXPECT_THROW(plan.run(std::span(array)), Error);
  const PackedPlan gray({.permutation = maps::gray(4)});
  EXPECT_THROW(gray.run(array, array), Error);
  EXPECT_THROW(gray.run(std::span(array).first(7)), Error);
}

}  // namespace
}  // namespace faro
