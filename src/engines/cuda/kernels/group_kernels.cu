// Groups: phases of faro/kernels put on the device, for blocks that look up which array they are of. A family
// is one kernel, which has those of single arrays within.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engines/cuda/kernels/box_on_device.cuh"
#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/index_simple_support.cuh"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "kernels/group.hpp"

namespace faro::cuda {

using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

// with_group_kind() of the device: Body<kind>::run(…) for one of `count`.
template <template <std::size_t> typename Body, std::size_t count, std::size_t first = 0,
          typename... Arguments>
__device__ void run_kind(std::uint32_t kind, Arguments&... arguments) {
  if constexpr (first < count) {
    if (kind == first) return Body<first>::run(arguments...);
    run_kind<Body, count, first + 1>(kind, arguments...);
  }
}

template <std::size_t kind>
struct GroupBox {
  static __device__ void run(CopyingMemory& memory, const kernels::AxesBoxParams& params,
                             const GroupBlock& of) {
    move_box<kernels::kBoxShapes[kind]>(memory, params, of.block);
  }
};

// Params are read by a pointer that nothing is written through, so that they stay in registers.
__global__ void __launch_bounds__(kernels::kBoxThreads, 6)
    move_group_boxes(const GroupTable table, const std::byte* __restrict__ params,
                     const GroupBlock* __restrict__ blocks) {
  extern __shared__ __align__(kernels::kMovedBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  const auto& box = kernels::group_params<kernels::AxesBoxParams>(params, of);
  CopyingMemory memory(table.in(of), table.out(of), shared, box.in_sectors != 0, box.out_sectors != 0);
  run_kind<GroupBox, kernels::kGroupBoxes>(of.kind, memory, box, of);
}

template <std::size_t kind>
struct GroupElements {
  static __device__ void run(ElementsMemory& memory, const kernels::AxesElementsParams& params,
                             const GroupBlock& of) {
    kernels::move_group_elements<kind>(memory, params, of.block, threadIdx.x % kernels::kGroupWarpLanes);
  }
};

__global__ void __launch_bounds__(kernels::kAxesElementsThreads)
    move_group_elements(const GroupTable table, const std::byte* __restrict__ params,
                        const GroupBlock* __restrict__ blocks) {
  const std::uint64_t entry =
      std::uint64_t{blockIdx.x} * kernels::kGroupWarps + threadIdx.x / kernels::kGroupWarpLanes;
  if (entry >= table.count) return;
  const GroupBlock of = blocks[entry];
  const auto& elements = kernels::group_params<kernels::AxesElementsParams>(params, of);
  ElementsMemory memory(table.in(of), table.out(of));
  run_kind<GroupElements, kernels::kGroupWidths>(of.kind, memory, elements, of);
}

// The memory is that of the kernels of one array.
template <std::size_t kind>
struct GroupVectors {
  using Kind = kernels::GroupVectors<kind>;
  using Memory = std::conditional_t<Kind::kRows, TransposeMemory, StreamedMemory<Kind::unit_bytes()>>;

  static __device__ void run(const GroupTable& table, const std::byte* params, const GroupBlock& of) {
    Memory memory{table.in(of), table.out(of), nullptr};
    kernels::move_group_vectors<kind>(memory, params, of, threadIdx.x);
  }
};

__global__ void __launch_bounds__(kernels::kGroupVectorThreads)
    move_group_vectors(const GroupTable table, const std::byte* __restrict__ params,
                       const GroupBlock* __restrict__ blocks) {
  const GroupBlock of = blocks[blockIdx.x];
  run_kind<GroupVectors, kernels::kGroupVectorKinds>(of.kind, table, params, of);
}

template <int index>
__global__ void __launch_bounds__(kernels::kCompiledTiles[index].shape.threads(),
                                  kernels::kCompiledTiles[index].min_blocks)
    move_group_tiles(const GroupTable table, const std::byte* __restrict__ params,
                     const GroupBlock* __restrict__ blocks) {
  constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[index];
  using Params = std::conditional_t<tile.blocked, kernels::AffineBlockedParams, kernels::AffineTileParams>;
  extern __shared__ __align__(kernels::kMaxVectorBytes) std::byte shared[];
  const GroupBlock of = blocks[blockIdx.x];
  const auto& map = kernels::group_params<Params>(params, of);
  StreamedMemory<tile.shape.vector_bytes()> memory{table.in(of), table.out(of), shared};
  kernels::load_tile<tile.shape>(memory, map, of.block, threadIdx.x);
  __syncthreads();
  kernels::store_tile<tile.shape>(memory, map, of.block, threadIdx.x);
}

__global__ void store_addresses(const __grid_constant__ GroupAddresses from, const std::byte** to) {
  if (threadIdx.x < from.count) to[from.first + threadIdx.x] = from.address[threadIdx.x];
}

template <std::size_t... index>
KernelEntry tile_entry(const kernels::CompiledTile& wanted, std::index_sequence<index...> /*all*/) {
  KernelEntry found{};
  const auto take = [&](auto number) {
    constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[decltype(number)::value];
    if (tile == wanted)
      found = entry_of(&move_group_tiles<int{decltype(number)::value}>, tile.shape.threads());
  };
  (take(std::integral_constant<std::size_t, index>()), ...);
  return found;
}

}  // namespace

KernelEntry group_kernel(const kernels::GroupFamily& family) {
  using Kind = kernels::GroupFamily::Kind;
  switch (family.kind) {
    case Kind::boxes:
      return entry_of(&move_group_boxes, kernels::kBoxThreads);
    case Kind::elements:
      return entry_of(&move_group_elements, kernels::kAxesElementsThreads);
    case Kind::vectors:
      return entry_of(&move_group_vectors, kernels::kGroupVectorThreads);
    case Kind::tiles:
      return tile_entry(family.tile, std::make_index_sequence<kernels::kCompiledTileCount>());
    case Kind::values:  // compiled when it is asked for
      break;
  }
  return {};
}

KernelEntry store_addresses_kernel() { return entry_of(&store_addresses, kStoreAddressesThreads); }

}  // namespace faro::cuda
