// network::Plan: its passes, carried out tile by tile, do what the program does; every tile has its size and
// holds what it must; and the passes are as many as the tables say.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "faro/f2/matrix.hpp"
#include "faro/network/network.hpp"
#include "network_plan_support.hpp"
#include "refusal.hpp"

namespace faro::network {
namespace network_plan_test {

using namespace testing_support;
using f2::Subspace;

constexpr std::uint64_t kSeed = 67;

std::string pasteable(const Program& program, const Sizes& sizes) {
  return "faro network explain '" + to_text(program) + "' --bits " + std::to_string(program.bits()) +
         " --element u64 --tile-bits " + std::to_string(sizes.tile_bits) + " --segment-bits " +
         std::to_string(sizes.segment_bits) + ", seed " + std::to_string(kSeed);
}

Plan plan_of(const Program& program, const Sizes& sizes, Engine engine = Engine::cpu,
             Placement placement = Placement::out_of_place) {
  return Plan({.program = program, .element = kWords, .batch = 1, .placement = placement}, sizes, engine);
}

Subspace space_of(const Pass& pass) {
  Subspace space = Subspace::low(pass.tile.index_bits, pass.tile.segment_bits);
  for (const Word row : pass.tile.source_rows) space.insert(row);
  return space;
}

Word address(const layout::Tile& tile, Word b, Word j) {
  const int s = tile.segment_bits;
  return (tile.block_source(b) ^ tile.source_row(s == 64 ? 0 : j >> s)) | (j & f2::low_mask(s));
}

// Without moving anything, so at any n: the layers are all there, in order, each in its frame; the tiles have
// their size and, by whole segments, read what they must; the maps of all passes make the final map.
void expect_sound(const Plan& plan, std::mt19937_64& random) {
  const NormalForm& form = plan.normal_form();
  const int n = form.bits;
  const Sizes& sizes = plan.sizes();
  ASSERT_TRUE(sizes.segment_bits < sizes.tile_bits || sizes.tile_bits == n);
  Affine where(n);
  std::size_t next = 0;
  for (const Pass& pass : plan.passes()) {
    const layout::Tile& tile = pass.tile;
    ASSERT_EQ(tile.tile_bits(), sizes.tile_bits);
    ASSERT_EQ(tile.segment_bits, sizes.segment_bits);
    ASSERT_EQ(pass.first_layer, next);
    // Written in whole segments.
    const Subspace space = space_of(pass);
    ASSERT_EQ(space.dimension(), sizes.tile_bits);
    ASSERT_TRUE(f2::image(pass.map.matrix(), space).contains(Subspace::low(n, sizes.segment_bits)));
    if (pass.in_place) {
      for (int i = 0; i < n; ++i) ASSERT_TRUE(space.contains(pass.map(f2::unit(i)) ^ f2::unit(i)));
    }
    const Affine index = where.inverse();
    for (const LocalLayer& local : pass.layers) {
      const Layer& layer = form.layers.at(next++);
      ASSERT_EQ(local.op, layer.op);
      ASSERT_EQ(local.bits, layer.bits);
      ASSERT_EQ(address(tile, 0, local.delta) ^ address(tile, 0, 0), where.matrix() * layer.direction());
      for (int sample = 0; sample < 8; ++sample) {
        const Word b = random() & f2::low_mask(tile.block_bits());
        const Word j = random() & f2::low_mask(tile.tile_bits());
        const Word y = layer.frame(index(address(tile, b, j)));
        ASSERT_EQ(local.is_first(j, b), (y & 1) == 0);
        ASSERT_EQ(local.pair(j, b), (y >> 1) & f2::low_mask(layer.bits - 1));
      }
    }
    where = compose(pass.map, where);
  }
  ASSERT_EQ(next, form.layers.size());
  ASSERT_EQ(where, form.final_map);
}

void expect_law(const Program& program, const Sizes& sizes, std::mt19937_64& random) {
  SCOPED_TRACE(pasteable(program, sizes));
  const Plan plan = plan_of(program, sizes, random() % 2 == 0 ? Engine::cpu : Engine::cuda,
                            random() % 4 == 0 ? Placement::in_place : Placement::out_of_place);
  expect_sound(plan, random);
  if (::testing::Test::HasFatalFailure()) return;
  ASSERT_EQ(plan.counts().planned, plan.passes().size());
  ASSERT_LE(plan.counts().planned, plan.counts().plain);
  const Values in = random_values(program.bits(), random);
  ASSERT_EQ(run_plan(plan, in), interpret(program, kWords, in));
}

TEST(NetworkPlan, RandomProgramsDoWhatTheInterpreterDoes) {
  std::mt19937_64 random(kSeed);
  std::size_t moving = 0;
  std::size_t out_of_place = 0;
  std::size_t long_plans = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int n = 1 + static_cast<int>(random() % 10);
    const int m = 1 + static_cast<int>(random() % static_cast<unsigned>(n + 1));
    const Sizes sizes{.tile_bits = m,
                      .segment_bits = m >= n ? static_cast<int>(random() % static_cast<unsigned>(n + 1))
                                             : static_cast<int>(random() % static_cast<unsigned>(m))};
    const Program program = random_program(n, 1 + static_cast<int>(random() % 60), random);
    expect_law(program, sizes, random);
    if (HasFatalFailure()) return;
    const Plan plan = plan_of(program, sizes);
    moving += plan.counts().planned < plan.counts().plain ? 1 : 0;
    out_of_place += plan.passes().back().in_place ? 0 : 1;
    long_plans += plan.passes().size() > 3 ? 1 : 0;
    for (std::size_t k = 0; k + 1 < plan.passes().size(); ++k) ASSERT_TRUE(plan.passes()[k].in_place);
  }
  EXPECT_GT(moving, 100U);
  EXPECT_GT(out_of_place, 100U);
  EXPECT_GT(long_plans, 50U);
}

TEST(NetworkPlan, TheLibraryForEverySize) {
  std::mt19937_64 random(kSeed);
  for (int n = 1; n <= 8; ++n) {
    for (const Program& program : {sort(n, mixer()), merge(n, mixer()), bitonic_sort(n, mixer()),
                                   bmmc(Affine(f2::reversal(n), 0)) * bitonic_merge(n, mixer())}) {
      for (int m = 1; m <= n; ++m) {
        for (int s = 0; s < m + (m == n ? 1 : 0); ++s) {
          expect_law(program, {.tile_bits = m, .segment_bits = s}, random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(NetworkPlan, AProgramThatDoesNothingIsACopy) {
  const Plan plan = plan_of(identity(9), {.tile_bits = 5, .segment_bits = 2});
  ASSERT_EQ(plan.passes().size(), 1U);
  EXPECT_TRUE(plan.passes().front().layers.empty());
  EXPECT_TRUE(plan.passes().front().map.is_identity());
  EXPECT_EQ(plan.counts().as_written, 0U);
}

TEST(NetworkPlan, AnEmptyBatchHasNoPasses) {
  const Plan plan({.program = sort(9), .element = {}, .batch = 0}, {}, Engine::cpu);
  EXPECT_TRUE(plan.passes().empty());
  EXPECT_EQ(plan.array_bytes(), 0U);
  EXPECT_EQ(plan.workspace_bytes(), 0U);
  EXPECT_EQ(plan.bytes_moved(), 0U);
}

struct Expected {
  Program program;
  Sizes sizes;
  std::size_t layers;
  std::size_t plain;
  std::size_t planned;
};

// DESIGN's figures under the plain rule, and what changing the order saves.
TEST(NetworkPlan, PassCountsOfLargeNetworks) {
  std::mt19937_64 random(kSeed);
  const std::vector<Expected> table{
      {merge(24), {.tile_bits = 15, .segment_bits = 6}, 24, 2, 2},
      {sort(24), {.tile_bits = 15, .segment_bits = 6}, 300, 27, 14},
      {bitonic_sort(24), {.tile_bits = 15, .segment_bits = 6}, 300, 15, 13},
      {sort(28), {.tile_bits = 14, .segment_bits = 6}, 406, 45, 27},
      {merge(30), {.tile_bits = 14, .segment_bits = 6}, 30, 3, 3},
      {sort(30), {.tile_bits = 14, .segment_bits = 6}, 465, 52, 32},
      {bitonic_sort(30), {.tile_bits = 14, .segment_bits = 6}, 465, 34, 31},
      {wht(30), {.tile_bits = 14, .segment_bits = 6}, 30, 3, 3},
      {fft_reversed(30), {.tile_bits = 14, .segment_bits = 6}, 30, 3, 3},
      {fft(30), {.tile_bits = 14, .segment_bits = 6}, 30, 4, 4},
      {fft(24), {.tile_bits = 18, .segment_bits = 6}, 24, 2, 2},
      {fft(24), {.tile_bits = 17, .segment_bits = 6}, 24, 3, 3},
  };
  for (const Expected& row : table) {
    SCOPED_TRACE(pasteable(row.program, row.sizes));
    const bool complex = row.program.bits() > 0 && row.layers < 100;
    const bool fourier = complex && normal_form(row.program).layers.front().op.kind == OperatorKind::fourier;
    const Plan plan(
        {.program = row.program, .element = {.scalar = fourier ? Scalar::c64 : Scalar::u32}, .batch = 1},
        row.sizes, Engine::cuda);
    EXPECT_EQ(plan.normal_form().layers.size(), row.layers);
    EXPECT_EQ(plan.counts().plain, row.plain);
    EXPECT_EQ(plan.counts().planned, row.planned);
    EXPECT_EQ(plan.passes().size(), row.planned);
    expect_sound(plan, random);
    if (HasFatalFailure()) return;
  }
}

// Everything is in place but a last pass that puts elements in order; what comes before it needs an array.
TEST(NetworkPlan, OnlyALastPassOutOfPlaceNeedsAWorkspace) {
  const Plan merged({.program = merge(24), .element = {}, .batch = 3}, {}, Engine::cuda);
  EXPECT_EQ(merged.workspace_bytes(), 0U);
  EXPECT_EQ(merged.array_bytes(), std::uint64_t{3} << 26);
  EXPECT_EQ(merged.bytes_moved(), 2 * merged.array_bytes() * merged.passes().size());
  const Plan fourier({.program = fft(24), .element = {.scalar = Scalar::c64}}, {}, Engine::cuda);
  EXPECT_EQ(fourier.workspace_bytes(), fourier.array_bytes());
  const std::vector<Places> places = run_places(fourier.passes());
  ASSERT_GE(places.size(), 2U);
  EXPECT_EQ(places.front().source, Place::in);
  EXPECT_EQ(places.front().target, Place::workspace);
  EXPECT_EQ(places.back().source, Place::workspace);
  EXPECT_EQ(places.back().target, Place::out);
  const Plan small({.program = fft(8), .element = {.scalar = Scalar::c64}}, {}, Engine::cuda);
  EXPECT_EQ(small.passes().size(), 1U);
  EXPECT_EQ(small.workspace_bytes(), 0U);
}

// In place the passes are as many, and no workspace is left where a way back to the input's order was found.
TEST(NetworkPlan, SortsInPlace) {
  std::mt19937_64 random(kSeed);
  std::size_t found = 0;
  std::size_t needed = 0;
  for (int n = 8; n <= 11; ++n) {
    for (const Program& program : {sort(n, mixer()), bitonic_sort(n, mixer())}) {
      for (int m = 4; m < n; ++m) {
        for (int s = 1; s < m - 1; ++s) {
          const Sizes sizes{.tile_bits = m, .segment_bits = s};
          SCOPED_TRACE(pasteable(program, sizes));
          const Plan plan = plan_of(program, sizes, Engine::cpu, Placement::in_place);
          expect_sound(plan, random);
          ASSERT_EQ(plan.passes().size(), plan_of(program, sizes).passes().size());
          needed += plan_of(program, sizes).workspace_bytes() > 0 ? 1 : 0;
          found += plan.workspace_bytes() == 0 && plan_of(program, sizes).workspace_bytes() > 0 ? 1 : 0;
          if (plan.workspace_bytes() > 0) continue;
          Values values = random_values(n, random);
          const Values wanted = interpret(program, kWords, values);
          for (const Pass& pass : plan.passes()) run_pass(pass, values, values);
          ASSERT_EQ(values, wanted);
        }
      }
    }
  }
  EXPECT_GT(needed, 30U);
  EXPECT_GT(found * 2, needed) << found << " of " << needed;
}

TEST(NetworkPlan, CountsOfProgramsAsWritten) {
  // A bit reversal, a layer of neighbours, a bit reversal back: three passes, of which one is left.
  const Program reversal = bmmc(Affine(f2::reversal(10), 0));
  const Plan plan = plan_of(reversal * pairs(mixer(), 10) * reversal, {.tile_bits = 6, .segment_bits = 3});
  EXPECT_EQ(plan.counts().as_written, 3U);
  EXPECT_EQ(plan.counts().layer_by_layer, 1U);
  EXPECT_EQ(plan.counts().planned, 1U);
  // fft: a shuffle before, between and behind the butterflies, the last one with the bit reversal.
  const Plan fourier({.program = fft(10), .element = {.scalar = Scalar::c64}}, {}, Engine::cpu);
  EXPECT_EQ(fourier.counts().as_written, 21U);
  EXPECT_EQ(fourier.counts().layer_by_layer, 11U);
}

TEST(NetworkPlan, SizesThatSuitTheEngine) {
  const Problem problem{.program = sort(26), .element = {.scalar = Scalar::u32}};
  const Plan gpu(problem, {}, Engine::cuda);
  EXPECT_EQ(gpu.sizes().tile_bits, 13);
  EXPECT_GE(gpu.sizes().segment_bits, 4);
  EXPECT_LE(gpu.sizes().segment_bits, 6);
  // Larger tiles where blocks are many and passes fewer.
  EXPECT_LT(gpu.passes().size(), Plan(problem, {.tile_bits = 12}, Engine::cuda).passes().size());
  EXPECT_EQ(Plan({.program = sort(21), .element = {}}, {}, Engine::cuda).sizes().tile_bits, 12);
  EXPECT_EQ(
      Plan({.program = wht(24), .element = {.scalar = Scalar::f32}}, {}, Engine::cuda).sizes().tile_bits, 12);
  const Plan cpu(problem, {}, Engine::cpu);
  EXPECT_EQ(cpu.sizes().tile_bits, 16);
  const Plan wide({.program = sort(20), .element = {.scalar = Scalar::u64, .with_value = true}}, {},
                  Engine::cuda);
  EXPECT_EQ(wide.sizes().tile_bits, 11);
  const Plan tiny({.program = sort(1), .element = {}}, {}, Engine::cuda);
  EXPECT_EQ(tiny.sizes().tile_bits, 1);
  EXPECT_EQ(tiny.passes().size(), 1U);
  // One of the two given.
  EXPECT_EQ(Plan(problem, {.tile_bits = 12}, Engine::cuda).sizes().tile_bits, 12);
  EXPECT_EQ(Plan(problem, {.segment_bits = 4}, Engine::cuda).sizes().segment_bits, 4);
  EXPECT_EQ(Plan(problem, {.segment_bits = 20}, Engine::cuda).sizes().tile_bits, 21);
  EXPECT_EQ(Plan(problem, {.tile_bits = 1}, Engine::cuda).sizes().segment_bits, 0);
}

TEST(NetworkPlan, ExplainsItself) {
  const Plan plan({.program = sort(24), .element = {}}, {.tile_bits = 15, .segment_bits = 6}, Engine::cuda);
  const std::string words = plan.explain();
  for (const char* fact : {"2^24 elements of 4 bytes (u32)", "300 layers of min_max",
                           "passes        14; no plan", "300 layer by layer", "27 grouped",
                           "2^15 elements, 128 KiB; segments of 2^6, 256 bytes", "\npass 14 ", "1.75 GiB"}) {
    EXPECT_NE(words.find(fact), std::string::npos) << fact << "\n" << words;
  }
  EXPECT_EQ(words.find("\npass 15 "), std::string::npos);
  const std::string json = plan.explain_json();
  for (const char* fact : {"\"planned\": 14", "\"plain\": 27", "\"layer_by_layer\": 300", "\"tile_bits\": 15",
                           "\"final_map\": \"identity(24)\""}) {
    EXPECT_NE(json.find(fact), std::string::npos) << fact;
  }
  const Plan both(
      {.program = pairs(operators::max_min(), 6) * pairs(operators::min_max(), 6), .element = {}, .batch = 5},
      {}, Engine::cpu);
  EXPECT_NE(both.explain().find("2 layers: 1 of min_max, 1 of max_min"), std::string::npos) << both.explain();
}

void expect_refused(const Problem& problem, const Sizes& sizes, const std::string& got) {
  SCOPED_TRACE(got);
  test::expect_refused(ErrorCode::value, got, [&] { const Plan plan(problem, sizes, Engine::cpu); });
}

TEST(NetworkPlan, OneElementStaysWhereItIs) {
  for (const Engine engine : {Engine::cpu, Engine::cuda}) {
    const Plan plan({.program = sort(0), .element = {}, .batch = 7}, {}, engine);
    EXPECT_TRUE(plan.passes().empty());
    EXPECT_EQ(plan.array_bytes(), 28U);
    EXPECT_EQ(plan.workspace_bytes(), 0U);
    EXPECT_EQ(plan.bytes_moved(), 0U);
    EXPECT_NE(plan.explain().find("one element stays"), std::string::npos) << plan.explain();
    EXPECT_FALSE(plan.explain_json().empty());
  }
}

TEST(NetworkPlan, ImpossibleRequestsAreNamed) {
  expect_refused({.program = identity(41), .element = {}}, {}, "41 index bits");
  expect_refused({.program = sort(10), .element = {.scalar = Scalar::c64}}, {}, "min_max");
  expect_refused({.program = sort(10), .element = {}}, {.tile_bits = 5, .segment_bits = 5},
                 "segments of 2^5");
  expect_refused({.program = sort(10), .element = {}}, {.tile_bits = -1}, "tiles of 2^-1");
  expect_refused({.program = sort(10), .element = {}}, {.tile_bits = 65}, "tiles of 2^65");
  expect_refused({.program = sort(10), .element = {}}, {.segment_bits = -3}, "segments of 2^-3");
  expect_refused({.program = sort(40), .element = {}, .batch = std::uint64_t{1} << 60}, {}, "arrays of");
}

}  // namespace network_plan_test
}  // namespace faro::network
