// The kernels of work on index arrays, found by their type. No CUDA header is needed.
//
//     Mark mark;
//     mark.entries = …;
//     index_kernel<Mark>();      // an address that cudaLaunchKernel takes
//
// Each takes itself by value. index_device_kernels.cu lists those that are compiled.
#pragma once

namespace faro::cuda {

/// Of a kernel value of index_entries.hpp, index_partition_steps.hpp, index_spread_step.hpp,
/// index_columns.hpp or index_recognise_steps.hpp.
template <typename Kernel>
const void* index_kernel();

}  // namespace faro::cuda
