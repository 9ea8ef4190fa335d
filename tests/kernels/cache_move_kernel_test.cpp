// The kernels that move paged caches on a GPU, a thread at a time on the host, queued as the CUDA engine
// queues them: bit for bit against one loop over all numbers, between guard zones.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "block_emulator.hpp"
#include "cache_support.hpp"
#include "engines/cuda/rows/cache_queue.hpp"

namespace faro::testing {
namespace cache_move_kernel_test {

using kernels::kNoFault;
using kernels::RowFaults;

struct Ran {
  std::uint64_t piece_numbers = 0;
  RowFaults tables;
  RowFaults lengths;
};

// `enough_blocks`: where there are more, a block moves some arrays.
Ran run_kernel(DrawnCache& cache, Order order, std::uint64_t enough_blocks) {
  Ran ran;
  std::vector<kernels::CachePair> pairs;
  for (const CacheArrays& each : cache.arrays) {
    pairs.push_back({.in = static_cast<const std::byte*>(each.in),
                     .out = static_cast<std::byte*>(each.out),
                     .in_scale = each.in_scale,
                     .out_scale = each.out_scale});
  }
  cuda::CacheWork work{.move = cache.move,
                       .pairs = pairs.data(),
                       .arrays = pairs.size(),
                       .converts = cache.converts,
                       .enough_blocks = enough_blocks,
                       .table_faults = &ran.tables,
                       .length_faults = &ran.lengths};
  work.move.from = detail::whole_layout(cache.move.from, cache.move.of);
  work.move.to = detail::whole_layout(cache.move.to, cache.move.of);
  work.piece_numbers = cuda::cache_piece_numbers(work.move, cache.arrays, cache.converts);
  ran.piece_numbers = work.piece_numbers;
  HostDevice device({.order = order});
  cuda::move_cache(device, work, cache.tables.tables());
  return ran;
}

Ran expect_moved(const CacheSizes& sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  DrawnCache cache = drawn_cache(sizes, random);
  SCOPED_TRACE(cache.text + ", seed " + std::to_string(seed));
  const Ran ran = run_kernel(cache, seed % 2 == 0 ? Order::forward : Order::backward, 1 + seed % 3);
  for (std::uint64_t a = 0; a < sizes.arrays; ++a) {
    EXPECT_TRUE(cache.out[a].bytes() == cache.expected[a]) << "array " << a;
    EXPECT_TRUE(cache.out[a].whole_around());
  }
  EXPECT_EQ(ran.tables.out_of_range, kNoFault);
  EXPECT_EQ(ran.tables.twice, kNoFault);
  EXPECT_EQ(ran.lengths.out_of_range, kNoFault);
  return ran;
}

// Every width of pieces is reached.
TEST(CacheMoveKernel, MovesBetweenDrawnLayouts) {
  std::mt19937_64 random(2);
  std::set<std::uint64_t> reached;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Number numbers[] = {Number::u8, Number::bf16, Number::f32, Number::i64, Number::c128};
    const Number number = numbers[random() % std::size(numbers)];
    const auto below = [&](std::uint64_t most) { return 1 + random() % most; };
    const Ran ran = expect_moved({.of = {.heads = below(3), .width = below(4) * below(8)},
                                  .from_tokens = below(9),
                                  .to_tokens = below(9),
                                  .sequences = random() % 3,
                                  .tokens = random() % 24,
                                  .ragged = random() % 2 == 0,
                                  .arrays = random() % 12,
                                  .from = number,
                                  .to = number,
                                  .in_offset = random() % 4 == 0 ? random() % 3 : 0,
                                  .out_offset = random() % 4 == 0 ? random() % 3 : 0},
                                 seed);
    reached.insert(ran.piece_numbers * bytes_of(number));
  }
  EXPECT_EQ(reached, (std::set<std::uint64_t>{1, 2, 4, 8, 16}));
}

TEST(CacheMoveKernel, ConvertsBetweenAllFloats) {
  const Number floats[] = {Number::f16,     Number::bf16,        Number::f32,        Number::f8_e4m3fn,
                           Number::f8_e5m2, Number::f8_e4m3fnuz, Number::f8_e5m2fnuz};
  std::set<std::uint64_t> reached;
  std::uint64_t seed = 0;
  for (const Number from : floats) {
    for (const Number to : floats) {
      if (from == to && seed % 2 == 0) continue;
      reached.insert(expect_moved({.tokens = 9, .arrays = 2, .from = from, .to = to, .scaled = true}, ++seed)
                         .piece_numbers);
      reached.insert(
          expect_moved(
              {.of = {.heads = 1, .width = 12}, .tokens = 5, .from = from, .to = to, .scaled = from == to},
              ++seed)
              .piece_numbers);
    }
  }
  EXPECT_EQ(reached, (std::set<std::uint64_t>{1, 8}));
}

TEST(CacheMoveKernel, DividesAsDivisionDoes) {
  std::mt19937_64 random(3);
  const auto drawn = [&](int exponents) {  // of both signs, and what is no usual number
    const auto mantissa = static_cast<std::uint32_t>(random()) & 0x7fffffU;
    const auto exponent =
        static_cast<std::uint32_t>(127 - exponents + static_cast<int>(random() % (2 * exponents + 1)));
    return std::bit_cast<float>(static_cast<std::uint32_t>(random() % 2) << 31 | exponent << 23 | mantissa);
  };
  const float odd[] = {0.0F, -0.0F, 1e-42F, -3e38F, 1e-30F, INFINITY, -INFINITY, NAN};
  for (int round = 0; round < 200'000; ++round) {
    float by = std::abs(drawn(round % 4 == 0 ? 126 : 39));
    if (round % 5 == 0) by = std::bit_cast<float>(std::bit_cast<std::uint32_t>(by) | 0x7fffffU);
    float x[8];
    for (float& each : x) each = drawn(round % 8 == 0 ? 126 : 79);
    if (round % 3 == 0) x[round % 8] = odd[random() % (round % 2 == 0 ? 2 : std::size(odd))];
    float quotient[8];
    std::copy(std::begin(x), std::end(x), quotient);
    kernels::detail::Divisor(by).divide(quotient);
    for (int j = 0; j < 8; ++j) {
      const float wanted = x[j] / by;
      ASSERT_TRUE(std::bit_cast<std::uint32_t>(quotient[j]) == std::bit_cast<std::uint32_t>(wanted) ||
                  (std::isnan(quotient[j]) && std::isnan(wanted)))
          << x[j] << " / " << by;
    }
  }
}

TEST(CacheMoveKernel, TellsOfWrongEntriesAndLeavesThemOut) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    DrawnCache cache = drawn_cache({.sequences = 3, .tokens = 17, .ragged = false}, random);
    const std::uint64_t from_columns = cache.tables.from.size() / 3;
    const std::uint64_t to_columns = cache.tables.to.size() / 3;
    cache.tables.from[from_columns + 2] = seed % 2 == 0 ? -1 : 1000;
    cache.tables.to[2 * to_columns + 1] = seed % 2 == 0 ? 1000 : -7;
    cache.tables.lengths = {17, 17, 17};
    cache.tables.lengths[0] = seed % 2 == 0 ? 18 : -1;
    DrawnTables plain = cache.tables;
    plain.lengths[0] = 0;
    std::vector<std::vector<std::byte>> expected;
    for (std::size_t a = 0; a < cache.arrays.size(); ++a) {
      expected.push_back(cache.out[a].bytes());
      CacheArrays each = cache.arrays[a];
      each.out = expected.back().data();
      move_cache_plainly(cache.move, each, plain, false);
    }
    const Ran ran = run_kernel(cache, Order::forward, 1 + seed % 3);
    for (std::size_t a = 0; a < cache.arrays.size(); ++a) EXPECT_TRUE(cache.out[a].bytes() == expected[a]);
    EXPECT_EQ(ran.tables.out_of_range, from_columns + 2);
    EXPECT_EQ(ran.tables.twice, 2 * to_columns + 1);
    EXPECT_EQ(ran.lengths.out_of_range, 0U);
  }
}

}  // namespace cache_move_kernel_test
}  // namespace faro::testing
