// Plans in place for GPUs: the planner's choices, and every pass of them by the compiled kernels' own phases
// on one array of the counting memory.
// Sanitized: never, the same few lines, tables or texts.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/permutation/affine.hpp"
#include "in_place_kernel_support.hpp"
#include "kernels/in_place_tiles.hpp"
#include "plan/in_place_launches.hpp"
#include "plan/planners.hpp"

namespace faro {
namespace gpu_in_place_plan_test {

using detail::InPlaceLaunch;
using kernels::AffineTileShape;
using kernels::CompiledTile;
using kernels::InPlaceArray;
using kernels::kInPlaceTileCount;
using kernels::kInPlaceTiles;
using machine::AccessCounts;

constexpr std::uint64_t kSeed = 77;

Target h200() { return cuda::target_of_capability(9, 0); }

detail::Planned plan(const Affine& map, int unit_bits, std::uint64_t arrays, const Target& target = h200()) {
  return detail::plan_in_place_for_gpu({.map = map, .unit_bits = unit_bits, .arrays = arrays}, target);
}

// --- running a pass, by the launches that the engine makes of it

using RunTile = AccessCounts (*)(std::span<std::byte>, const InPlaceLaunch&);

template <std::size_t index>
AccessCounts run_tile(std::span<std::byte> data, const InPlaceLaunch& launch) {
  constexpr CompiledTile kernel = kInPlaceTiles[index];
  using Params =
      std::conditional_t<kernel.blocked, kernels::BlockedInPlaceParams, kernels::AffineInPlaceParams>;
  const auto& params = std::get<Params>(launch.params);
  const kernels::OrbitLaunch grid = kernels::orbit_launch(kernel.shape, params.orbits);
  EXPECT_EQ(launch.blocks, grid.blocks);
  EXPECT_EQ(launch.threads, grid.threads);
  EXPECT_EQ(launch.cluster_blocks, grid.cluster_blocks);
  EXPECT_EQ(launch.shared_bytes, grid.shared_bytes);
  return kernels::run_orbits<kernel.shape>(data, params);
}

constexpr auto kRunTile = []<std::size_t... index>(std::index_sequence<index...>) {
  return std::array<RunTile, sizeof...(index)>{run_tile<index>...};
}
(std::make_index_sequence<kInPlaceTileCount>{});

std::size_t number_of(const CompiledTile& tile) {
  return static_cast<std::size_t>(std::find(std::begin(kInPlaceTiles), std::end(kInPlaceTiles), tile) -
                                  std::begin(kInPlaceTiles));
}

template <typename F>
AccessCounts with_bytes(std::uint64_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    default:
      return f.template operator()<16>();
  }
}

void expect_planned(const Launch& planned, const InPlaceLaunch& launch) {
  EXPECT_EQ(planned.blocks, launch.blocks);
  EXPECT_EQ(planned.threads, launch.threads);
  EXPECT_EQ(planned.shared_bytes, launch.shared_bytes);
  EXPECT_EQ(static_cast<std::uint64_t>(planned.vector_bytes), launch.access_bytes);
}

void run_pass(const Pass& pass, int unit_bits, bool aligned, std::span<std::byte> all,
              std::set<std::string>& reached) {
  const std::span<std::byte> data = all.subspan(pass.offset, pass.bytes_read);
  const std::vector<InPlaceLaunch> launches = detail::in_place_launches(pass, unit_bits);
  expect_planned(*pass.launch, launches.front());
  const InPlaceLaunch& launch = aligned ? launches.front() : launches.back();
  if (!aligned) {
    ASSERT_EQ(launch.access_bytes, std::uint64_t{1} << unit_bits);
  }
  if (pass.kind == PassKind::direct) {
    const auto& params = std::get<kernels::AffineSmallParams>(launch.params);
    EXPECT_EQ(params.blocks(), launch.blocks);
    EXPECT_EQ(params.shared_bytes(), launch.shared_bytes);
    with_bytes(launch.access_bytes, [&]<int bytes>() { return kernels::run_small<bytes>(data, params); });
    reached.insert("small");
    return;
  }
  if (pass.kind == PassKind::segments) {
    const auto& params = std::get<kernels::AffineSwapParams>(launch.params);
    EXPECT_EQ(params.blocks(), launch.blocks);
    EXPECT_EQ(kernels::kSwapThreads, launch.threads);
    with_bytes(launch.access_bytes, [&]<int bytes>() { return kernels::run_swaps<bytes>(data, params); });
    reached.insert("segments");
    return;
  }
  ASSERT_TRUE(launch.tile.has_value());
  const std::size_t number = number_of(*launch.tile);
  ASSERT_LT(number, kInPlaceTileCount);
  const AccessCounts counts = kRunTile.at(number)(data, launch);
  kernels::expect_conflict_free_segments(counts, launch.tile->shape, data.size(), {});
  reached.insert("tile " + std::to_string(number));
  reached.insert("orbits of " + std::to_string(pass.orbits->orbit_tiles));
}

void check(const Affine& map, int unit_bits, std::uint64_t arrays, const Target& target, bool aligned,
           std::set<std::string>& reached) {
  std::mt19937_64 random(kSeed);
  const auto unit_bytes = std::size_t{1} << unit_bits;
  InPlaceArray array(arrays * unit_bytes << map.bits(), random);
  try {
    const detail::Planned planned = plan(map, unit_bits, arrays, target);
    if (planned.passes.size() > 1) reached.insert("several passes");
    std::uint64_t covered = 0;
    for (const Pass& pass : planned.passes) {
      ASSERT_TRUE(pass.orbits && pass.launch);
      run_pass(pass, unit_bits, aligned, array.data(), reached);
      covered = std::max(covered, pass.offset + pass.bytes_read);
    }
    EXPECT_EQ(covered, map.is_identity() ? 0 : array.data().size());
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  kernels::expect_permuted_in_place(map, unit_bytes, array);
  if (::testing::Test::HasFailure()) {
    FAIL() << kernels::describe(map) << ", " << arrays << " arrays of units of " << unit_bytes << " bytes, "
           << (aligned ? "aligned" : "unaligned");
  }
}

Target only(const CompiledTile& tile) {
  Target target = h200();
  target.tile = tile;
  return target;
}

std::vector<Affine> some_maps(int n, std::mt19937_64& random) {
  std::vector<Affine> maps = {kernels::random_affine(n, random),
                              kernels::random_bpc(n, random),
                              maps::bit_reversal(n),
                              maps::reverse(n),
                              maps::xor_mask(n, random() & f2::low_mask(n)),
                              Affine(n)};
  if (n >= 2) {
    maps.push_back(maps::swap_bits(n, n - 1, n - 2));
    maps.push_back(maps::shuffle(n));
    maps.push_back(maps::gray(n));
    maps.push_back(kernels::fixing_low_bits(n, n / 2, random));
  }
  if (n >= 3) maps.push_back(direct_sum(Affine(n - 3), maps::rotate_bits(3, 1)));  // orbits of 3
  return maps;
}

TEST(GpuInPlacePlan, EveryMapOfTwoBitsAndThreeInEveryWidth) {
  std::set<std::string> reached;
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    for (int n = 0; n <= 3; ++n) {
      for (std::uint64_t code = 0; code < std::uint64_t{1} << n * n; ++code) {
        f2::Matrix a = f2::Matrix::zero(n, n);
        for (int j = 0; j < n; ++j) a.set_column(j, code >> n * j & f2::low_mask(n));
        if (a.rank() != n) continue;
        check({a, code & f2::low_mask(n)}, unit_bits, 1 + code % 5, h200(), true, reached);
        if (HasFatalFailure()) return;
      }
    }
  }
  EXPECT_TRUE(reached.contains("small"));
}

TEST(GpuInPlacePlan, EveryWidthAndSize) {
  std::mt19937_64 random(kSeed);
  std::set<std::string> reached;
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    for (int n = 0; n + unit_bits <= 17; ++n) {
      std::uint64_t turn = random();
      for (const Affine& map : some_maps(n, random)) {
        const bool large = n + unit_bits > 14;
        if (large && ++turn % 2 == 0) continue;
        const std::uint64_t arrays = large ? 1 : 1 + random() % 3;
        check(map, unit_bits, arrays, h200(), ++turn % 3 != 0, reached);
        if (HasFatalFailure()) return;
      }
    }
  }
  for (const char* const kernel :
       {"small", "segments", "several passes", "orbits of 1", "orbits of 2", "orbits of 3"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

// A batch that fills tiles with several arrays, and arrays that are left over.
TEST(GpuInPlacePlan, BatchesAreFolded) {
  std::mt19937_64 random(kSeed);
  std::set<std::string> reached;
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    const Affine map = kernels::random_affine(7, random);
    const std::uint64_t arrays = (std::uint64_t{1} << (15 - unit_bits - 7)) + 3;
    const detail::Planned planned = plan(map, unit_bits, arrays);
    ASSERT_EQ(planned.passes.size(), 2U);
    EXPECT_EQ(planned.passes[0].kind, PassKind::tile);
    EXPECT_EQ(planned.passes[0].tile.block_bits(), 0);
    EXPECT_EQ(planned.passes[1].kind, PassKind::direct);
    EXPECT_EQ(planned.passes[1].offset, planned.passes[0].bytes_read);
    check(map, unit_bits, arrays, h200(), true, reached);
    check(map, unit_bits, arrays, h200(), false, reached);
  }
}

// Each compiled kernel, asked for by name, on maps that keep it busy.
TEST(GpuInPlacePlan, EveryCompiledKernel) {
  std::mt19937_64 random(kSeed);
  std::set<std::string> reached;
  for (const CompiledTile& tile : kInPlaceTiles) {
    const AffineTileShape& shape = tile.shape;
    if (shape.vector_bytes() != kernels::kMaxVectorBytes) continue;
    const bool large = kernels::is_clustered(shape);
    const int n = shape.tile_bits() + (large ? 1 : 2);
    for (const Affine& map : {maps::bit_reversal(n), kernels::random_affine(n, random)}) {
      check(map, shape.width_bits, 1, only(tile), true, reached);
      check(map, shape.width_bits, 1, only(tile), false, reached);
    }
    if (HasFatalFailure()) return;
  }
  for (std::size_t i = 0; i < kInPlaceTileCount; ++i) {
    EXPECT_TRUE(reached.contains("tile " + std::to_string(i))) << "tile " << i;
  }
}

// --- choices

TEST(GpuInPlacePlan, OnePassWhereTheoremThreeSays) {
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    const int n = 32 - unit_bits;
    for (const Affine& map : {maps::bit_reversal(n), maps::reverse(n), maps::swap_bits(n, 0, n - 1),
                              maps::xor_mask(n, f2::unit(n - 1)),
                              maps::transpose(std::uint64_t{1} << n / 2 * 1, std::uint64_t{1} << n / 2)}) {
      if (map.bits() != n && n % 2 == 0) continue;
      const detail::Planned planned = plan(map, unit_bits, 1);
      ASSERT_EQ(planned.passes.size(), 1U) << kernels::describe(map);
      const Pass& pass = planned.passes.front();
      EXPECT_LE(pass.launch->blocks, std::uint64_t{1} << 31);
      EXPECT_EQ(pass.bytes_read, pass.bytes_written);
    }
  }
}

TEST(GpuInPlacePlan, TwoPassesForAllOthersAndWholeSegmentsFirst) {
  int swaps_first = 0;
  for (int unit_bits = 0; unit_bits <= 4; ++unit_bits) {
    const int n = 32 - unit_bits;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      for (const Affine& map : {maps::random_bmmc(n, seed), maps::random_bpc(n, seed)}) {
        const detail::Planned planned = plan(map, unit_bits, 1);
        ASSERT_LE(planned.passes.size(), 2U) << kernels::describe(map);
        Affine product(n);
        for (const Pass& pass : planned.passes) product = compose(pass.map, product);
        EXPECT_TRUE(product == map);
        if (planned.passes.front().kind == PassKind::segments) ++swaps_first;
      }
    }
  }
  EXPECT_GE(swaps_first, 20);
}

