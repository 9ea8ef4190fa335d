// Kernels that are values (device_block.hpp), found by their types. No CUDA header is needed.
//
//     Mark mark;
//     mark.entries = …;
//     value_kernel<Mark>();      // an address that cudaLaunchKernel takes
//
// Each takes itself by value.
#pragma once

namespace faro::cuda {

/// The entry of a kernel value of kernels/row_*.hpp, engines/cuda/rows/ or engines/cuda/index/. Those that
/// are compiled are listed: of rows in row_kernels.cu, row_partition_kernels.cu, row_reused_kernels.cu,
/// row_sum_kernels.cu and modular_kernels.cu, of families in family_kernels.cu, of computed maps in
/// computed_kernels.cu, of index arrays in index_device_kernels.cu.
template <typename Kernel>
const void* value_kernel();

}  // namespace faro::cuda
