// A kernel's identity, and one launch of it: what plans decide and the CUDA engine looks up. Host only.
//
//     KernelId      family, and what the kernel is compiled for:  AxesTurnedKernel{shape, words}
//     GpuKernel     that, its parameters, grid, threads and shared memory, and the addresses that it asks for
//
// A family is a struct, so that adding one is an entry here, the kernel, and the engine's line that finds it.
// Parameters are those that the kernel takes by value, complete but for what addresses add: skews, vectors or
// units, a launch's first block. The engine adds those and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "faro/kernels/affine_tile_index.hpp"
#include "faro/permutation/permutation.hpp"
#include "kernels/affine_params.hpp"
#include "kernels/axes_params.hpp"
#include "kernels/cyclic.hpp"
#include "kernels/exchange_params.hpp"
#include "kernels/indexed_direct.hpp"
#include "kernels/partition_params.hpp"
#include "kernels/row_column.hpp"
#include "kernels/runs.hpp"
#include "kernels/window_params.hpp"
#include "plan/gpu_transpose.hpp"

namespace faro::detail {

using kernels::DirectKind;
using kernels::IndexUnit;
using kernels::Way;

/// Where a block's data is: shared memory with few or many threads, or where it lies.
enum class ChunkPlace { small, large, in_global };

// --- identities

struct CopyKernel {};  // the driver's
struct AffineTileKernel {
  kernels::CompiledTile tile;
};
struct SegmentsKernel {
  std::uint64_t vector_bytes = 16;
};
struct OrbitKernel {  // in place, tiles
  kernels::CompiledTile tile;
};
struct SwapKernel {  // in place, pairs of vectors
  std::uint64_t access_bytes = 16;
};
struct SmallKernel {  // in place, whole arrays
  std::uint64_t element_bytes = 4;
};
struct SweepKernel {  // of a transposition in place; its params say which
  std::uint64_t unit_bytes = 4;
};
struct ReversalKernel {  // in place, pairs of chunks
  int unit_bytes = 4;
  kernels::MovedElements as = kernels::MovedElements::units;
};
struct CyclicWholeKernel {  // in place, whole arrays
  int unit_bytes = 4;
  kernels::MovedElements as = kernels::MovedElements::units;
};
struct SquaresKernel {  // in place, pairs of tiles
  int unit_bytes = 4;
  bool several_units = false;
};
struct AxesBoxKernel {
  kernels::BoxShape shape;
  std::uint64_t in_run_bytes = 0;  // that lie together, of a whole box; for a reader
  std::uint64_t out_run_bytes = 0;
};
struct AxesWholeKernel {  // small arrays of a batch
  int unit_bytes = 4;
};
struct AxesLinesKernel {
  int unit_bytes = 4;
};
struct AxesPlaneKernel {
  kernels::AxesPlaneShape shape;
  bool aligned = false;
};
struct AxesTurnedKernel {
  kernels::AxesPlaneShape shape;
  bool words = false;
};
struct AxesSkinnyKernel {
  kernels::AxesSkinnyShape shape;
};
struct AxesRowsKernel {
  int unit_bytes = 4;
};
struct AxesElementsKernel {
  int unit_bytes = 4;
  int units = 1;  // of a thread
};
struct AxesRegistersKernel {
  kernels::AxesRegistersShape shape;
};
struct ViewRowsKernel {
  kernels::ViewRowsShape shape;
};
struct CyclicKernel {
  int unit_bytes = 4;
  bool reversed = false;
  bool several_units = false;
};
/// The engine makes its params (kernels/modular_launch.hpp).
struct ModularKernel {
  Modular map;
  std::uint64_t element_bytes = 1;  // 1, 2, 4, 8 or 16
  std::uint64_t batch = 1;
};
/// Likewise (kernels/computed_launch.hpp).
struct ComputedKernel {
  Computed map;
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
};
struct PatchKernel {
  std::shared_ptr<const std::vector<Exception>> exceptions;
  std::uint64_t count = 0;  // elements of an array
  std::uint64_t element_bytes = 1;
  std::uint64_t batch = 1;
};
struct WindowKernel {
  int unit_bytes = 4;
  bool backwards = false;
  bool vectors = false;
  bool direct = false;  // without shared memory
};
struct RunsKernel {
  int unit_bytes = 4;
};
struct DirectKernel {
  int unit_bytes = 4;
  int index_bytes = 4;
  Way way = Way::forwards;
  DirectKind kind = DirectKind::units;
};
struct LevelKernel {
  IndexUnit unit;
  Way way = Way::forwards;
  int variant = kInGlobal;  // of kernels::kCompiledPartitions

