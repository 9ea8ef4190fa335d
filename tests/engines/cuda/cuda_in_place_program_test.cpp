// The CUDA engine's launches in place without a GPU: LoadedPasses compiled against a stand-in for CUDA's
// runtime, whose kernels are the same phases on the counting memory, in exactly the grid that was launched:
// blocks, threads, clusters and shared memory. A block too few, a thread too many or a byte of shared memory
// too few does not pass.
// Sanitized: never, its accesses are counted elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/run/loaded_passes.hpp"
#include "engines/cuda/runtime/kernel_launch.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "faro/permutation/affine.hpp"
#include "in_place_kernel_support.hpp"
#include "refusal.hpp"
#include "stand_in_cuda/cuda_runtime_api.h"

namespace faro::testing {
namespace {

using kernels::CompiledTile;
using kernels::InPlaceArray;
using kernels::kInPlaceTileCount;
using kernels::kInPlaceTiles;

std::set<std::string> reached;  // kernels that ran
std::span<std::byte> whole;     // the array that is being permuted

// What a launch may touch: `bytes` from its data pointer on.
std::span<std::byte> data_of(void** arguments, std::uint64_t bytes) {
  std::byte* const data = *static_cast<std::byte**>(arguments[1]);
  return whole.subspan(static_cast<std::size_t>(data - whole.data()), bytes);
}

machine::CountingMemory::Launch launch_of(const stand_in::Grid& grid) {
  EXPECT_EQ(grid.cluster_blocks, 1U);
  return {.blocks = grid.blocks, .threads = grid.threads};
}

template <std::size_t index>
void run_tiles(void** arguments, const stand_in::Grid& grid) {
  constexpr CompiledTile tile = kInPlaceTiles[index];
  using Params =
      std::conditional_t<tile.blocked, kernels::BlockedInPlaceParams, kernels::AffineInPlaceParams>;
  const auto& params = *static_cast<const Params*>(arguments[0]);
  const std::uint64_t tiles = params.orbits.batch << params.orbits.block_bits;
  EXPECT_LE(grid.threads, 1024U);
  EXPECT_EQ(grid.cluster_blocks == 2, kernels::is_clustered(tile.shape) && params.orbits.most_tiles > 1);
  kernels::run_orbits<tile.shape>(
      data_of(arguments, tiles * static_cast<std::uint64_t>(tile.shape.tile_bytes())), params,
      {.blocks = grid.blocks,
       .threads = static_cast<int>(grid.threads),
       .cluster_blocks = static_cast<int>(grid.cluster_blocks),
       .shared_bytes = grid.shared_bytes});
  reached.insert("tile " + std::to_string(index));
  reached.insert("orbits of " + std::to_string(params.orbits.most_tiles));
}

template <int bytes>
void run_swaps(void** arguments, const stand_in::Grid& grid) {
  const auto& params = *static_cast<const kernels::AffineSwapParams*>(arguments[0]);
  kernels::run_swaps<bytes>(data_of(arguments, params.orbits.batch << params.array_bits), params,
                            launch_of(grid));
  reached.insert("swaps of " + std::to_string(bytes));
}

template <int bytes>
void run_small(void** arguments, const stand_in::Grid& grid) {
  const auto& params = *static_cast<const kernels::AffineSmallParams*>(arguments[0]);
  kernels::run_small<bytes>(data_of(arguments, params.elements << params.width_bits), params, launch_of(grid),
                            grid.shared_bytes);
  reached.insert("small of " + std::to_string(bytes));
}

const void* address(stand_in::WholeGrid kernel) { return reinterpret_cast<const void*>(kernel); }

template <std::size_t... index>
const void* tile_kernel(const CompiledTile& tile, std::index_sequence<index...>) {
  const void* found = nullptr;
  ((kInPlaceTiles[index] == tile ? void(found = address(run_tiles<index>)) : void()), ...);
  return found;
}

}  // namespace
}  // namespace faro::testing

