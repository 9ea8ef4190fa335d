// Groups: phases of faro/kernels put on the device, for blocks, or warps, that look up which array they are
// of. A family is one kernel, which has those of single arrays within: here elements and vectors.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engines/cuda/kernels/group_kernels.hpp"
#include "engines/cuda/kernels/group_on_device.cuh"

namespace faro::cuda {

using kernels::GroupBlock;
using kernels::GroupTable;

namespace {

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
  const GroupTurn turn;
  const std::uint64_t entry =
      std::uint64_t{blockIdx.x} * kernels::kGroupWarps + threadIdx.x / kernels::kGroupWarpLanes;
  if (entry >= table.count) return;
  const GroupBlock of = blocks[entry];
  const auto& elements = kernels::group_params<kernels::AxesElementsParams>(params, of);
  ElementsMemory memory(table.in(of), table.out(of));
  run_kind<GroupElements, kernels::kGroupElements>(of.kind, memory, elements, of);
}

// The memory is that of the kernels of one array.
template <std::size_t kind>
struct GroupVectors {
  using Kind = kernels::GroupVectors<kind>;
  using Memory =
      std::conditional_t<Kind::kRows || Kind::kCopies, TransposeMemory, StreamedMemory<Kind::unit_bytes()>>;

  static __device__ void run(const GroupTable& table, const std::byte* params, const GroupBlock& of) {
    Memory memory{table.in(of), table.out(of), nullptr};
    kernels::move_group_vectors<kind>(memory, params, of, threadIdx.x);
  }
};

__global__ void __launch_bounds__(kernels::kGroupVectorThreads, 5)
    move_group_vectors(const GroupTable table, const std::byte* __restrict__ params,
                       const GroupBlock* __restrict__ blocks) {
  const GroupTurn turn;
  const GroupBlock of = blocks[blockIdx.x];
  run_kind<GroupVectors, kernels::kGroupVectorKinds>(of.kind, table, params, of);
}

__global__ void store_addresses(const __grid_constant__ GroupAddresses from, const std::byte** to) {
  if (threadIdx.x < from.count) to[from.first + threadIdx.x] = from.address[threadIdx.x];
}

}  // namespace

KernelEntry group_kernel(const kernels::GroupFamily& family) {
  using Kind = kernels::GroupFamily::Kind;
  using Params = kernels::GroupFamily::Params;
  switch (family.kind) {
    case Kind::boxes:
      return group_box_kernel();
    case Kind::elements:
      return entry_of(&move_group_elements, kernels::kAxesElementsThreads);
    case Kind::vectors:
      return entry_of(&move_group_vectors, kernels::kGroupVectorThreads);
    case Kind::tiles:
      return group_tile_kernel(family.tile, family.params == Params::constant);
    case Kind::planes:
      return group_plane_kernel();
    case Kind::stretches:
      return group_stretch_kernel();
    case Kind::wholes:
      return group_whole_kernel();
    case Kind::values:  // compiled when it is asked for
      break;
  }
  return {};
}

KernelEntry store_addresses_kernel() { return entry_of(&store_addresses, kStoreAddressesThreads); }

}  // namespace faro::cuda
