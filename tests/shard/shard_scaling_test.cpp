// What gpu_shards_bench expects of more GPUs than it has measured, by hand-made lines of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/gpu_shards/scaling.hpp"

namespace faro::bench::gpu {
namespace {

using ::testing::HasSubstr;
using Way = ShardWork::Way;

// 8 GB a GPU; links of 400 GB/s, memory of 2000 GB/s read and written: a pass takes 8 ms.
std::vector<ShardLine> lines_of_two() {
  const auto line = [](const char* name, double ms, const ShardWork& work) {
    return ShardLine{.scaling = "weak",
                     .gpus = 2,
                     .kind = "m",
                     .map = "m of two",
                     .name = name,
                     .ms = ms,
                     .least = ms,
                     .most = ms,
                     .work = work,
                     .how = {}};
  };
  return {line(kCopyBetween, 10, {.way = Way::links_alone, .sent_bytes = 4e9, .part_bytes = 8e9}),
          line(kCopyWithin, 8, {.way = Way::copy_within, .sent_bytes = 4e9, .part_bytes = 8e9}),
          line("stores", 11, {.way = Way::stores, .sent_bytes = 4e9, .part_bytes = 8e9}),
          line("two passes", 20, {.way = Way::stores, .sent_bytes = 4e9, .part_bytes = 8e9, .unpacks = 1}),
          line("slices", 30, {.sent_bytes = 4e9, .part_bytes = 8e9, .packs = 1, .unpacks = 1, .slices = 2})};
}

TEST(ShardScaling, TermsOfAWay) {
  const MeasuredRates rates{.link_gb_per_s = 400, .copy_gb_per_s = 2000};
  const auto ms = [&](const ShardWork& work) { return modelled_ms(work, rates); };
  const double sent = 4e9;
  const double part = 8e9;
  EXPECT_DOUBLE_EQ(ms({.way = Way::stores, .sent_bytes = sent, .part_bytes = part}), 10);
  EXPECT_DOUBLE_EQ(ms({.way = Way::stores, .sent_bytes = 1e9, .part_bytes = part}), 8);  // memory is slower
  EXPECT_DOUBLE_EQ(ms({.way = Way::stores, .sent_bytes = sent, .part_bytes = part, .unpacks = 1}), 18);
  EXPECT_DOUBLE_EQ(ms({.sent_bytes = sent, .part_bytes = part, .packs = 1, .unpacks = 1}), 26);
  // Half of both passes at the ends, the rest, 8 ms, beside the links.
  EXPECT_DOUBLE_EQ(ms({.sent_bytes = sent, .part_bytes = part, .packs = 1, .unpacks = 1, .slices = 2}), 18);
  EXPECT_DOUBLE_EQ(ms({.sent_bytes = 1e9, .part_bytes = part, .packs = 1, .unpacks = 1, .slices = 2}), 16);
}

TEST(ShardScaling, MoreGpusFromTwo) {
  std::vector<ShardLine> lines = lines_of_two();
  const auto predicted = [&](const char* name, int gpus, ShardWork work) {
    return predicted_ms(lines, {.scaling = "weak",
                                .gpus = gpus,
                                .kind = "m",
                                .map = "m of more",
                                .name = name,
                                .work = work,
                                .how = {}});
  };
  // Two go by the rates alone, whatever was measured.
  EXPECT_DOUBLE_EQ(predicted("stores", 2, {}).value(), 10);
  // Four send 3/4 of their part: 15 ms, and two took 11 where the terms are 10.
  ShardWork stores{.way = Way::stores, .sent_bytes = 6e9, .part_bytes = 8e9};
  EXPECT_DOUBLE_EQ(predicted("stores", 4, stores).value(), 16.5);
  stores.unpacks = 1;
  EXPECT_NEAR(predicted("two passes", 4, stores).value(), 20.0 * 23 / 18, 1e-9);
  EXPECT_FALSE(predicted("unknown", 4, stores).has_value());
  lines.erase(lines.begin());
  EXPECT_FALSE(predicted("stores", 4, stores).has_value());  // no rate of the links
}

TEST(ShardScaling, TheTableTellsBoth) {
  const std::string text = shards_table(lines_of_two());
  EXPECT_THAT(
      text,
      HasSubstr(
          "| 2 | weak | m of two | stores | 11.000 | 11.000 to 11.000 | 10.000 | 364 | 90.9% |  |  |\n"));
}

}  // namespace
}  // namespace faro::bench::gpu