// In place of src/engines/cuda/kernels/in_place_kernels.cu.
namespace faro::cuda {

const void* in_place_tile_kernel(const kernels::CompiledTile& tile) {
  return testing::tile_kernel(tile, std::make_index_sequence<kernels::kInPlaceTileCount>());
}

const void* swap_kernel(std::uint64_t vector_bytes) {
  constexpr stand_in::WholeGrid grids[] = {testing::run_swaps<1>, testing::run_swaps<2>,
                                           testing::run_swaps<4>, testing::run_swaps<8>,
                                           testing::run_swaps<16>};
  return testing::address(grids[std::countr_zero(vector_bytes)]);
}

const void* small_kernel(std::uint64_t element_bytes) {
  constexpr stand_in::WholeGrid grids[] = {testing::run_small<1>, testing::run_small<2>,
                                           testing::run_small<4>, testing::run_small<8>,
                                           testing::run_small<16>};
  return testing::address(grids[std::countr_zero(element_bytes)]);
}

}  // namespace faro::cuda

namespace faro::testing {
namespace {

Problem in_place(const Affine& map, std::uint64_t element_bytes, std::uint64_t batch = 1) {
  return {
      .permutation = map, .element_bytes = element_bytes, .batch = batch, .placement = Placement::in_place};
}

Target h200() { return cuda::target_of_capability(9, 0); }

void check_program(const Problem& problem, bool aligned = true, const Target& target = h200()) {
  const Plan plan(problem, target);
  const cuda::LoadedPasses program(plan.passes());
  // The arrays begin at a multiple of 16 bytes, or a unit behind one.
  std::mt19937_64 random(7);
  InPlaceArray array(plan.array_bytes(), random);
  std::vector<std::byte> room(plan.array_bytes() + 32);
  const auto misfit = reinterpret_cast<std::uintptr_t>(room.data()) % 16;
  const std::size_t shift = (16 - misfit) % 16 + (aligned ? 0 : plan.unit_bytes());
  whole = std::span(room).subspan(shift, plan.array_bytes());
  std::copy(array.before.begin(), array.before.end(), whole.begin());
  try {
    program.launch({.in = whole.data(), .out = whole.data()});
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  std::copy(whole.begin(), whole.end(), array.data().begin());
  kernels::expect_permuted_in_place(std::get<Affine>(problem.permutation), problem.element_bytes, array);
  if (::testing::Test::HasFailure()) {
    FAIL() << kernels::describe(std::get<Affine>(problem.permutation)) << ", " << problem.batch
           << " arrays of elements of " << problem.element_bytes << " bytes, "
           << (aligned ? "aligned" : "unaligned");
  }
}

std::vector<Affine> some_maps(int n) {
  return {maps::bit_reversal(n), maps::random_bmmc(n, 1),         maps::reverse(n),
          maps::gray(n),         maps::random_bpc(n, 3),          maps::swap_bits(n, 0, n - 1),
          maps::shuffle(n),      maps::swap_bits(n, n - 2, n - 1)};
}

TEST(CudaInPlaceProgram, EveryWidthAndAlignment) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 64U}) {
    const int n = 17 - std::countr_zero(width);
    for (const Affine& map : some_maps(n)) {
      check_program(in_place(map, width));
      if (width < 16) check_program(in_place(map, width), false);
      check_program(in_place(map, width, 2));
      if (HasFailure()) return;
    }
  }
  for (const int bytes : {1, 2, 4, 8, 16}) {
    EXPECT_TRUE(reached.contains("swaps of " + std::to_string(bytes))) << bytes;
  }
}

TEST(CudaInPlaceProgram, EveryCompiledTile) {
  for (const CompiledTile& tile : kInPlaceTiles) {
    const kernels::AffineTileShape& shape = tile.shape;
    if (shape.vector_bytes() != kernels::kMaxVectorBytes) continue;
    Target target = h200();
    target.tile = tile;
    const auto width = static_cast<std::uint64_t>(shape.element_bytes());
    const int n = shape.tile_bits() + (kernels::is_clustered(shape) ? 1 : 2);
    for (const Affine& map :
         {maps::bit_reversal(n), maps::random_bmmc(n, 1), direct_sum(maps::bit_reversal(n - 1), Affine(1))}) {
      check_program(in_place(map, width), true, target);
      check_program(in_place(map, width), false, target);
      if (HasFailure()) return;
    }
  }
  for (std::size_t i = 0; i < kInPlaceTileCount; ++i) {
    EXPECT_TRUE(reached.contains("tile " + std::to_string(i))) << i;
  }
  EXPECT_TRUE(reached.contains("orbits of 1") && reached.contains("orbits of 2"));
}

