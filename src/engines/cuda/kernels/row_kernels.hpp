// The kernels that move rows, found by their type. No CUDA header is needed.
#pragma once

namespace faro::cuda {

/// Of a kernel value of kernels/row_entries.hpp, kernels/row_move.hpp or engines/cuda/rows/. row_kernels.cu,
/// row_partition_kernels.cu, row_bin_kernels.cu, row_reused_kernels.cu, row_sum_kernels.cu and
/// modular_kernels.cu list those that are compiled.
template <typename Kernel>
const void* row_kernel();

}  // namespace faro::cuda
