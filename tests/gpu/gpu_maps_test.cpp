// Maps, sizes, widths, batches, alignments and kernels of the CUDA engine, each held to the oracle.
#include "gpu/gpu_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faro/faro.hpp"
#include "faro/kernels/affine_tile_index.hpp"
#include "faro/permutation/affine.hpp"
#include "gpu/gpu_support.hpp"

namespace faro::testing {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr int kMostBits = 30;

class GpuMaps : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) target_ = cuda::target();
  }

  void run(const Affine& map, std::uint64_t element_bytes, std::uint64_t batch, std::uint64_t in_offset = 0,
           std::uint64_t out_offset = 0) {
    run_on(target_, map, element_bytes, batch, in_offset, out_offset);
  }
  void run_on(const Target& target, const Affine& map, std::uint64_t element_bytes, std::uint64_t batch,
              std::uint64_t in_offset = 0, std::uint64_t out_offset = 0) {
    check({.problem = {.permutation = map, .element_bytes = element_bytes, .batch = batch},
           .target = target,
           .in_offset = in_offset,
           .out_offset = out_offset,
           .seed = settings().seed + ++cases_},
          &reached_);
  }

  void expect_reached(const std::string& kernel) const {
    EXPECT_TRUE(reached_.contains(kernel)) << kernel << " was not run";
  }

  Target target_;
  Reached reached_;
  std::uint64_t cases_ = 0;
};

// --- every size and width

TEST_F(GpuMaps, EveryKindOfMapUpTo16MiB) {
  for (int n = 0; n <= kMostBits; ++n) {
    for (std::uint64_t width = 1; width <= kMaxElementBytes && width << n <= 16 * kMiB; width *= 2) {
      for (const Affine& map : every_kind_of_map(n, settings().seed + static_cast<std::uint64_t>(n))) {
        run(map, width, 1);
        if (HasFailure()) return;
      }
    }
  }
  for (const char* const kernel : {"copy", "segments", "direct"}) expect_reached(kernel);
}

TEST_F(GpuMaps, EverySizeUpTo4GiB) {
  std::size_t turn = 0;
  for (int n = 13; n <= 32; ++n) {
    for (std::uint64_t width = 1; width <= kMaxElementBytes && width << n <= 4 * kGiB; width *= 2) {
      const std::uint64_t bytes = width << n;
      if (bytes <= 16 * kMiB) continue;
      if (free_device_bytes() < 2 * bytes + kGiB) continue;
      const std::vector<Affine> maps = every_kind_of_map(n, settings().seed + turn);
      run(maps::random_bmmc(n, settings().seed + turn), width, 1);
      run(maps[turn++ % maps.size()], width, 1);
      if (HasFailure()) return;
    }
  }
}

// --- batches

TEST_F(GpuMaps, Batches) {
  constexpr std::array<std::uint64_t, 13> kBatches{0, 1, 2, 3, 4, 7, 8, 64, 100, 512, 1000, 1024, 4096};
  std::size_t turn = 0;
  for (int n = 0; n <= 20; ++n) {
    for (std::uint64_t width = 1; width <= kMaxElementBytes; width *= 2) {
      const std::vector<Affine> maps = every_kind_of_map(n, settings().seed + turn);
      for (const std::uint64_t batch : kBatches) {
        if (batch * width << n > 16 * kMiB) continue;
        run(maps::random_bmmc(n, settings().seed + turn), width, batch);
        run(maps[turn++ % maps.size()], width, batch);
        if (HasFailure()) return;
      }
    }
  }
  expect_reached("tail");
}

// --- arrays that are aligned to their elements only

TEST_F(GpuMaps, Offsets) {
  std::size_t turn = 0;
  for (std::uint64_t width = 1; width <= 64; width *= 2) {
    const std::uint64_t unit = std::min<std::uint64_t>(width, 16);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> offsets;
    for (const std::uint64_t offset : {unit, std::uint64_t{4}, std::uint64_t{8}, 3 * unit}) {
      if (offset % unit != 0) continue;
      offsets.insert(offsets.end(), {{offset, 0}, {0, offset}, {offset, offset}});
    }
    for (int n = 0; n <= 20; ++n) {
      for (const auto& [in_offset, out_offset] : offsets) {
        for (const std::uint64_t batch : {std::uint64_t{1}, std::uint64_t{5}}) {
          const std::vector<Affine> maps = every_kind_of_map(n, settings().seed + turn);
          run(maps::random_bmmc(n, settings().seed + turn), width, batch, in_offset, out_offset);
          run(maps[turn++ % maps.size()], width, batch, in_offset, out_offset);
          if (HasFailure()) return;
        }
      }
    }
  }
  for (const char* const kernel : {"unaligned units", "unaligned segments"}) {
    if (!reached_.contains(kernel)) GTEST_LOG_(INFO) << kernel << " were not run";
  }
}

// --- every kernel that is compiled

