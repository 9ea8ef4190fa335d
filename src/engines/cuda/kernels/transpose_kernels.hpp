// The kernels of the transposition in place, as addresses that cudaLaunchKernel takes. No CUDA header is
// needed.
//
//     params by value, std::byte* array, std::byte* scratch, std::byte* copied rows
//
// The array's pointer is that of the launch's first array; of launches in vectors, the address aligned to 16
// bytes before it (detail::set_skew). One-dimensional grids, blockIdx.x being the block of the phases;
// dynamic shared memory and threads as the launch says.
#pragma once

#include "engines/cuda/kernels/kernels.hpp"
#include "plan/gpu_transpose.hpp"

namespace faro::cuda {

/// Requires: units of 1, 2, 4, 8 or 16 bytes; else the function is null.
KernelEntry transpose_kernel(const detail::GpuTransposeLaunch& launch, std::uint64_t unit_bytes);

}  // namespace faro::cuda
