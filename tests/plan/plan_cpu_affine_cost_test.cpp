// What an affine pass takes on a CPU, by curves that are made up here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/affine_cost.hpp"
#include "problem/built_in_curves.hpp"

namespace faro::testing {
namespace plan_cpu_affine_cost_test {

using detail::CpuTileFacts;
using detail::Crowded;
using ::testing::HasSubstr;

constexpr std::uint64_t kStreamingBytes = std::uint64_t{8} << 20;

Target machine() {
  Target target;
  target.tile_bytes_max = 4096;
  target.segment_bytes_max = 1024;
  target.streaming_bytes = kStreamingBytes;
  return target;
}

Plan plan_of(const Affine& map, std::uint64_t width, const Target& target = machine()) {
  return Plan({.permutation = map, .element_bytes = width}, target);
}

CpuTileFacts facts_of(const Affine& map, std::uint64_t width) {
  return detail::tile_facts_on_cpu(plan_of(map, width).passes().front(), width);
}

TEST(CpuAffineCost, RegistersExchangeTheBitsOfALineThatComeFromElsewhere) {
  EXPECT_EQ(facts_of(maps::bit_reversal(24), 4).exchanged, 4);
  EXPECT_EQ(facts_of(maps::bit_reversal(24), 1).exchanged, 6);
  EXPECT_EQ(facts_of(maps::transpose(4, std::uint64_t{1} << 22), 4).exchanged, 2);
  EXPECT_EQ(facts_of(maps::swap_bits(24, 0, 23), 8).exchanged, 1);
}

TEST(CpuAffineCost, RowsThatLieFarApartCrowdTheSetsOfACache) {
  const CpuTileFacts both = facts_of(maps::bit_reversal(24), 4);
  EXPECT_EQ(both.source_crowding, 1);
  EXPECT_EQ(both.target_crowding, 1);
  const CpuTileFacts source = facts_of(maps::transpose(4, std::uint64_t{1} << 22), 4);
  EXPECT_EQ(source.source_crowding, 1);
  EXPECT_EQ(source.target_crowding, 0);
}

TEST(CpuAffineCost, TilesThatFollowLieBesideOnBothSidesOrOnOne) {
  EXPECT_EQ(facts_of(maps::bit_reversal(24), 4).apart, 1);
  EXPECT_EQ(facts_of(maps::swap_bits(24, 0, 23), 8).apart, 0);
  EXPECT_EQ(facts_of(maps::rotate_bits(24, 1), 4).apart, 0.5);
}

TEST(CpuAffineCost, SamplesAreWhatTheirNamesSay) {
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    for (int exchanged = 1; exchanged <= 6 - unit_bits; ++exchanged) {
      for (const auto crowded : {Crowded::none, Crowded::source, Crowded::target, Crowded::both}) {
        for (const bool apart : {false, true}) {
          const auto map = detail::tile_sample(
              26 - unit_bits,
              {.unit_bits = unit_bits, .exchanged = exchanged, .crowded = crowded, .apart = apart});
          ASSERT_TRUE(map);
          const CpuTileFacts facts = facts_of(*map, std::uint64_t{1} << unit_bits);
          EXPECT_EQ(facts.exchanged, exchanged);
          const bool source = crowded == Crowded::source || crowded == Crowded::both;
          const bool target = crowded == Crowded::target || crowded == Crowded::both;
          EXPECT_EQ(facts.source_crowding > 0.5, source) << unit_bits << " " << exchanged;
          EXPECT_EQ(facts.target_crowding > 0.5, target) << unit_bits << " " << exchanged;
          // Tiles of rows side by side are whole pages; those of one crowded side are always apart.
          if (source && target) {
            EXPECT_EQ(facts.apart >= 0.5, apart) << unit_bits << " " << exchanged;
          }
        }
      }
    }
  }
  EXPECT_FALSE(detail::tile_sample(8, {.unit_bits = 2, .exchanged = 4, .crowded = Crowded::both}));
}

// A nanosecond a kilobyte and element, so many times over.
IndexCurve tile_curve(IndexKernel kernel, int exchanged, Crowded crowded, double us_of_a_million) {
  constexpr std::uint64_t kMillion = std::uint64_t{1} << 20;
  return {.kernel = kernel,
          .element_bytes = 4,
          .chunk_bits = exchanged,
          .run_bits = static_cast<int>(crowded),
          .curve = {.points = {{.elements = kMillion, .microseconds = us_of_a_million},
                               {.elements = 16 * kMillion, .microseconds = 16 * us_of_a_million}}}};
}

TEST(CpuAffineCost, TimesAreThoseOfTheTileThatIsMostAlike) {
  IndexCalibration curves;
  curves.curves = {tile_curve(IndexKernel::streamed_tile, 2, Crowded::none, 100),
                   tile_curve(IndexKernel::streamed_tile, 2, Crowded::source, 150),
                   tile_curve(IndexKernel::streamed_tile, 4, Crowded::none, 400),
                   tile_curve(IndexKernel::streamed_tile, 4, Crowded::both, 900)};
  const auto us = [&](const Affine& map) {
    const Plan plan = plan_of(map, 4);
    return detail::affine_thread_us(curves,
                                    {.pass = plan.passes().front(), .unit_bytes = 4, .streamed = true});
  };
  EXPECT_DOUBLE_EQ(*us(maps::bit_reversal(22)), 4 * 900);
  EXPECT_DOUBLE_EQ(*us(maps::transpose(4, std::uint64_t{1} << 20)), 4 * 150);
  EXPECT_NEAR(*us(maps::random_bmmc(22, 1)), 4 * 400, 4 * 150);  // hardly crowded
  EXPECT_DOUBLE_EQ(*us(maps::bit_reversal(19)), 900.0 / 2);      // below the first point: in proportion
  const Plan bytes = plan_of(maps::bit_reversal(22), 1);
  EXPECT_FALSE(
      detail::affine_thread_us(curves, {.pass = bytes.passes().front(), .unit_bytes = 1, .streamed = true}));
}

TEST(CpuAffineCost, TilesApartTakeWhatSuchTilesTookAndThoseBetweenAPart) {
  IndexCalibration curves;
  curves.curves = {tile_curve(IndexKernel::tile, 4, Crowded::none, 100)};
  curves.curves.push_back(curves.curves.front());
  curves.curves.back().run_bits += detail::kApart;
  for (auto& point : curves.curves.back().curve.points) point.microseconds *= 2;
  const auto us = [&](const Affine& map) {
    const Plan plan = plan_of(map, 4);
    return *detail::affine_thread_us(curves, {.pass = plan.passes().front(), .unit_bytes = 4});
  };
  EXPECT_DOUBLE_EQ(us(maps::bit_reversal(22)), 4 * 200);
  const Affine rotated = maps::rotate_bits(22, 1);
  for (IndexCurve& each : curves.curves) each.chunk_bits = facts_of(rotated, 4).exchanged;
  EXPECT_DOUBLE_EQ(us(rotated), 4 * 100 * (1 + facts_of(rotated, 4).apart));
  ++curves.curves.back().chunk_bits;  // of another exchange: nothing is known of tiles apart
  EXPECT_DOUBLE_EQ(us(rotated), 4 * 100);
}

TEST(CpuAffineCost, CurvesDecideWhetherLinesAreWrittenPastTheCaches) {
  const auto streamed = [](double cached_us, double streamed_us, int bits) {
    auto curves = std::make_shared<IndexCalibration>();
    curves->curves = {tile_curve(IndexKernel::tile, 4, Crowded::none, cached_us),
                      tile_curve(IndexKernel::streamed_tile, 4, Crowded::none, streamed_us)};
    Target target = machine();
    target.index_calibration = std::move(curves);
    return plan_of(maps::bit_reversal(bits), 4, target).passes().front().team->streamed;
  };
  EXPECT_TRUE(streamed(200, 100, 20));  // 4 MiB
  EXPECT_FALSE(streamed(100, 200, 20));
  EXPECT_TRUE(streamed(200, 100, 16));
  EXPECT_TRUE(streamed(100, 200, 22));  // 16 MiB, which the caches do not hold
}

TEST(CpuAffineCost, SegmentsTellHowFarTheCachesReach) {
  const auto curve = [](IndexKernel kernel, int run_bits, double small_us, double large_us) {
    return IndexCurve{.kernel = kernel,
                      .element_bytes = 1,
                      .chunk_bits = 0,
                      .run_bits = run_bits,
                      .curve = {.points = {{.elements = std::uint64_t{1} << 20, .microseconds = small_us},
                                           {.elements = std::uint64_t{1} << 24, .microseconds = large_us}}}};
  };
  IndexCalibration curves;
  EXPECT_FALSE(detail::cached_bytes_by(curves));
  curves.curves = {curve(IndexKernel::segments, 6, 1, 1), curve(IndexKernel::segments, 12, 10, 16 * 40),
                   curve(IndexKernel::streamed_segments, 6, 1, 1),
                   curve(IndexKernel::streamed_segments, 12, 20, 16 * 20)};
  // They meet where one doubles fourfold in four doublings and the other stays: at 2^22.
  const std::uint64_t meeting = *detail::cached_bytes_by(curves);
  EXPECT_GT(meeting, std::uint64_t{3} << 20);
  EXPECT_LT(meeting, std::uint64_t{6} << 20);
}

TEST(CpuAffineCost, BuiltInCurvesAreOfTheProcessorThatIsMostAlike) {
  constexpr std::uint64_t kKib = 1024;
  const auto near = [](std::uint64_t first, std::uint64_t second, std::uint64_t last) {
    return detail::built_in_near({.lines_in_registers = true,
                                  .first_level_bytes = first * kKib,
                                  .second_level_bytes = second * kKib,
                                  .last_level_bytes = last * kKib})
        .source;
  };
  EXPECT_THAT(near(32, 1024, 16 * kKib), HasSubstr("Zen 4"));
  EXPECT_THAT(near(32, 512, 32 * kKib), HasSubstr("Zen 4"));
  EXPECT_THAT(near(48, 2048, 300 * kKib), HasSubstr("Xeon"));
  EXPECT_THAT(near(0, 0, 0), HasSubstr("Zen 4"));
}

}  // namespace plan_cpu_affine_cost_test
}  // namespace faro::testing
