// What every plan for a GPU must satisfy, over all sizes, widths, batches and known devices; that every
// compiled kernel has its use; and a few plans worked out by hand.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "gpu_plan_support.hpp"
#include "kernels/affine_params.hpp"
#include "plan/planners.hpp"
#include "plan_support.hpp"
#include "processor_time.hpp"

namespace faro {
namespace plan_gpu_test {

using kernels::CompiledTile;
using kernels::kCompiledTiles;
using testing::describe;
using testing::gpu_plan;
using testing::gpu_targets;
using testing::maps_of;

constexpr std::uint64_t kSeed = 23;
constexpr std::uint64_t kManyArrays = 1000003;

// What a sweep reached.
struct Reached {
  std::set<PassKind> kinds;
  std::vector<CompiledTile> tiles;
  bool folded = false;
  bool tails = false;
};

int log2_of(std::uint64_t power_of_two) { return std::countr_zero(power_of_two); }

bool has(const std::vector<CompiledTile>& list, const CompiledTile& kernel) {
  return std::find(list.begin(), list.end(), kernel) != list.end();
}

std::vector<CompiledTile> kernels_of(const Target& target, std::uint64_t unit_bytes) {
  std::vector<CompiledTile> list;
  std::copy_if(target.tiles.begin(), target.tiles.end(), std::back_inserter(list), [&](const auto& kernel) {
    return kernel.shape.element_bytes() == static_cast<int>(unit_bytes);
  });
  return list;
}

// Whether a kernel can carry out `work`, the arrays folded as it needs: worked out without the planner.
bool can_hold(const Plan& plan, const CompiledTile& kernel) {
  const Affine one =
      direct_sum(Affine(plan.unit_bits_per_element()), std::get<Affine>(plan.problem().permutation));
  const int missing = std::max(0, kernel.shape.tile_bits() - one.bits());
  if (plan.problem().batch >> missing == 0) return false;
  const Affine map = direct_sum(one, Affine(missing));
  if (map.rank_gamma(kernel.shape.segment_bits) > kernel.shape.row_bits) return false;
  const layout::Tile tile = detail::make_compiled_tile(map, kernel);
  return kernel.blocked ? kernels::fits_blocked(tile, kernel.shape) : kernels::fits(tile, kernel.shape);
}

// --- laws

void expect_tile_law(const Plan& plan, const Pass& pass, Reached& reached) {
  const Launch& launch = *pass.launch;
  ASSERT_TRUE(launch.tile.has_value());
  const kernels::AffineTileShape& shape = launch.tile->shape;
  EXPECT_EQ(static_cast<int>(plan.unit_bytes()), shape.element_bytes());
  EXPECT_EQ(pass.segment_bytes, plan.unit_bytes() << shape.segment_bits);
  EXPECT_EQ(launch.blocks, pass.arrays << (pass.map.bits() - shape.tile_bits()));
  EXPECT_EQ(launch.threads, shape.threads());
  EXPECT_EQ(launch.vector_bytes, shape.vector_bytes());
  EXPECT_EQ(launch.shared_bytes, static_cast<std::uint64_t>(shape.tile_bytes()));
  EXPECT_LE(launch.shared_bytes, plan.target().tile_bytes_max);
  ASSERT_TRUE(kernels::fits(pass.tile, shape));
  ASSERT_TRUE(pass.placement.has_value());
  if (launch.tile->blocked) {
    EXPECT_EQ(*pass.placement, kernels::make_blocked_layout(pass.tile, shape));
    EXPECT_NO_THROW(kernels::make_affine_blocked_params(pass.tile, shape, pass.arrays));
  } else {
    EXPECT_EQ(*pass.placement, kernels::make_tile_layout(pass.tile, shape));
    EXPECT_NO_THROW(kernels::make_affine_tile_params(pass.tile, shape, pass.arrays, *pass.placement));
  }
  // The first that holds the map's tile; of small data, the smallest with wide vectors.
  const bool small = plan.array_bytes() <= plan.target().small_bytes_max;
  bool before = true;
  for (const CompiledTile& other : kernels_of(plan.target(), plan.unit_bytes())) {
    if (other == *launch.tile) before = false;
    const bool better =
        small ? other.shape.vector_bits > 0 && other.shape.tile_bytes() < shape.tile_bytes() : before;
    EXPECT_FALSE(better && can_hold(plan, other)) << "another kernel would do better";
  }
  reached.tiles.push_back(*launch.tile);

  if (!launch.unaligned_tile) {
    for (const CompiledTile& kernel : kernels_of(plan.target(), plan.unit_bytes())) {
      EXPECT_TRUE(kernel.shape.vector_bits > 0 || kernel.shape.tile_bits() > pass.map.bits());
    }
  } else {
    EXPECT_EQ(launch.unaligned_tile->shape.vector_bits, 0);
    EXPECT_TRUE(has(plan.target().tiles, *launch.unaligned_tile));
    const layout::Tile tile = detail::make_compiled_tile(pass.map, *launch.unaligned_tile);
    EXPECT_NO_THROW(kernels::make_affine_tile_params(tile, launch.unaligned_tile->shape, pass.arrays));
  }
}

void expect_vectors_law(const Plan& plan, const Pass& pass) {
  const Launch& launch = *pass.launch;
  const bool direct = pass.kind == PassKind::direct;
  EXPECT_FALSE(launch.tile.has_value() || launch.unaligned_tile.has_value() || pass.placement.has_value());
  EXPECT_EQ(launch.shared_bytes, 0U);
  EXPECT_EQ(launch.vector_bytes, direct ? static_cast<int>(plan.unit_bytes()) : 16);
  const int vector_bits = log2_of(static_cast<std::uint64_t>(launch.vector_bytes) / plan.unit_bytes());
  const auto params = kernels::make_affine_segments_params(pass.map, vector_bits, pass.arrays);
  EXPECT_EQ(launch.blocks, params.blocks());
  EXPECT_EQ(launch.threads, kernels::kSegmentsThreads);
  if (!direct) {
    EXPECT_TRUE(kernels::keeps_low_bits(pass.map, pass.tile.segment_bits));
    EXPECT_GE(pass.segment_bytes, plan.target().vector_bytes);
    EXPECT_LE(pass.segment_bytes, kWholeSegmentBytesMax);
  }
}

// Why the first pass is `direct`: little data, or nothing that holds it.
void expect_direct_for_a_reason(const Plan& plan) {
  if (plan.array_bytes() <= plan.target().direct_bytes_max) return;
  for (const CompiledTile& kernel : plan.target().tiles) {
    if (kernel.shape.element_bytes() != static_cast<int>(plan.unit_bytes())) continue;
    EXPECT_FALSE(can_hold(plan, kernel));
  }
  // No large array is ever moved element by element.
  EXPECT_LT(plan.array_bytes(), plan.target().tile_bytes_max * 2);
}

void expect_laws(const Plan& plan, Reached& reached) {
  const Problem& problem = plan.problem();
  SCOPED_TRACE(describe(problem) + " on " + plan.target().name);
  const Affine& map = std::get<Affine>(problem.permutation);
  EXPECT_EQ(plan.passes().empty(), problem.batch == 0);
  EXPECT_LE(plan.passes().size(), 2U);
  std::uint64_t arrays = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < plan.passes().size(); ++i) {
    const Pass& pass = plan.passes()[i];
    const int folded = i == 0 ? plan.folded_batch_bits() : 0;
    EXPECT_EQ(pass.map, direct_sum(direct_sum(Affine(plan.unit_bits_per_element()), map), Affine(folded)));
    EXPECT_EQ(pass.bytes_read, pass.bytes_written);
    EXPECT_EQ(pass.segments_read * pass.segment_bytes, pass.bytes_read);
    arrays += pass.arrays << folded;
    bytes += pass.bytes_read;
    EXPECT_EQ(pass.kind == PassKind::copy, map.is_identity());
    EXPECT_EQ(pass.launch.has_value(), pass.kind != PassKind::copy);
    if (pass.kind == PassKind::tile) expect_tile_law(plan, pass, reached);
    if (pass.kind == PassKind::segments || pass.kind == PassKind::direct) expect_vectors_law(plan, pass);
    if (pass.kind == PassKind::direct && i == 0) expect_direct_for_a_reason(plan);
    if (i > 0) {
      EXPECT_EQ(pass.kind, PassKind::direct);
      EXPECT_LT(pass.bytes_read, plan.target().tile_bytes_max);
    }
    EXPECT_TRUE(folded == 0 || pass.kind == PassKind::tile);
    reached.kinds.insert(pass.kind);
  }
  EXPECT_EQ(arrays, problem.batch);
  EXPECT_EQ(bytes, plan.array_bytes());
  reached.folded |= plan.folded_batch_bits() > 0;
  reached.tails |= plan.passes().size() > 1;
}

TEST(PlanGpuLaws, EverySizeWidthAndDevice) {
  for (const Target& target : gpu_targets()) {
    Reached reached;
    for (int n = 0; n <= kMaxProblemBits; ++n) {
      for (std::uint64_t width = 1; width <= kMaxElementBytes; width *= 2) {
        for (const Affine& map : maps_of(n, kSeed + static_cast<std::uint64_t>(n))) {
          expect_laws(gpu_plan(map, width, 1, target), reached);
          if (HasFailure()) return;
        }
      }
    }
    EXPECT_EQ(reached.kinds.size(), 4U);
    EXPECT_FALSE(reached.folded || reached.tails);
  }
}

TEST(PlanGpuLaws, EveryBatch) {
  for (const Target& target : gpu_targets()) {
    Reached reached;
    for (int n = 0; n <= 18; ++n) {
      for (const std::uint64_t width : {1U, 2U, 4U, 8U, 64U}) {
        for (const std::uint64_t batch : {0UL, 1UL, 2UL, 3UL, 5UL, 64UL, kManyArrays}) {
          for (const Affine& map : maps_of(n, kSeed)) {
            expect_laws(gpu_plan(map, width, batch, target), reached);
            if (HasFailure()) return;
          }
        }
      }
    }
    EXPECT_EQ(reached.kinds.size(), 4U);
    EXPECT_TRUE(reached.folded && reached.tails);
  }
}

// --- every compiled kernel has its use

// Whether whatever `later` can hold, `earlier` can: such a kernel is there for unaligned arrays only.
bool shadows(const CompiledTile& earlier, const CompiledTile& later) {
  const kernels::AffineTileShape& e = earlier.shape;
  const kernels::AffineTileShape& l = later.shape;
  const bool any_map = e.row_bits >= e.segment_bits;
  const bool same_maps = e.segment_bits == l.segment_bits && e.row_bits >= l.row_bits;
  return !earlier.blocked && e.tile_bits() <= l.tile_bits() && (any_map || same_maps);
}

TEST(PlanGpu, EveryKernelIsReachedOrServesUnalignedArrays) {
  for (const Target& target : gpu_targets()) {
    Reached reached;
    for (int n = 8; n <= 24; ++n) {  // up to data that is not small
      for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          // The last keeps elements within 32 bytes, which hardly any kernel blocks in registers.
          const int sector = 5 - log2_of(width);
          for (const Affine& map :
               {maps::random_bp(n, seed), maps::random_bmmc(n, seed), maps::gray(n),
                direct_sum(maps::random_bp(sector, seed), maps::random_bmmc(n - sector, seed))}) {
            expect_laws(gpu_plan(map, width, 1, target), reached);
          }
        }
        if (HasFailure()) return;
      }
    }
    for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
      const std::vector<CompiledTile> list = kernels_of(target, width);
      EXPECT_FALSE(list.empty()) << "no kernel for " << width << "-byte units on " << target.name;
      for (auto kernel = list.begin(); kernel != list.end(); ++kernel) {
        const bool shadowed =
            std::any_of(list.begin(), kernel, [&](const CompiledTile& e) { return shadows(e, *kernel); });
        EXPECT_TRUE(has(reached.tiles, *kernel) || shadowed)
            << width << "-byte units, kernel " << kernel - list.begin() << " of " << target.name;
        EXPECT_TRUE(has(reached.tiles, *kernel) || kernel->shape.vector_bits == 0)
            << "a kernel without a use";
      }
    }
  }
}

