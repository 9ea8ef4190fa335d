// The passes of GPU plans, of every kind: which there are, that what is shown is what is launched, and that
// counts of a few blocks are those of all.
// Sanitized: never, the same few lines, tables or texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/affine.hpp"
#include "permutation/cyclic_axes.hpp"
#include "plan/gpu/gpu_pass.hpp"
#include "plan_support.hpp"
#include "tell/counts/block_phases.hpp"
#include "tell/counts/counting.hpp"
#include "tell/counts/pass_tables.hpp"
#include "tell/prediction.hpp"
#include "transpose_emulator.hpp"

namespace faro {
namespace plan_gpu_pass_test {

using detail::GpuKernel;
using detail::GpuPass;
using testing::describe;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Target h200() { return cuda::target_of_capability(9, 0); }

Plan plan_of(const std::string& spec, std::uint64_t element_bytes = 4, std::uint64_t batch = 1,
             Placement placement = Placement::out_of_place) {
  return {Problem{.permutation = parse_permutation(spec),
                  .element_bytes = element_bytes,
                  .batch = batch,
                  .placement = placement},
          h200()};
}

Plan plan_by(const std::string& spec, const IndexChoice& choice, std::uint64_t batch = 1) {
  const Permutation permutation = parse_permutation(spec);
  const Recognition recognition = recognise(std::get<Indexed>(permutation));
  return {Problem{.permutation = permutation, .element_bytes = 4, .batch = batch}, h200(), recognition,
          choice};
}

std::vector<PassKind> kinds(const Plan& plan) {
  std::vector<PassKind> list;
  for (const Pass& pass : plan.passes()) list.push_back(pass.kind);
  return list;
}

std::vector<std::pair<PassBuffer, PassBuffer>> buffers(const Plan& plan) {
  std::vector<std::pair<PassBuffer, PassBuffer>> list;
  for (const Pass& pass : plan.passes()) list.emplace_back(pass.source, pass.target);
  return list;
}

// Plans of every family, and of both alignments where they differ.
std::vector<Plan> plans_of_every_kind() {
  std::vector<Plan> plans{plan_of("axes(12345 6789; 1 0)"),
                          plan_of("axes(30 40; 1 0)", 16),
                          plan_of("axes(3 1000000; 1 0)"),
                          plan_of("axes(1000000 3; 1 0)", 2),
                          plan_of("axes(200 30 100; 1 0 2)"),
                          plan_of("axes(17 20 10 11; 2 0 3 1)", 12, 6),
                          plan_of("axes(47 25 23 21; 3 2 1 0)", 1),
                          plan_of("axes(20000 5 15; 0 2 1)"),
                          plan_of("axes(3000 35 67; 0 2 1)", 2),
                          plan_of("axes(300 15 16 48; 0 1 3 2)", 1),
                          plan_of("roll(1000003, 17)", 3),
                          plan_of("flip(1000003)", 12, 2),
                          plan_of("flip(1000003)", 8),
                          plan_of("multiply(10007, 31)", 4, 3),
                          plan_of("multiply(1000003, 7)", 1),
                          plan_of("hilbert(2, 7)", 4, 3),
                          plan_of("inverse(hilbert(3, 5))", 12),
                          plan_of("healpix(6)", 8),
                          plan_of("inverse(healpix(9))", 1),
                          plan_of("axes(500 600; 1 0)", 8),
                          plan_of("axes(700 999; 1 0)", 3),
                          plan_of("axes(100000 6; 1 0)", 10),
                          plan_of("swap_bits(20, 10, 19)"),
                          plan_of("bit_reversal(5)", 4, 3, Placement::in_place),
                          plan_of("bit_reversal(20)"),
                          plan_of("bit_reversal(20)", 4, 1, Placement::in_place),
                          plan_of("random_bmmc(20, 1)", 1, 1, Placement::in_place),
                          plan_of("bit_reversal(8)", 4, 100, Placement::in_place),
                          plan_of("swap_bits(20, 10, 19)", 4, 1, Placement::in_place),
                          plan_of("roll(1001, 3)", 4, 5, Placement::in_place),
                          plan_of("flip(100003)", 12, 1, Placement::in_place),
                          plan_of("transpose(1000, 1000)", 2, 1, Placement::in_place),
                          plan_of("roll(15, 4)", 70003, 2, Placement::in_place),
                          plan_of("flip(100)", 8200, 1, Placement::in_place),
                          plan_of("transpose(20, 20)", 5001, 1, Placement::in_place),
                          plan_of("axes(24 8 96 208 32; 4 1 2 3 0)", 1),
                          plan_of("axes(30 7 30 5; 2 1 0 3)", 4, 2, Placement::in_place),
                          plan_of("transpose(1000, 3000)", 4, 1, Placement::in_place),
                          plan_of("transpose(20000, 50000)", 4, 1, Placement::in_place),
                          plan_of("transpose(30, 50)", 12, 1000, Placement::in_place)};
  for (const IndexMethod method :
       {IndexMethod::direct, IndexMethod::partition, IndexMethod::row_column, IndexMethod::row_column_5}) {
    IndexChoice choice;
    choice.method = method;
    for (const std::uint64_t batch : {1U, 3U}) plans.push_back(plan_by("random(65536, 1)", choice, batch));
  }
  return plans;
}

// --- which passes there are

TEST(PlanGpuPass, OfIndexArraysInTheirOrder) {
  using enum PassKind;
  using enum PassBuffer;
  IndexChoice choice;
  choice.method = IndexMethod::partition;
  choice.chunk_bits = 10;
  choice.level_bits = {3, 3};
  const Plan partition = plan_by("random(65536, 1)", choice);
  EXPECT_THAT(kinds(partition), ElementsAre(spread, spread, place));
  EXPECT_THAT(buffers(partition), ElementsAre(std::pair(input, workspace), std::pair(workspace, output),
                                              std::pair(output, output)));
  EXPECT_EQ(partition.passes()[0].tables.size(), 3U);
  EXPECT_EQ(partition.workspace_bytes(), 4U << 16);
  choice = {};
  choice.method = IndexMethod::row_column_5;
  const Plan five = plan_by("random(65536, 1)", choice, 3);
  EXPECT_THAT(kinds(five), ElementsAre(place, axes, place, axes, place));
  EXPECT_EQ(five.passes()[1].launch->launches, 3U) << "arrays take turns";
  choice.method = IndexMethod::row_column;
  EXPECT_THAT(kinds(plan_by("random(65536, 1)", choice)), ElementsAre(place, columns, place));
  choice.method = IndexMethod::direct;
  EXPECT_THAT(kinds(plan_by("random(65536, 1)", choice)), ElementsAre(indexed));
  EXPECT_THAT(kinds(plan_of("roll(1000, 3)")), ElementsAre(cyclic));
  EXPECT_THAT(kinds(plan_of("axes(1000 3; 1 0)")), ElementsAre(axes));
  EXPECT_THAT(kinds(plan_of("axes(1000 3; 0 1)", 12)), ElementsAre(copy));
  EXPECT_TRUE(plan_of("axes(1000 3; 1 0)", 4, 0).passes().empty());
}

// The plan lends what its passes go through.
TEST(PlanGpuPass, GoThroughTheWorkspaceThatThePlanLends) {
  for (const Plan& plan : plans_of_every_kind()) {
    if (plan.way() == nullptr) continue;
    bool through = false;
    PassBuffer at = PassBuffer::input;
    for (const Pass& pass : plan.passes()) {
      EXPECT_EQ(pass.source, at);
      EXPECT_TRUE(pass.gpu->in_place || pass.source != pass.target);
      at = pass.target;
      through = through || at == PassBuffer::workspace;
    }
    EXPECT_EQ(at, PassBuffer::output);
    EXPECT_EQ(plan.workspace_bytes() > 0, through) << plan.explain();
  }
}

TEST(PlanGpuPass, ACpuHasNoneOfThem) {
  const Plan roll({.permutation = parse_permutation("roll(1000, 3)"), .element_bytes = 4}, Target{});
  const Plan affine({.permutation = maps::bit_reversal(20), .element_bytes = 4}, Target{});
  for (const Plan& plan : {roll, affine}) {
    ASSERT_EQ(plan.passes().size(), 1U);
    EXPECT_EQ(plan.passes().front().gpu, nullptr);
    EXPECT_FALSE(plan.passes().front().launch.has_value());
  }
}

// --- what is shown is what is launched

TEST(PlanGpuPass, ShowWhatIsLaunched) {
  std::set<std::size_t> families;
  for (const Plan& plan : plans_of_every_kind()) {
    ASSERT_FALSE(plan.passes().empty()) << plan.explain();
    const std::string text = plan.explain();
    const auto json = nlohmann::json::parse(plan.explain_json());
    const PassCounter counter(plan);
    ASSERT_EQ(json["passes"].size(), plan.passes().size());
    for (std::size_t i = 0; i < plan.passes().size(); ++i) {
      const Pass& pass = plan.passes()[i];
      SCOPED_TRACE(text);
      ASSERT_NE(pass.gpu, nullptr);
      EXPECT_EQ(pass.gpu->kind, pass.kind);
      ASSERT_FALSE(pass.gpu->kernels.empty());
      for (const GpuKernel& kernel : pass.gpu->kernels) {
        families.insert(kernel.id.index());
        EXPECT_GT(kernel.blocks, 0U);
        EXPECT_GT(kernel.threads, 0);
        EXPECT_LE(kernel.shared_bytes, plan.target().chunk_bytes_max);
        EXPECT_FALSE(to_text(kernel).empty());
      }
      EXPECT_EQ(pass.launch->threads, pass.gpu->kernels.front().threads);
      EXPECT_EQ(pass.launch->shared_bytes, pass.gpu->kernels.front().shared_bytes);
      EXPECT_EQ(json["passes"][i]["kind"], name(pass.kind));
      EXPECT_EQ(json["passes"][i]["launch"]["blocks"], pass.launch->blocks);
      EXPECT_THAT(text, HasSubstr("\n  kernel"));
      const auto counted = counter(i);
      ASSERT_TRUE(counted.has_value()) << name(pass.kind);
      EXPECT_EQ(json["passes"][i]["predicted"]["global_loads"]["sectors"],
                counted->counts.global_loads.sectors);
      EXPECT_EQ(json["passes"][i]["counted"], counted->counted);
      EXPECT_EQ(json["passes"][i]["bounded"], counted->bounded);
      EXPECT_FALSE(counted->bounded) << "the index array is at hand";
      EXPECT_GT(json["passes"][i]["predicted_time"]["ms"], 0.0);
      EXPECT_THAT(text, HasSubstr("\n  time"));
    }
  }
  // All but the driver's copy, windows, runs, rows of views, and exceptions of a map.
  EXPECT_EQ(families.size(), std::variant_size_v<detail::KernelId> - 5) << ::testing::PrintToString(families);
}

// Boxes say what lies together on either side; one problem has one box, however it is written.
TEST(PlanGpuPass, BoxesOfAxesSayTheirRuns) {
  const auto kernel = [](const Plan& plan) { return plan.passes().front().launch->kernel; };
  const std::string reversed = kernel(plan_of("axes(48 28 28 28 48; 4 3 2 1 0)"));
  EXPECT_THAT(reversed, HasSubstr("axes box, units of 4 bytes, runs of "));
  EXPECT_THAT(reversed, HasSubstr("4 units read and 4 written at a time"));
  EXPECT_EQ(kernel(plan_of("axes(6 8 28 1 4 7 28 48; 7 6 4 5 2 3 0 1)")), reversed);
  const std::string ragged = kernel(plan_of("axes(27 27 27 27 27; 4 3 2 1 0)"));
  EXPECT_THAT(ragged, HasSubstr("axes ragged box, units of 4 bytes, runs of "));
  EXPECT_THAT(ragged, HasSubstr("4 units read and 4 written at a time"));
  EXPECT_THAT(kernel(plan_of("axes(96 75 75 96; 3 2 1 0)", 1)),
              HasSubstr("axes box, units of 1 byte, runs of "));
}

// Small arrays of a batch; others are too large, or no arrays.
TEST(PlanGpuPass, SmallArraysAreMovedWhole) {
  const auto kernel = [](const std::string& axes, std::uint64_t element_bytes) {
    return plan_of(axes, element_bytes).passes().front().launch->kernel;
  };
  EXPECT_EQ(kernel("axes(1600000 5 15; 0 2 1)", 4),
            "axes whole, units of 4 bytes, 48 arrays of 300 bytes a block, 256 threads");
  EXPECT_EQ(kernel("axes(100000 40 60; 0 2 1)", 2),
            "axes whole, units of 2 bytes, 7 arrays of 4800 bytes a block, 256 threads");
  const std::string text = plan_of("axes(1600000 5 15; 0 2 1)").explain();
  EXPECT_THAT(
      text, HasSubstr("box         48 x 15 x 5 of 1600000 x 15 x 5 units of 4 bytes, 14.1 KiB; 33334 boxes"));
  EXPECT_THAT(text, HasSubstr("runs        reads 1 run of 14.1 KiB, writes 1 run of 14.1 KiB"));
  EXPECT_THAT(kernel("axes(100000 12 10 10; 0 3 1 2)", 4), HasSubstr("axes whole, units of 4 bytes"));
  EXPECT_THAT(kernel("axes(1600000 5 16; 0 2 1)", 4), HasSubstr("axes whole, units of 4 bytes"));
  EXPECT_THAT(kernel("axes(1000 201 203; 0 2 1)", 4), Not(HasSubstr("axes whole")));
  EXPECT_THAT(kernel("axes(5 15 1600000; 0 2 1)", 4), Not(HasSubstr("axes whole")));
}

// --- counts

TEST(PlanGpuPass, CountsOfAllBlocksStoreEveryByteOnce) {
  for (const Plan& plan : plans_of_every_kind()) {
    const PassCounter counter(plan);
    for (std::size_t i = 0; i < plan.passes().size(); ++i) {
      const auto counted = counter(i);
      if (!counted) continue;
      const Pass& pass = plan.passes()[i];
      const auto stored = static_cast<double>(counted->counts.global_stores.bytes);
      const auto moved = static_cast<double>(pass.bytes_written);
      SCOPED_TRACE(describe(plan.problem()));
      if (counted->counted.starts_with("all") || counted->counted == "the block") {
        // In place what stays where it is need not be stored.
        const bool may_stay = plan.problem().placement == Placement::in_place;
        if (may_stay) {
          EXPECT_LE(stored, moved);
        } else {
          EXPECT_EQ(stored, moved);
        }
      } else {
        EXPECT_NEAR(stored / moved, 1, 0.06);
      }
    }
  }
}

// Every width is drawn; a tile's rows are read up to a sector further than its columns are long.
TEST(PlanGpuPass, MultiplicationsAreCountedAndTimed) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    const Plan plan = plan_of("multiply(20011, 77)", width, 2);
    SCOPED_TRACE(describe(plan.problem()));
    ASSERT_EQ(plan.passes().size(), 1U);
    ASSERT_EQ(plan.passes().front().kind, PassKind::modular);
    const auto counted = PassCounter(plan)(0);
    ASSERT_TRUE(counted.has_value());
    EXPECT_EQ(counted->counts.global_stores.bytes, 2 * 20011 * width);
    EXPECT_GE(counted->counts.global_loads.bytes, 2 * 20011 * width);
    EXPECT_LE(counted->counts.global_loads.bytes, 3 * 20011 * width);
    EXPECT_GE(32 * counted->counts.global_stores.sectors, 2 * 20011 * width);
    EXPECT_GT(counted->counts.shared_loads.wavefronts, 0U);
    EXPECT_GT(predict_us(plan, 0).value_or(0), 0);
  }
}

