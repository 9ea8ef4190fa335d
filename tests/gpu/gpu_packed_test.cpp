// Elements smaller than a byte on a GPU, held against the CPU engine, bit by bit, between guard zones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "engines/cuda_index.hpp"
#include "faro/packed.hpp"
#include "gpu/gpu_rows_support.hpp"
#include "packed_support.hpp"

namespace faro::testing {
namespace gpu_packed_test {

using gpu_rows::Placed;
using packed_support::a_layout;
using packed_support::an_order;
using packed_support::small_bits;
using Bytes = gpu_rows::Bytes;

class GpuPacked : public GpuTest {};

void expect_moved(const PackedProblem& problem, std::uint64_t in_offset = 0, std::uint64_t out_offset = 0) {
  const PackedPlan by_cpu(problem);
  const PackedPlan plan(problem, {.engine = Engine::cuda});
  const Bytes in = gpu_rows::random_bytes(plan.in_bytes(), problem.element_bits);
  Bytes expected = gpu_rows::random_bytes(plan.out_bytes(), 7);
  const Placed device_in(in, in_offset);
  const Placed device_out(expected, out_offset);
  by_cpu.run(in, expected);
  plan.run(device_in.span(), device_out.span());
  EXPECT_TRUE(device_out.get() == expected)
      << packed_support::text(problem, plan) << ", offsets " << in_offset << ", " << out_offset;
}

TEST_F(GpuPacked, AffineMapsOfAnySize) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const int n = trial < 300 ? static_cast<int>(3 + random() % 18) : static_cast<int>(20 + random() % 8);
    const Affine map = trial % 3 == 0   ? maps::random_bmmc(n, random())
                       : trial % 3 == 1 ? maps::random_bpc(n, random())
                                        : maps::bit_reversal(n);
    expect_moved({.permutation = map,
                  .element_bits = small_bits(random),
                  .batch = 1 + random() % (n < 16 ? 300 : 3),
                  .in = {.order = an_order(random)},
                  .out = {.order = an_order(random)}},
                 trial % 4 == 0 ? random() % 20 : 0, trial % 4 == 0 ? random() % 20 : 0);
    if (HasFailure()) return;
  }
}

