// Affine maps in place on a GPU: every kind of map, width, batch and alignment, held to the oracle with guard
// zones around the one array.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "gpu/gpu_maps.hpp"
#include "gpu/gpu_support.hpp"
#include "kernels/in_place_tiles.hpp"
#include "refusal.hpp"

namespace faro::testing {
namespace {

using kernels::CompiledTile;
using kernels::kInPlaceTileCount;
using kernels::kInPlaceTiles;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

class GpuInPlace : public GpuTest {};

Problem in_place(Affine map, std::uint64_t element_bytes, std::uint64_t batch = 1) {
  return {.permutation = std::move(map),
          .element_bytes = element_bytes,
          .batch = batch,
          .placement = Placement::in_place};
}

std::string number_of(const CompiledTile& tile) {
  const auto* const place = std::find(std::begin(kInPlaceTiles), std::end(kInPlaceTiles), tile);
  return "tile " + std::to_string(place - std::begin(kInPlaceTiles));
}

void note(const Plan& plan, std::uint64_t address, Reached* reached) {
  if (reached == nullptr) return;
  if (plan.passes().size() > 1) reached->insert("several passes");
  for (const Pass& pass : plan.passes()) {
    const bool aligned = address % static_cast<std::uint64_t>(pass.launch->vector_bytes) == 0;
    const auto& tile = aligned ? pass.launch->tile : pass.launch->unaligned_tile;
    if (tile) {
      reached->insert(number_of(*tile));
      reached->insert("orbits of " + std::to_string(pass.orbits->orbit_tiles));
    } else {
      reached->insert(std::string(aligned ? "" : "unaligned ") + name(pass.kind));
    }
  }
}

// The array is prepared beside a copy of what it held, which the oracle reads.
void check_in_place(const Problem& problem, const Target& target, std::uint64_t offset, std::uint64_t seed,
                    Reached* reached = nullptr) {
  const std::string text = describe(problem) + " --in-place --engine cuda, array + " + std::to_string(offset);
  try {
    const Plan plan(problem, target);
    const cuda::Executor executor(plan);
    EXPECT_EQ(plan.workspace_bytes(), 0U);
    const OwnStream stream;
    GpuArrays arrays(plan.array_bytes(), 0, offset);
    arrays.prepare(seed, stream);
    cuda::copy(arrays.in(), arrays.out(), arrays.bytes(), stream);
    executor.run(arrays.out(), stream);
    const std::string wrong = arrays.wrong(problem, stream);
    if (!wrong.empty()) ADD_FAILURE() << wrong << "\n  " << text;
    note(plan, reinterpret_cast<std::uintptr_t>(arrays.out()), reached);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n  " << text;
  }
}

TEST_F(GpuInPlace, EveryMapOfThreeBits) {
  const Target target = cuda::target();
  for (int n = 0; n <= 3; ++n) {
    for (std::uint64_t code = 0; code < std::uint64_t{1} << n * n; ++code) {
      f2::Matrix a = f2::Matrix::zero(n, n);
      for (int j = 0; j < n; ++j) a.set_column(j, code >> n * j & f2::low_mask(n));
      if (a.rank() != n) continue;
      const std::uint64_t element_bytes = std::uint64_t{1} << code % 6;
      check_in_place(in_place({a, (code >> 2) & f2::low_mask(n)}, element_bytes, 1 + code % 700), target, 0,
                     code);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_F(GpuInPlace, EveryKindOfMapWidthAndSize) {
  const Target target = cuda::target();
  Reached reached;
  std::uint64_t seed = settings().seed;
  for (const std::uint64_t element_bytes : {1, 2, 4, 8, 16, 64, 1024}) {
    const int most = std::countr_zero(std::uint64_t{1} << 23) - std::countr_zero(element_bytes);
    for (int n = 1; n <= most; n += n < 12 ? 1 : 3) {
      for (const Affine& map : every_kind_of_map(n, ++seed)) {
        const std::uint64_t batch = n > most - 4 ? 1 : 1 + seed % 5;
        const std::uint64_t offset = seed % 3 == 0 ? std::min<std::uint64_t>(element_bytes, 16) : 0;
        check_in_place(in_place(map, element_bytes, batch), target, offset, seed, &reached);
        ++seed;
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  for (const char* const kernel : {"direct", "segments", "unaligned segments", "several passes",
                                   "orbits of 1", "orbits of 2", "orbits of 4"}) {
    EXPECT_TRUE(reached.contains(kernel)) << kernel;
  }
}

TEST_F(GpuInPlace, EveryCompiledKernel) {
  Reached reached;
  std::uint64_t seed = settings().seed;
  for (const CompiledTile& tile : kInPlaceTiles) {
    const kernels::AffineTileShape& shape = tile.shape;
    if (shape.vector_bytes() != kernels::kMaxVectorBytes) continue;
    Target target = cuda::target();
    target.tile = tile;
    const auto element_bytes = static_cast<std::uint64_t>(shape.element_bytes());
    for (int n = shape.tile_bits() - 2; n <= shape.tile_bits() + 7; ++n) {
      for (const Affine& map :
           {maps::bit_reversal(n), maps::random_bpc(n, ++seed), maps::random_bmmc(n, ++seed),
            maps::swap_bits(n, 0, n - 1), maps::reverse(n), maps::gray(n)}) {
        const std::uint64_t batch = n < shape.tile_bits() ? 4 + seed % 7 : 1 + seed % 2;
        check_in_place(in_place(map, element_bytes, batch), target, 0, seed, &reached);
        check_in_place(in_place(map, element_bytes, batch), target, element_bytes, seed, &reached);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  for (std::size_t i = 0; i < kInPlaceTileCount; ++i) {
    EXPECT_TRUE(reached.contains("tile " + std::to_string(i))) << i;
  }
}

// More than 2^32 bytes, and of bytes more than 2^32 elements.
TEST_F(GpuInPlace, LargeArrays) {
  const Target target = cuda::target();
  for (const std::uint64_t element_bytes : {1, 4, 16}) {
    const std::uint64_t bytes = 8 * kGiB;
    if (free_device_bytes() < 2 * bytes + kGiB) GTEST_SKIP() << "too little device memory";
    const int n = std::countr_zero(bytes / element_bytes);
    check_in_place(in_place(maps::bit_reversal(n), element_bytes), target, 0, 1);
    check_in_place(in_place(maps::random_bmmc(n, 5), element_bytes), target, 0, 2);
    check_in_place(in_place(maps::random_bpc(n, 5), element_bytes), target, 0, 3);
  }
}

// Its own power returns everything: two runs of an involution, on one stream, without a wait in between.
TEST_F(GpuInPlace, TwiceIsTheIdentity) {
  const Problem problem = in_place(maps::bit_reversal(24), 4);
  const cuda::Executor executor(Plan(problem, cuda::target()));
  const OwnStream stream;
  GpuArrays arrays(total_bytes(problem), 0, 0);
  arrays.prepare(1, stream);
  cuda::copy(arrays.in(), arrays.out(), arrays.bytes(), stream);
  executor.run(arrays.out(), stream);
  executor.run(arrays.out(), stream);
  EXPECT_EQ(arrays.wrong(in_place(Affine(24), 4), stream), "");
}

TEST_F(GpuInPlace, CapturedInAGraphAndReplayed) {
  for (const Affine& map : {maps::bit_reversal(18), maps::random_bmmc(18, 3), maps::random_bpc(7, 3)}) {
    const Problem problem = in_place(map, 4, 5);
    const Plan plan(problem, cuda::target());
    const cuda::Executor executor(plan);
    const OwnStream stream;
    GpuArrays arrays(plan.array_bytes(), 0, 0);
    stream.wait();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    executor.run(arrays.out(), stream);
    check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      arrays.prepare(seed, stream);
      cuda::copy(arrays.in(), arrays.out(), arrays.bytes(), stream);
      check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
      EXPECT_EQ(arrays.wrong(problem, stream), "") << describe(problem) << ", replay " << seed;
    }
    static_cast<void>(cudaGraphExecDestroy(executable));
    static_cast<void>(cudaGraphDestroy(graph));
  }
}

// --- refusals: by name, and nothing is written

void expect_refused(ErrorCode code, const auto& call) {
  test::expect_refused(code, call);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(GpuInPlace, Refusals) {
  const Problem problem = in_place(maps::bit_reversal(16), 4);
  Problem elsewhere = problem;
  elsewhere.placement = Placement::out_of_place;
  const cuda::Executor executor(Plan(problem, cuda::target()));
  const cuda::Executor of_two(Plan(elsewhere, cuda::target()));
  std::vector<std::byte> host(total_bytes(problem), kDevicePoison);
  GpuArrays arrays(total_bytes(problem), 0, 0);
  arrays.prepare(1, {});
  expect_refused(ErrorCode::value, [&] { executor.run(host.data()); });
  expect_refused(ErrorCode::value, [&] { executor.run(arrays.out() + 1); });
  expect_refused(ErrorCode::value, [&] { executor.run(arrays.in(), arrays.out()); });
  expect_refused(ErrorCode::value, [&] { of_two.run(arrays.out()); });
  EXPECT_TRUE(arrays.untouched({}));
  EXPECT_TRUE(host == std::vector<std::byte>(host.size(), kDevicePoison));
}

}  // namespace
}  // namespace faro::testing