// For every width, both ways, past what a table could hold: every byte is read and written once, and what a
// warp reads or writes beyond its sectors is little.
TEST(PlanGpuPass, ComputedMapsAreCountedAndTimed) {
  for (const std::string text : {"hilbert(2, 9)", "hilbert(9, 2)", "healpix(7)"}) {
    for (const std::string& each : {text, "inverse(" + text + ")"}) {
      for (const std::uint64_t width : {1U, 4U, 12U}) {
        const Plan plan = plan_of(each, width, 2);
        SCOPED_TRACE(describe(plan.problem()));
        ASSERT_EQ(plan.passes().size(), 1U);
        const Pass& pass = plan.passes().front();
        ASSERT_EQ(pass.kind, PassKind::computed);
        EXPECT_EQ(plan.workspace_bytes(), 0U);
        EXPECT_TRUE(pass.tables.empty());
        EXPECT_EQ(plan.way()->schedule_bytes, 0U);
        const auto counted = PassCounter(plan)(0);
        ASSERT_TRUE(counted.has_value());
        const std::uint64_t bytes = total_bytes(plan.problem());
        EXPECT_EQ(counted->counts.global_stores.bytes, bytes);
        EXPECT_EQ(counted->counts.global_loads.bytes, bytes);
        EXPECT_GT(predict_us(plan, 0).value_or(0), 0);
        if (text.starts_with("hilbert(2") && width == 4) {
          EXPECT_EQ(32 * counted->counts.global_loads.sectors, bytes);
          EXPECT_EQ(32 * counted->counts.global_stores.sectors, bytes);
        }
      }
    }
  }
}

