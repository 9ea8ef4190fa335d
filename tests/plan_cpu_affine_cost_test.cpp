// What an affine pass takes on a CPU, by curves that are made up here.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "faro/permutation/affine.hpp"
#include "faro/plan/plan.hpp"
#include "plan/cpu/affine_cost.hpp"

namespace faro::testing {
namespace plan_cpu_affine_cost_test {

using detail::CpuTileFacts;
using detail::Crowded;

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

TEST(CpuAffineCost, SamplesAreWhatTheirNamesSay) {
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    for (int exchanged = 1; exchanged <= 6 - unit_bits; ++exchanged) {
      for (const auto crowded : {Crowded::none, Crowded::source, Crowded::target, Crowded::both}) {
        const auto map = detail::tile_sample(
            26 - unit_bits, {.unit_bits = unit_bits, .exchanged = exchanged, .crowded = crowded});
        ASSERT_TRUE(map);
        const CpuTileFacts facts = facts_of(*map, std::uint64_t{1} << unit_bits);
        EXPECT_EQ(facts.exchanged, exchanged);
        const bool source = crowded == Crowded::source || crowded == Crowded::both;
        const bool target = crowded == Crowded::target || crowded == Crowded::both;
        EXPECT_EQ(facts.source_crowding > 0.5, source) << unit_bits << " " << exchanged;
        EXPECT_EQ(facts.target_crowding > 0.5, target) << unit_bits << " " << exchanged;
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
  EXPECT_FALSE(streamed(100, 200, 22));  // 16 MiB
  EXPECT_TRUE(streamed(100, 200, 26));   // far past the caches nothing is asked
  EXPECT_FALSE(streamed(200, 100, 16));
}

}  // namespace plan_cpu_affine_cost_test
}  // namespace faro::testing