TEST(GpuInPlacePlan, PairsLaunchOneBlockEach) {
  const detail::Planned planned = plan(maps::bit_reversal(30), 2, 1);
  const Pass& pass = planned.passes.front();
  EXPECT_EQ(pass.kind, PassKind::tile);
  EXPECT_EQ(pass.orbits->orbit_tiles, 2U);
  // 2^18 tiles, of which the 2^9 palindromes stay.
  EXPECT_EQ(pass.launch->blocks, (std::uint64_t{1} << 17) + (std::uint64_t{1} << 8));
  EXPECT_EQ(pass.launch->shared_bytes, 32768U);
  EXPECT_EQ(pass.launch->threads, 128);  // 64 a tile
}

// Two tiles of 64 KiB are two blocks of a cluster, where there are clusters.
TEST(GpuInPlacePlan, BytesTakeClusters) {
  const Affine map = maps::bit_reversal(32);
  const Pass clustered = plan(map, 0, 1).passes.front();
  EXPECT_EQ(clustered.segment_bytes, 256U);
  EXPECT_EQ(clustered.launch->shared_bytes, 65536U);
  EXPECT_EQ(clustered.launch->threads, 256);
  // 2^16 tiles, of which the 2^8 palindromes stay.
  EXPECT_EQ(clustered.launch->blocks, 2 * ((std::uint64_t{1} << 15) + (std::uint64_t{1} << 7)));
  for (const Target& target : {cuda::target_of_capability(8, 0), cuda::target_of_capability(8, 6)}) {
    const Pass single = plan(map, 0, 1, target).passes.front();
    EXPECT_EQ(single.segment_bytes, 128U);
    EXPECT_EQ(single.launch->shared_bytes, 32768U);
    EXPECT_EQ(single.launch->threads, 256);
  }
}

// --- refusals

TEST(GpuInPlacePlan, RefusesWhatItCannotDo) {
  EXPECT_EQ(kernels::code_of([] { static_cast<void>(plan(maps::bit_reversal(20), 5, 1)); }),
            ErrorCode::unsupported);
  EXPECT_EQ(kernels::code_of([] {
              Target target = h200();
              target.tile = kInPlaceTiles[0];
              static_cast<void>(plan(maps::bit_reversal(20), 2, 1, target));
            }),
            ErrorCode::unsupported);
  Target small = h200();
  small.chunk_bytes_max = 0;
  EXPECT_EQ(kernels::code_of([&] { static_cast<void>(plan(maps::bit_reversal(20), 2, 1, small)); }),
            ErrorCode::unsupported);
}

}  // namespace gpu_in_place_plan_test
}  // namespace faro
