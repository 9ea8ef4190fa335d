// What a GPU plan's words, JSON and drawing add to any plan's: launch, registers, predicted accesses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "cli_support.hpp"
#include "gpu_plan_support.hpp"
#include "plan/launch_facts.hpp"
#include "plan/prediction.hpp"
#include "plan_support.hpp"
#include "text_search.hpp"

namespace faro {
namespace plan_gpu_explain_test {

using Json = nlohmann::ordered_json;
using kernels::CompiledTile;
using kernels::kCompiledTiles;
using testing::describe;
using testing::gpu_plan;
using testing::maps_of;

constexpr std::uint64_t kSeed = 41;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

using test::occurrences;

// Lines joined again where they were wrapped.
std::string unwrapped(std::string text) {
  const std::string wrap = "\n" + std::string(14, ' ');
  for (std::size_t at = text.find(wrap); at != text.npos; at = text.find(wrap, at)) {
    text.replace(at, wrap.size(), " ");
  }
  return text;
}

template <typename Check>
void for_each_plan(Check check) {
  for (const int n : {0, 1, 5, 8, 13, 16, 20, 40}) {
    for (const std::uint64_t width : {1U, 2U, 4U, 16U, 64U, 4096U}) {
      for (const std::uint64_t batch : {0U, 1U, 67U}) {
        if (batch != 1 && width > 4) continue;
        for (const Affine& map : maps_of(n, kSeed)) {
          const Plan plan = gpu_plan(map, width, batch);
          SCOPED_TRACE(describe(plan.problem()));
          check(plan);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// A target of one compiled kernel.
Target only(const CompiledTile& kernel) {
  Target target = cuda::target_of_capability(9, 0);
  target.tiles = {kernel};
  return target;
}

// --- words

TEST(PlanGpuExplain, TellsHowAPassIsLaunched) {
  for (const CompiledTile& kernel : kCompiledTiles) {
    const kernels::AffineTileShape& shape = kernel.shape;
    const auto width = static_cast<std::uint64_t>(shape.element_bytes());
    const Plan plan = gpu_plan(maps::random_bmmc(30, 3), width, 1, only(kernel));
    const std::string text = unwrapped(plan.explain());
    SCOPED_TRACE(text);
    EXPECT_TRUE(contains(text, fmt::format("  kernel      tile {} x {} bytes, {}-byte vectors, {} threads",
                                           1 << shape.row_bits, shape.element_bytes() << shape.segment_bits,
                                           shape.vector_bytes(), shape.threads())));
    EXPECT_TRUE(contains(text, kernel.blocked ? " blocked in registers" : " plain: shared memory"));
    EXPECT_TRUE(
        contains(text, fmt::format("2^{} blocks of {} threads and {} KiB of shared memory; at most {} ",
                                   30 - shape.tile_bits(), shape.threads(), shape.tile_bytes() / 1024,
                                   detail::registers_max(*plan.passes()[0].launch))));
    EXPECT_TRUE(contains(text, "has them for " + std::to_string(kernel.min_blocks) + " block"));
    const std::string sectors = fmt::format("2^{} sectors of 32 bytes, the least", 25 + shape.width_bits);
    EXPECT_EQ(occurrences(text, sectors), 2);
    EXPECT_EQ(occurrences(text, ", congestion 1; an element: "), 2);
    EXPECT_TRUE(contains(text, fmt::format(" lines, {} bytes", width)));
    EXPECT_TRUE(contains(text, "by the rates of an NVIDIA H200"));
  }
}

// The words are the counter's, whatever it counts.
TEST(PlanGpuExplain, CongestionIsNotAssumed) {
  machine::AccessCounts counts;
  counts.shared_stores.add_phase(1);
  counts.shared_loads.add_phase(1);
  EXPECT_EQ(detail::congestion_text(counts), "congestion 1 in both phases");
  counts.shared_loads.add_phase(8);
  EXPECT_EQ(detail::congestion_text(counts), "congestion 1 writing and 8 reading");
  EXPECT_EQ(detail::least_text(1), "the least");
  EXPECT_EQ(detail::least_text(4), "4 times the least");
}

// A device whose rates nobody measured is given no time.
TEST(PlanGpuExplain, PredictsNoTimeWithoutRates) {
  const Problem problem{.permutation = maps::bit_reversal(24), .element_bytes = 4};
  EXPECT_FALSE(contains(Plan(problem, cuda::target_of_capability(8, 0)).explain(), "\n  time "));
  EXPECT_TRUE(contains(Plan(problem, cuda::target_of_capability(9, 0)).explain(), "\n  time "));
}

TEST(PlanGpuExplain, RegistersAreWhatTheBlocksLeave) {
  const auto registers = [](int threads, int min_blocks) {
    Launch launch{.threads = threads};
    launch.tile = CompiledTile{.shape = {}, .blocked = false, .min_blocks = min_blocks};
    return detail::registers_max(launch);
  };
  EXPECT_EQ(registers(128, 8), 64);
  EXPECT_EQ(registers(512, 2), 64);
  EXPECT_EQ(registers(512, 3), 40);  // 42 and two thirds
  EXPECT_EQ(registers(1024, 2), 32);
  EXPECT_EQ(registers(256, 1), 255);
  EXPECT_EQ(registers(128, 1), 255);
  EXPECT_EQ(detail::registers_max(Launch{.threads = 512}), 128);
}

TEST(PlanGpuExplain, SaysWhatMatters) {
  EXPECT_TRUE(contains(gpu_plan(maps::swap_bits(20, 10, 19), 4).explain(),
                       "kernel      16-byte vectors, 256 threads"));
  EXPECT_TRUE(contains(gpu_plan(maps::gray(5), 1, 3).explain(), "96 bytes in all are too few for tiles"));
  EXPECT_FALSE(contains(gpu_plan(maps::identity(20), 4).explain(), "kernel"));
  const std::string tail = unwrapped(gpu_plan(maps::reverse(5), 4, 1000003).explain());
  EXPECT_TRUE(contains(tail, "arrays left over from groups of"));
  EXPECT_TRUE(contains(tail, "elements change places within a segment only"));
  EXPECT_TRUE(contains(tail, "r is more than the map's rank gamma, 0"));
  Target no_tiles = cuda::target_of_capability(9, 0);
  no_tiles.tiles.clear();
  EXPECT_TRUE(contains(unwrapped(gpu_plan(maps::bit_reversal(20), 4, 1, no_tiles).explain()),
                       "2^20 sectors of 32 bytes, 8 times the least"));
}

TEST(PlanGpuExplain, IsShort) {
  for_each_plan([](const Plan& plan) {
    const std::string text = plan.explain();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 45);
    EXPECT_EQ(text.back(), '\n');
  });
}

// --- JSON

TEST(PlanGpuJson, AddsTheDocumentedKeys) {
  std::set<std::string> of_cpu;
  std::set<std::string> of_gpu;
  const Problem problem{.permutation = maps::bit_reversal(24), .element_bytes = 4};
  testing::collect_keys(testing::Json::parse(Plan(problem, Target{}).explain_json()), "", of_cpu);
  testing::collect_keys(testing::Json::parse(gpu_plan(maps::bit_reversal(24), 4).explain_json()), "", of_gpu);
  std::set<std::string> added;
  std::set_difference(of_gpu.begin(), of_gpu.end(), of_cpu.begin(), of_cpu.end(),
                      std::inserter(added, added.begin()));
  std::set<std::string> documented = testing::documented_keys()["explain, of a plan for a GPU"];
  EXPECT_EQ(documented.erase("passes[].launch"), 1U);
  EXPECT_EQ(documented.erase("passes[].predicted"), 1U);
  EXPECT_EQ(documented.erase("passes[].predicted_time"), 1U);
  EXPECT_EQ(added, documented);
}

TEST(PlanGpuJson, ValuesAreThePlans) {
  for_each_plan([](const Plan& plan) {
    const Json json = Json::parse(plan.explain_json());
    ASSERT_EQ(json["passes"].size(), plan.passes().size());
    for (std::size_t i = 0; i < plan.passes().size(); ++i) {
      const Pass& pass = plan.passes()[i];
      const Json& launch = json["passes"][i]["launch"];
      const Json& predicted = json["passes"][i]["predicted"];
      ASSERT_EQ(launch.is_null(), !pass.launch.has_value());
      ASSERT_EQ(predicted.is_null(), !pass.launch.has_value());
      if (!pass.launch) continue;
      const machine::AccessCounts counts = predict(plan, i);
      EXPECT_EQ(launch["blocks"], pass.launch->blocks);
      EXPECT_EQ(launch["threads"], pass.launch->threads);
      EXPECT_EQ(launch["shared_bytes"], pass.launch->shared_bytes);
      EXPECT_EQ(launch["vector_bytes"], pass.launch->vector_bytes);
      EXPECT_EQ(launch["kernel"], detail::kernel_text(*pass.launch));
      EXPECT_EQ(predicted["global_loads"]["sectors"], counts.global_loads.sectors);
      EXPECT_EQ(predicted["global_stores"]["requests"], counts.global_stores.requests);
      EXPECT_EQ(predicted["shared_loads"]["wavefronts"], counts.shared_loads.wavefronts);
      EXPECT_EQ(predicted["shared_stores"]["congestion"], counts.shared_stores.max_congestion());
      if (pass.kind == PassKind::tile) {
        EXPECT_EQ(predicted["global_loads"]["over_least"], 1);
        EXPECT_EQ(predicted["global_stores"]["over_least"], 1);
        EXPECT_EQ(predicted["shared_stores"]["over_least"] == 1, pass.launch->vector_bytes >= 4);
        EXPECT_GE(predicted["shared_loads"]["over_least"], 1);
      }
    }
  });
}

// --- drawing

TEST(PlanGpuSvg, SaysHowItIsLaunched) {
  const Plan plan = gpu_plan(maps::bit_reversal(30), 4);
  const std::string svg = plan.svg();
  EXPECT_TRUE(contains(svg, detail::kernel_text(*plan.passes()[0].launch)));
  EXPECT_TRUE(contains(svg, "Sectors read: the least, written: the least; congestion 1 in both phases"));
  EXPECT_FALSE(contains(Plan(plan.problem(), Target{}).svg(), "Sectors"));
}

}  // namespace plan_gpu_explain_test
}  // namespace faro
