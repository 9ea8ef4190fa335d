// Paged caches moved by the CPU engine, against one loop over all numbers.
// Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cache_support.hpp"
#include "faro/caches.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace cpu_caches_engine_test {

using test::code_of;
using test::report_of;

void expect_moved(const CacheSizes& sizes, std::uint64_t seed, int threads = 1) {
  std::mt19937_64 random(seed);
  DrawnCache cache = drawn_cache(sizes, random);
  SCOPED_TRACE(cache.text + ", seed " + std::to_string(seed));
  const auto plan = plan_cache_move(cache.move, cache.arrays, {.threads = threads});
  EXPECT_FALSE(plan.on_gpu());
  plan.run(cache.tables.tables());
  plan.check();
  for (std::uint64_t a = 0; a < sizes.arrays; ++a) {
    EXPECT_TRUE(cache.out[a].bytes() == cache.expected[a]) << "array " << a;
    EXPECT_TRUE(cache.out[a].whole_around());
  }
}

TEST(CpuCaches, TheExampleOfTheHeader) {
  const CacheHeads of{.heads = 1, .width = 1};
  std::vector<std::int32_t> in(6 * 2, -1);
  std::vector<std::int32_t> out(8 * 4, -1);
  const int blocks[] = {5, 0, 3, 1};
  for (int token = 0; token < 7; ++token)
    in[static_cast<std::size_t>(blocks[token / 2] * 2 + token % 2)] = token;
  const std::vector<std::int32_t> from{5, 0, 3, 1};
  const std::vector<std::uint16_t> to{2, 7};
  const CacheArrays arrays{.in = in.data(), .out = out.data()};
  const auto plan = plan_cache_move({.of = of,
                                     .from = CacheLayout::nhd(Number::i32, 6, 2, of),
                                     .to = CacheLayout::hnd(Number::i32, 8, 4, of)},
                                    std::span(&arrays, 1));
  plan.run({.from = RowNumbers(std::span(from)), .to = RowNumbers(std::span(to)), .tokens = 7});
  std::vector<std::int32_t> expected(8 * 4, -1);
  for (int token = 0; token < 7; ++token)
    expected[static_cast<std::size_t>((token < 4 ? 8 : 28 - 4) + token)] = token;
  EXPECT_EQ(out, expected);
  EXPECT_NE(plan.explain().find("1 arrays of 1 heads of 1"), std::string::npos) << plan.explain();
}

TEST(CpuCaches, MovesBetweenDrawnLayouts) {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Number numbers[] = {Number::u8,  Number::bf16, Number::f32,
                              Number::i64, Number::c128, Number::f8_e5m2};
    const Number number = numbers[random() % std::size(numbers)];
    const auto below = [&](std::uint64_t most) { return 1 + random() % most; };
    expect_moved({.of = {.heads = below(4), .width = below(33)},
                  .from_tokens = below(20),
                  .to_tokens = below(20),
                  .sequences = random() % 4,
                  .tokens = random() % 50,
                  .ragged = random() % 2 == 0,
                  .arrays = random() % 4,
                  .from = number,
                  .to = number,
                  .in_offset = random() % 3,
                  .out_offset = random() % 3},
                 seed, seed % 2 == 0 ? 1 : 3);
  }
}

TEST(CpuCaches, MovesBetweenBlocksOf16And64) {
  for (const auto& [from, to] : {std::pair{16, 64}, std::pair{64, 16}, std::pair{16, 16}, std::pair{1, 16}}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      expect_moved({.of = {.heads = 4, .width = 64},
                    .from_tokens = static_cast<std::uint64_t>(from),
                    .to_tokens = static_cast<std::uint64_t>(to),
                    .sequences = 3,
                    .tokens = 200,
                    .arrays = 4},
                   seed, 2);
    }
  }
}

TEST(CpuCaches, ConvertsBetweenAllFloats) {
  const Number floats[] = {Number::f16,     Number::bf16,        Number::f32,        Number::f8_e4m3fn,
                           Number::f8_e5m2, Number::f8_e4m3fnuz, Number::f8_e5m2fnuz};
  std::uint64_t seed = 0;
  for (const Number from : floats) {
    for (const Number to : floats) {
      for (const bool scaled : {false, true}) {
        ++seed;
        expect_moved({.of = {.heads = 2, .width = seed % 3 == 0 ? 24U : 16U},
                      .from = from,
                      .to = to,
                      .scaled = scaled},
                     seed);
      }
    }
  }
  expect_moved(
      {.of = {.heads = 1, .width = 2500}, .from = Number::f32, .to = Number::f8_e4m3fn, .scaled = true}, 9);
}

TEST(CpuCaches, SaturatesAndKeepsNaN) {
  const CacheHeads of{.heads = 1, .width = 4};
  const float in[] = {1e6F, -1e6F, std::numeric_limits<float>::quiet_NaN(), 3.0F};
  std::uint8_t out[4] = {};
  const std::uint8_t zero = 0;
  const CacheArrays arrays{.in = in, .out = out, .out_scale = 2};
  plan_cache_move({.of = of,
                   .from = CacheLayout::nhd(Number::f32, 1, 1, of),
                   .to = CacheLayout::nhd(Number::f8_e4m3fn, 1, 1, of)},
                  std::span(&arrays, 1))
      .run({.from = RowNumbers(std::span(&zero, 1)), .to = RowNumbers(std::span(&zero, 1)), .tokens = 1});
  EXPECT_EQ(out[0], 0x7e);  // 448
  EXPECT_EQ(out[1], 0xfe);
  EXPECT_EQ(out[2] & 0x7f, 0x7f);
  EXPECT_EQ(out[3], 0x3c);  // 1.5
}

