// The CPU engine in place against the oracle: every map, width, batch, alignment, instruction set and number
// of threads, and what is planned for it.
// Sanitized: in `make test`, too.
#define HWY_WANT_AVX3_DL  // as the kernels do, so that this file knows the same instruction sets

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_in_place_support.hpp"
#include "faro/error.hpp"
#include "hwy/highway.h"
#include "refusal.hpp"

namespace faro::testing {
namespace cpu_in_place_engine_test {

// --- every map, width and batch

void sweep(const std::vector<int>& bits, std::uint64_t bytes_max, std::uint64_t sample, Reached& reached) {
  sweep_cases(bits, bytes_max, sample, [&](const EngineCase& c) { check_in_place(c, &reached); });
}

TEST(CpuInPlace, EveryMapWidthAndBatch) {
  Reached reached;
  sweep({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13}, std::uint64_t{1} << 18, kInstrumented ? 13 : 1, reached);
  for (const char* const branch :
       {"segments cached", "segments streamed", "segments in long orbits", "tile cached", "tile streamed",
        "tile in orbits of 1", "tile in orbits of 2", "tile in long orbits", "one large tile", "direct",
        "tail", "several arrays", "misaligned", "0 passes", "1 passes", "2 passes"}) {
    EXPECT_TRUE(reached.contains(branch)) << branch;
  }
}

TEST(CpuInPlace, EveryInstructionSetInSmall) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(~(target - 1));
    Reached reached;
    sweep({0, 3, 4, 7, 11}, std::uint64_t{1} << 16, kInstrumented ? 41 : 3, reached);
    EXPECT_GT(reached.size(), 9U) << cpu::simd_target();
    if (HasFailure()) break;
  }
  hwy::SetSupportedTargetsForTest(0);
}

// --- larger arrays

TEST(CpuInPlace, RandomMapsToTwentyTwoBits) {
  Reached reached;
  const std::uint64_t bytes_max = std::uint64_t{1} << (kInstrumented ? 19 : 22);
  for (int n = 8; n <= (kInstrumented ? 18 : 22); ++n) {
    for (int k = 0; k < (n <= 14 ? 40 : n <= 20 ? 8 : 2); ++k) {
      const std::uint64_t seed = static_cast<std::uint64_t>(n) * 1000 + static_cast<std::uint64_t>(k);
      SplitMix64 random{seed};
      std::uint64_t width = std::uint64_t{1} << random() % 13;
      while (width > 1 && (width << n) > bytes_max) width /= 2;
      EngineCase c{.problem = {.permutation = random_map(n, seed), .element_bytes = width},
                   .target = test_target(kVectorBytes[random() % 2], kStores[random() % 2],
                                         1 + static_cast<int>(random() % 4)),
                   .seed = seed};
      if (random() % 4 == 0) c.out_offset = random() % 64;
      if (random() % 2 == 0) c.target.segment_bytes_max = 1024;
      while (((c.problem.batch * 3 * width) << n) <= bytes_max && random() % 2 == 0) c.problem.batch *= 3;
      check_in_place(c, &reached);
      if (HasFailure()) return;
    }
  }
  for (const char* const branch :
       {"segments streamed", "tile in orbits of 2", "tile in long orbits", "misaligned", "2 passes"}) {
    EXPECT_TRUE(reached.contains(branch)) << branch;
  }
}

// As a user's call plans it, with this machine's own sizes and all threads.
TEST(CpuInPlace, ThisMachinesOwnTarget) {
  for (const int n : {5, 9, 12, 18}) {
    for (const std::uint64_t width : {1U, 4U, 16U}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        check_in_place({.problem = {.permutation = random_map(n, seed), .element_bytes = width},
                        .target = cpu::target(),
                        .seed = seed});
      }
    }
  }
}

TEST(CpuInPlace, EveryAlignment) {
  for (const std::uint64_t unit : {1U, 4U, 16U}) {
    const Affine list[] = {maps::bit_reversal(11), maps::xor_mask(11, 0x400), maps::random_bmmc(11, 5)};
    for (const Affine& map : list) {
      for (std::size_t offset = 0; offset <= 64; offset += kInstrumented ? 7 : 1) {
        check_in_place({.problem = {.permutation = map, .element_bytes = unit, .batch = 3},
                        .target = test_target(64, kStores[offset % 2], 2),
                        .out_offset = offset,
                        .seed = offset});
        if (HasFailure()) return;
      }
    }
  }
}

// Several threads take turns at many runs of tiles.
TEST(CpuInPlace, AnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 4}) {
    for (const std::uint64_t width : {4U, 64U}) {
      const int n = kInstrumented ? 14 : 18;
      for (const Affine& map :
           {maps::bit_reversal(n), maps::reverse(n), maps::shuffle(n), maps::random_bmmc(n, 7)}) {
        check_in_place({.problem = {.permutation = map, .element_bytes = width},
                        .target = test_target(64, Stores::streamed, threads)});
        if (HasFailure()) return;
      }
    }
  }
}

// --- what is planned

std::vector<Pass> passes_of(const Affine& map, std::uint64_t width, std::uint64_t batch = 1) {
  Target target = cpu::target(1);
  target.vector_bytes = 64;
  target.tile_bytes_max = 4096;
  target.in_place_tile_bytes = 0;
  return Plan({.permutation = map, .element_bytes = width, .batch = batch, .placement = Placement::in_place},
              target)
      .passes();
}

