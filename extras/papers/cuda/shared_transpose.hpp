// The transposes of kernels/shared_transpose.hpp on a GPU: one block of 1024 threads transposes a 32 x 32
// matrix in its shared memory, stored as RAW, RAS or RAP, again and again, so that what is timed is bank
// conflicts and little else.
//
//     fill a | transpose a to b, `repeats` times, a barrier after each | drain b
//
// Host-only, and there in every build; without CUDA every function refuses with ErrorCode::device.
#pragma once

#include <cstdint>

#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "kernels/shared_transpose.hpp"

namespace faro::cuda {

enum class SharedLayout { raw, ras, rap };

/// Width of the matrices: as many as there are banks.
inline constexpr std::uint32_t kTransposeWidth = 32;

struct SharedTranspose {
  kernels::TransposeOrder order = kernels::TransposeOrder::crsw;
  SharedLayout layout = SharedLayout::raw;
  int element_bytes = 4;   // 4 or 8
  std::uint64_t seed = 1;  // of the shifts
};

/// Queues the kernel: matrix b of `in`, row after row, is transposed into matrix b of `out`, b < blocks.
/// Requires: arrays of blocks x 1024 elements of the device's memory (unchecked).
/// Errors: ErrorCode::value for other element widths; ErrorCode::device for a failed launch.
void run(const SharedTranspose& transpose, const void* in, void* out, std::uint32_t blocks,
         std::uint32_t repeats, Stream stream = {});

/// Nanoseconds of one transpose by one block that has a multiprocessor to itself: the difference of two runs
/// over the difference of their repeats, the median of several. The addresses do not change from repeat to
/// repeat, so the compiler finds them once: what shifts cost to compute is not in it.
/// Errors: as run(), and ErrorCode::device without that device.
double time_ns(const SharedTranspose& transpose, int device = kCurrentDevice);

}  // namespace faro::cuda