TEST(CudaInPlaceProgram, SmallArraysAndBatches) {
  for (const std::uint64_t width : {1U, 2U, 4U, 8U, 16U, 32U}) {
    for (const int n : {1, 3, 7, 10}) {
      for (const std::uint64_t batch : {1U, 3U, 130U}) {
        check_program(in_place(maps::random_bmmc(n, 5), width, batch));
        if (width < 16) check_program(in_place(maps::random_bmmc(n, 5), width, batch), false);
        if (HasFailure()) return;
      }
    }
  }
  for (const int bytes : {1, 2, 4, 8, 16}) {
    EXPECT_TRUE(reached.contains("small of " + std::to_string(bytes))) << bytes;
  }
}

TEST(CudaInPlaceProgram, RefusesWhatItCannotLaunchBeforeItLaunches) {
  const Problem problem = in_place(maps::bit_reversal(16), 4);
  const cuda::LoadedPasses program(Plan(problem, h200()).passes());
  std::vector<std::uint32_t> data(std::size_t{1} << 16);
  const int before = stand_in::calls;
  EXPECT_EQ(kernels::code_of([&] {
              std::byte* const misaligned = reinterpret_cast<std::byte*>(data.data()) + 2;
              program.launch({.in = misaligned, .out = misaligned});
            }),
            ErrorCode::value);
  EXPECT_EQ(stand_in::calls, before);
  stand_in::has_clusters = false;
  EXPECT_EQ(
      kernels::code_of([&] {
        static_cast<void>(cuda::LoadedPasses(Plan(in_place(maps::bit_reversal(24), 1), h200()).passes()));
      }),
      ErrorCode::unsupported);
  stand_in::has_clusters = true;
}

TEST(CudaInPlaceProgram, SaysWhatWasQueuedBeforeAFailure) {
  const Problem problem = in_place(maps::random_bmmc(16, 1), 4);
  const Plan plan(problem, h200());
  ASSERT_EQ(plan.passes().size(), 2U);
  const cuda::LoadedPasses program(plan.passes());
  std::vector<std::uint32_t> data(std::size_t{1} << 16);
  whole = std::as_writable_bytes(std::span(data));
  for (const int pass : {0, 1}) {
    stand_in::failing_call = stand_in::calls + pass;
    const Error error = test::refusal([&] { program.launch({.in = data.data(), .out = data.data()}); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    const std::string line = error.what();
    EXPECT_NE(line.find("pass " + std::to_string(pass + 1) + " of 2"), std::string::npos) << line;
    EXPECT_EQ(line.find("nothing was queued") != std::string::npos, pass == 0) << line;
    EXPECT_EQ(line.find("in part") != std::string::npos, pass == 1) << line;
  }
  stand_in::failing_call = -1;
}

// The limit belongs to the kernel, which plans share: what one of them was promised, no other takes away.
TEST(CudaKernelLaunch, APlanDoesNotLowerWhatAnotherMayTake) {
  const void* const function = cuda::small_kernel(4);
  stand_in::allowed_shared_bytes.clear();
  const auto load = [&](int shared_bytes) {
    static_cast<void>(cuda::loaded({.function = function, .threads = 256, .shared_bytes = shared_bytes}));
    return stand_in::allowed(function);
  };
  EXPECT_EQ(load(40 << 10), stand_in::kSharedBytesAtFirst) << "nothing needs to be asked for";
  for (const int shared_bytes : {100 << 10, 60 << 10, 49 << 10, 200 << 10}) {
    EXPECT_EQ(load(shared_bytes), stand_in::kSharedBytesMax);
  }
}

TEST(CudaInPlaceProgram, NothingToDo) {
  EXPECT_TRUE(cuda::LoadedPasses(Plan(in_place(maps::gray(9), 4, 0), h200()).passes()).empty());
  EXPECT_TRUE(cuda::LoadedPasses(Plan(in_place(Affine(9), 4), h200()).passes()).empty());
}

}  // namespace
}  // namespace faro::testing