// A move that is right, of which a part is changed.
struct Wrong {
  CacheHeads of{.heads = 2, .width = 4};
  CacheMove move{.of = of,
                 .from = CacheLayout::nhd(Number::bf16, 4, 2, of),
                 .to = CacheLayout::nhd(Number::bf16, 5, 4, of)};
  std::vector<std::uint16_t> in = std::vector<std::uint16_t>(64, 1);
  std::vector<std::uint16_t> out = std::vector<std::uint16_t>(160, 2);
  std::vector<std::int32_t> from{0, 1, 2, 3, 0, 1};
  std::vector<std::int32_t> to{0, 1, 2, 3};
  std::vector<std::int32_t> lengths{6, 5};
  CacheArrays arrays{.in = in.data(), .out = out.data()};
  std::uint64_t sequences = 2;
  std::uint64_t tokens = 6;

  void run() const {
    plan_cache_move(move, std::span(&arrays, 1))
        .run({.from = RowNumbers(std::span(from)),
              .to = RowNumbers(std::span(to)),
              .sequences = sequences,
              .tokens = tokens,
              .lengths = RowNumbers(std::span(lengths))});
  }
  // Refused with these words, before anything is written.
  void expect_refused(ErrorCode code, const std::string& got, const std::string& wanted) const {
    const ErrorReport report = report_of([&] { run(); });
    EXPECT_EQ(report.code, code);
    EXPECT_EQ(report.operation, "move a cache");
    EXPECT_EQ(report.got, got);
    EXPECT_NE(report.wanted.find(wanted), std::string::npos) << report.wanted;
    EXPECT_EQ(out, std::vector<std::uint16_t>(160, 2));
  }
};

TEST(CpuCaches, RefusesWrongTables) {
  {
    const Wrong right;
    right.run();
    EXPECT_NE(right.out, std::vector<std::uint16_t>(160, 2));
  }
  Wrong wrong;
  wrong.from[4] = 4;
  wrong.expect_refused(ErrorCode::value, "block 4 at position 4 of the source's table", "blocks from 0 to 3");
  wrong.from[4] = -1;
  wrong.expect_refused(ErrorCode::value, "block -1 at position 4 of the source's table",
                       "blocks from 0 to 3");
  wrong.from[4] = 0;
  wrong.to[3] = 5;
  wrong.expect_refused(ErrorCode::value, "block 5 at position 3 of the target's table", "blocks from 0 to 4");
  wrong.to[3] = 1;
  wrong.expect_refused(ErrorCode::value, "block 1 twice in the target's table",
                       "each block of the target once");
  wrong.to[3] = 3;
  wrong.lengths[1] = 7;
  wrong.expect_refused(ErrorCode::value, "7 tokens of sequence 1", "0 to 6");
  wrong.lengths[1] = -1;
  wrong.expect_refused(ErrorCode::value, "-1 tokens of sequence 1", "0 to 6");
  wrong.lengths = {1, 2, 3};
  wrong.expect_refused(ErrorCode::value, "3 numbers of tokens", "one for each of 2 sequences");
  wrong.lengths = {};
  wrong.tokens = 7;
  wrong.expect_refused(ErrorCode::value, "3 blocks of a sequence in the source's table",
                       "4, for 7 tokens in blocks of 2");
  wrong.tokens = 6;
  wrong.sequences = 5;
  wrong.expect_refused(ErrorCode::value, "6 entries in the source's table",
                       "as many for each of 5 sequences");
}

TEST(CpuCaches, RefusesWrongMoves) {
  Wrong wrong;
  wrong.arrays.out_scale = 0;
  wrong.expect_refused(ErrorCode::value, "scale 0.000000", "finite scale above 0");
  wrong.arrays.out_scale = 1;
  wrong.arrays.out = wrong.in.data();
  EXPECT_EQ(code_of([&] { wrong.run(); }), ErrorCode::value);
  wrong.arrays.out = nullptr;
  wrong.expect_refused(ErrorCode::value, "a null pointer", "an array");
  wrong.arrays.out = wrong.out.data();
  wrong.move.to.number = Number::i16;
  wrong.expect_refused(ErrorCode::unsupported, "bf16 to i16, or scaled", "8-bit floats");
  wrong.move.to.number = Number::bf16;
  wrong.move.to.part = 3;
  wrong.expect_refused(ErrorCode::value, "a target with heads of 4 numbers in parts of 3",
                       "parts that divide");
  wrong.move.to.part = 0;
  wrong.move.to.token_stride = 1;
  EXPECT_EQ(code_of([&] { wrong.run(); }), ErrorCode::value);  // tokens that share numbers
  wrong.move.to.token_stride = std::uint64_t{1} << 62;
  wrong.expect_refused(ErrorCode::value, "a target with strides that reach past 2^62 bytes", "2^62 bytes");
  wrong.move.to.token_stride = 8;
  wrong.move.from.block_tokens = 0;
  wrong.expect_refused(ErrorCode::value, "a source with blocks of 0 tokens", "at least one");
  wrong.move.from.block_tokens = 2;
  wrong.move.of.heads = 0;
  wrong.expect_refused(ErrorCode::value, "0 heads of 4 numbers", "at least one");
}

}  // namespace cpu_caches_engine_test
}  // namespace faro::testing
