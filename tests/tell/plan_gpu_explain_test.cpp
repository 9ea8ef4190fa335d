// What a GPU plan's words, JSON and drawing add to any plan's: launch, registers, predicted accesses.
// Sanitized: never, the same few lines, tables or texts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cli_support.hpp"
#include "gpu_plan_support.hpp"
#include "kernels/axes_turned.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan_support.hpp"
#include "tell/box_facts.hpp"
#include "tell/launch_facts.hpp"
#include "tell/prediction.hpp"
#include "tell/tile_facts.hpp"
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

TEST(PlanGpuExplain, SectorsThatAreReadInPartAreCounted) {
  Target no_tiles = cuda::target_of_capability(9, 0);
  no_tiles.tiles.clear();
  EXPECT_TRUE(contains(unwrapped(gpu_plan(maps::bit_reversal(20), 4, 1, no_tiles).explain()),
                       "2^20 sectors of 32 bytes, 8 times the least"));
}

TEST(PlanGpuExplain, IsShort) {
  for_each_plan([](const Plan& plan) {
    const std::string text = plan.explain();
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 52);
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
  for (const char* const of_both : {"passes[].counted", "passes[].bounded", "passes[].predicted_time.ms",
                                    "passes[].predicted_time.rates"})
    EXPECT_EQ(documented.erase(of_both), 1U);
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
      ASSERT_TRUE(predicted.is_object());
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

Pass axes_pass(const Axes& axes, std::uint64_t width, std::uint64_t batch = 1) {
  const Plan plan({.permutation = axes, .element_bytes = width, .batch = batch},
                  cuda::target_of_capability(9, 0));
  EXPECT_EQ(plan.passes().size(), 1U);
  return plan.passes().front();
}

// Every unit that a tile's axes reach, at drawn indices: what the map says of where it comes from and goes.
void expect_steps_are_the_maps(const Axes& axes, std::uint64_t width, const detail::TileFacts& tile) {
  std::uint64_t units = tile.box.unit_bytes;
  for (const detail::BoxFacts::Axis& axis : tile.box.axes) units *= axis.extent;
  EXPECT_EQ(units, axes.count() * width);
  std::mt19937_64 random(kSeed);
  for (int trial = 0; trial < 100; ++trial) {
    std::int64_t in = 0;
    std::int64_t out = 0;
    for (const detail::BoxFacts::Axis& axis : tile.box.axes) {
      const auto index = static_cast<std::int64_t>(random() % axis.extent);
      in += index * axis.in_bytes;
      out += index * axis.out_bytes;
    }
    const std::uint64_t element = static_cast<std::uint64_t>(in) / width;
    EXPECT_EQ(apply(Permutation(axes), element) * width + static_cast<std::uint64_t>(in) % width,
              static_cast<std::uint64_t>(out));
  }
  ASSERT_TRUE(tile.row_step && tile.column_step);
  for (const std::uint64_t row : {std::uint64_t{0}, tile.rows / 2, tile.rows - 1}) {
    for (const std::uint64_t column : {std::uint64_t{0}, tile.columns / 2, tile.columns - 1}) {
      const auto at = [&](std::int64_t detail::TileFacts::Steps::*bytes) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(row) * (*tile.row_step).*bytes +
                                          static_cast<std::int64_t>(column) * (*tile.column_step).*bytes);
      };
      const std::uint64_t in = at(&detail::TileFacts::Steps::in_bytes);
      EXPECT_EQ(apply(Permutation(axes), in / width) * width + in % width,
                at(&detail::TileFacts::Steps::out_bytes));
    }
  }
}

TEST(PlanGpuSvg, DrawsTheTilesOfAxesWithoutABox) {
  struct Case {
    Axes axes;
    std::uint64_t width;
    std::string kernel;
  };
  const std::vector<Case> cases{
      {Axes({300, 400, 500}, {2, 0, 1}), 4, "axes plane"},
      {Axes({1024, 768}, {1, 0}), 8, "axes plane"},
      {Axes({1200, 1003}, {1, 0}), 2, "axes turned"},
      {Axes({2900, 1100}, {1, 0}), 1, "axes turned"},
      {Axes({32, 3, 224, 224}, {0, 2, 3, 1}), 4, "axes skinny"},
      {Axes({1000000, 5}, {1, 0}), 4, "axes skinny"},
      {Axes({100000, 6}, {1, 0}), 10, "axes lines"},
      {Axes({8, 4096, 32, 256}, {0, 2, 1, 3}), 4, "axes rows"},
  };
  for (const auto& [axes, width, kernel] : cases) {
    SCOPED_TRACE(to_text(Permutation(axes)));
    const Pass pass = axes_pass(axes, width);
    ASSERT_TRUE(pass.launch);
    EXPECT_TRUE(pass.launch->kernel.starts_with(kernel)) << pass.launch->kernel;
    EXPECT_FALSE(detail::box_facts(pass));
    const auto tile = detail::tile_facts(pass);
    ASSERT_TRUE(tile);
    expect_steps_are_the_maps(axes, width, *tile);
    const std::string svg =
        Plan({.permutation = axes, .element_bytes = width}, cuda::target_of_capability(9, 0)).svg();
    EXPECT_TRUE(contains(svg, "goes to place "));
    EXPECT_EQ(contains(svg, "Shared memory"), kernel != "axes rows");
    EXPECT_EQ(tile->address != nullptr, kernel != "axes rows");
    if (!tile->address) continue;
    // No two units lie in one place, and none beyond what the block has.
    std::set<std::uint64_t> places;
    for (std::uint64_t row = 0; row < tile->rows; ++row)
      for (std::uint64_t column = 0; column < tile->columns; ++column)
        places.insert(tile->address(row, column));
    EXPECT_EQ(places.size(), tile->rows * tile->columns);
    EXPECT_LE(*places.rbegin() + tile->box.unit_bytes, pass.launch->shared_bytes);
  }
}