// --- by hand

struct Expected {
  std::string map;
  std::uint64_t element_bytes;
  std::uint64_t batch;
  PassKind kind;
  int folded_batch_bits;
};

// Kinds follow from the sizes of the arrays alone as long as tiles are of 4 KiB to 64 KiB.
TEST(PlanGpu, KindsByHand) {
  const std::array table{
      Expected{"bit_reversal(20)", 4, 1, PassKind::tile, 0},
      Expected{"random_bmmc(30, 1)", 1, 1, PassKind::tile, 0},
      Expected{"random_bmmc(40, 1)", 4096, 1, PassKind::segments, 0},
      // an element of 64 bytes is four units, a whole segment of 64 bytes no reason to do without a tile
      Expected{"random_bmmc(30, 1)", 64, 1, PassKind::tile, 0},
      // 2^6 elements of 4 bytes stay together: 256 bytes
      Expected{"swap_bits(20, 6, 19)", 4, 1, PassKind::segments, 0},
      Expected{"swap_bits(20, 5, 19)", 4, 1, PassKind::tile, 0},
      // segments need no tile, so small arrays need no company
      Expected{"swap_bits(8, 6, 7)", 4, kManyArrays, PassKind::segments, 0},
      Expected{"identity(20)", 4, kManyArrays, PassKind::copy, 0},
      Expected{"bit_reversal(5)", 4, 1, PassKind::direct, 0},
      Expected{"bit_reversal(5)", 4, 3, PassKind::direct, 0},
  };
  for (const Expected& e : table) {
    const Plan plan = gpu_plan(std::get<Affine>(parse_permutation(e.map)), e.element_bytes, e.batch);
    SCOPED_TRACE(describe(plan.problem()));
    ASSERT_EQ(plan.passes().size(), 1U);
    EXPECT_STREQ(name(plan.passes().front().kind), name(e.kind));
    EXPECT_EQ(plan.folded_batch_bits(), e.folded_batch_bits);
  }
}