// A sample against every block: what differs is at the ends of rows and lines.
TEST(PlanGpuPass, SamplesAreNearToFullCounts) {
  for (const Plan& plan : {plan_of("axes(3234 2678; 1 0)"), plan_of("axes(150 160 170; 2 1 0)", 2),
                           plan_of("roll(1000003, 17)"), plan_of("flip(3000017)", 12), plan_of("healpix(10)"),
                           plan_of("bit_reversal(23)", 4, 1, Placement::in_place)}) {
    const Pass& pass = plan.passes().front();
    const GpuKernel& kernel = pass.gpu->kernels.front();
    const auto counted = PassCounter(plan)(0);
    ASSERT_TRUE(counted.has_value());
    EXPECT_THAT(counted->counted, HasSubstr("of each of 256 parts")) << plan.explain();
    machine::AccessCounts full;
    const auto together = static_cast<std::uint64_t>(kernel.cluster_blocks);
    for (std::uint64_t block = 0; block < kernel.blocks / together; ++block) {
      machine::CountingMemory memory({.shared_bytes = kernel.shared_bytes * together});
      run_phases(kernel, memory, {.block = block, .bytes = pass.bytes_read});
      full += memory.counts();
    }
    const auto near = [&](std::uint64_t sampled, std::uint64_t all) {
      EXPECT_NEAR(static_cast<double>(sampled) / static_cast<double>(all), 1, 0.03) << plan.explain();
    };
    near(counted->counts.global_loads.sectors, full.global_loads.sectors);
    near(counted->counts.global_stores.sectors, full.global_stores.sectors);
    near(counted->counts.global_loads.requests, full.global_loads.requests);
    if (full.shared_loads.requests > 0) {
      near(counted->counts.shared_loads.wavefronts, full.shared_loads.wavefronts);
    }
  }
}