TEST(CpuInPlace, PassesAsTheTheoremsSay) {
  struct Row {
    Affine map;
    std::size_t passes;
  };
  const Row rows[] = {
      {maps::identity(20), 0},          {maps::bit_reversal(20), 1},     {maps::reverse(20), 1},
      {maps::transpose(1024, 1024), 1}, {maps::swap_bits(20, 0, 19), 1}, {maps::xor_mask(20, 0x80001), 1},
      {random_map(20, 3), 1},           {maps::shuffle(20), 2},          {maps::transpose(512, 2048), 2},
      {maps::random_bpc(20, 1), 2},     {maps::random_bmmc(20, 1), 2},   {maps::random_bmmc(34, 1), 2},
  };
  for (const Row& row : rows) {
    const std::vector<Pass> passes = passes_of(row.map, 4);
    EXPECT_EQ(passes.size(), row.passes) << to_text(Permutation(row.map));
    Affine product(row.map.bits());
    for (const Pass& pass : passes) {
      product = compose(pass.map, product);
      ASSERT_TRUE(pass.orbits.has_value());
      EXPECT_EQ(pass.orbits->tile.block_sources, pass.tile.block_sources);
      EXPECT_GE(pass.segment_bytes, 64U);
      EXPECT_LE(
          (std::uint64_t{4} << pass.tile.tile_bits()) * std::min<std::uint64_t>(2, pass.orbits->orbit_tiles),
          pass.kind == PassKind::segments ? kWholeSegmentBytesMax * 2 : cpu::kInPlaceBufferBytes);
      EXPECT_EQ(pass.bytes_read, std::uint64_t{4} << row.map.bits());
      EXPECT_EQ(pass.bytes_written, pass.bytes_read);
    }
    EXPECT_EQ(product, row.map);
  }
}

// Segments are as long as the tile allows, by the rank of the map: 4-byte elements, tiles of 4 KiB.
TEST(CpuInPlace, SegmentsAsLongAsFit) {
  const auto reversal = passes_of(maps::bit_reversal(26), 4);
  ASSERT_EQ(reversal.size(), 1U);
  EXPECT_EQ(reversal[0].kind, PassKind::tile);
  EXPECT_EQ(reversal[0].segment_bytes, 128U);
  EXPECT_EQ(reversal[0].tile.row_bits, 5);
  EXPECT_EQ(reversal[0].orbits->orbit_tiles, 2U);

  const auto far = passes_of(maps::xor_mask(26, f2::unit(25)), 4);
  ASSERT_EQ(far.size(), 1U);
  EXPECT_EQ(far[0].kind, PassKind::segments);
  EXPECT_EQ(far[0].segment_bytes, kWholeSegmentBytesMax);

  for (const Pass& pass : passes_of(maps::random_bmmc(20, 2), 4096)) {
    EXPECT_EQ(pass.kind, PassKind::segments) << "wide elements stay whole";
    EXPECT_EQ(pass.segment_bytes, 4096U);
  }
}

TEST(CpuInPlace, BatchesFoldAndLeaveATail) {
  const auto passes = passes_of(maps::bit_reversal(5), 4, 77);  // 128 bytes each: 32 make a tile
  ASSERT_EQ(passes.size(), 2U);
  EXPECT_EQ(passes[0].map.bits(), 10);
  EXPECT_EQ(passes[0].arrays, 2U);
  EXPECT_EQ(passes[0].offset, 0U);
  EXPECT_EQ(passes[1].kind, PassKind::direct);
  EXPECT_EQ(passes[1].arrays, 13U);
  EXPECT_EQ(passes[1].offset, 64U * 128U);
}

// --- refusals

TEST(CpuInPlace, ACapacityThatHoldsNoPairIsRefused) {
  const Problem problem{
      .permutation = maps::bit_reversal(16), .element_bytes = 1, .placement = Placement::in_place};
  Target target = test_target(64, Stores::cached);
  target.segment_bytes_max = 64;
  target.tile_bytes_max = 64;  // two segments: more passes
  check_in_place({.problem = problem, .target = target});
  EXPECT_GT(Plan(problem, target).passes().size(), 2U);
  target.tile_bytes_max = 32;  // not two segments
  const Error error = test::refusal([&] { const Plan plan(problem, target); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_FALSE(error.report().wanted.empty());
}

TEST(CpuInPlace, APlanForTwoArraysIsNoPlanInPlace) {
  Problem problem{.permutation = maps::bit_reversal(8), .element_bytes = 4};
  std::vector<std::uint32_t> data(256, 7);
  const std::vector<std::uint32_t> before = data;
  const cpu::Executor two_arrays(Plan(problem, cpu::target(1)));
  EXPECT_THROW(two_arrays.run_in_place(data.data()), Error);
  problem.placement = Placement::in_place;
  const cpu::Executor in_place(Plan(problem, cpu::target(1)));
  std::vector<std::uint32_t> out(256, 9);
  EXPECT_THROW(in_place.run(data.data(), out.data()), Error);
  EXPECT_EQ(data, before);
  EXPECT_EQ(out, std::vector<std::uint32_t>(256, 9));
}

}  // namespace cpu_in_place_engine_test
}  // namespace faro::testing
