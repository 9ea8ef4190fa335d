// The kernels that none of the tests beside it stands in for: there are none. With them, nothing of the
// library's own kernels is linked in builds that have them.
#include "engines/cuda/kernels/index_kernels.hpp"
#include "engines/cuda/kernels/index_simple_entries.hpp"
#include "engines/cuda/kernels/kernels.hpp"
#include "engines/cuda/kernels/transpose_kernels.hpp"

#define FARO_NONE __attribute__((weak))

namespace faro::cuda {

using kernels::AxesPlaneShape;

FARO_NONE KernelEntry tile_kernel(const kernels::CompiledTile& /*tile*/) { return {}; }
FARO_NONE KernelEntry segments_kernel(std::uint64_t /*vector_bytes*/) { return {}; }
FARO_NONE KernelEntry naive_kernel(std::uint64_t /*element_bytes*/) { return {}; }

FARO_NONE const void* in_place_tile_kernel(const kernels::CompiledTile& /*tile*/) { return nullptr; }
FARO_NONE const void* swap_kernel(std::uint64_t /*vector_bytes*/) { return nullptr; }
FARO_NONE const void* small_kernel(std::uint64_t /*element_bytes*/) { return nullptr; }

FARO_NONE const void* reversal_kernel(int /*unit*/, kernels::MovedElements /*as*/) { return nullptr; }
FARO_NONE const void* whole_cyclic_kernel(int /*unit*/, kernels::MovedElements /*as*/) { return nullptr; }
FARO_NONE const void* squares_kernel(int /*unit*/, bool /*several_units*/) { return nullptr; }

FARO_NONE KernelEntry transpose_kernel(const detail::GpuTransposeLaunch& /*launch*/, std::uint64_t /*unit*/) {
  return {};
}

FARO_NONE KernelEntry axes_box_kernel(const kernels::BoxShape& /*shape*/) { return {}; }
FARO_NONE KernelEntry axes_lines_kernel(int /*unit*/) { return {}; }
FARO_NONE KernelEntry axes_plane_kernel(const AxesPlaneShape& /*shape*/, bool /*aligned*/) { return {}; }
FARO_NONE KernelEntry axes_turned_kernel(const AxesPlaneShape& /*shape*/, bool /*words*/) { return {}; }
FARO_NONE KernelEntry axes_skinny_kernel(const kernels::AxesSkinnyShape& /*shape*/) { return {}; }
FARO_NONE KernelEntry axes_whole_kernel(int /*unit*/) { return {}; }
FARO_NONE KernelEntry axes_rows_kernel(int /*unit*/) { return {}; }
FARO_NONE KernelEntry axes_elements_kernel(int /*unit*/, int /*units*/) { return {}; }
FARO_NONE KernelEntry axes_registers_kernel(const kernels::AxesRegistersShape& /*shape*/) { return {}; }
FARO_NONE KernelEntry view_rows_kernel(const kernels::ViewRowsShape& /*shape*/) { return {}; }
FARO_NONE KernelEntry cyclic_kernel(int /*unit*/, bool /*reversed*/, bool /*several_units*/) { return {}; }
FARO_NONE KernelEntry window_kernel(int /*unit*/, bool /*backwards*/, bool /*vectors*/, bool /*direct*/) {
  return {};
}
FARO_NONE KernelEntry runs_kernel(int /*unit*/) { return {}; }
FARO_NONE std::uint64_t sort_runs_bytes(std::uint64_t /*runs*/) { return 0; }
FARO_NONE void sort_runs(const std::uint64_t* /*target*/, const std::uint64_t* /*source*/,
                         std::uint64_t /*runs*/, std::uint64_t* /*begins*/, std::uint64_t* /*froms*/,
                         void* /*memory*/, std::uint64_t /*memory_bytes*/, Stream /*stream*/) {}
FARO_NONE void find_first_runs(const std::uint64_t* /*begins*/, std::uint64_t /*runs*/,
                               std::uint64_t /*stretches*/, std::uint64_t* /*firsts*/, Stream /*stream*/) {}

FARO_NONE KernelEntry direct_kernel(int /*unit*/, int /*index*/, Way /*way*/, DirectKind /*kind*/) {
  return {};
}
FARO_NONE KernelEntry level_kernel(const IndexUnit& /*unit*/, Way /*way*/, int /*variant*/) { return {}; }
FARO_NONE KernelEntry chunk_kernel(const IndexUnit& /*unit*/, Way /*way*/, bool /*large*/) { return {}; }
FARO_NONE KernelEntry columns_kernel(int /*unit*/, Way /*way*/) { return {}; }
FARO_NONE KernelEntry level_in_global_kernel(int /*unit*/, Way /*way*/) { return {}; }
FARO_NONE KernelEntry chunk_in_global_kernel(int /*unit*/, Way /*way*/) { return {}; }
FARO_NONE KernelEntry columns_in_global_kernel(int /*unit*/, Way /*way*/) { return {}; }

}  // namespace faro::cuda
