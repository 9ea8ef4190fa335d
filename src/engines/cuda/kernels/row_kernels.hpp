// The kernels that move rows, found by their type. No CUDA header is needed.
#pragma once

namespace faro::cuda {

/// Of a kernel value of kernels/row_entries.hpp or kernels/row_move.hpp. row_kernels.cu lists those that are
/// compiled.
template <typename Kernel>
const void* row_kernel();

}  // namespace faro::cuda