TEST_F(GpuPacked, EveryOrderOfSixIndexBits) {
  std::mt19937_64 random(2);
  std::vector<int> order(6);
  std::iota(order.begin(), order.end(), 0);
  do {
    const Affine inner(maps::permute_bits(order).matrix(), random() % 64);
    for (const std::uint32_t bits : {1U, 2U, 4U}) {
      expect_moved({.permutation = inner, .element_bits = bits});
      expect_moved({.permutation = direct_sum(inner, maps::random_bmmc(10, random())), .element_bits = bits});
    }
    if (HasFailure()) return;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(GpuPacked, MatricesOfAnySides) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const std::uint64_t most = trial % 10 == 0 ? 5000 : 400;
    const std::uint64_t rows = 1 + random() % most;
    const std::uint64_t columns = 1 + random() % most;
    const std::uint32_t bits = small_bits(random);
    expect_moved({.permutation = maps::transpose_any(rows, columns),
                  .element_bits = bits,
                  .batch = 1 + random() % 3,
                  .in = a_layout(columns, bits, random),
                  .out = a_layout(rows, bits, random),
                  .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
                 random() % 9, random() % 9);
    if (HasFailure()) return;
  }
}

TEST_F(GpuPacked, AxesFlipsAndRollsOfAnyExtents) {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t rank = 1 + random() % 5;
    std::vector<std::uint64_t> shape(rank);
    std::vector<int> order(rank);
    std::vector<Cyclic> moves(rank);
    for (std::size_t a = 0; a < rank; ++a) {
      shape[a] = 1 + random() % (a + 2 >= rank ? 200 : 9);
      order[a] = static_cast<int>(a);
      moves[a] = {.count = shape[a], .shift = random() % 2 == 0 ? 0 : random() % shape[a]};
      if (random() % 4 == 0) moves[a] = {.count = shape[a], .shift = random() % shape[a], .reversed = true};
    }
    std::shuffle(order.begin(), order.end(), random);
    const std::uint32_t bits = small_bits(random);
    const Permutation permutation =
        trial % 2 == 0 ? Permutation(CyclicAxes(shape, order, moves)) : Permutation(Axes(shape, order));
    expect_moved({.permutation = permutation,
                  .element_bits = bits,
                  .batch = 1 + random() % 3,
                  .in = a_layout(shape.back(), bits, random),
                  .out = a_layout(shape[static_cast<std::size_t>(order.back())], bits, random),
                  .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
                 random() % 9, random() % 9);
    if (HasFailure()) return;
  }
}

TEST_F(GpuPacked, LongRunsForwardsAndBackwards) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const std::uint64_t count = 8000 + random() % 3'000'000;
    const std::uint32_t bits = small_bits(random);
    const std::uint64_t rows = 1 + random() % 5;
    const Permutation permutation =
        trial % 3 == 0 ? Permutation(maps::roll(count, random() % count))
        : trial % 3 == 1
            ? Permutation(maps::flip(count))
            : Permutation(CyclicAxes(
                  {rows, 3, count / 15}, {1, 0, 2},
                  {{.count = rows},
                   {.count = 3},
                   {.count = count / 15, .shift = random() % (count / 15), .reversed = random() % 2 == 0}}));
    expect_moved({.permutation = permutation,
                  .element_bits = bits,
                  .in = {.first_bit = random() % 40, .order = an_order(random)},
                  .out = {.first_bit = random() % 40, .order = an_order(random)}},
                 random() % 9, random() % 9);
    if (HasFailure()) return;
  }
}

// Past 2^32 bytes, whose bits take more than 32 bits to number.
TEST_F(GpuPacked, LargeArrays) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  if (free_device_bytes() < 10 * kGiB) GTEST_SKIP() << "needs more device memory";
  expect_moved({.permutation = maps::transpose(1 << 18, 1 << 17), .element_bits = 1});
  expect_moved({.permutation = Axes({3, 100'003, 30'001}, {0, 2, 1}), .element_bits = 4});
}

TEST_F(GpuPacked, IndexArraysAndWhatBecomesOne) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 120; ++trial) {
    const std::uint64_t count = trial < 3 ? static_cast<std::uint64_t>(trial) : 1 + random() % 60'000;
    const std::uint32_t bits =
        trial % 2 == 0 ? small_bits(random) : 1 + static_cast<std::uint32_t>(random() % 100);
    Permutation permutation = Indexed::random(count, random());
    if (trial % 4 == 1) permutation = Indexed::random(count, random()).inverse();
    if (trial % 4 == 2 && count % 2 == 1) permutation = maps::multiply(count, 2);
    if (trial % 4 == 3) permutation = maps::transpose_any(count, 3);
    PackedLayout in = a_layout(1 + random() % (count + 1), bits, random);
    const PackedLayout out = a_layout(1 + random() % (count + 1), bits, random);
    if (8 % bits != 0) in.order = out.order;
    expect_moved({.permutation = permutation,
                  .element_bits = bits,
                  .batch = 1 + random() % 3,
                  .in = in,
                  .out = out,
                  .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero},
                 random() % 9, random() % 9);
    if (HasFailure()) return;
  }
}