// A target of one kernel: 64 x 256 bytes of 4-byte elements, 16 KiB.
Target of_one_kernel() {
  Target target = cuda::target_of_capability(9, 0);
  target.direct_bytes_max = 0;
  target.tiles = {{.shape = {2, 6, 6, 2, 7}}};
  target.tile_bytes_max = 16384;
  return target;
}

TEST(PlanGpu, BatchIsFoldedToOneTile) {
  // 128 bytes an array, 2^7 of them a tile: 1000003 = 7812 * 128 + 67.
  const Plan plan = gpu_plan(maps::reverse(5), 4, kManyArrays, of_one_kernel());
  EXPECT_EQ(plan.folded_batch_bits(), 7);
  ASSERT_EQ(plan.passes().size(), 2U);
  EXPECT_EQ(plan.passes()[0].kind, PassKind::tile);
  EXPECT_EQ(plan.passes()[0].arrays, 7812U);
  EXPECT_EQ(plan.passes()[0].launch->blocks, 7812U);
  EXPECT_EQ(plan.passes()[1].kind, PassKind::direct);
  EXPECT_EQ(plan.passes()[1].arrays, 67U);
  EXPECT_EQ(plan.passes()[1].launch->blocks, 9U);  // 67 * 32 / 256, the last one idle in part
}

