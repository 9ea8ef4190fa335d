// The kernels of groups as addresses that cudaLaunchKernel takes: one a family (kernels/group.hpp), of tiles
// one a tile. No CUDA header is needed.
//
//     all                params: kernels::GroupTable by value, const std::byte* params, const GroupBlock* blocks
//     equal tiles        the tile's parameters by value instead of the pointer to all
//     boxes, planes,     dynamic shared memory: of parameters that are held, then of the largest box, plane,
//     stretches, wholes, stretch or whole, of the tile; of boxes GroupTable::boxes
//     tiles
//     store addresses    params: GroupAddresses by value, const std::byte** to
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/kernels/kernels.hpp"
#include "kernels/group.hpp"

namespace faro::cuda {

/// The function is null for what is not compiled.
KernelEntry group_kernel(const kernels::GroupFamily& family);
// Of these, a file each.
KernelEntry group_box_kernel();
KernelEntry group_plane_kernel();
KernelEntry group_stretch_kernel();
KernelEntry group_whole_kernel();
KernelEntry group_tile_kernel(const kernels::CompiledTile& wanted, bool are_equal);

/// Some addresses, on their way to the device as a launch's parameters: those of a graph are kept with it.
struct GroupAddresses {
  static constexpr std::size_t kMost = 480;
  const std::byte* address[kMost];
  std::uint32_t count;
  std::uint32_t first;  // of all that are stored
};
inline constexpr int kStoreAddressesThreads = 512;
KernelEntry store_addresses_kernel();

}  // namespace faro::cuda
