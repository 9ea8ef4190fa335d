// Kernels that are values (device_block.hpp), found by their types.
#pragma once

namespace faro::cuda {

// The kernels that move rows, found by their type. No CUDA header is needed.

/// Of a kernel value of kernels/row_entries.hpp, kernels/row_move.hpp or engines/cuda/rows/. row_kernels.cu,
/// row_partition_kernels.cu, row_bin_kernels.cu, row_reused_kernels.cu, row_sum_kernels.cu and
/// modular_kernels.cu list those that are compiled.
template <typename Kernel>
const void* row_kernel();

// The kernels of work on index arrays, found by their type. No CUDA header is needed.
//
//     Mark mark;
//     mark.entries = …;
//     index_kernel<Mark>();      // an address that cudaLaunchKernel takes
//
// Each takes itself by value. index_device_kernels.cu lists those that are compiled.

/// Of a kernel value of index_entries.hpp, index_partition_steps.hpp, index_spread_step.hpp,
/// index_columns.hpp or index_recognise_steps.hpp.
template <typename Kernel>
const void* index_kernel();

}  // namespace faro::cuda