// Maps of every rank that the tile holds, arrays smaller than a tile, batches, both alignments.
TEST_F(GpuMaps, EveryCompiledTile) {
  for (const kernels::CompiledTile& tile : kernels::kCompiledTiles) {
    const kernels::AffineTileShape& shape = tile.shape;
    if (std::find(target_.tiles.begin(), target_.tiles.end(), tile) == target_.tiles.end()) {
      GTEST_LOG_(INFO) << tile_name(tile) << " does not fit this device";
      continue;
    }
    const Target target = with_only(target_, tile);
    const auto width = static_cast<std::uint64_t>(shape.element_bytes());
    for (int n = shape.tile_bits() - 4; n <= shape.tile_bits() + 6; ++n) {
      const int folded = std::max(0, shape.tile_bits() - n);
      const std::uint64_t batch = std::uint64_t{1} << folded;
      std::vector<Affine> maps = every_kind_of_map(n, settings().seed + cases_);
      for (int rank = 0; rank <= std::min(shape.segment_bits, n - shape.segment_bits); ++rank) {
        maps.push_back(map_of_rank(n, shape.segment_bits, rank, settings().seed + cases_ + maps.size()));
      }
      for (const Affine& map : maps) {
        run_on(target, map, width, batch);
        run_on(target, map, width, 3 * batch + 1, width);
        if (HasFailure()) return;
      }
      for (const Affine& map : {maps::bit_reversal(n), maps::random_bmmc(n, settings().seed)}) {
        run_on(target, map, width, 2 * batch);
      }
    }
    expect_reached(tile_name(tile));
    expect_reached(tile_name(tile) + " of several arrays");
  }
}

// The same by the public interface's override.
TEST_F(GpuMaps, ATileThatWasAskedFor) {
  for (const kernels::CompiledTile& tile : target_.tiles) {
    if (tile.shape.vector_bits == 0 && tile.shape.width_bits < 4) continue;  // for unaligned arrays
    const int n = tile.shape.tile_bits() + 2;
    const Problem problem{.permutation = maps::bit_reversal(n),
                          .element_bytes = static_cast<std::uint64_t>(tile.shape.element_bytes())};
    const ExecutablePlan plan = faro::plan(problem, {.engine = Engine::cuda, .tile = tile});
    const OwnStream stream;
    GpuArrays arrays(total_bytes(problem), 0, 0);
    arrays.prepare(settings().seed, stream);
    plan.run(arrays.in(), arrays.out(), arrays.bytes(), stream);
    EXPECT_EQ(arrays.wrong(problem, stream), "") << describe(problem) << ", " << tile_name(tile);
    ASSERT_FALSE(plan.plan().passes().empty());
    EXPECT_EQ(plan.plan().passes().front().launch->tile, tile);
    for (const cuda::KernelResources& kernel : plan.kernel_resources()) {
      EXPECT_GT(kernel.registers, 0);
      EXPECT_GT(kernel.blocks_per_multiprocessor, 0);
#if defined(FARO_TEST_OPTIMISED_KERNELS)
      EXPECT_EQ(kernel.local_bytes, 0U) << tile_name(tile) << " spills";
#endif
    }
  }
}

// --- counts that pass 2^31 and 2^32

class GpuLarge : public GpuMaps {
 protected:
  void run_large(const Affine& map, std::uint64_t element_bytes, std::uint64_t batch) {
    const std::uint64_t bytes =
        total_bytes({.permutation = map, .element_bytes = element_bytes, .batch = batch});
    if (free_device_bytes() < 2 * bytes + kGiB) {
      GTEST_SKIP() << "needs " << (2 * bytes + kGiB) / kGiB << " GiB of device memory, "
                   << free_device_bytes() / kGiB << " GiB are free";
    }
    run(map, element_bytes, batch);
  }
};

TEST_F(GpuLarge, TwoGiElementsOfOneByte) {
  run_large(maps::transpose(std::uint64_t{1} << 15, std::uint64_t{1} << 16), 1, 1);
  run_large(maps::random_bmmc(31, settings().seed), 1, 1);
}

TEST_F(GpuLarge, FourGiElementsOfOneByte) {
  run_large(maps::random_bmmc(32, settings().seed), 1, 1);
  run_large(maps::bit_reversal(32), 1, 1);
  run_large(direct_sum(Affine(10), maps::bit_reversal(22)), 1, 1);
}

TEST_F(GpuLarge, ThreeArraysOfTwoGiElements) {
  run_large(maps::bit_reversal(31), 1, 3);
  run_large(maps::random_bpc(31, settings().seed), 1, 3);
  run_large(maps::identity(31), 1, 3);
}

TEST_F(GpuLarge, TwoGiElementsOfFourBytes) {
  run_large(maps::random_bmmc(31, settings().seed), 4, 1);
  run_large(maps::bit_reversal(31), 4, 1);
}

// 2^32 arrays and more: element by element, and folded into tiles.
TEST_F(GpuLarge, SixGiArraysOfOneOrTwoElements) {
  run_large(maps::xor_mask(0, 0), 1, std::uint64_t{6} << 30);
  run_large(maps::reverse(1), 1, (std::uint64_t{3} << 30) + 5);
}

}  // namespace
}  // namespace faro::testing
