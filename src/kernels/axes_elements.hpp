// Small arrays of axes, and small views: a thread moves one unit, and finds its place by dividing. While
// everything fits the second-level cache, short accesses cost less than what boxes need to begin: an array of
// 256 KiB takes as long as its launch.
//
//     thread     0  1  2  3  4  5      of the output, in order
//     reads      0  3  1  4  2  5      axes(2 3; 1 0): i, j of thread j + 2 i
//
// Threads of larger arrays count along 8 units of the output first, then along 4 of the input, and so on: a
// warp's units lie in 8 sectors of the input and 4 of the output, not in 32 and 1.
#pragma once

#include <cstdint>

#include "faro/device/division.hpp"
#include "faro/device/memory.hpp"
#include "kernels/axes_rows.hpp"

namespace faro::kernels {

inline constexpr int kAxesElementsThreads = 256;

struct AxesElementsParams {
  struct Axis {
    device::Division32 extent;
    std::int64_t in_stride;  // bytes
    std::int64_t out_stride;
  };
  std::uint64_t in_first;  // bytes
  std::uint64_t out_first;
  std::uint64_t count;   // of units, fewer than 2^31
  Axis axis[kMostAxes];  // in the order in which threads count
  std::int32_t axes;
  std::uint64_t first_vector;  // thread of this launch

  constexpr std::uint64_t vectors() const { return count; }
};
static_assert(sizeof(AxesElementsParams) <= 4096, "kernel parameters are at most 4 KiB");

/// The whole kernel. Requires: thread < kAxesElementsThreads; threads past the last are left out.
template <int unit_bytes, device::Memory Memory>
constexpr void move_axes_element(Memory& memory, const AxesElementsParams& p, std::uint64_t block,
                                 std::uint32_t thread) {
  const std::uint64_t number = p.first_vector + block * kAxesElementsThreads + thread;
  if (number >= p.count) return;
  auto left = static_cast<std::uint32_t>(number);
  std::uint64_t from = p.in_first;
  std::uint64_t to = p.out_first;
  FARO_NO_UNROLL
  for (int a = 0; a < p.axes; ++a) {
    std::uint32_t digit = left;
    left = p.axis[a].extent.divide(digit);
    from += digit * static_cast<std::uint64_t>(p.axis[a].in_stride);
    to += digit * static_cast<std::uint64_t>(p.axis[a].out_stride);
  }
  memory.template store_global<unit_bytes>(device::kOutput, to,
                                           memory.template load_global<unit_bytes>(device::kInput, from));
}

}  // namespace faro::kernels