TEST(PlanGpu, ArraysOfATileLeaveNoTail) {
  const Plan plan = gpu_plan(maps::reverse(12), 4, kManyArrays, of_one_kernel());
  EXPECT_EQ(plan.folded_batch_bits(), 0);
  ASSERT_EQ(plan.passes().size(), 1U);
  EXPECT_EQ(plan.passes()[0].launch->blocks, kManyArrays);
}

TEST(PlanGpu, LittleDataIsMovedDirectly) {
  Target target = of_one_kernel();
  target.direct_bytes_max = 32768;
  EXPECT_EQ(gpu_plan(maps::reverse(13), 4, 1, target).passes()[0].kind, PassKind::direct);
  EXPECT_EQ(gpu_plan(maps::reverse(12), 4, 2, target).passes()[0].kind, PassKind::direct);
  EXPECT_EQ(gpu_plan(maps::reverse(12), 4, 3, target).passes()[0].kind, PassKind::tile);
  EXPECT_EQ(gpu_plan(maps::reverse(14), 4, 1, target).passes()[0].kind, PassKind::tile);
}

TEST(PlanGpu, OneElementIsPlannedHoweverItIsWritten) {
  for (const Target& target : gpu_targets()) {
    for (const std::uint64_t width : {1, 2, 3, 4, 6, 8, 16, 48, 4096}) {
      for (const Axes& axes : {Axes({}, {}), Axes({1}, {0}), Axes({1, 1}, {1, 0})}) {
        for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
          const Plan plan({.permutation = axes, .element_bytes = width, .placement = placement}, target);
          EXPECT_LE(plan.passes().size(), 1U) << describe(plan.problem());
        }
      }
    }
  }
}

