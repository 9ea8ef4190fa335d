// The kernels of a part whose output lies in several arrays (plan/gpu/part_pass.hpp). No CUDA header is
// needed.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/kernels.hpp"
#include "kernels/part_arrays.hpp"

namespace faro::cuda {

/// Params of all: those of the pass, kernels::PartArrays, std::uint64_t first_block, const std::byte* in. The
/// functions are null for what is not compiled.
KernelEntry part_tile_kernel(const kernels::CompiledTile& tile);
/// A block on a multiprocessor, as many as the grid has; params: those of the pass, kernels::PartArrays,
/// std::uint64_t first_block, std::uint64_t end_block, const std::byte* in.
KernelEntry part_tile_kernel_on_few(const kernels::CompiledTile& tile);
KernelEntry part_vectors_kernel(std::uint64_t vector_bytes);

}  // namespace faro::cuda
