// The permutations of kernels/shared_permutation.hpp on a GPU: the published kernel, to be timed, and one for
// use on many small arrays.
//
//     SharedPermutationBench   1024 elements of 4 bytes, a block of 1024 threads, in one of six ways:
//                              fill a | permute a to b, `repeats` times, a barrier after each | drain b
//     SharedPermuter           any number of arrays of n elements of 1, 2, 4, 8, 12 or 16 bytes, one P for
//                              all, each array in shared memory at once, without bank conflicts
//
// Host-only, and there in every build; without CUDA every constructor refuses with ErrorCode::device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "faro/engines/cuda.hpp"
#include "faro/stream.hpp"
#include "kernels/shared_permutation.hpp"

namespace faro::cuda {

inline constexpr std::uint32_t kPermutedElements = 1024;  // and threads of a block, of the published kernel

/// A permutation of kPermutedElements, its lists on the device.
class SharedPermutationBench {
 public:
  /// Errors: ErrorCode::value for another length or no permutation; ErrorCode::device.
  SharedPermutationBench(std::span<const std::uint32_t> permutation, kernels::PermuteWay way,
                         int device = kCurrentDevice);
  SharedPermutationBench(SharedPermutationBench&&) noexcept;
  SharedPermutationBench& operator=(SharedPermutationBench&&) noexcept;
  ~SharedPermutationBench();

  /// Queues the kernel: array b of `in` is permuted into array b of `out`, b < blocks.
  /// Requires: arrays of blocks x 1024 elements of 4 bytes in the device's memory (unchecked).
  /// Errors: ErrorCode::device for a failed launch.
  void run(const void* in, void* out, std::uint32_t blocks, std::uint32_t repeats, Stream stream = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How many blocks run side by side on a multiprocessor, and how many of those there are.
struct BlockRoom {
  int multiprocessors = 0;
  int blocks_each = 0;
};
/// For the published kernel's way with the most shared memory. Errors: ErrorCode::device.
BlockRoom permutation_block_room(int device = kCurrentDevice);

class SharedPermuter {
 public:
  /// Errors: ErrorCode::value for no permutation or an empty one; ErrorCode::unsupported for another element,
  ///         or an array that does not fit a block's shared memory, twice, with its lists; ErrorCode::device.
  SharedPermuter(std::span<const std::uint32_t> permutation, int element_bytes, int device = kCurrentDevice);
  SharedPermuter(SharedPermuter&&) noexcept;
  SharedPermuter& operator=(SharedPermuter&&) noexcept;
  ~SharedPermuter();

  /// Queues the kernel: out[k n + P(i)] = in[k n + i] for k < arrays. Nothing is allocated, so it may be
  /// captured in a graph.
  /// Requires: device memory without overlap, of arrays x n elements (unchecked).
  /// Errors: ErrorCode::value for a pointer that is null or not aligned to the element (12 bytes: 4);
  ///         ErrorCode::device for a failed launch.
  void run(const void* in, void* out, std::uint64_t arrays, Stream stream = {}) const;

  /// Arrays that a block has in its memory at once, each moved by a team of its own.
  std::uint32_t teams() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace faro::cuda