TEST(PlanGpu, UnalignedKernelIsTheFirstThatFits) {
  Target target = of_one_kernel();
  const Plan none = gpu_plan(maps::reverse(12), 4, 1, target);
  EXPECT_FALSE(none.passes()[0].launch->unaligned_tile.has_value());
  const CompiledTile large{.shape = {2, 7, 7, 0, 8}};
  const CompiledTile small{.shape = {2, 5, 5, 0, 8}};
  target.tiles.insert(target.tiles.end(), {large, small});
  const Pass first = gpu_plan(maps::reverse(12), 4, 1, target).passes()[0];
  EXPECT_EQ(first.launch->tile->shape.segment_bits, 6);
  EXPECT_EQ(*first.launch->unaligned_tile, small);
  EXPECT_EQ(*gpu_plan(maps::reverse(14), 4, 1, target).passes()[0].launch->unaligned_tile, large);
}

// Who puts a kernel first has asked for it.
TEST(PlanGpu, TheTargetsOrderDecides) {
  const Target usual = cuda::target_of_capability(9, 0);
  for (const CompiledTile& kernel : usual.tiles) {
    Target target = usual;
    target.tiles.insert(target.tiles.begin(), kernel);
    const auto width = static_cast<std::uint64_t>(kernel.shape.element_bytes());
    EXPECT_EQ(*gpu_plan(maps::bit_reversal(30), width, 1, target).passes()[0].launch->tile, kernel);
  }
}

TEST(PlanGpu, WithoutTilesEverythingIsStillPlanned) {
  Target target = of_one_kernel();
  target.tiles.clear();
  EXPECT_EQ(gpu_plan(maps::reverse(20), 4, 3, target).passes()[0].kind, PassKind::direct);
  EXPECT_EQ(gpu_plan(maps::swap_bits(20, 8, 19), 4, 3, target).passes()[0].kind, PassKind::segments);
}

// --- limits

TEST(PlanGpuRefusals, WhatNoKernelTakes) {
  const auto code_of = [](std::uint64_t unit_bytes_max) {
    Target target = of_one_kernel();
    target.unit_bytes_max = unit_bytes_max;
    try {
      gpu_plan(maps::reverse(40), 4096, 1, target);
    } catch (const Error& error) {
      return std::string(name(error.code()));
    }
    return std::string("planned");
  };
  EXPECT_EQ(code_of(16), "planned");
  EXPECT_EQ(code_of(8), "unsupported");  // 2^49 units
  EXPECT_EQ(code_of(32), "unsupported");
}

TEST(PlanGpuLaws, TheLargestProblemIsPlanned) {
  Reached reached;
  for (const Target& target : gpu_targets()) {
    expect_laws(gpu_plan(maps::random_bmmc(40, kSeed), 4096, 1024, target), reached);
    expect_laws(gpu_plan(maps::random_bmmc(40, kSeed), 128, 32768, target), reached);
  }
  EXPECT_EQ(reached.kinds, (std::set{PassKind::segments, PassKind::tile}));
}

// --- time

TEST(PlanGpuTime, UnderAMillisecondAt34Bits) {
  if (!testing::kTimed) GTEST_SKIP() << "a Release build without sanitizers is timed";
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U}) {
    std::vector<double> milliseconds;
    for (std::uint64_t seed = 0; seed < 101; ++seed) {
      const Affine map = seed % 2 == 0 ? maps::random_bmmc(34, seed) : maps::random_bpc(34, seed);
      const Target target = cuda::target_of_capability(9, 0);
      const double start = testing::processor_ms();
      const Plan plan = gpu_plan(map, width, 1, target);
      const double spent = testing::processor_ms() - start;
      ASSERT_EQ(plan.passes().size(), 1U);
      milliseconds.push_back(spent);
    }
    std::nth_element(milliseconds.begin(), milliseconds.begin() + 50, milliseconds.end());
    RecordProperty("median_us_" + std::to_string(width), static_cast<int>(milliseconds[50] * 1000));
    EXPECT_LT(milliseconds[50], testing::kOnABusyMachine);
  }
}

}  // namespace plan_gpu_test
}  // namespace faro