// Law: what is said where the index array is not at hand is at least what any array costs.
TEST(PlanGpuPass, BoundsAreAtLeastTheCounts) {
  std::size_t passes = 0;
  for (const IndexMethod method : {IndexMethod::direct, IndexMethod::partition, IndexMethod::row_column}) {
    for (const std::uint64_t width : {1U, 4U, 12U, 16U}) {
      for (const Direction direction : {Direction::scatter, Direction::gather}) {
        IndexChoice choice;
        choice.method = method;
        if (method == IndexMethod::partition) choice.chunk_bits = 10;
        Indexed array = Indexed::random(1 << 15, 7);
        if (array.direction() != direction) array = array.inverse();
        const Plan plan({.permutation = array, .element_bytes = width}, h200(), recognise(array), choice);
        const PassCounter counter(plan, {.every_block = true});
        for (std::size_t i = 0; i < plan.passes().size(); ++i) {
          const Pass& pass = plan.passes()[i];
          const auto bound =
              detail::bounded_blocks(*pass.gpu, {.arrays = 1, .array_bytes = pass.bytes_read}, {});
          ASSERT_TRUE(bound.has_value());
          const machine::AccessCounts& most = bound->counts;
          const machine::AccessCounts& counts = counter(i)->counts;
          SCOPED_TRACE(describe(plan.problem()));
          EXPECT_GE(most.global_loads.requests, counts.global_loads.requests);
          EXPECT_GE(most.global_loads.sectors, counts.global_loads.sectors);
          EXPECT_GE(most.global_stores.requests, counts.global_stores.requests);
          EXPECT_GE(most.global_stores.sectors, counts.global_stores.sectors);
          EXPECT_GE(most.shared_loads.wavefronts, counts.shared_loads.wavefronts);
          EXPECT_GE(most.shared_stores.wavefronts, counts.shared_stores.wavefronts);
          ++passes;
        }
      }
    }
  }
  EXPECT_GE(passes, 3U * 4 * 2);
}