TEST_F(GpuPacked, IndexArraysOfTheDevice) {
  for (const Direction direction : {Direction::scatter, Direction::gather}) {
    const Indexed drawn = Indexed::random(70'001, 3);
    const Indexed host = direction == Direction::scatter ? drawn : drawn.redirected(direction);
    const Indexed there = cuda::to_device(host);
    const PackedPlan by_cpu({.permutation = host, .element_bits = 2});
    const PackedPlan plan({.permutation = there, .element_bits = 2}, {.engine = Engine::cuda});
    const Bytes in = gpu_rows::random_bytes(plan.in_bytes(), 1);
    Bytes expected(plan.out_bytes());
    by_cpu.run(in, expected);
    const Placed device_in(in);
    const Placed device_out(Bytes(plan.out_bytes()));
    plan.run(device_in.span(), device_out.span());
    EXPECT_TRUE(device_out.get() == expected);
  }
}

// Rows of whole bytes by ordinary plans, rows of odd lengths by words.
TEST_F(GpuPacked, LongElements) {
  std::mt19937_64 random(7);
  for (const std::uint32_t bits : {8U, 24U, 32U, 33U, 100U, 128U, 999U, 4096U}) {
    for (const Permutation& permutation :
         {Permutation(Axes({7, 50, 3}, {2, 0, 1})), Permutation(maps::flip(3001)),
          Permutation(maps::bit_reversal(12)), Permutation(Indexed::random(9999, random()))}) {
      const std::uint64_t first = bits % 8 == 0 ? 0 : random() % 40;
      expect_moved({.permutation = permutation,
                    .element_bits = bits,
                    .batch = 1 + random() % 2,
                    .in = {.first_bit = first},
                    .out = {.first_bit = bits % 8 == 0 ? 128U : random() % 40},
                    .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero});
      if (HasFailure()) return;
    }
  }
}

TEST_F(GpuPacked, InPlace) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = trial < 150 ? static_cast<int>(3 + random() % 18) : static_cast<int>(20 + random() % 7);
    const Affine map = trial % 3 == 0 ? maps::random_bmmc(n, random())
                       : trial % 3 == 1
                           ? maps::random_bpc(n, random())
                           : maps::transpose(std::uint64_t{1} << n / 2, std::uint64_t{1} << (n + 1) / 2);
    const PackedLayout layout{.first_bit = trial % 5 == 0 ? 8 * (random() % 20) : 0,
                              .order = an_order(random)};
    const PackedProblem problem{.permutation = map,
                                .element_bits = trial % 7 == 0 ? 16 : small_bits(random),
                                .batch = 1 + random() % (n < 16 ? 300 : 3),
                                .in = layout,
                                .out = layout,
                                .pads = random() % 2 == 0 ? PadBits::keep : PadBits::zero};
    if (problem.element_bits == 16 && layout.first_bit % 16 != 0) continue;
    const PackedPlan plan(problem, {.engine = Engine::cuda});
    Bytes expected = gpu_rows::random_bytes(plan.in_bytes(), random());
    const Placed device(expected, trial % 4 == 0 && problem.element_bits < 8 ? random() % 20 : 0);
    PackedPlan(problem).run(expected);
    plan.run(device.span());
    EXPECT_TRUE(device.get() == expected) << packed_support::text(problem, plan);
    if (HasFailure()) return;
  }
}

TEST_F(GpuPacked, RefusesOtherMemory) {
  const PackedPlan plan({.permutation = maps::gray(12)}, {.engine = Engine::cuda});
  Bytes host(plan.in_bytes());
  const Placed device(host);
  EXPECT_NE(gpu_rows::refusal([&] { plan.run(host, device.span()); }), "");
  EXPECT_NE(gpu_rows::refusal([&] { plan.run(host); }), "");
  EXPECT_NE(gpu_rows::refusal([&] { PackedPlan(plan.problem()).run(device.span(), host); }), "");
  EXPECT_NE(gpu_rows::refusal([&] { PackedPlan(plan.problem()).run(device.span()); }), "");
  const PackedPlan flip({.permutation = maps::flip(100)}, {.engine = Engine::cuda});
  const Placed small(Bytes(flip.in_bytes()));
  EXPECT_NE(gpu_rows::refusal([&] { flip.run(small.span()); }), "");
}

}  // namespace gpu_packed_test
}  // namespace faro::testing
