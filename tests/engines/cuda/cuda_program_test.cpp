// The CUDA engine's launches without a GPU: a plan's passes, loaded and launched by what is compiled against
// a stand-in for CUDA's runtime, whose kernels are the same phases run on the CPU, a block at a time. Covers
// what the host prepares: kernels, parameters, grids, the way out for unaligned arrays, shifts, and what a
// failed launch says.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine_support.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "faro/error.hpp"
#include "kernels/affine_segments.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "refusal.hpp"
#include "stand_in_cuda/cuda_runtime_api.h"

namespace faro::testing {
namespace {

std::set<std::string> reached;  // kernels that ran

template <typename Pointer>
Pointer argument(void** arguments, int index) {
  return *static_cast<Pointer*>(arguments[index]);
}

device::DirectMemory memory_of(void** arguments, std::byte* shared) {
  return {argument<const std::byte*>(arguments, 1), argument<std::byte*>(arguments, 2), shared};
}

template <std::size_t index>
void run_tile_block(void** arguments, unsigned block) {
  constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[index];
  constexpr kernels::AffineTileShape shape = tile.shape;
  alignas(16) static std::array<std::byte, shape.tile_bytes()> shared;
  device::DirectMemory memory = memory_of(arguments, shared.data());
  using Params = std::conditional_t<tile.blocked, kernels::AffineBlockedParams, kernels::AffineTileParams>;
  const auto& params = *static_cast<const Params*>(arguments[0]);
  for (std::uint32_t thread = 0; thread < shape.threads(); ++thread) {
    kernels::load_tile<shape>(memory, params, block, thread);
  }
  for (std::uint32_t thread = 0; thread < shape.threads(); ++thread) {
    kernels::store_tile<shape>(memory, params, block, thread);
  }
  reached.insert("tile " + std::to_string(index));
}

template <int bytes>
void run_segments_block(void** arguments, unsigned block) {
  const auto& params = *static_cast<const kernels::AffineSegmentsParams*>(arguments[0]);
  device::DirectMemory memory = memory_of(arguments, nullptr);
  for (std::uint32_t thread = 0; thread < kernels::kSegmentsThreads; ++thread) {
    kernels::move_vector<bytes>(memory, params, block, thread);
  }
  reached.insert("vectors of " + std::to_string(bytes));
}

using Block = void (*)(void** arguments, unsigned block);

template <Block block>
void run_grid(void** arguments, const stand_in::Grid& grid) {
  for (unsigned b = 0; b < grid.blocks; ++b) block(arguments, b);
}

const void* address(stand_in::WholeGrid kernel) { return reinterpret_cast<const void*>(kernel); }

template <std::size_t... index>
cuda::KernelEntry tile_entry(const kernels::CompiledTile& tile, std::index_sequence<index...>) {
  cuda::KernelEntry entry;
  const auto take = [&](std::size_t i, stand_in::WholeGrid kernel) {
    const kernels::CompiledTile& compiled = kernels::kCompiledTiles[i];
    if (compiled == tile) entry = {address(kernel), compiled.shape.threads(), compiled.shape.tile_bytes()};
  };
  (take(index, run_grid<run_tile_block<index>>), ...);
  return entry;
}

}  // namespace
}  // namespace faro::testing

// In place of src/engines/cuda/kernels/kernels.cu, all of it: what was missing here would bring the
// library's.
namespace faro::cuda {

KernelEntry naive_kernel(std::uint64_t /*element_bytes*/) { return {}; }

KernelEntry tile_kernel(const kernels::CompiledTile& tile) {
  return testing::tile_entry(tile, std::make_index_sequence<kernels::kCompiledTileCount>());
}

KernelEntry segments_kernel(std::uint64_t vector_bytes) {
  constexpr stand_in::WholeGrid grids[] = {
      testing::run_grid<testing::run_segments_block<1>>, testing::run_grid<testing::run_segments_block<2>>,
      testing::run_grid<testing::run_segments_block<4>>, testing::run_grid<testing::run_segments_block<8>>,
      testing::run_grid<testing::run_segments_block<16>>};
  return {testing::address(grids[std::countr_zero(vector_bytes)]), kernels::kSegmentsThreads};
}

}  // namespace faro::cuda