// Law: sweeps that are counted whole are what the emulator of all launches counts.
TEST(PlanGpuPass, SweepsAreCountedAsTheyAreEmulated) {
  detail::GpuTransposeLimits limits;
  limits.shared_bytes = 4096;
  limits.blocks_bytes = 2048;
  limits.whole_bytes = 1024;
  std::set<detail::GpuTransposeForm> forms;
  for (const auto& [rows, columns] :
       {std::pair{20, 30}, {100, 30}, {70, 800}, {37, 41}, {300, 128}, {900, 800}, {5, 3000}, {9, 2100}}) {
    const Rectangle rectangle{.arrays = 1,
                              .rows = static_cast<std::uint64_t>(rows),
                              .columns = static_cast<std::uint64_t>(columns),
                              .element_bytes = 4};
    const detail::GpuTranspose plan = detail::plan_gpu_transpose(rectangle, limits);
    forms.insert(plan.form);
    std::vector<std::byte> data(rectangle.bytes());
    const test::EmulatedTraffic traffic = test::emulate(plan, data);
    machine::AccessCounts counts;
    for (const GpuPass& pass : detail::sweep_passes(plan)) {
      const auto series_of = [&](std::size_t i) -> const detail::GpuTransposeLaunch& {
        return std::get<detail::GpuTransposeLaunch>(pass.kernels[i].params);
      };
      detail::for_each_in_turn(pass.kernels.size(), series_of, [&](std::size_t i, std::uint64_t number) {
        GpuKernel kernel = pass.kernels[i];
        kernel.params = in_series(series_of(i), number);
        for (std::uint64_t block = 0; block < kernel.blocks; ++block) {
          machine::CountingMemory memory({.shared_bytes = kernel.shared_bytes});
          run_phases(kernel, memory, {.block = block, .bytes = rectangle.bytes()});
          counts += memory.counts();
        }
      });
    }
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    EXPECT_EQ(counts.global_loads.bytes, traffic.loaded);
    EXPECT_EQ(counts.global_stores.bytes, traffic.stored);
    EXPECT_EQ(counts.global_loads.lines, traffic.load_lines);
    EXPECT_EQ(counts.global_stores.sectors, traffic.store_sectors);
  }
  EXPECT_GE(forms.size(), 3U);
}