// Compares addresses with those of the compiled kernel that has this shape; how many have it.
template <std::size_t... index>
int compare_planes(const detail::TileFacts& tile, const kernels::AxesPlaneShape& shape,
                   std::index_sequence<index...>) {
  const auto compare = [&]<std::size_t i>() {
    if (!(kernels::kAxesPlaneShapes[i] == shape)) return 0;
    for (std::uint32_t row = 0; row < tile.rows; ++row)
      for (std::uint32_t column = 0; column < tile.columns; ++column)
        EXPECT_EQ(tile.address(row, column), kernels::PlaneLayout<kernels::kAxesPlaneShapes[i]>::place(
                                                 row, column * static_cast<std::uint32_t>(shape.unit_bytes)));
    return 1;
  };
  return (compare.template operator()<index>() + ...);
}

template <std::size_t... index>
int compare_turned(const detail::TileFacts& tile, const kernels::AxesPlaneShape& shape,
                   std::index_sequence<index...>) {
  const auto compare = [&]<std::size_t i>() {
    if (!(kernels::kAxesTurnedShapes[i] == shape)) return 0;
    for (std::uint32_t row = 0; row < tile.rows; ++row)
      for (std::uint32_t column = 0; column < tile.columns; ++column)
        EXPECT_EQ(tile.address(row, column),
                  kernels::TurnedLayout<kernels::kAxesTurnedShapes[i]>::line(column) +
                      row * static_cast<std::uint32_t>(shape.unit_bytes));
    return 1;
  };
  return (compare.template operator()<index>() + ...);
}

// What the picture says of banks is what the kernel does, whose layouts are constants of its shape.
TEST(PlanGpuSvg, BanksOfTilesAreThoseOfTheKernels) {
  for (const std::uint64_t width : {4U, 8U}) {
    const Pass pass = axes_pass(Axes({300, 400, 512}, {2, 0, 1}), width);
    const auto* const plane = std::get_if<detail::AxesPlaneKernel>(&pass.gpu->kernels.front().id);
    ASSERT_NE(plane, nullptr) << width;
    EXPECT_EQ(compare_planes(detail::tile_facts(pass).value(), plane->shape,
                             std::make_index_sequence<std::size(kernels::kAxesPlaneShapes)>()),
              1);
  }
  for (const std::uint64_t width : {1U, 2U, 4U, 8U}) {
    const Pass pass = axes_pass(Axes({1900, 2101}, {1, 0}), width);
    const auto* const turned = std::get_if<detail::AxesTurnedKernel>(&pass.gpu->kernels.front().id);
    ASSERT_NE(turned, nullptr) << width;
    EXPECT_EQ(compare_turned(detail::tile_facts(pass).value(), turned->shape,
                             std::make_index_sequence<std::size(kernels::kAxesTurnedShapes)>()),
              1);
  }
}

TEST(PlanGpuSvg, BoxesTellWhereTheirUnitsGo) {
  const std::string svg = Plan({.permutation = Axes({96, 75, 75, 96}, {3, 2, 1, 0}), .element_bytes = 4},
                               cuda::target_of_capability(9, 0))
                              .svg();
  // Unit 1 of row 1: a step of 96 x 75 x 75 x 4 bytes and one of 4, both ways.
  EXPECT_TRUE(contains(
      svg, "row 1, unit 1: bank 1; goes to place 540001 of the output from place 540001 of the input"));
  // Row 2, unit 1: twice the one and the other.
  EXPECT_TRUE(contains(
      svg, "row 2, unit 1: bank 1; goes to place 540002 of the output from place 1080001 of the input"));
}

}  // namespace plan_gpu_explain_test
}  // namespace faro