namespace faro::testing {
namespace {

struct Offsets {
  std::size_t in = 0;
  std::size_t out = 0;
};

// Where out[pi(x) ^ shift] = in[x] fails first; `shift` in elements.
void check_program(const Problem& problem, Offsets offsets = {}, std::uint64_t shift = 0,
                   const Target& target = cuda::target_of_capability(9, 0)) {
  const Plan plan(problem, target);
  const cuda::LoadedPasses program(plan.passes());
  Arrays arrays(plan.array_bytes(), offsets.in, offsets.out, 1);
  program.launch({.in = arrays.in(), .out = arrays.out()}, {}, shift << plan.unit_bits_per_element());
  const auto& map = std::get<Affine>(problem.permutation);
  Problem shifted = problem;
  shifted.permutation = Affine(map.matrix(), map.complement() ^ shift);
  EXPECT_EQ(first_wrong(shifted, arrays.in(), arrays.out()), std::nullopt)
      << describe(problem) << ", in + " << offsets.in << ", out + " << offsets.out << ", shift " << shift;
  EXPECT_TRUE(arrays.guards_intact() && arrays.input_intact()) << describe(problem);
}

std::vector<Affine> some_maps(int n) {
  return {maps::bit_reversal(n),
          maps::random_bmmc(n, 1),
          maps::random_bmmc(n, 2),
          maps::reverse(n),
          maps::gray(n),
          maps::random_bpc(n, 3),
          maps::swap_bits(n, 0, n - 1),
          maps::swap_bits(n, n - 2, n - 1)};
}

TEST(CudaProgram, EveryWidthAndAlignment) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U}) {
    const int n = 18 - std::countr_zero(width) / 2;
    const std::uint64_t unit = std::min<std::uint64_t>(width, 16);
    for (const Affine& map : some_maps(n)) {
      const Problem problem{.permutation = map, .element_bytes = width};
      check_program(problem);
      if (unit < 16) {
        check_program(problem, {.in = unit, .out = 0});
        check_program(problem, {.in = 16 - unit, .out = 8});
      }
    }
  }
  for (const char* const kernel :
       {"vectors of 1", "vectors of 2", "vectors of 4", "vectors of 8", "vectors of 16"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

// Also those that no device prefers, and those that only an unusual map needs.
TEST(CudaProgram, EveryCompiledTile) {
  for (std::size_t i = 0; i < kernels::kCompiledTileCount; ++i) {
    const kernels::CompiledTile& tile = kernels::kCompiledTiles[i];
    Target target = cuda::target_of_capability(9, 0);
    target.tiles = {tile};
    const int n = tile.shape.tile_bits() + 2;
    for (const Affine& map : some_maps(n)) {
      check_program(
          {.permutation = map, .element_bytes = static_cast<std::uint64_t>(tile.shape.element_bytes())}, {},
          0, target);
    }
    EXPECT_TRUE(reached.contains("tile " + std::to_string(i))) << i;
  }
}

TEST(CudaProgram, SmallArraysAndBatches) {
  for (const std::uint64_t width : {1U, 4U, 32U}) {
    for (const int n : {0, 1, 3, 7, 11}) {
      for (const std::uint64_t batch : {1U, 3U, 130U}) {
        const Problem problem{.permutation = maps::random_bmmc(n, 5), .element_bytes = width, .batch = batch};
        check_program(problem);
        check_program(problem, {.in = 16, .out = std::min<std::uint64_t>(width, 16)});
      }
    }
  }
  check_program({.permutation = maps::identity(9), .element_bytes = 2, .batch = 3}, {.in = 2, .out = 4});
}

TEST(CudaProgram, Shifts) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U}) {
    for (const Affine& map : some_maps(16)) {
      // As a piece of a larger array is planned: the complement has every bit that a shift may have.
      const Problem problem{.permutation = Affine(map.matrix(), f2::low_mask(16)), .element_bytes = width};
      for (const std::uint64_t shift : {0x0001U, 0x8000U, 0x5a3cU, 0xffffU})
        check_program(problem, {}, shift);
      check_program(problem, {.in = 16, .out = std::min<std::uint64_t>(width, 16)}, 0x1235);
    }
  }
}

