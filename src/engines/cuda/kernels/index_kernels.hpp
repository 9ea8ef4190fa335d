// The kernels of index arrays that are compiled ahead of time, as addresses that cudaLaunchKernel takes. No
// CUDA header is needed.
//
//     level      spread | collect        params, in, out, places, starts, offsets       a block a chunk
//     chunk      place | pick            params, in, out, places                         a block a chunk
//     columns    forwards | backwards    params, in, out, places                         a block a strip
//     direct     gather | scatter        params, in, out, entries                        vectors or units
//     in global  each of these without shared memory, a unit a thread: for what does not fit
//
// Params are those of faro/kernels, by value; everything else is a pointer. One-dimensional grids, blockIdx.x
// being the block number of the phases.
#pragma once

#include <cstdint>

#include "engines/cuda/kernels/kernels.hpp"
#include "kernels/indexed_direct.hpp"
#include "kernels/partition_params.hpp"

namespace faro::cuda {

using kernels::DirectKind;
using kernels::IndexUnit;
using kernels::Way;

/// The entry's shared_bytes are 0: the chunk's say how much. Elements of several units have one kernel for
/// all of kCompiledPartitions but the last. Requires: variant < kCompiledPartitionCount.
KernelEntry level_kernel(const IndexUnit& unit, Way way, int variant);
/// `large`: with the threads that a chunk past kernels::kLargeChunkBytes wants.
KernelEntry chunk_kernel(const IndexUnit& unit, Way way, bool large);
KernelEntry columns_kernel(int unit_bytes, Way way);
KernelEntry direct_kernel(int unit_bytes, int index_bytes, Way way, DirectKind kind);

KernelEntry level_in_global_kernel(int unit_bytes, Way way);
KernelEntry chunk_in_global_kernel(int unit_bytes, Way way);
KernelEntry columns_in_global_kernel(int unit_bytes, Way way);

}  // namespace faro::cuda