// A family's shape that comes again is planned as an array of that shape.
TEST(GpuSearchedPass, IsThatOfAPlan) {
  for (const std::string spec :
       {"axes(28 29 30 31 33; 4 3 2 1 0)", "axes(64 64 112 112; 0 2 3 1)", "axes(640 224 224 3; 0 3 1 2)"}) {
    for (const std::uint64_t width : {1U, 2U, 8U}) {
      const detail::AxisMap units = [&] {
        detail::AxisMap map = detail::normal_form(*detail::axis_map(parse_permutation(spec)));
        map.unit = width;
        return map;
      }();
      const auto searched = detail::searched_pass(units);
      const Plan plan = plan_of(spec, width);
      ASSERT_TRUE(searched && plan.passes().size() == 1) << spec;
      const std::vector<GpuKernel>& wanted = plan.passes().front().gpu->kernels;
      ASSERT_EQ(searched->kernels.size(), wanted.size()) << spec;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(detail::to_text(searched->kernels[i]), detail::to_text(wanted[i])) << spec << ", " << width;
    }
  }
}

// Elements that are several of the caller's, in arrays that are aligned to one: the same passes, tables and
// workspace by narrower units.
TEST(GpuPasses, NarrowerUnitsForUnalignedArrays) {
  const Permutation array = Indexed::random(90007, 1);
  Recognition recognition;
  recognition.permutation = array;
  recognition.displacement = 99;
  recognition.runs = 3;
  const IndexChoice choices[] = {{.method = IndexMethod::direct},
                                 {.method = IndexMethod::window},
                                 {.method = IndexMethod::runs},
                                 {.method = IndexMethod::partition, .chunk_bits = 10, .level_bits = {3, 4}}};
  for (const IndexChoice& choice : choices) {
    for (const std::uint64_t width : {16U, 48U, 64U}) {
      const Plan plan(Problem{.permutation = array, .element_bytes = width, .batch = 2}, h200(), recognition,
                      choice);
      SCOPED_TRACE(std::to_string(width) + " bytes, " + to_text(*plan.way()));
      for (const std::uint64_t unit : {1U, 4U, 8U, 16U}) {
        const std::vector<GpuPass> passes = detail::solve_by_units(*plan.index_plan(), unit);
        ASSERT_EQ(passes.size(), plan.passes().size());
        EXPECT_EQ(detail::workspace_bytes(passes), plan.workspace_bytes());
        for (std::size_t i = 0; i < passes.size(); ++i) {
          const GpuPass& wanted = *plan.passes()[i].gpu;
          EXPECT_EQ(passes[i].kind, wanted.kind);
          EXPECT_EQ(passes[i].source, wanted.source);
          EXPECT_EQ(passes[i].target, wanted.target);
          ASSERT_EQ(passes[i].tables.size(), wanted.tables.size());
          for (std::size_t t = 0; t < wanted.tables.size(); ++t)
            EXPECT_EQ(passes[i].tables[t].kind, wanted.tables[t].kind);
          EXPECT_EQ(passes[i].kernels.back().in_alignment, unit);
          EXPECT_EQ(passes[i].kernels.back().out_alignment, unit);
        }
      }
    }
  }
}

}  // namespace plan_gpu_pass_test
}  // namespace faro