TEST(CudaProgram, RefusesArraysThatAreNotAlignedToAUnit) {
  const Problem problem{.permutation = maps::bit_reversal(16), .element_bytes = 4};
  const cuda::LoadedPasses program(Plan(problem, cuda::target_of_capability(9, 0)).passes());
  Arrays arrays(total_bytes(problem), 2, 0, 1);
  const int before = stand_in::calls;
  const Error error = test::refusal([&] { program.launch({.in = arrays.in(), .out = arrays.out()}); });
  EXPECT_EQ(error.code(), ErrorCode::value);
  EXPECT_EQ(error.report().got, "arrays aligned to 2 bytes");
  EXPECT_EQ(error.report().wanted, "arrays aligned to 4 bytes");
  EXPECT_EQ(stand_in::calls, before);
  EXPECT_TRUE(arrays.untouched());
}

TEST(CudaProgram, SaysWhatWasQueuedBeforeAFailure) {
  // Groups of arrays that fill a tile, and three arrays that are left.
  const Problem problem{.permutation = maps::bit_reversal(8), .element_bytes = 4, .batch = 1027};
  const Plan plan(problem, cuda::target_of_capability(9, 0));
  ASSERT_EQ(plan.passes().size(), 2U);
  const cuda::LoadedPasses program(plan.passes());
  Arrays arrays(total_bytes(problem), 0, 0, 1);
  for (const int pass : {0, 1}) {
    stand_in::failing_call = stand_in::calls + pass;
    const Error error = test::refusal([&] { program.launch({.in = arrays.in(), .out = arrays.out()}); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    const std::string line = error.what();
    EXPECT_NE(line.find("cudaLaunchKernel: invalid configuration argument"), std::string::npos) << line;
    EXPECT_NE(line.find("pass " + std::to_string(pass + 1) + " of 2"), std::string::npos) << line;
    EXPECT_EQ(line.find("nothing was queued") != std::string::npos, pass == 0) << line;
    EXPECT_EQ(line.find("in part") != std::string::npos, pass == 1) << line;
  }
  stand_in::failing_call = -1;
}

TEST(CudaProgram, RefusesMoreBlocksThanAGridHas) {
  // 2^43 units of a thread each: 2^35 blocks.
  const Problem problem{
      .permutation = maps::bit_reversal(3), .element_bytes = 16, .batch = std::uint64_t{1} << 40};
  Target target = cuda::target_of_capability(9, 0);
  target.tiles.clear();
  const cuda::LoadedPasses program(Plan(problem, target).passes());
  test::expect_refused(ErrorCode::unsupported, "2147483647", [&] { program.launch({}); });
}

TEST(CudaProgram, TellsOfItsKernels) {
  const Plan tiles({.permutation = maps::bit_reversal(16), .element_bytes = 4},
                   cuda::target_of_capability(9, 0));
  ASSERT_EQ(cuda::LoadedPasses(tiles.passes()).resources().size(), 1U);
  EXPECT_EQ(cuda::LoadedPasses(tiles.passes()).resources()[0].registers, 32);
  EXPECT_EQ(cuda::LoadedPasses(tiles.passes()).resources()[0].blocks_per_multiprocessor, 2);
  const Plan copy({.permutation = maps::identity(16), .element_bytes = 4}, cuda::target_of_capability(9, 0));
  EXPECT_EQ(cuda::LoadedPasses(copy.passes()).resources().at(0).registers, 0) << "the driver's";
  const Plan nothing({.permutation = maps::gray(9), .element_bytes = 4, .batch = 0},
                     cuda::target_of_capability(9, 0));
  EXPECT_TRUE(cuda::LoadedPasses(nothing.passes()).empty());
}

}  // namespace
}  // namespace faro::testing