  static constexpr int kInGlobal = -1;  // without shared memory
};
struct ChunkKernel {
  IndexUnit unit;
  Way way = Way::forwards;
  ChunkPlace place = ChunkPlace::small;
};
struct ColumnsKernel {
  int unit_bytes = 4;
  Way way = Way::forwards;
  bool in_global = false;
};

using KernelId =
    std::variant<CopyKernel, AffineTileKernel, SegmentsKernel, OrbitKernel, SwapKernel, SmallKernel,
                 SweepKernel, ReversalKernel, CyclicWholeKernel, SquaresKernel, AxesBoxKernel,
                 AxesWholeKernel, AxesLinesKernel, AxesPlaneKernel, AxesTurnedKernel, AxesSkinnyKernel,
                 AxesRowsKernel, AxesElementsKernel, AxesRegistersKernel, ViewRowsKernel, CyclicKernel,
                 ModularKernel, ComputedKernel, PatchKernel, WindowKernel, RunsKernel, DirectKernel,
                 LevelKernel, ChunkKernel, ColumnsKernel>;

/// What every kernel takes by value, after its family.
using KernelParams =
    std::variant<std::monostate, kernels::AffineTileParams, kernels::AffineBlockedParams,
                 kernels::AffineSegmentsParams, kernels::AffineInPlaceParams, kernels::BlockedInPlaceParams,
                 kernels::AffineSwapParams, kernels::AffineSmallParams, GpuTransposeLaunch,
                 kernels::ReversalParams, kernels::CyclicWholeParams, kernels::SquaresParams,
                 kernels::AxesBoxParams, kernels::AxesWholeParams, kernels::AxesLinesParams,
                 kernels::AxesRowsParams, kernels::AxesElementsParams, kernels::AxesRegistersParams,
                 kernels::ViewRowsParams, kernels::CyclicParams, kernels::WindowParams, kernels::RunsParams,
                 kernels::DirectParams, kernels::PartitionParams, kernels::ColumnsParams>;

/// How a multiprocessor's memory is split between shared memory and the first-level cache.
enum class Carveout {
  driver,  // as the driver chooses
  shared,  // all for shared memory: affine tiles, which read whole lines once, are no faster with a cache
  needed,  // as much as the blocks need that registers and threads leave room for: the cache holds what is on
           // its way from memory, and sectors that are read in parts
};

struct GpuKernel {
  KernelId id;
  KernelParams params;
  /// Blocks of all arrays of a launch; where a schedule's arrays may take turns, of one.
  std::uint64_t blocks = 0;
  /// What the params' first tile, block or vector counts a block as; 0: one launch has all blocks.
  std::uint64_t first_step = 0;
  int threads = 0;  // a block
  std::uint64_t shared_bytes = 0;
  int cluster_blocks = 1;
  Carveout carveout = Carveout::needed;
  std::uint64_t in_alignment = 1;  // bytes, of the input's address, or of the one array's
  std::uint64_t out_alignment = 1;
};

/// A queue of a kernel's launches that notes what a launch is and launches nothing.
struct ToldLaunch {
  GpuKernel& kernel;

  template <typename Kernel>
  void run(const Kernel& value) {
    kernel.blocks = value.blocks();
    kernel.threads = static_cast<int>(Kernel::kThreads);
    kernel.shared_bytes = value.shared_bytes();
  }
};

/// "axes turned, units of 4 bytes, rows of 256 and lines of 512 bytes, 288 threads".
std::string to_text(const GpuKernel& kernel);

}  // namespace faro::detail
